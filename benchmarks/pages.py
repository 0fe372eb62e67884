"""What the queries behind pages cost on a large data set, warm: CPU seconds over all threads, and wall time.

    python benchmarks/pages.py rounds.duckdb --player u77 --site simulated

Make the data set with `kwx simulate` and `kwx run`.  Each query runs twice, the second time is shown.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import duckdb
import polars as pl

from analytics import (
    accounts,
    fan_statistics,
    luck,
    measure,
    metrics,
    pace,
    pursuit,
    reveal_statistics,
    series,
    warehouse,
)
from analytics.selection import polars

Queries = Iterator[tuple[str, Callable[[], pl.DataFrame]]]
FIVE = ["net", "win_rate", "deal_in_rate", "reveal_rate", "kong_rate"]


def queries(c: duckdb.DuckDBPyConnection, player: str, site: str | None, ruleset: str) -> Queries:
    """Name and query, by page."""
    every = [one.id for one in metrics.registry().values() if one.kind != "quantile"]
    mine = {"player": player, "site": site}
    yield "10 statistics by ruleset", lambda: measure.metrics(c, every[:10], ["ruleset"])
    yield "every statistic, whole data set", lambda: measure.metrics(c, every)
    yield "5 statistics by ruleset and position", lambda: measure.metrics(c, FIVE, ["ruleset", "position"])
    yield "dealer against others, 5 statistics", lambda: measure.compare(c, FIVE, {"dealer": True}, {"dealer": False})
    yield "90th percentile of a win by ruleset", lambda: measure.quantile(c, "win_value_p90", ["ruleset"])
    yield "account: every statistic, percentiles", lambda: accounts.account_table(c, player, site)
    yield "account: opponents", lambda: accounts.opponents(c, player, site)
    yield "account: net by day, rolling", lambda: series.series(c, "net", "day", 7, mine)
    yield "account: net and luck round by round", lambda: series.net_line(c, player, site)
    yield "account: net and luck game by game", lambda: series.net_line(c, player, site, step="game")
    yield "account: pursuit of fans", lambda: pursuit.pursuit(c, (), mine)
    yield "account: fans", lambda: fan_statistics.fans(c, (), mine)
    yield "leaderboard of net", lambda: accounts.leaderboard(c, "net")
    yield "leaderboard of wins, one ruleset", lambda: accounts.leaderboard(c, "win_rate", {"ruleset": ruleset})
    yield "leaderboard of luck-adjusted results", lambda: accounts.leaderboard(c, "luck_adjusted_net")
    yield "net and luck-adjusted of every account", lambda: luck.adjusted(c)
    yield "win rate by day, rolling", lambda: series.series(c, "win_rate", "day", 7)
    yield "fans by ruleset", lambda: fan_statistics.fans(c)
    yield "pairs of fans, one ruleset", lambda: fan_statistics.together(c, (), {"ruleset": ruleset})
    yield "multiples by ruleset", lambda: fan_statistics.multiples(c)
    yield "pursuit of fans by ruleset (sample)", lambda: pursuit.pursuit(c)
    yield "an example for each fan", lambda: fan_statistics.examples(c)
    yield "reveals by live tiles and turn", lambda: reveal_statistics.grid(c)
    yield "reveals alone, chased, chasing", lambda: reveal_statistics.orders(c)
    yield "revealing against not, matched", lambda: reveal_statistics.against_not(c, ["ruleset"])
    yield "ready hands by live tiles", lambda: reveal_statistics.by_live(c)
    yield "shanten by turn (sample)", lambda: pace.shanten_by_turn(c)
    yield "invariants (on demand)", lambda: polars(c, "FROM invariants")


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("db")
    parser.add_argument("--player", default="u7")
    parser.add_argument("--site", default="simulated")
    parser.add_argument("--rules", default="hubei")
    given = parser.parse_args()
    with warehouse.connect(given.db) as connection:
        rounds, games = connection.execute("SELECT count(*), count(DISTINCT game_key) FROM rounds").fetchall()[0]
        sums = connection.execute("SELECT count(*) FROM sittings").fetchall()[0][0]
        print(f"{rounds:,} rounds in {games:,} games, {sums:,} rows of sums\n")
        print("| query | CPU s | wall s | rows |\n|---|---:|---:|---:|")
        for name, query in queries(connection, given.player, given.site, given.rules):
            query()
            cpu, wall = time.process_time(), time.perf_counter()
            rows = query().height
            spent = (time.process_time() - cpu, time.perf_counter() - wall)
            print(f"| {name} | {spent[0]:.2f} | {spent[1]:.2f} | {rows} |", flush=True)


if __name__ == "__main__":
    main()
