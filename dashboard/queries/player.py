"""One account: its net over time, statistics among all accounts, fans, opponents, largest rounds; and who there is."""

from typing import Any

import polars as pl

from analytics import accounts, fan_statistics, measure, series
from dashboard import data
from dashboard.dataset import ask, select

STEPWISE = 1500  # rounds up to which each is a point of its own; above, a game is
WINDOW = 30  # games that the rolling curve looks back
LEAST = 30  # rounds from which an account is in the list
Where = dict[str, Any]


def sites(player: str) -> list[str | None]:
    """The sites that know an account of this name."""
    found = select(
        "SELECT DISTINCT site FROM seats JOIN rounds USING (round_id) WHERE player = ? ORDER BY site NULLS FIRST",
        player,
    )
    return found["site"].to_list()


def board(name: str, where: Where) -> pl.DataFrame:
    """As accounts.leaderboard."""
    return ask(accounts.leaderboard, name, where, LEAST)


def line(player: str, site: str | None, where: Where, rounds: int) -> pl.DataFrame:
    """As series.net_line, by rounds or, of many, by games; with `n`, the rounds so far."""
    step = "round" if rounds <= STEPWISE else "game"
    found = ask(series.net_line, player, site, where, step)
    return found.with_columns(n=pl.col("rounds").cum_sum())


def table(player: str, site: str | None, where: Where) -> pl.DataFrame:
    """As accounts.account_table; what all accounts do is asked for once, whoever is looked at."""
    names = accounts.every()
    own = ask(measure.metrics, names, (), {**where, "player": player, "site": site})
    return accounts.placed(own, ask(measure.values, names, accounts.ACCOUNT, where), player, site, names)


def rolling(player: str, site: str | None, where: Where, name: str) -> pl.DataFrame:
    """As series.series over the last WINDOW games of the account, numbered in order."""
    found = ask(series.series, name, "game", WINDOW, {**where, "player": player, "site": site})
    return found.with_row_index("number", 1)


def fans(player: str, site: str | None, where: Where) -> pl.DataFrame:
    """As fan_statistics.fans, of the account's own wins."""
    return ask(fan_statistics.fans, (), {**where, "player": player, "site": site})


def opponents(player: str, site: str | None, where: Where) -> pl.DataFrame:
    """As accounts.opponents."""
    return ask(accounts.opponents, player, site, where)


def largest(player: str, site: str | None, where: Where, count: int) -> pl.DataFrame:
    """The account's rounds of the largest gain and the largest loss in base stakes, largest gain first.

    net, seat, and of the round: id, facts that draw its hands, players and points by seat, wins (structs by win_no).
    """
    sql, values = data.Filter(**{name: value for name, value in where.items() if name != "site"}).where()
    return select(
        f"""
        WITH mine AS MATERIALIZED (
            SELECT s.round_id, s.seat, s.points / r.base AS net
            FROM seats AS s JOIN rounds AS r USING (round_id)
            WHERE s.player = ? AND r.site IS NOT DISTINCT FROM ? AND r.base > 0 AND s.points IS NOT NULL AND ({sql})
        ),
        ends AS MATERIALIZED (
            (FROM mine WHERE net > 0 ORDER BY net DESC, round_id LIMIT {count})
            UNION ALL (FROM mine WHERE net < 0 ORDER BY net, round_id LIMIT {count})
        ),
        seat AS MATERIALIZED (SELECT * FROM seats WHERE round_id IN (SELECT round_id FROM ends)),
        win AS MATERIALIZED (SELECT * FROM wins WHERE round_id IN (SELECT round_id FROM ends))
        SELECT {data.ID} AS id, ends.net, ends.seat, r.ruleset, r.time_ms, r.suits, r.deal, r.events, r."end",
            s.players, s.points, w.wins
        FROM ends
        JOIN (SELECT * FROM rounds WHERE round_id IN (SELECT round_id FROM ends)) AS r USING (round_id)
        JOIN (
            SELECT round_id, list(player ORDER BY seat) AS players, list(points ORDER BY seat) AS points
            FROM seat GROUP BY round_id
        ) AS s USING (round_id)
        LEFT JOIN (
            SELECT round_id, list(
                {{'seat': win.seat, 'tile': tile, 'multiple': multiple, 'fans': fans, 'hand': hand}}
                ORDER BY win_no) AS wins
            FROM win JOIN seat USING (round_id, seat) GROUP BY round_id
        ) AS w USING (round_id)
        ORDER BY net DESC, ends.round_id
        """,
        player,
        site,
        *values,
    )
