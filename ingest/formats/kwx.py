"""The kwx log, version 1: one round a line of JSON.  Source: log-format.md section 1.

A line in canonical form is taken apart by one regular expression, which checks nearly everything at once; any other
line, and every line with a fault, goes the slow, exact way through kwx_record.  Both give the same texts, and the texts
of a whole batch are turned into columns together, which also finds the faults in tiles, events and times.
`line_sha256` is filled for every round, since a line cannot know whether the next one of its game will name it in
`prev`; its first 64 bits are the round's `content`.
"""

import gc
import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256

import numpy as np
import pyarrow as pa

from ingest.formats import Context, Parsed, rounds_batch
from ingest.formats.kwx_columns import columns, decoded, explain, packed_fans
from ingest.formats.kwx_json import dumps, load
from ingest.formats.kwx_record import NAME_LIMIT, SCHEME, Fields, Record, made, milliseconds, record
from ingest.rejects import Reject, RejectRow
from ingest.sources import TOO_LONG, UNENDED, Line, Stream

NAME = "kwx"
BATCH_BYTES = 1 << 24  # lines held for one batch, whatever their number
_KEY = re.compile(rb'"kwx"\s*:')

# Of texts without a backslash; tiles and events are looked at later, so any text will do here.
_TEXT = r'[^"\x00-\x1f]'
_LATER = r'"([^"]*)"'
_INT = r"(?:0|-?[1-9][0-9]{0,14})"
_COUNT = r"(?:0|[1-9][0-9]{0,14})"
_PIAO = r"(?:0|[1-9][0-9]{0,5})"
_HEX = r"[0-9a-f]{64}"
_WIN = (
    r'\{"seat":([0-2])(?:,"from":([0-2]))?,"tile":"([1-9][mps]|[567]z)"(?:,"fans":\[([a-z_,"]*)\])?'
    rf'(?:,"multiple":({_COUNT}))?\}}'
)
_RESULT = (
    rf'\{{(?:"end":"(win|draw|no_safe_tile|aborted)",)?"points":\[({_INT},{_INT},{_INT})\]'
    rf'(?:,"wins":(\[)(?:{_WIN}(?:,{_WIN})?)?\])?(?:,"kongs":\[({_INT},{_INT},{_INT})\])?(?:,"fee":({_COUNT}))?\}}'
)
_PROOF = rf'\{{"scheme":"({SCHEME})","commit":"({_HEX})","salt":"([ !#-~]*)","order":{_LATER},"deal":"(one|four)"\}}'
# The groups are the fields of Fields, in order.
_CANONICAL = re.compile(
    rf'\{{"kwx":1(?:,"site":"({_TEXT}+)")?,"game":"({_TEXT}+)","round":({_COUNT})(?:,"prev":"({_HEX})")?'
    rf'(?:,"time":"([0-9TZ:.+-]+)")?,"rules":"({_TEXT}*)"(?:,"options":(\{{[^{{}}\x00-\x1f]*\}}))?'
    rf',"players":\[("{_TEXT}*","{_TEXT}*","{_TEXT}*")\],"dealer":([0-2])(?:,"dice":\[([1-6],[1-6])\])?'
    rf'(?:,"piao":\[({_PIAO},{_PIAO},{_PIAO})\])?(?:,"base":([1-9][0-9]{{0,11}}))?(?:,"raise":([0-9]|1[0-6]))?'
    rf',"deal":\[{_LATER},{_LATER},{_LATER}\](?:,"wall":{_LATER})?(?:,"proof":{_PROOF})?'
    rf',"events":{_LATER}(?:,"times":\[([0-9,]*)\])?(?:,"result":{_RESULT})?(,"_.*)?\}}'
)


def sniff(head: bytes) -> bool:
    """A text whose first lines name the key "kwx"."""
    return _KEY.search(head) is not None


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
    collecting = gc.isenabled()
    gc.disable()  # thousands of small tuples, none in a cycle: looking through them takes a fifth of the time
    try:
        return _parse(stream, lines, first, context)
    finally:
        if collecting:
            gc.enable()


def _parse(stream: Stream, lines: list[Line], first: int, context: Context) -> Parsed:
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
    raws = [lines[index].data for index in at]
    hashes = [sha256(raw) for raw in raws]
    contents = np.frombuffer(b"".join([digest.digest()[:8] for digest in hashes]), "<u8")
    table = columns(rows, arrays, context.site or "") | {
        "source": stream.name,
        "format": NAME,
        "record": pa.array([first + index for index in at], pa.int64()),
        "line": pa.array([lines[index].number for index in at], pa.int64()),
        "byte": pa.array([lines[index].byte for index in at], pa.int64()),
        "content": pa.array(contents, pa.uint64()),
        "line_sha256": pa.array([digest.hexdigest() for digest in hashes], pa.string()),
    }
    if context.keep_raw:
        table["raw"] = pa.array([raw.decode() for raw in raws], pa.large_string())
    return Parsed(rounds_batch(table, len(rows)), raws, rejects)


def _record(line: Line, stream: Stream, context: Context) -> Record:
    """A line's record, the fast way or the slow one."""
    if stream.wide:
        raise Reject("not_utf8", None, f"{stream.wide} text; save it as UTF-8")
    if line.state == TOO_LONG:
        raise Reject("too_long", None, "a line of more than 1 MiB")
    try:
        text = line.data.decode()
        return canonical(text, context) or record(text, context)
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


def canonical(text: str, context: Context) -> Record | None:
    """The record of a line in canonical form; None for a line that has to be looked at more closely."""
    match = None if "\\" in text else _CANONICAL.fullmatch(text)
    if match is None:
        return None
    fields = Fields._make(match.groups())
    source = None
    try:
        players = _players(fields.players)
        if not _fine(fields.fans_0, fields.seat_0, fields.from_0) or not _fine(
            fields.fans_1, fields.seat_1, fields.from_1
        ):
            return None
        if fields.extra is not None:
            extra = "{" + fields.extra[1:] + "}"
            private = load(extra)
            if dumps(private) != extra or any(not key.startswith("_") for key in private):
                return None
            fields = fields._replace(extra=extra)
            source = private.get("_source")
        if fields.options is not None and not _compact(fields.options):
            return None
        ruleset = context.ruleset(fields.rules, fields.options or "{}")
        time_ms = None if fields.time is None else milliseconds(fields.time)
    except (Reject, ValueError):
        return None
    return made(fields, players, ruleset, time_ms, source)


@lru_cache(maxsize=4096)
def _players(text: str) -> list[str]:
    """Three quoted names; ValueError when one is too long."""
    players = text[1:-1].split('","')
    if max(map(len, players)) > NAME_LIMIT:
        raise ValueError
    return players


@lru_cache(maxsize=4096)
def _compact(options: str) -> bool:
    """Whether the text is an object as dumps writes it; Reject when it is no object at all."""
    return dumps(load(options)) == options


def _fine(fans: str | None, seat: str | None, payer: str | None) -> bool:
    return (payer is None or payer != seat) and (fans is None or packed_fans(fans) >= 0)
