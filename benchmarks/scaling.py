"""The whole pipeline over sizes and cores, beside DuckDB merely loading the same file: time, CPU and memory.

    python benchmarks/scaling.py [--rounds 1000 10000 100000 1000000] [--cores 2 1] [--rules ID]

20,000 rounds are simulated (fewer for smaller sizes) and repeated under other names of games to the size asked for:
every round is new to the loader.  No facts.  Each line is a process of its own, warm, kept to so many cores; "sums" is
the table `sittings` that the pages of statistics read, which is not in "without sums".
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

SIMULATED = 20_000


def made(folder: Path, rules: str, rounds: int) -> Path:
    """A log of so many rounds, made when it is not there."""
    from speed import strip

    from replay.simulate import write

    path, some = folder / f"{rounds}.jsonl", min(rounds, SIMULATED)
    simulated = folder / f"simulated-{some}.jsonl"
    if not simulated.exists():
        write(folder / "full.jsonl", rules, None, some, 1)
        strip(folder / "full.jsonl", simulated)
    lines = simulated.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        for start in range(0, rounds, some):
            part = b"".join(lines[: rounds - start])
            file.write(part.replace(b'"game":"', b'"game":"%d-' % start))
    return path


def one(path: Path, cores: int) -> dict[str, float]:
    """In a process of its own: both loads of one file on so many cores."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    import duckdb

    from analytics import sittings, warehouse
    from ingest.read import Reader
    from replay import ruleset, scan

    def timed(work) -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return time.perf_counter() - wall, time.process_time() - cpu

    def load(log: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            reader = Reader([log], check_rules=ruleset.check, scanner=scan.fastest)
            warehouse.load(reader, Path(folder) / "db", facts=False)

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
    sums: list[tuple[float, float]] = []
    refresh = sittings.refresh
    sittings.refresh = lambda *given: sums.append(timed(lambda: refresh(*given)))
    wall, cpu = timed(lambda: load(path))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    merely_wall, merely_cpu = timed(merely)
    return {"wall": wall, "cpu": cpu, "sums_wall": sums[0][0], "sums_cpu": sums[0][1], "memory": memory,
            "merely_wall": merely_wall, "merely_cpu": merely_cpu}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--rules", default="hubei")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(Path(chosen.one[0]), int(chosen.one[1]))))
        return
    heads = ("rounds", "cores", "s", "CPU s", "of it sums", "rounds / CPU s without sums", "DuckDB merely: CPU s",
             "ratio without sums", "ratio", "peak MB")  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---:|' * len(heads)}")
    with tempfile.TemporaryDirectory() as folder:
        for rounds in chosen.rounds:
            path = made(Path(folder), chosen.rules, rounds)
            for cores in chosen.cores:
                command = [sys.executable, __file__, "--one", str(path), str(cores)]
                run = subprocess.run(command, capture_output=True, text=True, check=True)
                row = json.loads(run.stdout)
                without = row["cpu"] - row["sums_cpu"]
                print(
                    f"| {rounds:,} | {cores} | {row['wall']:.1f} | {row['cpu']:.1f} | {row['sums_cpu']:.1f} "
                    f"| {rounds / without:,.0f} | {row['merely_cpu']:.2f} | {without / row['merely_cpu']:.1f} "
                    f"| {row['cpu'] / row['merely_cpu']:.1f} | {row['memory']:.0f} |", flush=True,
                )  # fmt: skip
            path.unlink()


if __name__ == "__main__":
    main()
