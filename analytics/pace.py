"""How fast hands get ready: shanten by turn."""

from collections.abc import Sequence

import duckdb
import polars as pl

from analytics.selection import SPLITS, Where, polars, sample, source_of

MOST = 60_000  # rounds that are looked at


def shanten_by_turn(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str] = (), where: Where = None, most: int = MOST
) -> pl.DataFrame:
    """Shanten after each own discard: splits, turn (own discards), shanten (0 is ready), seats, n (seats of the turn).

    Of a fixed sample of about `most` rounds where there are more, unless an account is asked for (selection.sample).
    Hands leave when their round ends, so that later turns are of longer rounds.
    """
    source, parameters = source_of(by, where, "hands", sample(connection, most))
    keys = ", ".join([*(f"{SPLITS[name]} AS {name}" for name in by), ""])
    cell = ", ".join([*by, "turn"])
    return polars(
        connection,
        f"WITH steps AS (SELECT {keys}unnest(shanten) AS shanten, unnest(range(1, len(shanten) + 1)) AS turn "
        f"FROM {source}) "
        "SELECT *, CAST(sum(seats) OVER (PARTITION BY " + cell + ") AS BIGINT) AS n FROM ("
        f"SELECT {cell}, shanten, count(*) AS seats FROM steps GROUP BY ALL) "
        f"ORDER BY {', '.join(f'{name} NULLS FIRST' for name in [*by, 'turn', 'shanten'])}",
        parameters,
    )
