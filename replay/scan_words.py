"""The words of a kwx line and the look-up tables of the scanner; how a member of an object is stepped over."""

import numpy as np

from ingest.events import ENDS, FANS
from ingest.formats import kwx_rows as rows
from ingest.formats.kwx_record import KEYS, PROOF_KEYS, RESULT_KEYS, WIN_KEYS
from replay.jit import inner
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
        ("word", np.uint64, (len(WORDS),)),  # the first bytes of a word and its closing quote
        ("mask", np.uint64, (len(WORDS),)),
        ("tail", np.uint64, (len(WORDS),)),  # the last eight bytes with the quote, of a word of eight letters or more
        ("length", np.int64, (len(WORDS),)),
        ("fan", np.uint8, (N_FANS, rows.FAN_WIDTH + 1)),  # with the closing quote
        ("fan_size", np.int64, (N_FANS,)),
        ("scheme", np.uint8, (8,)),
    ]
)


def tables() -> np.record:
    """The look-up tables as one record, built once a process."""
    global _TABLES
    if _TABLES is not None:
        return _TABLES[0]
    array = np.zeros(1, TABLES).view(np.recarray)
    fill_values(array["values"].view(np.recarray))
    for at, word in enumerate(WORDS):
        seen = (word + '"').encode()[:8]
        array.word[0, at] = int.from_bytes(seen, "little")
        array.mask[0, at] = int.from_bytes(b"\xff" * len(seen), "little")
        array.tail[0, at] = int.from_bytes((word + '"').encode()[-8:], "little")
        array.length[0, at] = len(word)
    for at, fan in enumerate(FANS):
        data = (fan + '"').encode()
        array.fan[0, at, : len(data)] = list(data)
        array.fan_size[0, at] = len(fan)
    array.scheme[0, :6] = list(b"sha256")
    _TABLES = array
    return array[0]


_TABLES: np.recarray | None = None


@inner
def word(words, at, tables, first, count, hint):
    """Which of `count` words from `first` on the text that begins behind a quote at `at` is, or REFUSED."""
    found = words[at]
    for step in range(count):
        place = hint + step
        if place >= count:
            place -= count
        if found & tables.mask[first + place] == tables.word[first + place]:
            size = tables.length[first + place]
            return place if size < 8 or words[at + size - 7] == tables.tail[first + place] else REFUSED
    return REFUSED


@inner
def colon(data, at):
    """Behind the colon after a key."""
    at = skip(data, at)
    return skip(data, at + 1) if data[at] == COLON else REFUSED


@inner
def next_member(data, at):
    """At the next key or the closing brace of an object, behind a value."""
    at = skip(data, at)
    if data[at] == CLOSE_OBJECT:
        return at
    if data[at] != COMMA:
        return REFUSED
    at = skip(data, at + 1)
    return at if data[at] == QUOTE else REFUSED


@inner
def keep(row, which, start, stop):
    """Note that a text without its quotes is [start + 1, stop - 1), and give `stop` on."""
    if stop >= 0:
        row.text[which, 0] = start + 1
        row.text[which, 1] = stop - start - 2
    return stop
