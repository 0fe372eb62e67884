"""The scanner: blocks of kwx lines to rows and columns, compiled, without an object per line.

`fastest` is what ingest.read.Reader takes; without a scanner every line goes the slow, exact way.
"""

import numpy as np

from ingest.formats import kwx_rows as rows
from ingest.tiles import SUITS
from replay.jit import COMPILED, inner, jit
from replay.scan_line import line
from replay.scan_values import OTHER_SUITS
from replay.scan_words import tables

NEWLINE, RETURN, SPACE = 10, 13, 32
PS, MP, MS = range(len(SUITS))


@inner
def only_blanks(data, at, stop):
    """Whether a line holds nothing but spaces and \\t \\v \\f \\r."""
    while at < stop and (data[at] == SPACE or 9 <= data[at] <= 13):
        at += 1
    return at == stop


@inner
def line_end(data, at, fill):
    """The next newline at or behind `at`, or `fill`."""
    while at < fill and data[at] != NEWLINE:
        at += 1
    return at


@inner
def suits_shown(row, events):
    """The suits that a row accepted with those of row.suits really shows: deal and wall, at need also the events.

    -1: not to be told here (an order of tiles that the deal and the wall do not cover).
    """
    first, second = False, False
    for kind in row.deal:
        first |= kind < 9
        second |= 9 <= kind < 18
    if row.has & rows.HAS_WALL:
        for kind in row.wall:
            first |= kind < 9
            second |= 9 <= kind < 18
    elif row.text[rows.ORDER, 1] >= 0:
        return -1
    if not (first and second):
        for at in range(row.first, row.last):
            event = np.int64(events[at])
            if event >> 2 & 15 == 8:
                first |= event >> 6 & 0x1FF != 0
                second |= event >> 15 & 0x1FF != 0
            else:
                first |= event >> 6 & 31 < 9
                second |= 9 <= event >> 6 & 31 < 18
    if row.suits == MP:
        return MP if first else PS
    return MS if first and second else MP if first else PS


@jit
def scan(data, pairs, words, place, all_rows, events, times, tables):
    """Rows of the whole lines from place.at on, until there are no more or `all_rows` is full."""
    at, number, count = place.at, place.number, place.count
    while at < place.stop and count < len(all_rows):
        row = all_rows[count]
        row.first = row.last = place.filled
        row.number, row.start, row.byte = number, at, at + place.offset
        row.fine, row.unended, row.too_long = 0, 0, 0
        suits, behind = place.suits, np.int64(OTHER_SUITS)
        for _ in range(3):
            behind = line(data, pairs, words, at, row, events, times, suits, tables)
            if behind != OTHER_SUITS:
                break
            suits = (suits + 1) % 3
        row.suits = suits
        if behind > 0:
            stop = behind
            while data[stop] == SPACE or data[stop] == 9 or data[stop] == RETURN:
                stop += 1
            if data[stop] == NEWLINE or (stop == place.stop and place.last > 0):
                row.fine = suits == PS or suits_shown(row, events) == suits
            else:
                stop = line_end(data, stop, place.stop)
        else:
            stop = line_end(data, at, place.stop)
        if stop == place.stop:
            if place.last == 0:
                break  # the rest of the line is still to come
            row.unended = 1
        begin, at = at, stop + 1
        number += 1
        if stop - begin > place.line_limit:
            row.fine, row.too_long, stop = 0, 1, begin + place.raw_limit
        if row.fine == 0 and only_blanks(data, begin, stop):
            continue
        row.stop = stop - 1 if row.too_long == 0 and data[stop - 1] == RETURN else stop
        if row.fine > 0:
            place.filled, place.suits = row.last, suits
        count += 1
    at = min(at, place.stop)  # no newline behind the last line
    place.at, place.number, place.count = at, number, count


@jit
def assign(data, starts, sizes, slots, codes, firsts):
    """Number the texts [start, start + size) of bytes in the order of first use; how many distinct ones there are.

    slots: int32, a power of two that is at least twice the number of texts, all -1; codes: int32 a text; firsts: int64,
    the text that stands first for each code.
    """
    mask = len(slots) - 1
    distinct = 0
    for row in range(len(starts)):
        at, size = starts[row], sizes[row]
        if row > 0 and size == sizes[row - 1] and same(data, at, starts[row - 1], size):
            codes[row] = codes[row - 1]
            continue
        slot = np.int64(2166136261) ^ size
        for place in range(at, at + size):
            slot = (slot ^ np.int64(data[place])) * 16777619 & 0xFFFFFFFF
        slot = (slot ^ slot >> 15) & mask
        while slots[slot] >= 0:
            first = firsts[slots[slot]]
            if size == sizes[first] and same(data, at, starts[first], size):
                break
            slot = slot + 1 & mask
        if slots[slot] < 0:
            slots[slot] = distinct
            firsts[distinct] = row
            distinct += 1
        codes[row] = slots[slot]
    return distinct


@inner
def same(data, one, two, size):
    """Whether two texts of a size hold the same bytes."""
    for place in range(size):
        if data[one + place] != data[two + place]:
            return False
    return True


@jit
def copy(data, starts, sizes, out):
    """The texts [start, start + size) of bytes end to end into `out`."""
    to = 0
    for row in range(len(starts)):
        at = starts[row]
        for place in range(sizes[row]):
            out[to + place] = data[at + place]
        to += sizes[row]


def codes(data: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(code int32 of each text, the text that stands first for each code); codes count in the order of first use."""
    slots = np.full(1 << int(2 * len(starts)).bit_length(), -1, np.int32)
    out, firsts = np.empty(len(starts), np.int32), np.empty(len(starts), np.int64)
    distinct = assign(data, starts, sizes, slots, out, firsts)
    return out, firsts[:distinct]


def gather(data: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The texts end to end, uint8."""
    out = np.empty(int(sizes.sum()), np.uint8)
    copy(data, starts, sizes, out)
    return out


def scan_block(block: rows.Block) -> None:
    """Rows of the whole lines that a block holds from its place on, until there are no more or no room for rows."""
    scan(block.data, block.pairs, block.words, block.place, block.rows, block.events, block.times, tables())


scanner = rows.Scanner(scan_block, codes, gather)
# What a Reader should be given: uncompiled, the exact way is the faster one.
fastest: rows.Scanner | None = scanner if COMPILED else None
