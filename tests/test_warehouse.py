"""The data set: the same whatever the split, the order, a kill or an open reader; documented to the column."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sample_warehouse as sample

from analytics import export, fill, schema, warehouse
from replay import facts_tables

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


def files(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


# The same content


def test_one_load_or_many(tmp_path: Path, logs: list[dict]) -> None:
    parts = {"1": logs[:50], "2": [*logs[50:90], "x"], "3": [*logs[90:], *logs[:7], {**logs[4], "base": 3}, "y"]}
    once, many = tmp_path / "once", tmp_path / "many"
    summary = load(once, parts)
    found = [load(many, {name: parts[name]}) for name in parts]
    assert sample.dump(once) == sample.dump(many)
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
    assert sample.dump(tmp_path / "up") == sample.dump(tmp_path / "down")


def test_the_same_logs_again_change_nothing(tmp_path: Path, logs: list[dict]) -> None:
    path, parts = tmp_path / "db", {"1": [*logs[:60], logs[3], {**logs[4], "base": 3}, "x"]}
    first = load(path, parts)
    before, state, target = sample.dump(path), files(path), path.resolve().stat()
    again = load(path, parts)
    assert (first["changed"], again["changed"]) == (True, False)
    assert (again["rounds"], again["repeats"], again["rejects"], again["records"]) == (0, 61, 2, 63)
    assert sample.dump(path) == before
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
    assert sample.dump(tmp_path / "small") == sample.dump(tmp_path / "plain")


def test_the_digest_sees_every_row_and_column(built: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copyfile(built.resolve(), copy)
    with duckdb.connect(str(copy)) as connection:
        seen = {schema.digest(connection)}
        for name in schema.table_names():
            connection.execute("BEGIN")
            if name in facts_tables.TABLES:  # empty here
                key = export.KEYS[name]
                connection.execute(f"INSERT INTO {name} ({key}) VALUES {(1, 0, 'x')[: key.count(',') + 1]}")
            else:
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


def test_an_inserted_table_is_let_go(tmp_path: Path, logs: list[dict]) -> None:
    reader = sample.FakeReader({"a": logs[:1]})
    table = sample.FakeReplayer().feed(next(iter(reader)).rounds)["ledger"].slice(0, 1)
    with duckdb.connect() as connection:
        schema.create_tables(connection)
        connection.execute("BEGIN")
        held = pa.total_allocated_bytes()
        for _ in range(3):
            schema.insert(connection, "ledger", pa.concat_tables([table] * 100_000).combine_chunks())
        assert pa.total_allocated_bytes() - held < 100_000


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
    before, version = sample.dump(path), warehouse.version(path)
    for step in ("feed", "insert", "games", "views", "digest", "sync", "replace", "symlink"):
        run = subprocess.run(
            [sys.executable, "-c", KILLED, step, str(path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT}/tests"},
        )
        assert run.returncode == -signal.SIGKILL, step
        assert warehouse.version(path) == version
        assert sample.dump(path) == before
    assert load(path, {"a": logs[:40], "b": logs[40:]})["digest"] == whole["digest"]
    assert sample.dump(path) == sample.dump(tmp_path / "whole")
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
elif step == "views":  # just before the commit
    schema.create_views = dying(schema.create_views)
elif step == "digest":  # between commit and checkpoint
    schema.digest = dying(schema.digest, on_second)
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


def test_no_space_is_an_error_of_ours(tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "db"
    load(path, {"a": logs[:5]})
    state = files(path)

    def full(connection: duckdb.DuckDBPyConnection) -> None:
        raise duckdb.IOException("IO Error: Could not write file: No space left on device\nmore words")

    monkeypatch.setattr(schema, "create_views", full)
    with pytest.raises(warehouse.WarehouseError, match="db: nothing was loaded: .*No space left on device$"):
        load(path, {"b": logs[5:9]})
    assert files(path) == state
    assert query(path, "SELECT count(*) FROM rounds") == [(5,)]


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
