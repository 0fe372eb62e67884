"""Columns of written tiles and events to arrays of kinds and packed events, and back, without an object per event.

Texts of many rounds are joined and looked at byte by byte with NumPy.  The decoders only say *that* a text is wrong;
`explain_tiles` and `explain_events` then say what is wrong with one.  Notation: log-format.md section 1.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest import events as ev
from ingest.rejects import Reject
from ingest.tiles import KIND_OF, NAMES, NO_TILE, PAD, SUITS, TileError, parse

HAND = 14  # places of a hand; the last one is PAD in a hand of 13
_NEWLINE, _SPACE = 10, 32
_LETTERS = "mps"
# Code of SUITS by the set of letters used (bit 0 m, 1 p, 2 s), the first that has them all; PAD: all three.
_SUITS_CODE = tuple(
    next((code for code, suits in enumerate(SUITS) if set(used) <= set(suits)), PAD)
    for used in ("", "m", "p", "mp", "s", "ms", "ps", "mps")
)

# Kind of rank byte × 256 + letter byte, one row per code of SUITS; NO_TILE: not a tile.
_KIND = np.full((len(SUITS), 1 << 16), NO_TILE, np.uint8)
for _code, _suits in enumerate(SUITS):
    for _name, _kind in KIND_OF[_suits].items():
        _KIND[_code, ord(_name[0]) << 8 | ord(_name[1])] = _kind
_VERB = np.full(256, 15, np.uint8)
for _code, _letter in enumerate(ev.VERBS):
    _VERB[ord(_letter)] = _code
# The shortest and longest token of each verb; a reveal's hidden triplets are looked at one by one.
_SHORTEST = np.full(16, 99, np.int32)
_LONGEST = np.zeros(16, np.int32)
for _verb in range(len(ev.VERBS)):
    _SHORTEST[_verb], _LONGEST[_verb] = 4, 4
for _verb in (ev.PUNG, ev.KONG):
    _SHORTEST[_verb], _LONGEST[_verb] = 5, 5
_SHORTEST[[ev.REVEAL, ev.DECLINE, ev.EXHAUSTED, ev.ABORTED]] = [2, 2, 1, 1]
_LONGEST[[ev.REVEAL, ev.DECLINE, ev.EXHAUSTED, ev.ABORTED, ev.WIN]] = [2, 2, 1, 1, 5]


def _joined(texts: Sequence[str]) -> np.ndarray:
    """The texts as ASCII bytes, each closed by a newline; what is not ASCII, or a newline, becomes "?"."""
    data = ("\n".join(texts) + "\n" if texts else "").encode("ascii", "replace")
    if data.count(b"\n") != len(texts):
        data = ("\n".join([text.replace("\n", "?") for text in texts]) + "\n").encode("ascii", "replace")
    return np.frombuffer(data, np.uint8)


def suits_of(*columns: Sequence[str | None], events: Sequence[str]) -> np.ndarray:
    """The code of SUITS of each round from columns of tile texts; PAD where a round has all three suits.

    The events have a say only where the tiles show less than two suits.
    """
    codes = np.zeros(len(events), np.uint8)
    if not any("m" in "".join([text for text in column if text]) for column in (*columns, events)):
        return codes  # all of them play the first two suits
    for row, texts in enumerate(zip(*columns, strict=True)):
        text = "".join([text for text in texts if text])
        used = ("m" in text) + 2 * ("p" in text) + 4 * ("s" in text)
        if used in (0, 1, 2, 4):
            text = re.sub(r"(^| )[0-9][a-z]", " ", events[row])
            used |= ("m" in text) + 2 * ("p" in text) + 4 * ("s" in text)
        codes[row] = _SUITS_CODE[used]
    return codes


def _kinds(first: np.ndarray, second: np.ndarray, suits: np.ndarray, row: np.ndarray | None) -> np.ndarray:
    """The kinds of tiles written as two bytes, NO_TILE for what is none; `row`: the round of each, None for one a row.

    `suits` are codes of SUITS; PAD is read as the last of them, for rounds that are refused anyway.
    """
    key = first.astype(np.intp) << 8 | second
    if suits.any():
        start = np.minimum(suits, len(SUITS) - 1).astype(np.intp) << 16
        key += start.reshape(-1, *[1] * (key.ndim - 1)) if row is None else start[row]
    return _KIND.take(key)


def decode_hands(texts: Sequence[str], suits: np.ndarray, hands: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grouped MPSZ, `hands` texts a round in sequence, to (kinds, counts, fine).

    kinds: uint8 (rounds, hands, 14), PAD where there is no tile; counts: int64 (rounds, hands) tiles written;
    fine: bool (rounds,), whether all of a round's hands are well-formed.  `suits`: uint8 (rounds,), codes of SUITS.
    """
    rounds = len(suits)
    data = _joined(texts)
    ends = data == _NEWLINE
    hand = np.cumsum(ends) - ends
    digit = (data >= ord("1")) & (data <= ord("9"))
    at = np.flatnonzero(digit)
    others = np.flatnonzero(~digit)
    letter = data[others[(np.cumsum(~digit))[at]]]  # the first byte after a digit's run
    kinds = _kinds(data[at], letter, suits, hand[at] // hands)
    counts = np.bincount(hand[at], minlength=rounds * hands)
    place = np.arange(len(at)) - (np.cumsum(counts) - counts)[hand[at]]
    out = np.full((rounds * hands, HAND), PAD, np.uint8)
    kept = place < HAND
    out[hand[at][kept], place[kept]] = kinds[kept]
    # A letter stands right after a digit; digits with a wrong letter have given NO_TILE.
    stray = others[(data[others] != _NEWLINE) & ~digit[others - 1]]
    bad = np.zeros(rounds, bool)
    bad[hand[at[kinds == NO_TILE]] // hands] = True
    bad[hand[stray] // hands] = True
    if rounds and data[0] != _NEWLINE and not digit[0]:
        bad[0] = True
    return out.reshape(rounds, hands, HAND), counts.reshape(rounds, hands), ~(bad | (suits == PAD))


def decode_wall(texts: Sequence[str], suits: np.ndarray, tiles: int) -> tuple[np.ndarray, np.ndarray]:
    """Walls of `tiles` two-character tiles to (kinds uint8 (rounds, tiles), fine bool (rounds,))."""
    size = 2 * tiles
    fine = np.array([len(text) == size and text.isascii() for text in texts], bool)
    whole = [text if right else "?" * size for text, right in zip(texts, fine, strict=True)]
    data = np.frombuffer("".join(whole).encode(), np.uint8)
    pairs = data.reshape(len(texts), tiles, 2)
    kinds = _kinds(pairs[:, :, 0], pairs[:, :, 1], suits, None)
    return kinds, fine & (kinds != NO_TILE).all(axis=1) & (suits != PAD)


def decode_events(texts: Sequence[str], suits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Event texts to (packed uint32 of all rounds, offsets int32 (rounds + 1,), fine bool (rounds,))."""
    rounds = len(texts)
    data = np.concatenate([_joined(texts), np.zeros(8, np.uint8)])
    ends = np.flatnonzero((data == _SPACE) | (data == _NEWLINE))
    starts = np.concatenate([[0], ends[:-1] + 1]) if rounds else ends
    closing = data[ends] == _NEWLINE
    row = np.cumsum(closing) - closing
    length = (ends - starts).astype(np.int32)
    if not all(texts):  # a round without events has no token rather than an empty one
        first = np.concatenate([[True], closing[:-1]])
        real = ~(closing & first & (length == 0))
        starts, row, length = starts[real], row[real], length[real]
    counts = np.bincount(row, minlength=rounds)

    lone = length == 1  # e, z: the letter alone
    seat = data[starts] - ord("0")
    verb = _VERB[data[starts + ~lone]]
    ends_round = (verb == ev.EXHAUSTED) | (verb == ev.ABORTED)
    fine = (length >= _SHORTEST[verb]) & (length <= _LONGEST[verb]) & (lone == ends_round) & ((seat < 3) | lone)
    seat[lone] = ev.NO_SEAT
    tile = _kinds(data[starts + 2], data[starts + 3], suits, row)
    tiled = length >= 4
    fine &= (tile != NO_TILE) | ~tiled
    source = data[starts + 4] - ord("0")
    sourced = length == 5
    fine &= ((source < 3) & (source != seat)) | ~sourced
    tile[~tiled] = NO_TILE
    source[~sourced] = ev.NO_SEAT
    packed = ev.pack(*(part.astype(np.uint32) for part in (seat & 3, verb, tile, source & 3)))
    reveals = verb == ev.REVEAL
    packed[reveals] = ev.pack_reveal(packed[reveals] & 3)
    for token in np.flatnonzero(reveals & (length > 2) & (seat < 3)):
        hidden = _hidden(data[starts[token] + 2 : starts[token] + length[token]].tobytes(), suits[row[token]])
        fine[token] = hidden > 0
        packed[token] = ev.pack_reveal(int(seat[token]), max(hidden, 0))
    good = np.bincount(row[~fine], minlength=rounds) == 0
    return packed, np.concatenate([[0], np.cumsum(counts)]).astype(np.int32), good & (suits != PAD)


def _hidden(written: bytes, suits: int) -> int:
    """The set of hidden triplets written after a reveal, one bit a kind; -1 when they are not ascending tiles."""
    hidden, last = 0, -1
    if len(written) % 2 or suits == PAD:
        return -1
    for first, second in zip(written[::2], written[1::2], strict=True):
        kind = int(_KIND[suits, first << 8 | second])
        if kind == NO_TILE or kind <= last:
            return -1
        hidden |= 1 << kind
        last = kind
    return hidden


def explain_tiles(text: str, suits: int, field: str, tiles: tuple[int, ...], what: str) -> None:
    """Raise the Reject (bad_tile, bad_count) of one text of tiles, if it deserves one; `what` is said of the count."""
    if suits == PAD:
        raise Reject("bad_tile", field, "tiles of three suits; a game has two of m, p, s and the dragons 5z 6z 7z")
    try:
        kinds = parse(text, SUITS[suits])
    except TileError as error:
        raise Reject("bad_tile", field, str(error)) from None
    if len(kinds) not in tiles:
        raise Reject("bad_count", field, f"{len(kinds)} tiles, expected {' or '.join(map(str, tiles))} {what}")


def explain_events(text: str, suits: int) -> None:
    """Raise the Reject (bad_token, bad_tile) of the first token that is wrong, if one is."""
    for number, token in enumerate(text.split(" ") if text else ()):
        field = f"events.{number}"
        if not token:
            raise Reject("bad_token", field, "an empty token; tokens are separated by one space")
        if token in ("e", "z"):
            continue
        verb = token[1:2]
        if token[0] not in "012" or not verb or verb not in ev.VERBS or verb in "ez":
            raise Reject(
                "bad_token", field, f"{token!r} is not a seat 0-2, a verb of {ev.VERBS[:-2]}, and what follows it"
            )
        tile, source = token[2:4], token[4:]
        code = ev.VERBS.index(verb)
        if code == ev.DECLINE and len(token) > 2:
            raise Reject("bad_token", field, f"{token!r}: nothing follows {verb}")
        if code == ev.REVEAL:
            kinds = [KIND_OF[SUITS[suits]].get(token[at : at + 2], PAD) for at in range(2, len(token), 2)]
            if PAD in kinds:
                raise Reject("bad_tile", field, f"{token!r}: the triplets after l are not tiles")
            if kinds != sorted(set(kinds)):
                raise Reject("bad_token", field, f"{token!r}: the triplets after l are not in ascending order")
        elif code != ev.DECLINE:
            if tile not in KIND_OF[SUITS[suits]]:
                raise Reject(
                    "bad_tile", field, f"{token!r}: {tile!r} is not a tile of suits {SUITS[suits]!r} and 5z 6z 7z"
                )
            needs = {5} if code in (ev.PUNG, ev.KONG) else {4, 5} if code == ev.WIN else {4}
            if len(token) not in needs or (source and (source not in ("0", "1", "2") or source == token[0])):
                after = "another seat" if needs == {5} else "another seat or nothing" if 5 in needs else "nothing"
                raise Reject("bad_token", field, f"{token!r}: {after} follows the tile of {verb}")


def encode_hands(kinds: np.ndarray, suits: np.ndarray) -> pa.Array:
    """Kinds (rows, 14), PAD at the end of a hand of 13, to grouped MPSZ; `suits`: codes of SUITS (rows,)."""
    letters, ranks = _letters(kinds, suits)
    closes = np.ones(kinds.shape, bool)
    closes[:, :-1] = letters[:, 1:] != letters[:, :-1]
    real = kinds != PAD
    both = np.stack([ranks, letters], axis=2)
    kept = np.stack([real, real & closes], axis=2).reshape(len(kinds), -1)
    data = both.reshape(len(kinds), -1)[kept]
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return pa.StringArray.from_buffers(len(kinds), pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data)))


def encode_wall(kinds: np.ndarray, suits: np.ndarray) -> pa.Array:
    """Kinds (rows, n) to texts of two characters a tile."""
    letters, ranks = _letters(kinds, suits)
    data = np.ascontiguousarray(np.stack([ranks, letters], axis=2))
    offsets = np.arange(len(kinds) + 1, dtype=np.int32) * (2 * kinds.shape[1])
    return pa.StringArray.from_buffers(len(kinds), pa.py_buffer(offsets), pa.py_buffer(data))


def _letters(kinds: np.ndarray, suits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(letter bytes, rank bytes) of kinds (rows, n); both 0 where a kind is PAD."""
    table = np.zeros((len(SUITS), 256, 2), np.uint8)
    for code, name in enumerate(SUITS):
        table[code, : len(NAMES[name])] = [[ord(char) for char in tile] for tile in NAMES[name]]
    written = table[suits[:, None], kinds]
    return written[:, :, 1], written[:, :, 0]


def encode_events(packed: np.ndarray, offsets: np.ndarray, suits: np.ndarray) -> pa.Array:
    """Packed events of all rounds (offsets int32 (rounds + 1,)) to one text of tokens a round."""
    row = np.repeat(np.arange(len(suits)), np.diff(offsets))
    distinct, code = np.unique(packed.astype(np.uint64) << 2 | suits[row], return_inverse=True)
    words = pa.array([ev.token(int(key >> 2), NAMES[SUITS[int(key & 3)]]) for key in distinct], pa.string())
    tokens = words.take(pa.array(code.astype(np.int32)))
    return pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), tokens), " ")
