"""Seats: who pays whom, what each chair and each place after the dealer brings, how long a dealer stays."""

from typing import Any

import numpy as np
import polars as pl

from analytics import intervals, measure, selection
from dashboard import data
from dashboard.dataset import ask, select
from dashboard.queries.behind import LONGEST, dealt

FIGURES = ("net", "win_rate", "deal_in_rate", "reveal_rate", "kong_rate")
MOST = 300_000  # rounds whose dealers are followed
Where = dict[str, Any]


def flows(where: Where, by: str) -> pl.DataFrame:
    """payer, payee (seats, or seats after the dealer: by), stakes: what passed in all, per 100 rounds; n rounds."""
    sql, values = data.Filter(**where).where()
    seat = "{}" if by == "seat" else "(({} - dealer + 3) % 3)"
    return select(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT round_id, dealer, base FROM rounds AS r WHERE base > 0 AND "end" <> 'aborted' AND ({sql})
        )
        SELECT payer, payee, round(sum(points / base) * 100 / (SELECT count(*) FROM chosen), 6) AS stakes,
            (SELECT count(*) FROM chosen) AS n
        FROM (
            SELECT base, CAST({seat.format("from_seat")} AS INTEGER) AS payer,
                CAST({seat.format("to_seat")} AS INTEGER) AS payee, CAST(sum(points) AS BIGINT) AS points
            FROM ledger JOIN chosen USING (round_id)
            WHERE to_seat IS NOT NULL AND from_seat IS NOT NULL GROUP BY ALL
        )
        GROUP BY payer, payee ORDER BY payer, payee
        """,
        *values,
    )


def figures(where: Where, by: str) -> pl.DataFrame:
    """As measure.metrics, by seat or by position."""
    return ask(measure.metrics, FIGURES, (by,), where)


def dealer(where: Where) -> pl.DataFrame:
    """As measure.compare: the dealer (a) against the others (b)."""
    return ask(measure.compare, FIGURES, {**where, "dealer": True}, {**where, "dealer": False})


def streaks(where: Where) -> pl.DataFrame:
    """Of rounds that a dealer dealt for the `dealt`-th time in a row: k of n after which it dealt again; share, low,
    high; model: what it would be if the number did not matter.

    Of a fixed sample of games with about MOST rounds.
    """
    sql, values = data.Filter(**where).where()
    upto = ask(selection.sample, MOST)
    sampled = "true" if upto is None else f"game_key <= CAST({upto} AS UBIGINT)"
    found = select(
        f"""
        SELECT CAST(least(dealt, {LONGEST}) AS INTEGER) AS dealt, count(*) FILTER (stays) AS k, count(*) AS n
        FROM ({dealt(sampled)})
        WHERE stays IS NOT NULL AND round_id IN (SELECT round_id FROM rounds AS r WHERE {sql})
        GROUP BY ALL ORDER BY dealt
        """,
        *values,
    )
    k, n = (found[name].to_numpy().astype(float) for name in ("k", "n"))
    share = intervals.wilson(k, n)
    model = float(k.sum() / n.sum()) if n.sum() else None
    return found.with_columns(
        *(pl.Series(name, np.asarray(part)) for name, part in zip(("share", "low", "high"), share, strict=True)),
        model=pl.lit(model, pl.Float64),
    )
