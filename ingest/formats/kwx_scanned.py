"""The rows of a scanned block to the columns of ROUNDS, array by array; a text column is its bytes in the block."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.events import ROUNDS, WIN_TYPE
from ingest.formats import Context, rounds_batch
from ingest.formats import kwx_rows as kw
from ingest.formats.kwx_json import load
from ingest.formats.kwx_rows import Block, Scanner
from ingest.rejects import Reject
from ingest.tiles import SUITS


class Raws(Sequence):
    """The bytes of lines of a block, made when they are asked for."""

    def __init__(self, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> None:
        self._data, self._starts, self._stops = data, starts, stops

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, row: Any) -> bytes:
        return self._data[self._starts[row] : self._stops[row]].tobytes()


def texts(
    data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, scanner: Scanner, kind: pa.DataType | None = None
) -> pa.Array:
    """The texts [start, start + size) of a block as an array, null where a size is negative."""
    there = sizes >= 0
    full = there.all()
    lengths = sizes if full else np.where(there, sizes, 0)
    offsets = np.zeros(len(sizes) + 1, np.int64 if kind == pa.large_string() else np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.Array.from_buffers(
        kind or pa.string(), len(sizes),
        [None if full else _bits(there), pa.py_buffer(offsets), pa.py_buffer(scanner.gather(data, starts, lengths))],
    )  # fmt: skip


def _bits(there: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(there, bitorder="little"))


def _words(block: Block, rows: np.ndarray, which: int, scanner: Scanner) -> tuple[np.ndarray, list[str]]:
    """A text column that repeats itself: code of each row, and the distinct texts; "" where there is none."""
    starts, sizes = (np.ascontiguousarray(rows.text[:, which, side]) for side in (0, 1))
    np.maximum(sizes, 0, out=sizes)
    codes, firsts = scanner.codes(block.data, starts, sizes)
    return codes, [block.data[starts[at] : starts[at] + sizes[at]].tobytes().decode() for at in firsts.tolist()]


def _dictionary(codes: np.ndarray, words: list[str]) -> pa.Array:
    """Codes of words as a dictionary column; equal words share a code there, in the order of first use."""
    seen = list(dict.fromkeys(words))
    if len(seen) < len(words):
        codes = np.array([seen.index(word) for word in words], np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(seen, pa.string()))


def scanned(block: Block, context: Context) -> tuple[dict[str, Any], np.ndarray]:
    """The columns of the rows that can be taken as they are, and which of the block's rows these are, bool[n].

    Rows whose ruleset is refused, or whose private keys are not plain, are not among them: those go the exact way.
    """
    scanner: Scanner = context.scanner  # type: ignore[assignment]
    everything = block.rows[: block.place.count]
    fine = everything.fine > 0
    _refuse_private(block, everything, fine)
    rows = everything[fine]
    rule_codes, rule_words = _words(block, rows, kw.RULES, scanner)
    option_codes, option_words = _words(block, rows, kw.OPTIONS, scanner)
    pairs, places = _pairs(rule_codes, option_codes, len(option_words))
    answers = [_resolved(context, rule_words[pair // len(option_words)], option_words[pair % len(option_words)])
               for pair in pairs]  # fmt: skip
    if None in answers:
        good = np.array([answer is not None for answer in answers])[places]
        fine[fine] = good
        rows = rows[good]
        renumbered = np.cumsum([answer is not None for answer in answers]) - 1
        places = renumbered[places[good]].astype(np.int32)
        answers = [answer for answer in answers if answer is not None]
    site_codes, site_words = _words(block, rows, kw.SITE, scanner)
    sites = _dictionary(site_codes, [word or context.site or "" for word in site_words])
    table = _columns(block, rows, scanner, whole=len(rows) == int(everything.fine.sum()))
    table["site"] = sites
    table["rules"], table["options"] = (_dictionary(places, [answer[side] for answer in answers]) for side in (0, 1))
    return table, fine


def _pairs(one: np.ndarray, two: np.ndarray, size: int) -> tuple[list[int], np.ndarray]:
    """The distinct pairs of two codes as one * size + two, in the order of first use, and the place of each row's."""
    if len(one) == 0 or (not one.any() and not two.any()):
        return [0] if len(one) else [], np.zeros(len(one), np.int32)
    both = one.astype(np.int64) * size + two
    distinct, first, places = np.unique(both, return_index=True, return_inverse=True)
    order = np.argsort(first)
    back = np.empty(len(order), np.int32)
    back[order] = np.arange(len(order))
    return distinct[order].tolist(), back[places]


def _resolved(context: Context, rules: str, options: str) -> tuple[str, str] | None:
    """The ruleset and the options to replay with, None when the exact way has to say what is wrong."""
    try:
        return context.ruleset(rules, load(options) if options else {})
    except Reject:
        return None


def _refuse_private(block: Block, rows: np.recarray, fine: np.ndarray) -> None:
    """Take out the rows whose private keys are no JSON or say more than the columns: `fine` in place."""
    for row in np.flatnonzero(fine & (rows.text[:, kw.EXTRA, 1] >= 0)).tolist():
        start, size = rows.text[row, kw.EXTRA].tolist()
        try:
            private = load("{" + block.data[start : start + size].tobytes().decode() + "}")
            fine[row] = "_source" not in private and all(key.startswith("_") for key in private)
        except Reject:
            fine[row] = False


def _columns(block: Block, rows: np.recarray, scanner: Scanner, whole: bool) -> dict[str, Any]:
    count = len(rows)

    def words(which: int) -> pa.Array:
        starts, sizes = (np.ascontiguousarray(rows.text[:, which, side]) for side in (0, 1))
        return pa.nulls(count, pa.string()) if (sizes < 0).all() else texts(block.data, starts, sizes, scanner)

    def has(bit: int) -> np.ndarray:
        return rows.has & bit > 0

    dealt, time = has(kw.HAS_WALL), rows.text[:, kw.TIME, 1] >= 0
    players = rows.text[:, kw.PLAYER_0 : kw.PLAYER_2 + 1]
    extra = words(kw.EXTRA)
    if extra.null_count < count:
        extra = _braced(extra)
    names = texts(block.data, players[:, :, 0].ravel(), players[:, :, 1].ravel(), scanner)
    lengths = rows.last - rows.first
    if whole:
        used = slice(0, int(lengths.sum()))
    else:
        used = np.arange(int(lengths.sum())) + np.repeat(rows.first - np.cumsum(lengths) + lengths, lengths)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return {
        "game": words(kw.GAME),
        "round": pa.array(np.ascontiguousarray(rows.round_)),
        "prev": words(kw.PREV),
        "time": words(kw.TIME),
        "time_ms": _masked(rows.time_ms, time),
        "suits": pa.DictionaryArray.from_arrays(pa.array(np.ascontiguousarray(rows.suits)), list(SUITS)),
        "players": pa.FixedSizeListArray.from_arrays(names, 3),
        "dealer": pa.array(np.ascontiguousarray(rows.dealer)),
        "dice": _lists(rows.dice[:, :2], has(kw.HAS_DICE), np.int8),
        "piao": _lists(rows.piao, None, np.int32),
        "piao_from": "logged",
        "base": pa.array(np.ascontiguousarray(rows.base_)),
        "raise": pa.array(np.ascontiguousarray(rows.raise_)),
        "raise_from": "logged",
        "hidden_from": "logged",
        "coverage": "full",
        "deal": _binary(rows.deal, None),
        "wall": _binary(rows.wall, dealt),
        "proof_scheme": words(kw.SCHEME),
        "proof_commit": words(kw.COMMIT),
        "proof_salt": words(kw.SALT),
        "proof_order": words(kw.ORDER),
        "proof_deal": words(kw.PROOF_DEAL),
        "events": pa.ListArray.from_arrays(offsets, pa.array(block.events[used].copy())),
        "times": _times(block.times[used], has(kw.HAS_TIMES), lengths),
        "result_end": _masked(rows.end, rows.end >= 0),
        "result_points": _lists(rows.points, has(kw.HAS_POINTS), np.int64),
        "result_wins": _wins(rows, has(kw.HAS_WINS)),
        "result_kongs": _lists(rows.kongs, has(kw.HAS_KONGS), np.int64),
        "result_fee": _masked(rows.fee, has(kw.HAS_FEE)),
        "extra": extra,
    }


def _masked(values: np.ndarray, there: np.ndarray) -> pa.Array:
    """Numbers as a column, null where they are not there."""
    values = np.ascontiguousarray(values)
    return pa.array(values) if there.all() else pa.array(values, mask=~there)


def _lists(values: np.ndarray, there: np.ndarray | None, kind: type) -> pa.Array:
    """Numbers, (rows, n), as a column of lists of n."""
    flat = pa.array(values.astype(kind).ravel())
    mask = None if there is None or there.all() else pa.array(~there)
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=mask)


def _binary(kinds: np.ndarray, there: np.ndarray | None) -> pa.Array:
    data = np.ascontiguousarray(kinds)
    bits = None if there is None or there.all() else _bits(there)
    return pa.Array.from_buffers(pa.binary(kinds.shape[1]), len(kinds), [bits, pa.py_buffer(data)])


def _times(times: np.ndarray, there: np.ndarray, lengths: np.ndarray) -> pa.Array:
    if not there.any():
        return pa.nulls(len(there), ROUNDS.field("times").type)
    if not there.all():
        times = times[np.repeat(there, lengths)]
        lengths = np.where(there, lengths, 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(times.copy()), mask=None if there.all() else pa.array(~there))


def _wins(rows: np.recarray, there: np.ndarray) -> pa.Array:
    """The winners: at most two a round, in the order written."""
    real = np.arange(kw.MAX_WINS) < rows.wins[:, None]
    payer, fans, multiple = rows.win_from[real], rows.win_fans[real], rows.win_multiple[real]
    children = [
        pa.array(rows.win_seat[real]),
        _masked(payer, payer >= 0),
        pa.array(rows.win_tile[real]),
        _masked(fans.astype(np.uint64), fans >= 0),
        _masked(multiple, multiple >= 0),
    ]
    offsets = pa.array(np.concatenate([[0], np.cumsum(rows.wins, dtype=np.int32)]).astype(np.int32))
    wins = pa.StructArray.from_arrays(children, fields=list(WIN_TYPE))
    return pa.ListArray.from_arrays(offsets, wins, mask=None if there.all() else pa.array(~there))


def _braced(members: pa.Array) -> pa.Array:
    """Members of objects as the objects."""
    return pa.array([None if text is None else "{" + text + "}" for text in members.to_pylist()], pa.string())


def merged(
    one: dict[str, Any], at: np.ndarray, two: dict[str, Any], other: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    """The columns of both kinds of rows by ascending row, and these rows; `at`, `other`: the rows of each."""
    if not len(other) or not len(at):
        return (one, at) if len(at) else (two, other)
    both = np.concatenate([at, other])
    order = np.argsort(both)
    take = pa.array(order)
    batches = [rounds_batch(one, len(at)), rounds_batch(two, len(other))]
    table: dict[str, Any] = {}
    for name in {**one, **two}:
        columns = [batch.column(name) for batch in batches]
        if pa.types.is_dictionary(columns[0].type):
            plain = pa.concat_arrays([column.cast(pa.string()) for column in columns]).take(take)
            table[name] = plain.dictionary_encode()
        else:
            table[name] = pa.concat_arrays(columns).take(take)
    return table, both[order]
