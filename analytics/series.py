"""Statistics over time: per day, month or game, cumulative and rolling, and an account's net round by round."""

import duckdb
import numpy as np
import polars as pl

from analytics import intervals, measure
from analytics.intervals import Sums
from analytics.metrics import Metric, MetricError, get
from analytics.selection import Where, polars, source_of

STEPS = ("day", "month", "game")


def series(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    step: str = "day",
    window: int | None = None,
    where: Where = None,
) -> pl.DataFrame:
    """A statistic step by step in order of time, each row with its own value, the cumulative and the rolling one.

    step: "day", "month" (UTC; those with rounds) or "game" (by its first round's time); steps without a time come
    last.  window: how many steps the rolling value looks back, itself included; none without it.  Columns: day or month
    or game (its key) with started_ms; k, n, value, low, high; cumulative with _low and _high; rolling with rolling_n,
    _low and _high.
    """
    one = get(name)
    if one.kind == "quantile":
        raise MetricError(f"{name} is a quantile: it has no series")
    if step not in STEPS:
        raise MetricError(f"no step {step!r}: expected one of {', '.join(STEPS)}")
    if window is not None and window < 1:
        raise MetricError(f"window {window}: expected at least 1")
    cells, (sums,) = measure.totals(connection, [one], [step], where)
    cells = cells.drop("_cell")
    if step == "game":
        source, parameters = source_of([step], where)
        started = polars(
            connection,
            f"SELECT game_key AS game, min(time_ms) AS started_ms FROM {source} GROUP BY game_key ORDER BY game_key",
            parameters,
        )
        cells = cells.join(started, on="game", how="left", maintain_order="left")
    order = _in_time(cells, step)
    cells, sums = cells[order.tolist()], sums.each(lambda column: column[order])
    upto = sums.each(np.cumsum)
    columns = [series for series in measure.estimates(one, sums) if series.name != "games"]
    columns += _renamed("cumulative", one, upto)
    if window is not None:
        columns += _renamed("rolling", one, upto.each(lambda column: column - _back(column, window)))
    return cells.with_columns(*columns)


def _in_time(cells: pl.DataFrame, step: str) -> np.ndarray:
    """The rows in order of time, those without one last."""
    keys = ["started_ms", "game"] if step == "game" else [step]
    return cells.with_row_index("_row").sort(*keys, nulls_last=True, maintain_order=True)["_row"].to_numpy()


def _back(column: np.ndarray, steps: int) -> np.ndarray:
    """The column so many steps before, 0 where there was none."""
    return np.concatenate([np.zeros(min(steps, len(column))), column[:-steps]])


def _renamed(name: str, one: Metric, sums: Sums) -> list[pl.Series]:
    _, n, _, value, low, high = measure.estimates(one, sums)
    return [n.alias(f"{name}_n"), value.alias(name), low.alias(f"{name}_low"), high.alias(f"{name}_high")]


def net_line(
    connection: duckdb.DuckDBPyConnection,
    player: str,
    site: str | None = None,
    where: Where = None,
    step: str = "round",
) -> pl.DataFrame:
    """An account's net in order of time, round by round or game by game, beside what is left without the tiles' worth.

    Columns: id (site/game/round, each part URL-escaped; of a game its last round), time_ms, rounds (1, or those of the
    game), seat, points and base (null of a game), net (stakes), total (so far), luck (what the tiles were worth, null
    where no draws are known), adjusted_total (net less luck, so far; where luck is not known the net itself), and
    fan_low and fan_high, between which 95 % of the totals of an account of this luck-adjusted mean and this spread
    between games would lie.  Rounds without a time come last, by game and number.
    """
    if step not in ("round", "game"):
        raise MetricError(f"no step {step!r}: expected round or game")
    given = dict(where or {}) | {"player": player, "site": site}
    source, parameters = source_of((), given, "seat_results")
    frame = polars(
        connection,
        f"WITH mine AS MATERIALIZED (SELECT round_id, seat, points, lucked, luck FROM {source}) "
        "SELECT concat_ws('/', url_encode(coalesce(r.site, '')), url_encode(r.game), CAST(r.round AS VARCHAR)) AS id, "
        "r.time_ms, 1 AS rounds, mine.seat, mine.points, r.base, r.game_key, "
        "CASE WHEN mine.lucked = 1 THEN mine.luck / 1e6 END AS luck "
        "FROM mine JOIN rounds AS r ON r.round_id = mine.round_id "
        "ORDER BY r.time_ms NULLS LAST, r.game, r.round, mine.seat",
        parameters,
    )
    base = frame["base"].fill_null(0).to_numpy()
    net = frame["points"].fill_null(0).to_numpy() / np.where(base > 0, base, np.inf)
    frame = frame.with_columns(pl.Series("net", net))
    number = frame.select(pl.col("game_key").rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()
    k, n = np.bincount(number, net), np.bincount(number).astype(np.float64)
    spread = intervals.variance(
        Sums(*(np.array([part]) for part in (k.sum(), n.sum(), float(len(n)), k @ k, k @ n, n @ n)))
    )
    if step == "game":
        frame = frame.group_by("game_key", maintain_order=True).agg(
            pl.last("id"), pl.first("time_ms"), pl.sum("rounds"), pl.lit(None, pl.Int8()).alias("seat"),
            pl.lit(None, pl.Int64()).alias("points"), pl.lit(None, pl.Int64()).alias("base"), pl.sum("net"),
            pl.when(pl.col("luck").is_not_null().any()).then(pl.sum("luck")).alias("luck"),
        )  # fmt: skip
    adjusted = np.cumsum(frame["net"].to_numpy() - frame["luck"].fill_null(0).to_numpy())
    upto = np.cumsum(frame["rounds"].to_numpy())
    middle = adjusted[-1] / upto[-1] * upto if len(upto) else adjusted
    half = intervals.t_quantile(np.array([float(len(n) - 1)])) * np.sqrt(spread * n.sum() * upto)
    fan = (pl.Series(name, values).fill_nan(None) for name, values in
           (("fan_low", middle - half), ("fan_high", middle + half)))  # fmt: skip
    return frame.select("id", "time_ms", "rounds", "seat", "points", "base", "net", "luck").with_columns(
        pl.Series("total", np.cumsum(frame["net"].to_numpy())), pl.Series("adjusted_total", adjusted), *fan
    )
