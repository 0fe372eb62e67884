"""The scanner reads what the exact way reads, byte for byte and column for column, and accepts all that is usual."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from test_ingest_kwx import FEW, TIMES, dumps, rounds
from test_ingest_rejects import CASES
from test_ingest_sources import DATA, LINES, LOG, PACK

from ingest.events import digest64
from ingest.formats import Context, kwx
from ingest.formats.kwx_record import KEYS
from ingest.formats.kwx_rows import COUNT, LAST, Block
from ingest.read import Reader
from ingest.rejects import Repeated
from ingest.rejects import batch as rejects_batch
from ingest.sources import LINE_LIMIT, Stream
from ingest.write import write as convert
from replay import ruleset
from replay.scan import scanner

MORE = {
    "prev": "9f" * 32, "time": "2026-05-01T12:00:03.25+08:00", "options": {"score.cap": 16},
    "players": ["卡", "é", "𝄞"],
    "proof": {"scheme": "sha256+a-1", "commit": "ab" * 32, "salt": "s!", "order": "1p9s7z5z" * 21, "deal": "four"},
}  # fmt: skip
_row = json.loads(LINES[1])
MORE["times"] = [7 * at * at for at, _ in enumerate(_row["events"].split())]
PROVED = dumps({key: (_row | MORE)[key] for key in KEYS if key in _row or key in MORE}).encode()


def in_characters(line: bytes) -> bytes:
    """The line with 万 in the place of 筒."""
    row = json.loads(line)
    row["deal"], row["wall"] = [hand.replace("p", "m") for hand in row["deal"]], row["wall"].replace("p", "m")
    row["events"] = " ".join(token[:2] + token[2:].replace("p", "m") for token in row["events"].split())
    for win in row["result"]["wins"]:
        win["tile"] = win["tile"].replace("p", "m")
    return dumps(row).encode()


def everything(data: bytes, size: int = 1 << 18, **asked: Any) -> list[list[dict]]:
    """Rounds and rejects as rows, of bytes that come in pieces of a size."""
    parts = list(kwx.read(Stream("x", (data[at : at + size] for at in range(0, len(data), size))), Context(**asked)))
    for part in parts:
        part.rounds.validate(full=True)
    return [
        [row for part in parts for row in part.rounds.to_pylist()],
        [row._asdict() for part in parts for row in part.rejects],
    ]


def same(data: bytes, size: int = 1 << 18, **asked: Any) -> list[list[dict]]:
    """What both ways read alike."""
    slow, fast = everything(data, **asked), everything(data, size, scanner=scanner, **asked)
    assert fast == slow
    return fast


def accepted(data: bytes) -> list[bool]:
    """Which lines the scanner accepts."""
    block = Block(len(data), data.count(b"\n") + 1)
    block.place[LAST] = 1
    block.put(data)
    scanner.scan(block)
    return (block.rows["fine"][: block.place[COUNT]] > 0).tolist()


def test_usual_lines_are_accepted() -> None:
    assert all(accepted(LOG)) and len(accepted(LOG)) == len(LINES)
    assert accepted(PROVED) == [True]
    spaced = json.dumps(json.loads(PROVED), ensure_ascii=False)
    turned = dumps(dict(reversed(json.loads(PROVED).items())))
    assert accepted(f"{spaced}\r\n\t {turned} \r\n".encode()) == [True, True]


@settings(FEW, max_examples=15)
@given(st.lists(rounds(), min_size=1, max_size=4), st.randoms())
def test_generated_lines(rows: list[dict[str, Any]], chance: random.Random) -> None:
    same("".join(dumps(row) + "\n" for row in rows).encode())
    same("".join(json.dumps(row, ensure_ascii=chance.random() < 0.3) + "\r\n" for row in rows).encode(), 97)
    turned = [{key: row[key] for key in chance.sample(list(row), len(row))} for row in rows]
    same("\n".join(dumps(row) for row in turned).encode(), keep_raw=True)


MARKS = [b'"', b"\\", b" ", b"0", b"7", b"m", b"p", b"z", b"e", b",", b":", b"}", b"]", b"{", b"-", b".", b"\0", b"\n",
         b"\r", b"\x7f", b"\x80", b"\xc3\xa9", b"\xed\xa0\x80", b"_", b"ps", b"1p", b"00", b"null"]  # fmt: skip


def mutants(line: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Lines with one place changed: a byte left out, doubled, swapped, another put over or before it."""
    chance = random.Random(seed)
    for _ in range(count):
        at = chance.randrange(len(line))
        mark = chance.choice(MARKS)
        start, rest = line[:at], line[at + 1 :]
        yield chance.choice(
            [start + rest, start + line[at : at + 1] * 2 + rest, start + mark + rest, start + mark + line[at:],
             start + rest[:1] + line[at : at + 1] + rest[1:], line[:at], start + mark]
        )  # fmt: skip


@pytest.mark.parametrize("number", range(4))
def test_mutated_lines(number: int) -> None:
    private = dumps(json.loads(PROVED) | {"_a": [1, {"b": "é"}]}).encode()
    line = [LINES[0], PROVED, in_characters(LINES[7]), private][number]
    assert accepted(line) == [True]
    made = list(mutants(line, 1500, number))
    rounds, rejects = same(b"\n".join(made) + b"\n" + line)
    assert rounds and len(rejects) > 500


def test_every_number_and_word_at_its_limits() -> None:
    row = json.loads(PROVED)
    changes: list[tuple[str, Any]] = [("time", time) for time in TIMES]
    changes += [("time", time) for time in (
        "2024-02-29T23:59:59Z", "2023-02-29T00:00:00Z", "2000-02-29T00:00:00.123456-00:00", "1900-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-13-01T00:00:00Z",
        "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60",
        "2026-01-01 00:00:00Z",
    )]  # fmt: skip
    for key, limits in (
        ("round", (0, 10**15, 10**18)), ("base", (0, 1, 10**12, 10**12 + 1)), ("raise", (-1, 0, 16, 17)),
        ("dealer", (-1, 0, 1, 2, 3, 256)), ("kwx", (0, 1, 2, 10)),
    ):  # fmt: skip
        changes += [(key, limit) for limit in limits]
    changes += [("piao", [0, limit, 1]) for limit in (-1, 10**6, 10**6 + 1)] + [
        ("dice", [1, limit]) for limit in (0, 6, 7)
    ]
    changes += [("times", [limit] * len(row["times"]))
                for limit in (0, 2**31 - 1, 2**31, 10**12)]  # fmt: skip
    changes += [("players", ["a", "b", letter * length]) for letter in "xé卡" for length in (0, 64, 127, 128, 129)]
    changes += [("options", options) for options in ({}, {"a": []}, {"a": {}}, {"é": 1.5}, {"a": None}, {"a b": "}"})]
    for end in ("win", "draw", "no_safe_tile", "aborted", "no_safe_tiles", "no_safe_time", "aborte", "won"):
        changes.append(("result", row["result"] | {"end": end}))
    for fans in (
        [],
        ["reveal"] * 7,
        ["reveal"] * 8,
        ["all_pungs", "reveal"],
        ["reveal", "all_pungs"],
        ["reveals"],
        [1],
    ):
        changes.append(("result", {"points": [0, 0, 0], "wins": [{"seat": 0, "tile": "1p", "fans": fans}]}))
    for scheme in ("sha256", "sha256+", "sha256+" + "a" * 32, "sha256+" + "a" * 33, "sha256a", "sha512", "sha256+A"):
        changes.append(("proof", row["proof"] | {"scheme": scheme}))
    for limit in (10**15 - 1, 10**15, -(10**15), 2**63 - 1, 2**63):
        changes.append(("result", row["result"] | {"points": [limit, 0, 0], "kongs": [0, 0, -limit], "fee": limit}))
    same("".join(dumps(row | {key: value}) + "\n" for key, value in changes).encode())


def test_suits() -> None:
    """Which suits a round plays is told by its tiles, and at need by its events, whatever the line before played."""
    lines = []
    for deal in ("ppp", "sss", "mmm", "pps", "mms", "mmp", "pms", "zzz"):
        for token in ("0x1p", "0x1m", "0x1s", "0l1m", "0l9s", "e"):
            for tile in ("2m", "2p", "2s"):
                for more in ({}, {"wall": "3p" * 44}, {"proof": json.loads(PROVED)["proof"] | {"order": "3m" * 84}}):
                    hands = [
                        ("5" if suit == "z" else "4") * (13 + (seat == 0)) + suit for seat, suit in enumerate(deal)
                    ]
                    lines.append({"kwx": 1, "game": "g", "round": 0, "rules": "r", "players": ["", "", ""], "dealer": 0,
                                  "deal": hands, **more, "events": token,
                                  "result": {"points": [0, 0, 0], "wins": [{"seat": 0, "tile": tile}]}})  # fmt: skip
    rounds, rejects = same("".join(dumps(line) + "\n" for line in lines).encode())
    assert {row["suits"] for row in rounds} == {"ps", "mp", "ms"} and rejects


def test_faults_told_in_one_file() -> None:
    data = b"\n".join(text for case, _, _ in CASES for text in (case, LINES[0], compact(case)))
    _, rejects = same(data, check_rules=ruleset.check)
    assert {row["code"] for row in rejects} >= {"bad_json", "bad_tile", "unknown_key", "bad_count"}


def compact(data: bytes) -> bytes:
    try:
        return json.dumps(json.loads(data), separators=(",", ":"), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return data


@pytest.mark.parametrize("size", [1, 2, 61, 4096])
def test_pieces_do_not_matter(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.CHUNK", size)
    monkeypatch.setattr("ingest.sources.HEAD", 0)
    monkeypatch.setattr("ingest.formats.kwx.BLOCK_BYTES", 64)
    lines = [
        b"\xef\xbb\xbf" + LINES[0],
        b"",
        b" \t\v",
        PROVED + b"\r",
        b"x",
        LINES[2],
        PROVED + b" \r",
        b"\r",
        LINES[3],
    ]
    data = b"\n".join(lines[: 4 if size == 1 else None])
    for rows in (1, 2, 4096):
        same(data, size, batch_rounds=rows, keep_raw=True)
        same(data[:-1], size, batch_rounds=rows)
        same(data + b"\n", size, batch_rounds=rows)


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n", b"\xff\xfe", b"\n\n\n", b"\0", b"{"])
def test_how_a_file_may_start(start: bytes) -> None:
    same(start + LOG)
    same(start)


def test_millions_of_the_same_faults_stand_among_rounds() -> None:
    chance, few = random.Random(4), [b"x", b"{}", b'{"kwx":1}', b"", b"\xff\xfe", b"[1,2]\r", b"\0", b"nul"]
    lines = [b"%d" % at if at % 90 == 7 else LINES[at // 50 % len(LINES)] if at % 50 == 3 else chance.choice(few)
             for at in range(1500)]  # fmt: skip
    for start in (b"", b"\xef\xbb\xbf"):
        rounds_and_rejects = same(start + b"\n".join(lines), batch_rounds=400)
        assert len({row["message"] for row in rounds_and_rejects[1]}) > 20
    lines = [line for line in lines if line in few[:4] or line in LINES]
    parts = kwx.read(Stream("x", [b"\n".join(lines)]), Context(scanner=scanner, batch_rounds=200))
    columnar = [part.rejects for part in parts if isinstance(part.rejects, Repeated)]
    assert columnar
    for rejects in columnar:
        assert rejects_batch("x", rejects).to_pylist() == rejects_batch("x", list(rejects)).to_pylist()


def test_lines_that_are_too_long() -> None:
    for filler in (b"x", b" ", b"\xc3\xa9"):
        for length in (LINE_LIMIT - 1, LINE_LIMIT, LINE_LIMIT + 1, 3 * LINE_LIMIT):
            long = (filler * length)[:length]
            same(b"\n".join([LINES[0], long, LINES[1], long[: LINE_LIMIT // 2], LINES[2]]), batch_rounds=2)
            same(LINES[0] + b"\n" + long, 1 << 20)
    name = PROVED[:-1] + b',"_x":"' + b"y" * (LINE_LIMIT - len(PROVED) - 9) + b'"}'
    for more in (b"", b" ", b"  "):
        same(b"\n".join([name + more, LINES[0]]))


def test_rulesets_and_options_that_are_refused() -> None:
    other = [
        PROVED.replace(b'"score.cap":16', change) for change in (b'"score.cap":"x"', b'"a":1', b'"score.cap" : 8', b"")
    ]
    lines = [LINES[0], *other, PROVED, PROVED.replace(b'"rules":"', b'"rules":"no'), LINES[1], *other]
    rounds, rejects = same(b"\n".join(lines), check_rules=ruleset.check, site="there")
    assert {row["code"] for row in rejects} == {"unknown_rules", "unknown_option", "bad_option_value"} and len(
        rounds
    ) > 4
    same(b"\n".join(lines), check_rules=ruleset.check, rules="suizhou")
    same(b"\n".join(lines), check_rules=ruleset.check, options={"score.cap": 8})


def test_logs_of_this_project(tmp_path: Path) -> None:
    """Whole files by the door: positions, counts, notes; packed ones too."""
    (tmp_path / "log.jsonl.gz").write_bytes(PACK[".gz"](LOG * 3)[:-9])
    paths = [*sorted(DATA.glob("*.jsonl")), *sorted((DATA / "broken").glob("*.jsonl")), tmp_path / "log.jsonl.gz"]
    told = []
    for way in (None, scanner):
        reader = Reader(map(str, paths), check_rules=ruleset.check, scanner=way, batch_rounds=7)
        rows = [(batch.rounds.to_pylist(), batch.rejects.to_pylist()) for batch in reader]
        told.append(([one for rounds, _ in rows for one in rounds], [one for _, rejects in rows for one in rejects]))
        told[-1] += (reader.sources().to_pylist(), reader.notes)
    assert told[0] == told[1]


def test_the_scanner_uncompiled(tmp_path: Path) -> None:
    code = (
        "import sys, test_scan as t\n"
        "t.same(b'\\n'.join([*t.LINES[:3], t.PROVED, *t.mutants(t.PROVED, 15, 5)]))\n"
        "assert all(t.accepted(t.PROVED))"
    )
    here = Path(__file__).parent
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code], capture_output=True, text=True,
        env={"KWX_JIT": "0", "PYTHONPATH": f"{here}:{here.parent}", "PATH": ""},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_digests_and_hashes_of_any_length() -> None:
    """round_id, game_key and the hashes of lines are those of hashlib, whatever the lengths and the numbers."""
    sites, games, numbers = [], [], []
    for length in (*range(1, 300, 7), 126, 127, 128, 129, 255, 256, 257, 70_000):
        for number in (0, 9, 10, 10**9, 2**63 - 1):
            sites.append("卡" * (length % 5))
            games.append(("é" * length)[: length // 2] + "x" * (length % 2 + 1))
            numbers.append(number)
    names = pa.array(sites).dictionary_encode()
    _, offsets, data = pa.array(games).buffers()
    keys, ids = scanner.digests(
        names.dictionary.to_pylist(), names.indices.to_numpy(), np.frombuffer(data, np.uint8),
        np.frombuffer(offsets, np.int32), np.array(numbers),
    )  # fmt: skip
    assert keys.tolist() == [digest64(site, game) for site, game in zip(sites, games, strict=True)]
    assert ids.tolist() == [digest64(*parts) for parts in zip(sites, games, numbers, strict=True)]
    if scanner.hashes is None:
        pytest.skip("a processor without instructions for SHA-256")
    bytes_ = np.frombuffer(LOG, np.uint8)
    stops = np.array([*range(200), 1000, len(LOG)])
    firsts, digits = scanner.hashes(bytes_, np.minimum(stops, 3), stops)
    for stop, first, text in zip(stops.tolist(), firsts.tolist(), digits, strict=True):
        expected = sha256(LOG[min(stop, 3) : stop])
        assert text.tobytes().decode() == expected.hexdigest()
        assert first == int.from_bytes(expected.digest()[:8], "little")


def test_rounds_of_other_formats(tmp_path: Path) -> None:
    """Converted rounds say in "_source" where their values come from; broken ones are told as ever."""
    paths = sorted((DATA / "node_kwx").glob("*.rows.jsonl.gz"))
    convert(Reader(map(str, paths[:2])), tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines()[:40]
    assert b"proof_order" in lines[0] and b"event_no" in lines[0]
    rows = [json.loads(line) for line in lines[:12]]
    for row, change in zip(rows, [
        {"event_no": [1]}, {"event_no": "x"}, {"proof_order": "1p"}, {"proof_order": "1m" * 84}, {"proof_order": 3},
        {"proof_deal": "two"}, {"piao_from": "config"}, {"raise_from": None}, {"coverage": "settlement_only"},
        {"hidden_from": "guessed"}, {"event_no": [-1] * len(rows[10]["events"].split())}, {},
    ], strict=True):  # fmt: skip
        row["_source"] |= change
    rows += [rows[0] | {"_source": 5}, rows[1] | {"_x": 1}]
    rounds, rejects = same(b"\n".join([*lines, LINES[0], *(dumps(row).encode() for row in rows)]))
    assert len(rejects) == 3 and {row["piao_from"] for row in rounds} > {"logged"}


PEAK = """
import resource, sys
from ingest.read import Reader
from replay.scan import scanner
read = lambda path: [row for batch in Reader([path], scanner=scanner) for row in batch.rejects["code"].to_pylist()]
read(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
codes = read(sys.argv[1])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, *codes)
"""


def test_bombs_take_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.zst"
    with open(path, "wb") as file, zstandard.ZstdCompressor(1).stream_writer(file) as packed:
        for piece in (b"x" * (1 << 20), b"\n" * (1 << 20), b" " * (1 << 20)):
            for _ in range(96):
                packed.write(piece)
            packed.write(b"\n" + LINES[0] + b"\n")
    run = subprocess.run(
        [sys.executable, "-c", PEAK, path, DATA / "hubei.jsonl"], capture_output=True, text=True, check=True,
        cwd=DATA.parent.parent,
    )  # fmt: skip
    megabytes, *codes = run.stdout.split()
    assert codes == ["too_long"] and int(megabytes) < 100, run.stdout
