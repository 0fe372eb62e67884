"""The whole pipeline over sizes and cores, beside DuckDB merely loading the same file: time, CPU and memory.

    python benchmarks/scaling.py [--rounds 1000 10000 100000 1000000] [--cores 2 1] [--rules ID]

20,000 rounds are simulated (fewer for smaller sizes) and repeated under other names of games to the size asked for:
every round is new to the loader.  No facts.  Each line is a process of its own, warm, kept to so many cores.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report

SIZES, CORES = (1_000, 10_000, 100_000, 1_000_000), (2, 1)
HEADS = ("rounds", "cores", "s", "CPU s", "rounds/s", "rounds / CPU s", "DuckDB merely: s", "its CPU s",
         "ratio of s", "ratio of CPU s", "peak MB")  # fmt: skip


def one(path: Path, cores: int) -> dict[str, float]:
    """In a process of its own: both loads of one file on so many cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    import duckdb
    from logs import reader

    from analytics import warehouse

    def timed(work) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - wall, time.process_time() - cpu

    def load(log: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            warehouse.load(reader(log), Path(folder) / "db", facts=False)

    def merely() -> None:
        with tempfile.TemporaryDirectory() as folder, duckdb.connect(str(Path(folder) / "db")) as connection:
            connection.execute(f"SET threads = {cores}")
            connection.execute(
                f"CREATE TABLE logs AS SELECT * FROM read_json('{path}', format='newline_delimited', "
                "maximum_object_size=4194304)"
            )
            connection.execute("CHECKPOINT")

    few = path.with_name("few.jsonl")
    with path.open("rb") as file:
        few.write_bytes(file.readline())
    load(few)  # loads the engine
    wall, cpu = timed(lambda: load(path))
    memory = report.peak()
    merely_wall, merely_cpu = timed(merely)
    return {"wall": wall, "cpu": cpu, "memory": memory, "merely_wall": merely_wall, "merely_cpu": merely_cpu}


def measured(sizes: list[int], cores: list[int], rules: str) -> tuple[str, dict[tuple[int, int], dict[str, float]]]:
    """The section, and the figures by rounds and cores."""
    from logs import long

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for rounds in sizes:
            path = long(Path(folder), rules, rounds)
            for count in cores:
                command = [sys.executable, __file__, "--one", str(path), str(count)]
                run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                found[rounds, count] = json.loads(run.stdout)
            path.unlink()
    rows = [
        (f"{rounds:,}", count, f"{row['wall']:.1f}", f"{row['cpu']:.1f}", f"{rounds / row['wall']:,.0f}",
         f"{rounds / row['cpu']:,.0f}", f"{row['merely_wall']:.2f}", f"{row['merely_cpu']:.2f}",
         f"{row['wall'] / row['merely_wall']:.1f}", f"{row['cpu'] / row['merely_cpu']:.1f}", f"{row['memory']:.0f}")
        for (rounds, count), row in found.items()
    ]  # fmt: skip
    return report.table(HEADS, rows), found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, nargs="+", default=SIZES)
    parser.add_argument("--cores", type=int, nargs="+", default=CORES)
    parser.add_argument("--rules", default="hubei")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(Path(chosen.one[0]), int(chosen.one[1]))))
        return
    text, _ = measured(chosen.rounds, chosen.cores, chosen.rules)
    print(report.machine("duckdb", "numba", "pyarrow") + "\n\n" + text)


if __name__ == "__main__":
    main()
