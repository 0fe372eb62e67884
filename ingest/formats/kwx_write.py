"""Rounds to canonical kwx log lines, and back into the same columns: the inverse of formats.kwx.

Canonical: the keys of kwx_record.KEYS in that order, no spaces, characters as themselves, optional keys present where
the column is not null (an empty site or no room options: absent), private keys last.  What a foreign round knows beside
the log's own keys goes to "_source": its format, where an inferred value comes from, event numbers, coverage.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from json.encoder import encode_basestring as quoted
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.events import ENDS, unpack_fans
from ingest.formats.kwx_json import dumps, members
from ingest.formats.kwx_record import VERSION
from ingest.notation import encode_events, encode_hands, encode_wall
from ingest.tiles import NAMES, PAD, SUITS

OWN = "kwx"  # the format whose rounds need no "_source"
_NESTED = re.compile(r"(proof|result|result\.wins\.[01])\.(_.*)", re.DOTALL)
PRIVATE = re.compile(rf"_.*|{_NESTED.pattern}", re.DOTALL)  # a key of `extra`
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Texts = list[str | None]


def write(rounds: pa.RecordBatch) -> bytes:
    """One line a round; a round of a kwx log whose `raw` was kept is written as it was read."""
    if not rounds.num_rows:
        return b""
    suits = _suits(rounds)
    deal = _kinds(rounds.column("deal"), 42).reshape(-1, 14)
    hands = encode_hands(deal, np.repeat(suits, 3)).to_pylist()
    events = rounds.column("events")
    extras = [
        _extras(*row)
        for row in zip(*(_strings(rounds, name) for name in ("extra", "format")), _more(rounds), strict=True)
    ]
    private: dict[str, Texts] = {place: [extra.get(place) for extra in extras] for place in ("", "proof", "result")}
    columns = [
        _key("site", [text or None for text in _strings(rounds, "site")], quoted),
        _key("game", _strings(rounds, "game"), quoted),
        _key("round", rounds.column("round").to_pylist(), str),
        _key("prev", _strings(rounds, "prev"), quoted),
        _key("time", _times(rounds), quoted),
        _key("rules", _strings(rounds, "rules"), quoted),
        _key("options", [None if text == "{}" else text for text in _strings(rounds, "options")]),
        _players(rounds.column("players")),
        _key("dealer", rounds.column("dealer").to_pylist(), str),
        _key("dice", _numbers(rounds.column("dice"))),
        _key("piao", _numbers(rounds.column("piao"))),
        _key("base", rounds.column("base").to_pylist(), str),
        _key("raise", rounds.column("raise").to_pylist(), str),
        [f',"deal":["{one}","{two}","{three}"]' for one, two, three in zip(*_threes(hands), strict=True)],
        _key("wall", _walls(rounds.column("wall"), suits), '"{}"'.format),
        _proofs(rounds, private["proof"]),
        _key("events", encode_events(_flat(events), _offsets(events), suits).to_pylist(), '"{}"'.format),
        _key("times", _numbers(rounds.column("times"))),
        _results(rounds, suits, private["result"], extras),
        [text or "" for text in private[""]],
    ]
    fresh = map("".join, zip(*columns, strict=True))
    raws = rounds.column("raw").to_pylist()
    own = [name == OWN for name in _strings(rounds, "format")]
    lines = (
        raw if raw is not None and mine else f'{{"kwx":{VERSION}{line}}}'
        for raw, mine, line in zip(raws, own, fresh, strict=True)
    )
    return "".join([line + "\n" for line in lines]).encode()


def _key(key: str, values: Iterable[Any], show: Callable[[Any], str] | None = None) -> list[str]:
    """The member `,"key":value` of each row, empty for null."""
    start = f',"{key}":'
    if show is None:
        return ["" if value is None else start + value for value in values]
    return ["" if value is None else start + show(value) for value in values]


def _threes(values: list[str]) -> tuple[list[str], list[str], list[str]]:
    return values[0::3], values[1::3], values[2::3]


def _strings(rounds: pa.RecordBatch, name: str) -> Texts:
    column = rounds.column(name)
    if not pa.types.is_dictionary(column.type):
        return column.to_pylist()
    words = [*column.dictionary.to_pylist(), None]
    return [words[code] for code in column.indices.fill_null(len(words) - 1).to_pylist()]


def _suits(rounds: pa.RecordBatch) -> np.ndarray:
    """Codes of SUITS; a batch may hold its dictionary in another order."""
    return np.array([SUITS.index(name) for name in _strings(rounds, "suits")], np.uint8)


def _kinds(column: pa.Array, size: int) -> np.ndarray:
    """A fixed-size binary column as uint8 (rows, size), PAD where it is null."""
    if not len(column):
        return np.zeros((0, size), np.uint8)
    filled = column.fill_null(bytes([PAD]) * size)
    data = np.frombuffer(filled.buffers()[1], np.uint8, len(filled) * size, filled.offset * size)
    return data.reshape(-1, size)


def _walls(column: pa.Array, suits: np.ndarray) -> Texts:
    texts, there = encode_wall(_kinds(column, 44), suits).to_pylist(), column.is_valid().to_pylist()
    return [text if ok else None for text, ok in zip(texts, there, strict=True)]


def _flat(column: pa.Array) -> np.ndarray:
    return column.flatten().to_numpy()


def _offsets(column: pa.Array) -> np.ndarray:
    """Where each row of a list column starts in its flattened values."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _numbers(column: pa.Array) -> Texts:
    """A list column of integers as "[1,2,3]", null where it is null."""
    texts = pc.cast(column.flatten(), pa.string())
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(_offsets(column)), texts), ",").to_pylist()
    return [f"[{text}]" if ok else None for text, ok in zip(joined, column.is_valid().to_pylist(), strict=True)]


def _players(column: pa.Array) -> list[str]:
    names = [quoted(name) for name in column.flatten().to_pylist()]
    return [f',"players":[{one},{two},{three}]' for one, two, three in zip(*_threes(names), strict=True)]


def _times(rounds: pa.RecordBatch) -> Texts:
    """The time as it was written, else the one of `time_ms`."""
    texts = rounds.column("time").to_pylist()
    moments = rounds.column("time_ms").to_pylist()
    return [
        text if text is not None or moment is None else rfc3339(moment)
        for text, moment in zip(texts, moments, strict=True)
    ]


def rfc3339(milliseconds: int) -> str:
    """Milliseconds since 1970 UTC as the log writes a time, "2026-05-01T12:00:03Z"."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    text = moment.isoformat(timespec="milliseconds" if milliseconds % 1000 else "seconds")
    return text.removesuffix("+00:00") + "Z"


def _proofs(rounds: pa.RecordBatch, private: Texts) -> list[str]:
    names = ("scheme", "commit", "salt", "order", "deal")
    values = [_key(name, _strings(rounds, f"proof_{name}"), quoted) for name in names]
    return [
        f',"proof":{{{"".join(members)[1:]}{more or ""}}}' if members[0] else ""
        for *members, more in zip(*values, private, strict=True)
    ]


def _results(rounds: pa.RecordBatch, suits: np.ndarray, private: Texts, extras: list[dict[str, str]]) -> list[str]:
    ends = [None if code is None else f'"{ENDS[code]}"' for code in rounds.column("result_end").to_pylist()]
    values = [
        _key("end", ends),
        _key("points", _numbers(rounds.column("result_points"))),
        _key("wins", _wins(rounds.column("result_wins"), suits, extras)),
        _key("kongs", _numbers(rounds.column("result_kongs"))),
        _key("fee", rounds.column("result_fee").to_pylist(), str),
    ]
    return [
        f',"result":{{{text[1:]}}}' if (text := "".join([part or "" for part in parts])) else ""
        for parts in zip(*values, private, strict=True)
    ]


def _wins(column: pa.Array, suits: np.ndarray, extras: list[dict[str, str]]) -> Texts:
    wins = column.flatten()
    offsets = _offsets(column).tolist()
    row = np.repeat(np.arange(len(column)), np.diff(offsets))
    parts = (wins.field(name).to_pylist() for name in ("seat", "from", "tile", "fans", "multiple"))
    texts = [_win(*win) for win in zip(*parts, suits[row].tolist(), strict=True)]
    out: Texts = []
    for at, ok in enumerate(column.is_valid().to_pylist()):
        mine = texts[offsets[at] : offsets[at + 1]]
        for number in range(len(mine) if extras[at] else 0):
            mine[number] = mine[number][:-1] + extras[at].get(f"result.wins.{number}", "") + "}"
        out.append(f"[{','.join(mine)}]" if ok else None)
    return out


@lru_cache(maxsize=65536)
def _win(seat: int, payer: int | None, tile: int, fans: int | None, multiple: int | None, suits: int) -> str:
    win: dict[str, Any] = {"seat": seat}
    if payer is not None:
        win["from"] = payer
    win["tile"] = NAMES[SUITS[suits]][tile]
    if fans is not None:
        win["fans"] = unpack_fans(fans)
    if multiple is not None:
        win["multiple"] = multiple
    return dumps(win)


def _more(rounds: pa.RecordBatch) -> list[dict[str, Any]]:
    """What each round's "_source" must say for the columns to be read back as they are."""
    names = ("piao_from", "raise_from", "hidden_from", "coverage", "event_no")
    usual = ("logged", "logged", "logged", "full", None)
    columns = [_strings(rounds, name) for name in names]
    rows = [
        {name: value for name, value, plain in zip(names, row, usual, strict=True) if value != plain}
        for row in zip(*columns, strict=True)
    ]
    # An order of tiles that nobody committed to is no "proof".
    orders = (_strings(rounds, name) for name in ("proof_scheme", "proof_order", "proof_deal"))
    for row, (scheme, order, deal) in zip(rows, zip(*orders, strict=True), strict=True):
        if scheme is None and order is not None:
            row |= {"proof_order": order, "proof_deal": deal}
    return rows


def _extras(extra: str | None, format: str | None, more: dict[str, Any]) -> dict[str, str]:
    """The private members by the object they stand in ("", "proof", "result", "result.wins.0"), each with its comma."""
    if format != OWN:
        more = {"format": format, **more}
    if extra is None and not more:
        return {}
    out: dict[str, str] = {}
    found = {key: extra[start:end] for key, start, end in members(extra)} if extra else {}
    if more:
        source = json.loads(found.get("_source", "{}"))
        source = source if type(source) is dict else {"source": source}
        if not more.items() <= source.items():
            found["_source"] = dumps(source | more)
    for path, value in found.items():
        nested = _NESTED.fullmatch(path)
        place, key = nested.groups() if nested else ("", path)
        out[place] = out.get(place, "") + f",{quoted(key)}:{value}"
    return out
