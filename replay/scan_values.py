"""Values of a kwx line read from its bytes: texts, numbers, moments, tiles, events.

Each function takes the address of a value and gives the address behind it, or a negative number when the value is not
one that the scanner accepts.  Zeros follow the block, more (kwx_rows.PAD_BYTES)
than anything looks ahead, and no value goes on through a zero.
"""

import numpy as np

from ingest import events as ev
from ingest.tiles import KIND_OF, NO_TILE, SUITS
from replay.jit import inlined, inner
from replay.memory import load8, load16, store8, store32, store64

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
VERB_AT, FOLLOWS_AT = (VALUES.fields[name][1] for name in ("verb", "follows"))  # type: ignore[index]


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


@inlined
def skip(at):
    """Behind spaces and tabs."""
    while load8(at) == SPACE or load8(at) == TAB:
        at += 1
    return at


@inner
def text(at):
    """A quoted text without escapes, any UTF-8 in it."""
    if load8(at) != QUOTE:
        return REFUSED
    at += 1
    while True:
        byte = load8(at)
        if byte == QUOTE:
            return at + 1
        if byte < SPACE or byte == BACKSLASH:
            return REFUSED
        if byte < 128:
            at += 1
        else:
            at = character(at)
            if at < 0:
                return REFUSED


@inner
def character(at):
    """A character of two to four bytes, as strict as UTF-8 is: shortest form, no surrogate, nothing above 10FFFF."""
    first, second = load8(at), load8(at + 1)
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
        if load8(place) < 0x80 or load8(place) > 0xBF:
            return REFUSED
    return at + 2 + more


@inner
def hexadecimal(at):
    """64 lower-case hex digits in quotes."""
    if load8(at) != QUOTE or load8(at + 65) != QUOTE:
        return REFUSED
    wrong = 0
    for place in range(at + 1, at + 65):
        byte = load8(place)
        wrong |= (byte < ZERO) | ((byte > NINE) & (byte < 97)) | (byte > 102)
    return REFUSED if wrong else at + 66


@inlined
def integer(at):
    """(number, address behind it) of an integer of at most DIGITS digits."""
    negative = load8(at) == MINUS
    if negative:
        at += 1
    start = at
    number = np.int64(0)
    while load8(at) >= ZERO and load8(at) <= NINE:
        number = number * 10 + load8(at) - ZERO
        at += 1
        if at - start > DIGITS:
            return number, REFUSED
    if at == start or (load8(start) == ZERO and (negative or at - start > 1)):
        return number, REFUSED
    return (-number if negative else number), at


@inner
def integers(at, out, count, low, high):
    """A list of `count` integers from `low` to `high`, into the words at the address `out`."""
    if load8(at) != OPEN_LIST:
        return REFUSED
    at = skip(at + 1)
    for place in range(count):
        number, at = integer(at)
        if at < 0 or number < low or number > high:
            return REFUSED
        store64(out + 8 * place, number)
        at = skip(at)
        if load8(at) != (COMMA if place + 1 < count else CLOSE_LIST):
            return REFUSED
        at = skip(at + 1) if place + 1 < count else at + 1
    return at


@inner
def intervals(at, out):
    """(how many, behind them) of a list of natural numbers below 2^31, into the numbers of four bytes at `out`."""
    count = 0
    if load8(at) != OPEN_LIST:
        return count, REFUSED
    at = skip(at + 1)
    if load8(at) == CLOSE_LIST:
        return count, at + 1
    while True:
        start = at
        number = np.int64(0)
        while load8(at) >= ZERO and load8(at) <= NINE and at - start < 11:
            number = number * 10 + load8(at) - ZERO
            at += 1
        if at == start or (load8(start) == ZERO and at - start > 1) or number >= 1 << 31:
            return count, REFUSED
        store32(out + 4 * count, number)
        count += 1
        at = skip(at)
        if load8(at) == CLOSE_LIST:
            return count, at + 1
        if load8(at) != COMMA:
            return count, REFUSED
        at = skip(at + 1)


@inner
def two_digits(at):
    """The number that two digits write, or REFUSED."""
    tens, ones = load8(at) - ZERO, load8(at + 1) - ZERO
    return tens * 10 + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else REFUSED


@inner
def moment(at):
    """(milliseconds since 1970 UTC, address behind it) of a quoted RFC 3339 time in capitals, no leap second."""
    if load8(at) != QUOTE:
        return np.int64(0), REFUSED
    century, year = two_digits(at + 1), two_digits(at + 3)
    month, day = two_digits(at + 6), two_digits(at + 9)
    hour, minute, second = two_digits(at + 12), two_digits(at + 15), two_digits(at + 18)
    right = load8(at + 5) == MINUS and load8(at + 8) == MINUS and load8(at + 11) == UPPER_T
    right = right and load8(at + 14) == COLON and load8(at + 17) == COLON and year >= 0
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
    if load8(at) == POINT:
        at += 1
        start = at
        while load8(at) >= ZERO and load8(at) <= NINE:
            if at - start < 3:
                thousandths += (load8(at) - ZERO) * (100 if at == start else 10 if at == start + 1 else 1)
            at += 1
        if at == start or at - start > 6:
            return np.int64(0), REFUSED
    offset = np.int64(0)
    if load8(at) == UPPER_Z:
        at += 1
    elif load8(at) == PLUS or load8(at) == MINUS:
        hours, minutes = two_digits(at + 1), two_digits(at + 4)
        if not (0 <= hours <= 23 and 0 <= minutes <= 59 and load8(at + 3) == COLON):
            return np.int64(0), REFUSED
        offset = (hours * 60 + minutes) * (60 if load8(at) == PLUS else -60)
        at += 6
    else:
        return np.int64(0), REFUSED
    if load8(at) != QUOTE:
        return np.int64(0), REFUSED
    # Days since 1970 of a date, counted in years that begin in March.
    shifted = year - (1 if month <= 2 else 0)
    of_year = (153 * (month + (9 if month <= 2 else -3)) + 2) // 5 + day - 1
    date = shifted * 365 + shifted // 4 - shifted // 100 + shifted // 400 + of_year - 719468
    return ((date * 24 + hour) * 3600 + minute * 60 + second - offset) * 1000 + thousandths, at + 1


@inner
def hand(at, kinds, out):
    """(tiles, address behind them) of up to 14 grouped tiles in quotes, into the bytes at `out`."""
    count = 0
    if load8(at) != QUOTE:
        return count, REFUSED
    at += 1
    while load8(at) != QUOTE:
        start = at
        while load8(at) >= ZERO and load8(at) <= NINE:
            at += 1
        if at == start or at - start > 14 - count:
            return count, REFUSED
        letter = load8(at) << 8
        for place in range(start, at):
            kind = load8(kinds + (load8(place) | letter))
            if kind >= THIRD_SUIT:
                return count, (OTHER_SUITS if kind == THIRD_SUIT else REFUSED)
            store8(out + count, kind)
            count += 1
        at += 1
    return count, at + 1


@inner
def wall(at, kinds, out, tiles, kept):
    """`tiles` tiles of two characters each in quotes, the first `kept` of them into the bytes at `out`."""
    if load8(at) != QUOTE:
        return REFUSED
    at += 1
    for place in range(tiles):
        kind = load8(kinds + load16(at))
        if kind >= THIRD_SUIT:
            return OTHER_SUITS if kind == THIRD_SUIT else REFUSED
        if place < kept:
            store8(out + place, kind)
        at += 2
    return at + 1 if load8(at) == QUOTE else REFUSED


@inner
def tokens(at, kinds, tables, out):
    """(events, address behind them) of the tokens in quotes, packed into the numbers of four bytes at `out`."""
    count = 0
    if load8(at) != QUOTE:
        return count, REFUSED
    at += 1
    if load8(at) == QUOTE:
        return count, at + 1
    while True:
        seat = load8(at) - ZERO
        if seat == 101 - ZERO or seat == 122 - ZERO:  # e, z
            packed = ev.NO_SEAT | load8(tables + VERB_AT + load8(at)) << 2 | NO_TILE << 6 | ev.NO_SEAT << 11
            at += 1
        else:
            verb = load8(tables + VERB_AT + load8(at + 1))
            shape = load8(tables + FOLLOWS_AT + verb)
            if seat < 0 or seat > 2 or shape == NO_VERB:
                return count, REFUSED
            at += 2
            if shape <= TILE_MAYBE_SOURCE:
                tile = load8(kinds + load16(at))
                if tile >= THIRD_SUIT:
                    return count, (OTHER_SUITS if tile == THIRD_SUIT else REFUSED)
                at += 2
                source = np.int64(ev.NO_SEAT)
                if shape != TILE:
                    source = load8(at) - ZERO
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
                while load8(at) != SPACE and load8(at) != QUOTE:
                    tile = load8(kinds + load16(at))
                    if tile >= THIRD_SUIT or tile <= before:
                        return count, (OTHER_SUITS if tile == THIRD_SUIT else REFUSED)
                    packed |= 1 << 6 + tile
                    before = tile
                    at += 2
            else:
                packed = seat | verb << 2 | NO_TILE << 6 | ev.NO_SEAT << 11
        store32(out + 4 * count, packed)
        count += 1
        if load8(at) == QUOTE:
            return count, at + 1
        if load8(at) != SPACE:
            return count, REFUSED
        at += 1
