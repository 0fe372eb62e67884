"""Checks 15-17, accounts: does the wall favour someone?

Draw luck is a martingale: whatever has been played and called, the next tile is uniform over what is left, so a draw is
useful with chance p = r/R.  Sums of (useful − p) over an account's draws have mean zero and variance Σp(1−p), whoever
plays how well, and whenever rounds end.  Both tails count.  Source: fairness.md, "Accounts".
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import betainc
from scipy.stats import norm

from analytics.fairness.battery import Check
from analytics.fairness.result import POWER, Result
from analytics.fairness.tables import FAIR, Tables

LEAST = 20.0  # variance of an account's sum below which it is not normal enough for small p-values
LEVEL = 1e-4  # p-value that power is stated at: about what review takes among a hundred accounts
BETS = (0.02, 0.05, 0.1, 0.2, 0.4)  # of the e-process, in equal parts on either side


class Kind(NamedTuple):
    """One sum over an account's draws: columns of `facts`, and the effect that it is planned for."""

    check: int
    name: str
    hits: str
    draws: str
    expected: str
    variance: str
    planned: float  # share of the draws that are upgraded to useful ones; points a turn of the horse
    most: float = 1.0  # that one draw can bring


KINDS = (
    Kind(15, "draw_luck", "useful_draws", "draws", "useful_expected", "useful_variance", 0.05),
    Kind(16, "hits_while_ready", "ready_hits", "ready_draws", "ready_expected", "ready_variance", 0.1),
    Kind(16, "hits_while_revealed", "revealed_hits", "revealed_draws", "revealed_expected", "revealed_variance", 0.1),
    Kind(17, "replacements", "replacement_hits", "draws_behind", "replacement_expected", "replacement_variance", 0.2),
    Kind(17, "horse_tiles", "horse_points", "horses", "horse_expected", "horse_variance", 1.0, 10.0),
)


def e_value(away: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """E-values of sums of Bernoulli draws less their chances, from the sums and their variances alone.

    For a draw less its chance, d ≤ 1, E exp(λd) ≤ exp(v(e^λ − 1 − λ)): the products are supermartingales, and so is
    the mean over several λ and both signs.  It may be looked at any time, as often as one likes.
    """
    parts = [
        np.exp(np.clip(bet * sign * away - variance * (math.exp(bet) - 1 - bet), -700, 700))
        for bet in BETS for sign in (1, -1)
    ]  # fmt: skip
    return np.mean(parts, axis=0)


def two_sided(hits: np.ndarray, expected: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Two-sided p-values of sums of independent-like Bernoulli draws: mid-p of the binomial of that mean and variance.

    The normal law misses their skewness, which shows in small p-values: by three times at 3.5 sigma of 100 draws.
    """
    p = np.clip(1 - variance / np.maximum(expected, 1e-12), 1e-9, 1 - 1e-9)
    n = np.maximum(expected / p, hits)

    def at_least(k: np.ndarray) -> np.ndarray:
        found = betainc(np.maximum(k, 1e-9), np.maximum(n - k + 1, 1e-9), p)
        return np.where(k <= 0, 1.0, np.where(k > n, 0.0, found))

    upper = (at_least(hits) + at_least(hits + 1.0)) / 2
    return np.minimum(1.0, 2 * np.minimum(upper, 1 - upper))


def sums(tables: Tables, kind: Kind) -> dict[str, np.ndarray]:
    """Per account: rounds, draws, hits, expected, variance, and the rounds that say most."""
    columns = f"f.{kind.hits} AS hits, f.{kind.draws} AS draws, f.{kind.expected} AS expected"
    return tables.columns(
        f"""
        SELECT player, count(*)::BIGINT AS rounds, sum(draws)::BIGINT AS draws, sum(hits)::BIGINT AS hits,
            sum(expected) AS expected, sum(round(variance * 1e9)::BIGINT)::DOUBLE / 1e9 AS variance,
            arg_max(round_id, (hits - expected, round_id), 50) AS top
        FROM (
            SELECT s.player, round_id, {columns}, f.{kind.variance} AS variance
            FROM facts AS f JOIN seats AS s USING (round_id, seat) JOIN rounds USING (round_id)
            WHERE s.player <> '' AND f.{kind.draws} > 0 AND {FAIR}
        )
        GROUP BY player ORDER BY player
        """
    )


def judge(tables: Tables, kind: Kind) -> list[Result]:
    """One row an account."""
    row = Result(kind.check, kind.name, "account", "account", unit="draws", effect_unit="of draws")
    if kind.most > 1:
        row = row.but(tier="T2", unit="turns", effect_unit="points a turn")
    if not tables.has("facts"):
        return [row.but(scope="global").not_run("tier")]
    found = sums(tables, kind)
    if not len(found["player"]):
        played = kind.most > 1 and tables.one(f"SELECT count(*) FROM rounds WHERE wall IS NULL AND {FAIR}")
        return [row.but(scope="global").not_run("tier" if played else "no_rounds")]
    away = found["hits"] - found["expected"]
    spread = np.sqrt(np.maximum(found["variance"], 1e-12))
    z, e = away / spread, e_value(away / kind.most, found["variance"] / kind.most**2)
    if kind.most > 1:
        p = 2 * norm.sf(np.abs(z))
    else:
        p = two_sided(found["hits"].astype(float), found["expected"], found["variance"])
    rows = []
    for at, player in enumerate(found["player"]):
        n, usual = int(found["draws"][at]), found["expected"][at] / found["draws"][at]
        se = float(spread[at]) / n
        # an upgrade changes only a draw that would have been useless
        shift = kind.planned * (1 - usual) if kind.most == 1 else kind.planned
        reach = float(norm.isf(LEVEL / 2) + norm.isf(1 - POWER))
        each = found["variance"][at] / n
        needed = math.ceil(reach**2 * each / shift**2) if shift > 0 else None
        one = row.but(subject=str(player), n=n, needed=needed, evidence=tuple(int(id) for id in found["top"][at]))
        if found["variance"][at] < LEAST * kind.most:
            rows.append(one.not_run("too_few"))
            continue
        rows.append(
            one.but(
                statistic=float(z[at]),
                effect=float(away[at]) / n,
                low=float(away[at]) / n - 1.96 * se,
                high=float(away[at]) / n + 1.96 * se,
                p=float(p[at]),
                e=float(e[at]),
                power=float(norm.sf(norm.isf(LEVEL / 2) - shift / se)),
                detectable=reach * se,
            )
        )
    return rows


def draw_luck(tables: Tables) -> list[Result]:
    """15. Draw luck.

    Statistic: Σ(useful − r/R) / √Σp(1−p) over an account's draws, N(0, 1); p from the binomial of the same mean and
    variance, e-value beside it.  A draw is useful when it lowers the shanten or completes the hand.  Null: the next
    tile is uniform over what is left.  Tier T1: all hands and draws.  Unit: draws.  Planned for: one draw in twenty
    replaced by a useful one.
    """
    return judge(tables, KINDS[0])


def hits(tables: Tables) -> list[Result]:
    """16. Hits while ready, and while revealed.

    As 15 over the draws of a ready hand, and over those after the own reveal; a hit completes the hand.  Tier T1.
    Planned for: one ready draw in ten.
    """
    return [*judge(tables, KINDS[1]), *judge(tables, KINDS[2])]


def replacements(tables: Tables) -> list[Result]:
    """17. Kong replacements and horse tiles.

    As 15 over the replacement tiles after kongs.  Tier T1.  Planned for: one replacement in five chosen to be useful.
    Horse tiles (买马): Σ(points − their exact mean) / √Σ variance over an account's self-draws, N(0, 1): the tiles
    turned are any of those left, so mean and variance of the points are exact.  Tier T2: the wall.  Unit: turns.
    Planned for: a point a turn.
    """
    return [*judge(tables, KINDS[3]), *judge(tables, KINDS[4])]


CHECKS = (
    Check(15, "draw_luck", "T1", draw_luck),
    Check(16, "hits", "T1", hits),
    Check(17, "replacements", "T1", replacements),
)
