"""The rows of a scanned block to the columns of ROUNDS, array by array; a text column is its bytes in the block."""

from typing import Any

import numpy as np
import pyarrow as pa

from ingest.events import ROUNDS, WIN_TYPE
from ingest.formats import Context, rounds_batch
from ingest.formats import kwx_rows as kw
from ingest.formats.kwx_foreign import Foreign
from ingest.formats.kwx_json import load
from ingest.formats.kwx_rows import Block
from ingest.formats.kwx_turned import Columns, bits, texts
from ingest.rejects import Reject
from ingest.tiles import SUITS


def _dictionary(codes: np.ndarray, words: list[str]) -> pa.Array:
    """Codes of words as a dictionary column; equal words share a code there, in the order of first use."""
    seen = list(dict.fromkeys(words))
    if len(seen) < len(words):
        at = {word: code for code, word in enumerate(seen)}
        codes = np.array([at[word] for word in words], np.int32)[codes]
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(seen, pa.string()))


def scanned(block: Block, context: Context) -> tuple[dict[str, Any], np.ndarray]:
    """The columns of the rows that can be taken as they are, and which of the block's rows these are, bool[n].

    Rows whose ruleset is refused, or whose private keys are not plain, are not among them: those go the exact way.
    """
    columns = Columns(block, context.scanner)  # type: ignore[arg-type]
    accepted = columns["fine"] > 0
    foreign = Foreign(columns, accepted)
    fine = accepted & foreign.plain
    if not fine.all():
        columns.keep(fine)
    rule_codes, rule_words = columns.repeated(kw.RULES)
    option_codes, option_words = columns.repeated(kw.OPTIONS)
    pairs, places = _pairs(rule_codes, option_codes, len(option_words))
    answers = [_resolved(context, rule_words[pair // len(option_words)], option_words[pair % len(option_words)])
               for pair in pairs]  # fmt: skip
    if None in answers:
        good = np.array([answer is not None for answer in answers])
        columns.keep(good[places])
        fine[fine] = good[places]
        places = (np.cumsum(good) - 1)[places[good[places]]].astype(np.int32)
        answers = [answer for answer in answers if answer is not None]
    site_codes, site_words = columns.repeated(kw.SITE)
    table = _columns(columns, whole=len(places) == int(accepted.sum()))
    table["site"] = _dictionary(site_codes, [word or context.site or "" for word in site_words])
    table["rules"], table["options"] = (_dictionary(places, [answer[side] for answer in answers]) for side in (0, 1))
    return table | foreign.columns(table, columns, np.flatnonzero(fine)), fine


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


def _columns(rows: Columns, whole: bool) -> dict[str, Any]:
    """`whole`: the events of the block are those of the rows."""
    block, texts_of = rows.block, rows.texts
    has = rows["has"]

    def there(bit: int) -> np.ndarray:
        return has & bit > 0

    extra = texts_of(kw.EXTRA)
    if extra.null_count < len(extra):
        extra = _braced(extra)
    starts, sizes = (rows["text"][2 * kw.PLAYER_0 + side : 2 * kw.PLAYER_2 + 2 : 2].T.ravel() for side in (0, 1))
    lengths = rows["last"] - rows["first"]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    used = slice(0, offsets[-1])
    if not whole:
        used = np.arange(offsets[-1]) + np.repeat(rows["first"] - offsets[:-1], lengths)
    return {
        "game": texts_of(kw.GAME),
        "round": pa.array(rows["round_"]),
        "prev": texts_of(kw.PREV),
        "time": texts_of(kw.TIME),
        "time_ms": _masked(rows["time_ms"], rows.text(kw.TIME)[1] >= 0, np.int64),
        "suits": pa.DictionaryArray.from_arrays(pa.array(rows["suits"].astype(np.int32)), list(SUITS)),
        "players": pa.FixedSizeListArray.from_arrays(texts(block.data, starts, sizes, rows.scanner), 3),
        "dealer": pa.array(rows["dealer"].astype(np.int8)),
        "dice": _lists(rows["dice"][:2], there(kw.HAS_DICE), np.int8),
        "piao": _lists(rows["piao"], None, np.int32),
        "piao_from": "logged",
        "base": pa.array(rows["base_"]),
        "raise": pa.array(rows["raise_"].astype(np.int32)),
        "raise_from": "logged",
        "hidden_from": "logged",
        "coverage": "full",
        "deal": _binary(rows.rows["deal"], None),
        "wall": _binary(rows.rows["wall"], there(kw.HAS_WALL)),
        "proof_scheme": texts_of(kw.SCHEME),
        "proof_commit": texts_of(kw.COMMIT),
        "proof_salt": texts_of(kw.SALT),
        "proof_order": texts_of(kw.ORDER),
        "proof_deal": texts_of(kw.PROOF_DEAL),
        "events": pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(block.events[used].copy())),
        "times": _times(block.times[used], there(kw.HAS_TIMES), lengths),
        "result_end": _masked(rows["end"], rows["end"] >= 0, np.int8),
        "result_points": _lists(rows["points"], there(kw.HAS_POINTS), np.int64),
        "result_wins": _wins(rows, there(kw.HAS_WINS)),
        "result_kongs": _lists(rows["kongs"], there(kw.HAS_KONGS), np.int64),
        "result_fee": _masked(rows["fee"], there(kw.HAS_FEE), np.int64),
        "extra": extra,
    }


def _masked(values: np.ndarray, there: np.ndarray, kind: type) -> pa.Array:
    """Numbers as a column, null where they are not there."""
    return pa.array(values.astype(kind), mask=None if there.all() else ~there)


def _lists(values: np.ndarray, there: np.ndarray | None, kind: type) -> pa.Array:
    """Numbers, (n, rows), as a column of lists of n."""
    flat = pa.array(values.T.astype(kind, "C").ravel())
    mask = None if there is None or there.all() else pa.array(~there)
    return pa.FixedSizeListArray.from_arrays(flat, len(values), mask=mask)


def _binary(kinds: np.ndarray, there: np.ndarray | None) -> pa.Array:
    valid = None if there is None or there.all() else bits(there)
    return pa.Array.from_buffers(pa.binary(kinds.shape[1]), len(kinds), [valid, pa.py_buffer(kinds.copy())])


def _times(times: np.ndarray, there: np.ndarray, lengths: np.ndarray) -> pa.Array:
    if not there.any():
        return pa.nulls(len(there), ROUNDS.field("times").type)
    if not there.all():
        times = times[np.repeat(there, lengths)]
        lengths = np.where(there, lengths, 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(times.copy()), mask=None if there.all() else pa.array(~there))


def _wins(rows: Columns, there: np.ndarray) -> pa.Array:
    """The winners: at most two a round, in the order written."""
    count = rows["wins"]
    row, place = np.divmod(np.flatnonzero(np.arange(kw.MAX_WINS) < count[:, None]), kw.MAX_WINS)
    at = place * len(count) + row
    seat, payer, tile, fans, multiple = (
        rows[f"win_{name}"].ravel()[at] for name in ("seat", "from", "tile", "fans", "multiple")
    )
    children = [
        pa.array(seat.astype(np.int8)),
        _masked(payer, payer >= 0, np.int8),
        pa.array(tile.astype(np.uint8)),
        _masked(fans, fans >= 0, np.uint64),
        _masked(multiple, multiple >= 0, np.int64),
    ]
    offsets = pa.array(np.concatenate([[0], np.cumsum(count)]).astype(np.int32))
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
