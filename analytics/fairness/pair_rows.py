"""Result rows of many pairs of accounts: all that were tested are corrected for, those that say something are shown.

A room of thousands of accounts has millions of pairs.  Which of them are tested depends on how much they played and
never on what happened; the adjusted p-values count all of them; rows are given for all of them where they are few, else
for those that stand out, and one row without a subject says how many there were.
"""

import json
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from analytics.fairness.multiplicity import Q, benjamini_hochberg
from analytics.fairness.result import EVIDENCE, POWER, Result

ALL = 1000  # tested pairs up to which each has its row
TELLING = 100  # rows of the smallest p-values beyond that


class Pairs(NamedTuple):
    """What a check found of the pairs that it tested, an array each."""

    names: Sequence[str]  # subjects
    n: np.ndarray
    statistic: np.ndarray
    effect: np.ndarray
    spread: np.ndarray  # standard error of the effect under the null
    floor: np.ndarray  # of it, what more rounds of the pair together would not lessen
    p: np.ndarray
    evidence: Callable[[int], np.ndarray]  # round_ids behind one of them, most telling first


def rows(row: Result, found: Pairs | None, too_few: int, planned: float, least: int) -> list[Result]:
    """One row a pair that is shown, and one for all that are not.

    row: check, name, units; too_few: pairs that met and were not tested; planned: effect planned for; least: n below
    which a pair is not tested.
    """
    able = np.flatnonzero(found.n > 0) if found is not None else np.array([], int)  # else all that it did was set aside
    tested = len(able)
    if found is None or not tested:
        return [row.but(scope="global", n=0).not_run("too_few" if too_few else "no_rounds", needed=least)]
    too_few += len(found.names) - tested
    adjusted = np.ones(len(found.names))
    adjusted[able] = benjamini_hochberg(found.p[able])
    bound = float(norm.isf(Q / tested / 2))  # where a single pair that stands out is found
    reach = bound + float(norm.isf(1 - POWER))
    order = able[np.lexsort((able, found.p[able]))]
    shown = order if tested <= ALL else order[: max(TELLING, int((adjusted[able] <= Q).sum()))]
    out = []
    for at in sorted(shown.tolist()):
        effect, spread, n = float(found.effect[at]), float(found.spread[at]), int(found.n[at])
        out.append(
            row.but(
                scope="pair",
                subject=found.names[at],
                n=n,
                statistic=float(found.statistic[at]),
                effect=effect,
                low=effect - 1.96 * spread,
                high=effect + 1.96 * spread,
                p=float(found.p[at]),
                p_adjusted=float(adjusted[at]),
                power=float(norm.sf(bound - planned / spread) + norm.cdf(-bound - planned / spread)),
                detectable=reach * spread,
                needed=rounds_for(n, spread, float(found.floor[at]), planned / reach),
                evidence=tuple(int(one) for one in found.evidence(at)[:EVIDENCE]),
            )
        )
    note = {"pairs": tested, "left_out": tested - len(shown), "too_few": too_few}
    usual = int(able[np.argsort(found.spread[able], kind="stable")[tested // 2]])
    spread, n = float(found.spread[usual]), int(found.n[usual])
    whole = row.but(
        scope="global",
        n=tested,
        unit="pairs",
        detectable=reach * spread,
        needed=rounds_for(n, spread, float(found.floor[usual]), planned / reach),
        note=json.dumps(note, sort_keys=True),
    )
    return [whole, *out]


def rounds_for(n: int, spread: float, floor: float, wanted: float) -> int | None:
    """How many cases bring a standard error down to `wanted`; None where no number of them would."""
    left = wanted**2 - floor**2
    return math.ceil(n * (spread**2 - floor**2) / left) if left > 0 else None


def standing_out(p: np.ndarray, adjusted: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which pairs are to be reviewed and have no stronger one that shares an account with them; bool[pairs].

    ends: int64[pairs, 2], the accounts of each.
    """
    out, taken = np.zeros(len(p), bool), set()
    for at in np.lexsort((np.arange(len(p)), p)).tolist():
        if adjusted[at] > Q:
            break
        if not taken & set(ends[at].tolist()):
            out[at] = True
        taken |= set(ends[at].tolist())
    return out
