"""Data sets made for the audit's tests: tables in memory with what a check reads, and nothing else."""

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from analytics import schema

TILES = np.repeat(np.arange(21, dtype=np.uint8), 4)


def empty() -> duckdb.DuckDBPyConnection:
    """The data set's tables without rows, and without constraints: a test says what it needs alone."""
    made = duckdb.connect()
    schema.create_tables(made)
    for name in schema.table_names():
        made.execute(f"CREATE TABLE free AS FROM {name}; DROP TABLE {name}; ALTER TABLE free RENAME TO {name}")
    return made


def insert(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[dict]) -> None:
    """Rows into a table, what they leave out null."""
    schema.insert(connection, name, pa.Table.from_pylist(list(rows)))


def shuffled(rng: np.random.Generator, n: int) -> np.ndarray:
    """n fair orders of the 84 tiles: uint8[n, 84]."""
    return rng.permuted(np.tile(TILES, (n, 1)), axis=1)


def from_orders(orders: np.ndarray, stop: np.ndarray | None = None, wall: bool = True) -> duckdb.DuckDBPyConnection:
    """Rounds of one table dealt from the orders: hands 13, 13, 13, the dealer's 14th, and the wall of 44.

    stop: how many tiles each round draws, one seat after another; None: no draws.
    """
    n = len(orders)
    dealer = np.arange(n) % 3
    hands = np.full((n, 3, 14), 255, np.uint8)
    hands[:, :, :13] = orders[:, :39].reshape(n, 3, 13)
    hands[np.arange(n), dealer, 13] = orders[:, 39]
    made = empty()
    columns = {
        "round_id": pa.array(np.arange(n), pa.uint64()), "game_key": pa.array(np.zeros(n), pa.uint64()),
        "round": pa.array(np.arange(n), pa.int64()), "time_ms": pa.array(np.arange(n) * 60_000, pa.int64()),
        "dealer": pa.array(dealer, pa.int8()), "coverage": pa.array(["full"] * n), "end": pa.array(["draw"] * n),
        "own_verdict": pa.array(["clean"] * n), "deal": pa.array([one.tobytes() for one in hands], pa.binary()),
    }  # fmt: skip
    if wall:
        columns["wall"] = pa.array([one.tobytes() for one in orders[:, 40:]], pa.binary())
    schema.insert(made, "rounds", pa.table(columns))
    if stop is not None:
        rows, place = np.nonzero(np.arange(44)[None, :] < stop[:, None])
        drawn = {
            "round_id": pa.array(rows, pa.uint64()), "n": pa.array(place, pa.int16()),
            "seat": pa.array(place % 3, pa.int8()), "tile": pa.array(orders[:, 40:][rows, place], pa.uint8()),
        }  # fmt: skip
        schema.insert(made, "draws", pa.table(drawn))
    return made
