"""The kwx log and its twins: parse → write → parse, byte for byte and column for column."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_ingest_rejects import line
from test_ingest_sources import DATA, LINES, LOG, read

from ingest import events as ev
from ingest.formats import Context, kwx, kwx_parquet
from ingest.formats.kwx_json import members
from ingest.formats.kwx_record import KEYS, milliseconds
from ingest.formats.kwx_write import rfc3339, write
from ingest.notation import decode_events, encode_events, explain_events
from ingest.read import Reader
from ingest.rejects import Reject
from ingest.sources import Stream
from ingest.tiles import NAMES, SUITS, parse
from ingest.write import SUFFIXES, Output, WriteError
from ingest.write import write as convert

FEW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# --- lines of every shape -------------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ascii = st.text(st.characters(max_codepoint=127), max_size=9)
naturals = st.integers(0, 10**15)
points = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=3, max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
private = st.dictionaries(words.map(lambda text: "_" + text), values, max_size=2).map(
    lambda keys: {key: value for key, value in keys.items() if key != "_source"}
)


@st.composite
def hands(draw: st.DrawFn, names: tuple[str, ...], size: int) -> str:
    tiles = sorted(draw(st.lists(st.sampled_from(names), min_size=size, max_size=size)), key=lambda tile: tile[::-1])
    return re.sub(r"([mpsz])(?=[1-9]\1)", "", "".join(tiles))


@st.composite
def tokens(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    verb = draw(st.sampled_from(ev.VERBS))
    if verb in "ez":
        return verb
    seat = draw(st.sampled_from("012"))
    tile, source = draw(st.sampled_from(names)), draw(st.sampled_from("012".replace(seat, "")))
    if verb == "l":
        return (
            seat + verb + "".join(draw(st.lists(st.sampled_from(names), unique=True, max_size=4).map(sorted_by(names))))
        )
    if verb == "w":
        source = draw(st.sampled_from(["", source]))
    return seat + verb + ("" if verb == "n" else tile) + (source if verb in "pkw" else "")


def sorted_by(names: tuple[str, ...]) -> Any:
    return lambda some: sorted(some, key=names.index)


@st.composite
def wins(draw: st.DrawFn, names: tuple[str, ...]) -> dict[str, Any]:
    seat = draw(st.integers(0, 2))
    win: dict[str, Any] = {"seat": seat}
    if draw(st.booleans()):
        win["from"] = (seat + draw(st.integers(1, 2))) % 3
    win["tile"] = draw(st.sampled_from(names))
    if draw(st.booleans()):
        win["fans"] = sorted(draw(st.lists(st.sampled_from(ev.FANS), max_size=4)), key=ev.FANS.index)
    if draw(st.booleans()):
        win["multiple"] = draw(naturals)
    return win | draw(private)


@st.composite
def rounds(draw: st.DrawFn) -> dict[str, Any]:
    """A round as the log holds it, keys in canonical order, every optional key there or not."""
    names = NAMES[draw(st.sampled_from(SUITS))]
    dealer = draw(st.integers(0, 2))
    events = draw(st.lists(tokens(names), max_size=12))
    row: dict[str, Any] = {
        "kwx": 1, "site": draw(words), "game": draw(words), "round": draw(naturals),
        "prev": draw(st.sampled_from(["0" * 64, "9f" * 32])), "time": draw(st.sampled_from(TIMES)),
        "rules": draw(words), "options": draw(st.dictionaries(words, values, min_size=1, max_size=2)),
        "players": draw(st.lists(words, min_size=3, max_size=3)), "dealer": dealer,
        "dice": draw(st.lists(st.integers(1, 6), min_size=2, max_size=2)),
        "piao": draw(st.lists(st.integers(0, 10**6), min_size=3, max_size=3)),
        "base": draw(st.integers(1, 10**12)), "raise": draw(st.integers(0, 16)),
        "deal": [draw(hands(names, 13 + (seat == dealer))) for seat in range(3)],
        "wall": "".join(draw(st.lists(st.sampled_from(names), min_size=44, max_size=44))),
        "proof": {"scheme": draw(st.sampled_from(["sha256", "sha256+a.b-4"])), "commit": "ab" * 32, "salt": draw(ascii),
                  "order": draw(st.sampled_from(names)) * 84, "deal": draw(st.sampled_from(["one", "four"]))},
        "events": " ".join(events), "times": [draw(st.integers(0, 2**31 - 1)) for _ in events],
        "result": {"end": draw(st.sampled_from(ev.ENDS)), "points": draw(points),
                   "wins": draw(st.lists(wins(names), max_size=2)), "kongs": draw(points), "fee": draw(naturals)},
    }  # fmt: skip
    for key in draw(st.sets(st.sampled_from([key for key, required in KEYS.items() if not required]))):
        if key not in ("piao", "base", "raise"):  # absent means 0, 1, 0: the canonical form writes them
            del row[key]
    if "result" in row:
        for key in draw(st.sets(st.sampled_from(["end", "wins", "kongs", "fee"]))):
            del row["result"][key]
        row["result"] |= draw(private)
    if "proof" in row:
        row["proof"] |= draw(private)
    return row | draw(private)


TIMES = ["2026-05-01T12:00:03Z", "2026-05-01t12:00:03.25z", "1969-12-31T23:59:60+23:59", "0001-01-02T00:00:00-08:00"]


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(data: bytes, **asked: Any) -> tuple[pa.RecordBatch, list]:
    [out] = kwx.read(Stream("x", [data]), Context(**asked))
    return out.rounds, out.rejects


# --- round trips ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hubei.jsonl", "suizhou.jsonl"])
def test_canonical_lines_are_written_byte_for_byte(name: str) -> None:
    data = (DATA / name).read_bytes()
    assert write(parsed(data)[0]) == data
    assert write(parsed(data, keep_raw=True)[0]) == data


@FEW
@given(st.lists(rounds(), min_size=1, max_size=4))
def test_any_canonical_line_is_written_byte_for_byte(rows: list[dict[str, Any]]) -> None:
    data = "".join(dumps(row) + "\n" for row in rows).encode()
    batch, rejects = parsed(data)
    assert not rejects and batch.num_rows == len(rows)
    batch.validate(full=True)
    assert write(batch) == data


@FEW
@given(rounds(), st.randoms())
def test_any_other_spelling_means_the_same(row: dict[str, Any], random: Any) -> None:
    """Keys in another order, spaces and escapes give the same columns as the canonical line."""

    def shuffled(value: Any, inside: bool = False) -> Any:
        if isinstance(value, dict) and not inside:
            keys = list(value)
            random.shuffle(keys)
            return {key: shuffled(value[key], key.startswith("_") or key == "options") for key in keys}
        return [shuffled(one, inside) for one in value] if isinstance(value, list) and not inside else value

    def columns(text: str) -> dict[str, Any]:
        batch, rejects = parsed(text.encode())
        assert not rejects
        [out] = batch.to_pylist()
        extra = out.pop("extra")
        return {key: out[key] for key in out if key not in ("content", "line_sha256")} | {
            "extra": extra and json.loads(extra)
        }

    plain = columns(dumps(row))
    assert columns(json.dumps(shuffled(row))) == plain
    assert columns(json.dumps(row, indent=1).replace("\n", "\t")) == plain


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("keep", [True, False])
def test_files_come_back_as_they_were(tmp_path: Path, suffix: str, keep: bool) -> None:
    spaced = b"".join(json.dumps(json.loads(text)).encode() + b"\n" for text in LINES)
    log, other, back = tmp_path / "log.jsonl", tmp_path / f"other{suffix}", tmp_path / "back.jsonl"
    log.write_bytes(spaced)
    convert(Reader([log], keep_raw=keep), other)
    convert(Reader([other], keep_raw=keep), back)
    if keep:
        assert back.read_bytes() == spaced
    assert [json.loads(text) for text in back.read_bytes().splitlines()] == [json.loads(text) for text in LINES]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted({"log.jsonl", f"other{suffix}", "back.jsonl"})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_bytes_do_not_depend_on_batches(tmp_path: Path, suffix: str) -> None:
    made = []
    for size in (1, 5, 4096):
        path = tmp_path / f"{size}{suffix}"
        convert(Reader([DATA / "hubei.jsonl", DATA / "suizhou.jsonl"], batch_rounds=size), path)
        made.append(path.read_bytes())
    assert made[0] == made[1] == made[2]


def test_a_converted_foreign_round_comes_back_whole(tmp_path: Path) -> None:
    [foreign] = sorted((DATA / "node_kwx").glob("sx_03*.rows.jsonl.gz"))
    path, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    before, rejects, _ = read(foreign)
    convert(Reader([foreign]), path)
    after, more, _ = read(path)
    assert before and not rejects and not more
    own = ("source", "format", "record", "line", "byte", "content", "line_sha256", "extra")
    for one, two in zip(before, after, strict=True):
        assert {key: one[key] for key in one if key not in own} == {key: two[key] for key in two if key not in own}
        assert json.loads(two["extra"])["_source"]["format"] == one["format"]
    convert(Reader([path]), again)
    assert again.read_bytes() == path.read_bytes()


def test_converting_tells_what_it_refuses(tmp_path: Path) -> None:
    refused: list[str] = []
    written: list[int] = []
    convert(
        Reader([DATA / "broken" / "bad_type.jsonl"]),
        tmp_path / "out.jsonl",
        written.append,
        lambda rejects: refused.extend(rejects.column("code").to_pylist()),
    )
    assert (refused, written) == (["bad_type"], [2])
    for suffix in SUFFIXES:  # nothing but rejects
        convert(Reader([__file__]), tmp_path / f"out{suffix}", written.append)
        assert sum(written) == 2
        assert not list(Reader([tmp_path / f"out{suffix}"]))


def test_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with pytest.raises(ZeroDivisionError), Output(path) as output:
        output.add(parsed(LOG)[0])
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())
    with pytest.raises(WriteError, match="must end in"):
        Output(tmp_path / "out.csv")
    with pytest.raises(WriteError, match="No such file"), Output(tmp_path / "none" / "out.jsonl"):
        pass


# --- columns --------------------------------------------------------------------------------------------------------


def test_a_line_as_columns() -> None:
    [row] = parsed(LINES[0], keep_raw=True)[0].to_pylist()
    told = json.loads(LINES[0])
    assert row["round_id"] is None  # filled by the reader
    assert read(DATA / "hubei.jsonl")[0][0]["round_id"] == ev.digest64(told["site"], told["game"], told["round"])
    assert read(DATA / "hubei.jsonl")[0][0]["game_key"] == ev.digest64(told["site"], told["game"])
    kinds = [parse(hand) for hand in told["deal"]]
    kinds[1:] = [hand + [255] for hand in kinds[1:]] if told["dealer"] == 0 else kinds[1:]
    assert told["dealer"] != 0 or row["deal"] == bytes(sum(kinds, []))
    assert list(row["wall"]) == parse(told["wall"])
    assert " ".join(ev.token(event, NAMES["ps"]) for event in row["events"]) == told["events"]
    assert row["raw"] == LINES[0].decode() and row["byte"] == 0 and row["line"] == 1
    assert (row["piao_from"], row["raise_from"], row["hidden_from"], row["coverage"]) == (
        "logged",
        "logged",
        "logged",
        "full",
    )
    assert json.loads(row["extra"]) == {"_expect": told["_expect"]}


def test_what_a_log_may_leave_out() -> None:
    gone = ("site", "options", "dice", "piao", "base", "raise", "wall", "result")
    [row] = parsed(line(**dict.fromkeys(gone)))[0].to_pylist()
    assert (row["site"], row["options"], row["piao"], row["base"], row["raise"]) == ("", "{}", [0, 0, 0], 1, 0)
    for name in (
        "dice",
        "wall",
        "times",
        "time",
        "prev",
        "proof_commit",
        "result_end",
        "result_points",
        "result_wins",
        "event_no",
    ):
        assert row[name] is None, name


def test_a_round_without_events_and_one_with_only_an_end() -> None:
    data = b"\n".join([line(events="", times=[]), line(events="e"), line(events="0l1p9s7z z")])
    events = parsed(data)[0].column("events").to_pylist()
    hidden = 1 << 0 | 1 << 17 | 1 << 20
    assert events == [[], [ev.pack(3, ev.EXHAUSTED)], [ev.pack_reveal(0, hidden), ev.pack(3, ev.ABORTED)]]


def test_suits_come_from_the_tiles_and_at_need_from_the_events() -> None:
    dots, hand = "1p" * 14, "1p" * 13
    for deal, events, suits in (
        ([dots, hand, hand], "0x1p", "ps"),
        ([dots, hand, hand], "0x1p 1p1p0 2w3m", "mp"),
        ([dots, hand, hand], "0x1p 1p1p0", "ps"),
        ([dots, "1s" * 13, hand], "0x1s", "ps"),
        (["1m" * 14, "1s" * 13, "1m" * 13], "0x1s", "ms"),
        (["5z" * 14, "5z" * 13, "6z" * 13], "e", "ps"),
    ):
        row = line(deal=deal, events=events, dealer=0, wall=None, result=None)
        assert parsed(row)[0].column("suits").to_pylist() == [suits]


def test_private_keys_keep_their_places_and_their_spelling() -> None:
    row = json.loads(LINES[0])
    del row["_expect"]
    text = dumps(row)[:-2] + ',"_b":1.50},"_a":[1e3, "\\u5361"],"_c":{"d":0.10}}'
    batch, rejects = parsed(text.encode())
    assert not rejects
    assert batch.column("extra").to_pylist() == ['{"result._b":1.50,"_a":[1e3, "\\u5361"],"_c":{"d":0.10}}']
    assert write(batch).decode() == text + "\n"


def test_members_of_an_object() -> None:
    text = ' { "a" : 1 , "b\\"" : {"c":[ ]},"d":"," } '
    assert [(key, text[start:end]) for key, start, end in members(text)] == [
        ("a", "1"),
        ('b"', '{"c":[ ]}'),
        ("d", '","'),
    ]
    assert not list(members("{ }"))


@pytest.mark.parametrize(
    ("time", "expected"),
    [("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.0019Z", 1), ("1970-01-01T08:00:00+08:00", 0),
     ("1969-12-31T23:59:60Z", 0), ("1969-12-31t23:59:59.999z", -1), ("2026-05-01T12:00:03-00:00", 1777636803000)],
)  # fmt: skip
def test_times(time: str, expected: int) -> None:
    assert milliseconds(time) == expected


@given(st.integers(-(10**13), 10**13))
def test_times_written_are_read(moment: int) -> None:
    assert milliseconds(rfc3339(moment)) == moment


@FEW
@given(st.lists(st.text("0123lxdpwkcaynrez 59psmz5", max_size=24), min_size=1, max_size=5))
def test_tokens_right_or_wrong_are_told_the_same_by_both_decoders(texts: list[str]) -> None:
    suits = np.zeros(len(texts), np.uint8)
    packed, offsets, fine = decode_events(texts, suits)
    for text, good in zip(texts, fine, strict=True):
        if good:
            explain_events(text, 0)
        else:
            with pytest.raises(Reject):
                explain_events(text, 0)
    if fine.all():
        assert encode_events(packed, offsets, suits).to_pylist() == texts
        assert kwx_parquet.event_is_sound(packed).all()


def test_the_reader_hashes_lines_for_the_chain() -> None:
    from hashlib import sha256

    [row] = parsed(LINES[0] + b"\r\n")[0].to_pylist()
    assert row["line_sha256"] == sha256(LINES[0]).hexdigest()
    assert row["content"] == int.from_bytes(sha256(LINES[0]).digest()[:8], "little")
