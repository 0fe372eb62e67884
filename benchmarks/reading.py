"""How fast the bytes of a kwx log become columns: this reader beside others, in one run on this machine.

    python benchmarks/reading.py [--rounds 100000] [--rules ID]

CPU seconds of this process, the best of three; MB/s are of the log's bytes.  The readers beside ours only parse JSON
into columns of texts and numbers: they check no tile, no event, no range and no key, decode none of the texts, hash
nothing, and say nothing of a line that is wrong.  Ours does all of that.  `bytes alone` reads the file and takes the
SHA-256 of it, which the table of sources holds.
"""

import argparse
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import numba
import polars
import pyarrow as pa
import pyarrow.json
from speed import strip

from ingest.read import Reader
from replay import ruleset, scan
from replay.simulate import write

TIMES = 3


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the best of some calls."""
    best = float("inf")
    for _ in range(TIMES):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def ours(path: Path, scanner: object) -> int:
    """Rounds of a log by our reader."""
    reader = Reader([path], check_rules=ruleset.check, scanner=scanner)
    return sum(batch.rounds.num_rows for batch in reader)


def by_duckdb(path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        query = f"SELECT * FROM read_json('{path}', format='newline_delimited', maximum_object_size=4194304)"
        for _ in connection.sql(query).to_arrow_reader(100_000):
            pass


def measure(path: Path, rounds: int, exact: bool) -> None:
    """Print the table of one log."""
    size = path.stat().st_size
    rows = [("kwx, scanner", lambda: ours(path, scan.scanner), rounds)]
    if exact:
        rows.append(("kwx, exact way alone", lambda: ours(path, None), rounds))
    rows += [
        ("polars read_ndjson", lambda: polars.read_ndjson(path), rounds),
        ("pyarrow.json", lambda: pa.json.read_json(path, pa.json.ReadOptions(False, 1 << 22)), rounds),
        ("DuckDB read_json", lambda: by_duckdb(path), rounds),
        ("bytes alone", lambda: sha256(path.read_bytes()).digest(), rounds),
    ]
    print(f"\n{path.stem}: {rounds:,} rounds, {size / 1e6:.0f} MB\n")
    print("| reader | CPU s | rounds/s | MB/s |\n|---|---:|---:|---:|")
    for what, work, count in rows:
        took = seconds(work)
        print(f"| {what} | {took:.2f} | {count / took:,.0f} | {size / took / 1e6:,.0f} |")


def hostile(folder: Path) -> None:
    """Print how long logs take that are nothing but faults, and one of lines in no usual spelling."""
    print("\n| hostile log | lines | CPU s | lines/s |\n|---|---:|---:|---:|")
    chance = random.Random(1)
    for what, count, line in (
        ("lines of one byte", 300_000, lambda at: b"x"),
        ("empty objects", 300_000, lambda at: b"{}"),
        ("numbers, all different", 30_000, lambda at: b"%d" % at),
        ("a cut round", 30_000, lambda at: b'{"kwx":1,"game":"%d","round":' % at),
        ("noise", 30_000, lambda at: chance.randbytes(40).replace(b"\n", b" ")),
    ):
        path = folder / "hostile.jsonl"
        path.write_bytes(b"".join(line(at) + b"\n" for at in range(count)))
        start = time.process_time()
        rejects = sum(batch.rejects.num_rows for batch in Reader([path], scanner=scan.scanner))
        took = time.process_time() - start
        assert rejects == count
        print(f"| {what} | {count:,} | {took:.2f} | {count / took:,.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--rules", default="base", help="ruleset; by default the first playable one")
    chosen = parser.parse_args()
    rules = chosen.rules if chosen.rules != "base" else ruleset.ids()[0]
    pa.set_cpu_count(1)
    print(f"Python {platform.python_version()}, duckdb {duckdb.__version__}, numba {numba.__version__}, ", end="")
    print(f"polars {polars.__version__}, pyarrow {pa.__version__}; {os.cpu_count()} cores; {rules}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full, plain, spaced = (folder / f"{stem}.jsonl" for stem in ("with_commitments", "plain", "spaced"))
        write(full, rules, None, chosen.rounds, 1)
        strip(full, plain)
        turned(plain, spaced)
        start = time.process_time()
        ours(Path(__file__).parent.parent / "tests" / "data" / "hubei.jsonl", scan.scanner)
        print(f"compile or load the scanner: {time.process_time() - start:.1f} CPU s")
        for path, exact in ((plain, True), (full, False), (spaced, False)):
            measure(path, chosen.rounds, exact)
        hostile(folder)


def turned(source: Path, target: Path) -> None:
    """The log with spaces, and its keys in another order."""
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            row = json.loads(line)
            out.write(json.dumps({key: row[key] for key in sorted(row)}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
