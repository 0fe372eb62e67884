"""Pursuit of fans: hands that came near to a fan, aimed at it, were ready for it, won with it, and what aiming brought.

What a fan pays to those who won with it says little: they are the ones for whom it came off.  A hand aims at a fan
from when it lacks one tile to be ready for it, and what that brings is the mean net of all that aimed, in base stakes,
whatever they won or lost with (docs/facts.md).  Intervals are 95 %, with games as clusters.  Hands that aim at a dear
fan differ from those that don't, and most by the tiles they were dealt: no choice was random here.
Of a fixed sample of about MOST rounds where there are more, unless an account is asked for; n says of how many.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from analytics import intervals
from analytics.intervals import Sums
from analytics.selection import SPLITS, Where, polars, sample, source_of

MOST = 60_000  # rounds
STEPS = ("near", "aimed", "ready", "won")
SHARES = {"near_share": ("near", "n"), "aimed_share": ("aimed", "n"), "ready_share": ("ready", "aimed"),
          "won_share": ("won", "aimed")}  # fmt: skip
MEANS = ("aimed", "ready", "won", "other")  # whose mean net is given; other: hands that never aimed at it


def pursuit(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ("ruleset",), where: Where = None
) -> pl.DataFrame:
    """One row per cell and fan that a hand came near to, most aimed at first.

    Columns: the splits; fan; n (hands of the cell: a seat in a round); near, aimed, ready and won (hands); near_share
    and aimed_share (of n), ready_share and won_share (of aimed), each with _low and _high; aimed_net, ready_net and
    won_net (mean net of those hands, in stakes) and other_net (of those that never aimed at it), each with _low and
    _high; and difference, aimed_net less other_net, with difference_low and difference_high.
    """
    source, parameters = source_of(by, where, "hands", sample(connection, MOST))
    made = {name: SPLITS.get(name, name) for name in by}
    keys = "".join(f"{sql} AS {name}, " for name, sql in made.items())
    names = "".join(f"{name}, " for name in made)
    order = "".join(f"{name} NULLS FIRST, " for name in made)
    counts = {
        "n": "true", "near": "true", "aimed": "aimed_turn IS NOT NULL", "ready": "ready_turn IS NOT NULL", "won": "won",
    }  # fmt: skip
    sums = ", ".join(
        f"count(*) FILTER ({condition}) AS {name}, CAST(sum(points) FILTER ({condition}) AS DOUBLE) AS {name}_points"
        for name, condition in counts.items()
        if name != "n"
    )
    mine = polars(
        connection,
        f"WITH hand AS MATERIALIZED (SELECT {keys}base AS stake, game_key, h.round_id, h.seat, s.points FROM {source} "
        "AS h JOIN seats AS s ON s.round_id = h.round_id AND s.seat = h.seat) "
        f"SELECT {names}'' AS fan, stake, game_key, count(*) AS near, CAST(sum(points) AS DOUBLE) AS near_points, "
        "0 AS aimed, 0.0 AS aimed_points, 0 AS ready, 0.0 AS ready_points, 0 AS won, 0.0 AS won_points FROM hand "
        f"GROUP BY ALL UNION ALL SELECT {names}fan, stake, game_key, {sums} FROM hand "
        f"JOIN aims USING (round_id, seat) GROUP BY ALL ORDER BY {order}fan, stake NULLS FIRST, game_key",
        parameters,
    )
    return _table(mine, list(made))


def _table(games: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """The answer, from sums per cell, fan ("" for all hands), stake and game, in order."""
    stake = games["stake"].fill_null(0).to_numpy().astype(np.float64)
    scale = np.where(stake > 0, stake, np.inf)
    games = games.with_columns(*(pl.Series(f"{name}_points", games[f"{name}_points"].fill_null(0).to_numpy() / scale)
                                 for name in STEPS))  # fmt: skip
    games = games.group_by(*by, "fan", "game_key", maintain_order=True).agg(
        *(pl.col(f"{name}{end}").cast(pl.Float64).sum() for name in STEPS for end in ("", "_points"))
    )
    every = games.filter(pl.col("fan") == "").select(
        *by, "game_key", pl.col("near").alias("n"), pl.col("near_points").alias("points")
    )
    fans = games.filter(pl.col("fan") != "").select(*by, "fan").unique(maintain_order=True)
    # Every game of a cell counts for each of its fans, also those in which no hand came near to it.
    rows = (fans.join(every, on=by, how="left", maintain_order="left_right", nulls_equal=True) if by
            else fans.join(every, how="cross"))  # fmt: skip
    rows = rows.join(
        games, on=[*by, "fan", "game_key"], how="left", maintain_order="left", nulls_equal=True
    ).with_columns(pl.col(f"{name}{end}").fill_null(0) for name in STEPS for end in ("", "_points"))
    index = rows.select(pl.struct(*by, "fan").rle_id().cast(pl.Int64)).to_series().to_numpy()
    column = {name: rows[name].to_numpy() for name in ("n", "points", *STEPS, *(f"{name}_points" for name in STEPS))}
    column |= {"other": column["n"] - column["aimed"], "other_points": column["points"] - column["aimed_points"]}

    def added(k: np.ndarray, n: np.ndarray) -> Sums:
        parts = (k, n, (n != 0).astype(np.float64), k * k, k * n, n * n)
        return Sums(*(np.bincount(index, part, fans.height) for part in parts))

    out = [pl.Series(name, np.bincount(index, column[name], fans.height).astype(np.int64)) for name in ("n", *STEPS)]
    for name, (k, n) in SHARES.items():
        out += _three(name, intervals.rate(added(column[k], column[n])))
    net = {name: added(column[f"{name}_points"], column[name]) for name in MEANS}
    for name, sums in net.items():
        out += _three(f"{name}_net", intervals.mean(sums))
    crossed = [np.bincount(index, column[a] * column[b], fans.height) for a, b in (
        ("aimed_points", "other_points"), ("aimed_points", "other"), ("aimed", "other_points"), ("aimed", "other"),
    )]  # fmt: skip
    out += _three("difference", intervals.difference(net["aimed"], net["other"], np.array(crossed)))
    return fans.with_columns(out).sort(
        *by, "aimed", "fan", descending=[False] * len(by) + [True, False], nulls_last=False, maintain_order=True
    )


def _three(name: str, found: intervals.Estimate) -> list[pl.Series]:
    ends = zip(("", "_low", "_high"), found, strict=True)
    return [pl.Series(f"{name}{end}", values).fill_nan(None) for end, values in ends]
