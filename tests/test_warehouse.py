"""The data set: the same whatever the split, the order, a kill or an open reader; documented to the column."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_warehouse as sample

from analytics import export, fill, schema, warehouse
from ingest import events
from replay import problems

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def logs() -> list[dict]:
    return sample.logs()[:120]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.build(tmp_path_factory.mktemp("built") / "kwx.duckdb")


def load(path: Path, sources: dict[str, list], **more) -> warehouse.Summary:
    return warehouse.load(
        sample.FakeReader(sources), path, replayer=sample.FakeReplayer(), check_games=sample.lost_rounds, **more
    )


def query(path: Path, sql: str) -> list[tuple]:
    with warehouse.connect(path) as connection:
        return schema.rows(connection, sql)


def dump(path: Path) -> dict[str, list[tuple]]:
    return {name: query(path, f"SELECT * FROM {name} ORDER BY {export.KEYS[name]}") for name in schema.table_names()}


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


# The same content


def test_one_load_or_many(tmp_path: Path, logs: list[dict]) -> None:
    parts = {"1": logs[:50], "2": [*logs[50:90], "x"], "3": [*logs[90:], *logs[:7], {**logs[4], "base": 3}, "y"]}
    once, many = tmp_path / "once", tmp_path / "many"
    summary = load(once, parts)
    found = [load(many, {name: parts[name]}) for name in parts]
    assert dump(once) == dump(many)
    assert found[-1]["digest"] == summary["digest"] == warehouse.digest(once) == warehouse.digest(many)
    for name in ("records", "rounds", "repeats", "rejects"):
        assert sum(part[name] for part in found) == summary[name]
    assert (summary["repeats"], summary["rejects"]) == (7, 3)


def test_disjoint_logs_in_any_order(tmp_path: Path, logs: list[dict]) -> None:
    parts = {"1": logs[:50], "2": logs[50:90], "3": logs[90:]}
    for name in parts:
        load(tmp_path / "up", {name: parts[name]})
    for name in reversed(parts):
        load(tmp_path / "down", {name: parts[name]})
    assert dump(tmp_path / "up") == dump(tmp_path / "down")


def test_the_same_logs_again_change_nothing(tmp_path: Path, logs: list[dict]) -> None:
    path, parts = tmp_path / "db", {"1": [*logs[:60], logs[3], {**logs[4], "base": 3}, "x"]}
    first = load(path, parts)
    before, state, target = dump(path), files(path), path.resolve().stat()
    again = load(path, parts)
    assert (first["changed"], again["changed"]) == (True, False)
    assert (again["rounds"], again["repeats"], again["rejects"], again["records"]) == (0, 61, 2, 63)
    assert dump(path) == before
    assert files(path) == state
    assert path.resolve().stat().st_mtime_ns == target.st_mtime_ns


def test_a_repeat_and_a_second_record_of_a_round(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"
    load(path, {"a": logs[:10]})
    summary = load(path, {"b": [logs[0], {**logs[1], "base": 7}, logs[10]]})
    assert (summary["rounds"], summary["repeats"], summary["rejects"]) == (1, 1, 1)
    assert query(path, "SELECT source, record, code FROM rejects") == [("b", 1, "duplicate_round")]
    assert query(path, "SELECT base FROM rounds WHERE record = 1 AND source = 'a'") == [(logs[1]["base"],)]
    assert query(path, "SELECT source, records, rounds, repeats, rejects FROM sources ORDER BY source") == [
        ("a", 10, 10, 0, 0), ("b", 3, 1, 1, 1),
    ]  # fmt: skip


def test_a_file_that_has_grown_is_a_new_source(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"
    load(path, {"a": [*logs[:5], "x"]})
    load(path, {"a": [*logs[:5], "x", *logs[5:8]]})
    assert query(path, "SELECT source, records, rounds, repeats, rejects FROM sources ORDER BY records") == [
        ("a", 6, 5, 0, 1), ("a", 9, 3, 5, 1),
    ]  # fmt: skip
    assert query(path, "SELECT count(*), count(DISTINCT sha256) FROM rejects") == [(2, 2)]


def test_reading_a_source_again_under_other_claims(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"
    unreadable = sample.FakeReader({"a": ["x"] * 4})
    readable = sample.FakeReader({"a": logs[:4]})
    for reader in (unreadable, readable, readable, unreadable):
        table = reader.sources
        reader.sources = lambda table=table: _same_content(table())
        warehouse.load(reader, path, replayer=sample.FakeReplayer(), check_games=sample.lost_rounds)
        reader.sources, reader.known = table, {}
    assert query(path, "SELECT records, rounds, repeats, rejects FROM sources") == [(4, 4, 0, 0)]
    assert query(path, "SELECT count(*) FROM rejects") == [(0,)]


def _same_content(sources: pa.Table) -> pa.Table:
    place = sources.schema.get_field_index("sha256")
    return sources.set_column(place, "sha256", pa.array(["0" * 64] * sources.num_rows))


def test_members_of_one_name(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"
    for _ in range(2):
        reader = sample.FakeReader({"z/a": [*logs[:3], "x"]})
        reader.given = _Twice(reader.given)
        warehouse.load(reader, path, replayer=sample.FakeReplayer(), check_games=sample.lost_rounds)
    assert query(path, "SELECT source, records, rounds, repeats, rejects FROM sources") == [("z/a", 8, 3, 3, 2)]
    assert query(path, "SELECT count(*) FROM rejects") == [(2,)]


class _Twice(dict):
    def items(self):
        return [*super().items(), *super().items()]


def test_a_game_is_judged_over_all_its_loads(tmp_path: Path, logs: list[dict]) -> None:
    path, game = tmp_path / "db", logs[:8]
    load(path, {"a": [*game[:2], *game[4:6]]})
    lost = "SELECT round FROM problems WHERE code = 'lost_round' ORDER BY round"
    verdicts = "SELECT round FROM rounds WHERE verdict <> own_verdict ORDER BY round"
    assert query(path, lost) == query(path, verdicts) == [(4,)]
    assert load(path, {"b": [game[7]]})["violation"] == 1
    assert query(path, lost) == query(path, verdicts) == [(4,), (7,)]
    load(path, {"c": game[2:4]})
    assert query(path, lost) == query(path, verdicts) == [(7,)]
    load(path, {"d": [game[6]]})
    assert query(path, lost) == query(path, verdicts) == []


def test_buffers_and_parts_leave_no_trace(tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"1": [*logs[:3], *logs[4:]]}
    plain = load(tmp_path / "plain", parts)
    monkeypatch.setattr(fill, "ROW_GROUP", 7)
    monkeypatch.setattr(fill, "GAME_ROUNDS", 11)
    assert load(tmp_path / "small", parts) == plain
    assert dump(tmp_path / "small") == dump(tmp_path / "plain")


def test_the_digest_sees_every_row_and_column(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copyfile(built.resolve(), copy)
    with duckdb.connect(str(copy)) as connection:
        seen = {schema.digest(connection)}
        for name in schema.table_names():
            connection.execute("BEGIN")
            connection.execute(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1")
            seen.add(schema.digest(connection))
            connection.execute("ROLLBACK")
        for column, value in (("verdict", "'x'"), ("record", "record + 1"), ("time_ms", "1"), ("times", "[1, 2]")):
            connection.execute("BEGIN")
            connection.execute(f"UPDATE rounds SET {column} = {value} WHERE record = 5")
            seen.add(schema.digest(connection))
            connection.execute("ROLLBACK")
        assert len(seen) == 1 + len(schema.table_names()) + 4
        assert schema.digest(connection) in seen


# Files, kills, readers


def test_a_reader_stays_open_while_loads_go_on(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"
    load(path, {"a": logs[:10]})
    reader = warehouse.connect(path)
    seen = []
    load(
        path, {"b": logs[10:30]}, progress=lambda rounds: seen.append(reader.cursor().execute("FROM rounds").fetchall())
    )
    assert [len(rows) for rows in seen] == [10]
    for part in range(3, 8):
        load(path, {str(part): logs[part * 10 : part * 10 + 10]})
        assert len(reader.cursor().execute("SELECT * FROM rounds").fetchall()) == 10
        assert len([name for name in files(path) if re.search(r"\.[0-9a-f]{16}$", name)]) == 2
    reader.close()
    assert query(path, "SELECT count(*) FROM rounds") == [(80,)]


def test_killed_at_any_time_and_run_again(tmp_path: Path, logs: list[dict]) -> None:
    whole = load(tmp_path / "whole", {"a": logs[:40], "b": logs[40:]})
    path = tmp_path / "killed" / "db"
    path.parent.mkdir()
    load(path, {"a": logs[:40]})
    before, version = dump(path), warehouse.version(path)
    for step in ("feed", "insert", "games", "COMMIT", "CHECKPOINT", "sync", "replace", "symlink"):
        run = subprocess.run(
            [sys.executable, "-c", KILLED, step, str(path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/tests"},
        )
        assert run.returncode == -signal.SIGKILL, step
        assert warehouse.version(path) == version
        assert dump(path) == before
    assert load(path, {"a": logs[:40], "b": logs[40:]})["digest"] == whole["digest"]
    assert dump(path) == dump(tmp_path / "whole")
    assert files(path) == sorted(["db", "db.lock", version, warehouse.version(path)])


KILLED = """
import os, signal, sys
import sample_warehouse as sample
from analytics import fill, schema, warehouse
step, path = sys.argv[1:]
logs = sample.logs()[40:120]

def dying(function, when=lambda *arguments: True):
    def call(*arguments, **more):
        if when(*arguments):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **more)
    return call

def on_second(*arguments, calls=[]):
    calls.append(1)
    return len(calls) == 2

replayer = sample.FakeReplayer()
if step == "feed":
    replayer.feed = dying(replayer.feed, on_second)
elif step == "insert":
    schema.insert = dying(schema.insert, on_second)
elif step == "games":
    sample.lost_rounds = dying(sample.lost_rounds)
elif step in ("COMMIT", "CHECKPOINT"):
    class Connection:
        def __init__(self, real): self.real = real
        def __getattr__(self, name): return getattr(self.real, name)
        def execute(self, sql, *more):
            if sql == step: os.kill(os.getpid(), signal.SIGKILL)
            return self.real.execute(sql, *more)
    real = warehouse._load
    warehouse._load = lambda connection, *more: real(Connection(connection), *more)
elif step == "sync":
    os.fsync = dying(os.fsync)
elif step == "symlink":
    os.symlink = dying(os.symlink)
else:
    os.replace = dying(os.replace, on_second)
warehouse.load(sample.FakeReader({"b": logs}, 30), path, replayer=replayer, check_games=sample.lost_rounds)
"""


def test_an_error_leaves_the_old_data_set(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"

    def break_off(rounds: int) -> None:
        raise KeyboardInterrupt

    for before in ([], ["db", "db.lock"]):
        with pytest.raises(KeyboardInterrupt):
            load(path, {"b": logs[:20]}, progress=break_off)
        state = files(path)
        assert [name for name in state if not re.search(r"\.[0-9a-f]{16}$", name)] == (before or ["db.lock"])
        load(path, {"a": logs[20:30]})
    assert query(path, "SELECT count(*) FROM rounds") == [(10,)]


def test_two_loads_at_once(tmp_path: Path, logs: list[dict]) -> None:
    path = tmp_path / "db"

    def meanwhile(rounds: int) -> None:
        with pytest.raises(warehouse.WarehouseError, match="another process is loading into it"):
            load(path, {"b": logs[5:9]})

    load(path, {"a": logs[:5]}, progress=meanwhile)
    assert query(path, "SELECT count(*) FROM rounds") == [(5,)]


def test_what_is_no_data_set_is_left_alone(tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "db"

    def refused(message: str) -> None:
        with pytest.raises(warehouse.WarehouseError, match=message):
            load(path, {"a": logs[:3]})

    with pytest.raises(warehouse.WarehouseError, match="no such data set"):
        warehouse.connect(path)
    path.write_text("notes")
    refused("is no data set of kwx")
    with pytest.raises(warehouse.WarehouseError, match="cannot be opened"):
        warehouse.connect(path)
    assert path.read_text() == "notes"
    path.unlink()
    (tmp_path / "elsewhere").write_text("notes")
    path.symlink_to("elsewhere")
    refused("name the data set itself")
    path.unlink()
    target = tmp_path / "db.0123456789abcdef"
    path.symlink_to(target.name)
    refused("db.0123456789abcdef is missing")
    target.write_text("notes" * 5000)
    refused("cannot be opened")
    assert target.read_text() == "notes" * 5000
    target.unlink()
    with duckdb.connect(str(target)) as connection:
        connection.execute("CREATE TABLE rounds (round_id UBIGINT)")
    refused("another version of kwx")
    path.unlink()
    monkeypatch.setattr(os, "symlink", _no_symlink)
    refused("symbolic links")
    assert files(path) == [target.name, "db.lock", "elsewhere"]
    with pytest.raises(warehouse.WarehouseError, match="does not exist"):
        load(tmp_path / "no" / "db", {"a": logs[:3]})


def _no_symlink(*arguments) -> None:
    raise PermissionError(1, "Operation not permitted")


# Columns, views, documents


def test_tables_follow_the_replays_schemas() -> None:
    with duckdb.connect() as connection:
        schema.create_tables(connection)
        for name, expected in problems.TABLES.items():
            found = connection.sql(f"SELECT * FROM {name}").to_arrow_table().schema
            assert [field.name for field in found][: len(expected)] == expected.names
            for field in expected:
                plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
                assert _like(plain) == _like(found.field(field.name).type), (name, field.name)


def _like(kind: pa.DataType) -> str:
    return re.sub(
        r"fixed_size_|\[\d+\]|list<\w+: (\w+)[^>]*>", lambda hit: f"list {hit[1]}" if hit[1] else "", str(kind)
    )


def test_the_document_names_every_table_view_and_column(built: Path) -> None:
    text = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    written = {}
    for name, body in re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.M | re.S):
        written[name] = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]* \| [^|]+ \|$", body, re.M)
    names = [*schema.table_names(), *schema.views()]
    assert list(written) == names
    for name in names:
        assert written[name] == [row[:2] for row in query(built, f'DESCRIBE "{name}"')], name


def test_views_say_grain_units_and_order() -> None:
    for name, text in schema.views().items():
        assert re.match(r"-- Grain: .*\n(-- .*\n)*-- Units: ", text), name
        assert len(re.findall(r"^SELECT", text, re.M)) == 1, name
        assert re.search(r"^ORDER BY", text, re.M) or name == "overview", name
        assert not re.search(r"\bnow\(|current_|random\(", text), name


def test_every_view_answers_on_an_empty_data_set(tmp_path: Path) -> None:
    summary = load(tmp_path / "db", {})
    assert summary == {**dict.fromkeys(summary, 0), "digest": summary["digest"], "changed": True}
    for name in schema.views():
        rows = query(tmp_path / "db", f"FROM {name}")
        assert len(rows) == {"overview": 1, "funnel": 8}.get(name, 0), name
        assert not [value for row in rows for value in row if isinstance(value, float)], name


def test_views_agree_with_a_plain_count(built: Path) -> None:
    found = dump(built)
    with warehouse.connect(built) as connection:
        view = {name: connection.sql(f"FROM {name}").to_arrow_table().to_pylist() for name in schema.views()}
        rounds = {row["round_id"]: row for row in connection.sql("FROM rounds").to_arrow_table().to_pylist()}
        seats = connection.sql("FROM seats").to_arrow_table().to_pylist()
        wins = connection.sql("FROM wins").to_arrow_table().to_pylist()
    overview = view["overview"][0]
    verdicts = Counter(row["verdict"] for row in rounds.values())
    assert {name: overview[name] for name in problems.VERDICTS} == verdicts
    assert overview["records"] == overview["rounds"] + overview["repeats"] + overview["rejects"]
    assert overview["rejects"] == len(found["rejects"])
    assert overview["mispaid"] == sum(row["mispaid"] or 0 for row in rounds.values()) > 0
    assert overview["clean_share"] == verdicts["clean"] / len(rounds)
    assert overview["accounts"] == len({row["player"] for row in seats})
    assert {row["stage"]: row["n"] for row in view["funnel"]} == {
        **{name: overview[name] for name in ("records", "repeats", "rejects", "rounds", *problems.VERDICTS)}
    }
    assert {(row["ruleset"], row["by"]): row["wins"] for row in view["win_kinds"]} == Counter(
        (rounds[row["round_id"]]["ruleset"], row["by"]) for row in wins
    )
    odd = [(row["round_id"], row["seat"]) for row in seats if row["recorded_points"] not in (None, row["points"])]
    assert sorted((row["round_id"], row["seat"]) for row in view["payouts_anomalies"]) == sorted(odd)
    assert sum(abs(row["difference"]) for row in view["payouts_anomalies"]) == 2 * overview["mispaid"]
    net: dict = defaultdict(int)
    for row in seats:
        at = rounds[row["round_id"]]["time_ms"]
        net[row["player"], at and datetime.fromtimestamp(at / 1000, UTC).date()] += row["points"]
    assert {(row["player"], row["day"]): row["points"] for row in view["daily_net"]} == net
    for role, is_dealer in (("dealer", True), ("other", False)):
        here = [row for row in view["dealer_against_others"] if (row["role"], row["statistic"]) == (role, "win")]
        assert sum(row["k"] for row in here) == sum(row["won"] for row in seats if row["is_dealer"] == is_dealer)
        assert sum(row["n"] for row in here) == sum(row["is_dealer"] == is_dealer for row in seats)
        assert all(0 <= row["low"] <= row["rate"] <= row["high"] <= 1 for row in here)
    causes: dict = defaultdict(int)
    for row in view["seat_causes"]:
        causes[row["round_id"], row["seat"]] += row["points"]
    assert all(causes[row["round_id"], row["seat"]] == row["points"] for row in seats)
    assert [row["points"] for row in view["largest_wins"]] == sorted((row["points"] for row in wins), reverse=True)
    assert sum(row["rounds"] for row in view["days"]) == sum(row["rounds"] for row in view["verdicts"]) == len(rounds)
    assert len(view["round_list"]) == len(rounds)
    assert {row["id"]: row["points"] for row in view["round_list"]}["oracle/xiangyang-20261130-0/0"] == [100, -100, 0]


def test_ids_are_escaped_as_everywhere(tmp_path: Path, logs: list[dict]) -> None:
    load(tmp_path / "db", {"a": [{**logs[0], "site": "a b/ü", "game": "x/1?'\""}]})
    assert query(tmp_path / "db", "SELECT id FROM round_list") == [("a%20b%2F%C3%BC/x%2F1%3F%27%22/0",)]


def test_events_unpack_as_ingest_does(built: Path, logs: list[dict]) -> None:
    rows = query(built, "SELECT round_id, events FROM rounds ORDER BY round_id LIMIT 40")
    for round_id, packed in rows:
        view = query(built, f"SELECT * EXCLUDE (round_id) FROM events WHERE round_id = {round_id}")
        plain = events.unpack(np.array(packed, np.uint32))
        for n, row in enumerate(view):
            verb = events.VERBS[plain["verb"][n]]
            seat = None if verb in "ez" else plain["seat"][n]
            tile, source = (None if plain[name][n] == 255 else plain[name][n] for name in ("tile", "source"))
            hidden = plain["hidden"][n] if verb == "l" else None
            assert row == (n, n, seat, verb, tile, source, hidden, None)
        assert len(view) == len(packed)


# Parquet


def test_parquet_is_lossless_and_the_same_every_time(built: Path, tmp_path: Path, monkeypatch) -> None:
    counts = export.write(built, tmp_path / "a")
    again = export.write(built, tmp_path / "b")
    export.write(built, tmp_path / "b")
    assert counts == again == {name: len(rows) for name, rows in dump(built).items()}
    written = {file.relative_to(tmp_path / "a"): file.read_bytes() for file in (tmp_path / "a").rglob("*.*")}
    assert written == {file.relative_to(tmp_path / "b"): file.read_bytes() for file in (tmp_path / "b").rglob("*.*")}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]
    assert Path("rounds/ruleset=hubei/day=unknown/part-0.parquet") in written
    with duckdb.connect() as connection:
        for name, rows in dump(built).items():
            types = query(built, f"DESCRIBE {name}")
            columns = ", ".join(f'CAST("{row[0]}" AS {row[1]})' for row in types)
            path = f"read_parquet('{tmp_path}/a/{name}/**/*.parquet', hive_partitioning = true)"
            assert schema.rows(connection, f"SELECT {columns} FROM {path} ORDER BY {export.KEYS[name]}") == rows
        days = f"SELECT DISTINCT day FROM read_parquet('{tmp_path}/a/seats/**/*.parquet', hive_types_autocast = 0)"
        assert {day for (day,) in schema.rows(connection, days)} == {"unknown", *(f"2026-05-0{n}" for n in range(1, 5))}
    monkeypatch.setattr(export, "ROW_GROUP", 10)
    export.write(built, tmp_path / "b")
    parts = pq.ParquetFile(tmp_path / "b" / "seats/ruleset=hubei/day=unknown/part-0.parquet")
    assert [parts.metadata.row_group(n).num_rows for n in range(parts.num_row_groups)] == [10, 5]


def test_parquet_of_an_empty_data_set(tmp_path: Path) -> None:
    load(tmp_path / "db", {})
    assert set(export.write(tmp_path / "db", tmp_path / "out").values()) == {0}
    assert pq.read_table(tmp_path / "out" / "seats" / "part-0.parquet").num_rows == 0


def test_parquet_replaces_nothing_else(built: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("keep")
    with pytest.raises(warehouse.WarehouseError, match="no Parquet export"):
        export.write(built, tmp_path / "out")
    assert (tmp_path / "out" / "letter.txt").read_text() == "keep"
