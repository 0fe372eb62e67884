"""Naive tests that honest play fails, shown as controls with the reason: nothing here is evidence of anything.

Both have been published as proof that a game was rigged.  Source: fairness.md, "Facts to build on".
"""

import math

import numpy as np
from scipy.stats import norm

from analytics.fairness.battery import Check
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, Tables

LEAST = 100


def runs_of_wins(tables: Tables) -> list[Result]:
    """Runs test (Wald and Wolfowitz) on "seat 0 won" from round to round of a game, pooled over games.

    It takes rounds for independent; they are not, since the winner deals next and the dealer wins more often.
    """
    found = tables.columns(
        f"""
        SELECT game_key, coalesce(w.seat = 0, false) AS won
        FROM rounds LEFT JOIN (SELECT round_id, min(seat) AS seat FROM wins GROUP BY round_id) AS w USING (round_id)
        WHERE {FAIR} ORDER BY game_key, round, round_id
        """
    )
    won, game = found["won"].astype(bool), found["game_key"]
    row = Result(0, "runs_of_wins", "control", status="control", n=len(won))
    seams = int((game[1:] != game[:-1]).sum())
    pairs = len(won) - 1 - seams  # of rounds that follow each other in a game
    if pairs < LEAST or won.all() or not won.any():
        return [row.not_run("too_few" if len(won) else "no_rounds")]
    ones, zeros = int(won.sum()), int((~won).sum())
    n = ones + zeros
    changes = int(((won[1:] != won[:-1]) & (game[1:] == game[:-1])).sum())
    chance = 2 * ones * zeros / (n * (n - 1))
    z = (changes - pairs * chance) / math.sqrt(pairs * chance * (1 - chance))
    return [row.but(statistic=z, effect=changes / pairs - chance, effect_unit="changes a round",
                    p=float(2 * norm.sf(abs(z))))]  # fmt: skip


def dealer_start(tables: Tables) -> list[Result]:
    """Starting shanten of the dealer against the others, by a z-test of their means.

    It takes the hands for alike; the dealer's has 14 tiles and throws the worst away.
    """
    if not tables.has("facts"):
        return [Result(0, "dealer_start", "control", unit="hands").not_run("tier")]
    found = tables.columns(
        f"""
        SELECT start_tiles, count(*)::BIGINT AS n, sum(start_shanten)::BIGINT AS total,
            sum(start_shanten * start_shanten)::BIGINT AS squares
        FROM facts JOIN rounds USING (round_id) WHERE {FAIR} GROUP BY start_tiles ORDER BY start_tiles
        """
    )
    row = Result(0, "dealer_start", "control", status="control", n=int(found["n"].sum()), unit="hands")
    if len(found["n"]) < 2 or found["n"].min() < LEAST:
        return [row.not_run("too_few" if row.n else "no_rounds")]
    mean = found["total"] / found["n"]
    variance = (found["squares"] / found["n"] - mean**2) / found["n"]
    z = float((mean[1] - mean[0]) / np.sqrt(variance.sum()))
    return [row.but(statistic=z, effect=float(mean[1] - mean[0]), effect_unit="shanten", p=float(2 * norm.sf(abs(z))))]


CHECKS = (Check(0, "runs_of_wins", "T1", runs_of_wins), Check(0, "dealer_start", "T1", dealer_start))
