"""Check 19, deal-ins: does an account deal in to another more, or less, than to anybody else?

Source: fairness.md, "Pairs and groups".
"""

from analytics.fairness import payers
from analytics.fairness.battery import Check
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

LEAST = 20  # wins of the one with the other at the table
PLANNED = 0.2  # of those wins

WINS = """
    SELECT w.round_id, w.seat, w.from_seat, w.event, CASE WHEN f.ready_live_true IS NULL THEN 0
        WHEN f.ready_live_true < 3 THEN 1 WHEN f.ready_live_true < 6 THEN 2 ELSE 3 END AS live
    FROM wins AS w JOIN rounds AS r ON r.round_id = w.round_id AND r.winners = 1
    LEFT JOIN facts AS f ON f.round_id = w.round_id AND f.seat = w.seat WHERE w."by" = 'discard'
"""


def deal_ins(tables: Tables) -> list[Result]:
    """19. Deal-in share of an ordered pair.

    Statistic: of the wins that the second took off a discard with the first at the table, how many the first gave; its
    chance in each of them is logistic in the relative seat, who has revealed, how live the wait was (four grades), and
    how freely the first and the third deal in, to open and to hidden hands, drawn towards all. The first's own freedom
    is measured on other winners, so that a weak player is no dumper; how well it is known widens the null. Null:
    Poisson-binomial over these chances, computed exactly up to 500 wins; p is two-sided and randomised. Wins of pairs
    that stand out are set aside, and all others tested again. Rounds with two winners are left out. Tier T1, accounts.
    Unit: wins, pairs with 20. Planned for: a share changed by 0.2.
    """
    row = Result(19, "deal_in_share", "pair", unit="wins", effect_unit="of wins")
    if not tables.rounds:
        return [row.not_run("no_rounds")]
    return payers.judge(row, payers.load(tables, WINS), payers.people(tables), LEAST, PLANNED)


CHECKS = (Check(19, "deal_ins", "T1", deal_ins),)
