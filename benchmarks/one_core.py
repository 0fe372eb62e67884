"""What one core does with a log: read, replayed, all tables, loaded; beside DuckDB merely loading the same file.

    python benchmarks/one_core.py [--rounds 100000] [--rules ID]

CPU seconds of this process, the best of three, the kernel on one thread.  "validated" is NDJSON bytes to verdicts,
ledger and all other output tables; the plain log has walls and results, the other also a commitment a round (one
SHA-256) and thinking times.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import report
from logs import made, reader

from analytics import warehouse
from replay import ruleset
from replay.batch import Replayer
from replay.prepared import columns, flat_events

UNCOMPILED_ROUNDS = 200
FEW = report.ROOT / "tests" / "data" / "hubei.jsonl"


def by_step(path: Path) -> tuple[str, float, float]:
    """The table of one log, its validated events a CPU second, and the CPU seconds of an event in the kernel."""
    batches: list[pa.RecordBatch] = [batch.rounds for batch in reader(path)]
    events = sum(len(flat_events(batch)) for batch in batches)
    rounds = sum(batch.num_rows for batch in batches)
    replayer = Replayer()
    feed = lambda: [replayer.feed(batch) for batch in batches]  # noqa: E731
    feed()  # loads the engine
    read = report.best(lambda: [0 for _ in reader(path)])
    prepared = [
        (columns(one, replayer.rules.numbers(one["rules"], one["options"])), flat_events(one)) for one in batches
    ]

    def validate() -> None:
        for batch in reader(path):
            replayer.feed(batch.rounds)

    kernel = report.best(lambda: [replayer.play(*one) for one in prepared])
    steps = {"read": read, "replay, all tables": report.best(feed), "of it the kernel": kernel,
             "validated: read and replayed": report.best(validate)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder) / "rounds.duckdb", Path(folder) / "plain.duckdb"
        steps["whole pipeline into DuckDB, without facts"] = report.cpu(
            lambda: warehouse.load(reader(path), one, facts=False)
        )
        with duckdb.connect(str(two), config={"threads": 1}) as plain:
            query = f"read_json('{path}', format='newline_delimited', maximum_object_size=4194304)"
            steps["DuckDB merely loads the file"] = report.cpu(
                lambda: plain.execute(f"CREATE TABLE logs AS SELECT * FROM {query}")
            )
    rows = [
        (what, f"{took:.2f}", f"{rounds / took:,.0f}", f"{events / took / 1e6:.2f} M") for what, took in steps.items()
    ]
    title = f"{path.stem}: {rounds:,} rounds, {events:,} events, {path.stat().st_size / 1e6:.0f} MB\n\n"
    text = title + report.table(("what", "CPU s", "rounds/s", "events/s"), rows)
    return text, events / steps["validated: read and replayed"], kernel / events


def uncompiled() -> float:
    """CPU seconds of an event in the kernel as plain Python; in a process of its own."""
    batch = next(iter(reader(FEW))).rounds.slice(0, UNCOMPILED_ROUNDS)
    replayer, events = Replayer(), flat_events(batch)
    prepared = columns(batch, replayer.rules.numbers(batch["rules"], batch["options"]))
    return report.best(lambda: replayer.play(prepared, events)) / len(events)


def measured(rounds: int, rules: str) -> tuple[str, float, float]:
    """The section, the plain log's validated events a CPU second, and how many times compiling speeds the kernel up."""
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        parts = [by_step(path) for path in made(Path(folder), rules, rounds)]
    command = [sys.executable, __file__, "--uncompiled"]
    settings = os.environ | {"KWX_JIT": "0", "PYTHONWARNINGS": "ignore"}  # digests wrap, of which NumPy warns
    run = subprocess.run(command, env=settings, stdout=subprocess.PIPE, check=True)
    slow, fast = json.loads(run.stdout), parts[0][2]
    text = "\n\n".join(text for text, _, _ in parts)
    text += f"\n\nThe kernel: {fast * 1e9:.0f} ns an event compiled, {slow * 1e6:.0f} µs as plain Python"
    text += f" (`KWX_JIT=0`), {slow / fast:,.0f} times."
    return text, parts[0][1], slow / fast


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--rules", default=ruleset.ids()[0], help="ruleset; by default the first playable one")
    parser.add_argument("--uncompiled", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.uncompiled:
        print(uncompiled())
        return
    print(report.machine("duckdb", "numba", "pyarrow") + "\n\n" + measured(chosen.rounds, chosen.rules)[0])


if __name__ == "__main__":
    main()
