"""Accounts: all statistics of one beside the others', leaderboards, and who plays against whom.

An account is a site and a player; the same player id at two sites is two accounts.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from analytics import intervals, measure
from analytics.metrics import MetricError, get, registry
from analytics.selection import Where, polars, source_of

LEAST = 100  # n from which an account is compared with others
ACCOUNT = ("site", "player")


def account_table(
    connection: duckdb.DuckDBPyConnection,
    player: str,
    site: str | None = None,
    names: Sequence[str] | None = None,
    where: Where = None,
    least: int = LEAST,
) -> pl.DataFrame:
    """One account's statistics, in the order of the registry, and where it stands.

    metric, k, n, games, value, low, high as in measure.metrics; cohort: the value over all accounts; percentile: the
    share of accounts with at least `least` n whose value is lower, ties counted half, null when this one has fewer;
    of: how many such accounts.  `where` filters the account and the others alike.
    """
    names = list(names or every())
    given = dict(where or {})
    own = measure.metrics(connection, names, (), given | {"player": player, "site": site})
    return placed(own, measure.values(connection, names, ACCOUNT, given), player, site, names, least)


def every() -> list[str]:
    """The statistics of an account's table."""
    return [one.id for one in registry().values() if one.kind != "quantile"]


def placed(
    own: pl.DataFrame, others: pl.DataFrame, player: str, site: str | None, names: Sequence[str], least: int = LEAST
) -> pl.DataFrame:
    """As account_table, of an account's own measure.metrics and the measure.values of all accounts."""
    all_of_them = others.group_by("metric", maintain_order=True).agg((pl.sum("k") / pl.sum("n")).alias("cohort"))
    others = others.filter(pl.col("n") >= least)
    ranks = {}
    for (name,), cell in others.group_by("metric", maintain_order=True):
        values = np.sort(cell["value"].to_numpy())
        mine = cell.filter(pl.col("site").eq_missing(pl.lit(site)) & (pl.col("player") == player))["value"]
        if len(mine):
            below, upto = (np.searchsorted(values, mine[0], side) for side in ("left", "right"))
            # The account itself is among them: the others that are lower, and half of those that are equal.
            ranks[name] = ((below + (upto - below - 1) / 2) / max(len(values) - 1, 1), len(values))
        else:
            ranks[name] = (None, len(values))
    places = [(name, *ranks.get(name, (None, 0))) for name in names]
    schema = {"metric": pl.String(), "percentile": pl.Float64(), "of": pl.Int64()}
    return own.join(all_of_them, on="metric", how="left", maintain_order="left").join(
        pl.DataFrame(places, schema, orient="row"), on="metric", how="left", maintain_order="left"
    )


def leaderboard(
    connection: duckdb.DuckDBPyConnection, name: str, where: Where = None, least: int = LEAST
) -> pl.DataFrame:
    """All accounts with at least `least` n by their shrunk estimate, highest first.

    place, site, player, k, n, games, value, low, high; shrunk, shrunk_low, shrunk_high (intervals.shrink); and the
    same in every row: cohort (mean), spread (standard deviation between accounts beyond chance) and prior (how many n
    the cohort weighs; null when accounts differ by no more than chance).
    """
    one = get(name)
    if one.kind == "quantile":
        raise MetricError(f"{name} is a quantile: accounts are not ranked by it")
    cells, (sums,) = measure.totals(connection, [one], ACCOUNT, where)
    enough = np.flatnonzero(sums.n >= max(least, 1))
    sums = sums.each(lambda column: column[enough])
    found = intervals.shrink(sums, one.kind == "rate")
    frame = cells[enough.tolist()].drop("_cell").with_columns(
        *measure.estimates(one, sums),
        *(pl.Series(f"shrunk{end}", column).fill_nan(None)
          for end, column in (("", found.value), ("_low", found.low), ("_high", found.high))),
        pl.lit(found.mean).alias("cohort"), pl.lit(found.spread).alias("spread"),
        pl.lit(found.prior if np.isfinite(found.prior) else None, pl.Float64()).alias("prior"),
    )  # fmt: skip
    frame = frame.sort("shrunk", "n", "site", "player", descending=[True, True, False, False], maintain_order=True)
    return frame.with_row_index("place", 1)


def opponents(
    connection: duckdb.DuckDBPyConnection, player: str, site: str | None = None, where: Where = None
) -> pl.DataFrame:
    """One row per account that sat at a table with this one, most rounds first.

    opponent, rounds, games; net per round of the account in those rounds, in stakes, with net_low, net_high; win_rate
    and deal_in_rate likewise; won_from and dealt_to: deal-ins of the opponent to the account and the other way round;
    dealt_to_next: of dealt_to, those to the opponent as the next seat; got and paid: stakes that changed hands between
    the two, kongs and draws among them.
    """
    given = dict(where or {}) | {"player": player, "site": site}
    found = measure.metrics(connection, ["net", "win_rate", "deal_in_rate"], ["opponent"], given, "seat_results")
    out = found.filter(pl.col("metric") == "net").select(
        "opponent", pl.col("n").alias("rounds"), "games", pl.col("value").alias("net"),
        pl.col("low").alias("net_low"), pl.col("high").alias("net_high"),
    )  # fmt: skip
    for name in ("win_rate", "deal_in_rate"):
        part = found.filter(pl.col("metric") == name).select(
            "opponent",
            *(
                pl.col(column).alias(f"{name}{end}")
                for column, end in (("value", ""), ("low", "_low"), ("high", "_high"))
            ),
        )
        out = out.join(part, on="opponent", how="left", maintain_order="left")
    source, parameters = source_of(["opponent"], given, "seat_results")
    pairs = polars(
        connection,
        f"WITH pairs AS MATERIALIZED (SELECT round_id, base, seat, opponent, other FROM {source}) "
        "SELECT opponent, CAST(sum(won_from) AS BIGINT) AS won_from, CAST(sum(dealt_to) AS BIGINT) AS dealt_to, "
        "CAST(sum(dealt_to_next) AS BIGINT) AS dealt_to_next, base, CAST(sum(got) AS DOUBLE) AS got, "
        "CAST(sum(paid) AS DOUBLE) AS paid FROM ("
        "SELECT opponent, base, count(*) FILTER (w.seat = p.seat AND w.from_seat = p.other) AS won_from, "
        "count(*) FILTER (w.seat = p.other AND w.from_seat = p.seat) AS dealt_to, "
        "count(*) FILTER (w.seat = p.other AND w.from_seat = p.seat AND (p.other - p.seat + 3) % 3 = 1) "
        "AS dealt_to_next, "
        "0 AS got, 0 AS paid FROM pairs AS p JOIN wins AS w ON w.round_id = p.round_id GROUP BY ALL UNION ALL "
        "SELECT opponent, base, 0, 0, 0, sum(points) FILTER (l.to_seat = p.seat AND l.from_seat = p.other), "
        "sum(points) FILTER (l.from_seat = p.seat AND l.to_seat = p.other) "
        "FROM pairs AS p JOIN ledger AS l ON l.round_id = p.round_id GROUP BY ALL) GROUP BY opponent, base "
        "ORDER BY opponent NULLS FIRST, base NULLS FIRST",
        parameters,
    )
    scale = np.where(pairs["base"].fill_null(0).to_numpy() > 0, pairs["base"].fill_null(0).to_numpy(), np.inf)
    sums: dict[str, list[float]] = {}
    counts = ("won_from", "dealt_to", "dealt_to_next")
    columns = [pairs[name].fill_null(0).to_numpy() for name in counts]
    columns += [pairs[name].fill_null(0).to_numpy() / scale for name in ("got", "paid")]
    for row, opponent in enumerate(pairs["opponent"]):
        mine = sums.setdefault(opponent, [0.0] * 5)
        for place, column in enumerate(columns):
            mine[place] += float(column[row])
    more = pl.DataFrame(
        [(opponent, *(int(value) for value in values[:3]), *values[3:]) for opponent, values in sums.items()],
        {"opponent": pl.String(), **dict.fromkeys(counts, pl.Int64()), "got": pl.Float64(), "paid": pl.Float64()},
        orient="row",
    )
    out = out.join(more, on="opponent", how="left", maintain_order="left", nulls_equal=True)
    return out.with_columns(pl.col(*counts, "got", "paid").fill_null(0)).sort(
        "rounds", "opponent", descending=[True, False], maintain_order=True
    )
