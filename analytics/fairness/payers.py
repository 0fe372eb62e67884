"""Who of two gives the tile: a model of honest play for deal-ins and kongs, and the pairs that depart from it.

A seat has taken another's discard, and one of the two others gave it.  Which of them depends on where they sit, on who
has revealed, and on how freely each gives to anybody; the last is measured without the pair that is looked at.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from analytics.fairness.exact_sums import tails, two_sided
from analytics.fairness.multiplicity import TO, benjamini_hochberg
from analytics.fairness.pair_rows import Pairs, rows, standing_out
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, PEOPLE, Tables

STEPS = 80  # of the fit at most
CLOSE = 0.002  # change of log odds, and relative change of the spread, that ends it
DAMPING = 0.6
LEAST_INFORMATION = 0.02  # of a prior variance: an account is never taken to be exactly as all others
CELL_VARIANCE = 1.0
PASSES = 6  # in which pairs that stand out are set aside, the strongest at a table first


class Gifts(NamedTuple):
    """Tiles that a seat took from one of two others; an array each, one place a tile."""

    round_id: np.ndarray
    taker: np.ndarray  # account numbers
    first: np.ndarray  # account on the taker's next seat
    second: np.ndarray  # and on its previous one
    gave: np.ndarray  # bool: it was the first
    cell: np.ndarray  # what lies open: a number from 0
    kind: np.ndarray  # 1 where the taker had revealed, else 0: an account may give differently to those


class Fit(NamedTuple):
    """What honest play would look like."""

    of_cell: np.ndarray  # log odds that the first gives, of each cell
    freely: np.ndarray  # log odds of each account and kind, by 2 × account + kind
    information: np.ndarray  # on each of them
    prior: np.ndarray  # 1 / variance of the accounts' spread, of each kind

    def logit(self, gifts: Gifts) -> np.ndarray:
        """Log odds that the first gave, of each tile."""
        away = self.freely[2 * gifts.first + gifts.kind] - self.freely[2 * gifts.second + gifts.kind]
        return self.of_cell[gifts.cell] + away


def people(tables: Tables) -> np.ndarray:
    """The accounts' names in the order of their numbers."""
    return tables.columns(f"SELECT player FROM {PEOPLE} ORDER BY number")["player"]


def load(tables: Tables, events: str) -> Gifts:
    """The tiles that were taken; events: a SELECT of round_id, seat, from_seat, event, live."""
    open_ = [f"coalesce(v{at}.event < g.event, false)::BIGINT" for at in range(3)]
    joins = "".join(
        f" JOIN seats AS s{at} ON s{at}.round_id = g.round_id AND s{at}.seat = (g.seat + {at}) % 3"
        f" JOIN {PEOPLE} AS p{at} ON p{at}.player = s{at}.player"
        f" LEFT JOIN reveals AS v{at} ON v{at}.round_id = g.round_id AND v{at}.seat = (g.seat + {at}) % 3"
        for at in range(3)
    )
    found = tables.columns(
        f"""
        SELECT g.round_id, p0.number AS taker, p1.number AS first, p2.number AS second,
            g.from_seat = (g.seat + 1) % 3 AS gave, {open_[0]} AS kind,
            {open_[0]} + 2 * {open_[1]} + 4 * {open_[2]} + 8 * g.live AS cell
        FROM ({events}) AS g JOIN rounds USING (round_id) {joins} WHERE {FAIR}
        ORDER BY g.round_id, g.event, g.seat
        """
    )
    return Gifts(*(found[name] for name in Gifts._fields))


def fit(gifts: Gifts, accounts: int, cells: int, start: Fit | None = None) -> Fit:
    """Log odds by what lies open, plus how freely the first gives less how freely the second does.

    Cells and accounts are drawn towards zero, the accounts by their own spread, which is found beside them (largest
    posterior, steps of Newton's method on one account at a time).  start: a fit to nearly the same tiles.
    """
    # tiles that are alike are counted, not gone through one by one
    key = (gifts.first * accounts + gifts.second) * (2 * cells) + 2 * gifts.cell + gifts.kind
    key, place = np.unique(key, return_inverse=True)
    n, gave = np.bincount(place).astype(float), np.bincount(place, gifts.gave)
    kind, cell, both = key % 2, key % (2 * cells) // 2, key // (2 * cells)
    first, second, nodes = 2 * (both // accounts) + kind, 2 * (both % accounts) + kind, 2 * accounts
    freely, of_cell = (np.zeros(nodes), np.zeros(cells)) if start is None else (start.freely, start.of_cell)
    prior = np.full(2, 10.0) if start is None else start.prior
    seen = np.bincount(first, minlength=nodes) + np.bincount(second, minlength=nodes) > 0
    for _ in range(STEPS):
        p = expit(of_cell[cell] + freely[first] - freely[second])
        away, weight = gave - n * p, n * p * (1 - p)
        slope = np.bincount(cell, away, cells) - of_cell / CELL_VARIANCE
        of_cell = of_cell + slope / (np.bincount(cell, weight, cells) + 1 / CELL_VARIANCE)
        information = np.bincount(first, weight, nodes) + np.bincount(second, weight, nodes)
        strict = np.tile(prior, accounts)
        slope = np.bincount(first, away, nodes) - np.bincount(second, away, nodes) - freely * strict
        step = DAMPING * slope / (information + strict)
        freely = freely + step
        spread = freely**2 + 1 / (information + strict)
        before = prior
        prior = np.array([1 / max(float(spread[at::2][seen[at::2]].mean()), LEAST_INFORMATION)
                          if seen[at::2].any() else 10.0 for at in range(2)])  # fmt: skip
        if np.abs(step).max() < CLOSE and np.abs(prior / before - 1).max() < CLOSE:
            break
    return Fit(of_cell, freely, information, prior)


class Chances(NamedTuple):
    """Every tile twice, once for each of those who may have given it, ordered by pair; and the pairs."""

    giver: np.ndarray
    other: np.ndarray  # who else may have
    taker: np.ndarray
    kind: np.ndarray
    round_id: np.ndarray
    gave: np.ndarray  # 1 where it was the giver
    tile: np.ndarray  # place in Gifts
    side: np.ndarray  # 1 where the giver is the first, else -1
    pair: np.ndarray  # number of the pair giver, taker
    start: np.ndarray  # first place of each pair
    sizes: np.ndarray  # places of each pair


def chances(gifts: Gifts, accounts: int) -> Chances:
    """The tiles by ordered pair."""
    giver = np.concatenate([gifts.first, gifts.second])
    taker = np.tile(gifts.taker, 2)
    ids = np.tile(gifts.round_id, 2)
    key = giver * accounts + taker
    order = np.lexsort((ids, key))
    gave = np.concatenate([gifts.gave, ~gifts.gave]).astype(float)
    columns = (
        giver, np.concatenate([gifts.second, gifts.first]), taker, np.tile(gifts.kind, 2), ids, gave,
        np.tile(np.arange(len(gifts.gave)), 2), np.repeat([1, -1], len(gifts.gave)),
    )  # fmt: skip
    _, start, sizes = np.unique(key[order], return_index=True, return_counts=True)
    pair = np.repeat(np.arange(len(sizes)), sizes)
    return Chances(*(values[order] for values in columns), pair, start, sizes)


class Tested(NamedTuple):
    """Of pairs: chances that count, gifts seen and expected, and how well what is expected is known."""

    n: np.ndarray
    count: np.ndarray
    expected: np.ndarray
    each: np.ndarray  # variance by chance alone
    spread: np.ndarray  # of the shift of log odds that a pair's chances share
    p: np.ndarray


def measure(gifts: Gifts, of: Chances, tested: np.ndarray, odd: np.ndarray, names: list[str], accounts: int,
            start: Fit | None) -> tuple[Tested, Fit]:  # fmt: skip
    """Tests the pairs; the fit too, for the next to start from.

    odd: bool[pairs], those found to stand out: what they gave tells nothing about how freely anybody gives, and the
    third at their table is not judged by it.
    """
    which, pairs = odd[of.pair], len(of.sizes)
    spoilt = np.zeros(len(gifts.gave), bool)
    spoilt[of.tile[which]] = True
    model = fit(Gifts(*(values[~spoilt] for values in gifts)), accounts, int(gifts.cell.max()) + 1, start)
    counted = which | ~spoilt[of.tile]
    logit = of.side * model.logit(gifts)[of.tile]
    p = expit(logit)
    # How freely the giver gives, from its other takers: a step of Newton's method away from the fit to all.
    node = 2 * of.pair + of.kind
    used = ~spoilt[of.tile]
    own = np.bincount(node, p * (1 - p) * used, 2 * pairs)
    slope = np.bincount(node, (of.gave - p) * used, 2 * pairs)
    mine = np.repeat(2 * of.giver[of.start], 2) + np.tile([0, 1], pairs)
    rest = np.maximum(model.information[mine] - own, 0) + np.tile(model.prior, pairs)
    logit -= (slope / rest)[node]
    p = expit(logit)
    weight = p * (1 - p) * counted
    each = np.bincount(of.pair, weight, pairs)
    shift = (np.bincount(node, weight, 2 * pairs) ** 2 / rest).reshape(-1, 2).sum(axis=1)
    triple, place = np.unique(of.pair * (2 * accounts) + 2 * of.other + of.kind, return_inverse=True)
    known = model.information[triple % (2 * accounts)] + model.prior[triple % 2]
    shift += np.bincount(triple // (2 * accounts), np.bincount(place, weight) ** 2 / known, pairs)
    spread = np.sqrt(shift)[tested] / np.maximum(each[tested], 1e-12)
    chosen = np.zeros(pairs, bool)
    chosen[tested] = True
    chosen = chosen[of.pair] & counted
    count = np.bincount(of.pair, of.gave * counted, pairs)[tested].astype(np.int64)
    sizes = np.bincount(of.pair[counted], minlength=pairs)[tested]
    found = two_sided(tails(logit[chosen], sizes, count, spread), names, "gave")
    expected = np.bincount(of.pair, p * counted, pairs)[tested]
    return Tested(sizes, count, expected, each[tested], spread, found), model


def judge(row: Result, gifts: Gifts, people: np.ndarray, least: int, planned: float) -> list[Result]:
    """One row an ordered pair "giver → taker" that had `least` chances; see `rows` for which are shown."""
    if not len(gifts.gave):
        return [row.not_run("no_rounds")]
    of = chances(gifts, len(people))
    tested = np.flatnonzero(of.sizes >= least)
    if not len(tested):
        return rows(row, None, len(of.sizes), planned, least)
    ends = np.stack([of.giver[of.start[tested]], of.taker[of.start[tested]]], axis=1)
    names = [f"{people[giver]}{TO}{people[taker]}" for giver, taker in ends.tolist()]
    odd = np.zeros(len(of.sizes), bool)
    model = None
    for _ in range(PASSES):
        found, model = measure(gifts, of, tested, odd, names, len(people), model)
        new = standing_out(np.where(odd[tested], 1.0, found.p), benjamini_hochberg(found.p), ends)
        if not new.any():
            break
        odd[tested[new]] = True

    def evidence(at: int) -> np.ndarray:
        mine = slice(of.start[tested[at]], of.start[tested[at]] + of.sizes[tested[at]])
        return of.round_id[mine][of.gave[mine] > 0]

    n = np.maximum(found.n, 1)
    away, floor = found.count - found.expected, found.each * found.spread
    scale = np.sqrt(found.each + floor**2) + 1e-12
    pairs = Pairs(names, found.n, away / scale, away / n, scale / n, floor / n, found.p, evidence)
    return rows(row, pairs, len(of.sizes) - len(tested), planned, least)
