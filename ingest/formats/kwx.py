"""The kwx log, version 1: one round a line of JSON.  Source: log-format.md section 1.

Lines are read in one of two ways to the same columns.  A scanner, where the reader has one, takes whole blocks of bytes
apart and accepts what is plainly right; whatever it does not accept, and everything where there is none, goes the exact
way through kwx_record, line by line, which alone refuses records and says why.
`line_sha256` is filled for every round, since a line cannot know whether the next one of its game will name it in
`prev`; its first 64 bits are the round's `content`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.formats import Context, Parsed, rounds_batch
from ingest.formats.kwx_columns import columns, decoded, explain
from ingest.formats.kwx_record import Record, record
from ingest.formats.kwx_rows import AT, COUNT, LAST, NUMBER, OFFSET, STOP, Block, Scanner
from ingest.formats.kwx_scanned import merged, scanned
from ingest.formats.kwx_turned import Raws, texts
from ingest.rejects import RAW_LIMIT, Reject, RejectRow, Repeated
from ingest.sources import BLANK, LINE_LIMIT, TOO_LONG, UNENDED, WHOLE, Line, Stream, without_mark

NAME = "kwx"
BY_LINE = True
BATCH_BYTES = 1 << 24  # of lines held for one batch, whatever their number
BLOCK_BYTES = 1 << 22
SHORT = 64  # bytes of a line whose fault is remembered
MANY, KINDS_MOST = 64, 256  # so many short lines of so few kinds are refused together
HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
_KEY = re.compile(rb'"kwx"\s*:')


def sniff(head: bytes) -> bool:
    """A text whose first lines name the key "kwx"."""
    return _KEY.search(head) is not None


def read(stream: Stream, context: Context) -> Iterator[Parsed]:
    """The rounds and rejects of a stream of lines; the `raws` of a part are there until the next is asked for."""
    if context.scanner is None or stream.wide:
        return _read_lines(stream, context)
    return _read_blocks(stream, context)


def _read_lines(stream: Stream, context: Context) -> Iterator[Parsed]:
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


def _read_blocks(stream: Stream, context: Context) -> Iterator[Parsed]:
    block = Block(BLOCK_BYTES, context.batch_rounds)
    place = block.place
    place[OFFSET] = stream.start
    first = 0
    dropping = False  # the rest of a line that is too long

    def parts(least: int) -> Iterator[Parsed]:
        """Batches of the lines there are, each of all rows or of `least` bytes."""
        nonlocal first
        while place[AT] < place[STOP] or place[COUNT]:
            context.scanner.scan(block)  # type: ignore[union-attr]
            stream.line = int(place[NUMBER])
            full = place[COUNT] == len(block.rows)
            if not full and (not place[COUNT] or place[AT] - block.rows["start"][0] < least):
                return
            yield parse_block(stream, block, first, context)
            first += int(place[COUNT])
            block.clear()
            if not full:
                return

    for size in stream.into(block):
        if dropping:
            stop = int(place[STOP]) - size
            piece = block.data[stop : place[STOP]].tobytes()
            end = piece.find(b"\n") + 1
            place[OFFSET] += end or size
            block.cut(stop)
            if not end:
                continue
            dropping = False
            place[NUMBER] += 1
            block.put(piece[end:])
        yield from parts(BATCH_BYTES)
        if place[STOP] - place[AT] > LINE_LIMIT:
            dropping = True
            _too_long(block)
    place[LAST] = 1
    yield from parts(0)


def _too_long(block: Block) -> None:
    """The line under way, of which RAW_LIMIT bytes are kept, becomes a row."""
    place, row = block.place, block.rows[block.place[COUNT]]
    start, stop = int(place[AT]), int(place[AT]) + RAW_LIMIT
    row["start"], row["stop"], row["byte"] = start, stop, start + place[OFFSET]
    row["number"], row["fine"], row["too_long"] = place[NUMBER], 0, 1
    place[OFFSET] += place[STOP] - stop
    block.cut(stop)
    if block.data[start:stop].tobytes().strip(BLANK):
        place[COUNT] += 1
    place[AT] = stop


def parse(stream: Stream, lines: list[Line], first: int, context: Context) -> Parsed:
    """Lines to a batch of rounds and the rejects, the exact way; `first` is the record number of the first line."""
    table, at, rejects = _exact(stream, lines, np.arange(first, first + len(lines)), context)
    mine = [lines[index] for index in at]
    raws = [line.data for line in mine]
    if context.keep_raw:
        table["raw"] = pa.array([raw.decode() for raw in raws], pa.large_string())
    numbers, bytes_ = ([getattr(line, name) for line in mine] for name in ("number", "byte"))
    table |= _placed(stream, [first + index for index in at], numbers, bytes_, _hashed(raws))
    return Parsed(rounds_batch(table, len(at)), raws, rejects)


def parse_block(stream: Stream, block: Block, first: int, context: Context) -> Parsed:
    """The rows of a block to a batch of rounds and the rejects; `first` is the record number of the first row."""
    scanner: Scanner = context.scanner  # type: ignore[assignment]
    rows = block.rows[: block.place[COUNT]]
    table, fine = scanned(block, context)
    at = np.flatnonzero(fine)
    rejects: Sequence[RejectRow] = []
    marked = 0  # bytes of a byte order mark, which is no part of the first line
    if len(at) < len(rows):
        odd = np.flatnonzero(~fine)
        again, rejects = _repeated(stream, block, odd, first, context)
        odd = odd[~again]
        if len(odd):
            lines = _lines(block, rows[odd])
            marked = lines[0].byte - int(rows["byte"][odd[0]])
            more, kept, others = _exact(stream, lines, first + odd, context)
            table, at = merged(table, at, more, odd[kept])
            rejects = sorted([*rejects, *others]) if len(rejects) else others
    starts, stops = rows["start"][at], rows["stop"][at]
    if marked and len(at) and at[0] == 0:  # only the first line of a source has one
        starts[0] += marked
    raws = Raws(block.data, starts, stops)
    if context.keep_raw:
        table["raw"] = texts(block.data, starts, stops - starts, scanner, pa.large_string())
    bytes_ = rows["byte"][at] + starts - rows["start"][at]
    if scanner.hashes:
        hashes = scanner.hashes(block.data, starts, stops)
    else:
        view = memoryview(block.data)
        hashes = _hashed(view[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True))
    table |= _placed(stream, first + at, rows["number"][at], bytes_, hashes)
    return Parsed(rounds_batch(table, len(at)), raws, rejects)


def _repeated(
    stream: Stream, block: Block, odd: np.ndarray, first: int, context: Context
) -> tuple[np.ndarray, Sequence[RejectRow]]:
    """Of the rows `odd` of a block those that are refused as short lines of a few kinds: which, and the rejects."""
    again = np.zeros(len(odd), bool)
    names = "start", "stop", "unended", "too_long", "byte", "number"
    starts, stops, unended, too_long, bytes_, numbers = (block.rows[name][odd] for name in names)
    sizes = stops - starts
    # A byte order mark is no part of the first line.
    short = np.flatnonzero((sizes <= SHORT) & (unended + too_long == 0) & (bytes_ > 0))
    if len(short) < MANY:
        return again, []
    kinds, firsts = context.scanner.codes(block.data, starts[short], sizes[short])  # type: ignore[union-attr]
    if len(firsts) > KINDS_MOST:
        return again, []
    refused = context.refused
    faults: list[RejectRow] = []
    known = np.zeros(len(firsts), bool)
    for kind, row in enumerate(short[firsts].tolist()):
        lines = _lines(block, block.rows[odd[row : row + 1]])
        if lines[0].data not in refused:
            _exact(stream, lines, np.zeros(1, np.int64), context)
        reject = refused.get(lines[0].data)
        known[kind] = reject is not None
        wrong = (reject.code, reject.field, reject.message) if reject else ("", None, "")
        faults.append(RejectRow(0, 0, 0, *wrong, lines[0].data))
    again[short[known[kinds]]] = True
    return again, Repeated(first + odd[again], numbers[again], bytes_[again], kinds[known[kinds]], faults)


def _lines(block: Block, rows: np.ndarray) -> list[Line]:
    """The lines of some rows of a block."""
    view = memoryview(block.data)
    states = np.where(rows["too_long"], TOO_LONG, np.where(rows["unended"], UNENDED, WHOLE)).tolist()
    places = zip(*(rows[name].tolist() for name in ("number", "byte", "start", "stop")), states, strict=True)
    lines = [Line(number, byte, bytes(view[start:stop]), state) for number, byte, start, stop, state in places]
    lines[0] = lines[0]._replace(**dict(zip(("byte", "data"), without_mark(lines[0].byte, lines[0].data), strict=True)))
    return lines


def _hashed(lines: Iterable[bytes | memoryview]) -> tuple[np.ndarray, np.ndarray]:
    """SHA-256 of lines: the first 64 bits, uint64, and all as hex digits, uint8[n, 64]."""
    data = np.frombuffer(b"".join([sha256(line).digest() for line in lines]), np.uint8).reshape(-1, 32)
    firsts = np.ascontiguousarray(data[:, :8]).view("<u8").ravel()
    return firsts, HEX[np.stack([data >> 4, data & 15], axis=2)].reshape(-1, 64)


def _placed(
    stream: Stream, records: Any, numbers: Any, bytes_: Any, hashes: tuple[np.ndarray, np.ndarray]
) -> dict[str, Any]:
    """The columns that tell where rounds stand, and the digests of their lines."""
    firsts, digits = hashes
    offsets = pa.py_buffer(np.arange(len(firsts) + 1, dtype=np.int32) * 64)
    return {
        "source": stream.name,
        "format": NAME,
        "record": pa.array(records, pa.int64()),
        "line": pa.array(numbers, pa.int64()),
        "byte": pa.array(bytes_, pa.int64()),
        "content": pa.array(firsts),
        "line_sha256": pa.StringArray.from_buffers(len(firsts), offsets, pa.py_buffer(digits)),
    }


def _exact(
    stream: Stream, lines: list[Line], records: np.ndarray, context: Context
) -> tuple[dict[str, Any], list[int], list[RejectRow]]:
    """Lines the exact way: the columns of those that are rounds, which these are, and the rejects of the others."""
    rejects: list[RejectRow] = []
    rows: list[Record] = []
    at: list[int] = []  # the line of each row

    def refuse(index: int, reject: Reject) -> None:
        line = lines[index]
        place = int(records[index]), line.number, line.byte
        rejects.append(RejectRow(*place, reject.code, reject.field, reject.message, line.data))

    refused = context.refused
    for index, line in enumerate(lines):
        # A log may be nothing but millions of the same few faults.
        same = refused.get(line.data) if line.state == WHOLE else None
        if same is not None:
            refuse(index, same)
            continue
        try:
            rows.append(_record(line, stream, context))
            at.append(index)
        except Reject as reject:
            refuse(index, reject)
            if line.state == WHOLE and len(line.data) <= SHORT and reject.code != "not_utf8" and len(refused) < 4096:
                refused[line.data] = reject
    arrays, fine = decoded(rows)
    if not fine.all():
        for row in np.flatnonzero(~fine):
            try:
                explain(record(lines[at[row]].data.decode(), context), int(arrays["suits"][row]))
            except Reject as reject:
                refuse(at[row], reject)
        rows = [row for row, good in zip(rows, fine, strict=True) if good]
        at = [index for index, good in zip(at, fine, strict=True) if good]
        arrays, fine = decoded(rows)
        rejects.sort()
    return columns(rows, arrays, context.site or ""), at, rejects


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
