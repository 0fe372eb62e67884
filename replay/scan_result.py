"""The objects inside a kwx line: the commitment and what the platform paid."""

import numpy as np

from ingest.events import FAN_BITS
from ingest.formats import kwx_rows as rows
from ingest.tiles import ALL_TILES, KINDS
from replay.jit import inner
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
    WIN_REQUIRED,
    colon,
    keep,
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
def scheme(data, at, tables):
    """The name of a commitment: sha256, or sha256+ and up to 32 of a-z 0-9 . -"""
    start = at + 1
    stop = text(data, at)
    if stop < 0 or stop - start < 7:
        return REFUSED
    for place in range(6):
        if data[start + place] != tables.scheme[place]:
            return REFUSED
    length = stop - start - 7
    if length > 0 and (data[start + 6] != PLUS or length < 2 or length > 33):
        return REFUSED
    for place in range(start + 7, stop - 1):
        byte = data[place]
        letter = 97 <= byte <= 122 or ZERO <= byte <= 57 or byte == 45 or byte == 46
        if not letter:
            return REFUSED
    return stop


@inner
def salt(data, at):
    """A text of printable ASCII."""
    if data[at] != QUOTE:
        return REFUSED
    at += 1
    while data[at] != QUOTE:
        if data[at] < SPACE or data[at] > 126 or data[at] == BACKSLASH:
            return REFUSED
        at += 1
    return at + 1


@inner
def proof(data, pairs, words, at, row, suits, tables):
    """The object of a commitment."""
    if data[at] != OPEN_OBJECT:
        return REFUSED
    at = skip(data, at + 1)
    seen, hint = 0, 0
    while data[at] != CLOSE_OBJECT:
        key = word(words, at + 1, tables, IN_PROOF, N_PROOF, hint)
        if data[at] != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(data, at + tables.length[IN_PROOF + key] + 2)
        if at < 0:
            return REFUSED
        start = at
        if key == SCHEME:
            at = keep(row, rows.SCHEME, start, scheme(data, at, tables))
        elif key == COMMIT:
            at = keep(row, rows.COMMIT, start, hexadecimal(data, at))
        elif key == SALT:
            at = keep(row, rows.SALT, start, salt(data, at))
        elif key == ORDER:
            at = wall(data, pairs, at, tables.values.kind[suits], row.wall, ALL_TILES, 0)
            keep(row, rows.ORDER, start, at)
        else:
            which = word(words, at + 1, tables, IN_DEALS, N_DEALS, 0)
            if data[at] != QUOTE or which < 0:
                return REFUSED
            at = keep(row, rows.PROOF_DEAL, start, start + 2 + tables.length[IN_DEALS + which])
        if at < 0:
            return at
        at = next_member(data, at)
        if at < 0:
            return REFUSED
    return at + 1 if seen == (1 << N_PROOF) - 1 else REFUSED


@inner
def fan_ids(data, at, tables):
    """(packed multiset, place behind it) of a list of fan ids in the order of the fan table."""
    packed = np.int64(0)
    if data[at] != OPEN_LIST:
        return packed, REFUSED
    at = skip(data, at + 1)
    fan, times = 0, 0
    if data[at] == CLOSE_LIST:
        return packed, at + 1
    while True:
        if data[at] != QUOTE:
            return packed, REFUSED
        found = REFUSED
        for candidate in range(fan, N_FANS):  # never one before the last
            same = 0
            while same <= tables.fan_size[candidate] and data[at + 1 + same] == tables.fan[candidate, same]:
                same += 1
            if same > tables.fan_size[candidate]:
                found = candidate
                break
        if found < 0:
            return packed, REFUSED
        times = times + 1 if found == fan else 1
        if times > FAN_LIMIT:
            return packed, REFUSED
        fan = found
        packed += np.int64(1) << (FAN_BITS * fan)
        at = skip(data, at + tables.fan_size[fan] + 2)
        if data[at] == CLOSE_LIST:
            return packed, at + 1
        if data[at] != COMMA:
            return packed, REFUSED
        at = skip(data, at + 1)


@inner
def win(data, pairs, words, at, row, place, suits, tables):
    """The object of one winner."""
    if data[at] != OPEN_OBJECT:
        return REFUSED
    at = skip(data, at + 1)
    seen, hint = 0, 0
    row.win_from[place], row.win_fans[place], row.win_multiple[place] = -1, -1, -1
    while data[at] != CLOSE_OBJECT:
        key = word(words, at + 1, tables, IN_WIN, N_WIN, hint)
        if data[at] != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(data, at + tables.length[IN_WIN + key] + 2)
        if at < 0:
            return REFUSED
        if key == WIN_TILE:
            tile = tables.values.kind[suits, pairs[at + 1]]
            if data[at] != QUOTE or data[at + 3] != QUOTE or tile >= KINDS:
                return OTHER_SUITS
            row.win_tile[place] = tile
            at += 4
        elif key == WIN_FANS:
            row.win_fans[place], at = fan_ids(data, at, tables)
        else:
            number, at = integer(data, at)
            if at < 0 or number < 0 or (key != MULTIPLE and number > 2):
                return REFUSED
            if key == SEAT:
                row.win_seat[place] = number
            elif key == FROM:
                row.win_from[place] = number
            else:
                row.win_multiple[place] = number
        if at < 0:
            return REFUSED
        at = next_member(data, at)
        if at < 0:
            return REFUSED
    if seen & WIN_REQUIRED != WIN_REQUIRED or row.win_from[place] == row.win_seat[place]:
        return REFUSED
    return at + 1


@inner
def result(data, pairs, words, at, row, suits, tables):
    """The object of what the platform paid."""
    if data[at] != OPEN_OBJECT:
        return REFUSED
    at = skip(data, at + 1)
    seen, hint = 0, 0
    while data[at] != CLOSE_OBJECT:
        key = word(words, at + 1, tables, IN_RESULT, N_RESULT, hint)
        if data[at] != QUOTE or key < 0 or seen >> key & 1:
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(data, at + tables.length[IN_RESULT + key] + 2)
        if at < 0:
            return REFUSED
        if key == END:
            end = word(words, at + 1, tables, IN_ENDS, N_ENDS, 0)
            if data[at] != QUOTE or end < 0:
                return REFUSED
            row.end = end
            at += tables.length[IN_ENDS + end] + 2
        elif key == POINTS:
            at = integers(data, at, row.points, 3, LOWEST, HIGHEST)
            row.has |= rows.HAS_POINTS
        elif key == KONGS:
            at = integers(data, at, row.kongs, 3, LOWEST, HIGHEST)
            row.has |= rows.HAS_KONGS
        elif key == FEE:
            row.fee, at = integer(data, at)
            row.has |= rows.HAS_FEE
            if row.fee < 0:
                return REFUSED
        else:
            row.has |= rows.HAS_WINS
            if data[at] != OPEN_LIST:
                return REFUSED
            at = skip(data, at + 1)
            while data[at] != CLOSE_LIST:
                if row.wins == rows.MAX_WINS:
                    return REFUSED
                at = win(data, pairs, words, at, row, row.wins, suits, tables)
                if at < 0:
                    return at
                row.wins += 1
                at = skip(data, at)
                if data[at] == COMMA:
                    at = skip(data, at + 1)
                    if data[at] != OPEN_OBJECT:
                        return REFUSED
                elif data[at] != CLOSE_LIST:
                    return REFUSED
            at += 1
        if at < 0:
            return REFUSED
        at = next_member(data, at)
        if at < 0:
            return REFUSED
    return at + 1 if seen & RESULT_REQUIRED == RESULT_REQUIRED else REFUSED
