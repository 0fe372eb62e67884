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
HAS_DICE, HAS_WALL, HAS_TIMES, HAS_POINTS, HAS_WINS, HAS_KONGS, HAS_FEE = (1 << bit for bit in range(7))
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
        ("raise_", np.int32),
        ("suits", np.int32),  # index in tiles.SUITS
        ("dealer", np.int8),
        ("dice", np.int64, (3,)),  # the first two
        ("end", np.int8),  # index in events.ENDS; -1: the line lacks it
        ("wins", np.int8),
        ("win_seat", np.int8, (MAX_WINS,)),
        ("win_from", np.int8, (MAX_WINS,)),  # -1: a self-draw
        ("win_tile", np.uint8, (MAX_WINS,)),
        ("deal", np.uint8, (42,)),
        ("wall", np.uint8, (WALL_TILES,)),
    ],
    align=True,
)
FAN_WIDTH = max(map(len, FANS))

# Where a scanner is in its block.
PLACE = np.dtype(
    [
        ("at", np.int64),  # the first byte of the next line
        ("stop", np.int64),  # bytes there are; those after them (PAD_BYTES at least) are zero
        ("number", np.int64),  # of the next line
        ("count", np.int64),  # rows so far
        ("filled", np.int64),  # events so far
        ("suits", np.int64),  # of the row before
        ("last", np.int64),  # whether the source ends at `stop`
        ("line_limit", np.int64),
        ("raw_limit", np.int64),
        ("offset", np.int64),  # what to add to a place in the block to get the offset in the source
    ]
)
PAD_BYTES = 128


class Block:
    """Bytes of a source, and the rows that a scanner makes of the lines in them.

    data: uint8, with PAD_BYTES zeros behind the bytes; pairs, words: the same as numbers of two and of eight bytes that
    start at every byte; place: PLACE; rows: ROW[], the first place.count of them filled; events: uint32, and times:
    int32, of all rows, the times of an event at its place.
    """

    def __init__(self, size: int, rows: int) -> None:
        self.rows = np.zeros(rows, ROW).view(np.recarray)
        self.place = np.zeros(1, PLACE).view(np.recarray)[0]
        self.place.number = 1
        self.place.line_limit, self.place.raw_limit = LINE_LIMIT, RAW_LIMIT
        self._make(size)

    def _make(self, size: int) -> None:
        self.data = np.zeros(size + PAD_BYTES, np.uint8)
        self.pairs = np.ndarray(len(self.data) - 1, np.uint16, self.data.data, 0, (1,))
        self.words = np.ndarray(len(self.data) - 7, np.uint64, self.data.data, 0, (1,))
        # The shortest token and the shortest time take two bytes each.
        self.events = np.empty(len(self.data) // 2, np.uint32)
        self.times = np.empty(len(self.data) // 2, np.int32)

    def put(self, piece: bytes) -> None:
        """Append bytes."""
        place = self.place
        stop = int(place.stop)
        if stop + len(piece) + PAD_BYTES > len(self.data):
            # Bytes before the first line that is still wanted make room first.
            start = int(self.rows.start[0] if place.count else place.at)
            before = self.data[start:stop], self.events[: place.filled], self.times[: place.filled]
            if stop - start + len(piece) + PAD_BYTES > len(self.data):
                self._make(2 * (stop - start + len(piece)))
            for new, old in zip((self.data, self.events, self.times), before, strict=True):
                new[: len(old)] = old
            rows = self.rows[: place.count]
            rows.start -= start
            rows.stop -= start
            rows.text[:, :, 0] -= start
            place.at -= start
            place.offset += start
            stop -= start
        self.data[stop : stop + len(piece)] = np.frombuffer(piece, np.uint8)
        self.cut(stop + len(piece))

    def cut(self, stop: int) -> None:
        """Let the bytes end at `stop`."""
        self.data[stop : stop + PAD_BYTES] = 0
        self.place.stop = stop

    def clear(self) -> None:
        """Forget the rows."""
        self.place.count = self.place.filled = 0


class Scanner(NamedTuple):
    """The compiled functions that reading takes from replay.scan.

    scan(block): fill rows while there are whole lines and room for rows;
    codes(data, starts, sizes) -> (code of each text, the first text of each code), codes in the order of first use;
    gather(data, starts, sizes) -> the texts end to end, uint8.
    """

    scan: Callable[[Block], None]
    codes: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    gather: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
