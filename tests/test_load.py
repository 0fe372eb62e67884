"""From logs to the data set with the real reader and engine: right, repeatable, whole after a kill."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
import sample_warehouse as sample

from analytics import schema, warehouse
from ingest.read import Reader
from replay import ruleset

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
CASES = DATA / "cases" / "rounds.jsonl.gz"
ROWS = ROOT / "analytics" / "recorded" / "sx_18_xy_full_cap8_swapped-draws.rows.jsonl.gz"


def load(path: Path, *logs: Path) -> warehouse.Summary:
    return warehouse.load(Reader([str(log) for log in logs], check_rules=ruleset.check), path)


def query(path: Path, sql: str) -> list[tuple]:
    with warehouse.connect(path) as connection:
        return schema.rows(connection, sql)


def lines(path: Path) -> list[bytes]:
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cases") / "kwx.duckdb"
    summary = load(path, CASES)
    assert {name: count for name, count in summary.items() if count == len(lines(CASES))} == {
        name: summary[name] for name in ("records", "rounds", "clean")
    }
    return path


def test_the_ledger_is_what_it_should_be(cases: Path) -> None:
    expected, dealers = {}, {}
    for line in lines(CASES):
        log = json.loads(line)
        name = f"{log['site']}/{log['game']}/{log['round']}"
        dealers[name] = log["_expect"]["next_dealer"]
        expected[name] = {cause: net for cause, net in log["_expect"]["ledger"].items() if any(net)}
    found: dict = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
    for name, seat, cause, points in query(
        cases, "SELECT id, seat, cause, seat_causes.points FROM seat_causes JOIN round_list USING (round_id)"
    ):
        found[name][cause][seat] = points
    for name, causes in expected.items():
        assert {cause: net for cause, net in found[name].items() if any(net)} == causes, name
    assert dict(query(cases, "SELECT id, next_dealer FROM rounds JOIN round_list USING (round_id)")) == dealers


def test_tables_agree_with_one_another(cases: Path) -> None:
    none = (
        # a seat's points are the sum of its ledger rows, fee apart
        "SELECT round_id, seat FROM seats LEFT JOIN (SELECT round_id, seat, sum(points) AS net FROM seat_causes "
        "WHERE cause <> 'fee' GROUP BY ALL) USING (round_id, seat) WHERE points <> coalesce(net, 0)",
        # a win's winner won, its fans are its rows in win_fans, it took the last event
        "SELECT * FROM wins JOIN seats USING (round_id, seat) WHERE NOT won",
        "SELECT round_id FROM wins LEFT JOIN (SELECT round_id, win_no, sum(count) AS n FROM win_fans GROUP BY ALL) "
        "USING (round_id, win_no) WHERE len(fans) <> coalesce(n, 0)",
        "SELECT round_id FROM (SELECT round_id, count(*) AS n FROM wins GROUP BY ALL) RIGHT JOIN rounds "
        "USING (round_id) WHERE winners <> coalesce(n, 0)",
        "SELECT round_id FROM (SELECT round_id, count(*) AS n FROM events GROUP BY ALL) RIGHT JOIN rounds "
        "USING (round_id) WHERE events_count <> coalesce(n, 0)",
        "SELECT round_id FROM rounds JOIN seats USING (round_id) WHERE is_dealer <> (seat = dealer)",
        "SELECT round_id FROM seats GROUP BY round_id HAVING count(*) <> 3 OR sum(points) <> 0",
        "SELECT * FROM reveals JOIN seats USING (round_id, seat) WHERE NOT revealed",
        "SELECT source FROM sources WHERE records <> rounds + repeats + rejects",
    )
    for sql in none:
        assert query(cases, sql) == [], sql


def test_loads_in_parts_give_the_same(cases: Path, tmp_path: Path) -> None:
    kwx, rows = lines(CASES), lines(ROWS)
    parts = {"a.jsonl": kwx[:101], "b.jsonl": rows[:40], "c.jsonl": kwx[95:], "d.jsonl": rows[36:]}
    for name, content in parts.items():
        (tmp_path / name).write_bytes(b"".join(content))
    once = load(tmp_path / "once", *(tmp_path / name for name in parts))
    found = [load(tmp_path / "parts", tmp_path / name) for name in parts]
    assert sample.dump(tmp_path / "parts") == sample.dump(tmp_path / "once")
    assert found[-1]["digest"] == once["digest"]
    assert sum(part["repeats"] for part in found) == once["repeats"] == 6 + 4
    again = load(tmp_path / "parts", *(tmp_path / name for name in parts))
    assert (again["changed"], again["rounds"], again["repeats"]) == (False, 0, sum(map(len, parts.values())))
    assert again["digest"] == once["digest"]


def test_games_are_judged_over_loads(tmp_path: Path) -> None:
    kwx = lines(CASES)
    logs = {"a": kwx[:3] + kwx[4:8], "b": kwx[3:4]}
    for name, content in logs.items():
        (tmp_path / name).write_bytes(b"".join(content))
    assert load(tmp_path / "db", tmp_path / "a")["violation"] == 1
    assert query(tmp_path / "db", "SELECT code, round FROM problems") == [("lost_round", 4)]
    assert load(tmp_path / "db", tmp_path / "b")["clean"] == 1
    assert query(tmp_path / "db", "SELECT verdict, count(*) FROM rounds GROUP BY ALL") == [("clean", 8)]
    assert query(tmp_path / "db", "FROM problems") == []


def test_broken_logs_leave_a_row_each(tmp_path: Path) -> None:
    logs = sorted((DATA / "broken").iterdir())
    first = load(tmp_path / "db", *logs)
    assert load(tmp_path / "db", *logs)["changed"] is False
    assert query(tmp_path / "db", "SELECT count(*), count(DISTINCT code) FROM rejects")[0][0] == first["rejects"]
    sums = "SELECT sum(records)::BIGINT, sum(rounds)::BIGINT, sum(repeats)::BIGINT, sum(rejects)::BIGINT FROM sources"
    assert query(tmp_path / "db", sums) == [tuple(first[name] for name in ("records", "rounds", "repeats", "rejects"))]
    assert query(tmp_path / "db", "SELECT count(*) FROM rounds") == [(first["rounds"],)]
    codes = "SELECT code FROM rejects UNION SELECT code FROM problems ORDER BY code"
    assert {code for (code,) in query(tmp_path / "db", codes)} >= {log.name.split(".")[0] for log in logs}


def test_killed_while_it_loads(cases: Path, tmp_path: Path) -> None:
    path = tmp_path / "kwx.duckdb"
    command = [sys.executable, str(ROOT / "kwx.py"), "run", str(ROWS), str(CASES), "--db", str(path)]
    load(path, ROWS)
    before = warehouse.version(path)
    for delay in (0.0, 0.4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not path.with_name(path.name + ".new").exists():
            time.sleep(0.01)
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            assert warehouse.version(path) == before
            assert query(path, "SELECT count(*) FROM rounds") == [(len(lines(ROWS)),)]
    finished = subprocess.run([*command, "--json"], capture_output=True, text=True)
    summary = json.loads(finished.stdout.splitlines()[-1])
    assert (finished.returncode, summary["rounds"] + summary["repeats"]) == (0, len(lines(ROWS)) + len(lines(CASES)))
    whole = load(tmp_path / "whole", ROWS, CASES)
    assert summary["digest"] == whole["digest"]
    assert sample.dump(path) == sample.dump(tmp_path / "whole")
    assert not [file.name for file in tmp_path.iterdir() if ".new" in file.name or ".link" in file.name]
