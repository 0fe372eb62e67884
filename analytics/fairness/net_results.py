"""Check 18, net results: does an account win more, luck aside, than its play could bring?

Source: fairness.md, "Accounts".
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm, t

from analytics.fairness import strength
from analytics.fairness.battery import Check
from analytics.fairness.cohort import FAR, USUAL
from analytics.fairness.multiplicity import Q
from analytics.fairness.pair_rows import rounds_for
from analytics.fairness.result import EVIDENCE, POWER, Result
from analytics.fairness.strength import SHARE, Results, Strengths
from analytics.fairness.tables import FAIR, Tables

ROUNDS, GAMES = 300, 30  # of an account, below which it is left out
ACCOUNTS = 30  # below which there is no cohort
PLANNED = 0.5  # base stakes a round
SHRUNK = 20  # games that an account's own variance is drawn towards everybody's by
STEPS = 20
HABITS = ("slips", "careless", "reveals")


class Own(NamedTuple):
    """Of each account: its strength by its own rounds alone, standard error, rounds, games, base stakes a unit."""

    value: np.ndarray
    error: np.ndarray
    rounds: np.ndarray
    games: np.ndarray
    scale: np.ndarray


def own_strengths(results: Results, known: Strengths) -> Own:
    """Means of (result + what the two others' strengths took off), with games as clusters."""
    accounts = len(results.names)
    mine = known.value[results.account]
    others = mine.sum(axis=1, keepdims=True) - mine
    each = ((results.net + others / 3) / SHARE).ravel()
    who = results.account.ravel()
    rounds = np.bincount(who, minlength=accounts).astype(float)
    n = np.maximum(rounds, 1)
    value = np.bincount(who, each, accounts) / n
    games, place = np.unique(who * (int(results.game.max()) + 1) + np.repeat(results.game, 3), return_inverse=True)
    whose = games // (int(results.game.max()) + 1)
    squares = np.bincount(whose, np.bincount(place, each - value[who]) ** 2, accounts)
    count = np.bincount(whose, minlength=accounts)
    usual = squares.sum() / max(count.sum(), 1)
    variance = (squares + SHRUNK * usual) / (count + SHRUNK) * count / n**2
    shares = strength.met(results, accounts)
    variance += shares.multiply(shares) @ known.variance / (2 * n) ** 2
    scale = np.bincount(who, np.repeat(results.scale, 3), accounts) / n
    return Own(value, np.sqrt(variance), rounds, count, scale)


def habits(tables: Tables, names: np.ndarray) -> np.ndarray:
    """How an account plays, float64[accounts, 3]: shares of turns that slip, careless discards and reveals a round.

    A slip is a turn after which the hand is farther from ready than before.  None of it gets better by seeing tiles
    that others hide, beyond what the most careful have.
    """
    found = tables.columns(
        f"""
        SELECT player, sum(slips)::DOUBLE / greatest(sum(turns), 1) AS slips, avg(careless) AS careless,
            avg(revealed) AS reveals
        FROM (
            SELECT s.player, len(f.shanten) AS turns, f.careless_discards AS careless,
                (f.reveal_order IS NOT NULL)::INTEGER AS revealed,
                len(list_filter(list_zip(f.shanten, f.shanten[2:]), lambda two: two[2] > two[1])) AS slips
            FROM facts AS f JOIN seats AS s USING (round_id, seat) JOIN rounds USING (round_id)
            WHERE s.player <> '' AND {FAIR}
        ) GROUP BY player ORDER BY player
        """
    )
    out = np.zeros((len(names), len(HABITS)))
    place = np.searchsorted(names, found["player"])
    for at, name in enumerate(HABITS):
        out[place, at] = found[name]
    return out


class Alike(NamedTuple):
    """What the others that play alike win: expectation, its standard error, and the spread that skill leaves."""

    expected: np.ndarray
    noise: np.ndarray  # standard error of each account's own value
    error: np.ndarray
    spread: float
    free: int  # degrees of freedom


def alike(value: np.ndarray, error: np.ndarray, of: np.ndarray) -> Alike:
    """Strengths on habits and their squares, by weighted least squares that a few odd accounts do not move."""
    centred = (of - np.median(of, axis=0)) / np.maximum(of.std(axis=0), 1e-9)
    x = np.column_stack([np.ones(len(value)), centred, centred**2])
    free = len(value) - x.shape[1]
    spread, trust = 0.1, np.ones(len(value))
    usual = USUAL * free / len(value)
    for _ in range(STEPS):
        weights = trust / (error**2 + spread**2)
        inverse = np.linalg.pinv((x * weights[:, None]).T @ x)
        away = value - x @ (inverse @ (x.T @ (weights * value)))

        def excess(at: float, away: np.ndarray = away) -> float:
            return float(np.minimum(away**2 / (error**2 + at**2), FAR**2).mean()) - usual

        spread = brentq(excess, 0.0, 10.0) if excess(0.0) > 0 > excess(10.0) else 0.0
        z = away / np.sqrt(error**2 + spread**2)
        trust = np.clip(1 - (z / 4.7) ** 2, 0, 1) ** 2
    # Habits move with the same luck as results, so that less than the error may be left; then that is what there is.
    noise = error * min(1.0, 1 + excess(0.0) / usual) ** 0.5
    # as if each account were left out of its own expectation
    reach = np.einsum("ij,jk,ik->i", x, inverse, x)
    others = np.maximum(1 - weights * reach, 0.05)
    return Alike(value - away / others, noise, np.sqrt(reach / others), spread, free)


def telling(results: Results, account: int, sign: float) -> tuple[int, ...]:
    """The rounds in which an account won, or with a sign below zero lost, most beyond the luck of its tiles."""
    at, seat = np.nonzero(results.account == account)
    order = np.argsort(-np.sign(sign) * results.net[at, seat] * results.scale[at], kind="stable")[:EVIDENCE]
    return tuple(int(one) for one in results.round_id[at[order]])


def net_results(tables: Tables) -> list[Result]:
    """18. Net results, luck and play aside.

    Statistic: an account's mean result in its ruleset, less the luck of the tiles (docs/luck.md) and less what its
    opponents' strengths give, against the accounts that play alike: a robust regression on how often a turn takes the
    hand back, careless discards and reveals, which nobody betters by seeing hidden tiles. Null: Student's t with the
    account's own variance (games as clusters), that of the regression, and the spread of skill that play does not
    explain, found from the middle of the cohort. Assumptions: that spread is like a bell; at most some accounts in a
    hundred cheat. Both tails. Tier T1, accounts, facts. Unit: rounds, of accounts with 300 rounds and 30 games, thirty
    such accounts at least. Planned for: half a base stake a round. Who plays perfectly with the tiles that all see lies
    at the cohort's end and is no finding; neither is who won much on lucky tiles. `needed` is missing where no number
    of rounds tells so small an advantage from skill.
    """
    row = Result(18, "net_results", "account", effect_unit="base stakes a round")
    found = strength.of(tables)
    if found is None:
        return [row.not_run("tier" if tables.rounds else "no_rounds")]
    results, known = found
    own = own_strengths(results, known)
    tested = np.flatnonzero((own.rounds >= ROUNDS) & (own.games >= GAMES))
    if len(tested) < ACCOUNTS:
        return [row.but(n=len(tested), unit="accounts").not_run("too_few", needed=ACCOUNTS)]
    value, error = own.value[tested], own.error[tested]
    like = alike(value, error, habits(tables, results.names)[tested])
    away = value - like.expected
    spread = np.sqrt(like.noise**2 + like.spread**2 + like.error**2)
    z = away / spread
    p = np.maximum(2 * t.sf(np.abs(z), like.free), 1e-300)
    bound = float(t.isf(Q / len(tested) / 2, like.free))
    reach = bound + float(norm.isf(1 - POWER))
    out = []
    for at, account in enumerate(tested.tolist()):
        scale, n = float(own.scale[account]), int(own.rounds[account])
        effect, width = float(away[at]) * scale, float(spread[at]) * scale
        floor = float(np.hypot(like.spread, like.error[at])) * scale
        out.append(
            row.but(
                scope="account", subject=str(results.names[account]), n=n, statistic=float(z[at]), effect=effect,
                low=effect - 1.96 * width, high=effect + 1.96 * width, p=float(p[at]),
                power=float(norm.sf(bound - PLANNED / width)), detectable=reach * width,
                needed=rounds_for(n, width, floor, PLANNED / reach),
                evidence=telling(results, account, z[at]) if p[at] <= Q else (),
            )
        )  # fmt: skip
    return out


CHECKS = (Check(18, "net_results", "T1", net_results),)
