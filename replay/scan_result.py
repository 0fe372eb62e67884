"""The objects inside a kwx line: the commitment and what the platform paid."""

import numpy as np

from ingest.events import FAN_BITS
from ingest.formats import kwx_rows as rows
from ingest.tiles import ALL_TILES, KINDS
from replay.jit import inner
from replay.memory import load8, load16, load64, store64
from replay.scan_values import (
    BACKSLASH,
    CLOSE_LIST,
    CLOSE_OBJECT,
    COMMA,
    OPEN_LIST,
    OPEN_OBJECT,
    OTHER_SUITS,
    QUOTE,
    REFUSED,
    SPACE,
    ZERO,
    hexadecimal,
    integer,
    integers,
    skip,
    text,
    wall,
)  # fmt: skip
from replay.scan_words import (
    FAN_AT,
    FAN_LENGTH_AT,
    FAN_ROW,
    IN_DEALS,
    IN_ENDS,
    IN_PROOF,
    IN_RESULT,
    IN_WIN,
    N_DEALS,
    N_ENDS,
    N_FANS,
    N_PROOF,
    N_RESULT,
    N_WIN,
    RESULT_REQUIRED,
    SCHEME_AT,
    WIN_REQUIRED,
    colon,
    keep,
    length_of,
    mark,
    next_member,
    word,
)  # fmt: skip

SCHEME, COMMIT, SALT, ORDER, PROOF_DEAL = range(N_PROOF)
END, POINTS, WINS, KONGS, FEE = range(N_RESULT)
SEAT, FROM, WIN_TILE, WIN_FANS, MULTIPLE = range(N_WIN)
FAN_LIMIT = (1 << FAN_BITS) - 1  # of one fan
PLUS = 43
LOWEST, HIGHEST = 1 - 10**15, 10**15 - 1


@inner
def scheme(at, tables):
    """The name of a commitment: sha256, or sha256+ and up to 32 of a-z 0-9 . -"""
    start = at + 1
    stop = text(at)
    if stop < 0 or stop - start < 7:
        return REFUSED
    for place in range(6):
        if load8(start + place) != load8(tables + SCHEME_AT + place):
            return REFUSED
    length = stop - start - 7
    if length > 0 and (load8(start + 6) != PLUS or length < 2 or length > 33):
        return REFUSED
    for place in range(start + 7, stop - 1):
        byte = load8(place)
        letter = 97 <= byte <= 122 or ZERO <= byte <= 57 or byte == 45 or byte == 46
        if not letter:
            return REFUSED
    return stop


@inner
def salt(at):
    """A text of printable ASCII."""
    if load8(at) != QUOTE:
        return REFUSED
    at += 1
    while load8(at) != QUOTE:
        if load8(at) < SPACE or load8(at) > 126 or load8(at) == BACKSLASH:
            return REFUSED
        at += 1
    return at + 1


@inner
def proof(at, row, kinds, tables, base):
    """The object of a commitment."""
    if load8(at) != OPEN_OBJECT:
        return REFUSED
    at = skip(at + 1)
    seen, hint = 0, 0
    while load8(at) != CLOSE_OBJECT:
        key = word(at + 1, tables, IN_PROOF, N_PROOF, hint)
        if load8(at) != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(at + length_of(tables, IN_PROOF + key) + 2)
        if at < 0:
            return REFUSED
        start = at
        if key == SCHEME:
            at = keep(row, rows.SCHEME, start, scheme(at, tables), base)
        elif key == COMMIT:
            at = keep(row, rows.COMMIT, start, hexadecimal(at), base)
        elif key == SALT:
            at = keep(row, rows.SALT, start, salt(at), base)
        elif key == ORDER:
            at = wall(at, kinds, 0, ALL_TILES, 0)
            keep(row, rows.ORDER, start, at, base)
        else:
            which = word(at + 1, tables, IN_DEALS, N_DEALS, 0)
            if load8(at) != QUOTE or which < 0:
                return REFUSED
            at = keep(row, rows.PROOF_DEAL, start, start + 2 + length_of(tables, IN_DEALS + which), base)
        if at < 0:
            return at
        at = next_member(at)
        if at < 0:
            return REFUSED
    return at + 1 if seen == (1 << N_PROOF) - 1 else REFUSED


@inner
def fan_ids(at, tables):
    """(packed multiset, address behind it) of a list of fan ids in the order of the fan table."""
    packed = np.int64(0)
    if load8(at) != OPEN_LIST:
        return packed, REFUSED
    at = skip(at + 1)
    fan, times = 0, 0
    if load8(at) == CLOSE_LIST:
        return packed, at + 1
    while True:
        if load8(at) != QUOTE:
            return packed, REFUSED
        found = REFUSED
        for candidate in range(fan, N_FANS):  # never one before the last
            same, name = 0, tables + FAN_AT + FAN_ROW * candidate
            length = load64(tables + FAN_LENGTH_AT + 8 * candidate)
            while same <= length and load8(at + 1 + same) == load8(name + same):
                same += 1
            if same > length:
                found = candidate
                break
        if found < 0:
            return packed, REFUSED
        times = times + 1 if found == fan else 1
        if times > FAN_LIMIT:
            return packed, REFUSED
        fan = found
        packed += np.int64(1) << (FAN_BITS * fan)
        at = skip(at + load64(tables + FAN_LENGTH_AT + 8 * fan) + 2)
        if load8(at) == CLOSE_LIST:
            return packed, at + 1
        if load8(at) != COMMA:
            return packed, REFUSED
        at = skip(at + 1)


@inner
def win(at, row, place, kinds, tables):
    """The object of one winner."""
    if load8(at) != OPEN_OBJECT:
        return REFUSED
    at = skip(at + 1)
    seen, hint = 0, 0
    seat, payer = np.int64(-1), np.int64(-1)
    row += 8 * place
    store64(row + rows.WIN_FANS_AT, -1)
    store64(row + rows.WIN_MULTIPLE_AT, -1)
    while load8(at) != CLOSE_OBJECT:
        key = word(at + 1, tables, IN_WIN, N_WIN, hint)
        if load8(at) != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(at + length_of(tables, IN_WIN + key) + 2)
        if at < 0:
            return REFUSED
        if key == WIN_TILE:
            tile = load8(kinds + load16(at + 1))
            if load8(at) != QUOTE or load8(at + 3) != QUOTE or tile >= KINDS:
                return OTHER_SUITS
            store64(row + rows.WIN_TILE_AT, tile)
            at += 4
        elif key == WIN_FANS:
            fans, at = fan_ids(at, tables)
            store64(row + rows.WIN_FANS_AT, fans)
        else:
            number, at = integer(at)
            if at < 0 or number < 0 or (key != MULTIPLE and number > 2):
                return REFUSED
            if key == SEAT:
                seat = number
            elif key == FROM:
                payer = number
            else:
                store64(row + rows.WIN_MULTIPLE_AT, number)
        if at < 0:
            return REFUSED
        at = next_member(at)
        if at < 0:
            return REFUSED
    if seen & WIN_REQUIRED != WIN_REQUIRED or payer == seat:
        return REFUSED
    store64(row + rows.WIN_SEAT_AT, seat)
    store64(row + rows.WIN_FROM_AT, payer)
    return at + 1


@inner
def result(at, row, kinds, tables):
    """The object of what the platform paid."""
    wins = 0
    if load8(at) != OPEN_OBJECT:
        return REFUSED
    at = skip(at + 1)
    seen, hint = 0, 0
    while load8(at) != CLOSE_OBJECT:
        key = word(at + 1, tables, IN_RESULT, N_RESULT, hint)
        if load8(at) != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(at + length_of(tables, IN_RESULT + key) + 2)
        if at < 0:
            return REFUSED
        if key == END:
            end = word(at + 1, tables, IN_ENDS, N_ENDS, 0)
            if load8(at) != QUOTE or end < 0:
                return REFUSED
            store64(row + rows.END_AT, end)
            at += length_of(tables, IN_ENDS + end) + 2
        elif key == POINTS:
            at = integers(at, row + rows.POINTS_AT, 3, LOWEST, HIGHEST)
            mark(row, rows.HAS_POINTS)
        elif key == KONGS:
            at = integers(at, row + rows.KONGS_AT, 3, LOWEST, HIGHEST)
            mark(row, rows.HAS_KONGS)
        elif key == FEE:
            fee, at = integer(at)
            store64(row + rows.FEE_AT, fee)
            mark(row, rows.HAS_FEE)
            if fee < 0:
                return REFUSED
        else:
            mark(row, rows.HAS_WINS)
            if load8(at) != OPEN_LIST:
                return REFUSED
            at = skip(at + 1)
            while load8(at) != CLOSE_LIST:
                if wins == rows.MAX_WINS:
                    return REFUSED
                at = win(at, row, wins, kinds, tables)
                if at < 0:
                    return at
                wins += 1
                at = skip(at)
                if load8(at) == COMMA:
                    at = skip(at + 1)
                    if load8(at) != OPEN_OBJECT:
                        return REFUSED
                elif load8(at) != CLOSE_LIST:
                    return REFUSED
            store64(row + rows.WINS_AT, wins)
            at += 1
        if at < 0:
            return REFUSED
        at = next_member(at)
        if at < 0:
            return REFUSED
    return at + 1 if seen & RESULT_REQUIRED == RESULT_REQUIRED else REFUSED
