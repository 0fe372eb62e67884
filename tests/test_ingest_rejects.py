"""Every reject code has one broken log, and every kind of garbage ends in rejects with words, never in a traceback."""

import json
from pathlib import Path
from typing import Any

import pytest
from test_ingest_sources import DATA, LINES, read

from ingest.read import Reader
from ingest.rejects import RAW_LIMIT, REJECT_CODES
from replay import ruleset

BROKEN = DATA / "broken"
FIRST = json.loads(LINES[0])


def test_every_code_has_one_broken_log() -> None:
    names = [path.name.partition(".")[0] for path in BROKEN.iterdir()]
    for code in REJECT_CODES:
        assert names.count(code) == 1, code
    assert len(set(REJECT_CODES)) == len(REJECT_CODES)


@pytest.mark.parametrize("code", REJECT_CODES)
def test_a_broken_log_gives_its_code_and_the_rest_of_it_is_read(code: str) -> None:
    [path] = BROKEN.glob(f"{code}.*")
    rounds, rejects, _ = read(path, check_rules=ruleset.check)
    assert [row["code"] for row in rejects] == [code]
    assert len(rounds) == {"truncated": 1, "corrupt": 0}.get(code, 2)
    [row] = rejects
    assert row["source"] == str(path) and row["message"] and len(row["raw"]) <= RAW_LIMIT
    if code != "corrupt":
        assert (row["record"], row["line"]) == (1, 2)
        data = path.read_bytes() if path.suffix == ".jsonl" else b""
        if data:
            assert row["byte"] == data.index(b"\n") + 1
            assert row["raw"] == data.split(b"\n")[1].decode("utf-8", "backslashreplace")


def test_a_reject_names_its_field() -> None:
    fields = {}
    for path in BROKEN.iterdir():
        if path.name.partition(".")[0] in REJECT_CODES:
            fields |= {row["code"]: row["field"] for row in read(path, check_rules=ruleset.check)[1]}
    assert fields == {
        "bad_json": None, "truncated": None, "corrupt": None, "not_utf8": None, "too_long": None,
        "unknown_version": "kwx", "unknown_key": "result.bonus", "duplicate_key": "dealer", "missing_key": "events",
        "bad_type": "base", "bad_value": "dice.0", "bad_tile": "deal.0", "bad_token": "events.3", "bad_count": "wall",
        "unknown_rules": "rules", "unknown_option": "options.score.limit", "bad_option_value": "options.score.cap",
        "duplicate_round": "round",
    }  # fmt: skip


def line(**changes: Any) -> bytes:
    """A valid line with changes; a path "result.end" for a key inside; None takes a key out."""
    row = json.loads(LINES[0])
    for path, value in changes.items():
        *outer, last = path.split("__") if path[0] != "_" else [path]
        inner = row
        for name in outer:
            inner = inner[name]
        key = int(last) if last.isdigit() else last
        if value is None:
            del inner[key]
        else:
            inner[key] = value
    return json.dumps(row).encode()


PROOF = {"scheme": "sha256", "commit": "0" * 64, "salt": "s", "order": "1p" * 84, "deal": "one"}
WIN = {"seat": 0, "tile": "1p"}
BIG = 1 << 63

CASES: list[tuple[bytes, str, str | None]] = [
    (b"nonsense", "bad_json", None),
    (b"\0\1\2\3", "bad_json", None),
    (b'{"kwx":1', "bad_json", None),
    (b"[" * 100_000, "bad_json", None),
    (b'{"kwx":' * 100_000, "bad_json", None),
    (b'{"kwx":' + b"[" * 900 + b"]" * 900 + b"}", "bad_json", None),
    (b'{"kwx":' + b"[" * 63 + b"]" * 63 + b"}", "bad_type", "kwx"),
    (line(_x=json.loads("[" * 900 + "]" * 900)), "bad_json", None),
    (line(options={"a": json.loads("[" * 64 + "]" * 64)}), "bad_json", None),
    (b'{"kwx":Infinity}', "bad_json", None),
    (b'{"kwx":1,"_x":-Infinity}', "bad_json", None),
    (b'{"kwx":01}', "bad_json", None),
    (b"[1]", "bad_type", None),
    (b'"kwx"', "bad_type", None),
    (b"{}", "missing_key", "kwx"),
    (b'{"kwx":' + b"9" * 5000 + b"}", "bad_value", None),
    (b'{"kwx":true}', "bad_type", "kwx"),
    (b'{"kwx":1e0}', "bad_type", "kwx"),
    (b'{"kwx":9}', "unknown_version", "kwx"),
    (b'{"kwx":1,"x":1,"x":1}', "duplicate_key", "x"),
    (line()[:-1] + b',"_a":{"b":1,"b":1}}', "duplicate_key", "b"),
    (line()[:-1] + b',"\\u005fa":1,"_a":2}', "duplicate_key", "_a"),
    (line(result__x=1), "unknown_key", "result.x"),
    (line(result__wins=[WIN | {"x": 1}]), "unknown_key", "result.wins.0.x"),
    (line(proof=PROOF | {"x": 1}), "unknown_key", "proof.x"),
    (line(proof={}), "missing_key", "proof.scheme"),
    (line(result={"end": "draw"}), "missing_key", "result.points"),
    (line(result__wins=[{"seat": 0}]), "missing_key", "result.wins.0.tile"),
    (line(site=1), "bad_type", "site"),
    (line(site=""), "bad_value", "site"),
    (line(game=""), "bad_value", "game"),
    (line(game=["x"]), "bad_type", "game"),
    (line(round=-1), "bad_value", "round"),
    (line(round="1"), "bad_type", "round"),
    (line(round=1.0), "bad_type", "round"),
    (line(round=True), "bad_type", "round"),
    (line(round=BIG), "bad_value", "round"),
    (line(time="2026-05-01T12:00:03"), "bad_value", "time"),
    (line(time="2026-02-30T12:00:03Z"), "bad_value", "time"),
    (line(time="2026-05-01T12:00:03+99:00"), "bad_value", "time"),
    (line(time=5), "bad_type", "time"),
    (line(players=["a", "b"]), "bad_count", "players"),
    (line(players=["a", "b", 3]), "bad_type", "players.2"),
    (line(players=["a", "b", "c" * 129]), "bad_value", "players.2"),
    (line(players="abc"), "bad_type", "players"),
    (line()[:-1] + b',"_a":"\\ud800"}', "not_utf8", None),
    (line(dealer=3), "bad_value", "dealer"),
    (line(dice=[1, 2, 3]), "bad_count", "dice"),
    (line(dice=[1, 7]), "bad_value", "dice.1"),
    (line(piao=[0, 0, -1]), "bad_value", "piao.2"),
    (line(piao=[0, 0, 1.5]), "bad_type", "piao.2"),
    (line(base=0), "bad_value", "base"),
    (line(**{"raise": -1}), "bad_value", "raise"),
    (line(**{"raise": 10**6}), "bad_value", "raise"),
    (line(options=[]), "bad_type", "options"),
    (line(deal=["1p", "1p"]), "bad_count", "deal"),
    (line(deal=[1, 2, 3]), "bad_type", "deal.0"),
    (line(deal__0="1p"), "bad_count", "deal.0"),
    (line(deal__1="1p" * 14), "bad_count", "deal.1"),
    (line(deal__2=""), "bad_count", "deal.2"),
    (line(deal__0="8z" * 14), "bad_tile", "deal.0"),
    (line(deal__1="p" + "1p" * 13), "bad_tile", "deal.1"),
    (line(deal__1="1p" * 13 + "5"), "bad_tile", "deal.1"),
    (line(deal__1="1p" * 13 + "\n"), "bad_tile", "deal.1"),
    (line(deal__1="1p" * 12 + "１p"), "bad_tile", "deal.1"),
    (line(deal__1="1m2p3s4s5s6s7s1p1p1p1p1p1p"), "bad_tile", "deal.0"),
    (line(wall=""), "bad_count", "wall"),
    (line(wall="1p" * 45), "bad_count", "wall"),
    (line(wall="1p" * 43 + "9z"), "bad_tile", "wall.43"),
    (line(wall="11" * 43 + "1p"), "bad_tile", "wall.0"),
    (line(wall="1" * 44 + "p"), "bad_tile", "wall"),
    (line(proof=PROOF | {"commit": "x"}), "bad_value", "proof.commit"),
    (line(proof=PROOF | {"order": "1p"}), "bad_count", "proof.order"),
    (line(proof=PROOF | {"deal": "five"}), "bad_value", "proof.deal"),
    (line(proof=PROOF | {"scheme": "md5"}), "bad_value", "proof.scheme"),
    (line(proof=PROOF | {"scheme": "sha256+"}), "bad_value", "proof.scheme"),
    (line(proof=PROOF | {"salt": "é"}), "bad_value", "proof.salt"),
    (line(proof=[]), "bad_type", "proof"),
    (line(prev="0" * 63), "bad_value", "prev"),
    (line(prev=None or 0), "bad_type", "prev"),
    (line(events=["0x1p"]), "bad_type", "events"),
    (line(events="0x1p  1d2p"), "bad_token", "events.1"),
    (line(events="0x1p "), "bad_token", "events.1"),
    (line(events=" "), "bad_token", "events.0"),
    (line(events="3x1p"), "bad_token", "events.0"),
    (line(events="0q1p"), "bad_token", "events.0"),
    (line(events="0x0p"), "bad_tile", "events.0"),
    (line(events="0x1m"), "bad_tile", "events.0"),
    (line(events="0x"), "bad_tile", "events.0"),
    (line(events="0x1p1"), "bad_token", "events.0"),
    (line(events="0x1p11"), "bad_token", "events.0"),
    (line(events="0p1p"), "bad_token", "events.0"),
    (line(events="0p1p0"), "bad_token", "events.0"),
    (line(events="0p1p3"), "bad_token", "events.0"),
    (line(events="0w1p0"), "bad_token", "events.0"),
    (line(events="0n1p"), "bad_token", "events.0"),
    (line(events="0e"), "bad_token", "events.0"),
    (line(events="x"), "bad_token", "events.0"),
    (line(events="0"), "bad_token", "events.0"),
    (line(events="0l3p1p"), "bad_token", "events.0"),
    (line(events="0l3p3p"), "bad_token", "events.0"),
    (line(events="0l3"), "bad_tile", "events.0"),
    (line(events="0l8z"), "bad_tile", "events.0"),
    (line(events="0x1p\n1d2p"), "bad_token", "events.0"),
    (line(events="０x1p"), "bad_token", "events.0"),
    (line(times=[1]), "bad_count", "times"),
    (line(times=[]), "bad_count", "times"),
    (line(events="e", times=[-1]), "bad_value", "times.0"),
    (line(events="e", times=[1 << 31]), "bad_value", "times.0"),
    (line(events="e", times=[0.5]), "bad_type", "times.0"),
    (line(events="e", times="0"), "bad_type", "times"),
    (line(result=[]), "bad_type", "result"),
    (line(result__end="won"), "bad_value", "result.end"),
    (line(result__points=[1, 2]), "bad_count", "result.points"),
    (line(result__points=[1, 2, BIG]), "bad_value", "result.points.2"),
    (line(result__points=[1, 2, "3"]), "bad_type", "result.points.2"),
    (line(result__wins={}), "bad_type", "result.wins"),
    (line(result__wins=[WIN, WIN, WIN]), "bad_count", "result.wins"),
    (line(result__wins=[WIN, 1]), "bad_type", "result.wins.1"),
    (line(result__wins=[WIN | {"seat": 3}]), "bad_value", "result.wins.0.seat"),
    (line(result__wins=[WIN | {"from": 0}]), "bad_value", "result.wins.0.from"),
    (line(result__wins=[WIN | {"tile": "11p"}]), "bad_tile", "result.wins.0.tile"),
    (line(result__wins=[WIN | {"tile": "1m"}]), "bad_tile", "result.wins.0.tile"),
    (line(result__wins=[WIN | {"fans": ["pure"]}]), "bad_value", "result.wins.0.fans.0"),
    (line(result__wins=[WIN | {"fans": ["reveal", "all_pungs"]}]), "bad_value", "result.wins.0.fans"),
    (line(result__wins=[WIN | {"fans": ["reveal"] * 8}]), "bad_value", "result.wins.0.fans.0"),
    (line(result__wins=[WIN | {"fans": "reveal"}]), "bad_type", "result.wins.0.fans"),
    (line(result__wins=[WIN | {"multiple": 1.5}]), "bad_type", "result.wins.0.multiple"),
    (line(result__kongs=[0]), "bad_count", "result.kongs"),
    (line(result__fee=-1), "bad_value", "result.fee"),
    (line(_source={"event_no": [1]}), "bad_count", "_source.event_no"),
]


@pytest.mark.parametrize("spaced", [True, False])
def test_each_fault_is_told_apart(tmp_path: Path, spaced: bool) -> None:
    """Written with spaces, which only the slow path reads, and without, which goes the fast way first."""
    path = tmp_path / "log.jsonl"
    wrong = []
    for number, (data, code, field) in enumerate(CASES):
        try:
            data = data if spaced else json.dumps(json.loads(data), separators=(",", ":"), ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            pass
        if not spaced and code == "duplicate_key":
            continue
        path.write_bytes(data + b"\n")
        rounds, rejects, _ = read(path)
        found = [(row["code"], row["field"]) for row in rejects]
        if rounds or found != [(code, field)]:
            wrong.append((number, data[-100:], code, field, found))
    assert not wrong


def test_all_faults_in_one_file(tmp_path: Path) -> None:
    """Faults next to each other in one batch, with good lines between, keep their order, lines and codes."""
    lines = [text for data, _, _ in CASES for text in (data, LINES[0].replace(b'"round":0', b'"round":%d' % len(data)))]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    _, rejects, _ = read(path)
    told = [(row["record"], row["line"], row["code"]) for row in rejects if row["code"] != "duplicate_round"]
    assert told == [(2 * at, 2 * at + 1, code) for at, (_, code, _) in enumerate(CASES)]


def test_noise(tmp_path: Path) -> None:
    path = tmp_path / "noise.bin"
    path.write_bytes(bytes(at * at % 251 for at in range(100_000)))
    rounds, rejects, [source] = read(path)
    assert not rounds and source["format"] == "unknown" and source["rejects"] == len(rejects) > 0
    assert {row["code"] for row in rejects} <= {"bad_json", "not_utf8", "truncated"}


def test_a_file_of_words_is_all_rejects(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("one\ntwo\n\nthree")
    assert [row["line"] for row in read(path)[1]] == [1, 2, 4]


def test_the_last_line_may_lack_its_ending_but_not_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    whole = b"\n".join(LINES)
    path.write_bytes(whole)
    assert len(read(path)[0]) == len(LINES)
    start = whole.rindex(b"\n") + 1
    for cut in (start + 1, start + 8, len(whole) - 1):
        path.write_bytes(whole[:cut])
        rounds, rejects, _ = read(path)
        assert len(rounds) == len(LINES) - 1
        assert [row["code"] for row in rejects] == ["truncated"]
    path.write_bytes(LINES[0].replace(b'"a","b"', '"a","卡"'.encode())[:-600])
    path.write_bytes('{"kwx":1,"game":"卡'.encode()[:-1])
    assert [row["code"] for row in read(path)[1]] == ["truncated"]


def test_repeats_and_duplicates(tmp_path: Path) -> None:
    other = LINES[0].replace(b'"base":1', b'"base":2', 1)
    assert other != LINES[0]
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_bytes(b"\r\n".join([LINES[0], LINES[1], LINES[0], other]) + b"\r\n")
    b.write_bytes(b"\n".join([other, LINES[2], LINES[1], other, LINES[2]]))
    for batch in (1, 2, 3, 4096):
        rounds, rejects, sources = read(a, b, batch_rounds=batch)
        assert [(Path(row["source"]).stem, row["record"]) for row in rounds] == [("a", 0), ("a", 1), ("b", 1)]
        assert [(Path(row["source"]).stem, row["record"], row["code"]) for row in rejects] == [
            ("a", 3, "duplicate_round"), ("b", 0, "duplicate_round"), ("b", 3, "duplicate_round"),
        ]  # fmt: skip
        assert rejects[0]["raw"] == other.decode()
        assert [(source["repeats"], source["rejects"]) for source in sources] == [(1, 1), (2, 2)]


def test_the_first_record_stands_against_all_later_ones(tmp_path: Path) -> None:
    """A record equal to a refused one is no repeat of the round that stands."""
    path = tmp_path / "log.jsonl"
    one, two = LINES[0], LINES[0].replace(b'"base":1', b'"base":2', 1)
    path.write_bytes(b"\n".join([one, two, two, one]))
    for batch in (1, 2, 4096):
        _, rejects, [source] = read(path, batch_rounds=batch)
        assert [row["record"] for row in rejects] == [1, 2] and source["repeats"] == 1


def test_batches_do_not_change_what_is_read() -> None:
    def all_rows(size: int) -> list[dict]:
        return [
            row for batch in Reader([str(DATA / "hubei.jsonl")], batch_rounds=size) for row in batch.rounds.to_pylist()
        ]

    assert all_rows(1) == all_rows(5) == all_rows(4096)


def test_a_claim_overrides_the_log() -> None:
    path = DATA / "hubei.jsonl"
    rounds, _, _ = read(path, options={"score.cap": 8, "fan.last_tile_draw": 0})
    assert {row["options"] for row in rounds} == {'{"score.cap":8,"fan.last_tile_draw":0}'}
    rounds, _, _ = read(path, rules="suizhou", check_rules=ruleset.check)
    assert {(row["rules"], row["options"]) for row in rounds} == {("suizhou", "{}")}
    _, rejects, _ = read(path, options={"score.cap": "x"}, check_rules=ruleset.check)
    assert {row["code"] for row in rejects} == {"bad_option_value"}


def test_a_site_for_logs_that_name_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINES[0] + b"\n" + line(site=None))
    rounds, _, _ = read(path, site="there")
    assert [row["site"] for row in rounds] == ["oracle", "there"]
    assert rounds[0]["round_id"] != rounds[1]["round_id"]
    assert [row["site"] for row in read(path)[0]] == ["oracle", ""]
