"""Tables, views and Parquet files: columns as documented, numbers as a plain count gives them."""

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sample_warehouse as sample

from analytics import export, schema, warehouse
from ingest import events
from replay import facts_tables, problems

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample.build(tmp_path_factory.mktemp("built") / "kwx.duckdb")


def load(path: Path, sources: dict[str, list]) -> warehouse.Summary:
    return warehouse.load(
        sample.FakeReader(sources), path, replayer=sample.FakeReplayer(), check_games=sample.lost_rounds
    )


def query(path: Path, sql: str) -> list[tuple]:
    with warehouse.connect(path) as connection:
        return schema.rows(connection, sql)


def test_tables_follow_the_replays_schemas() -> None:
    with duckdb.connect() as connection:
        schema.create_tables(connection)
        for name, expected in (problems.TABLES | facts_tables.TABLES).items():
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
    names = [*schema.table_names(), *schema.DERIVED, *schema.views()]
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
        assert len(rows) == {"overview": 1, "funnel": 8, "invariants": 14}.get(name, 0), name
        assert not [value for row in rows for value in row if isinstance(value, float)], name


def test_views_agree_with_a_plain_count(built: Path) -> None:
    found = sample.dump(built)
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


def test_running_totals_follow_an_account_through_its_game(built: Path) -> None:
    points = {row[:2]: row[2:] for row in query(built, "SELECT round_id, seat, points, recorded_points FROM seats")}
    rows = query(built, "FROM running_totals")
    assert len(rows) == len(points)
    stands: dict = defaultdict(lambda: (0, 0, 0))
    for site, game, _, round_id, seat, player, net, total, recorded, needed in rows:
        now, paid, lowest = stands[site, game, player]
        own, own_paid = points[round_id, seat]
        paid = None if paid is None or own_paid is None else paid + own_paid
        stands[site, game, player] = now + own, paid, min(lowest, now + own)
        assert (net, total, recorded, needed) == (own, now + own, paid, -min(lowest, now + own))
    assert any(needed > 0 for *_, needed in rows)


def test_ids_are_escaped_as_everywhere(tmp_path: Path) -> None:
    load(tmp_path / "db", {"a": [{**sample.logs()[0], "site": "a b/ü", "game": "x/1?'\""}]})
    assert query(tmp_path / "db", "SELECT id FROM round_list") == [("a%20b%2F%C3%BC/x%2F1%3F%27%22/0",)]


def test_events_unpack_as_ingest_does(built: Path) -> None:
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
    stored = {name: rows for name, rows in sample.dump(built).items() if name not in schema.DERIVED}
    assert counts == again == {name: len(rows) for name, rows in stored.items()}
    written = {file.relative_to(tmp_path / "a"): file.read_bytes() for file in (tmp_path / "a").rglob("*.*")}
    assert written == {file.relative_to(tmp_path / "b"): file.read_bytes() for file in (tmp_path / "b").rglob("*.*")}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a", "b"]
    assert Path("rounds/ruleset=hubei/day=unknown/part-0.parquet") in written
    with duckdb.connect() as connection:
        for name, rows in stored.items():
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
