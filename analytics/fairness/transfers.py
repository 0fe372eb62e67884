"""Check 20, soft play: what passes between two accounts, gifts of kongs, and wins passed for somebody's sake.

Source: fairness.md, "Pairs and groups".
"""

import numpy as np

from analytics.fairness import pair_money, payers, strength
from analytics.fairness.battery import Check
from analytics.fairness.multiplicity import TO
from analytics.fairness.pair_money import Money
from analytics.fairness.result import Result
from analytics.fairness.strength import Results
from analytics.fairness.tables import Tables

ROUNDS, KONGS = 100, 20
PLANNED = 0.5  # base stakes a round
GIVEN = 0.3  # of kongs

EXPOSED = """
    SELECT round_id, seat, from_seat, event, 0 AS live FROM kongs WHERE kind = 'exposed' AND from_seat IS NOT NULL
"""


def net_transfer(tables: Tables) -> list[Result]:
    """20. Net transfer.

    Statistic: what the first passes to the second less what it passes to the third, luck of the tiles and a third of
    the difference of their strengths taken off, summed by game, over the root of the sum of squares. Null: a
    permutation within table and day: in each game the two opponents change places or not, which gives its sum either
    sign; all these ways together by a saddlepoint. Strengths come from rounds without each other, and how well they are
    known widens it. Both tails. Rounds of pairs that stand out are set
    aside, and all others tested again. Tier T1, accounts, facts. Unit: rounds, pairs with 100 and 15 games. Planned
    for: half a base stake a round. A pair that never plays apart shows a transfer only where it exceeds any
    difference of skill: `needed` is then missing.
    """
    row = Result(20, "net_transfer", "pair", effect_unit="base stakes a round")
    found = strength.of(tables)
    if found is None:
        return [row.not_run("tier" if tables.rounds else "no_rounds")]
    return pair_money.judge(row, found[0], what_passes(found[0]), TO, ROUNDS, PLANNED)


def what_passes(results: Results) -> Money:
    """What each seat passed to each other, less what it passed to the third."""
    one, two = np.array([0, 1, 2, 0, 1, 2]), np.array([1, 2, 0, 2, 0, 1])
    gave = np.concatenate([results.flow, -np.roll(results.flow, 1, axis=1)], axis=1)
    other = np.concatenate([gave[:, 3:], gave[:, :3]], axis=1)
    return Money(one, two, 3 - one - two, gave - other, (0.0, 1 / 3, -1 / 3))


def kong_gifts(tables: Tables) -> list[Result]:
    """20. Direct-kong gifts.

    As 19 over tiles given for exposed kongs. Tier T1, accounts. Unit: kongs, pairs with 20. Planned for: a share
    changed by 0.3.
    """
    row = Result(20, "kong_gifts", "pair", unit="kongs", effect_unit="of kongs")
    if not tables.rounds:
        return [row.not_run("no_rounds")]
    return payers.judge(row, payers.load(tables, EXPOSED), payers.people(tables), KONGS, GIVEN)


CHECKS = (Check(20, "net_transfer", "T1", net_transfer), Check(20, "kong_gifts", "T1", kong_gifts))
