"""An account against all others: for what people do, which has no exact null.

Honest accounts differ, by more than the noise of their own counts: the cohort's spread is estimated from the data set
itself, robustly, so that a few cheats move it little.  p-values are Student's with the cohort's degrees of freedom.
They hold as far as honest accounts vary like a bell; benchmarks/FAIRNESS.md says how far they do in simulated ones.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, norm, t

from analytics.fairness.result import POWER, Result

MEMBERS = 12  # fewer accounts are no cohort
LEVEL = 1e-4  # p-value that power is stated at, as in analytics.fairness.accounts
FAR = 2.5  # spreads beyond which a value pulls no more
CAUTION = 1.1  # times the error: what accounts differ by is no bell, and its size is itself estimated
USUAL = float(chi2.cdf(FAR**2, 3) + FAR**2 * 2 * norm.sf(FAR))  # mean of min(z², FAR²) of N(0, 1)


class Cohort(NamedTuple):
    """Where the accounts lie, how far they lie apart beyond their own noise, and each one's distance in spreads."""

    centre: float
    spread: float
    z: np.ndarray
    error: np.ndarray  # standard deviation of each value around the centre


def cohort(values: np.ndarray, error: np.ndarray) -> Cohort:
    """The cohort of values with standard errors.  At least two values."""
    centre, spread = float(np.median(values)), 0.0
    for _ in range(20):
        away = values - centre

        def surplus(tau: float, away: np.ndarray = away) -> float:
            return float(np.minimum(away**2 / (error**2 + tau**2), FAR**2).mean()) - USUAL

        high = float(np.abs(away).max()) + 1e-9
        spread = float(brentq(surplus, 0.0, 10 * high, xtol=1e-9)) if surplus(0.0) > 0 else 0.0
        whole = np.sqrt(error**2 + spread**2)
        z = (values - centre) / whole
        weight = np.minimum(1.0, FAR / np.maximum(np.abs(z), 1e-12)) / whole**2
        moved = float((weight * values).sum() / weight.sum())
        if abs(moved - centre) < 1e-7 * high:
            break
        centre = moved
    whole = CAUTION * np.sqrt(error**2 + spread**2)
    return Cohort(centre, spread, (values - centre) / whole, whole)


def judged(row: Result, of: Cohort, at: int, planned: float, lower: bool = False) -> Result:
    """The row of one member.  planned: shift that the check is planned for; lower: only values below count."""
    df, z, error = len(of.z) - 1, float(of.z[at]), float(of.error[at])
    p = float(t.cdf(z, df)) if lower else float(2 * t.sf(abs(z), df))
    bound = float(t.isf(LEVEL if lower else LEVEL / 2, df))
    effect = z * error
    # Of the two parts of the error only the account's own shrinks with n: from `spread` on more rounds help no more.
    fixed = (CAUTION * of.spread) ** 2
    own, room = error**2 - fixed, (planned / (bound + norm.isf(1 - POWER))) ** 2 - fixed
    return row.but(
        statistic=z,
        effect=effect,
        low=effect - 1.96 * error,
        high=effect + 1.96 * error,
        p=min(1.0, p),
        power=float(norm.sf(bound - planned / error)),
        detectable=float((bound + norm.isf(1 - POWER)) * error),
        needed=int(np.ceil(row.n * own / room)) if room > 0 else None,
    )
