"""Check 20, wins that an account passes: does it let one account's tiles go more often than those of others?

Source: fairness.md, "Pairs and groups".
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from analytics.fairness.battery import Check
from analytics.fairness.exact_sums import Counted, two_sided
from analytics.fairness.multiplicity import TO, benjamini_hochberg
from analytics.fairness.pair_rows import Pairs, rows, standing_out
from analytics.fairness.payers import people
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, PEOPLE, Tables

LEAST = 10  # wins offered by the one to the other
PLANNED = 0.3  # of them
PASSES = 4  # in which pairs that stand out are set aside, the strongest first


class Offers(NamedTuple):
    """The first win off another's discard that a seat was offered in a round."""

    round_id: np.ndarray
    seat: np.ndarray  # account it was offered to
    giver: np.ndarray  # account that discarded
    like: np.ndarray  # number of the offers of an account that are like each other
    passed: np.ndarray  # bool


def passed_wins(tables: Tables) -> list[Result]:
    """20. Passed wins.

    Statistic: how many of the second's winning discards the first let pass, of the first such offer of each round.
    Null: the first's passes fall on its offers by lot within ruleset, options, and who of the two has revealed: sums of
    hypergeometric counts, exact; p is two-sided and randomised. A win that another took by going before is no pass.
    Tier T1, accounts, facts. Unit: wins offered, pairs with 10 whose first has passed one somewhere. Planned for: 0.3.
    """
    row = Result(20, "passed_wins", "pair", unit="wins offered", effect_unit="of wins offered")
    if not tables.has("facts"):
        return [row.not_run("tier" if tables.rounds else "no_rounds")]
    found = tables.columns(
        f"""
        WITH offers AS (
            SELECT w.round_id, w.seat, w.from_seat AS giver, w.event, false AS passed
            FROM wins AS w JOIN facts AS f USING (round_id, seat)
            WHERE w."by" = 'discard' AND f.wins_missed = 0 AND f.wins_offered = 1
            UNION ALL
            SELECT f.round_id, f.seat, (rounds.events[f.first_missed_event + 1] & 3)::TINYINT AS giver,
                f.first_missed_event AS event, true AS passed
            FROM facts AS f JOIN rounds USING (round_id)
            WHERE f.first_missed_event IS NOT NULL AND (rounds.events[f.first_missed_event + 1] >> 2) & 15 IN (2, 3)
                AND NOT EXISTS (SELECT 1 FROM wins AS w WHERE w.round_id = f.round_id AND
                    w.event BETWEEN f.first_missed_event AND f.first_missed_event + 2)
        )
        SELECT o.round_id, p.number AS seat, g.number AS giver, o.passed,
            dense_rank() OVER (ORDER BY p.number, rounds.ruleset, coalesce(rounds.options, ''),
                coalesce(v.event < o.event, false), coalesce(x.event < o.event, false)) - 1 AS "like"
        FROM offers AS o JOIN rounds USING (round_id)
        JOIN seats AS s ON s.round_id = o.round_id AND s.seat = o.seat JOIN {PEOPLE} AS p ON p.player = s.player
        JOIN seats AS d ON d.round_id = o.round_id AND d.seat = o.giver JOIN {PEOPLE} AS g ON g.player = d.player
        LEFT JOIN reveals AS v ON v.round_id = o.round_id AND v.seat = o.seat
        LEFT JOIN reveals AS x ON x.round_id = o.round_id AND x.seat = o.giver
        WHERE o.giver <> o.seat AND {FAIR} ORDER BY o.round_id, o.seat
        """
    )
    return judge(row, Offers(*(found[name] for name in Offers._fields)), people(tables))


def judge(row: Result, of: Offers, names: np.ndarray) -> list[Result]:
    """One row a pair "who passes → on whose tiles" that had LEAST offers and could have gone either way."""
    accounts = len(names)
    key = of.seat * accounts + of.giver
    pairs, pair, sizes = np.unique(key, return_inverse=True, return_counts=True)
    everywhere = np.zeros(len(pairs), bool)
    found = count(of, pair, len(pairs), everywhere)
    tested = np.flatnonzero((sizes >= LEAST) & (found.variance > 0))
    if not len(tested):
        return [row.not_run("too_few" if len(pairs) else "no_rounds", needed=LEAST)]
    ends = np.stack([pairs[tested] // accounts, pairs[tested] % accounts], axis=1)
    subjects = [f"{names[one]}{TO}{names[two]}" for one, two in ends.tolist()]
    odd = everywhere
    for _ in range(PASSES):
        mine = Counted(*(values[tested] for values in found))
        p = two_sided(mine.tails, subjects, row.name)
        new = standing_out(np.where(odd[tested], 1.0, p), benjamini_hochberg(p), ends)
        if not new.any():
            break
        odd[tested[new]] = True
        again = count(of, pair, len(pairs), odd)
        found = Counted(*(np.where(odd, old, now) for old, now in zip(found, again, strict=True)))
    order = np.argsort(pair, kind="stable")
    begin = np.searchsorted(pair[order], np.arange(len(pairs) + 1))

    def evidence(at: int) -> np.ndarray:
        here = order[begin[tested[at]] : begin[tested[at] + 1]]
        return of.round_id[here][of.passed[here]]

    away, scale = mine.hits - mine.expected, np.sqrt(mine.variance) + 1e-12
    shown = Pairs(subjects, mine.n, away / scale, away / mine.n, scale / mine.n, np.zeros(len(tested)), p, evidence)
    return rows(row, shown, len(pairs) - len(tested), PLANNED, LEAST)


def count(of: Offers, pair: np.ndarray, pairs: int, odd: np.ndarray) -> Counted:
    """Passes of each pair against those that its passer's passes, dealt to its offers by lot, would give.

    odd: bool[pairs], left out of what the other pairs are compared with.
    """
    kept = ~odd[pair]
    kinds = int(of.like.max(initial=0)) + 1
    total, passes = np.bincount(of.like[kept], minlength=kinds), np.bincount(of.like[kept], of.passed[kept], kinds)
    cell, place = np.unique(pair * kinds + of.like, return_inverse=True)
    n, x = np.bincount(place), np.bincount(place, of.passed)
    whose, like = cell // kinds, cell % kinds
    all_, hit = total[like], passes[like]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(all_ > 0, n * hit / all_, 0.0)
        variance = np.where(all_ > 1, mean * (1 - hit / all_) * (all_ - n) / (all_ - 1), 0.0)
    expected, spread = np.bincount(whose, mean, pairs), np.bincount(whose, variance, pairs)
    count_ = np.bincount(whose, x, pairs).astype(np.int64)
    tails_ = np.zeros((3, pairs))
    tails_[1] = 1.0
    begin = np.searchsorted(whose, np.arange(pairs + 1))
    for at in np.flatnonzero((spread > 0) & ~odd).tolist():
        chance, sure = np.ones(1), 0
        for one in range(begin[at], begin[at + 1]):
            if variance[one] > 0:
                low, each = hypergeometric(int(all_[one]), int(hit[one]), int(n[one]))
                chance, sure = np.convolve(chance, each), sure + low
            else:
                sure += int(x[one])
        seen = int(count_[at]) - sure
        tails_[:, at] = chance[:seen].sum(), chance[seen], chance[seen + 1 :].sum()
    return Counted(np.bincount(pair, minlength=pairs), count_, expected, spread, *tails_)


def hypergeometric(total: int, marked: int, drawn: int) -> tuple[int, np.ndarray]:
    """The least number of marked ones among those drawn, and the chances of it and all above."""
    low, high = max(0, drawn - (total - marked)), min(drawn, marked)
    x = np.arange(low, high + 1)
    logs = -gammaln([x + 1, marked - x + 1, drawn - x + 1, total - marked - drawn + x + 1]).sum(axis=0)
    chance = np.exp(logs - logs.max())
    return low, chance / chance.sum()


CHECKS = (Check(20, "passed_wins", "T1", passed_wins),)
