"""What a round costs at each step, in CPU time and bytes, and what sharing the work adds: the figures of docs/scale.md.

    python benchmarks/scale.py [--rounds 60000] [--rules ID]

CPU seconds are those of all threads of this process, or of the worker processes where it says so; the engine is loaded
before anything is measured.  The log is self-play with wall, commitment, thinking times and result: the longest kind.
"""

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from analytics import export, warehouse
from analytics.cluster import load as cluster
from analytics.cluster import partition
from analytics.cluster.merge import Merged
from analytics.cluster.partition import Partition
from analytics.cluster.work import Asked
from analytics.cluster.workers import Answer, connected
from ingest.known import Sift
from ingest.parts import PartReader, planned
from ingest.read import Reader
from ingest.sources import streams
from ingest.write import write as convert
from replay import ruleset, scan
from replay.batch import Replayer
from replay.simulate import write as simulate

PACKED = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")
IDS = 10_000_000  # rounds that the decision about repeats is measured with


class Here:
    """Workers of analytics.cluster that are this process; `seconds` is the CPU time of their calls."""

    def __init__(self) -> None:
        self._calls: list[tuple[str, Callable[[Any], Any], Any]] = []
        self.seconds = 0.0

    def submit(self, key: str, function: Callable[[Any], Any], argument: Any) -> None:
        self._calls.append((key, function, argument))

    def answers(self) -> Iterator[Answer]:
        while self._calls:
            key, function, argument = self._calls.pop(0)
            start = time.process_time()
            value = function(argument)
            self.seconds += time.process_time() - start
            yield Answer(key, value)


class Table:
    """Rows of a Markdown table, printed as they come."""

    def __init__(self, title: str, rounds: int, *columns: str) -> None:
        self._rounds = rounds
        print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)

    def seconds(self, what: str, seconds: float) -> float:
        """CPU seconds; returns them."""
        each = seconds / self._rounds
        print(f"| {what} | {seconds:.2f} | {each * 1e6:.1f} | {each * 1e9 / 3600:,.0f} |", flush=True)
        return seconds

    def bytes(self, what: str, size: int) -> None:
        each = size / self._rounds
        print(f"| {what} | {size / 1e6:.1f} MB | {each:,.0f} | {each * 1e9 / 1e12:.2f} TB |", flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one call, and what it gave."""
    start = time.process_time()
    value = work()
    return time.process_time() - start, value


def children() -> float:
    """CPU seconds of child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def reader(path: Path) -> Reader:
    return Reader([path], check_rules=ruleset.check, scanner=scan.fastest)


def steps(folder: Path, log: Path, rounds: int) -> None:
    """Each step by itself, one after the other."""
    table = Table("CPU by step", rounds, "step", "CPU s", "µs a round", "core hours per 10⁹ rounds")
    for suffix in PACKED[:3]:
        path = folder / f"log{suffix}"
        seconds, _ = timed(lambda path=path: [sum(map(len, stream.chunks())) for stream in streams(str(path))])
        table.seconds(f"unpack and hash `{suffix}`", seconds)
    seconds, batches = timed(lambda: list(PartReader(planned([str(log)])[0], check_rules=ruleset.check,
                                                     scanner=scan.fastest)))  # fmt: skip
    table.seconds("read (with the above of `.jsonl`)", seconds)
    seconds, _ = timed(lambda: [0 for _ in reader(folder / "log.parquet")])
    table.seconds("read the Parquet twin", seconds)
    replayer, watcher = Replayer(), Replayer(facts=True)
    replay, _ = timed(lambda: [len(replayer.feed(batch.rounds)) for batch in batches])
    table.seconds("replay", replay)
    both, outputs = timed(lambda: [watcher.feed(batch.rounds) for batch in batches])
    table.seconds("facts", both - replay)
    parts = folder / "written"
    parts.mkdir()

    def write() -> None:
        with Partition(str(parts), "p") as out:
            for tables in outputs:
                for name, rows in tables.items():
                    out.add(name, rows)

    table.seconds("write the partition", timed(write)[0])
    print(f"\nworker's partition: {folder_size(parts) / rounds:,.0f} bytes a round")


def merging(folder: Path, log: Path, rounds: int) -> None:
    """The machine that asks, with and without facts; then what the data set takes."""
    table = Table("CPU of the machine that asks", rounds, "step", "CPU s", "µs a round", "core hours per 10⁹ rounds")
    for facts in (False, True):
        parts, here = folder / f"parts{facts:d}", Here()
        parts.mkdir()
        merged = Merged([str(log)], here, str(parts), Asked(facts=facts), log.stat().st_size // 8)
        start = time.perf_counter()
        seconds, _ = timed(lambda m=merged, f=facts: warehouse.load(m, folder / f"data{f:d}", facts=f))
        kind = "with facts" if facts else "without facts"
        table.seconds(f"merge into DuckDB, {kind}", seconds - here.seconds)
        print(f"| (wall seconds of all of it: {time.perf_counter() - start:.1f}) | | | |")
        partition.remove(str(parts))
    exported, _ = timed(lambda: export.write(folder / "data1", folder / "export"))
    table.seconds("export as Parquet", exported)
    seconds, held = decide()
    print(f"| decide about repeats, among {IDS:,} | {seconds:.2f} | {seconds / IDS * 1e6:.2f} "
          f"| {seconds / IDS * 1e9 / 3600:,.2f} |")  # fmt: skip
    table = Table("Bytes", rounds, "what", "size", "bytes a round", "10⁹ rounds")
    for suffix in PACKED:
        table.bytes(f"log, `{suffix}`", (folder / f"log{suffix}").stat().st_size)
    for facts in (False, True):
        size = (folder / f"data{facts:d}").resolve().stat().st_size
        table.bytes(f"DuckDB, {'with' if facts else 'without'} facts", size)
    table.bytes("Parquet export, with facts", folder_size(folder / "export"))
    for name, count in json.loads((folder / "export" / "_kwx.json").read_text())["rows"].items():
        if count > rounds:
            table.bytes(f"— of it `{name}`", folder_size(folder / "export" / name))
    print(f"\nmemory to decide about repeats: {held:.0f} bytes a round at the most")


def decide() -> tuple[float, float]:
    """The CPU seconds of deciding about IDS rounds, and the most bytes a round that it held meanwhile."""
    random = np.random.default_rng(1)
    sift = Sift()

    def decisions() -> None:
        for _ in range(IDS // 4096):
            ids = random.integers(0, 1 << 63, 4096, np.uint64)
            sift.decide(ids, ids, np.zeros(len(ids), bool))

    tracemalloc.start()
    seconds, _ = timed(decisions)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, held / IDS


def sharing(folder: Path, log: Path, rounds: int) -> None:
    """What a cluster adds: start, tasks, and the whole job beside one process."""
    alone, _ = timed(lambda: warehouse.load(reader(log), folder / "alone"))
    wall = time.perf_counter()
    child = children()
    size = log.stat().st_size // 8
    here, _ = timed(lambda: cluster.load([str(log)], folder / "shared", "local:2", part_bytes=size))
    print(f"\none process: {alone:.1f} CPU s; local:2 and eight parts: {here:.1f} here and {children() - child:.1f} in "
          f"the workers, their start included; {time.perf_counter() - wall:.1f} s in all")  # fmt: skip
    wall, child = time.perf_counter(), children()
    with connected("local:2") as workers:
        up = time.perf_counter() - wall
        seconds = time.perf_counter()

        def calls() -> None:
            for number in range(500):
                workers.submit(f"call-{number}", abs, -number)
            assert sum(answer.value for answer in workers.answers()) == 499 * 250

        here, _ = timed(calls)
        seconds = time.perf_counter() - seconds
    print(f"two workers: up in {up:.1f} s, {children() - child:.1f} CPU s with their end; "
          f"a task: {here / 500 * 1e3:.1f} CPU ms here, {seconds / 500 * 1e3:.1f} ms in all")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60_000)
    parser.add_argument("--rules", help="ruleset; by default the first playable one")
    chosen = parser.parse_args()
    rules = chosen.rules or ruleset.ids()[0]
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
          f"{chosen.rounds:,} rounds of {rules}")  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="kwx-scale-") as name:
        folder = Path(name)
        log = folder / "log.jsonl"
        simulate(folder / "warm.jsonl", rules, None, 50, 1)
        warehouse.load(reader(folder / "warm.jsonl"), folder / "warm")  # compiles, or loads what is compiled
        simulate(log, rules, None, chosen.rounds, 1)
        for suffix in PACKED[1:]:
            convert(Reader([log], keep_raw=True, scanner=scan.fastest), folder / f"log{suffix}")
        steps(folder, log, chosen.rounds)
        merging(folder, log, chosen.rounds)
        sharing(folder, log, chosen.rounds)


if __name__ == "__main__":
    main()
