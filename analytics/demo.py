"""The demo: sample rounds with planted faults and the bundled recordings, through the whole pipeline.

    FOLDER/logs/<ruleset>.jsonl   rounds that the simulator played, faults planted
    FOLDER/recorded/              recordings of public servers, as bundled
    FOLDER/kwx.duckdb             the data set of all of them

The same number of rounds gives the same files.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analytics import planting, warehouse
from ingest.read import Reader
from replay import jit, one_round, ruleset, scan, simulate

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
DB = "kwx.duckdb"
MARK = ".kwx-demo"  # a folder that holds it is ours to replace
SEED = 20_260_501


class DemoError(Exception):
    """A folder that the demo will not replace; the message says so."""


@dataclass(frozen=True)
class Demo:
    """What was made and found: the summary of the load, each planted fault with the ID of its round or None when it
    was not found, and how often each code shows in the recordings."""

    folder: Path
    db: Path
    summary: warehouse.Summary
    planted: list[tuple[planting.Planted, bool]]
    recorded: dict[str, int]
    example: str | None  # the ID of a planted round that can be looked at

    @property
    def complete(self) -> bool:
        """Whether every planted fault was found."""
        return all(found for _, found in self.planted)


def rulesets() -> list[str]:
    """The rulesets of the sheets; profiles of public servers are left to the recordings."""
    return [ident for ident in ruleset.ids() if ruleset.paths()[ident].parent == ruleset.FOLDER]


def options(ident: str, turn: int) -> dict[str, Any]:
    """Room options of the turn-th log: none, or of each option the last value that the ruleset lists."""
    return {key: values[-1] for key, values in ruleset.family(ident).options.items()} if turn % 2 else {}


@contextmanager
def _compiling() -> Iterator[None]:
    """Compiles the validator in a process of its own, while this one compiles the simulator and plays: a first run
    on a fresh machine takes half the time on two cores.  Later runs find everything in the cache.
    """
    if jit.CACHE is None:
        yield
        return
    code = "import sys; from ingest.read import Reader; from replay import scan; from replay.batch import Replayer; "
    code += "scan.warm(); "
    code += "replayer = Replayer(facts=True); [replayer.feed(batch.rounds) for batch in Reader(sys.argv[1:])]"
    above = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(min(RECORDED.glob("*.gz")))], env=os.environ | {"PYTHONPATH": above},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
        other.wait()
    finally:
        other.kill()
        other.wait()


def make(folder: Path, rounds: int, progress: Callable[[int], None] = lambda rounds: None) -> Demo:
    """Makes everything in `folder`, replacing an earlier demo there; leaves nothing of it when it is interrupted.

    rounds: how many to simulate, spread over the rulesets; progress: told the rounds of each step.  DemoError when
    the folder holds anything but a demo.
    """
    if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise DemoError(f"{folder}: exists and is no folder of a demo; name another one with --folder")
    _clear(folder)
    try:
        return _make(folder, rounds, progress)
    except BaseException:
        _clear(folder)
        raise


def _clear(folder: Path) -> None:
    """Removes a demo, and the folder if it holds nothing else."""
    for old in ("logs", "recorded"):
        shutil.rmtree(folder / old, ignore_errors=True)
    for old in (*folder.glob(f"{DB}*"), folder / MARK):
        old.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _make(folder: Path, rounds: int, progress: Callable[[int], None]) -> Demo:
    logs, db = folder / "logs", folder / DB
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    logs.mkdir()
    shutil.copytree(RECORDED, folder / "recorded")

    planted: list[planting.Planted] = []
    idents = rulesets()
    with _compiling():
        for turn, ident in enumerate(idents):
            path = logs / f"{ident}.jsonl"
            share = rounds // len(idents) + (turn < rounds % len(idents))
            simulate.write(path, ident, options(ident, turn), share, SEED + turn, progress=progress)
            text, faults = planting.plant(path.read_text(encoding="utf-8"), str(path), turn)
            path.write_text(text, encoding="utf-8")
            planted += faults

    recordings = sorted(str(path) for path in (folder / "recorded").glob("*.gz"))
    paths = [*(str(logs / f"{ident}.jsonl") for ident in idents), *recordings]
    summary = warehouse.load(Reader(paths, check_rules=ruleset.check, scanner=scan.fastest), db, progress=progress)
    return _look(folder, db, summary, planted, recordings)


def _look(
    folder: Path, db: Path, summary: warehouse.Summary, planted: list[planting.Planted], recordings: list[str]
) -> Demo:
    """Asks the data set what was found."""
    with warehouse.connect(db) as connection:
        rows = connection.execute(
            "SELECT source, line, code, site, game, round FROM problems UNION ALL "
            "SELECT source, line, code, NULL, NULL, NULL FROM rejects ORDER BY source, line, code"
        ).fetchall()
    found = {(source, line, code): rest for source, line, code, *rest in rows}
    checked = [(fault, (fault.source, fault.line, fault.code) in found) for fault in planted]
    recorded: dict[str, int] = {}
    for source, _, code, *_ in rows:
        if source in recordings:
            recorded[code] = recorded.get(code, 0) + 1
    places = [found[fault.source, fault.line, fault.code] for fault, seen in checked if seen]
    example = next((dict(zip(("site", "game", "round"), at, strict=True)) for at in places if at[1]), None)
    return Demo(folder, db, summary, checked, dict(sorted(recorded.items())), example and one_round.write(example))
