"""Exact chances of sums of unlike coin tosses, many sums at a time, and p-values of counts from them.

A sum's chances may share one shift that is known only so well (how freely an account deals in): its tails are then the
mean over that shift.  A count's p-value is randomised inside its own step, so that it is uniform for honest data; the
random number is a digest of whom it is about, the same in every run.
"""

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.special import expit
from scipy.stats import norm

LONG = 500  # tosses from which the normal distribution serves
NODES = 9  # of the shift's distribution; they reach 4.5 of its deviations
STEPS = 40  # of finding a saddlepoint
MIDDLE = 0.05  # standard deviations
BLOCK = 40_000  # numbers held at a time: what a processor keeps near


class Tails(NamedTuple):
    """Of a count x: P(X < x), P(X = x), P(X > x); float64[sums] each."""

    below: np.ndarray
    at: np.ndarray
    above: np.ndarray


class Counted(NamedTuple):
    """Counts of many: cases, those that count, their expectation and variance, and the three tails; an array each."""

    n: np.ndarray
    hits: np.ndarray
    expected: np.ndarray
    variance: np.ndarray
    below: np.ndarray
    at: np.ndarray
    above: np.ndarray

    @property
    def tails(self) -> Tails:
        """The chances of fewer, of as many, of more."""
        return Tails(self.below, self.at, self.above)


def tails(logits: np.ndarray, sizes: np.ndarray, hits: np.ndarray, spread: np.ndarray) -> Tails:
    """The tails of each sum of tosses at what was counted.

    logits: log odds of all tosses, those of a sum together; sizes: int64[sums], how many each has; hits: int64[sums];
    spread: float64[sums], standard deviation of the shift, on the scale of log odds, that all tosses of a sum share.
    """
    out = Tails(np.zeros(len(sizes)), np.ones(len(sizes)), np.zeros(len(sizes)))
    starts = np.cumsum(sizes) - sizes
    x, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    if not spread.any():
        x, weights = np.zeros(1), np.ones(1)
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    short = order[sizes[order] <= LONG]
    while len(short):
        # as many sums of about one size as fit
        upto = int(np.searchsorted(sizes[short], max(2 * sizes[short[0]], 8), side="right"))
        longest = int(sizes[short[upto - 1]])
        part = short[: min(upto, max(1, BLOCK // (len(x) * (longest + 1))))]
        short = short[len(part) :]
        found = _short(logits, starts[part], sizes[part], hits[part], spread[part], x, weights)
        for one, values in zip(out, found, strict=True):
            one[part] = values
    for one in order[sizes[order] > LONG]:
        p = expit(logits[starts[one] : starts[one] + sizes[one]])
        each = float((p * (1 - p)).sum())
        scale = math.sqrt(each + (each * spread[one]) ** 2)
        low, high = (hits[one] + np.array([-0.5, 0.5]) - p.sum()) / scale
        out.below[one], out.above[one] = norm.cdf(low), norm.sf(high)
        out.at[one] = (
            abs(norm.cdf(-abs(low)) - norm.cdf(-abs(high))) if low * high > 0 else norm.cdf(high) - norm.cdf(low)
        )
    return out


def _short(logits, starts, sizes, hits, spread, x, weights) -> Tails:  # noqa: ANN001
    """`tails` of sums of about one size, one toss of all of them at a time."""
    longest = int(sizes.max())
    chance = np.zeros((len(sizes), len(x), longest + 2))
    chance[:, :, 0] = 1.0
    shift = spread[:, None] * x
    for step in range(longest):
        going = step < sizes
        p = np.where(going[:, None], expit(logits[starts + np.minimum(step, sizes - 1)][:, None] + shift), 0.0)[
            ..., None
        ]
        now = chance[:, :, : step + 2]
        moved = now[:, :, :-1] * p[:, :, :]
        now *= 1 - p
        now[:, :, 1:] += moved
    whole = np.einsum("sxk,x->sk", chance, weights)
    places = np.arange(longest + 2)
    return Tails(*(np.where(which, whole, 0.0).sum(axis=1) for which in (
        places < hits[:, None], places == hits[:, None], places > hits[:, None])))  # fmt: skip


def signs(total: np.ndarray, sizes: np.ndarray, which: np.ndarray, more: np.ndarray) -> np.ndarray:
    """P(|S| ≥ |total|) of sums S of numbers that are as likely to be above as below zero; float64[sums].

    sizes: the numbers, their signs don't matter; which: the sum that each belongs to; more: variance of a normal number
    that is in the sum besides.  Lugannani and Rice's saddlepoint formula, whose relative error is of the order of one
    over how many numbers there are, far out too; in the middle the straight line to its value there.
    """
    count = len(total)
    variance = np.bincount(which, sizes**2, count) + more
    scale = np.sqrt(np.maximum(variance, 1e-300))
    size, rest = np.abs(sizes) / scale[which], np.where(variance > 0, more / np.maximum(variance, 1e-300), 1.0)
    z = np.abs(total) / scale
    # a sum can't exceed that of all its numbers
    most = np.where(rest > 0, np.inf, np.bincount(which, size, count)) * (1 - 1e-9)
    at = np.clip(z, MIDDLE, most)
    t = at.copy()
    for _ in range(STEPS):
        bend = np.tanh(size * t[which])
        slope = np.bincount(which, size * bend, count) + t * rest - at
        steep = np.bincount(which, size**2 * (1 - bend**2), count) + rest
        t = np.clip(t - slope / np.maximum(steep, 1e-12), t / 3, 3 * t)
    bend = np.tanh(size * t[which])
    steep = np.bincount(which, size**2 * (1 - bend**2), count) + rest
    cumulant = np.bincount(which, np.logaddexp(size * t[which], -size * t[which]) - np.log(2), count) + t**2 * rest / 2
    w, v = np.sqrt(np.maximum(2 * (t * at - cumulant), 1e-300)), t * np.sqrt(np.maximum(steep, 1e-300))
    tail = norm.sf(w) + norm.pdf(w) * (1 / v - 1 / w)
    tail = np.where(z < MIDDLE, 0.5 - (0.5 - tail) * z / MIDDLE, tail)
    return np.clip(2 * tail, 1e-300, 1.0)


def share_of(name: str, subject: str) -> float:
    """A number from 0 to 1 that belongs to a row: what its p-value is randomised by."""
    return int.from_bytes(blake2b(f"{name}\0{subject}".encode(), digest_size=8).digest(), "big") / 2**64


def two_sided(found: Tails, names: Sequence[str], check: str) -> np.ndarray:
    """Randomised two-sided p-values of counts."""
    u = np.array([share_of(check, name) for name in names])
    low, high = found.below + u * found.at, found.above + (1 - u) * found.at
    return np.clip(2 * np.minimum(low, high), 1e-300, 1.0)
