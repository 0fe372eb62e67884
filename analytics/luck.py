"""Luck-adjusted results: an account's net less what its own and its opponents' tiles were worth.

What the tiles brought is measured by controls: sums of (what came − its exact chance), each of mean zero for honest
walls, whatever anyone plays and whenever rounds end.  The adjusted result is net − Σ coefficient × control.  Since the
coefficients were fixed beforehand on simulated rounds, its expectation is that of the net itself: only variance goes.
It is no estimate of how well somebody played with the tiles: it says what the result would be with average tiles.
The coefficients of each ruleset stand in luck.toml, made by benchmarks/luck.py.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import polars as pl

from analytics import intervals, starts
from analytics.intervals import Sums
from analytics.selection import Where, polars, source_of

FILE = Path(__file__).with_name("luck.toml")
OWN = ("start", "draws", "ready", "behind")
CONTROLS = (*OWN, *(f"others_{name}" for name in OWN))  # own, and the sum of the two others'


@cache
def coefficients() -> dict[str, dict[str, float]]:
    """Base stakes a unit of each control, by ruleset; "other" is for rulesets that are not there."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))["coefficients"]


def controls_sql(source: str) -> str:
    """One row per round and seat of `source` (round_id, seat, ...) that has facts, with the eight controls as columns.

    start: exact mean of the dealt hand's shanten less its shanten, so that more is better, as in all others; draws:
    useful draws less expected; ready: the same of a ready hand; behind: of kong replacements.
    """
    (mean13, _), (mean14, _) = starts.moments("shanten", 13), starts.moments("shanten", 14)
    own = f"""
        SELECT round_id, seat, CASE start_tiles WHEN 14 THEN {mean14!r} ELSE {mean13!r} END::DOUBLE - start_shanten
                AS start,
            useful_draws - useful_expected AS draws, ready_hits - ready_expected AS ready,
            replacement_hits - replacement_expected AS behind
        FROM facts
    """
    mine = ", ".join(f"own.{name}" for name in OWN)
    others = ", ".join(f"a.{name} + b.{name} AS others_{name}" for name in OWN)
    return f"""
        SELECT rows.*, {mine}, {others} FROM {source} AS rows
        JOIN ({own}) AS own ON own.round_id = rows.round_id AND own.seat = rows.seat
        JOIN ({own}) AS a ON a.round_id = rows.round_id AND a.seat = (rows.seat + 1) % 3
        JOIN ({own}) AS b ON b.round_id = rows.round_id AND b.seat = (rows.seat + 2) % 3
    """


def rounds(connection: duckdb.DuckDBPyConnection, where: Where = None) -> pl.DataFrame:
    """One row per round and seat, in order of player and time: net, luck and adjusted in base stakes, and the controls.

    where: as of measure.metric.  Rounds without facts (settlements alone, `--no-facts`) and without a stake are left
    out, the same for net and adjusted.
    """
    source, parameters = source_of([], where, "seat_rounds")
    plain = f"(SELECT round_id, game_key, time_ms, ruleset, player, seat, base, points FROM {source} WHERE base > 0)"
    frame = polars(
        connection,
        f"{controls_sql(plain)} ORDER BY player, time_ms NULLS LAST, game_key, rows.round_id, rows.seat",
        parameters,
    )
    net = frame["points"].to_numpy() / frame["base"].to_numpy()
    luck = worth(frame)
    return frame.with_columns(pl.Series("net", net), pl.Series("luck", luck), pl.Series("adjusted", net - luck))


def worth(frame: pl.DataFrame) -> np.ndarray:
    """What the tiles of each row were worth in base stakes, by its ruleset's coefficients."""
    known = coefficients()
    rulesets = frame["ruleset"].to_list()
    table = {ident: np.array([known.get(ident, known["other"])[name] for name in CONTROLS]) for ident in set(rulesets)}
    weights = np.stack([table[ident] for ident in rulesets]) if rulesets else np.zeros((0, len(CONTROLS)))
    return (frame.select(CONTROLS).to_numpy() * weights).sum(axis=1)


def adjusted(connection: duckdb.DuckDBPyConnection, by: str | None = "player", where: Where = None) -> pl.DataFrame:
    """Per account (or any column of `rounds`; None: all together): net and luck-adjusted net per round.

    Columns: by, n (rounds), games, net with _low and _high, luck, adjusted with _low and _high, removed (share of the
    variance of the mean that the adjustment takes away; below zero where it adds some).  Intervals are 95 %, with games
    as clusters.  Ordered by `by`.
    """
    frame = rounds(connection, where)
    keys = frame.select(by).to_series() if by else pl.Series("all", [0] * frame.height)
    cells, index = (
        np.unique(keys.to_numpy(), return_inverse=True) if frame.height else (np.array([]), np.array([], int))
    )
    found = summed(frame, index, len(cells))
    columns = [pl.Series(by, cells.tolist(), keys.dtype)] if by else []
    counts = np.bincount(index, minlength=len(cells)).astype(np.int64)
    games = found.net_sums.games.astype(np.int64)
    out = pl.DataFrame([*columns, pl.Series("n", counts), pl.Series("games", games)])
    for name, estimate in (("net", found.net), ("adjusted", found.adjusted)):
        out = out.with_columns(
            pl.Series(name, estimate.value), pl.Series(f"{name}_low", estimate.low).fill_nan(None),
            pl.Series(f"{name}_high", estimate.high).fill_nan(None),
        )  # fmt: skip
    return out.with_columns(pl.Series("luck", found.luck), pl.Series("removed", found.removed).fill_nan(None))


class Summed(NamedTuple):
    """Of `summed`."""

    net: intervals.Estimate
    adjusted: intervals.Estimate
    luck: np.ndarray
    removed: np.ndarray
    net_sums: Sums


def summed(frame: pl.DataFrame, index: np.ndarray, cells: int) -> Summed:
    """Means per cell with games as clusters, in row order."""
    games = frame.select(pl.struct(pl.Series("cell", index), "game_key").rank("dense")).to_series().to_numpy()
    games = games.astype(np.int64) - 1
    of_game = np.zeros(games.max() + 1 if len(games) else 0, np.int64)
    of_game[games] = index
    n = np.bincount(games).astype(float)
    estimates, all_sums = [], []
    for name in ("net", "adjusted"):
        k = np.bincount(games, frame[name].to_numpy())
        parts = (k, n, np.ones(len(n)), k * k, k * n, n * n)
        sums = Sums(*(np.bincount(of_game, part, cells) for part in parts))
        all_sums.append(sums)
        estimates.append(intervals.mean(sums))
    before, after = (intervals.variance(sums) for sums in all_sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        luck = np.bincount(index, frame["luck"].to_numpy(), cells) / np.bincount(index, minlength=cells)
        removed = 1 - after / before
    return Summed(estimates[0], estimates[1], luck, removed, all_sums[0])


def series(connection: duckdb.DuckDBPyConnection, player: str, where: Where = None) -> pl.DataFrame:
    """An account's rounds in order of time, with running sums: n, round_id, time_ms, net, cumulative, cumulative_luck,
    cumulative_adjusted, and fan_low and fan_high, where 95 % of such sums would lie by the account's own spread around
    its adjusted mean."""
    frame = rounds(connection, {**(where or {}), "player": player})
    n = np.arange(1, frame.height + 1)
    own = frame["adjusted"].to_numpy()
    mean = own.mean() if len(own) else 0.0
    spread = frame["net"].to_numpy().std() if len(own) else 0.0
    half = intervals.Z * spread * np.sqrt(n)
    return frame.select("round_id", "time_ms", "game_key", "seat", "net", "luck", "adjusted").with_columns(
        pl.Series("n", n),
        *(pl.Series(name, np.cumsum(frame[column].to_numpy())) for name, column in (
            ("cumulative", "net"), ("cumulative_luck", "luck"), ("cumulative_adjusted", "adjusted"),
        )),
        pl.Series("fan_low", mean * n - half),
        pl.Series("fan_high", mean * n + half),
    )  # fmt: skip


def fit(frame: pl.DataFrame) -> tuple[dict[str, float], float]:
    """Coefficients by least squares on rows of `rounds`, and the share of the net's variance they explain."""
    net = frame["points"].to_numpy() / frame["base"].to_numpy()
    x = frame.select(CONTROLS).to_numpy()
    solved, *_ = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), net, rcond=None)
    explained = 1 - float(((net - x @ solved[:-1]) - (net - x @ solved[:-1]).mean()).var() / net.var())
    return dict(zip(CONTROLS, (float(one) for one in solved[:-1]), strict=True)), explained
