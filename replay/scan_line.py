"""One kwx line from its bytes into a row: its keys in any order, spaces between them, each value checked.

Accepted is only what ingest.formats.kwx_record would read to the same values; whatever is unusual (escapes, numbers of
16 digits, a private key that does not stand last, …) and whatever is wrong is refused, for that module to decide.
"""


from ingest.formats import kwx_rows as rows
from ingest.formats.kwx_record import BASE_LIMIT, NAME_LIMIT, PIAO_LIMIT, RAISE_LIMIT
from ingest.tiles import PAD, WALL_TILES
from replay.jit import inner
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
from replay.scan_words import IN_ROUND, N_ROUND, REQUIRED, colon, keep, next_member, word

(
    KWX, SITE, GAME, ROUND, PREV, TIME, RULES, OPTIONS, PLAYERS, DEALER, DICE, PIAO, BASE, RAISE, DEAL, WALL, PROOF,
    EVENTS, TIMES, RESULT,
) = range(N_ROUND)  # fmt: skip
UNDERSCORE = 95


@inner
def flat_object(data, at):
    """An object of texts and numbers, in any spelling; what is in it is looked at later."""
    if data[at] != OPEN_OBJECT:
        return REFUSED
    at += 1
    while data[at] != CLOSE_OBJECT:
        byte = data[at]
        if byte == QUOTE:
            at = text(data, at)
            if at < 0:
                return REFUSED
        elif byte < SPACE or byte > 126 or byte == OPEN_OBJECT or byte == OPEN_LIST or byte == CLOSE_LIST:
            return REFUSED
        else:
            at += 1
    return at + 1


@inner
def private(data, row, at):
    """Private keys up to the closing brace, which is where it ends; their spelling is looked at later."""
    start, depth = at, 0
    fresh = True  # a key is to come
    while True:
        byte = data[at]
        if fresh and (byte != QUOTE or data[at + 1] != UNDERSCORE):
            return REFUSED
        fresh = False
        if byte == QUOTE:
            at = text(data, at)
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
    row.text[rows.EXTRA, 0] = start
    row.text[rows.EXTRA, 1] = at - start
    return at


@inner
def three_texts(data, at, row):
    """The list of the players' names; one of more than NAME_LIMIT bytes is refused."""
    if data[at] != OPEN_LIST:
        return REFUSED
    at = skip(data, at + 1)
    for seat in range(3):
        at = keep(row, rows.PLAYER_0 + seat, at, text(data, at))
        if at < 0 or row.text[rows.PLAYER_0 + seat, 1] > NAME_LIMIT:
            return REFUSED
        at = skip(data, at)
        if data[at] != (COMMA if seat < 2 else CLOSE_LIST):
            return REFUSED
        at = skip(data, at + 1) if seat < 2 else at + 1
    return at


@inner
def line(data, pairs, words, at, row, events, times, suits, tables):
    """The place behind the closing brace of the line that starts at `at`, and the row filled; negative when refused.

    suits: those that its tiles are read by.  Its events go to `events` from row.first on, its times beside them.
    """
    row.has, row.wins, row.end, row.base_, row.raise_, row.dealer = 0, 0, -1, 1, 0, -1
    row.text[:, 1] = -1
    row.piao[:] = 0
    row.win_tile[:] = 0
    kinds = tables.values.kind[suits]
    count, timed, hands = 0, -1, 0
    at = skip(data, at)
    if data[at] != OPEN_OBJECT:
        return REFUSED
    at = skip(data, at + 1)
    seen, hint = 0, 0
    while data[at] != CLOSE_OBJECT:
        key = word(words, at + 1, tables, IN_ROUND, N_ROUND, hint)
        if data[at] != QUOTE or key < 0 or seen >> key & 1:
            if data[at] == QUOTE and data[at + 1] == UNDERSCORE:
                at = private(data, row, at)
                if at >= 0:
                    break
            return REFUSED
        seen |= 1 << key
        hint = key + 1
        at = colon(data, at + tables.length[IN_ROUND + key] + 2)
        if at < 0:
            return REFUSED
        start = at
        if key == EVENTS:
            count, at = tokens(data, pairs, at, kinds, tables.values, events, row.first)
        elif key == TIMES:
            timed, at = intervals(data, at, times, row.first)
            row.has |= rows.HAS_TIMES
        elif key == DEAL:
            hands = 0
            if data[at] != OPEN_LIST:
                return REFUSED
            at = skip(data, at + 1)
            for seat in range(3):
                row.deal[14 * seat + 13] = PAD
                tiles, at = hand(data, at, kinds, row.deal, 14 * seat)
                if at < 0:
                    return at
                if tiles < 13:
                    return REFUSED
                hands |= (tiles - 13) << seat
                at = skip(data, at)
                if data[at] != (COMMA if seat < 2 else CLOSE_LIST):
                    return REFUSED
                at = skip(data, at + 1) if seat < 2 else at + 1
        elif key == WALL:
            at = wall(data, pairs, at, kinds, row.wall, WALL_TILES, WALL_TILES)
            row.has |= rows.HAS_WALL
        elif key == RESULT:
            at = result(data, pairs, words, at, row, suits, tables)
        elif key == PROOF:
            at = proof(data, pairs, words, at, row, suits, tables)
        elif key == PLAYERS:
            at = three_texts(data, at, row)
        elif key == GAME:
            at = keep(row, rows.GAME, start, text(data, at))
        elif key == SITE:
            at = keep(row, rows.SITE, start, text(data, at))
        elif key == RULES:
            at = keep(row, rows.RULES, start, text(data, at))
        elif key == PREV:
            at = keep(row, rows.PREV, start, hexadecimal(data, at))
        elif key == TIME:
            row.time_ms, at = moment(data, at)
            keep(row, rows.TIME, start, at)
        elif key == OPTIONS:
            at = keep(row, rows.OPTIONS, start - 1, flat_object(data, at) + 1)
            at -= 1
        elif key == DICE:
            at = integers(data, at, row.dice, 2, 1, 6)
            row.has |= rows.HAS_DICE
        elif key == PIAO:
            at = integers(data, at, row.piao, 3, 0, PIAO_LIMIT)
        else:
            number, at = integer(data, at)
            if at < 0:
                return REFUSED
            if key == ROUND:
                row.round_ = number
                right = number >= 0
            elif key == DEALER:
                row.dealer = number if 0 <= number <= 2 else -1
                right = 0 <= number <= 2
            elif key == BASE:
                row.base_ = number
                right = 1 <= number <= BASE_LIMIT
            elif key == RAISE:
                row.raise_ = number if 0 <= number <= RAISE_LIMIT else 0
                right = 0 <= number <= RAISE_LIMIT
            else:
                right = number == 1  # the version
            if not right:
                return REFUSED
        if at < 0:
            return at
        at = next_member(data, at)
        if at < 0:
            return REFUSED
    if seen & REQUIRED != REQUIRED or hands != 1 << row.dealer or (timed >= 0 and timed != count):
        return REFUSED
    if row.text[rows.GAME, 1] == 0 or row.text[rows.SITE, 1] == 0:
        return REFUSED
    row.last = row.first + count
    return at + 1

