"""The logs that benchmarks measure with."""

import json
from pathlib import Path

import report  # noqa: F401  # our packages can be imported from here on

from ingest.read import Reader
from replay import ruleset, scan
from replay.simulate import write

LEFT_OUT = ("time", "times", "proof", "prev")  # keys that the plain log goes without
SIMULATED = 20_000  # rounds of a longer log that differ


def reader(path: Path) -> Reader:
    """The log as the commands read it."""
    return Reader([path], check_rules=ruleset.check, scanner=scan.fastest)


def made(folder: Path, rules: str, rounds: int) -> tuple[Path, Path]:
    """A plain log (walls and results), and one with commitments and thinking times, of the same simulated rounds."""
    full, plain = folder / "with_commitments.jsonl", folder / "plain.jsonl"
    write(full, rules, None, rounds, 1)
    with full.open(encoding="utf-8") as lines, plain.open("w", encoding="utf-8") as out:
        for line in lines:
            row = {key: value for key, value in json.loads(line).items() if key not in LEFT_OUT}
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    return plain, full


def turned(source: Path, target: Path) -> Path:
    """The log with spaces, and its keys in another order."""
    with source.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            row = json.loads(line)
            out.write(json.dumps({key: row[key] for key in sorted(row)}, ensure_ascii=False) + "\n")
    return target


def long(folder: Path, rules: str, rounds: int) -> Path:
    """A plain log of any length: SIMULATED rounds again and again under other names of games, all new to a loader."""
    path, some = folder / f"{rounds}.jsonl", min(rounds, SIMULATED)
    plain, full = made(folder, rules, some)
    lines = plain.read_bytes().splitlines(keepends=True)
    with path.open("wb") as file:
        for start in range(0, rounds, some):
            part = b"".join(lines[: rounds - start])
            file.write(part.replace(b'"game":"', b'"game":"%d-' % start))
    plain.unlink()
    full.unlink()
    return path
