"""The sums that statistics are answered from: equal to the rounds, however these were loaded."""

from pathlib import Path

import duckdb
import pytest
import sample_warehouse as sample

from analytics import schema, sittings, warehouse
from ingest.read import Reader
from replay import ruleset
from replay.simulate import write as simulate

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def logs() -> list[dict]:
    return sample.logs()[:120]


def load(path: Path, sources: dict[str, list]) -> None:
    warehouse.load(
        sample.FakeReader(sources), path, replayer=sample.FakeReplayer(), check_games=sample.lost_rounds
    )


def dump(path: Path) -> list[tuple]:
    with warehouse.connect(path) as connection:
        return schema.rows(connection, "FROM sittings ORDER BY ALL")


def plain(path: Path) -> list[tuple]:
    with warehouse.connect(path) as connection:
        names = sittings.counts(connection)
        sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in names)
        keys = ", ".join(sittings.KEYS)
        query = f"SELECT {keys}, min(time_ms), {sums} FROM seat_rounds GROUP BY ALL ORDER BY ALL"
        return schema.rows(connection, query)


def test_they_are_the_rounds_added_up(tmp_path: Path, logs: list[dict]) -> None:
    load(tmp_path / "db", {"a": logs})
    assert dump(tmp_path / "db") == plain(tmp_path / "db")
    assert len(dump(tmp_path / "db")) > 100


def test_however_they_came(tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    load(tmp_path / "once", {"a": logs})
    monkeypatch.setattr(sittings, "PART_ROUNDS", 17)
    for part in (logs[:5], logs[3:70], logs[::-1], logs[:2]):
        load(tmp_path / "parts", {"a": part})
    assert dump(tmp_path / "parts") == dump(tmp_path / "once")


def test_a_new_definition_sums_all_again(tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch) -> None:
    load(tmp_path / "db", {"a": logs[:40]})
    before = warehouse.version(tmp_path / "db")
    changed = schema.views() | {
        "seat_rounds": schema.views()["seat_rounds"].replace("1 AS rounds", "2 AS rounds")
    }
    monkeypatch.setattr(schema, "views", lambda: changed)
    load(tmp_path / "db", {"a": logs[:40]})
    assert warehouse.version(tmp_path / "db") != before
    with warehouse.connect(tmp_path / "db") as connection:
        assert schema.rows(connection, "SELECT sum(rounds)::BIGINT FROM sittings") == [(240,)]


def test_a_data_set_from_before_gets_them(tmp_path: Path, logs: list[dict]) -> None:
    load(tmp_path / "db", {"a": logs[:40]})
    expected = dump(tmp_path / "db")
    with duckdb.connect(str((tmp_path / "db").resolve())) as connection:
        connection.execute("DROP TABLE sittings")
    load(tmp_path / "db", {"b": logs[40:50]})
    assert dump(tmp_path / "db") == plain(tmp_path / "db")
    assert len(dump(tmp_path / "db")) > len(expected)


def test_batches_sum_as_the_view_does(tmp_path: Path) -> None:
    """All counters, whatever was played, recorded, broken off or falsified, with facts; in one load and in several."""
    simulate(tmp_path / "a.jsonl", "3d_shiyan", {"stake.fee": 1}, 120, 11)
    simulate(tmp_path / "b.jsonl", "qichun", None, 60, 2)
    simulate(tmp_path / "c.jsonl", "kwx-server_xiangyang", None, 60, 3)
    lines = [line for name in "abc" for line in (tmp_path / f"{name}.jsonl").read_bytes().splitlines()]
    lines[::17] = [line.replace(b'"players":["', b'"players":["other-') for line in lines[::17]]
    (tmp_path / "mixed.jsonl").write_bytes(b"\n".join(sorted(lines, key=lambda line: line[300:330])))
    others = [*sorted((DATA / "broken").glob("*.jsonl")), DATA / "cases" / "rounds.jsonl.gz"]
    for name, parts in (("one", [["mixed.jsonl", *others]]), ("more", [["b.jsonl"], ["mixed.jsonl"], others])):
        for part in parts:
            reader = Reader([tmp_path / path for path in part], check_rules=ruleset.check, batch_rounds=70)
            warehouse.load(reader, tmp_path / name)
        assert dump(tmp_path / name) == plain(tmp_path / name)
    with warehouse.connect(tmp_path / "one") as connection:
        assert sittings.streamed(connection)
        names = sittings.counts(connection)
        sums = ", ".join(f"sum(abs({column}))" for column in names)
        found = schema.rows(connection, f"SELECT {sums} FROM sittings")[0]
        assert [name for name, number in zip(names, found, strict=True) if not number] == []


def test_what_batches_do_not_know_is_summed_from_the_view(
    tmp_path: Path, logs: list[dict], monkeypatch: pytest.MonkeyPatch
) -> None:
    select = schema.views()["seat_rounds"].replace("1 AS rounds", "1 AS rounds, 3 AS thrice")
    changed = schema.views() | {"seat_rounds": select}
    monkeypatch.setattr(schema, "views", lambda: changed)
    for part in (logs[:30], logs[20:50]):
        load(tmp_path / "db", {"a": part})
    assert dump(tmp_path / "db") == plain(tmp_path / "db")
    with warehouse.connect(tmp_path / "db") as connection:
        assert not sittings.streamed(connection)
        assert schema.rows(connection, "SELECT sum(rounds)::BIGINT, sum(thrice)::BIGINT FROM sittings") == [(150, 450)]
