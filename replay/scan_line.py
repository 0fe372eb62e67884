"""One kwx line from its bytes into a row: its keys in any order, spaces between them, each value checked.

Accepted is only what ingest.formats.kwx_record would read to the same values; whatever is unusual (escapes, numbers of
16 digits, a private key that does not stand last, …) and whatever is wrong is refused, for that module to decide.
"""


import numpy as np

from ingest.formats import kwx_rows as rows
from ingest.formats.kwx_record import BASE_LIMIT, NAME_LIMIT, PIAO_LIMIT, RAISE_LIMIT
from ingest.tiles import PAD, WALL_TILES
from replay.jit import inner
from replay.memory import load8, load64, store8, store64
from replay.scan_result import proof, result
from replay.scan_values import (
    BACKSLASH,
    CLOSE_LIST,
    CLOSE_OBJECT,
    COMMA,
    OPEN_LIST,
    OPEN_OBJECT,
    QUOTE,
    REFUSED,
    SPACE,
    hand,
    hexadecimal,
    integer,
    integers,
    intervals,
    moment,
    skip,
    text,
    tokens,
    wall,
)  # fmt: skip
from replay.scan_words import IN_ROUND, N_ROUND, REQUIRED, colon, keep, length_of, mark, next_member, word

(
    KWX, SITE, GAME, ROUND, PREV, TIME, RULES, OPTIONS, PLAYERS, DEALER, DICE, PIAO, BASE, RAISE, DEAL, WALL, PROOF,
    EVENTS, TIMES, RESULT,
) = range(N_ROUND)  # fmt: skip
UNDERSCORE = 95


@inner
def flat_object(at):
    """An object of texts and numbers, in any spelling; what is in it is looked at later."""
    if load8(at) != OPEN_OBJECT:
        return REFUSED
    at += 1
    while load8(at) != CLOSE_OBJECT:
        byte = load8(at)
        if byte == QUOTE:
            at = text(at)
            if at < 0:
                return REFUSED
        elif byte < SPACE or byte > 126 or byte == OPEN_OBJECT or byte == OPEN_LIST or byte == CLOSE_LIST:
            return REFUSED
        else:
            at += 1
    return at + 1


@inner
def private(at, row, base):
    """Private keys up to the closing brace, which is where it ends; their spelling is looked at later."""
    start, depth = at, 0
    fresh = True  # a key is to come
    while True:
        byte = load8(at)
        if fresh and (byte != QUOTE or load8(at + 1) != UNDERSCORE):
            return REFUSED
        fresh = False
        if byte == QUOTE:
            at = text(at)
            if at < 0:
                return REFUSED
            continue
        if byte < SPACE or byte > 126 or byte == BACKSLASH:
            return REFUSED
        if byte == OPEN_OBJECT or byte == OPEN_LIST:
            depth += 1
        elif depth == 0:
            if byte == CLOSE_OBJECT:
                break
            if byte == SPACE or byte == CLOSE_LIST:
                return REFUSED
            fresh = byte == COMMA
        elif byte == CLOSE_OBJECT or byte == CLOSE_LIST:
            depth -= 1
        at += 1
    store64(row + rows.TEXT_AT + 16 * rows.EXTRA, start - base)
    store64(row + rows.TEXT_AT + 16 * rows.EXTRA + 8, at - start)
    return at


@inner
def three_texts(at, row, base):
    """The list of the players' names; one of more than NAME_LIMIT bytes is refused."""
    if load8(at) != OPEN_LIST:
        return REFUSED
    at = skip(at + 1)
    for seat in range(3):
        at = keep(row, rows.PLAYER_0 + seat, at, text(at), base)
        if at < 0 or load64(row + rows.TEXT_AT + 16 * (rows.PLAYER_0 + seat) + 8) > NAME_LIMIT:
            return REFUSED
        at = skip(at)
        if load8(at) != (COMMA if seat < 2 else CLOSE_LIST):
            return REFUSED
        at = skip(at + 1) if seat < 2 else at + 1
    return at


@inner
def line(at, row, base, events, times, kinds, tables):
    """The address behind the closing brace of the line at `at`, and the row filled; negative when it is refused.

    row, base, events, times: addresses of the row, of the block, of where the line's events and times go; kinds: of the
    table of tiles for the suits that are tried.
    """
    for which in range(len(rows.TEXTS)):
        store64(row + rows.TEXT_AT + 16 * which + 8, -1)
    for place in range(3):
        store64(row + rows.PIAO_AT + 8 * place, 0)
    store64(row + rows.HAS_AT, 0)
    store64(row + rows.WINS_AT, 0)
    store64(row + rows.END_AT, -1)
    base_points, raised, dealer = np.int64(1), np.int64(0), np.int64(0)
    count, timed, hands = 0, -1, 0
    at = skip(at)
    if load8(at) != OPEN_OBJECT:
        return REFUSED
    at = skip(at + 1)
    seen, hint = 0, 0
    while load8(at) != CLOSE_OBJECT:
        key = word(at + 1, tables, IN_ROUND, N_ROUND, hint)
        if load8(at) != QUOTE or key < 0 or seen >> key & 1:
            if load8(at) == QUOTE and load8(at + 1) == UNDERSCORE:
                at = private(at, row, base)
                if at >= 0:
                    break
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(at + length_of(tables, IN_ROUND + key) + 2)
        if at < 0:
            return REFUSED
        start = at
        if key == EVENTS:
            count, at = tokens(at, kinds, tables, events)
        elif key == TIMES:
            timed, at = intervals(at, times)
            mark(row, rows.HAS_TIMES)
        elif key == DEAL:
            hands = 0
            if load8(at) != OPEN_LIST:
                return REFUSED
            at = skip(at + 1)
            for seat in range(3):
                store8(row + rows.DEAL_AT + 14 * seat + 13, PAD)
                tiles, at = hand(at, kinds, row + rows.DEAL_AT + 14 * seat)
                if at < 0:
                    return at
                if tiles < 13:
                    return REFUSED
                hands |= (tiles - 13) << seat
                at = skip(at)
                if load8(at) != (COMMA if seat < 2 else CLOSE_LIST):
                    return REFUSED
                at = skip(at + 1) if seat < 2 else at + 1
        elif key == WALL:
            at = wall(at, kinds, row + rows.WALL_AT, WALL_TILES, WALL_TILES)
            mark(row, rows.HAS_WALL)
        elif key == RESULT:
            at = result(at, row, kinds, tables)
        elif key == PROOF:
            at = proof(at, row, kinds, tables, base)
        elif key == PLAYERS:
            at = three_texts(at, row, base)
        elif key == GAME:
            at = keep(row, rows.GAME, start, text(at), base)
        elif key == SITE:
            at = keep(row, rows.SITE, start, text(at), base)
        elif key == RULES:
            at = keep(row, rows.RULES, start, text(at), base)
        elif key == PREV:
            at = keep(row, rows.PREV, start, hexadecimal(at), base)
        elif key == TIME:
            number, at = moment(at)
            store64(row + rows.TIME_MS_AT, number)
            keep(row, rows.TIME, start, at, base)
        elif key == OPTIONS:
            at = flat_object(at)
            store64(row + rows.TEXT_AT + 16 * rows.OPTIONS, start - base)
            store64(row + rows.TEXT_AT + 16 * rows.OPTIONS + 8, at - start)
        elif key == DICE:
            at = integers(at, row + rows.DICE_AT, 2, 1, 6)
            mark(row, rows.HAS_DICE)
        elif key == PIAO:
            at = integers(at, row + rows.PIAO_AT, 3, 0, PIAO_LIMIT)
            mark(row, rows.HAS_PIAO)
        else:
            number, at = integer(at)
            if at < 0:
                return REFUSED
            if key == ROUND:
                store64(row + rows.ROUND_AT, number)
                right = number >= 0
            elif key == DEALER:
                dealer = number
                right = 0 <= number <= 2
            elif key == BASE:
                base_points = number
                right = 1 <= number <= BASE_LIMIT
            elif key == RAISE:
                raised = number
                mark(row, rows.HAS_RAISE)
                right = 0 <= number <= RAISE_LIMIT
            else:
                right = number == 1  # the version
            if not right:
                return REFUSED
        if at < 0:
            return at
        at = next_member(at)
        if at < 0:
            return REFUSED
    if seen & REQUIRED != REQUIRED or hands != 1 << dealer or (timed >= 0 and timed != count):
        return REFUSED
    for which in (rows.GAME, rows.SITE):
        if load64(row + rows.TEXT_AT + 16 * which + 8) == 0:
            return REFUSED
    store64(row + rows.BASE_AT, base_points)
    store64(row + rows.RAISE_AT, raised)
    store64(row + rows.DEALER_AT, dealer)
    store64(row + rows.LAST_AT, load64(row + rows.FIRST_AT) + count)
    return at + 1

