"""The engine as plain Python gives the same tables as compiled: sound rounds, broken ones, and ones without draws."""

import os
import subprocess
import sys
from pathlib import Path

from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer

ROOT = Path(__file__).parent.parent
BROKEN = ("fifth_tile", "bad_hidden", "changed_after_reveal", "claim_order", "kong_held", "ledger", "points", "horse")
DATA = ROOT / "tests" / "data"
LOGS = [DATA / "suizhou.jsonl", *(DATA / "broken" / f"{name}.jsonl" for name in BROKEN)]


def told(paths: list[str]) -> str:
    """Every value of every table of these logs."""
    replayer, out = Replayer(explain=False), []
    for batch in Reader(paths, check_rules=ruleset.check):
        out += [f"{name} {table.to_pylist()}" for name, table in replayer.feed(batch.rounds).items()]
    return "\n".join(out)


def test_compiled_and_uncompiled_give_the_same_tables() -> None:
    paths = [str(path) for path in LOGS]
    code = "import sys; from test_uncompiled import told; print(told(sys.argv[1:]))"
    folders = f"{ROOT}{os.pathsep}{ROOT / 'tests'}"
    settings = os.environ | {"KWX_JIT": "0", "PYTHONPATH": folders, "PYTHONWARNINGS": "ignore"}
    run = subprocess.run([sys.executable, "-c", code, *paths], env=settings, capture_output=True, text=True, check=True)
    assert run.stdout == told(paths) + "\n"
    assert run.stdout.count("'code': ") >= len(BROKEN)
