"""The node-kwx format: the same rows as JSON lines, CSV and MySQL dumps; what is inferred; what is refused."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from ingest.events import token
from ingest.formats import node_kwx, sql_dump
from ingest.formats.node_kwx_actions import KIND_OF_CODE, translate
from ingest.formats.node_kwx_row import COLUMNS
from ingest.games import Games
from ingest.read import Reader
from ingest.sources import SourceError
from ingest.tiles import NAMES as TILES
from replay import ruleset
from tests.oracle_servers import FOLDER, NAMES, lines

POSITIONS = {"source", "record", "line", "byte", "content", "raw"}


def rows_of(name: str = NAMES[0]) -> list[dict[str, Any]]:
    return lines(f"{name}.rows.jsonl.gz")


def read(path: Path, **options: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rounds and rejects of one file."""
    rounds, rejects = [], []
    reader = Reader([str(path)], check_rules=ruleset.check, **options)
    for batch in reader:
        rounds += batch.rounds.to_pylist()
        rejects += batch.rejects.to_pylist()
    source = reader.sources().to_pylist()[0]
    assert source["records"] == len(rounds) + source["repeats"] + len(rejects)
    return rounds, rejects


def bare(rounds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in entry.items() if key not in POSITIONS} for entry in rounds]


def sql_value(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("'", "''") + "'"


def as_sql(rows: list[dict[str, Any]], columns: tuple[str, ...] = COLUMNS, head: str = "INSERT INTO `t_games`") -> str:
    tuples = ",\n".join("(" + ",".join(sql_value(row[column]) for column in columns) + ")" for row in rows)
    return f"{head} VALUES {tuples};\n"


def write_json(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The rounds of the first recording, read from JSON lines."""
    return bare(read(write_json(tmp_path_factory.mktemp("rows") / "a.jsonl", rows_of()))[0])


def test_a_dump_holds_the_same_rounds(tmp_path: Path, wanted: list[dict[str, Any]]) -> None:
    rows = rows_of()
    other = (COLUMNS[-1], *COLUMNS[:-1])
    text = (
        "-- MySQL dump 10.13\n/*!40101 SET NAMES utf8 */;\n# a comment; with 'quotes\n"
        "CREATE TABLE `t_users` (`a` varchar(9) DEFAULT ';');\n"
        "INSERT INTO `t_users` VALUES ('INSERT INTO t_games VALUES (1)','it''s;','\\'');\n"
        + as_sql(rows[:10])
        + as_sql(rows[10:11], head="replace into db.t_games_archive")
        + as_sql(rows[11:], other, f"INSERT IGNORE INTO `db`.`t_games` ({','.join(f'`{name}`' for name in other)})")
        + "UNLOCK TABLES;\n"
    )
    path = tmp_path / "a.sql"
    path.write_text(text, encoding="utf-8")
    rounds, rejects = read(path)
    assert (bare(rounds), rejects) == (wanted, [])
    data = path.read_bytes()
    assert all(data[entry["byte"] : entry["byte"] + 1] == b"(" for entry in rounds)
    assert [entry["line"] for entry in rounds] == [data[: entry["byte"]].count(b"\n") + 1 for entry in rounds]
    assert [entry["record"] for entry in rounds] == list(range(len(rows)))


@pytest.mark.parametrize("quote", ["`", '"', ""])
@pytest.mark.parametrize("table", ["`t_games`", '"t_games"', "t_games", "`db`.`t_games`"])
@pytest.mark.parametrize("comma", [",", ", "])
def test_a_file_may_start_with_an_insert_that_names_its_columns(
    tmp_path: Path, wanted: list[dict[str, Any]], quote: str, table: str, comma: str
) -> None:
    named = comma.join(f"{quote}{name}{quote}" for name in COLUMNS)
    path = tmp_path / "dump.sql"
    path.write_text(as_sql(rows_of(), head=f"INSERT INTO {table} ({named})"), encoding="utf-8")
    rounds, rejects = read(path)
    assert rejects == [] and bare(rounds) == wanted


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_holds_the_same_rounds(tmp_path: Path, wanted: list[dict[str, Any]], delimiter: str) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(COLUMNS)
    for row in rows_of():
        writer.writerow(["NULL" if row[column] is None else row[column] for column in COLUMNS])
    path = tmp_path / "a.csv"
    path.write_text("\ufeff" + buffer.getvalue(), encoding="utf-8", newline="")
    rounds, rejects = read(path)
    assert (bare(rounds), rejects) == (wanted, [])


@pytest.mark.parametrize("size", [1, 3, 64, 1 << 16])
def test_dump_tokens_may_break_anywhere(size: int) -> None:
    row = dict(zip(COLUMNS, ["a", 1, 'b\\n"(x);', None, "d''e", "/* f */ -- #", ""], strict=True))
    data = as_sql([row, row]).replace("INSERT", "INSERT /* c */ ", 1).encode()
    found = list(sql_dump.rows((data[at : at + size] for at in range(0, len(data), size)), ["t_games"], COLUMNS))
    texts = {column: None if value is None else str(value) for column, value in row.items()}
    assert [entry.values for entry in found] == [texts] * 2
    assert [data[entry.byte : entry.byte + len(entry.raw)] for entry in found] == [entry.raw for entry in found]


def test_broken_dump_rows_are_rejects_and_the_rest_is_read(tmp_path: Path) -> None:
    row = rows_of()[0]
    good = as_sql([row])[:-2]
    text = (
        good + ",(1,2),(NOW(),2,3,4,5,6,7),('" + "x" * (1 << 21) + "',2,3,4,5,6,7)," + good.split("VALUES ")[1]
        + ";\nINSERT INTO `t_games` VALUES ('17"
    )  # fmt: skip
    path = tmp_path / "a.sql"
    path.write_text(text, encoding="utf-8")
    rounds, rejects = read(path)
    assert len(rounds) == 1  # the second copy of the row is a repeat
    assert [reject["code"] for reject in rejects] == ["bad_count", "bad_type", "too_long", "truncated"]
    assert [reject["record"] for reject in rejects] == [1, 2, 3, 5]


def test_broken_csv_records_are_rejects(tmp_path: Path) -> None:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([rows_of()[0][column] for column in COLUMNS])
    good = buffer.getvalue()
    path = tmp_path / "a.csv"
    path.write_text(f"{','.join(COLUMNS)}\r\n1,2\r\n{good}{good[:300]}", encoding="utf-8", newline="")
    rounds, rejects = read(path)
    assert len(rounds) == 1
    assert [(reject["code"], reject["line"]) for reject in rejects] == [("bad_count", 2), ("truncated", 4)]


def changed(column: str, key: str | None, value: object) -> dict[str, Any]:
    """A good row with one column, or one key of base_info or conf, changed; a callable changes what is there."""
    row = rows_of()[0]
    holder: dict[str, Any] = row
    path = [column] if key is None else key.split(".")
    base_info = json.loads(row["base_info"])
    if key is not None:
        holder = base_info
        for part in path[:-1]:
            holder = holder[int(part) if part.isdigit() else part]
    last: Any = int(path[-1]) if path[-1].isdigit() else path[-1]
    if value is KeyError:
        del holder[last]
    else:
        holder[last] = value(holder[last]) if callable(value) else value
    if key is not None:
        row["base_info"] = json.dumps(base_info, separators=(",", ":"))
    return row


REFUSED = [
    ("base_info", None, lambda text: text[:1024][:400], "truncated", "base_info"),
    ("base_info", None, lambda text: text + "x", "bad_json", "base_info"),
    ("base_info", None, "[]", "bad_type", "base_info"),
    ("base_info", None, None, "missing_key", "base_info"),
    ("base_info", None, KeyError, "missing_key", "base_info"),
    ("action_records", None, lambda text: text[:100], "truncated", "action_records"),
    ("action_records", None, "[0,1", "truncated", "action_records"),
    ("action_records", None, "[0,1]", "bad_count", "action_records"),
    ("action_records", None, "[0,1,1.0]", "bad_type", "action_records"),
    ("action_records", None, "[0,1,NaN]", "bad_json", "action_records"),
    ("action_records", None, "[3,1,1]", "bad_token", "action_records"),
    ("action_records", None, "[0,8,1]", "bad_token", "action_records"),
    ("action_records", None, "[0,1,18]", "bad_tile", "action_records"),
    ("action_records", None, "[" * 100_000, "bad_json", "action_records"),
    ("result", None, "[1,-1,0,", "truncated", "result"),
    ("result", None, "[1,-1]", "bad_count", "result"),
    ("result", None, "[1,-1,0,5]", "bad_value", "result.3"),
    ("result", None, '["1",true,0,0]', "bad_type", "result.1"),
    ("game_index", None, "x", "bad_type", "game_index"),
    ("game_index", None, -1, "bad_value", "game_index"),
    ("game_index", None, 5, "bad_value", "base_info.index"),
    ("room_uuid", None, "", "bad_type", "room_uuid"),
    ("create_time", None, 1.5, "bad_type", "create_time"),
    ("create_time", None, 1 << 60, "bad_value", "create_time"),
    ("extra", None, 1, "unknown_key", "extra"),
    ("base_info", "mahjongs", lambda tiles: tiles[1:], "bad_count", "base_info.mahjongs"),
    ("base_info", "mahjongs.3", 30, "bad_tile", "base_info.mahjongs"),
    ("base_info", "mahjongs.3", "1", "bad_type", "base_info.mahjongs"),
    ("base_info", "game_seats.1", lambda tiles: [*tiles, 0], "bad_count", "base_info.game_seats.1"),
    ("base_info", "game_seats", lambda seats: seats[:2], "bad_count", "base_info.game_seats"),
    ("base_info", "button", 3, "bad_value", "base_info.button"),
    ("base_info", "conf", KeyError, "missing_key", "base_info.conf"),
    ("base_info", "conf", 5, "bad_type", "base_info.conf"),
    ("base_info", "conf.type", "gdmj", "unknown_rules", "base_info.conf.type"),
    ("base_info", "conf.numOfSeats", KeyError, None, None),
    ("base_info", "conf.people", 3, "unknown_rules", "base_info.conf"),
    ("base_info", "conf.maxFan", 6, "unknown_option", "base_info.conf.maxFan"),
    ("base_info", "conf.maxFan", KeyError, "missing_key", "base_info.conf.maxFan"),
    ("base_info", "conf.maima", 3, "unknown_option", "base_info.conf.maima"),
    ("base_info", "conf.baseScore", 0, "bad_value", "base_info.conf.baseScore"),
    ("base_info", "conf.baseScore", 0.5, "bad_type", "base_info.conf.baseScore"),
    ("result", None, None, None, None),
    ("create_time", None, KeyError, None, None),
    ("snapshots", None, KeyError, None, None),
]


@pytest.mark.parametrize(("column", "key", "value", "code", "field"), REFUSED)
def test_a_row_that_is_no_round_is_refused(
    tmp_path: Path, column: str, key: str | None, value: object, code: str | None, field: str | None
) -> None:
    rounds, rejects = read(write_json(tmp_path / "a.jsonl", [changed(column, key, value), rows_of()[1]]))
    if code is None:
        assert (len(rounds), rejects) == (2, [])
    else:
        assert [(reject["code"], reject["field"]) for reject in rejects] == [(code, field)]
        assert len(rounds) == 1
        assert rejects[0]["message"]


def test_lines_that_are_no_rows_are_refused(tmp_path: Path) -> None:
    good = json.dumps(rows_of()[0]).encode()
    bad = [b"x", b"[1]", b'{"room_uuid":"\xff"}', b'{"a":1,"a":2}', good[:50]]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([good, *bad]))
    rounds, rejects = read(path)
    assert len(rounds) == 1
    assert [reject["code"] for reject in rejects] == ["bad_json", "bad_type", "not_utf8", "duplicate_key", "truncated"]


def test_the_server_shows_in_conf_or_is_named(tmp_path: Path) -> None:
    assert {read_name(name)[0]["site"] for name in NAMES} == {"node-kwx", "kwx-server"}
    unmarked = json.loads(rows_of()[0]["base_info"])
    for key in ("numOfSeats", "pay"):
        del unmarked["conf"][key]
    path = write_json(tmp_path / "a.jsonl", [rows_of()[0] | {"base_info": json.dumps(unmarked)}])
    assert [reject["code"] for reject in read(path)[1]] == ["unknown_rules"]
    assert read(path, site="node-kwx")[0][0]["rules"].startswith("node-kwx_")
    marked = write_json(tmp_path / "b.jsonl", rows_of()[:1])
    assert read(marked, site="club")[0][0]["site"] == "club"
    assert read(marked, site="club")[0][0]["rules"].startswith("kwx-server_")


def read_name(name: str) -> list[dict[str, Any]]:
    return read(FOLDER / f"{name}.rows.jsonl.gz")[0]


def test_a_claim_overrides_what_the_row_names(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.jsonl", rows_of()[:2])
    claimed, _ = read(path, rules="hubei", options={"score.cap": 4})
    assert {(entry["rules"], entry["options"]) for entry in claimed} == {("hubei", '{"score.cap":4}')}
    assert [reject["code"] for reject in read(path, options={"score.cap": 7})[1]] == ["bad_option_value"] * 2


def test_what_the_room_chose() -> None:
    found = {name: read_name(name)[1] for name in NAMES}
    options = {name[:5]: json.loads(entry["options"]) for name, entry in found.items()}
    assert options["sx_01"] == {
        "fan.last_tile_discard": 2, "fan.last_tile_draw": 2, "four.scope": "any", "score.cap": 8,
    }  # fmt: skip
    assert options["sx_07"] == {"reveal.min_hand": 12, "score.cap": 16, "side.kan": True}
    assert options["hg_05"]["side.raise"] is True
    assert options["hg_06"] == {"score.cap": 16, "side.piao_max": 2, "side.run_touch_eight": True}
    entry = found["hg_05_sy_full_up_cap8_base2_ma2"]
    assert (entry["base"], entry["raise"], entry["piao"], entry["piao_from"]) == (2, None, [0, 0, 0], "config")
    assert entry["time"] == "2024-01-09T13:00:53Z"
    assert entry["players"] == [f"{entry['game']}/{seat}" for seat in range(3)]
    assert found["sx_03_xy_full_cap16_ma1_piao-choice"]["piao"] is None


def test_accounts_come_from_a_table(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.jsonl", rows_of()[:3])
    game = rows_of()[0]["room_uuid"]
    users = tmp_path / "users.csv"
    users.write_text(f"game,seat,account,from_round\n{game},1,甲,2\n{game},1,乙,0\n", encoding="utf-8")
    assert [entry["players"][1] for entry in read(path, users=str(users))[0]] == ["乙", "乙", "甲"]
    users.write_text("game,seat\n1,9\n", encoding="utf-8")
    with pytest.raises(SourceError, match="expected the columns"):
        read(path, users=str(users))


def events_of(flat: list[int], deal: list[list[int]] | None = None, dealer: int = 0) -> str:
    deal = deal or [[0] * 14, [4, 4, 4] + [9] * 10, [4, 4] + [10] * 11]
    packed, numbers = translate(flat, deal, dealer)
    return " ".join(f"{token(event, TILES['ps'])}@{number}" for event, number in zip(packed, numbers, strict=True))


def test_what_the_triples_leave_out() -> None:
    # A discard is `y` when it is the tile just drawn; the reveal comes before its discard.
    assert events_of([0, 1, 0, 1, 2, 5, 1, 1, 5, 1, 7, 0]) == "0x1p@0 1d6p@1 1l@3 1y6p@2"
    # Three in hand and the tile on the table: an exposed kong, then its replacement.
    assert events_of([0, 1, 4, 1, 4, 4, 1, 2, 8]) == "0x5p@0 1k5p0@1 1r9p@2"
    # Four in hand: a concealed one.
    assert events_of([0, 1, 0, 1, 2, 4, 1, 4, 4]) == "0x1p@0 1d5p@1 1c5p@2"
    # One's own pung and the fourth: an added one.
    pung = [0, 1, 4, 2, 3, 4, 2, 1, 10, 0, 2, 8, 0, 1, 8, 1, 2, 9, 1, 1, 9, 2, 2, 4]
    assert events_of([*pung, 2, 4, 4]).endswith("2a5p@8")
    # Two winners stand in seat order from the payer, whoever clicked first.
    assert events_of([0, 1, 4, 2, 5, 4, 1, 5, 4]) == "0x5p@0 1w5p0@2 2w5p0@1"
    # No discard lies open: the turn seat was adding to its pung.
    assert events_of([*pung, 0, 5, 4, 1, 5, 4]).endswith("2a5p@8 0w5p2@8 1w5p2@9")
    # Illegal triples are passed on for the replay to flag.
    assert events_of([1, 3, 3, 2, 4, 3, 0, 7, 0, 1, 5, 3]) == "1p4p@0 2c4p@1 0l@2 1w4p2@3"
    assert events_of([]) == ""


def test_only_an_empty_wall_ends_a_round() -> None:
    flat = [0, 1, 0]
    for turn in range(44):
        flat += [(turn + 1) % 3, 2, 8, (turn + 1) % 3, 1, 8]
    assert events_of(flat).endswith("2y9p@88 e@89")
    assert not events_of(flat[:-6]).endswith("e@87")
    assert not events_of(flat[:-3]).endswith("e@88")


@pytest.mark.parametrize("name", NAMES)
def test_inferences_agree_with_what_the_server_knew(name: str) -> None:
    sides = lines(f"{name}.sidecar.jsonl.gz")
    for entry, side in zip(read_name(name), sides, strict=True):
        words = [token(event, TILES["ps"]) for event in entry["events"]]
        after = [*words[1:], ""]
        kongs = [word for word, then in zip(words, after, strict=True) if word[1:2] in set("cka") and then[1:2] != "w"]
        kinds = {"angang": "c", "diangang": "k", "wangang": "a"}
        assert [word[:2] for word in kongs] == [f"{k['seat']}{kinds[k['type']]}" for k in side["extra"]["kongs"]]
        wins = {(word[0], word[-1] if len(word) == 5 else None) for word in words if word[1:2] == "w"}
        told = {
            (str(seat), None if hand["iszimo"] else str(hand["target"]))
            for seat, result in enumerate(side["server_settlement"]["results"])
            for hand in result["huinfo"]
            if hand.get("ishupai")
        }
        assert wins == told
        assert (words[-1] == "e") == (not told)


def test_tile_codes() -> None:
    assert [TILES["ps"][KIND_OF_CODE[code]] for code in (0, 8, 9, 17, 27, 28, 29)] == "1p 9p 1s 9s 7z 6z 5z".split()


def test_rooms_come_whole_though_rows_interleave(tmp_path: Path) -> None:
    rows = rows_of()
    mixed = [row for pair in zip(rows[16:], reversed(rows[:16]), strict=True) for row in pair]
    path = write_json(tmp_path / "a.jsonl", mixed)
    batches = list(Reader([str(path)], check_rules=ruleset.check, batch_rounds=1))
    per_batch = [set(batch.rounds.column("game").to_pylist()) for batch in batches]
    assert sum(len(games) for games in per_batch) == 2
    for batch in batches:
        assert batch.rounds.column("record").to_pylist() == sorted(batch.rounds.column("record").to_pylist())


def test_waiting_rounds_are_bounded() -> None:
    games = Games(limit=4)
    assert list(games.add("a", 1, 0, "a1", 3)) == []
    assert list(games.add("b", 0, 1, "b0", 3)) == []
    assert list(games.add("a", 0, 2, "a0", 3)) == []
    assert list(games.add("c", 0, 3, "c0", 3)) == []
    assert list(games.add("c", 1, 4, "c1", 3)) == [["b0"], ["a0", "a1"]]  # over the limit: the one idle longest first
    assert list(games.add("c", 1, 5, "c1 again", 3)) == []
    assert list(games.add("c", 2, 6, "c2", 3)) == [["c0", "c1", "c1 again", "c2"]]
    assert list(games.add("d", 0, 7, "d0", 3)) == []
    assert list(games.rest()) == [["d0"]]


def test_sniffing() -> None:
    row = json.dumps(rows_of()[0]).encode()
    header = b"\xef\xbb\xbfroom_uuid,game_index,base_info\n"
    for head in (row, b"garbage\n" + row, header, b"-- dump", b"insert into x"):
        assert node_kwx.sniff(head), head[:40]
    for head in (b"", b'{"kwx":1,"game":"x"}', b"site,game,round\n", b"\x1f\x8b", b"PAR1", b"# Notes\nUse the rows\n"):
        assert not node_kwx.sniff(head), head[:40]


def test_a_dump_without_rows_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.sql.gz"
    path.write_bytes(gzip.compress(b"-- MySQL dump\nINSERT INTO t_users VALUES (1);\n"))
    assert read(path) == ([], [])
