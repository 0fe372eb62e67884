"""The kwx log, version 1: one round a line of JSON.  Source: log-format.md section 1.

Lines are checked one by one (kwx_record); tiles and events of a whole batch are decoded together (ingest.notation).
`line_sha256` is filled for every round, since a line cannot know whether the next one of its game will name it in
`prev`; its first 64 bits are the round's `content`.
"""

import re
from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import pyarrow as pa

from ingest.events import WIN_TYPE
from ingest.formats import Context, Parsed, rounds_batch
from ingest.formats.kwx_record import Record, record, restored
from ingest.notation import decode_events, decode_hands, decode_wall, explain_events, explain_tiles, suits_of
from ingest.rejects import Reject, RejectRow
from ingest.sources import TOO_LONG, UNENDED, Line, Stream
from ingest.tiles import ALL_TILES, KIND_OF, PAD, SUITS, WALL_TILES

NAME = "kwx"
BATCH_BYTES = 1 << 24  # lines held for one batch, whatever their number
_KEY = re.compile(rb'"kwx"\s*:')


def sniff(head: bytes) -> bool:
    """A text whose first lines name the key "kwx"."""
    return b"\0" not in head and _KEY.search(head) is not None


def read(stream: Stream, context: Context) -> Iterator[Parsed]:
    """The rounds and rejects of a stream of lines."""
    held: list[Line] = []
    size = first = 0
    for lines in stream.lines():
        for line in lines:
            held.append(line)
            size += len(line.data)
            if len(held) >= context.batch_rounds or size >= BATCH_BYTES:
                yield parse(stream, held, first, context)
                first += len(held)
                held, size = [], 0
    if held:
        yield parse(stream, held, first, context)


def parse(stream: Stream, lines: list[Line], first: int, context: Context) -> Parsed:
    """Lines to a batch of rounds and the rejects; `first` is the record number of the first line."""
    rejects: list[RejectRow] = []
    rows: list[Record] = []
    at: list[int] = []  # the line of each row

    def refuse(index: int, reject: Reject) -> None:
        line = lines[index]
        row = RejectRow(first + index, line.number, line.byte, reject.code, reject.field, reject.message, line.data)
        rejects.append(row)

    for index, line in enumerate(lines):
        try:
            rows.append(_record(line, stream, context))
            at.append(index)
        except Reject as reject:
            refuse(index, reject)
    tiles, fine = _tiles(rows)
    if not fine.all():
        for row in np.flatnonzero(~fine):
            try:
                _explain(rows[row], int(tiles["suits"][row]))
            except Reject as reject:
                refuse(at[row], reject)
        rows = [row for row, good in zip(rows, fine, strict=True) if good]
        at = [index for index, good in zip(at, fine, strict=True) if good]
        tiles, fine = _tiles(rows)
        rejects.sort()
    raws = [lines[index].data for index in at]
    columns = {
        "source": stream.name,
        "format": NAME,
        "record": pa.array([first + index for index in at], pa.int64()),
        "line": pa.array([lines[index].number for index in at], pa.int64()),
        "byte": pa.array([lines[index].byte for index in at], pa.int64()),
    }
    columns |= _digests(raws) | _values(rows) | _tile_columns(rows, tiles)
    if context.keep_raw:
        columns["raw"] = pa.array([raw.decode() for raw in raws], pa.large_string())
    return Parsed(rounds_batch(columns, len(rows)), raws, rejects)


def _record(line: Line, stream: Stream, context: Context) -> Record:
    if stream.wide:
        raise Reject("not_utf8", None, f"{stream.wide} text; save it as UTF-8")
    if line.state == TOO_LONG:
        raise Reject("too_long", None, "a line of more than 1 MiB")
    try:
        return record(line.data.decode(), context)
    except UnicodeDecodeError as error:
        if line.state == UNENDED and error.end == len(line.data) and "end of data" in error.reason:
            raise Reject("truncated", None, _cut(stream)) from None
        raise Reject("not_utf8", None, f"byte {line.byte + error.start} is not UTF-8 ({error.reason})") from None
    except Reject as reject:
        if line.state == UNENDED and reject.code == "bad_json" and line.data.lstrip()[:1] == b"{":
            raise Reject("truncated", None, f"{_cut(stream)} ({reject.message})") from None
        raise


def _cut(stream: Stream) -> str:
    return "the last record lacks its end" + (f"; {stream.fault.message}" if stream.fault else "")


def _tiles(rows: list[Record]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The decoded tiles and events of rows, and which rows are free of faults."""
    hands = [hand for row in rows for hand in row.deal]
    walls = [row.wall for row in rows]
    orders = [row.proof[3] if row.proof else None for row in rows]
    events = [row.events for row in rows]
    suits = suits_of(hands[0::3], hands[1::3], hands[2::3], walls, orders, events=events)
    dealer = np.array([row.dealer for row in rows], np.int64)
    deal, counts, fine = decode_hands(hands, suits)
    fine &= (counts == 13 + (np.arange(3) == dealer[:, None])).all(axis=1)
    wall = np.full((len(rows), WALL_TILES), PAD, np.uint8)
    for texts, size, out in ((walls, WALL_TILES, wall), (orders, ALL_TILES, None)):
        there = np.flatnonzero([text is not None for text in texts])
        kinds, good = decode_wall([texts[row] for row in there], suits[there], size)
        fine[there] &= good
        if out is not None:
            out[there] = kinds
    packed, offsets, good = decode_events(events, suits)
    fine &= good
    for row, one in enumerate(rows):
        for win in one.result[2] or () if one.result else ():
            fine[row] &= suits[row] != PAD and win["tile"] in KIND_OF[SUITS[suits[row]]]
        numbers = one.source.get("event_no") if one.source else None
        fine[row] &= not isinstance(numbers, list) or len(numbers) == offsets[row + 1] - offsets[row]
    return {"suits": suits, "deal": deal, "wall": wall, "events": packed, "offsets": offsets}, fine


def _explain(row: Record, suits: int) -> None:
    """Raise the Reject of a row that _tiles has refused."""
    for seat, hand in enumerate(row.deal):
        what = "for the dealer" if seat == row.dealer else "for a seat that is not the dealer"
        explain_tiles(hand, suits, f"deal.{seat}", (13 + (seat == row.dealer),), what)
    for text, field, size in ((row.wall, "wall", 44), (row.proof and row.proof[3], "proof.order", 84)):
        if text is not None:
            if len(text) == 2 * size and suits != PAD:
                for at in range(0, len(text), 2):
                    explain_tiles(text[at : at + 2], suits, f"{field}.{at // 2}", (1,), "")
            explain_tiles(text, suits, field, (size,), "")
            if len(text) != 2 * size:
                raise Reject("bad_tile", field, f"{len(text)} characters, expected two for each of {size} tiles")
    explain_events(row.events, suits)
    for at, win in enumerate(row.result[2] or () if row.result else ()):
        if win["tile"] not in KIND_OF[SUITS[suits]]:
            raise Reject("bad_tile", f"result.wins.{at}.tile", f"{win['tile']!r} is of a suit that the deal lacks")
    raise Reject("bad_count", "_source.event_no", "one number for each event expected")


def _digests(raws: list[bytes]) -> dict[str, pa.Array]:
    hashes = [sha256(raw) for raw in raws]
    contents = np.frombuffer(b"".join([digest.digest()[:8] for digest in hashes]), "<u8")
    return {
        "content": pa.array(contents, pa.uint64()),
        "line_sha256": pa.array([digest.hexdigest() for digest in hashes], pa.string()),
    }


def _values(rows: list[Record]) -> dict[str, pa.Array | str | list]:
    """The columns that come from JSON values other than tiles and events."""
    fields = list(zip(*rows, strict=True)) or [()] * len(Record._fields)
    by_name = dict(zip(Record._fields, fields, strict=True))
    names = ("site", "game", "round", "prev", "time", "time_ms", "rules", "options", "dealer", "dice", "base", "times")
    columns = {name: list(by_name[name]) for name in (*names, "extra", "players")}
    foreign = [restored(source) if source else {} for source in by_name["source"]]
    origin = [more.get("piao_from", "logged") for more in foreign]
    columns["piao_from"] = origin
    columns["piao"] = [
        piao if piao or come != "logged" else [0, 0, 0] for piao, come in zip(by_name["piao"], origin, strict=True)
    ]
    origin = [more.get("raise_from", "logged") for more in foreign]
    columns["raise_from"] = origin
    columns["raise"] = [
        times if times is not None or come != "logged" else 0
        for times, come in zip(by_name["raise_"], origin, strict=True)
    ]
    columns["hidden_from"] = [more.get("hidden_from", "logged") for more in foreign]
    columns["coverage"] = [more.get("coverage", "full") for more in foreign]
    columns["event_no"] = [more.get("event_no") for more in foreign]
    proofs = [proof or (None,) * 5 for proof in by_name["proof"]]
    for at, name in enumerate(("scheme", "commit", "salt", "order", "deal")):
        columns[f"proof_{name}"] = [proof[at] for proof in proofs]
    results = [result or (None,) * 5 for result in by_name["result"]]
    for at, name in ((0, "end"), (1, "points"), (3, "kongs"), (4, "fee")):
        columns[f"result_{name}"] = [result[at] for result in results]
    return columns


def _tile_columns(rows: list[Record], tiles: dict[str, np.ndarray]) -> dict[str, pa.Array]:
    suits, deal, wall = tiles["suits"], tiles["deal"], tiles["wall"]
    codes = pa.array(suits.astype(np.int32))
    wins = [
        None
        if row.result is None or row.result[2] is None
        else [{**win, "tile": KIND_OF[SUITS[code]][win["tile"]]} for win in row.result[2]]
        for row, code in zip(rows, suits, strict=True)
    ]
    lacking = pa.array([row.wall is None for row in rows], pa.bool_())
    walls = pa.Array.from_buffers(pa.binary(WALL_TILES), len(rows), [None, pa.py_buffer(wall)])
    return {
        "suits": pa.DictionaryArray.from_arrays(codes, list(SUITS)),
        "deal": pa.Array.from_buffers(pa.binary(42), len(rows), [None, pa.py_buffer(np.ascontiguousarray(deal))]),
        "wall": pa.compute.if_else(lacking, None, walls),
        "events": pa.ListArray.from_arrays(pa.array(tiles["offsets"]), pa.array(tiles["events"])),
        "result_wins": pa.array(wins, pa.list_(WIN_TYPE)),
    }
