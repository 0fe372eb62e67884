"""Check 14, the compensated game: is luck dealt to those who lose, who are new, or who play for more?

Source: fairness.md, "Shuffle, global".
"""

import math
from typing import NamedTuple

import numpy as np

from analytics.fairness.battery import Check
from analytics.fairness.result import Result
from analytics.fairness.shuffle import normal
from analytics.fairness.tables import FAIR, Tables

LEAST = 500  # rounds of seats below which nothing is said
NEW = 50  # an account's first rounds
STREAK = 3  # rounds lost in a row


class Lever(NamedTuple):
    """Something known before a round that luck must not depend on."""

    name: str
    value: str  # SQL over the account's rounds before
    planned: float  # change of useful draws a round


LEVERS = (
    Lever("past_net", "CASE WHEN net > 0 THEN 1.0 WHEN net < 0 THEN -1.0 ELSE 0.0 END", 0.1),
    Lever("losing_streak", f"CASE WHEN lost >= {STREAK} THEN 1.0 ELSE 0.0 END", 0.1),
    Lever("newness", f"CASE WHEN before < {NEW} THEN 1.0 ELSE 0.0 END", 0.1),
    Lever("stake", "ln(base)", 0.1),
)


def compensated(tables: Tables) -> list[Result]:
    """14. Draw luck against what was known before the round.

    Statistic, for each of past net result, a streak of three losses, the account's first 50 rounds and the stake: the
    slope Σ x·d / Σ x² of (useful draws − expected) on it over all rounds of all seats; its numerator is a martingale,
    since x is known before the round, so z = Σ x·d / √Σ x²v is N(0, 1) under fair walls, however people
    play.  x is taken as its difference from its mean over all rows.  Tier T1, stakes and accounts in the log.
    Unit: rounds of seats.
    """
    rows = [
        Result(14, lever.name, "shuffle", unit="rounds of seats", effect_unit="useful draws a round")
        for lever in LEVERS
    ]
    if not tables.has("facts"):
        return [row.not_run("tier") for row in rows]
    levers = ", ".join(f"({lever.value})::DOUBLE AS {lever.name}" for lever in LEVERS)
    found = tables.columns(
        f"""
        WITH played AS (
            SELECT s.player, round_id, s.points, rounds.base, f.useful_draws - f.useful_expected AS away,
                f.useful_variance AS variance,
                row_number() OVER account - 1 AS before,
                coalesce(sum(round(1000 * s.points / rounds.base)::BIGINT) OVER
                    (account ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                    AS net
            FROM facts AS f JOIN seats AS s USING (round_id, seat) JOIN rounds USING (round_id)
            WHERE s.player <> '' AND rounds.base > 0 AND {FAIR}
            WINDOW account AS (PARTITION BY s.player ORDER BY rounds.time_ms, rounds.game_key, rounds.round, round_id)
        ), streaks AS (
            SELECT *, before - coalesce(max(CASE WHEN points >= 0 THEN before + 1 END) OVER
                (PARTITION BY player ORDER BY before ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS lost
            FROM played
        )
        SELECT away, variance, {levers} FROM streaks ORDER BY round_id, player
        """
    )
    n = len(found["away"])
    return [slope(row.but(n=n), found["away"], found["variance"], found[row.name], lever.planned)
            for row, lever in zip(rows, LEVERS, strict=True)]  # fmt: skip


def slope(row: Result, away: np.ndarray, variance: np.ndarray, x: np.ndarray, planned: float) -> Result:
    """The row of one lever."""
    if row.n < LEAST:
        return row.not_run("too_few" if row.n else "no_rounds", needed=LEAST)
    centred = x - x.mean()
    if not np.any(np.abs(centred) > 1e-9):
        return row.not_run("no_stakes" if row.name == "stake" else "too_few")
    spread = math.sqrt(float(centred**2 @ variance))
    top = float(centred @ away)
    scale = float(centred @ centred)
    return normal(row, top / spread, top / scale, spread / scale, row.effect_unit, planned)


CHECKS = (Check(14, "compensated", "T1", compensated),)
