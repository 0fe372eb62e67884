"""Money of pairs against what strengths lead to expect: the sums behind checks 20 and 22.

A pair's rounds are added up by game, since rounds of a game depend on each other, and each game's sum is as likely to
be above as below what is expected: the null is that of all ways to give the sums their signs.  To that comes how well
the strengths are known.  The strengths of the pair are those it shows elsewhere, without each other.
"""

from typing import NamedTuple

import numpy as np

from analytics.fairness.exact_sums import signs
from analytics.fairness.multiplicity import benjamini_hochberg
from analytics.fairness.pair_rows import Pairs, rows, standing_out
from analytics.fairness.result import Result
from analytics.fairness.strength import SHARE, Results, strengths

PASSES = 4  # in which pairs that stand out are set aside, the strongest first
GAMES = 15  # games below which a total is not normal enough


class Money(NamedTuple):
    """What a pair is measured by: places [rounds, k] of seats, and what each round says of it."""

    one: np.ndarray  # int64[k], seats of the pair's accounts
    two: np.ndarray
    third: np.ndarray
    value: np.ndarray  # float64[rounds, k]
    weights: tuple[float, float, float]  # of the strengths of one, two and third in its expectation


class Places(NamedTuple):
    """A round of a tested pair each, in order of pair and game."""

    pair: np.ndarray
    round: np.ndarray
    accounts: np.ndarray  # int64[n, 3]: one, two, third
    nets: np.ndarray  # float64[n, 2], of one and two
    value: np.ndarray


class Found(NamedTuple):
    """Of pairs: rounds that count, games, sum, its variance over games, how well what is expected is known, and p."""

    n: np.ndarray
    games: np.ndarray
    total: np.ndarray
    over_games: np.ndarray
    unknown: np.ndarray
    p: np.ndarray


def judge(row: Result, results: Results, money: Money, sign: str, least: int, planned: float) -> list[Result]:
    """One row a pair that has played `least` rounds and GAMES games.

    sign: what stands between the two names; planned: in base stakes a round.
    """
    accounts = len(results.names)
    key = results.account[:, money.one] * accounts + results.account[:, money.two]
    pairs, index = np.unique(key, return_inverse=True)
    index = index.reshape(key.shape)
    sizes = np.bincount(index.ravel(), minlength=len(pairs))
    whole = index * (int(results.game.max()) + 1) + results.game[:, None]
    games = np.bincount(np.unique(whole) // (int(results.game.max()) + 1), minlength=len(pairs))
    tested = np.flatnonzero((sizes >= least) & (games >= GAMES))
    if not len(tested):
        return rows(row, None, len(pairs), planned, least)
    number = np.full(len(pairs), -1)
    number[tested] = np.arange(len(tested))
    at, side = np.nonzero(number[index] >= 0)
    order = np.lexsort((at, results.game[at], number[index[at, side]]))
    at, side = at[order], side[order]
    seats = np.stack([money.one, money.two, money.third], axis=1)[side]
    of = Places(number[index[at, side]], at, results.account[at[:, None], seats],
                results.net[at[:, None], seats[:, :2]], money.value[at, side])  # fmt: skip
    ends = np.stack([pairs[tested] // accounts, pairs[tested] % accounts], axis=1)
    names = [f"{results.names[one]}{sign}{results.names[two]}" for one, two in ends.tolist()]
    odd = np.zeros(len(tested), bool)
    for _ in range(PASSES):
        found = measure(results, of, money.weights, odd, ends)
        spread = np.sqrt(found.over_games + found.unknown) + 1e-12
        z = found.total / spread
        p = np.where(found.games < GAMES, 1.0, found.p)
        new = standing_out(np.where(odd, 1.0, p), benjamini_hochberg(p), ends)
        if not new.any():
            break
        odd |= new
        odd |= np.isin(ends @ [1, accounts], ends[odd] @ [accounts, 1])  # and the other direction
    first = np.searchsorted(of.pair, np.arange(len(tested) + 1))
    n = np.maximum(found.n, 1)
    scale = np.bincount(of.pair, results.scale[of.round], len(tested)) / np.diff(first)

    def evidence(one: int) -> np.ndarray:
        mine = slice(first[one], first[one + 1])
        most = np.argsort(-np.sign(z[one]) * of.value[mine], kind="stable")
        return results.round_id[of.round[mine][most]]

    stakes = scale / n
    shown = Pairs(
        names, found.n, z, found.total * stakes, spread * stakes, np.sqrt(found.unknown) * stakes, p, evidence
    )
    return rows(row, shown, len(pairs) - len(tested), planned, least)


def measure(results: Results, of: Places, weights: tuple[float, float, float], odd: np.ndarray,
            ends: np.ndarray) -> Found:  # fmt: skip
    """Adds up; rounds of the pairs that stand out (`odd`) say nothing of strengths nor of others."""
    pairs = len(ends)
    spoilt = np.zeros(len(results.net), bool)
    spoilt[of.round[odd[of.pair]]] = True
    known = strengths(results, ~spoilt)
    clean = ~spoilt[of.round]
    counted = odd[of.pair] | clean
    mine = known.value[of.accounts]
    mean = mine.mean(axis=1)
    expected = weights[2] * mine[:, 2]
    unknown = np.zeros(pairs)
    n = np.bincount(of.pair, counted, pairs)
    together = np.bincount(of.pair, clean, pairs)
    for which in range(2):
        # a strength without the rounds with each other: a step of Newton's method, which here is exact but for the rest
        rest = SHARE * np.maximum(known.rounds[ends[:, which]] - together, 0) + known.prior
        away = of.nets[:, which] - (mine[:, which] - mean)
        less = np.bincount(of.pair, away * clean, pairs) / rest
        expected += weights[which] * (mine[:, which] - less[of.pair])
        unknown += (weights[which] * n) ** 2 * known.each / rest
    triple, place = np.unique(of.pair * len(results.names) + of.accounts[:, 2], return_inverse=True)
    thirds = np.bincount(place, counted)
    unknown += np.bincount(
        triple // len(results.names), (weights[2] * thirds) ** 2 * known.variance[triple % len(results.names)], pairs
    )
    away = (of.value - expected) * counted
    begin = np.flatnonzero(np.r_[True, (np.diff(of.pair) != 0) | (np.diff(results.game[of.round]) != 0)])
    sums = np.add.reduceat(away, begin)
    here = of.pair[begin]
    games = np.bincount(here, np.add.reduceat(counted.astype(float), begin) > 0, pairs)
    total = np.bincount(here, sums, pairs)
    p = signs(total, sums, here, unknown)
    return Found(n.astype(np.int64), games, total, np.bincount(here, sums**2, pairs), unknown, p)
