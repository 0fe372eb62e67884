"""The Parquet twin of the kwx log: the ROUNDS columns as `kwx convert` writes them.  Source: log-format.md section 2.

A row's `source`, `record` and `line` are its place in this file; everything else is as it was, `format` and `raw`
included, so that a log converted to Parquet and back is the same log.  Every value that later stages use as an index is
checked here, since a file of this name need not come from us.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ingest import events as ev
from ingest.events import DICT, ROUNDS
from ingest.formats import Context, Parsed, constant
from ingest.formats.kwx_json import load
from ingest.formats.kwx_record import BASE_LIMIT, HEX, NAME_LIMIT, PIAO_LIMIT, RAISE_LIMIT, SCHEME, TIME
from ingest.formats.kwx_write import PRIVATE, write
from ingest.notation import decode_wall
from ingest.rejects import Reject, RejectRow
from ingest.sources import Stream
from ingest.tiles import ALL_TILES, KINDS, NO_TILE, PAD, SUITS
from ingest.unpack import Fault

NAME = "kwx-parquet"
RAW = pa.large_string()
REQUIRED = ("game", "round", "rules", "options", "suits", "players", "dealer", "base", "deal", "events", "format")
_FROM = ("logged", "config", "inferred", "ambiguous")
WORDS = {
    "suits": SUITS, "coverage": ev.COVERAGE, "piao_from": _FROM, "raise_from": _FROM, "hidden_from": _FROM,
    "proof_deal": ("one", "four"),
}  # fmt: skip
SHAPES = {
    "game": "(?s:.+)", "time": TIME, "prev": HEX, "proof_scheme": SCHEME, "proof_commit": HEX,
    "proof_salt": r"[\x00-\x7F]*",
}  # fmt: skip
RANGES = {
    "round": (0, None), "dealer": (0, 2), "dice": (1, 6), "piao": (0, PIAO_LIMIT), "base": (1, BASE_LIMIT),
    "raise": (0, RAISE_LIMIT), "times": (0, None), "event_no": (0, None), "result_end": (0, len(ev.ENDS) - 1),
    "result_fee": (0, None), "time_ms": (-62_135_596_800_000, 253_402_300_799_999),
}  # fmt: skip


def sniff(head: bytes) -> bool:
    """A Parquet file."""
    return head[:4] == b"PAR1"


def read(stream: Stream, context: Context) -> Iterator[Parsed]:
    """The rounds of the file, a batch at a time; rows that cannot be rounds are rejects."""
    with stream.file() as file:
        try:
            parquet = pq.ParquetFile(file)
            names = [name for name in parquet.schema_arrow.names if name != "raw" or context.keep_raw]
            first = 0
            for batch in parquet.iter_batches(context.batch_rounds, columns=names):
                yield parse(batch, stream.name, first, context, _Raw(parquet))
                first += batch.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            stream.fault = Fault("corrupt", f"not a readable Parquet file ({str(error).splitlines()[0][:200]})")


class _Raw:
    """The column `raw` of a file that was read without it: half of the bytes, which only a rejected round asks for."""

    def __init__(self, parquet: pq.ParquetFile) -> None:
        self._parquet = parquet

    def __getitem__(self, row: int) -> str | None:
        """The raw record of a row of the file, None where it has none."""
        if "raw" not in self._parquet.schema_arrow.names:
            return None
        group = 0
        while row >= (rows := self._parquet.metadata.row_group(group).num_rows):
            row, group = row - rows, group + 1
        return self._parquet.read_row_group(group, ["raw"])["raw"][row].as_py()


class _Lines(Sequence[bytes]):
    """The records of rounds: the raw ones where they were kept, else their canonical lines, made when asked for."""

    def __init__(self, rounds: pa.RecordBatch, records: np.ndarray, raw: _Raw | None) -> None:
        self._rounds, self._records, self._raw = rounds, records, raw

    def __len__(self) -> int:
        return self._rounds.num_rows

    def __getitem__(self, at: Any) -> Any:
        one = self._rounds.slice(at, 1)
        if self._raw is not None and one["raw"].null_count:
            where = ROUNDS.get_field_index("raw")
            one = one.set_column(where, ROUNDS.field(where), pa.array([self._raw[int(self._records[at])]], RAW))
        return write(one)[:-1]


def parse(batch: pa.RecordBatch, source: str, first: int, context: Context, raw: _Raw | None = None) -> Parsed:
    """A batch of the file to rounds and rejects; `first` is the record number of its first row, `raw` what is left."""
    faults: dict[int, Reject] = {}

    def refuse(rows: np.ndarray, code: str, field: str, message: str) -> None:
        for row in np.flatnonzero(rows).tolist():
            faults.setdefault(row, Reject(code, field, message))

    everyone = np.ones(batch.num_rows, bool)
    for name in batch.schema.names:
        if name not in ROUNDS.names:
            refuse(everyone, "unknown_key", name, f"unknown column {name[:80]!r}")
    arrays = []
    for field in ROUNDS:
        array = pa.nulls(batch.num_rows, field.type)
        if field.name in batch.schema.names:
            try:
                array = _as(batch.column(field.name), field.type)
                array.validate(full=True)
            except pa.ArrowException as error:
                array = pa.nulls(batch.num_rows, field.type)
                refuse(everyone, "bad_type", field.name, f"expected {field.type}: {str(error).splitlines()[0][:200]}")
        if field.name in REQUIRED:
            refuse(array.is_null().to_numpy(zero_copy_only=False), "missing_key", field.name, f"no {field.name!r}")
        arrays.append(array)
    rounds = pa.RecordBatch.from_arrays(arrays, schema=ROUNDS)
    checked, at = _without(rounds, faults)
    for rows, code, field, message in _faults(checked):
        if rows.any():
            refuse(np.isin(np.arange(batch.num_rows), at[rows]), code, field, message)
    kept, at = _without(rounds, faults)
    answers: list[tuple[str, str] | Reject] = []
    pairs, places = _pairs(kept)
    for rules, options in pairs:
        try:
            answers.append(context.ruleset(rules, options))
        except Reject as reject:
            answers.append(reject)
        except ValueError:
            answers.append(Reject("bad_json", "options", f"{options[:40]!r} is not a JSON object"))
    if any(isinstance(answer, Reject) for answer in answers):
        for row, place in zip(at.tolist(), places.tolist(), strict=True):
            if isinstance(answers[place], Reject):
                faults[row] = answers[place]
        fine = np.array([not isinstance(answer, Reject) for answer in answers], bool)[places]
        kept, at, places = kept.filter(pa.array(fine)), at[fine], places[fine]
    resolved = [("", "") if isinstance(answer, Reject) else answer for answer in answers]
    records = first + at
    put = {
        "source": constant(source, kept.num_rows),
        "record": pa.array(records, pa.int64()),
        "line": pa.array(records + 1, pa.int64()),
        "byte": pa.nulls(kept.num_rows, pa.int64()),
        "site": _named(kept.column("site"), context.site or ""),
        "rules": _dictionary(places, [rules for rules, _ in resolved]),
        "options": _dictionary(places, [options for _, options in resolved]),
        # Names decide the identity of a round, so the digests are made again; the content is that of the record.
        "round_id": pa.nulls(kept.num_rows, pa.uint64()),
        "game_key": pa.nulls(kept.num_rows, pa.uint64()),
    }
    lines = _Lines(kept, records, raw)
    if not context.keep_raw:
        put["raw"] = pa.nulls(kept.num_rows, pa.large_string())
    for name, array in put.items():
        where = ROUNDS.get_field_index(name)
        kept = kept.set_column(where, ROUNDS.field(where), array)
    rejects = [
        RejectRow(first + row, first + row + 1, 0, fault.code, fault.field, fault.message, b"")
        for row, fault in sorted(faults.items())
    ]
    return Parsed(kept, lines, rejects)


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    if kind == DICT and not pa.types.is_dictionary(array.type):
        return array.cast(pa.string()).dictionary_encode()
    return array.cast(kind)


def _without(rounds: pa.RecordBatch, faults: dict[int, Reject]) -> tuple[pa.RecordBatch, np.ndarray]:
    """The rows that have no fault, and which they are."""
    good = np.ones(rounds.num_rows, bool)
    good[list(faults)] = False
    return (rounds.filter(pa.array(good)) if faults else rounds), np.flatnonzero(good)


def _pairs(rounds: pa.RecordBatch) -> tuple[list[tuple[str, str]], np.ndarray]:
    """The distinct rules with options, in the order in which they come, and the place of each row's."""
    rules, options = rounds.column("rules"), rounds.column("options")
    both = rules.indices.to_numpy().astype(np.int64) * (len(options.dictionary) + 1) + options.indices.to_numpy()
    _, first, inverse = np.unique(both, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return [(rules[row].as_py(), options[row].as_py()) for row in first[order].tolist()], place[inverse]


def _dictionary(places: np.ndarray, words: list[str]) -> pa.Array:
    """The word at each place as a dictionary column of the words that occur, in the order in which they come."""
    distinct = list(dict.fromkeys(words[place] for place in dict.fromkeys(places.tolist())))
    number = np.array([distinct.index(word) if word in distinct else 0 for word in words], np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(number[places], pa.int32()), pa.array(distinct, pa.string()))


def _named(sites: pa.DictionaryArray, site: str) -> pa.Array:
    """The names of sites, `site` where there is none."""
    words = [word or site for word in sites.dictionary.to_pylist()] + [site]
    return _dictionary(sites.indices.fill_null(len(words) - 1).to_numpy(), words)


def _rows(column: pa.Array, wrong: np.ndarray) -> np.ndarray:
    """Which rows of a list column have a wrong one among their flattened values."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    row = np.repeat(np.arange(len(column)), lengths)
    return np.bincount(row[wrong], minlength=len(column)) > 0


def _faults(rounds: pa.RecordBatch) -> Iterator[tuple[np.ndarray, str, str, str]]:
    """(rows, code, field, message) for each check that some rows fail."""
    count = rounds.num_rows
    there = {name for name in rounds.schema.names if rounds.column(name).null_count < count}
    for name, words in WORDS.items():
        column = rounds.column(name)
        if name not in there or column.type == DICT and set(column.dictionary.to_pylist()) <= {*words}:
            continue
        known = pc.is_in(rounds.column(name).cast(pa.string()), pa.array([*words, None], pa.string()))
        yield ~known.to_numpy(zero_copy_only=False), "bad_value", name, f"expected one of {', '.join(words)}"
    for name, shape in SHAPES.items():
        if name not in there:
            continue
        told = pc.match_substring_regex(rounds.column(name), rf"\A(?:{shape})\z")
        yield ~pc.fill_null(told, True).to_numpy(zero_copy_only=False), "bad_value", name, "not of the form of the log"
    for name, (low, high) in RANGES.items():
        if name not in there:
            continue
        column = rounds.column(name)
        nested = pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type)
        values = column.flatten() if nested else column
        wrong = pc.less(values, low) if high is None else pc.or_(pc.less(values, low), pc.greater(values, high))
        wrong = pc.fill_null(wrong, False).to_numpy(zero_copy_only=False)
        limits = f"at least {low}" if high is None else f"from {low} to {high}"
        yield _rows(column, wrong) if nested else wrong, "bad_value", name, f"expected {limits}"
    for name in ("players", "dice", "piao", "events", "event_no", "times", "result_points", "result_kongs"):
        column = rounds.column(name)
        if name not in there or not column.flatten().null_count:
            continue
        holes = column.flatten().is_null().to_numpy(zero_copy_only=False)
        yield _rows(column, holes), "bad_type", name, "a null inside the list"
    deal = _bytes(rounds.column("deal"), 42).reshape(count, 3, 14)
    dealer = rounds.column("dealer").to_numpy(zero_copy_only=False)
    last = np.where(np.arange(3) == dealer[:, None], deal[:, :, 13] < KINDS, deal[:, :, 13] == PAD)
    yield (
        ~((deal[:, :, :13] < KINDS).all(axis=(1, 2)) & last.all(axis=1)),
        "bad_tile",
        "deal",
        "three hands of kinds 0-20",
    )
    long = pc.greater(pc.utf8_length(rounds.column("players").flatten()), NAME_LIMIT)
    long = pc.fill_null(long, False).to_numpy(zero_copy_only=False)
    yield _rows(rounds.column("players"), long), "bad_value", "players", f"expected at most {NAME_LIMIT} characters"
    if "proof_order" in there:
        yield ~_orders(rounds), "bad_tile", "proof_order", "expected 84 tiles of two characters"
    if "extra" in there:
        private = [text is None or _private(text) for text in rounds.column("extra").to_pylist()]
        yield ~np.array(private, bool), "bad_json", "extra", "expected a JSON object of private keys"
    wall = _bytes(rounds.column("wall"), 44)
    lacking = rounds.column("wall").is_null().to_numpy(zero_copy_only=False)
    yield ~((wall < KINDS).all(axis=1) | lacking), "bad_tile", "wall", "expected kinds 0-20"
    events = rounds.column("events")
    settled = rounds.column("settlement").is_valid().to_numpy(zero_copy_only=False)
    if "settlement" in there:
        fine = settled_well(rounds.column("settlement"))
        yield ~fine, "bad_value", "settlement", "not of the form of a settled round"
    flat = pc.fill_null(events.flatten(), 0).to_numpy()
    sound = event_is_sound(flat)
    if not sound.all():
        bare = np.repeat(settled, pc.fill_null(pc.list_value_length(events), 0).to_numpy()) & is_bare_draw(flat)
        yield _rows(events, ~(sound | bare)), "bad_token", "events", "a number that is no event"
    lengths = pc.list_value_length(events)
    for name in sorted({"times", "event_no"} & there):
        same = pc.fill_null(pc.equal(pc.list_value_length(rounds.column(name)), lengths), True)
        yield ~same.to_numpy(zero_copy_only=False), "bad_count", name, "expected one value for each event"
    wins = rounds.column("result_wins")
    flat = wins.flatten()
    wrong = np.zeros(len(flat), bool)
    for name, high, optional in (("seat", 2, False), ("from", 2, True), ("tile", KINDS - 1, False)):
        part = flat.field(name)
        outside = pc.fill_null(pc.or_(pc.less(part, 0), pc.greater(part, high)), not optional)
        wrong |= outside.to_numpy(zero_copy_only=False)
    many = pc.fill_null(pc.greater(pc.list_value_length(wins), 2), False).to_numpy(zero_copy_only=False)
    yield _rows(wins, wrong) | many, "bad_value", "result_wins", "expected at most two wins of seats 0-2 on kinds 0-20"
    fans = pc.fill_null(flat.field("fans"), 0).to_numpy() >> ev.FAN_BITS * len(ev.FANS)
    yield _rows(wins, fans > 0), "bad_value", "result_wins", "a fan that is not in the table"


def _orders(rounds: pa.RecordBatch) -> np.ndarray:
    texts = rounds.column("proof_order").to_pylist()
    there = np.flatnonzero([text is not None for text in texts])
    names = rounds.column("suits").to_pylist()
    suits = np.array([SUITS.index(names[row]) if names[row] in SUITS else PAD for row in there], np.uint8)
    fine = np.ones(len(texts), bool)
    fine[there] = decode_wall([texts[row] for row in there], suits, ALL_TILES)[1]
    return fine


def _private(text: str) -> bool:
    try:
        return all(PRIVATE.fullmatch(key) for key in load(text))
    except Reject:
        return False


def _bytes(column: pa.Array, size: int) -> np.ndarray:
    """Byte strings of one size, (rows, size), PAD where there are none."""
    data = column.buffers()[1]
    if data is None:
        return np.full((len(column), size), PAD, np.uint8)
    values = np.frombuffer(data, np.uint8, len(column) * size, column.offset * size).reshape(-1, size)
    return np.where(column.is_valid().to_numpy(zero_copy_only=False)[:, None], values, np.uint8(PAD))


def is_bare_draw(events: np.ndarray) -> np.ndarray:
    """Which packed events (uint32) are draws whose tile the log lacks."""
    verb = events >> 2 & 15
    draws = (verb == ev.DRAW) | (verb == ev.REPLACEMENT)
    return draws & (events & 3 < 3) & (events >> 6 == NO_TILE | ev.NO_SEAT << 5)


def settled_well(column: pa.Array) -> np.ndarray:
    """Which rows of a `settlement` column are null or hold what the replay can take, bool[n]."""
    seats = {0, 1, 2}
    fine = np.ones(len(column), bool)
    for row in np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist():
        one = column[row].as_py()
        lines = [*(one["lines"] or ()), *(one["kong_lines"] or ())]
        shares = one["shares"] or []
        fine[row] = (
            one["hands"] is not None
            and (one["waits"] is None or len(one["waits"]) == 3 and None not in one["waits"])
            and one["next_dealer"] in {None, *seats}
            and all(line["cause"] in ev.CAUSES and line["points"] is not None for line in lines)
            and all({line["from"], line["to"]} < seats and line["from"] != line["to"] for line in lines)
            and len(shares) <= 4
            and all(_share_is_sound(share) for share in shares)
        )
    return fine


def _share_is_sound(share: dict[str, Any]) -> bool:
    if share["fans"] is None or share["fans"] >> ev.FAN_BITS * len(ev.FANS):
        return False
    values = share["values"] or []
    ends = {share["seat"], share["from"]} < {0, 1, 2} and share["seat"] != share["from"]
    return ends and len(values) == len(ev.unpack_fans(share["fans"])) and None not in [*values, share["multiple"]]


def event_is_sound(events: np.ndarray) -> np.ndarray:
    """Which packed events (uint32) are ones that a token can give: seat, verb, tile and source go together."""
    sound = _sound_low()[events & 0x1FFF] & (events >> 13 == 0)
    rest = np.flatnonzero(~sound)
    high = events[rest]
    sound[rest] = (high >> 2 & 15 == ev.REVEAL) & (high & 3 != ev.NO_SEAT) & (high >> 6 >> KINDS == 0)
    return sound


@cache
def _sound_low() -> np.ndarray:
    """For all events of 13 bits."""
    return _sound(np.arange(1 << 13, dtype=np.uint32))


def _sound(events: np.ndarray) -> np.ndarray:
    part = ev.unpack(events)
    seat, verb, tile, source = part["seat"], part["verb"], part["tile"], part["source"]
    ends = (verb == ev.EXHAUSTED) | (verb == ev.ABORTED)
    bare = ends | (verb == ev.DECLINE) | (verb == ev.REVEAL)
    claim = (verb == ev.PUNG) | (verb == ev.KONG)
    sound = (verb < len(ev.VERBS)) & (ends == (seat == ev.NO_SEAT))
    sound &= np.where(bare, tile == PAD, tile < KINDS)
    sound &= np.where(source == PAD, ~claim, (claim | (verb == ev.WIN)) & (source != seat))
    sound &= np.where(verb == ev.REVEAL, part["hidden"] >> KINDS == 0, events >> 13 == 0)
    return sound
