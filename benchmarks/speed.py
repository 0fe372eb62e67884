"""How fast logs are read, replayed and loaded, side by side in one run on this machine.

    python benchmarks/speed.py [--rounds 100000] [--rules ID …]

Every figure is per core: CPU seconds of this process (the kernel runs on one thread).  "validated" is NDJSON bytes to
verdicts, ledger and all other output tables; the plain log has wall and result, the other also a commitment per round
(one SHA-256) and thinking times.  DuckDB merely loads the same file with read_json, one thread, for comparison.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import duckdb
import numba
import polars
import pyarrow as pa

from analytics import warehouse
from ingest.read import Reader
from replay import ruleset, scan
from replay.batch import Replayer
from replay.prepared import columns, flat_events
from replay.simulate import write

PLAIN = ("time", "times", "proof", "prev")  # keys that the plain log goes without


def timed(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def reader(path: Path) -> Reader:
    return Reader([path], check_rules=ruleset.check, scanner=scan.fastest)


def strip(source: Path, target: Path) -> None:
    """The log without what the plain one lacks."""
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            row = {key: value for key, value in json.loads(line).items() if key not in PLAIN}
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def measure(path: Path) -> list[tuple[str, float, float]]:
    """(what, seconds, seconds beside it for the same rounds) for one log."""
    batches: list[pa.RecordBatch] = []
    reading = timed(lambda: batches.extend(batch.rounds for batch in reader(path)))
    events = sum(len(flat_events(batch)) for batch in batches)
    rounds = sum(batch.num_rows for batch in batches)
    replayer = Replayer()
    replaying = timed(lambda: [replayer.feed(batch) for batch in batches])
    prepared = [
        (columns(batch, replayer.rules.numbers(batch["rules"], batch["options"])), flat_events(batch))
        for batch in batches
    ]
    kernel = timed(lambda: [replayer.play(one, packed) for one, packed in prepared])
    with tempfile.TemporaryDirectory() as folder:
        loading = timed(lambda: warehouse.load(reader(path), Path(folder) / "rounds.duckdb"))
        plain = duckdb.connect(str(Path(folder) / "plain.duckdb"), config={"threads": 1})
        merely = timed(
            lambda: plain.execute(
                f"CREATE TABLE logs AS SELECT * FROM read_json('{path}', format='newline_delimited', "
                "maximum_object_size=4194304)"
            )
        )
        plain.close()
    rows = [
        ("read", reading), ("replay, all tables", replaying), ("validated (read + replay)", reading + replaying),
        ("kernel alone", kernel), ("whole pipeline into DuckDB", loading), ("DuckDB merely loads the file", merely),
    ]  # fmt: skip
    print(f"\n{path.stem}: {rounds:,} rounds, {events:,} events, {path.stat().st_size / 1e6:.0f} MB\n")
    print("| what | CPU s | rounds/s | events/s |\n|---|---|---|---|")
    for what, seconds in rows:
        print(f"| {what} | {seconds:.2f} | {rounds / seconds:,.0f} | {events / seconds / 1e6:.2f} M |")
    print(f"\nwhole pipeline against DuckDB merely loading: {loading / merely:.1f} times")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--rules", default="base", help="ruleset; by default the first playable one")
    chosen = parser.parse_args()
    rules = chosen.rules if chosen.rules != "base" else ruleset.ids()[0]
    versions = (
        f"duckdb {duckdb.__version__}, numba {numba.__version__}, polars {polars.__version__}, pyarrow {pa.__version__}"
    )
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores; {rules}")
    with tempfile.TemporaryDirectory() as folder:
        full, plain = Path(folder) / "with_commitments.jsonl", Path(folder) / "plain.jsonl"
        write(full, rules, None, chosen.rounds, 1)
        strip(full, plain)
        first = timed(lambda: [Replayer().feed(batch.rounds.slice(0, 10)) for batch in list(reader(plain))[:1]])
        print(f"compile or load the kernel: {first:.1f} CPU s")
        for path in (plain, full):
            measure(path)


if __name__ == "__main__":
    main()
