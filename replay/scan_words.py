"""The words of a kwx line and the look-up tables of the scanner; how a member of an object is stepped over."""

import numpy as np

from ingest.events import ENDS, FANS
from ingest.formats import kwx_rows as rows
from ingest.formats.kwx_record import KEYS, PROOF_KEYS, RESULT_KEYS, WIN_KEYS
from replay.jit import inlined
from replay.memory import load8, load64, store64
from replay.scan_values import CLOSE_OBJECT, COLON, COMMA, QUOTE, REFUSED, VALUES, fill_values, skip

# Words that are looked up by their first eight bytes: keys of a round, of its proof, its result, its wins; ends.
_GROUPS = (tuple(KEYS), tuple(PROOF_KEYS), tuple(RESULT_KEYS), tuple(WIN_KEYS), ENDS, ("one", "four"))
WORDS = [word for group in _GROUPS for word in group]
IN_ROUND, IN_PROOF, IN_RESULT, IN_WIN, IN_ENDS, IN_DEALS = (
    sum(len(group) for group in _GROUPS[:at]) for at in range(len(_GROUPS))
)
REQUIRED = sum(1 << at for at, key in enumerate(KEYS) if KEYS[key])
RESULT_REQUIRED = sum(1 << at for at, key in enumerate(RESULT_KEYS) if RESULT_KEYS[key])
WIN_REQUIRED = sum(1 << at for at, key in enumerate(WIN_KEYS) if WIN_KEYS[key])
N_ROUND, N_PROOF, N_RESULT, N_WIN, N_ENDS, N_DEALS = (len(group) for group in _GROUPS)
N_FANS = len(FANS)

TABLES = np.dtype(
    [
        ("values", VALUES),
        ("word", np.int64, (len(WORDS),)),  # the first bytes of a word and its closing quote
        ("mask", np.int64, (len(WORDS),)),
        ("tail", np.int64, (len(WORDS),)),  # the last eight bytes with the quote, of a word of eight letters or more
        ("length", np.int64, (len(WORDS),)),
        ("fan_length", np.int64, (N_FANS,)),
        ("scheme", np.uint8, (8,)),
        ("fan", np.uint8, (N_FANS, rows.FAN_WIDTH + 1)),  # with the closing quote
    ]
)
WORD_AT, MASK_AT, TAIL_AT, LENGTH_AT, FAN_LENGTH_AT, SCHEME_AT, FAN_AT = (
    TABLES.fields[name][1]  # type: ignore[index]
    for name in ("word", "mask", "tail", "length", "fan_length", "scheme", "fan")
)
FAN_ROW = rows.FAN_WIDTH + 1


def tables() -> int:
    """The address of the look-up tables, which are built once a process and stay."""
    global _TABLES
    if _TABLES is not None:
        return _TABLES.ctypes.data
    array = np.zeros(1, TABLES).view(np.recarray)
    fill_values(array["values"].view(np.recarray))
    for at, word in enumerate(WORDS):
        seen = (word + '"').encode()[:8]
        array.word[0, at] = int.from_bytes(seen, "little", signed=len(seen) == 8)
        array.mask[0, at] = int.from_bytes(b"\xff" * len(seen), "little", signed=len(seen) == 8)
        array.tail[0, at] = int.from_bytes((word + '"').encode()[-8:], "little", signed=True)
        array.length[0, at] = len(word)
    for at, fan in enumerate(FANS):
        data = (fan + '"').encode()
        array.fan[0, at, : len(data)] = list(data)
        array.fan_length[0, at] = len(fan)
    array.scheme[0, :6] = list(b"sha256")
    _TABLES = array
    return array.ctypes.data




_TABLES: np.recarray | None = None


@inlined
def length_of(tables, which):
    """Letters of a word."""
    return load64(tables + LENGTH_AT + 8 * which)


@inlined
def word(at, tables, first, count, hint):
    """Which of `count` words from `first` on the text that begins behind a quote at `at` is, or REFUSED."""
    found = load64(at)
    for step in range(count):
        place = hint + step
        if place >= count:
            place -= count
        look = tables + 8 * (first + place)
        if found & load64(look + MASK_AT) == load64(look + WORD_AT):
            length = load64(look + LENGTH_AT)
            return place if length < 8 or load64(at + length - 7) == load64(look + TAIL_AT) else REFUSED
    return REFUSED


@inlined
def colon(at):
    """Behind the colon after a key."""
    at = skip(at)
    return skip(at + 1) if load8(at) == COLON else REFUSED


@inlined
def next_member(at):
    """At the next key or the closing brace of an object, behind a value."""
    at = skip(at)
    if load8(at) == CLOSE_OBJECT:
        return at
    if load8(at) != COMMA:
        return REFUSED
    at = skip(at + 1)
    return at if load8(at) == QUOTE else REFUSED


@inlined
def keep(row, which, start, stop, base):
    """Note that a text without its quotes is [start + 1, stop - 1) of the block at `base`, and give `stop` on."""
    if stop >= 0:
        store64(row + rows.TEXT_AT + 16 * which, start + 1 - base)
        store64(row + rows.TEXT_AT + 16 * which + 8, stop - start - 2)
    return stop


@inlined
def mark(row, bit):
    """Set a bit of what the line has."""
    store64(row + rows.HAS_AT, load64(row + rows.HAS_AT) | bit)
