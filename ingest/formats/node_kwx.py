"""The format `node-kwx`: rows of the table `t_games` of two public Node.js servers.

Three shapes of the same seven columns: JSON lines, CSV with a header, and the INSERT statements of a MySQL dump.  The
rounds of a room come in one batch, ascending, as far as ingest.games can hold them back.  Accounts, which a row lacks,
come from a CSV `game,seat,account[,from_round]`.  Source: recorded/README.md section 2; log-format.md section 2.
"""

import csv
import json
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingest.formats import Context, Parsed, rounds_batch, sql_dump
from ingest.formats.node_kwx_row import COLUMNS, MAPPING, SUITS, Row, convert
from ingest.games import Games
from ingest.rejects import RAW_LIMIT, Reject, RejectRow
from ingest.sources import TOO_LONG, UNENDED, SourceError

NAME = "node-kwx"
DELIMITERS = ",;\t"
RAISE_ON = '"side.raise":true'  # in the options' JSON
NULLS = ("", "NULL", "\\N")  # how CSV exports write a null
CSV_RECORD_LINES = 64  # lines that one CSV record may span

# A dump starts with "-- ", or else with another comment or a statement and has a statement soon: pages of notes may
# begin with "#" too.
_SQL_START = re.compile(rb"\s*(--\s|/\*|#|[A-Z]+\s)", re.IGNORECASE)
_SQL = re.compile(
    rb"^[ \t]*(/\*!\d|(INSERT|REPLACE)\s+(\w+\s+){0,2}INTO\s|(CREATE|DROP)\s+(TABLE|DATABASE)\s|LOCK\s+TABLES\s"
    rb"|DELETE\s+FROM\s|TRUNCATE\s+TABLE\s|USE\s+`|SET\s+NAMES\s|SET\s+[@\w]+\s*=|START\s+TRANSACTION\s*;|BEGIN\s*;)",
    re.IGNORECASE | re.MULTILINE,
)
_JSON_ROW = re.compile(rb'"(room_uuid|action_records|base_info)"\s*:')


class Record(NamedTuple):
    """One record of a source: its position, its bytes, and its values by column or why there are none."""

    line: int
    byte: int
    raw: bytes
    values: dict[str, Any] | Reject


def _header(head: bytes) -> str | None:
    """The delimiter of a CSV header that names the columns, or None."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    for delimiter in DELIMITERS:
        names = [name.strip().strip('"`') for name in first.split(delimiter)]
        # The list of columns in an INSERT names them too, but "INSERT INTO t_games (" is no name.
        if len({*MAPPING["required"]} & {*names}) >= 2 and all(map(str.isidentifier, names)):
            return delimiter
    return None


def sniff(head: bytes) -> bool:
    """Whether a source that starts with these bytes holds rows of `t_games`: as JSON, as CSV, or in a dump."""
    start = _SQL_START.match(head.removeprefix(b"\xef\xbb\xbf"))
    dump = start and (start[1].startswith(b"--") or _SQL.search(head))
    return bool(_header(head) or _JSON_ROW.search(head) or dump)


def read(stream: Any, context: Context) -> Iterator[Parsed]:
    """The records of one source; see ingest.formats.  SourceError when the file of accounts is wrong."""
    if _header(stream.head):
        records = _csv_records(stream)
    elif _JSON_ROW.search(stream.head):
        records = _json_records(stream)
    else:
        found = sql_dump.rows(stream.chunks(), MAPPING["tables"], COLUMNS)
        records = (Record(*row) for row in found)
    return _rounds(stream.name, records, context, Accounts(context.users))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [name for name, _ in pairs]
        raise Reject("duplicate_key", next(name for name in names if names.count(name) > 1), "the key stands twice")
    return out


_DECODE = json.JSONDecoder(object_pairs_hook=_pairs).decode


def _json_records(stream: Any) -> Iterator[Record]:
    for lines in stream.lines():
        for line in lines:
            yield Record(line.number, line.byte, line.data, _json_values(line.data, line.state))


def _json_values(data: bytes, state: int) -> dict[str, Any] | Reject:
    if state == TOO_LONG:
        return Reject("too_long", None, "a line beyond the limit")
    try:
        values = _DECODE(data.decode())
    except UnicodeDecodeError as error:
        return Reject("not_utf8", None, f"not UTF-8 ({error.reason} at byte {error.start})")
    except Reject as reject:
        return reject
    except (ValueError, RecursionError) as error:
        if state == UNENDED:
            return Reject("truncated", None, "the last line breaks off")
        return Reject("bad_json", None, f"not JSON: {error}")
    if type(values) is not dict:
        return Reject("bad_type", None, f"a JSON {type(values).__name__}, expected an object of columns")
    return values


def _csv_records(stream: Any) -> Iterator[Record]:
    """CSV records; a quoted field may span lines.  The header is no record."""
    delimiter = _header(stream.head)
    names: list[str] | None = None
    held: list = []  # lines of the record under way
    quotes = 0
    for lines in stream.lines():
        for line in lines:
            held.append(line)
            quotes += line.data.count(b'"')
            if quotes % 2 and len(held) < CSV_RECORD_LINES and line.state != TOO_LONG:
                continue
            if names is None:
                names = next(csv.reader([held[0].data.decode("utf-8", "replace")], delimiter=delimiter))
                names = [name.strip().strip("`") for name in names]
            else:
                yield _csv_record(held, quotes, names, delimiter)
            held, quotes = [], 0
    if held:
        yield _csv_record(held, quotes, names or [], delimiter)


def _csv_record(held: list, quotes: int, names: list[str], delimiter: str) -> Record:
    raw = b"\n".join([line.data for line in held])
    values: dict[str, Any] | Reject
    if any(line.state == TOO_LONG for line in held) or quotes % 2 and len(held) >= CSV_RECORD_LINES:
        values, raw = Reject("too_long", None, "a record beyond the limit: an unclosed quote?"), raw[:RAW_LIMIT]
    elif quotes % 2:
        values = Reject("truncated", None, "the last record breaks off inside a quoted field")
    else:
        try:
            fields = next(csv.reader([raw.decode()], delimiter=delimiter, strict=True))
            if len(fields) == len(names):
                values = {name: None if text in NULLS else text for name, text in zip(names, fields, strict=True)}
            elif len(fields) < len(names) and held[-1].state == UNENDED:
                values = Reject("truncated", None, "the last record breaks off")
            else:
                values = Reject("bad_count", None, f"{len(fields)} fields, expected {len(names)}")
        except UnicodeDecodeError as error:
            values = Reject("not_utf8", None, f"not UTF-8 ({error.reason} at byte {error.start})")
        except csv.Error as error:
            values = Reject("bad_type", None, f"not a CSV record: {error}")
    return Record(held[0].number, held[0].byte, raw, values)


class Accounts:
    """Who sat where: `room/seat` unless a CSV `game,seat,account[,from_round]` says more."""

    def __init__(self, path: str | None) -> None:
        self._known: dict[tuple[str, str], list[tuple[int, str]]] = {}
        if path is None:
            return
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                for row in csv.DictReader(file):
                    self._add(path, row)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror or error}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"{path}: not a CSV in UTF-8 ({error})") from error
        for known in self._known.values():
            known.sort()

    def _add(self, path: str, row: dict[str, str]) -> None:
        seat, account, start = row.get("seat"), row.get("account"), row.get("from_round") or "0"
        if not row.get("game") or seat not in ("0", "1", "2") or not account or not start.isdecimal():
            raise SourceError(f"{path}: {row}, expected the columns game,seat,account[,from_round] (seat 0 to 2)")
        self._known.setdefault((row["game"], seat), []).append((int(start), account))

    def of(self, game: str, number: int) -> list[str]:
        """The three accounts of one round."""
        out = []
        for seat in ("0", "1", "2"):
            name = f"{game}/{seat}"
            for start, account in self._known.get((game, seat), ()):
                if start <= number:
                    name = account
            out.append(name)
        return out


class _Round(NamedTuple):
    """A converted record that waits for its game."""

    row: Row
    rules: str
    options: str
    raised: int | None  # doublings in force; None where they follow from the rounds before
    record: int
    line: int
    byte: int
    raw: bytes


def _rounds(source: str, records: Iterator[Record], context: Context, accounts: Accounts) -> Iterator[Parsed]:
    games = Games()
    ready: list[_Round] = []
    rejects: list[RejectRow] = []
    for number, record in enumerate(records):
        try:
            if isinstance(record.values, Reject):
                raise record.values
            row = convert(record.values, context.site)
            rules, options = context.ruleset(row.rules, row.options)
        except Reject as reject:
            place = (number, record.line, record.byte)
            rejects.append(RejectRow(*place, reject.code, reject.field, reject.message, record.raw[:RAW_LIMIT]))
        else:
            raised = None if row.round and RAISE_ON in options else 0
            entry = _Round(row, rules, options, raised, number, record.line, record.byte, record.raw)
            for game in games.add((row.site, row.game), row.round, number, entry, row.size):
                ready += game
        if len(ready) >= context.batch_rounds or len(rejects) >= context.batch_rounds:
            yield _parsed(source, ready, rejects, accounts)
            ready, rejects = [], []
    for game in games.rest():
        ready += game
        if len(ready) >= context.batch_rounds:
            yield _parsed(source, ready, rejects, accounts)
            ready, rejects = [], []
    yield _parsed(source, ready, rejects, accounts)


def _lists(parts: list[array], kind: pa.DataType) -> pa.Array:
    """Arrays of numbers as one list column."""
    offsets = np.zeros(len(parts) + 1, np.int32)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    data = pa.py_buffer(b"".join([part.tobytes() for part in parts]))
    return pa.ListArray.from_arrays(offsets, pa.Array.from_buffers(kind, int(offsets[-1]), [None, data]))


def _parsed(source: str, ready: list[_Round], rejects: list[RejectRow], accounts: Accounts) -> Parsed:
    ready = sorted(ready, key=lambda entry: entry.record)
    rows = [entry.row for entry in ready]
    piao_off = ["config" if row.piao else None for row in rows]
    raises = [entry.raised for entry in ready]
    columns = {
        "source": source,
        "format": NAME,
        "record": [entry.record for entry in ready],
        "line": [entry.line for entry in ready],
        "byte": [entry.byte for entry in ready],
        "site": [row.site for row in rows],
        "game": [row.game for row in rows],
        "round": [row.round for row in rows],
        "time": [row.time for row in rows],
        "time_ms": [row.time_ms for row in rows],
        "rules": [entry.rules for entry in ready],
        "options": [entry.options for entry in ready],
        "suits": SUITS,
        "players": [accounts.of(row.game, row.round) for row in rows],
        "dealer": [row.dealer for row in rows],
        "piao": [row.piao for row in rows],
        "piao_from": piao_off,
        "base": [row.base for row in rows],
        "raise": raises,
        "raise_from": ["config" if value == 0 else None for value in raises],
        "deal": [row.deal for row in rows],
        "wall": [row.wall for row in rows],
        "proof_order": [row.order for row in rows],
        "proof_deal": ["one"] * len(rows),
        "events": _lists([row.events for row in rows], pa.uint32()),
        "event_no": _lists([row.event_no for row in rows], pa.int32()),
        "result_points": [row.points for row in rows],
        "coverage": "full",
    }
    return Parsed(rounds_batch(columns, len(rows)), [entry.raw for entry in ready], rejects)
