"""The course of hands: shanten by turn, when they are ready, revealed and won, how they start, on what they win."""

from typing import Any

import numpy as np
import polars as pl

from analytics import intervals, measure, pace, reveal_statistics, selection, starts
from analytics.reveal_statistics import MOST, MOST_TURN, TURN
from dashboard import data
from dashboard.dataset import ask, select
from dashboard.queries.behind import EVENTS, REACHED

FIGURES = ("ready_rate", "ready_turn", "ready_live", "ready_win_rate", "exhausted_rate", "ready_exhausted_rate")
Where = dict[str, Any]


def figures(where: Where) -> pl.DataFrame:
    """As measure.metrics: how often, when and on what hands get ready, and what becomes of it."""
    return ask(measure.metrics, FIGURES, (), where)


def shanten(where: Where) -> pl.DataFrame:
    """As pace.shanten_by_turn."""
    return ask(pace.shanten_by_turn, (), where)


def wins_by_live(where: Where) -> pl.DataFrame:
    """As reveal_statistics.wins_by_live."""
    return ask(reveal_statistics.wins_by_live, (), where)


def _hands(where: Where) -> tuple[str, list[Any]]:
    """WITH clauses for the seats with facts that are counted, of a fixed sample of about MOST rounds, as `hand`."""
    sql, values = data.Filter(**where).where()
    upto = ask(selection.sample, MOST)
    sampled = "true" if upto is None else f"r.round_id <= CAST({upto} AS UBIGINT)"
    return (
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT round_id FROM rounds AS r WHERE r."end" <> 'aborted' AND {sampled} AND ({sql})
        ),
        hand AS MATERIALIZED (
            SELECT round_id, seat, start_tiles, start_shanten FROM facts SEMI JOIN chosen USING (round_id)
        )
        """,
        values,
    )


def course(where: Where) -> pl.DataFrame:
    """Cumulative shares of hands: event (of EVENTS), turn of the table, k of n hands so far, share, low, high."""
    hands, values = _hands(where)
    counted = " UNION ALL ".join(
        f"SELECT '{event}' AS event, CAST(least(drawn // {TURN}, {MOST_TURN}) AS INTEGER) AS turn, count(*) AS k "
        f"FROM ({sql}) SEMI JOIN hand USING (round_id, seat) GROUP BY ALL"
        for event, sql in REACHED.items()
    )
    found = select(f"{hands} SELECT *, (SELECT count(*) FROM hand) AS n FROM ({counted}) ORDER BY event, turn", *values)
    if not found.height:
        return found
    n = int(found["n"][0])
    rows = []
    for event in EVENTS:
        at = dict(found.filter(event=event).select("turn", "k").iter_rows())
        k = np.cumsum([at.get(turn, 0) for turn in range(MOST_TURN + 1)])
        share = intervals.wilson(k.astype(float), np.full(len(k), float(n)))
        rows += [(event, turn, int(k[turn]), n, *(float(part[turn]) for part in share)) for turn in range(len(k))]
    return pl.DataFrame(rows, ["event", "turn", "k", "n", "share", "low", "high"], orient="row")


def dealt(where: Where) -> pl.DataFrame:
    """Dealt hands against exact chances: tiles (13 or 14), shanten, k of n, share, low, high, exact."""
    hands, values = _hands(where)
    found = select(
        f"{hands} SELECT start_tiles AS tiles, start_shanten AS shanten, count(*) AS k FROM hand "
        "WHERE start_tiles IN (13, 14) GROUP BY ALL ORDER BY tiles, shanten",
        *values,
    )
    rows = []
    for (tiles,), cell in found.group_by("tiles", maintain_order=True):
        n = int(cell["k"].sum())
        at = dict(cell.select("shanten", "k").iter_rows())
        for shanten, exact in starts.chances("shanten", int(tiles)).items():
            k = at.get(shanten, 0)
            share = intervals.wilson(np.array([float(k)]), np.array([float(n)]))
            rows.append((tiles, shanten, k, n, *(float(part[0]) for part in share), exact))
    return pl.DataFrame(rows, ["tiles", "shanten", "k", "n", "share", "low", "high", "exact"], orient="row")
