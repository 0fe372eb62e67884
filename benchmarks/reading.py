"""How fast the bytes of a kwx log become columns: this reader beside others, in one run on this machine.

    python benchmarks/reading.py [--rounds 50000] [--rules ID]

CPU seconds of this process, the best of three; MB/s are of the log's bytes.  The readers beside ours only parse JSON
into columns of texts and numbers: they check no tile, no event, no range and no key, decode none of the texts, hash
nothing, and say nothing of a line that is wrong.  Ours does all of that.  `bytes alone` reads the file and takes the
SHA-256 of it, which the table of sources holds.
"""

import argparse
import os
import random
import tempfile
from hashlib import sha256
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"  # before anybody imports it

import duckdb
import polars
import pyarrow as pa
import pyarrow.json
import report
from logs import made, turned

from ingest.read import Reader
from replay import ruleset, scan


def ours(path: Path, scanner: object) -> int:
    """Rounds of a log by our reader."""
    reader = Reader([path], check_rules=ruleset.check, scanner=scanner)
    return sum(batch.rounds.num_rows for batch in reader)


def by_duckdb(path: Path) -> None:
    with duckdb.connect(config={"threads": 1}) as connection:
        query = f"SELECT * FROM read_json('{path}', format='newline_delimited', maximum_object_size=4194304)"
        for _ in connection.sql(query).to_arrow_reader(100_000):
            pass


def readers(path: Path, rounds: int, exact: bool) -> str:
    """The table of one log."""
    size = path.stat().st_size
    ways = {"kwx, scanner": lambda: ours(path, scan.scanner)}
    if exact:
        ways["kwx, exact way alone"] = lambda: ours(path, None)
    ways |= {
        "polars read_ndjson": lambda: polars.read_ndjson(path),
        "pyarrow.json": lambda: pa.json.read_json(path, pa.json.ReadOptions(False, 1 << 22)),
        "DuckDB read_json": lambda: by_duckdb(path),
        "bytes alone": lambda: sha256(path.read_bytes()).digest(),
    }
    took = {what: report.best(work) for what, work in ways.items()}
    rows = [(what, f"{one:.2f}", f"{rounds / one:,.0f}", f"{size / one / 1e6:,.0f}") for what, one in took.items()]
    title = f"{path.stem}: {rounds:,} rounds, {size / 1e6:.0f} MB\n\n"
    return title + report.table(("reader", "CPU s", "rounds/s", "MB/s"), rows)


def hostile(folder: Path) -> str:
    """How long logs take that are nothing but faults."""
    chance, rows = random.Random(1), []
    for what, count, line in (
        ("lines of one byte", 3_000_000, lambda at: b"x"),
        ("empty objects", 300_000, lambda at: b"{}"),
        ("numbers, all different", 30_000, lambda at: b"%d" % at),
        ("a cut round", 30_000, lambda at: b'{"kwx":1,"game":"%d","round":' % at),
        ("noise", 30_000, lambda at: chance.randbytes(40).replace(b"\n", b" ")),
    ):
        path = folder / "hostile.jsonl"
        path.write_bytes(b"".join(line(at) + b"\n" for at in range(count)))
        rejects: list[int] = []
        took = report.cpu(
            lambda path=path, rejects=rejects: rejects.extend(
                batch.rejects.num_rows for batch in Reader([path], scanner=scan.scanner)
            )
        )
        assert sum(rejects) == count
        rows.append((what, f"{count:,}", f"{took:.2f}", f"{count / took:,.0f}"))
    return report.table(("a log of nothing but", "lines", "CPU s", "lines/s"), rows)


def measured(rounds: int, rules: str) -> str:
    """The section."""
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, full = made(folder, rules, rounds)
        spaced = turned(plain, folder / "spaced_and_turned.jsonl")
        ours(plain, scan.scanner)  # loads the scanner
        parts = [readers(path, rounds, path == plain) for path in (plain, full, spaced)]
        return "\n\n".join([*parts, hostile(folder)])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50_000)
    parser.add_argument("--rules", default=ruleset.ids()[0], help="ruleset; by default the first playable one")
    chosen = parser.parse_args()
    print(report.machine("duckdb", "numba", "polars", "pyarrow") + "\n\n" + measured(chosen.rounds, chosen.rules))


if __name__ == "__main__":
    main()
