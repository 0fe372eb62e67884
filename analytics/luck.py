"""Luck-adjusted results: an account's net less what its own and its opponents' tiles were worth.

What the tiles brought is measured by controls (replay.luck): sums of (what came − its exact chance), each of mean zero
for honest walls, whatever anyone plays and whenever rounds end.  The adjusted result is net − Σ coefficient × control.
Since the coefficients were fixed beforehand on simulated rounds, its expectation is that of the net itself: only
variance goes.  It is no estimate of how well somebody played with the tiles: it says what the result would be with
average tiles.  It is a statistic like all others (group luck of the registry); here is what goes beyond one.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from analytics import intervals, measure
from analytics.accounts import ACCOUNT
from analytics.metrics import Metric, get
from analytics.selection import Where, polars, source_of
from replay import luck

# The net of those rounds of which the luck is known.
NET = Metric(
    "net", "luck", "mean", "adjusted + luck", "lucked", "stakes", "净得", "Net", scale=luck.MILLION, signed=True
)
FIELDS = (
    "start_tiles", "start_shanten", "useful_draws", "useful_expected", "ready_hits", "ready_expected",
    "replacement_hits", "replacement_expected",
)  # fmt: skip


def rounds(connection: duckdb.DuckDBPyConnection, where: Where = None) -> pl.DataFrame:
    """One row per round and seat, in order of round and seat: net, luck and adjusted in base stakes, and the controls.

    Columns: round_id, game_key, time_ms, ruleset, player, seat, base, points, net, luck, adjusted and those of
    replay.luck.KINDS.  where: as of measure.metric.  Rounds without facts (settlements alone, `--no-facts`), aborted
    ones and those without a stake are left out.
    """
    source, parameters = source_of([], where, "seat_rounds")
    others = ", ".join(f"list({name} ORDER BY seat) AS {name}" for name in FIELDS)
    frame = polars(
        connection,
        "SELECT r.round_id, r.game_key, r.time_ms, r.ruleset, r.player, r.seat, r.base, r.points, "
        f"(r.adjusted + r.luck) / {luck.MILLION} AS net, r.luck / {luck.MILLION} AS luck, "
        f"r.adjusted / {luck.MILLION} AS adjusted, t.* EXCLUDE (round_id) FROM {source} AS r "
        f"JOIN (SELECT round_id, {others} FROM facts GROUP BY round_id) AS t ON t.round_id = r.round_id "
        "WHERE r.lucked = 1 ORDER BY r.round_id, r.seat",
        parameters,
    )
    found = {name: np.array(frame[name].to_list()).reshape(-1, 3) for name in FIELDS}
    seat = frame["seat"].to_numpy().astype(np.int64)
    controls = luck.controls(found)[np.arange(frame.height), seat]
    return frame.drop(FIELDS).with_columns(pl.Series(name, controls[:, at]) for at, name in enumerate(luck.KINDS))


def adjusted(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ACCOUNT, where: Where = None) -> pl.DataFrame:
    """Per cell of the splits: net and luck-adjusted net per round, of the rounds whose draws are known.

    Columns: by, n (rounds), games, net with _low and _high, adjusted with _low and _high, luck, removed (share of the
    variance of the mean that the adjustment takes away; below zero where it adds some).  Intervals are 95 %, with games
    as clusters.  Ordered by the splits.
    """
    less = get("luck_adjusted_net")
    cells, (net, rest) = measure.totals(connection, [NET, less], by, where)
    _, n, games, *before = measure.estimates(NET, net)
    after = measure.estimates(less, rest)[3:]
    with np.errstate(divide="ignore", invalid="ignore"):
        removed = 1 - intervals.variance(rest) / intervals.variance(net)
    ends = ("", "_low", "_high")
    out = cells.drop("_cell").with_columns(
        n, games,
        *(column.alias(f"net{end}") for column, end in zip(before, ends, strict=True)),
        *(column.alias(f"adjusted{end}") for column, end in zip(after, ends, strict=True)),
        (before[0] - after[0]).alias("luck"), pl.Series("removed", removed).fill_nan(None),
    )  # fmt: skip
    return out.filter(pl.col("n") > 0)


def fit(frame: pl.DataFrame) -> tuple[dict[str, float], float]:
    """Coefficients by least squares on rows of `rounds`, and the share of the net's variance they explain."""
    net = frame["net"].to_numpy()
    x = frame.select(luck.KINDS).to_numpy()
    solved, *_ = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), net, rcond=None)
    explained = 1 - float(((net - x @ solved[:-1]) - (net - x @ solved[:-1]).mean()).var() / net.var())
    return dict(zip(luck.KINDS, (float(one) for one in solved[:-1]), strict=True)), explained
