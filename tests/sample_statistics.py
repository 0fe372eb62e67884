"""A small data set of simulated and recorded rounds beside a slow reading of its lines: for tests of statistics.

The fixtures are the suite's (conftest.py): measured_lines, measured_slow, and measured, a connection.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import slow_reading
from oracle import play

from analytics import warehouse
from ingest.read import Reader
from ingest.write import write
from replay import ruleset, simulate

ROOT = Path(__file__).parent.parent
RECORDED = "sx_07_xg_shukan_chkming_cap16"
MISPAID = {12: [-3, -3, 6], 22: [-4, 9, -5]}  # lines of the recording, and what the rules make of them
PLAYED = (
    ("hubei", 150, 47, {}), ("qichun", 110, 6, {}), ("xiangyang_unlimited", 90, 8, {"score.cap": 8}),
    ("3d_xiaogan", 90, 7, {"stake.fee": 1, "side.piao_max": 2, "side.horse": "last_tile"}),
)  # fmt: skip


@pytest.fixture(scope="session")
def measured_lines(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """kwx logs: simulated, and recordings of public servers written as such."""
    folder = tmp_path_factory.mktemp("lines")
    for rules, rounds, seed, options in PLAYED:
        simulate.write(folder / f"{rules}.jsonl", rules, options, rounds, seed, accounts=7, slot_ms=20_000_000)
    rows = ROOT / "analytics" / "recorded" / f"{RECORDED}.rows.jsonl.gz"
    write(Reader([str(rows)], check_rules=ruleset.check), folder / f"{RECORDED}.jsonl")
    return sorted(folder.iterdir())


@pytest.fixture(scope="session")
def measured_slow(measured_lines: list[Path]) -> list[dict]:
    logs = []
    for path in measured_lines:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            log = json.loads(line)
            if path.name.startswith(RECORDED) and number in MISPAID:
                log["result"]["points"] = MISPAID[number]
            logs.append(filled(log))
    return [row for log in logs for row in slow_reading.seats_of(log)]


def filled(log: dict) -> dict:
    """The round with what its platform did not record taken from the literal player; it agrees with what there is."""
    outcome = play(log, ruleset.load(log["rules"], log.get("options", {})).values)
    told = {"end": outcome["end"], "kongs": outcome["kongs"], "wins": outcome["wins"], "points": outcome["points"]}
    for name in ("end", "kongs", "points"):
        assert log["result"].get(name, told[name]) == told[name], (log["game"], log["round"], name)
    return log | {"result": told | log["result"]}


@pytest.fixture(scope="session")
def measured(
    measured_lines: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[duckdb.DuckDBPyConnection]:
    path = tmp_path_factory.mktemp("data") / "kwx.duckdb"
    summary = warehouse.load(Reader([str(path) for path in measured_lines], check_rules=ruleset.check), path)
    assert (summary["clean"] + 2, summary["mismatch"]) == (sum(rounds for _, rounds, *_ in PLAYED) + 64, 2)
    with warehouse.connect(path) as connection:
        yield connection
