"""Check 22, the third at the table: does anybody fare worse where two certain others sit together?

Source: fairness.md, "Pairs and groups".
"""

import numpy as np

from analytics.fairness import pair_money, payers, strength
from analytics.fairness.battery import Check
from analytics.fairness.multiplicity import WITH
from analytics.fairness.pair_money import Money
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

LEAST = 100
PLANNED = 0.5  # base stakes a round
PUNGED = 20
FED = 0.2  # of pungs

# an event holds seat, verb << 2, tile << 6 and the seat claimed from << 11; 4 is a pung (ingest/events.py)
PUNGS = """
    SELECT round_id, (event_ & 3)::TINYINT AS seat, (event_ >> 11 & 3)::TINYINT AS from_seat, event, 0 AS live
    FROM (SELECT round_id, unnest(events) AS event_, generate_subscripts(events, 1) - 1 AS event FROM rounds)
    WHERE event_ >> 2 & 15 = 4
"""


def third_player(tables: Tables) -> list[Result]:
    """22. The third player's result beside a pair.

    Statistic: what whoever sits with the two wins, luck of the tiles and the strengths of all three taken off, summed
    by game, over the root of the sum of squares. Null: as in 20: a third is as well off with these two as with any two
    of their strengths, which come from rounds in which they play apart; how well they are known widens it. Both tails.
    Tier T1, accounts, facts. Unit: rounds, pairs with 100 and 15 games. Planned for: half a base stake a round.
    """
    row = Result(22, "third_player", "pair", effect_unit="base stakes a round")
    found = strength.of(tables)
    if found is None:
        return [row.not_run("tier" if tables.rounds else "no_rounds")]
    results = found[0]
    # the accounts of a pair in the order of their names: each round's seats are sorted by account first
    order = np.argsort(results.account, axis=1)
    sorted_ = results._replace(
        account=np.take_along_axis(results.account, order, axis=1), net=np.take_along_axis(results.net, order, axis=1)
    )
    one, two, third = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([2, 1, 0])
    money = Money(one, two, third, sorted_.net[:, third], (-1 / 3, -1 / 3, 2 / 3))
    return pair_money.judge(row, sorted_, money, WITH, LEAST, PLANNED)


def pung_gifts(tables: Tables) -> list[Result]:
    """22. Tiles fed for pungs.

    As 19 over tiles that were punged: who signals what it needs is given it. Tier T1, accounts. Unit: pungs, pairs with
    20. Planned for: a share changed by 0.2.
    """
    row = Result(22, "pung_gifts", "pair", unit="pungs", effect_unit="of pungs")
    if not tables.rounds:
        return [row.not_run("no_rounds")]
    return payers.judge(row, payers.load(tables, PUNGS), payers.people(tables), PUNGED, FED)


CHECKS = (Check(22, "third_player", "T1", third_player), Check(22, "pung_gifts", "T1", pung_gifts))
