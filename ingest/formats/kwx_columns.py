"""The texts of a batch of kwx records to the columns of ROUNDS, decoded together rather than one by one."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.events import COVERAGE, ENDS, FAN_BITS, WIN_TYPE, pack_fans
from ingest.formats.kwx_record import INT32, Fields, Record
from ingest.notation import decode_events, decode_hands, decode_wall, explain_events, explain_tiles, suits_of
from ingest.rejects import Reject
from ingest.tiles import ALL_TILES, KIND_OF, PAD, SUITS, WALL_TILES

Texts = Sequence[str | None]


@lru_cache(maxsize=65536)
def packed_fans(fans: str) -> int:
    """Quoted fan ids to the packed multiset; -1 for an unknown id, a wrong order, or more than seven of one."""
    if not fans:
        return 0
    ids = fans[1:-1].split('","')
    try:
        return pack_fans(ids) if fans == f'"{fans[1:-1]}"' and max(map(ids.count, ids)) < 1 << FAN_BITS else -1
    except (KeyError, ValueError):
        return -1


def decoded(rows: list[Record]) -> tuple[dict[str, Any], np.ndarray]:
    """Fields as columns of texts ("fields") and the arrays of tiles and events; and which rows are free of faults."""
    texts = list(zip(*[row.fields for row in rows], strict=True)) or [()] * len(Fields._fields)
    fields = Fields._make(texts)
    suits = suits_of(fields.deal_0, fields.deal_1, fields.deal_2, fields.wall, fields.order, events=fields.events)
    dealer = np.frombuffer("".join(fields.dealer).encode(), np.uint8) - ord("0")
    hands = [hand for three in zip(fields.deal_0, fields.deal_1, fields.deal_2, strict=True) for hand in three]
    deal, counts, fine = decode_hands(hands, suits)
    fine &= (counts == 13 + (np.arange(3) == dealer[:, None])).all(axis=1)
    walls = np.full((len(rows), WALL_TILES), PAD, np.uint8)
    for column, size in ((fields.wall, WALL_TILES), (fields.order, ALL_TILES)):
        there = _there(column)
        if len(there):
            kinds, good = decode_wall([column[row] for row in there], suits[there], size)
            fine[there] &= good
            if size == WALL_TILES:
                walls[there] = kinds
    events, offsets, good = decode_events(fields.events, suits)
    fine &= good
    lengths = np.diff(offsets)
    there = _there(fields.times)
    times, counts, good = _numbers([fields.times[row] for row in there], INT32)
    fine[there] &= good & (counts == lengths[there])
    tiles = []
    for column in (fields.tile_0, fields.tile_1):
        there = _there(column)
        kinds, good = decode_wall([column[row] for row in there], suits[there], 1)
        fine[there] &= good
        tiles.append(kinds[:, 0])
    for row, one in enumerate(rows):
        if one.source is not None:
            numbers = one.source.get("event_no")
            fine[row] &= type(numbers) is not list or len(numbers) == lengths[row]
    arrays = {"fields": fields, "suits": suits, "dealer": dealer, "deal": deal, "wall": walls, "events": events}
    return arrays | {"offsets": offsets, "times": times, "tile_0": tiles[0], "tile_1": tiles[1]}, fine


def _there(column: Texts) -> np.ndarray:
    return np.flatnonzero([text is not None for text in column])


def _numbers(texts: Sequence[str], most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of natural numbers, "1,2,3", to (all numbers int64, how many each, well-formed and none above `most`)."""
    counts = np.array([text.count(",") + 1 if text else 0 for text in texts], np.int64)
    data = np.frombuffer(",".join([text for text in texts if text]).encode() + b",", np.uint8)
    ends = np.flatnonzero(data == ord(","))
    starts = np.concatenate([[0], ends[:-1] + 1])
    length = ends - starts
    if not counts.sum():
        return np.zeros(0, np.int64), counts, np.ones(len(texts), bool)
    right = (length > 0) & (length < 11) & ((data[starts] != ord("0")) | (length == 1))
    row = np.repeat(np.arange(len(texts)), counts)
    if not right.all():
        bad = np.bincount(row[~right], minlength=len(texts)) > 0
        texts = ["" if wrong else text for text, wrong in zip(texts, bad, strict=True)]
        numbers, counts, fine = _numbers(texts, most)
        return numbers, counts, fine & ~bad
    numbers = np.fromstring(data[:-1].tobytes().decode(), np.int64, sep=",")
    return numbers, counts, np.bincount(row[numbers > most], minlength=len(texts)) == 0


def explain(row: Record, suits: int) -> None:
    """Raise the Reject of a row that `decoded` has refused."""
    fields = row.fields
    for seat, hand in enumerate((fields.deal_0, fields.deal_1, fields.deal_2)):
        dealer = int(fields.dealer) == seat
        what = "for the dealer" if dealer else "for a seat that is not the dealer"
        explain_tiles(hand, suits, f"deal.{seat}", (13 + dealer,), what)
    for text, field, size in ((fields.wall, "wall", WALL_TILES), (fields.order, "proof.order", ALL_TILES)):
        if text is not None:
            if len(text) == 2 * size:
                for at in range(size):
                    explain_tiles(text[2 * at : 2 * at + 2], suits, f"{field}.{at}", (1,), "in two characters")
            explain_tiles(text, suits, field, (size,), "")
            if len(text) != 2 * size:
                raise Reject("bad_tile", field, f"{len(text)} characters, expected two for each of {size} tiles")
    explain_events(fields.events, suits)
    tokens = fields.events.count(" ") + 1 if fields.events else 0
    if fields.times is not None:
        times = fields.times.split(",") if fields.times else []
        if len(times) != tokens:
            raise Reject("bad_count", "times", f"{len(times)} times, expected one for each of {tokens} events")
        for at, time in enumerate(times):
            if not time or (time[0] == "0" and time != "0"):
                raise Reject("bad_json", f"times.{at}", f"{time!r} is not a JSON number")
            if len(time) > 10 or int(time) > INT32:
                raise Reject("bad_value", f"times.{at}", f"{time[:40]}, expected from 0 to {INT32}")
    for at, tile in enumerate((fields.tile_0, fields.tile_1)):
        if tile is not None and tile not in KIND_OF[SUITS[suits]]:
            raise Reject("bad_tile", f"result.wins.{at}.tile", f"{tile!r} is of a suit that the deal lacks")
    raise Reject("bad_count", "_source.event_no", f"expected one number for each of {tokens} events")


def columns(rows: list[Record], arrays: dict[str, Any], site: str) -> dict[str, Any]:
    """The columns of ROUNDS that come from the log; `site` for rounds that name none."""
    fields: Fields = arrays["fields"]
    count = len(rows)
    foreign: list[dict[str, Any]] = [restored(row.source) if row.source else {} for row in rows]

    def came(name: str, usual: str) -> list[str | None] | str:
        return [more.get(name, usual) for more in foreign] if any(foreign) else usual

    # Absent means none, unless a foreign round says that its log does not tell.
    told = [come == "logged" for come in came("piao_from", "logged")] if any(foreign) else [True] * count
    piao = [text or ("0,0,0" if logged else None) for text, logged in zip(fields.piao, told, strict=True)]
    told = [come == "logged" for come in came("raise_from", "logged")] if any(foreign) else [True] * count
    raises = [int(text) if text else 0 if logged else None for text, logged in zip(fields.raise_, told, strict=True)]
    suits, offsets = arrays["suits"], pa.array(arrays["offsets"])
    return {
        "site": [text or site for text in fields.site],
        "game": fields.game,
        "round": list(map(int, fields.round)),
        "prev": fields.prev,
        "time": fields.time,
        "time_ms": [row.time_ms for row in rows],
        "rules": [row.rules for row in rows],
        "options": [row.options for row in rows],
        "suits": pa.DictionaryArray.from_arrays(pa.array(suits.astype(np.int32)), list(SUITS)),
        "players": _lists(pa.array([name for row in rows for name in row.players], pa.string()), 3, None),
        "dealer": pa.array(arrays["dealer"].astype(np.int8)),
        "dice": _integers(fields.dice, 2),
        "piao": _integers(piao, 3),
        "piao_from": came("piao_from", "logged"),
        "base": [int(text) if text else 1 for text in fields.base],
        "raise": raises,
        "raise_from": came("raise_from", "logged"),
        "hidden_from": came("hidden_from", "logged"),
        "coverage": came("coverage", "full"),
        "deal": _fixed(arrays["deal"], None),
        "wall": _fixed(arrays["wall"], fields.wall),
        "proof_scheme": fields.scheme,
        "proof_commit": fields.commit,
        "proof_salt": fields.salt,
        "proof_order": fields.order,
        "proof_deal": fields.proof_deal,
        "events": pa.ListArray.from_arrays(offsets, pa.array(arrays["events"])),
        "event_no": [more.get("event_no") for more in foreign],
        "times": _ragged(fields.times, arrays["times"], np.diff(arrays["offsets"])),
        "result_end": [None if end is None else ENDS.index(end) for end in fields.end],
        "result_points": _integers(fields.points, 3),
        "result_wins": _wins(fields, arrays, count),
        "result_kongs": _integers(fields.kongs, 3),
        "result_fee": [text and int(text) for text in fields.fee],
        "extra": fields.extra,
    }


def _mask(column: Texts | None) -> pa.Array | None:
    return None if column is None else pa.array([text is None for text in column], pa.bool_())


def _lists(values: pa.Array, size: int, column: Texts | None) -> pa.Array:
    mask = _mask(column)
    if mask is not None and not len(mask):
        mask = None
    return pa.FixedSizeListArray.from_arrays(values, size, mask=mask)


def _integers(column: Texts, size: int) -> pa.Array:
    """Texts of `size` integers to a fixed-size list column, null where there is no text."""
    blank = ",".join(["0"] * size)
    whole = ",".join([blank if text is None else text for text in column])
    return _lists(pa.array(np.fromstring(whole, np.int64, sep=",")), size, column)


def _fixed(kinds: np.ndarray, column: Texts | None) -> pa.Array:
    """Kinds, one row a round, to a fixed-size binary column, null where there is no text."""
    data = np.ascontiguousarray(kinds.reshape(len(kinds), -1) if len(kinds) else kinds)
    size = kinds.size // len(kinds) if len(kinds) else int(np.prod(kinds.shape[1:]))
    array = pa.Array.from_buffers(pa.binary(size), len(kinds), [None, pa.py_buffer(data)])
    return array if column is None else pc.if_else(_mask(column), pa.nulls(len(kinds), array.type), array)


def _ragged(column: Texts, numbers: np.ndarray, lengths: np.ndarray) -> pa.Array:
    """A list column of the numbers, row after row, null where there is no text."""
    there = np.array([text is not None for text in column], bool)
    offsets = np.concatenate([[0], np.cumsum(np.where(there, lengths, 0))]).astype(np.int32)
    mask = pa.array(~there) if len(there) else None
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers.astype(np.int32)), mask=mask)


def _wins(fields: Fields, arrays: dict[str, Any], count: int) -> pa.Array:
    """The winners: at most two a round, in the order written."""
    first, second = _there(fields.seat_0), _there(fields.seat_1)
    row = np.concatenate([first, second])
    order = np.argsort(row, kind="stable")

    def both(one: Texts, two: Texts) -> list[str | None]:
        values = [one[at] for at in first] + [two[at] for at in second]
        return [values[at] for at in order]

    children = [
        pa.array([int(text) for text in both(fields.seat_0, fields.seat_1)], pa.int8()),
        pa.array([text and int(text) for text in both(fields.from_0, fields.from_1)], pa.int8()),
        pa.array(np.concatenate([arrays["tile_0"], arrays["tile_1"]])[order], pa.uint8()),
        pa.array([None if t is None else packed_fans(t) for t in both(fields.fans_0, fields.fans_1)], pa.uint64()),
        pa.array([text and int(text) for text in both(fields.multiple_0, fields.multiple_1)], pa.int64()),
    ]
    wins = pa.StructArray.from_arrays(children, fields=list(WIN_TYPE))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=count))]).astype(np.int32)
    lacking = np.array([text is None for text in fields.wins], bool)
    return pa.ListArray.from_arrays(pa.array(offsets), wins, mask=pa.array(lacking) if count else None)


def restored(source: dict[str, Any]) -> dict[str, Any]:
    """The columns that a converted round's "_source" gives back: origins of inferences, event numbers, coverage."""
    out: dict[str, Any] = {}
    for name in ("piao_from", "raise_from", "hidden_from"):
        if source.get(name, "") in ("config", "inferred", "ambiguous", None):
            out[name] = source[name]
    if source.get("coverage") in COVERAGE:
        out["coverage"] = source["coverage"]
    numbers = source.get("event_no")
    if type(numbers) is list and all(type(number) is int and 0 <= number <= INT32 for number in numbers):
        out["event_no"] = numbers
    return out
