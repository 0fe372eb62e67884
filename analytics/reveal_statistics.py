"""Reveals and ready hands: when, on how many live tiles, what came of it, and against not revealing.

Results are net points of the round in base stakes, intervals as for any mean with games as clusters.  Hands that are
revealed differ from those that are not: `against_not` compares them within cells of the same turn and live tiles, which
is all that it holds equal.  It doesn't make the choice random: whoever reveals the better of two like hands still does.
And it asks what was done when the hand became ready, not whether it was ever revealed: a hand that wins with its next
tile had no time to be revealed later, and would make not revealing look good.
All are of a fixed sample of about MOST rounds where there are more, unless an account is asked for; n says of how many.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from analytics import intervals
from analytics.intervals import Sums
from analytics.selection import SPLITS, Where, polars, sample, source_of

TURN = 3  # tiles drawn that make a turn of the table
MOST_LIVE, MOST_TURN = 8, 14  # what is beyond counts as these
MOST = 120_000  # rounds


def grid(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None) -> pl.DataFrame:
    """Reveals by live tiles and turn (tiles drawn // 3): splits, live, turn, n, win_rate, value, low, high.

    live is at most MOST_LIVE and turn at most MOST_TURN: what is beyond counts there.  value: mean net in stakes.
    """
    live, turn = f"CAST(least(live, {MOST_LIVE}) AS INTEGER)", f"CAST(least(turn // {TURN}, {MOST_TURN}) AS INTEGER)"
    return _results(connection, "reveal_rounds", {"live": live, "turn": turn}, by, where)


def orders(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None) -> pl.DataFrame:
    """Reveals that came first and stayed alone, first and chased, and chasing: splits, role, n, win_rate, value, …"""
    role = "CASE WHEN \"order\" > 1 THEN 'chasing' WHEN chased THEN 'chased' ELSE 'alone' END"
    return _results(connection, "reveal_rounds", {"role": role}, by, where)


def by_live(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None) -> pl.DataFrame:
    """Ready hands by live tiles when first ready: splits, live, revealed, n, win_rate, value, low, high."""
    columns = {"live": f"CAST(least(live, {MOST_LIVE}) AS INTEGER)", "revealed": "revealed"}
    return _results(connection, "ready_hands", columns, by, where)


def wins_by_live(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None) -> pl.DataFrame:
    """Ready hands by live tiles when first ready, revealed or not: splits, live, n, win_rate, value, low, high."""
    columns = {"live": f"CAST(least(live, {MOST_LIVE}) AS INTEGER)"}
    return _results(connection, "ready_hands", columns, by, where)


def _results(
    connection: duckdb.DuckDBPyConnection, view: str, columns: dict[str, str], by: Sequence[str], where: Where
) -> pl.DataFrame:
    """Mean results per cell of the splits and columns, with the share of wins."""
    cells, net, won = _sums(connection, view, columns, by, where)
    found, rate = intervals.mean(net), intervals.rate(won)
    return cells.with_columns(
        pl.Series("n", net.n.astype(np.int64)),
        *(pl.Series(f"win_rate{end}", column).fill_nan(None)
          for end, column in zip(("", "_low", "_high"), rate, strict=True)),
        *(pl.Series(name, column).fill_nan(None) for name, column in zip(("value", "low", "high"), found, strict=True)),
    )  # fmt: skip


def against_not(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None) -> pl.DataFrame:
    """Hands that revealed when they became ready against those that did not then, matched by turn and live tiles.

    Hands ready as dealt are left out, for they had nothing to do yet; those that did not reveal at once may have later.

    Per cell of the splits: revealed and kept (hands of cells that hold both), share (of all revealed hands that are in
    such cells), value_revealed and value_kept (mean net in stakes, both weighted like the revealed hands), difference
    with low and high, and the same for the win rate: win_difference with win_low and win_high.
    """
    live, turn = f"CAST(least(live, {MOST_LIVE}) AS INTEGER)", f"CAST(least(turn, {MOST_TURN}) AS INTEGER)"
    columns = {"turn": turn, "live": live, "revealed": "at_once"}
    cells, net, won = _sums(connection, "ready_hands", columns, by, where, " AND turn > 0")
    spread_net, spread_won = intervals.variance(net), intervals.variance(won)
    found: dict[tuple, dict[tuple, dict[bool, int]]] = {}
    for row, (*key, turn, live, revealed) in enumerate(cells.iter_rows()):
        found.setdefault(tuple(key), {}).setdefault((turn, live), {})[revealed] = row
    rows = []
    for key, strata in found.items():
        every = sum(net.n[pair[True]] for pair in strata.values() if True in pair)
        known = [(pair[True], pair[False]) for pair in strata.values() if len(pair) == 2
                 and not np.isnan(spread_net[[pair[True], pair[False]]]).any()]  # fmt: skip
        if not known:
            continue
        yes, no = (np.array(side) for side in zip(*known, strict=True))
        weight = net.n[yes] / net.n[yes].sum()
        row = [*key, int(net.n[yes].sum()), int(net.n[no].sum()), float(net.n[yes].sum() / every)]
        for sums, spread in ((net, spread_net), (won, spread_won)):
            with_it, without = (float((weight * sums.k[side] / sums.n[side]).sum()) for side in (yes, no))
            half = intervals.Z * float((weight**2 * (spread[yes] + spread[no])).sum()) ** 0.5
            difference = with_it - without
            row += [with_it, without] if sums is net else []
            row += [difference, difference - half, difference + half]
        rows.append(tuple(row))
    names = [*by, "revealed", "kept", "share", "value_revealed", "value_kept", "difference", "low", "high",
             "win_difference", "win_low", "win_high"]  # fmt: skip
    return pl.DataFrame(rows, names, orient="row", infer_schema_length=None)


def _sums(
    connection: duckdb.DuckDBPyConnection,
    view: str,
    columns: dict[str, str],
    by: Sequence[str],
    where: Where,
    condition: str = "",
) -> tuple[pl.DataFrame, Sums, Sums]:
    """Cells in order, and over games the sums of net stakes and of wins per row of the view."""
    source, parameters = source_of(by, where, view, sample(connection, MOST))
    made = {name: SPLITS[name] for name in by} | columns
    keys = ", ".join(f"{sql} AS {name}" for name, sql in made.items())
    names = ", ".join(f"{name} NULLS FIRST" for name in made)
    frame = polars(
        connection,
        f"WITH games AS (SELECT {keys}, base AS stake, game_key, CAST(sum(points) AS HUGEINT) AS k, count(*) AS n, "
        f"count(*) FILTER (won) AS w FROM {source} WHERE points IS NOT NULL{condition} GROUP BY ALL) "
        f"SELECT {', '.join(made)}, stake, CAST(sum(k) AS DOUBLE) AS k, CAST(sum(n) AS DOUBLE) AS n, "
        "CAST(count(*) AS DOUBLE) AS g, CAST(sum(k * k) AS DOUBLE) AS kk, CAST(sum(k * n) AS DOUBLE) AS kn, "
        "CAST(sum(n * n) AS DOUBLE) AS nn, CAST(sum(w) AS DOUBLE) AS w, CAST(sum(w * w) AS DOUBLE) AS ww, "
        f"CAST(sum(w * n) AS DOUBLE) AS wn FROM games GROUP BY {', '.join(made)}, stake ORDER BY {names}, stake",
        parameters,
    )
    index = frame.select(pl.struct(list(made)).rle_id().cast(pl.Int64)).to_series().to_numpy()
    cells = frame.with_columns(pl.Series("_cell", index)).unique("_cell", keep="first", maintain_order=True)
    stake = frame["stake"].fill_null(0).to_numpy().astype(np.float64)
    scale = np.where(stake > 0, stake, np.inf)
    column = {name: frame[name].to_numpy() for name in ("k", "n", "g", "kk", "kn", "nn", "w", "ww", "wn")}
    column |= {"k": column["k"] / scale, "kk": column["kk"] / scale**2, "kn": column["kn"] / scale}

    def added(*parts: str) -> Sums:
        return Sums(*(np.bincount(index, column[part], cells.height) for part in parts))

    return cells.select(list(made)), added("k", "n", "g", "kk", "kn", "nn"), added("w", "n", "g", "ww", "wn", "nn")
