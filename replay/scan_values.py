"""Values of a kwx line read from its bytes: texts, numbers, moments, tiles, events.

`data` is the block as bytes, `pairs` and `words` the same bytes as numbers of two and eight that start at every byte.
Each function takes the place of a value and gives the place behind it, or a negative number when the value is not one
that the scanner accepts.  Zeros follow the block, more (kwx_rows.PAD_BYTES)
than anything looks ahead, and no value goes on through a zero.
"""

import numpy as np

from ingest import events as ev
from ingest.tiles import KIND_OF, NO_TILE, SUITS
from replay.jit import inner

REFUSED = -1
OTHER_SUITS = -2  # refused because of a tile of the third suit: the round may play other suits than assumed
QUOTE, COMMA, COLON, SPACE, TAB, BACKSLASH = 34, 44, 58, 32, 9, 92
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125
ZERO, NINE, MINUS, PLUS, POINT, UPPER_T, UPPER_Z = 48, 57, 45, 43, 46, 84, 90
DIGITS = 15  # of an integer that the scanner reads
THIRD_SUIT = NO_TILE - 1  # in `kind`: a tile, but of the suit that the round does not play

# What follows a verb.
TILE, TILE_SOURCE, TILE_MAYBE_SOURCE, HIDDEN, NOTHING, NO_VERB = range(6)

VALUES = np.dtype(
    [
        ("kind", np.uint8, (len(SUITS), 1 << 16)),  # of a tile's two bytes, low byte first, by the round's suits
        ("verb", np.uint8, (256,)),
        ("follows", np.uint8, (16,)),  # of a verb: what follows it
    ]
)


def fill_values(values: np.recarray) -> None:
    """Fill the look-up tables: VALUES[1], in place."""
    values.kind[:] = NO_TILE
    for code, suits in enumerate(SUITS):
        for letter in "mps":
            for rank in range(1, 10):
                kind = KIND_OF[suits].get(f"{rank}{letter}", THIRD_SUIT)
                values.kind[0, code, ord(str(rank)) | ord(letter) << 8] = kind
        for name in ("5z", "6z", "7z"):
            values.kind[0, code, ord(name[0]) | ord(name[1]) << 8] = KIND_OF[suits][name]
    values.verb[:] = 15
    values.follows[:] = NO_VERB
    for code, letter in enumerate(ev.VERBS):
        values.verb[0, ord(letter)] = code
        values.follows[0, code] = TILE
    values.follows[0, [ev.PUNG, ev.KONG]] = TILE_SOURCE
    values.follows[0, ev.WIN] = TILE_MAYBE_SOURCE
    values.follows[0, ev.REVEAL] = HIDDEN
    values.follows[0, ev.DECLINE] = NOTHING
    values.follows[0, [ev.EXHAUSTED, ev.ABORTED]] = NO_VERB  # these have no seat before them


@inner
def skip(data, at):
    """Behind spaces and tabs."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return at


@inner
def text(data, at):
    """A quoted text without escapes, any UTF-8 in it."""
    if data[at] != QUOTE:
        return REFUSED
    at += 1
    while True:
        byte = np.int64(data[at])
        if byte == QUOTE:
            return at + 1
        if byte < SPACE or byte == BACKSLASH:
            return REFUSED
        if byte < 128:
            at += 1
        else:
            at = character(data, at)
            if at < 0:
                return REFUSED


@inner
def character(data, at):
    """A character of two to four bytes, as strict as UTF-8 is: shortest form, no surrogate, nothing above 10FFFF."""
    first, second = np.int64(data[at]), np.int64(data[at + 1])
    low, high = 0x80, 0xBF
    if first == 0xE0:
        low = 0xA0
    elif first == 0xED:
        high = 0x9F
    elif first == 0xF0:
        low = 0x90
    elif first == 0xF4:
        high = 0x8F
    if first < 0xC2 or first > 0xF4 or second < low or second > high:
        return REFUSED
    more = 0 if first < 0xE0 else 1 if first < 0xF0 else 2
    for place in range(at + 2, at + 2 + more):
        if data[place] < 0x80 or data[place] > 0xBF:
            return REFUSED
    return at + 2 + more


@inner
def hexadecimal(data, at):
    """64 lower-case hex digits in quotes."""
    if data[at] != QUOTE or data[at + 65] != QUOTE:
        return REFUSED
    wrong = 0
    for place in range(at + 1, at + 65):
        byte = np.int64(data[place])
        wrong |= (byte < ZERO) | ((byte > NINE) & (byte < 97)) | (byte > 102)
    return REFUSED if wrong else at + 66


@inner
def integer(data, at):
    """(number, place behind it) of an integer of at most DIGITS digits."""
    negative = data[at] == MINUS
    if negative:
        at += 1
    start = at
    number = np.int64(0)
    while data[at] >= ZERO and data[at] <= NINE:
        number = number * 10 + np.int64(data[at]) - ZERO
        at += 1
        if at - start > DIGITS:
            return number, REFUSED
    if at == start or (data[start] == ZERO and (negative or at - start > 1)):
        return number, REFUSED
    return (-number if negative else number), at


@inner
def integers(data, at, out, count, low, high):
    """A list of `count` integers from `low` to `high`, into `out`."""
    if data[at] != OPEN_LIST:
        return REFUSED
    at = skip(data, at + 1)
    for place in range(count):
        number, at = integer(data, at)
        if at < 0 or number < low or number > high:
            return REFUSED
        out[place] = number
        at = skip(data, at)
        if data[at] != (COMMA if place + 1 < count else CLOSE_LIST):
            return REFUSED
        at = skip(data, at + 1) if place + 1 < count else at + 1
    return at


@inner
def intervals(data, at, out, first):
    """A list of natural numbers below 2^31 of any length, into `out` from `first` on; (how many, place behind it)."""
    count = 0
    if data[at] != OPEN_LIST:
        return count, REFUSED
    at = skip(data, at + 1)
    if data[at] == CLOSE_LIST:
        return count, at + 1
    while True:
        start = at
        number = np.int64(0)
        while data[at] >= ZERO and data[at] <= NINE and at - start < 11:
            number = number * 10 + np.int64(data[at]) - ZERO
            at += 1
        if at == start or (data[start] == ZERO and at - start > 1) or number >= 1 << 31:
            return count, REFUSED
        out[first + count] = number
        count += 1
        at = skip(data, at)
        if data[at] == CLOSE_LIST:
            return count, at + 1
        if data[at] != COMMA:
            return count, REFUSED
        at = skip(data, at + 1)


@inner
def two_digits(data, at):
    """The number that two digits write, or REFUSED."""
    tens, ones = np.int64(data[at]) - ZERO, np.int64(data[at + 1]) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else REFUSED


@inner
def moment(data, at):
    """(milliseconds since 1970 UTC, place behind it) of a quoted RFC 3339 time in capitals, no leap second."""
    if data[at] != QUOTE:
        return np.int64(0), REFUSED
    century, year = two_digits(data, at + 1), two_digits(data, at + 3)
    month, day = two_digits(data, at + 6), two_digits(data, at + 9)
    hour, minute, second = two_digits(data, at + 12), two_digits(data, at + 15), two_digits(data, at + 18)
    right = data[at + 5] == MINUS and data[at + 8] == MINUS and data[at + 11] == UPPER_T
    right = right and data[at + 14] == COLON and data[at + 17] == COLON and year >= 0
    if not (right and 1 <= century and 1 <= month <= 12 and day >= 1):
        return np.int64(0), REFUSED
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59):
        return np.int64(0), REFUSED
    year += century * 100
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = 28 + (1 if leap else 0) if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    if day > days or year > 9998:
        return np.int64(0), REFUSED
    at += 20
    thousandths = np.int64(0)
    if data[at] == POINT:
        at += 1
        start = at
        while data[at] >= ZERO and data[at] <= NINE:
            if at - start < 3:
                thousandths += (np.int64(data[at]) - ZERO) * (100 if at == start else 10 if at == start + 1 else 1)
            at += 1
        if at == start or at - start > 6:
            return np.int64(0), REFUSED
    offset = np.int64(0)
    if data[at] == UPPER_Z:
        at += 1
    elif data[at] == PLUS or data[at] == MINUS:
        hours, minutes = two_digits(data, at + 1), two_digits(data, at + 4)
        if not (0 <= hours <= 23 and 0 <= minutes <= 59 and data[at + 3] == COLON):
            return np.int64(0), REFUSED
        offset = (hours * 60 + minutes) * (60 if data[at] == PLUS else -60)
        at += 6
    else:
        return np.int64(0), REFUSED
    if data[at] != QUOTE:
        return np.int64(0), REFUSED
    # Days since 1970 of a date, counted in years that begin in March.
    shifted = year - (1 if month <= 2 else 0)
    of_year = (153 * (month + (9 if month <= 2 else -3)) + 2) // 5 + day - 1
    date = shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + of_year - 719468
    return ((date * 24 + hour) * 3600 + minute * 60 + second - offset) * 1000 + thousandths, at + 1


@inner
def hand(data, at, kinds, out, first):
    """(tiles, place behind it) of grouped tiles in quotes, up to 14, into `out` from `first` on."""
    count = 0
    if data[at] != QUOTE:
        return count, REFUSED
    at += 1
    while data[at] != QUOTE:
        start = at
        while data[at] >= ZERO and data[at] <= NINE:
            at += 1
        if at == start or at - start > 14 - count:
            return count, REFUSED
        letter = np.int64(data[at]) << 8
        for place in range(start, at):
            kind = kinds[np.int64(data[place]) | letter]
            if kind >= THIRD_SUIT:
                return count, (OTHER_SUITS if kind == THIRD_SUIT else REFUSED)
            out[first + count] = kind
            count += 1
        at += 1
    return count, at + 1


@inner
def wall(data, pairs, at, kinds, out, tiles, kept):
    """`tiles` tiles of two characters each in quotes, the first `kept` of them into `out`."""
    if data[at] != QUOTE:
        return REFUSED
    at += 1
    for place in range(tiles):
        kind = kinds[pairs[at]]
        if kind >= THIRD_SUIT:
            return OTHER_SUITS if kind == THIRD_SUIT else REFUSED
        if place < kept:
            out[place] = kind
        at += 2
    return at + 1 if data[at] == QUOTE else REFUSED


@inner
def tokens(data, pairs, at, kinds, tables, out, first):
    """(events, place behind it) of the event tokens in quotes, packed into `out` from `first` on."""
    count = 0
    if data[at] != QUOTE:
        return count, REFUSED
    at += 1
    if data[at] == QUOTE:
        return count, at + 1
    while True:
        seat = np.int64(data[at]) - ZERO
        if seat == 101 - ZERO or seat == 122 - ZERO:  # e, z
            packed = ev.NO_SEAT | np.int64(tables.verb[data[at]]) << 2 | NO_TILE << 6 | ev.NO_SEAT << 11
            at += 1
        else:
            verb = np.int64(tables.verb[data[at + 1]])
            shape = tables.follows[verb]
            if seat < 0 or seat > 2 or shape == NO_VERB:
                return count, REFUSED
            at += 2
            if shape <= TILE_MAYBE_SOURCE:
                tile = np.int64(kinds[pairs[at]])
                if tile >= THIRD_SUIT:
                    return count, (OTHER_SUITS if tile == THIRD_SUIT else REFUSED)
                at += 2
                source = np.int64(ev.NO_SEAT)
                if shape != TILE:
                    source = np.int64(data[at]) - ZERO
                    if 0 <= source <= 2:
                        if source == seat:
                            return count, REFUSED
                        at += 1
                    elif shape == TILE_SOURCE:
                        return count, REFUSED
                    else:
                        source = np.int64(ev.NO_SEAT)
                packed = seat | verb << 2 | tile << 6 | source << 11
            elif shape == HIDDEN:
                packed = seat | verb << 2
                before = -1
                while data[at] != SPACE and data[at] != QUOTE:
                    tile = np.int64(kinds[pairs[at]])
                    if tile >= THIRD_SUIT or tile <= before:
                        return count, (OTHER_SUITS if tile == THIRD_SUIT else REFUSED)
                    packed |= 1 << 6 + tile
                    before = tile
                    at += 2
            else:
                packed = seat | verb << 2 | NO_TILE << 6 | ev.NO_SEAT << 11
        out[first + count] = packed
        count += 1
        if data[at] == QUOTE:
            return count, at + 1
        if data[at] != SPACE:
            return count, REFUSED
        at += 1
