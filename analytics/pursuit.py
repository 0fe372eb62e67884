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

MOST = 40_000  # rounds
STEPS = {"near": "true", "aimed": "aimed_turn IS NOT NULL", "ready": "ready_turn IS NOT NULL", "won": "won"}
SHARES = {"near_share": ("near", "n"), "aimed_share": ("aimed", "n"), "ready_share": ("ready", "aimed"),
          "won_share": ("won", "aimed")}  # fmt: skip
MEANS = ("aimed", "ready", "won", "other")  # whose mean net is given; other: hands that never aimed at it
OF_GAMES = ("n", "n_net", "n n", "n_net n_net", "n_net n", "games")  # sums over all games of a cell; n: hands
OF_FANS = (  # sums over the games in which a hand came near to the fan; …_net: points of those hands
    "near", "aimed", "ready", "won", "aimed_net", "ready_net", "won_net", "aimed games", "ready games", "won games",
    "all_aimed", "near near", "near n", "aimed aimed", "aimed n", "ready ready", "ready aimed", "won won", "won aimed",
    "aimed_net aimed_net", "aimed_net aimed", "ready_net ready_net", "ready_net ready", "won_net won_net",
    "won_net won", "n_net aimed_net", "n_net aimed", "aimed_net n",
)  # fmt: skip


def pursuit(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ("ruleset",), where: Where = None
) -> pl.DataFrame:
    """One row per cell and fan that a hand came near to, most aimed at first.

    Columns: the splits; fan; n (hands of the cell: a seat in a round); near, aimed, ready and won (hands); near_share
    and aimed_share (of n), ready_share and won_share (of aimed), each with _low and _high; aimed_net, ready_net and
    won_net (mean net of those hands, in stakes) and other_net (of those that never aimed at it), each with _low and
    _high; and difference, aimed_net less other_net, with difference_low and difference_high.
    """
    source, parameters = source_of(by, where, "seat_results", sample(connection, MOST))
    made = {name: SPLITS.get(name, name) for name in by}
    keys = "".join(f"{sql} AS {name}, " for name, sql in made.items())
    names = "".join(f"{name}, " for name in made)
    order = ", ".join(f"{name} NULLS FIRST" for name in [*made, "fan", "stake"])
    counted = ", ".join(
        f"count(*) FILTER ({condition}) AS {name}, CAST(coalesce(sum(points) FILTER ({condition}), 0) AS HUGEINT) "
        f"AS {name}_net"
        for name, condition in STEPS.items()
    )
    same = " AND ".join(f"fan.{name} IS NOT DISTINCT FROM game.{name}" for name in [*made, "stake", "game_key"])
    frame = polars(
        connection,
        f"WITH hand AS MATERIALIZED (SELECT {keys}coalesce(base, 0) AS stake, game_key, round_id, seat, points "
        f"FROM {source} WHERE hands = 1), "
        f"game AS MATERIALIZED (SELECT {names}stake, game_key, count(*) AS n, CAST(sum(points) AS HUGEINT) AS n_net "
        f"FROM hand GROUP BY ALL), fan AS (SELECT {names}fan, stake, game_key, {counted} FROM hand "
        "JOIN aims ON aims.round_id = hand.round_id AND aims.seat = hand.seat GROUP BY ALL) "
        f"SELECT {names}'' AS fan, stake, {_sums(OF_GAMES)} FROM game GROUP BY {names}stake UNION ALL BY NAME "
        f"SELECT {''.join(f'fan.{name}, ' for name in made)}fan.fan, fan.stake, {_sums(OF_FANS)} FROM fan "
        f"JOIN game ON {same} GROUP BY ALL ORDER BY {order}",
        parameters,
    )
    return _table(frame, list(made))


def _sums(wanted: Sequence[str]) -> str:
    """OF_GAMES or OF_FANS as SQL."""
    made = {name: f"sum({name})".replace(" ", " * ") for name in wanted}
    special = {"games": "count(*)", "all_aimed": "count(*) FILTER (aimed = n)"}
    special |= {f"{name} games": f"count(*) FILTER ({name} > 0)" for name in STEPS}
    return ", ".join(f'CAST({special.get(name, made[name])} AS DOUBLE) AS "{name}"' for name in wanted)


def _table(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """The answer, from the sums per cell, fan ("" for all hands) and stake, in order."""
    stake = frame["stake"].to_numpy().astype(np.float64)
    scale = np.where(stake > 0, stake, np.inf)
    scaled = [
        pl.Series(name, frame[name].fill_null(0).to_numpy() / scale ** name.count("_net"))
        for name in (*OF_GAMES, *OF_FANS)
    ]
    frame = frame.select(*by, "fan", *scaled).group_by(*by, "fan", maintain_order=True).sum()
    every, fans = frame.filter(pl.col("fan") == ""), frame.filter(pl.col("fan") != "")
    whole = every.select(*by, *OF_GAMES)
    joined = fans.select(*by, "fan", *OF_FANS)
    joined = (joined.join(whole, on=by, how="left", maintain_order="left", nulls_equal=True) if by
              else joined.join(whole, how="cross", maintain_order="left"))  # fmt: skip
    at = {name: joined[name].to_numpy() for name in (*OF_GAMES, *OF_FANS)}
    out = [pl.Series(name, at[name].astype(np.int64)) for name in ("n", *STEPS)]
    for name, (part, of) in SHARES.items():
        games = at["games"] if of == "n" else at["aimed games"]
        sums = Sums(at[part], at[of], games, at[f"{part} {part}"], at[f"{part} {of}"], at[f"{of} {of}"])
        out += _three(name, intervals.rate(sums))
    net = {
        name: Sums(at[f"{name}_net"], at[name], at[f"{name} games"], at[f"{name}_net {name}_net"],
                   at[f"{name}_net {name}"], at[f"{name} {name}"])
        for name in ("aimed", "ready", "won")
    }  # fmt: skip
    crossed = np.array([
        at["n_net aimed_net"] - at["aimed_net aimed_net"], at["aimed_net n"] - at["aimed_net aimed"],
        at["n_net aimed"] - at["aimed_net aimed"], at["aimed n"] - at["aimed aimed"],
    ])  # fmt: skip
    net["other"] = Sums(
        at["n_net"] - at["aimed_net"], at["n"] - at["aimed"], at["games"] - at["all_aimed"],
        at["n_net n_net"] - at["n_net aimed_net"] - crossed[0], at["n_net n"] - at["n_net aimed"] - crossed[1],
        at["n n"] - at["aimed n"] - crossed[3],
    )  # fmt: skip
    for name in MEANS:
        out += _three(f"{name}_net", intervals.mean(net[name]))
    out += _three("difference", intervals.difference(net["aimed"], net["other"], crossed))
    return (
        joined.select(*by, "fan")
        .with_columns(out)
        .sort(*by, "aimed", "fan", descending=[False] * len(by) + [True, False], nulls_last=False, maintain_order=True)
    )


def _three(name: str, found: intervals.Estimate) -> list[pl.Series]:
    ends = zip(("", "_low", "_high"), found, strict=True)
    return [pl.Series(f"{name}{end}", values).fill_nan(None) for end, values in ends]
