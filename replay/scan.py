"""The scanner: blocks of kwx lines to rows and columns, compiled, without an object per line.

`fastest` is what ingest.read.Reader takes; without a scanner every line goes the slow, exact way.
"""

import numpy as np

from ingest.events import REVEAL
from ingest.formats import kwx_rows as rows
from ingest.tiles import SUITS, WALL_TILES
from replay.digests import digests
from replay.jit import COMPILED, inner, jit
from replay.memory import load8, load32, load64, same, store8, store64
from replay.scan_line import line
from replay.scan_values import OTHER_SUITS, SPACE, TAB, VALUES
from replay.scan_words import tables
from replay.sha256 import has_instructions, hashes

NEWLINE, RETURN = 10, 13
PS, MP, MS = range(len(SUITS))
ROW_SIZE = rows.ROW.itemsize
KIND_AT, KINDS_SIZE = VALUES.fields["kind"][1], VALUES["kind"].itemsize // len(SUITS)  # type: ignore[index]


@inner
def only_blanks(at, stop):
    """Whether a line holds nothing but spaces and \\t \\v \\f \\r."""
    while at < stop and (load8(at) == SPACE or 9 <= load8(at) <= 13):
        at += 1
    return at == stop


@inner
def line_end(at, stop):
    """The next newline at or behind `at`, or `stop`."""
    while at < stop and load8(at) != NEWLINE:
        at += 1
    return at


@inner
def tiles_shown(at, count):
    """Whether `count` tiles show the first suit (bit 0) and the second (bit 1)."""
    shown = 0
    for place in range(at, at + count):
        kind = load8(place)
        shown |= 1 if kind < 9 else 2 if kind < 18 else 0
    return shown


@inner
def suits_shown(row, suits, events):
    """The suits that a row accepted with `suits` really shows: its deal and wall, at need also its events.

    -1: not to be told here (an order of tiles that the deal and the wall do not cover).
    """
    shown = tiles_shown(row + rows.DEAL_AT, 42)
    if load64(row + rows.HAS_AT) & rows.HAS_WALL:
        shown |= tiles_shown(row + rows.WALL_AT, WALL_TILES)
    elif load64(row + rows.TEXT_AT + 16 * rows.ORDER + 8) >= 0:
        return -1
    if shown != 3:
        for place in range(load64(row + rows.FIRST_AT), load64(row + rows.LAST_AT)):
            event = load32(events + 4 * place)
            if event >> 2 & 15 == REVEAL:
                shown |= (1 if event >> 6 & 0x1FF else 0) | (2 if event >> 15 & 0x1FF else 0)
            else:
                kind = event >> 6 & 31
                shown |= 1 if kind < 9 else 2 if kind < 18 else 0
    if suits == MS and shown == 3:
        return MS
    return MP if shown & 1 else PS


@jit
def scan(base, place, where, room, events, times, kinds, tables):
    """Rows of the whole lines there are, until there are no more or `room` rows are filled.

    base, place, where, events, times, kinds, tables: addresses of the block, of its place, of the rows, the events, the
    times, the table of tiles and all tables.
    """
    at, stop = base + load64(place + 8 * rows.AT), base + load64(place + 8 * rows.STOP)
    number, count = load64(place + 8 * rows.NUMBER), load64(place + 8 * rows.COUNT)
    filled, before = load64(place + 8 * rows.FILLED), load64(place + 8 * rows.SUITS_BEFORE)
    last, offset = load64(place + 8 * rows.LAST), load64(place + 8 * rows.OFFSET)
    while at < stop and count < room:
        if load8(at) == NEWLINE:  # millions of blank lines may come
            at += 1
            number += 1
            continue
        row = where + count * ROW_SIZE
        store64(row + rows.FIRST_AT, filled)
        suits, behind, tries = before, np.int64(OTHER_SUITS), 0
        while behind == OTHER_SUITS and tries < len(SUITS):
            suits = (before + tries) % len(SUITS)
            table = kinds + suits * KINDS_SIZE
            behind = line(at, row, base, events + 4 * filled, times + 4 * filled, table, tables)
            tries += 1
        fine, unended, too_long = False, False, False
        if behind > 0:
            end = behind
            while load8(end) == SPACE or load8(end) == TAB or load8(end) == RETURN:
                end += 1
            if load8(end) == NEWLINE or (end == stop and last > 0):
                fine = suits == PS or suits_shown(row, suits, events) == suits
            else:
                end = line_end(end, stop)
        else:
            end = line_end(at, stop)
        if end == stop:
            if last == 0:
                break  # the rest of the line is still to come
            unended = True
        begin, at = at, end + 1
        number += 1
        if end - begin > load64(place + 8 * rows.LINE_MOST):
            fine, too_long = False, True
            end = begin + load64(place + 8 * rows.RAW_MOST)
        if not fine and only_blanks(begin, end):
            continue
        if not too_long and load8(end - 1) == RETURN:
            end -= 1
        store64(row + rows.START_AT, begin - base)
        store64(row + rows.STOP_AT, end - base)
        store64(row + rows.BYTE_AT, begin - base + offset)
        store64(row + rows.NUMBER_AT, number - 1)
        store64(row + rows.FINE_AT, fine)
        store64(row + rows.UNENDED_AT, unended)
        store64(row + rows.TOO_LONG_AT, too_long)
        store64(row + rows.SUITS_AT, suits)
        if fine:
            filled, before = load64(row + rows.LAST_AT), suits
        count += 1
    store64(place + 8 * rows.AT, min(at, stop) - base)
    store64(place + 8 * rows.NUMBER, number)
    store64(place + 8 * rows.COUNT, count)
    store64(place + 8 * rows.FILLED, filled)
    store64(place + 8 * rows.SUITS_BEFORE, before)


@jit
def assign(base, starts, sizes, slots, codes, firsts):
    """Number the texts [start, start + size) of the bytes at `base` in the order of first use; how many distinct ones.

    slots: int32, a power of two that is at least twice the number of texts, all -1; codes: int32 a text; firsts: int64,
    the text that stands first for each code.
    """
    mask = len(slots) - 1
    distinct = 0
    for row in range(len(starts)):
        at, size = base + starts[row], sizes[row]
        if row > 0 and size == sizes[row - 1] and same(at, base + starts[row - 1], size):
            codes[row] = codes[row - 1]
            continue
        slot = np.int64(2166136261) ^ size
        for place in range(at, at + size):
            slot = (slot ^ load8(place)) * 16777619 & 0xFFFFFFFF
        slot = (slot ^ slot >> 15) & mask
        while slots[slot] >= 0:
            first = firsts[slots[slot]]
            if size == sizes[first] and same(at, base + starts[first], size):
                break
            slot = slot + 1 & mask
        if slots[slot] < 0:
            slots[slot] = distinct
            firsts[distinct] = row
            distinct += 1
        codes[row] = slots[slot]
    return distinct


@jit
def copy(base, starts, sizes, to):
    """The texts [start, start + size) of the bytes at `base` end to end, from the address `to` on."""
    for row in range(len(starts)):
        at, size = base + starts[row], sizes[row]
        if size >= 8:
            for place in range(0, size - 8, 8):
                store64(to + place, load64(at + place))
            store64(to + size - 8, load64(at + size - 8))
        else:
            for place in range(size):
                store8(to + place, load8(at + place))
        to += size


def codes(data: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(code int32 of each text, the text that stands first for each code); codes count in the order of first use."""
    slots = np.full(1 << int(2 * len(starts)).bit_length(), -1, np.int32)
    out, firsts = np.empty(len(starts), np.int32), np.empty(len(starts), np.int64)
    distinct = assign(data.ctypes.data, starts, sizes, slots, out, firsts)
    return out, firsts[:distinct]


def gather(data: np.ndarray, starts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The texts end to end, uint8."""
    out = np.empty(int(sizes.sum()), np.uint8)
    copy(data.ctypes.data, starts, sizes, out.ctypes.data)
    return out


@jit
def transpose(where, count, out):
    """The words of `count` rows at the address `where` as columns, to the address `out`."""
    for start in range(0, count, 8):
        rows_here = min(8, count - start)
        for word in range(rows.WORDS):
            at, to = where + start * ROW_SIZE + 8 * word, out + 8 * (word * count + start)
            for row in range(rows_here):
                store64(to + 8 * row, load64(at + row * ROW_SIZE))


def turn(all_rows: np.ndarray) -> np.ndarray:
    """The words of rows, ROW[n], as columns, int64[WORDS, n]."""
    out = np.empty((rows.WORDS, len(all_rows)), np.int64)
    transpose(all_rows.ctypes.data, len(all_rows), out.ctypes.data)
    return out


def scan_block(block: rows.Block) -> None:
    """Rows of the whole lines that a block holds from its place on, until there are no more or no room for rows."""
    look = tables()
    scan(
        block.data.ctypes.data, block.place.ctypes.data, block.rows.ctypes.data, len(block.rows),
        block.events.ctypes.data, block.times.ctypes.data, look + KIND_AT, look,
    )  # fmt: skip


def warm() -> None:
    """Compile everything here, or load it from the cache."""
    nothing, none = np.zeros(0, np.int64), np.zeros(8, np.uint8)
    scan_block(rows.Block(64, 1))
    codes(none, nothing, nothing)
    gather(none, nothing, nothing)
    turn(np.zeros(2, rows.ROW))
    offsets = np.frombuffer(bytes(4), np.int32)
    digests([""], offsets[:0], np.frombuffer(bytes(1), np.uint8), offsets, np.frombuffer(b"", np.int64))
    if scanner.hashes:
        scanner.hashes(none, nothing, nothing)


scanner = rows.Scanner(scan_block, codes, gather, turn, digests, hashes if has_instructions() else None)
# What a Reader should be given: uncompiled, the exact way is the faster one.
fastest: rows.Scanner | None = scanner if COMPILED else None
