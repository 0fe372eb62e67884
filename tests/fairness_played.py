"""Simulated rounds as a data set in memory, for the audit's tests and benchmarks."""

import json
from collections.abc import Iterable

import duckdb
import pyarrow as pa
from fairness_tables import empty

from analytics import schema
from replay import crooked
from replay.batch import Replayer
from replay.labels import Labels

REPLAYER = Replayer(explain=False, facts=True)


def stored(batches: Iterable[pa.RecordBatch]) -> duckdb.DuckDBPyConnection:
    """Batches of ROUNDS, replayed, as the tables that a load makes of them; without what games say of one another."""
    made = empty()
    for batch in batches:
        for name, table in REPLAYER.feed(batch).items():
            schema.insert(made, name, table, ", verdict AS own_verdict" if name == "rounds" else "")
    return made


def played(*cheats: str, rules: str = "hubei", rounds: int = 2000, seed: int = 1, accounts: int | None = 60,
           options: str = "{}", labels: Labels | None = None) -> duckdb.DuckDBPyConnection:  # fmt: skip
    """Rounds of a population, with cheats."""
    return stored(
        crooked.play(rules, rounds, seed, json.loads(options), cheats=cheats, accounts=accounts, labels=labels)
    )
