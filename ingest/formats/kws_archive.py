"""The format `kws-archive`: history records of a small public web server, alone or in the archive of a whole room.

Two shapes of JSON lines: one history record a line, and one room a line with its records under `history`, the newest
first.  Every record is one round, and an archive is read in ascending round.  `game` is the archive's id; in a file
of records it is the file's stem, "#" and the number of the run, from 1: a new run begins whenever `round` does not
increase.  The same record in both shapes, or twice in either, is a repeat: it carries an id of its own.
Neither wall nor drawn tiles are there: coverage "settlement_only".  Source: log-format.md section 2.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from ingest.formats import Context, Parsed, rounds_batch
from ingest.formats.kws_archive_actions import MAPPING
from ingest.formats.kws_archive_record import KEYS, MEMBERS, SUITS, Row, convert, known
from ingest.formats.kwx_json import elements, load, members, type_of
from ingest.formats.kwx_record import NAME_LIMIT
from ingest.rejects import Reject, RejectRow
from ingest.sources import TOO_LONG, UNENDED, Line, Stream

NAME = "kws-archive"
ONE_RECORD = True  # equal content is the same record, whatever game it stands in
LINE_LIMIT = 1 << 23  # bytes; a room of 32 rounds has about 80,000

_KEY = re.compile(rb'"(dealHand|winTile|history)"\s*:')
_OTHERS = re.compile(rb'"(kwx|room_uuid)"\s*:')  # keys of other formats, whose private parts may hold ours
_SUFFIX = re.compile(r"(\.(jsonl|ndjson|json|gz|zst|zip))+$", re.IGNORECASE)


class Item(NamedTuple):
    """One record of a source: its bytes, where they start, what it holds, and its room where an archive names it."""

    raw: bytes
    byte: int
    value: Any
    game: str | None
    names: list[str] | None


class Read(NamedTuple):
    """A record that became a round."""

    row: Row
    game: str
    rules: str
    options: str
    line: Line
    record: int
    item: Item


def sniff(head: bytes) -> bool:
    """A text of JSON objects whose first lines name a key of the records or of an archive."""
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"{" or b"\0" in head:
        return False
    return _KEY.search(head) is not None and not _OTHERS.search(head)


def read(stream: Stream, context: Context) -> Iterator[Parsed]:
    """The records of one source; see ingest.formats."""
    runs = Runs(stream.name)
    rounds: list[Read] = []
    rejects: list[RejectRow] = []
    record = 0
    for lines in stream.lines(LINE_LIMIT):
        for line in lines:
            for item in _items(line):
                try:
                    if isinstance(item.value, Reject):
                        raise item.value
                    row = convert(item.value, item.names)
                    game = runs.game(row.round, row.id) if item.game is None else item.game
                    rules, options = context.ruleset(row.rules, row.options)
                    rounds.append(Read(row, game, rules, options, line, record, item))
                except Reject as fault:
                    place = (record, line.number, item.byte)
                    rejects.append(RejectRow(*place, fault.code, fault.field, fault.message, item.raw))
                record += 1
            if len(rounds) >= context.batch_rounds or len(rejects) >= context.batch_rounds:
                yield _parsed(stream.name, rounds, rejects, context)
                rounds, rejects = [], []
    yield _parsed(stream.name, rounds, rejects, context)


class Runs:
    """The game of each record of a file without rooms: rounds ascend within one."""

    def __init__(self, source: str) -> None:
        self._stem = _SUFFIX.sub("", source.rsplit("/", 1)[-1])
        self._run, self._round, self._id = 0, -1, ""

    def game(self, number: int, ident: str) -> str:
        """The game of the next record, whose round is `number`."""
        if ident != self._id and (not self._run or number <= self._round):  # the same record again opens no run
            self._run += 1
        self._round, self._id = number, ident
        return f"{self._stem}#{self._run}"


def _items(line: Line) -> list[Item]:
    """The records of one line, a room's in ascending round; what is wrong with the line itself is one record."""
    try:
        if line.state == TOO_LONG:
            raise Reject("too_long", None, f"a line of more than {LINE_LIMIT} bytes")
        text = line.data.decode()
        value = load(text)
    except UnicodeDecodeError as error:
        fault = Reject("not_utf8", None, f"not UTF-8 ({error.reason} at byte {error.start})")
        return [Item(line.data, line.byte, fault, None, None)]
    except Reject as reject:
        if line.state == UNENDED and reject.code == "bad_json":
            reject = Reject("truncated", None, "the last line breaks off")
        return [Item(line.data, line.byte, reject, None, None)]
    if "history" not in value:
        return [Item(line.data, line.byte, value, None, None)]
    try:
        known(value, KEYS["archive"], optional=[key for key in KEYS["archive"] if key not in ("id", "history")])
        if type(value["history"]) is not list:
            raise Reject("bad_type", "history", f"{type_of(value['history'])}, expected a list of records")
    except Reject as reject:
        return [Item(line.data, line.byte, reject, None, None)]
    room = _room(value)
    start = next(start for key, start, _ in members(text) if key == "history")
    out = []
    for one, (begin, end) in zip(value["history"], elements(text, start), strict=True):
        raw, before = text[begin:end].encode(), len(text[:begin].encode())
        if isinstance(room, Reject):
            out.append(Item(raw, line.byte + before, room, None, None))
        else:
            out.append(Item(raw, line.byte + before, one, *room))
    out.reverse()
    return sorted(out, key=_round)


def _round(item: Item) -> int:
    number = item.value.get("round") if isinstance(item.value, dict) else None
    return number if type(number) is int else -1


def _room(archive: dict[str, Any]) -> tuple[str, list[str] | None] | Reject:
    """A room's id and the names of its people, or what is wrong with them."""
    ident, names = archive["id"], archive.get("names")
    if type(ident) is not str or not 0 < len(ident) <= NAME_LIMIT or not ident.isprintable():
        return Reject("bad_value", "id", f"{type_of(ident)}, expected the archive's id")
    if names is None:
        return ident, None
    fine = type(names) is list and all(type(name) is str and 0 < len(name) <= NAME_LIMIT for name in names)
    if not fine or len(names) > MEMBERS:
        return Reject("bad_value", "names", f"{type_of(names)}, expected at most {MEMBERS} names")
    return ident, names


def _accounts(game: str, row: Row) -> list[str]:
    """Who sat where: the names, told apart by the number in the room where two are the same."""
    names = [f"{game}/{member}" if name is None else name for name, member in zip(row.names, row.members, strict=True)]
    if len(set(names)) < len(names):
        names = [f"{name}#{member}" for name, member in zip(names, row.members, strict=True)]
    return names


def _content(value: Any) -> int:
    """The digest of a record, however it is spaced and its keys are ordered."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "little")


def _parsed(source: str, rounds: list[Read], rejects: list[RejectRow], context: Context) -> Parsed:
    rows = [one.row for one in rounds]
    n = len(rows)
    columns = {
        "content": [_content(one.item.value) for one in rounds],
        "source": source,
        "format": NAME,
        "record": [one.record for one in rounds],
        "line": [one.line.number for one in rounds],
        "byte": [one.item.byte for one in rounds],
        "site": context.site or MAPPING["site"],
        "game": [one.game for one in rounds],
        "rules": [one.rules for one in rounds],
        "options": [one.options for one in rounds],
        "suits": SUITS,
        "players": [_accounts(one.game, one.row) for one in rounds],
        "piao": [[0, 0, 0]] * n,
        "piao_from": "config",
        "raise": [0] * n,
        "raise_from": "config",
        "hidden_from": "config",
        "coverage": "settlement_only",
        "raw": [one.item.raw.decode() for one in rounds] if context.keep_raw else None,
    }
    own = (
        "round", "time", "time_ms", "dealer", "dice", "base", "deal", "events", "event_no", "result_end",
        "result_points", "result_wins", "result_kongs", "settlement",
    )  # fmt: skip
    columns |= {name: [getattr(row, name) for row in rows] for name in own}
    return Parsed(rounds_batch(columns, n), [one.item.raw for one in rounds], rejects)
