"""Intervals and shrinkage, from sums alone: what a statistic is worth that was counted so and so often.

A statistic is k / n, two sums over games.  Rounds of a game depend on each other (the winner deals next) and seats of
a round still more, so that the game is the unit of sampling: kk, kn and nn are the sums of k·k, k·n and n·n over
games, and so with three letters.  All arguments are float64 arrays of one length, one entry a cell; everything is 95 %
and two-sided.
"""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv

Z = NormalDist().inv_cdf(0.975)
FEWEST_GAMES = 20  # with fewer a rate's design effect is not estimated
FEWEST_EVENTS = 10  # with fewer for or against it is taken to be at least 1
FEWEST_PAID = 10  # games with a payment, by effective number: below it payments are taken as rare
LEAST_EFFECT = 0.05  # of seats that share one outcome: below it the estimate itself is too rough


class Sums(NamedTuple):
    """What a statistic is computed from, per cell."""

    k: np.ndarray
    n: np.ndarray
    games: np.ndarray  # with n other than 0
    kk: np.ndarray
    kn: np.ndarray
    nn: np.ndarray
    kkk: np.ndarray | None = None  # these four, for the skewness of a mean, may be left out together
    kkn: np.ndarray | None = None
    knn: np.ndarray | None = None
    nnn: np.ndarray | None = None

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> "Sums":
        """What the function makes of every sum."""
        return Sums(*(None if column is None else function(column) for column in self))


class Estimate(NamedTuple):
    """A value with its interval; nan where there is none."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def t_quantile(freedom: np.ndarray) -> np.ndarray:
    """The 97.5 % quantile of Student's t, by the Cornish-Fisher expansion: within 0.3 % from 4 degrees of freedom."""
    v = np.maximum(np.asarray(freedom, np.float64), 1)
    z = Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / v ** (power + 1) for power, term in enumerate(terms))


def variance(sums: Sums) -> np.ndarray:
    """Of k / n over games (delta method for a ratio, games as clusters); nan with fewer than two games."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r = sums.k / sums.n
        squares = np.maximum(sums.kk - 2 * r * sums.kn + r * r * sums.nn, 0)
        found = squares / sums.n**2 * sums.games / (sums.games - 1)
    return np.where((sums.games > 1) & (sums.n > 0), found, np.nan)


def mean(sums: Sums, signed: bool = True) -> Estimate:
    """k / n with a t interval of games - 1 degrees of freedom; no interval with fewer than two games.

    Payments are skewed, and a t interval then misses on one side: where the sums of cubes are there, it is widened to
    hold the interval that allows for the skewness seen (Hall's transformation) too.  signed: k may be negative.  What
    can't be, and is rare (in few games, and in less than half of them), has an interval of its own (`rare`), and none
    where nothing was seen at all; no interval of it goes below 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(sums.n > 0, sums.k / sums.n, np.nan)
    t, error = t_quantile(sums.games - 1), np.sqrt(variance(sums))
    low, high = value - t * error, value + t * error
    if sums.kkk is not None:
        skew = skewness(sums)
        low = np.minimum(low, value - error * unskewed(t, skew, sums.games))
        high = np.maximum(high, value - error * unskewed(-t, skew, sums.games))
    if not signed:
        with np.errstate(divide="ignore", invalid="ignore"):
            paid = np.where(sums.k > 0, sums.k**2 / sums.kk, 0)
        few = (paid < FEWEST_PAID) & (2 * paid < sums.games) & (sums.games > 1)
        least, most = rare(sums)
        low, high = np.where(few, least, np.maximum(low, 0)), np.where(few, most, high)
    return Estimate(value, low, high)


def rare(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the interval of k / n, from few games with a k above 0 as a Poisson number of payments of unequal size.

    The gamma interval of Fay and Feuer for a weighted sum of Poisson counts.  Its upper end allows for one payment
    more, of the size of those seen; nan where none was.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        one = sums.kk / sums.k
        more, squares = sums.k + one, sums.kk + one * one
        low = gammaincinv(sums.k**2 / sums.kk, 0.025) * one / sums.n
        high = gammaincinv(more**2 / squares, 0.975) * (squares / more) / sums.n
    seen = sums.k > 0
    return np.where(seen, low, np.nan), np.where(seen, high, np.nan)


def skewness(sums: Sums) -> np.ndarray:
    """Of what games add to k beyond k / n times their n; 0 where nothing varies."""
    assert sums.kkk is not None and sums.kkn is not None and sums.knn is not None and sums.nnn is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        r = sums.k / sums.n
        squares = np.maximum(sums.kk - 2 * r * sums.kn + r * r * sums.nn, 0)
        cubes = sums.kkk - 3 * r * sums.kkn + 3 * r * r * sums.knn - r**3 * sums.nnn
        found = cubes / squares**1.5 * np.sqrt(sums.games)
    return np.where(np.isfinite(found) & (squares > 1e-12 * (sums.kk + 1e-300)), found, 0.0)


def unskewed(quantile: np.ndarray, skew: np.ndarray, games: np.ndarray) -> np.ndarray:
    """Where a studentised mean of so skewed a sample has the quantile of one without skewness (Hall 1992)."""
    root = np.sqrt(np.maximum(games, 1))
    third = np.where(np.abs(skew) < 1e-6, 1.0, skew / 3)
    moved = root / third * (np.cbrt(1 + 3 * third * (quantile / root - skew / (6 * root * root))) - 1)
    return np.where(np.abs(skew) < 1e-6, quantile, moved)


def rate(sums: Sums) -> Estimate:
    """k / n, 0 to 1, with Wilson's interval for as many independent trials as n dependent ones are worth."""
    return wilson(sums.k, sums.n, effect(sums))


def effect(sums: Sums) -> np.ndarray:
    """How many times larger a rate's variance is than of n independent trials.

    1 where games are too few to tell; where events are, at least 1, for then a small effect would be chance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        p = sums.k / sums.n
        inflated = variance(sums) / (p * (1 - p) / sums.n) * (t_quantile(sums.games - 1) / Z) ** 2
    least = np.where(np.minimum(sums.k, sums.n - sums.k) >= FEWEST_EVENTS, LEAST_EFFECT, 1.0)
    known = (sums.games >= FEWEST_GAMES) & np.isfinite(inflated)
    return np.where(known, np.maximum(inflated, least), 1.0)


def wilson(k: np.ndarray, n: np.ndarray, effect: np.ndarray | float = 1.0) -> Estimate:
    """k of n with Wilson's interval, n divided by the design effect."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(n > 0, k / n, np.nan)
        m = n / effect
        centre = (p + Z * Z / (2 * m)) / (1 + Z * Z / m)
        half = Z * np.sqrt(p * (1 - p) / m + Z * Z / (4 * m * m)) / (1 + Z * Z / m)
    low = np.where(k == 0, 0.0, np.clip(centre - half, 0, 1))  # rounding leaves dust at both ends
    return Estimate(p, np.where(n > 0, low, np.nan), np.where((k == n) & (n > 0), 1.0, np.clip(centre + half, 0, 1)))


def difference(a: Sums, b: Sums, cross: np.ndarray) -> Estimate:
    """The value of `a` minus that of `b`, whose games may be the same.

    cross: float64[4, cells], the sums over games of ka·kb, ka·nb, na·kb and na·nb.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ra, rb = a.k / a.n, b.k / b.n
        shared = (cross[0] - rb * cross[1] - ra * cross[2] + ra * rb * cross[3]) / (a.n * b.n)
    games = np.minimum(a.games, b.games)
    spread = np.maximum(variance(a) + variance(b) - 2 * shared, 0)
    half = t_quantile(games - 1) * np.sqrt(spread)
    value = ra - rb
    return Estimate(value, value - half, value + half)


def quantile_ranks(n: int, share: float) -> tuple[int, int, int]:
    """Ranks, 1 to n, of a quantile and of the ends of its distribution-free interval, in a sorted sample of n."""
    half = Z * (n * share * (1 - share)) ** 0.5
    middle = max(1, int(np.ceil(n * share)))
    return middle, max(1, int(np.floor(n * share - half))), min(n, int(np.ceil(n * share + half)) + 1)


class Shrunk(NamedTuple):
    """Empirical-Bayes estimates of many accounts, and the cohort that they are drawn towards."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    mean: float  # of the cohort
    spread: float  # standard deviation between accounts, beyond chance
    prior: float  # how many n the cohort weighs; infinite when accounts differ by no more than chance


def shrink(sums: Sums, is_rate: bool) -> Shrunk:
    """Each account's estimate drawn towards the cohort's, by how little it has been seen.

    Fitted by moments: Q = Σ n (value - mean)² has the expectation v (A - 1) + spread² (N - Σ n² / N), where v is the
    variance of one n (for a rate mean (1 - mean) times the pooled design effect).  For a rate the prior is a beta
    distribution of weight mean (1 - mean) / spread² - 1 and the interval that of a beta posterior on the log odds; for
    a mean both are normal.  The uncertainty of the fit itself is not in the interval.
    """
    n = sums.n
    total = n.sum()
    seen = n > 0
    nothing = np.full(len(n), np.nan)
    if not seen.any():
        return Shrunk(nothing, nothing, nothing, float("nan"), float("nan"), float("nan"))
    centre = float(sums.k.sum() / total)
    own = np.where(seen, sums.k / np.where(seen, n, 1), centre)
    noise = variance(sums)
    known = seen & ~np.isnan(noise)
    unit = float((n[known] ** 2 * noise[known]).sum() / n[known].sum()) if known.any() else float("nan")
    if is_rate:
        binomial = centre * (1 - centre)
        spaced = unit / binomial if binomial > 0 and known.any() else 1.0
        unit = binomial * max(spaced, LEAST_EFFECT)
    accounts = int(seen.sum())
    room = float(total - (n * n).sum() / total)
    q = float((n * (own - centre) ** 2).sum())
    between = max(0.0, (q - unit * (accounts - 1)) / room) if accounts > 1 and room > 0 else 0.0
    if not is_rate:
        prior = unit / between if between > 0 else float("inf")
        weight = np.zeros(len(n)) if between == 0 else n / (n + prior)
        value = centre + weight * (own - centre)
        half = Z * np.sqrt(between * (1 - weight)) if between > 0 else np.zeros(len(n))
        return Shrunk(value, value - half, value + half, centre, between**0.5, prior)
    binomial = centre * (1 - centre)
    strength = binomial / between - 1 if between > 0 else float("inf")
    if not strength > 0 or np.isinf(strength):
        same = np.full(len(n), centre)
        return Shrunk(same, same, same, centre, between**0.5, float("inf"))
    trials = n / (unit / binomial)
    mass = trials + strength
    value = (own * trials + centre * strength) / mass
    odds = np.log(value / (1 - value))
    half = Z / np.sqrt(value * (1 - value) * (mass + 1))
    low, high = (1 / (1 + np.exp(-(odds + sign * half))) for sign in (-1, 1))
    return Shrunk(value, low, high, centre, between**0.5, strength * unit / binomial)
