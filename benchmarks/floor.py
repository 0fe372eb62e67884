"""What each step of the pipeline costs beside DuckDB merely loading the same file, and what no step can do without.

    python benchmarks/floor.py [--rounds 245760] [--rules ID]

The steps of a load one after the other in one process, in CPU seconds: reading, replaying, the sums for statistics,
then nothing but DuckDB's inserts of the finished Arrow tables, in pieces of its row group, with commit and checkpoint.
The last is the floor of any load into these tables, however fast a round is read and replayed.  No facts.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb
import pyarrow as pa
from logs import long, reader

from analytics import schema, sittings
from analytics.fill import ROW_GROUP
from replay.batch import Replayer
from replay.games import READS, check_games
from replay.seat_sums import TABLE, seat_sums

Costs = dict[str, float]


def timed(costs: Costs, name: str, work):
    """What `work` gives; its CPU seconds are added to `name`."""
    start = time.process_time()
    found = work()
    costs[name] = costs.get(name, 0.0) + time.process_time() - start
    return found


def made(path: Path, costs: Costs) -> dict[str, pa.Table]:
    """All tables that a load of the file fills."""
    replayer = Replayer()
    batches, parts = iter(reader(path)), {}
    while (batch := timed(costs, "read", lambda: next(batches, None))) is not None:
        tables = timed(costs, "replay", lambda one=batch: replayer.feed(one.rounds))
        tables[TABLE] = timed(costs, "sums for statistics", lambda one=tables: seat_sums(one))
        for name, table in tables.items():
            parts.setdefault(name, []).append(table)
    whole = {name: pa.concat_tables(tables).unify_dictionaries() for name, tables in parts.items()}
    timed(costs, "the game level", lambda: check_games(whole["rounds"].select(list(READS))))
    whole["rounds"] = whole["rounds"].append_column("own_verdict", whole["rounds"]["verdict"])
    return whole


def inserted(folder: str, tables: dict[str, pa.Table], costs: Costs) -> None:
    """The tables into a new data set by bare inserts."""
    with duckdb.connect(f"{folder}/bare") as connection:
        schema.create_tables(connection)
        sittings.create(connection)
        connection.execute("SET threads = 1")
        connection.execute("BEGIN")
        for name, table in tables.items():
            for start in range(0, table.num_rows, ROW_GROUP):
                piece = table[start : start + ROW_GROUP]
                timed(costs, f"bare inserts: {name}", lambda n=name, t=piece: schema.insert(connection, n, t))
        timed(costs, "bare inserts: commit, checkpoint", lambda: connection.execute("COMMIT; CHECKPOINT"))
        timed(costs, "digest of all tables", lambda: schema.digest(connection))


def merely(folder: str, path: Path, costs: Costs) -> None:
    """DuckDB reads the file as JSON into a table, and no more."""
    with duckdb.connect(f"{folder}/merely") as connection:
        connection.execute("SET threads = 1")
        query = f"SELECT * FROM read_json('{path}', format='newline_delimited', maximum_object_size=4194304)"
        timed(
            costs,
            "DuckDB merely loads the file",
            lambda: connection.execute(f"CREATE TABLE logs AS {query}; CHECKPOINT"),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2 * ROW_GROUP)
    parser.add_argument("--rules", default="hubei")
    chosen = parser.parse_args()
    costs: Costs = {}
    with tempfile.TemporaryDirectory() as folder:
        path, few = long(Path(folder), chosen.rules, chosen.rounds), Path(folder) / "few.jsonl"
        with path.open("rb") as file:
            few.write_bytes(file.readline())
        made(few, {})  # loads the engine
        merely(folder, path, costs)
        inserted(folder, made(path, costs), costs)
    base = costs["DuckDB merely loads the file"]
    bare = sum(cost for name, cost in costs.items() if name.startswith("bare"))
    all_of_it = sum(costs.values()) - base
    print(f"{chosen.rounds:,} rounds of {chosen.rules}; duckdb {duckdb.__version__}, pyarrow {pa.__version__}\n")
    print("| step | CPU s | µs a round | of DuckDB's mere load |\n|---|---:|---:|---:|")
    for name, cost in (*costs.items(), ("bare inserts together", bare), ("all steps together", all_of_it)):
        print(f"| {name} | {cost:.2f} | {cost / chosen.rounds * 1e6:.2f} | {cost / base:.2f} |")


if __name__ == "__main__":
    main()
