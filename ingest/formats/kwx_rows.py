"""What a scanner makes of a block of kwx lines: the contract between ingest, which owns the arrays, and replay.scan.

One ROW a record, in the order of the lines.  A row that is not `fine` says only where its line stands: the scanner has
not accepted it, and ingest.formats.kwx_record decides about it.  Of a row that is fine everything has been checked but
the ruleset with its options, and the private keys.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ingest.events import FANS
from ingest.rejects import RAW_LIMIT
from ingest.sources import LINE_LIMIT
from ingest.tiles import WALL_TILES

# The texts of a row, by their place in `text`.
TEXTS = (
    "site", "game", "prev", "time", "rules", "options", "player_0", "player_1", "player_2", "scheme", "commit", "salt",
    "order", "proof_deal", "extra",
)  # fmt: skip
(
    SITE, GAME, PREV, TIME, RULES, OPTIONS, PLAYER_0, PLAYER_1, PLAYER_2, SCHEME, COMMIT, SALT, ORDER, PROOF_DEAL, EXTRA
) = range(len(TEXTS))  # fmt: skip
# Bits of `has`: what a line may leave out and no text tells.
HAS_DICE, HAS_WALL, HAS_TIMES, HAS_POINTS, HAS_WINS, HAS_KONGS, HAS_FEE, HAS_PIAO, HAS_RAISE = (
    1 << bit for bit in range(9)
)
MAX_WINS = 2

ROW = np.dtype(
    [
        ("start", np.int64),  # the line is [start, stop) of the block, without its ending
        ("stop", np.int64),
        ("byte", np.int64),  # offset of its first byte in the source
        ("number", np.int64),  # 1-based line
        ("fine", np.int64),
        ("unended", np.int64),  # it is the last line of the source, without an ending
        ("too_long", np.int64),  # it has more than place.line_limit bytes, of which only place.raw_limit stand here
        ("has", np.int64),
        ("text", np.int64, (len(TEXTS), 2)),  # place in the block, and bytes; -1 bytes: the line lacks it
        ("round_", np.int64),
        ("time_ms", np.int64),
        ("base_", np.int64),
        ("points", np.int64, (3,)),
        ("kongs", np.int64, (3,)),
        ("fee", np.int64),
        ("win_multiple", np.int64, (MAX_WINS,)),  # -1: none named
        ("win_fans", np.int64, (MAX_WINS,)),  # packed multiset; -1: none named
        ("first", np.int64),  # its events are [first, last) of the block's events, its times those of the times
        ("last", np.int64),
        ("piao", np.int64, (3,)),
        ("raise_", np.int64),
        ("suits", np.int64),  # index in tiles.SUITS
        ("dealer", np.int64),
        ("dice", np.int64, (3,)),  # the first two
        ("end", np.int64),  # index in events.ENDS; -1: the line lacks it
        ("wins", np.int64),
        ("win_seat", np.int64, (MAX_WINS,)),
        ("win_from", np.int64, (MAX_WINS,)),  # -1: a self-draw
        ("win_tile", np.int64, (MAX_WINS,)),
        # All before this is words of eight bytes.
        ("deal", np.uint8, (42,)),
        ("wall", np.uint8, (WALL_TILES,)),
    ],
    align=True,
)
WORDS = ROW.fields["deal"][1] // 8  # type: ignore[index]
# Where in a row each of its fields stands.
(
    START_AT, STOP_AT, BYTE_AT, NUMBER_AT, FINE_AT, UNENDED_AT, TOO_LONG_AT, HAS_AT, TEXT_AT, ROUND_AT, TIME_MS_AT,
    BASE_AT, POINTS_AT, KONGS_AT, FEE_AT, WIN_MULTIPLE_AT, WIN_FANS_AT, FIRST_AT, LAST_AT, PIAO_AT, RAISE_AT, SUITS_AT,
    DEALER_AT, DICE_AT, END_AT, WINS_AT, WIN_SEAT_AT, WIN_FROM_AT, WIN_TILE_AT, DEAL_AT, WALL_AT,
) = (ROW.fields[name][1] for name in ROW.names)  # type: ignore[index, union-attr]  # fmt: skip
FAN_WIDTH = max(map(len, FANS))

# Where a scanner is in its block, int64[PLACES]: the first byte of the next line; bytes there are (those after them,
# PAD_BYTES at least, are zero); the number of the next line; rows and events so far; the suits of the row before;
# whether the source ends at STOP; what to add to a place in the block to get the offset in the source; bytes that a
# line may have, and bytes that are kept of a longer one.
AT, STOP, NUMBER, COUNT, FILLED, SUITS_BEFORE, LAST, OFFSET, LINE_MOST, RAW_MOST = range(10)
PLACES = 10
PAD_BYTES = 128


class Block:
    """Bytes of a source, and the rows that a scanner makes of the lines in them.

    data: uint8, PAD_BYTES zeros behind the bytes; place: int64[PLACES]; rows: ROW[], the first place[COUNT] of them
    filled; events: uint32, and times: int32, of all rows, the times of an event at its place.
    """

    def __init__(self, size: int, rows: int) -> None:
        self.rows = np.zeros(rows, ROW)
        self.place = np.zeros(PLACES, np.int64)
        self.place[[NUMBER, LINE_MOST, RAW_MOST]] = 1, LINE_LIMIT, RAW_LIMIT
        self._make(size)

    def _make(self, size: int) -> None:
        self.data = np.zeros(size + PAD_BYTES, np.uint8)
        # The shortest token and the shortest time take two bytes each.
        self.events = np.empty(len(self.data) // 2, np.uint32)
        self.times = np.empty(len(self.data) // 2, np.int32)

    def room(self, size: int) -> memoryview:
        """The next `size` bytes behind those that there are; `fill` then says how many of them are there."""
        place = self.place
        stop = int(place[STOP])
        if stop + size + PAD_BYTES > len(self.data):
            # Bytes before the first line that is still wanted make room first.
            start = int(self.rows["start"][0] if place[COUNT] else place[AT])
            before = self.data[start:stop], self.events[: place[FILLED]], self.times[: place[FILLED]]
            if stop - start + size + PAD_BYTES > len(self.data):
                self._make(2 * (stop - start + size))
            for new, old in zip((self.data, self.events, self.times), before, strict=True):
                new[: len(old)] = old
            rows = self.rows[: place[COUNT]]
            rows["start"] -= start
            rows["stop"] -= start
            rows["text"][:, :, 0] -= start
            place[AT] -= start
            place[OFFSET] += start
            stop -= start
            place[STOP] = stop
        return memoryview(self.data)[stop : stop + size]

    def put(self, piece: bytes) -> None:
        """Append bytes."""
        self.room(len(piece))[:] = piece
        self.fill(len(piece))

    def fill(self, size: int) -> None:
        """The first bytes of the last `room` are there."""
        self.cut(int(self.place[STOP]) + size)

    def cut(self, stop: int) -> None:
        """Let the bytes end at `stop`."""
        self.data[stop : stop + PAD_BYTES] = 0
        self.place[STOP] = stop

    def clear(self) -> None:
        """Forget the rows."""
        self.place[COUNT] = self.place[FILLED] = 0


class Scanner(NamedTuple):
    """The compiled functions that reading takes from replay.scan.

    scan(block): fill rows while there are whole lines and room for rows;
    codes(data, starts, sizes) -> (code of each text, the first text of each code), codes in the order of first use;
    gather(data, starts, sizes) -> the texts end to end, uint8;
    turn(rows) -> the words of ROW[n], int64[WORDS, n];
    digests(sites, codes, game_data, game_offsets, numbers) -> (game keys, round ids), as ingest.events.digest64 makes
    them, of rounds whose site is one of `sites` by its code and whose games are texts end to end;
    hashes(data, starts, stops) -> (the first 64 bits, uint64; all as hex digits, uint8[n, 64]) of the SHA-256 of the
    lines [start, stop), or None where hashlib is faster.
    """

    scan: Callable[[Block], None]
    codes: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    gather: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    turn: Callable[[np.ndarray], np.ndarray]
    digests: Callable[[list[str], np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    hashes: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] | None
