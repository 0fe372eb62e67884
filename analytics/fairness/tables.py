"""What the checks read: the data set's tables as columns, each query once.

A check asks for frames by SQL, ordered explicitly, and does its arithmetic in NumPy.  Rounds that break the rules or
stand incomplete tell nothing about chance: `FAIR` leaves them out.  Those whose tiles contradict the recorded wall or
its commitment stay: they are just the rounds in which somebody was helped, and what is left without them would make
the others look lucky.  An account that holds two seats of a round is nobody there: what it does, knows and wins before
one of them isn't before the other, and guests or bots often share a name.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from analytics import schema

PROOF = ("draw_not_from_wall", "wrong_replacement", "deal_not_from_order", "seed_mismatch", "commit_mismatch")
GAMES = ("lost_round", "chain_broken")
OF_GAMES = (*GAMES, "wrong_dealer", "wrong_raise", "changed_table")  # that a round is found at fault with by its game
FAIR = f"""rounds.coverage = 'full' AND rounds."end" IS NOT NULL AND (rounds.own_verdict <> 'violation'
    OR rounds.round_id IN (SELECT round_id FROM problems WHERE kind = 'violation' GROUP BY round_id
        HAVING bool_and(code IN {PROOF + OF_GAMES})))"""
# accounts by number, in the order of their names
PEOPLE = (
    "(SELECT player, row_number() OVER (ORDER BY player) - 1 AS number "
    "FROM (SELECT DISTINCT player FROM seats WHERE player <> ''))"
)


class Tables:
    """One read-only connection and what has been asked of it; not for use by two threads at once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        twice = "SELECT round_id, player FROM {} WHERE player <> '' GROUP BY ALL HAVING count(*) > 1"
        if connection.execute(f"{twice.format('seats')} LIMIT 1").fetchall():
            self._connection = connection.cursor()  # so that the caller's own tables stay as they are
            base = connection.execute("SELECT current_database()").fetchall()[0][0]
            where = f'"{base}".main'
            self._connection.execute(
                f"CREATE TEMP VIEW seats AS SELECT s.* REPLACE (CASE WHEN t.player IS NULL THEN s.player ELSE '' END "
                f"AS player) FROM {where}.seats AS s LEFT JOIN ({twice.format(where + '.seats')}) AS t "
                "ON t.round_id = s.round_id AND t.player = s.player"
            )
        self.columns = lru_cache(maxsize=32)(self._columns)

    def arrow(self, query: str, parameters: list[Any] | None = None) -> pa.Table:
        """The rows of a query; the query orders them."""
        return self._connection.sql(query, params=parameters or []).to_arrow_table()

    def _columns(self, query: str) -> dict[str, np.ndarray]:
        """The columns of a query as NumPy arrays: numbers, or objects for text; nulls of numbers as NaN."""
        found = self.arrow(query)
        return {name: found[name].to_numpy() for name in found.column_names}

    def chunks(self, query: str, rows: int) -> Iterator[dict[str, np.ndarray]]:
        """The columns of a query, some rows at a time, in no order that means anything; no other query meanwhile."""
        for batch in self._connection.sql(query).to_arrow_reader(rows):
            yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}

    def batches(self, query: str, rows: int) -> Iterator[pa.RecordBatch]:
        """The same as Arrow, for columns of lists."""
        yield from self._connection.sql(query).to_arrow_reader(rows)

    def one(self, query: str) -> Any:
        """The single value of a query."""
        return self.arrow(query).column(0)[0].as_py()

    @cached_property
    def rounds(self) -> int:
        """How many rounds the data set holds."""
        return self.one("SELECT count(*) FROM rounds")

    def has(self, table: str) -> bool:
        """Whether a table exists and holds rows."""
        known = self.arrow("SELECT table_name FROM information_schema.tables ORDER BY 1")["table_name"].to_pylist()
        return table in known and self.one(f"SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1)") > 0


def half(db_path: str | Path, which: int) -> duckdb.DuckDBPyConnection:
    """A connection that sees the games of one half (0 or 1) of a data set: whole games, parted by their digests.

    The digest of a game has nothing to do with what happened in it, so each half is as good as a batch of its own.
    """
    connection = duckdb.connect()
    quoted = str(Path(db_path).resolve()).replace("'", "''")
    connection.execute(f"ATTACH '{quoted}' AS whole (READ_ONLY)")
    connection.execute(f"CREATE VIEW rounds AS SELECT * FROM whole.rounds WHERE game_key % 2 = {which}")
    for name in schema.table_names():
        if name in ("sources", "rejects"):
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM whole.{name}")
        elif name != "rounds":
            mine = "round_id IN (SELECT round_id FROM rounds)"
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM whole.{name} WHERE {mine}")
    return connection
