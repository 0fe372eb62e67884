"""Checks 11 and 12: what hands are dealt to whom, and who deals first.

The nulls of dealt hands are exact (analytics.starts), by the number of tiles: the dealer holds one more.
Source: fairness.md, "Shuffle, global".
"""

import json

import numpy as np
from scipy.stats import binom, norm

from analytics import starts
from analytics.fairness.accounts import LEVEL
from analytics.fairness.battery import Check
from analytics.fairness.log_integrity import uniform
from analytics.fairness.result import POWER, Result
from analytics.fairness.shuffle import chi_square
from analytics.fairness.tables import FAIR, Tables
from replay import ruleset

ROLES = ("dealer", "next", "previous")
LEAST = 5.0  # expected hands of a cell, below which it joins its neighbour
ROUNDS = 200  # below which a distribution says little
HANDS = 100  # of an account
SITTINGS = 15
# Where some are unnamed for where they sit, the named ones sit elsewhere: only tables of three named accounts count.
NAMED = f"""{FAIR} AND rounds.round_id IN
    (SELECT round_id FROM seats WHERE player <> '' GROUP BY round_id HAVING count(*) = 3)"""
DEALER = 0.2  # share of its games beyond a third that an account deals first, planned for


def goodness(row: Result, seen: dict[int, int], chances: dict[int, float]) -> Result:
    """χ² of counts against exact chances, rare values joined from both ends."""
    n = sum(seen.values())
    if n < ROUNDS:
        return row.but(n=n).not_run("too_few" if n else "no_rounds", needed=ROUNDS)
    values = list(chances)
    cells: list[tuple[float, int]] = []
    expected, found = 0.0, 0
    for value in values:
        expected, found = expected + n * chances[value], found + seen.get(value, 0)
        if expected >= LEAST:
            cells.append((expected, found))
            expected, found = 0.0, 0
    cells[-1] = (cells[-1][0] + expected, cells[-1][1] + found)
    statistic = sum((found - expected) ** 2 / expected for expected, found in cells)
    mean = sum(value * count for value, count in seen.items()) / n
    note = json.dumps({"mean": round(mean, 4), "expected": round(sum(v * c for v, c in chances.items()), 4)})
    return chi_square(row.but(n=n, note=note), statistic, len(cells) - 1, float(n), planned=0.05)


def strength(tables: Tables) -> list[Result]:
    """11. Starting strength by role at the table, and by account.

    Statistic: χ² of the dealt hands' shanten, pairs, triplets, dragons and larger suit against their exact
    distributions, for the dealer and each of the others.  By account: mean of (shanten − its exact mean) over its
    hands, normal; fewer steps is luck.  Null: uniform orders, whoever plays.  Tier T1: all hands.  Unit: hands.
    """
    base = Result(11, "start_shanten", "shuffle", "seat", unit="hands")
    if not tables.has("facts"):
        return [base.but(scope="global").not_run("tier")]
    rows = []
    columns = {feature: f"start_{feature}" for feature in starts.FEATURES}
    role = "(facts.seat - rounds.dealer + 3) % 3"
    for feature, column in columns.items():
        found = tables.columns(
            f"SELECT {role} AS role, {column} AS value, count(*)::BIGINT AS n FROM facts JOIN rounds USING (round_id) "
            f"WHERE {FAIR} GROUP BY ALL ORDER BY ALL"
        )
        for number, name in enumerate(ROLES):
            mine = found["role"] == number
            seen = dict(zip(found["value"][mine].tolist(), found["n"][mine].tolist(), strict=True))
            row = base.but(name=f"start_{feature}", subject=name)
            rows.append(goodness(row, seen, starts.chances(feature, 14 if number == 0 else 13)))
    return [*rows, *by_account(tables)]


def by_account(tables: Tables) -> list[Result]:
    """Starting shanten of each account's hands."""
    found = tables.columns(
        f"""
        SELECT player, count(*) FILTER (start_tiles = 13)::BIGINT AS n13,
            count(*) FILTER (start_tiles = 14)::BIGINT AS n14, sum(start_shanten)::BIGINT AS total,
            arg_min(round_id, (start_shanten, round_id), 50) AS top
        FROM facts JOIN seats USING (round_id, seat) JOIN rounds USING (round_id)
        WHERE seats.player <> '' AND {FAIR} GROUP BY player ORDER BY player
        """
    )
    (mean13, variance13), (mean14, variance14) = starts.moments("shanten", 13), starts.moments("shanten", 14)
    rows = []
    for player, n13, n14, total, top in zip(*found.values(), strict=True):
        n = int(n13 + n14)
        row = Result(
            11, "start_luck", "account", "account", str(player), n=n, unit="hands", effect_unit="steps a hand",
            evidence=tuple(int(one) for one in top),
        )  # fmt: skip
        if n < HANDS:
            rows.append(row.not_run("too_few", needed=HANDS))
            continue
        spread = float(np.sqrt(n13 * variance13 + n14 * variance14))
        away = float(total - n13 * mean13 - n14 * mean14)
        reach = float(norm.isf(LEVEL / 2) + norm.isf(1 - POWER))
        planned = 0.15  # steps a hand: about a third of the hands the better of two deals
        rows.append(
            row.but(
                statistic=away / spread, effect=away / n, low=(away - 1.96 * spread) / n,
                high=(away + 1.96 * spread) / n, p=float(2 * norm.sf(abs(away / spread))),
                power=float(norm.sf(norm.isf(LEVEL / 2) - planned * n / spread)), detectable=reach * spread / n,
                needed=int(np.ceil((reach * spread / planned) ** 2 / n)),
            )
        )  # fmt: skip
    return rows


def first_dealer(tables: Tables) -> list[Result]:
    """12. First dealer, dice, and where accounts sit.

    Statistics: first dealers of games by seat, χ²₂, where the rules leave them to chance (`dealer.first`); the two
    dice, χ²₃₅; seats of accounts in the first rounds of their games, χ² summed over accounts, two degrees of freedom
    each, scaled by the covariance of those who sit together (they never share a seat).  By account: games that it deals
    first, binomial with one in three, randomised; where the rules fix the first dealer's seat it assumes that seats
    are drawn.  The rule of the next dealer is exact and part of check 2.  Null: uniform.  Tier T1.  Unit: games,
    throws, sittings.
    """
    game = Result(12, "first_dealer", "shuffle", unit="games")
    found = tables.columns(
        f"SELECT ruleset, options, dealer, count(*)::BIGINT AS n FROM rounds WHERE round = 0 AND {FAIR} "
        "GROUP BY ALL ORDER BY ALL"
    )
    seen = np.zeros(3, np.int64)
    for ident, options, dealer, n in zip(*found.values(), strict=True):
        if by_chance(ident, options):
            seen[int(dealer)] += n
    throws = tables.columns(
        f"SELECT dice[1] AS a, dice[2] AS b, count(*)::BIGINT AS n FROM rounds WHERE dice IS NOT NULL AND {FAIR} "
        "GROUP BY ALL ORDER BY ALL"
    )
    dice = {int(6 * a + b - 7): int(n) for a, b, n in zip(*throws.values(), strict=True)}
    return [
        uniform_cells(game, {seat: int(n) for seat, n in enumerate(seen) if n}, 3),
        uniform_cells(game.but(name="dice", unit="throws"), dice, 36),
        sittings(tables, game.but(name="seat_of_account", unit="sittings")),
        *dealers(tables),
    ]


def dealers(tables: Tables) -> list[Result]:
    """How often each account is a game's first dealer."""
    found = tables.columns(
        f"""
        SELECT player, count(*)::BIGINT AS n, count(*) FILTER (seat = dealer)::BIGINT AS dealt,
            coalesce(list(round_id ORDER BY round_id) FILTER (seat = dealer), [])[:50] AS ids
        FROM rounds JOIN seats USING (round_id) WHERE round = 0 AND {NAMED}
        GROUP BY player ORDER BY player
        """
    )
    base, rows = Result(12, "dealer_of_account", "account", "account", unit="games", effect_unit="of games"), []
    if not len(found["player"]):
        return [base.but(scope="global").not_run("no_rounds")]
    reach = float(norm.isf(LEVEL / 2) + norm.isf(1 - POWER))
    for player, n, dealt, ids in zip(*found.values(), strict=True):
        row = base.but(subject=str(player), n=int(n), needed=int(np.ceil(2 / 9 * (reach / DEALER) ** 2)))
        if n < SITTINGS:
            rows.append(row.not_run("too_few"))
            continue
        roll = uniform("dealer_of_account", player, n, dealt)
        below = float(binom.cdf(dealt - 1, n, 1 / 3) + roll * binom.pmf(dealt, n, 1 / 3))
        spread, effect = float(np.sqrt(2 / 9 / n)), dealt / n - 1 / 3
        rows.append(
            row.but(
                statistic=effect / spread, effect=float(effect), low=effect - 1.96 * spread,
                high=effect + 1.96 * spread, p=min(1.0, 2 * min(below, 1 - below)), detectable=reach * spread,
                power=float(norm.sf(norm.isf(LEVEL / 2) - DEALER / spread)), evidence=tuple(ids),
            )
        )  # fmt: skip
    return rows


def by_chance(ident: str, options: str | None) -> bool:
    """Whether a ruleset leaves the first dealer to chance; one that is not loaded does not say so."""
    try:
        return ruleset.load(ident, json.loads(options or "{}")).values["dealer.first"] not in ("seat_0",)
    except ValueError:
        return False


def uniform_cells(row: Result, seen: dict[int, int], cells: int) -> Result:
    """χ² of counts against equal chances."""
    n = sum(seen.values())
    if n < 5 * cells:
        return row.but(n=n).not_run("too_few" if n else "no_rounds", needed=5 * cells)
    statistic = sum((seen.get(cell, 0) - n / cells) ** 2 / (n / cells) for cell in range(cells))
    return chi_square(row.but(n=n), statistic, cells - 1, float(n), planned=0.1)


def sittings(tables: Tables, row: Result) -> Result:
    """χ² of where accounts sit, summed over accounts of SITTINGS games or more.

    Two accounts that meet in n of their games have counts correlated by −n/2√(n₁n₂), and their χ² by its square.
    """
    sat = f"""
        SELECT DISTINCT ON (game_key, seats.player) game_key, seats.player, seats.seat
        FROM rounds JOIN seats USING (round_id) WHERE {NAMED}
        ORDER BY game_key, seats.player, round, round_id
    """
    found = tables.columns(
        f"SELECT player, count(*) FILTER (seat = 0)::BIGINT AS a, count(*) FILTER (seat = 1)::BIGINT AS b, "
        f"count(*) FILTER (seat = 2)::BIGINT AS c FROM ({sat}) GROUP BY player HAVING count(*) >= {SITTINGS} ORDER BY 1"
    )
    counts = np.stack([found[name] for name in "abc"], axis=1).astype(np.int64)
    games = counts.sum(axis=1)
    row = row.but(n=int(games.sum()))
    if len(games) < 2:
        return row.not_run("too_few" if row.n else "no_rounds")
    pairs = tables.columns(
        f"""
        WITH sat AS ({sat})
        SELECT a.player AS a, b.player AS b, count(*)::BIGINT AS n FROM sat AS a JOIN sat AS b USING (game_key)
        WHERE a.player < b.player GROUP BY ALL ORDER BY ALL
        """
    )
    place = {player: at for at, player in enumerate(found["player"])}
    shared = sum(
        int(n) ** 2 / (4 * int(games[place[a]]) * int(games[place[b]]))
        for a, b, n in zip(*pairs.values(), strict=True) if a in place and b in place
    )  # fmt: skip
    statistic = float(((counts - games[:, None] / 3) ** 2 / (games[:, None] / 3)).sum())
    inflated = 1 + 2 * shared / len(games)  # variance over that of independent ones
    return chi_square(row, statistic / inflated, 2 * len(games) / inflated, float(row.n), planned=0.1)


CHECKS = (Check(11, "strength", "T1", strength), Check(12, "first_dealer", "T1", first_dealer))
