"""The records that the kernel reads and writes: a round's input, its running state, its output.

Everything is one structured NumPy record passed to small functions (architecture.md, "The engine").  Seats, kinds
and events are indices, -1 is "none", sets of kinds are bit sets.  Amounts are points (int64).
"""

import numpy as np

from ingest.tiles import KINDS, WALL_TILES

MAX_WINS = 2
MAX_KONGS = 16
MAX_LEDGER = 96
MAX_PROBLEMS = 256  # a round that reaches it stops there

# What a log says of one round, as the kernel takes it.
ROUND = np.dtype(
    [
        ("rules", np.int64),  # index of its ruleset record
        ("has_wall", np.int64),
        ("dealer", np.int64),
        ("suits", np.int64),  # index in tiles.SUITS
        ("dice", np.int64, (2,)),
        ("piao", np.int64, (3,)),
        ("piao_unknown", np.int64),  # could not be told: `piao` is one of the values that are left
        ("hidden_open", np.int64),  # the log does not say which triplets a reveal hides
        ("base_", np.int64),  # NumPy records have a `base` of their own
        ("raise_", np.int64),
        ("start", np.int64),  # its events are [start, stop) of the batch's events
        ("stop", np.int64),
        ("settled", np.int64),  # 1 + index of its replay.settlement.POSITION; 0: the events tell all
        ("compare", np.int64),  # bit set of what the log recorded: 1 end, 2 points, 4 wins, 8 kongs, 16 fee
        ("end", np.int64),
        ("points", np.int64, (3,)),
        ("kongs", np.int64, (3,)),
        ("fee", np.int64),
        ("wins", np.int64),
        ("win_seat", np.int64, (MAX_WINS,)),
        ("win_from", np.int64, (MAX_WINS,)),
        ("win_tile", np.int64, (MAX_WINS,)),
        ("win_fans", np.int64, (MAX_WINS,)),  # -1: none named
        ("win_multiple", np.int64, (MAX_WINS,)),  # -1: none named
        # All before this is words of eight bytes, those of the wins last (replay.prepared).
        ("deal", np.uint8, (3, 14)),
        ("wall", np.uint8, (WALL_TILES,)),
    ],
    align=True,
)
HAS_END, HAS_POINTS, HAS_WINS, HAS_KONGS, HAS_FEE = 1, 2, 4, 8, 16

PROBLEM = np.dtype(
    [
        ("row", np.int64),
        ("code", np.int64),
        ("event", np.int64),
        ("seat", np.int64),
        ("logged", np.int64),
        ("expected", np.int64),
    ]
)

# What the kernel found out about one round.  It is never cleared as a whole: of a list, the first items stand as many
# as its counter says.  Fields that fill the cache are as small as they can be; who calculates with one widens it.
RESULT = np.dtype(
    [
        ("end", np.int64),  # index in events.ENDS, -1: the round stands incomplete
        ("problems", np.int64),  # count
        ("points", np.int64, (3,)),
        ("kong_net", np.int64, (3,)),
        ("fee", np.int64),
        ("draws", np.int64),
        ("wall_left", np.int64),
        ("last_drawer", np.int64),
        ("next_dealer", np.int64),
        ("raise_next", np.int64),  # doublings that this round's end puts on the next one
        ("digest", np.int64),
        ("horse", np.int64),  # horse points of one payment, unscaled
        ("pungs", np.int8, (3,)),
        ("ready", np.int8, (3,)),
        ("revealed", np.int8, (3,)),
        ("hand", np.uint8, (3, KINDS)),  # concealed tiles at the end
        ("wins", np.int64),
        ("win_seat", np.int64, (MAX_WINS,)),
        ("win_from", np.int64, (MAX_WINS,)),
        ("win_tile", np.int64, (MAX_WINS,)),
        ("win_by", np.int64, (MAX_WINS,)),
        ("win_event", np.int64, (MAX_WINS,)),
        ("win_turn", np.int64, (MAX_WINS,)),
        ("win_fans", np.int64, (MAX_WINS,)),
        ("win_multiple", np.int64, (MAX_WINS,)),
        ("win_points", np.int64, (MAX_WINS,)),
        ("reveals", np.int64),
        ("reveal_seat", np.int64, (3,)),
        ("reveal_event", np.int64, (3,)),
        ("reveal_turn", np.int64, (3,)),
        ("reveal_left", np.int64, (3,)),
        ("reveal_waits", np.int64, (3,)),
        ("reveal_live", np.int64, (3,)),
        ("reveal_hidden", np.int64, (3,)),
        ("kongs", np.int64),
        ("kong_event", np.int32, (MAX_KONGS,)),
        ("kong_seat", np.int8, (MAX_KONGS,)),
        ("kong_kind", np.int8, (MAX_KONGS,)),
        ("kong_tile", np.int8, (MAX_KONGS,)),
        ("kong_from", np.int8, (MAX_KONGS,)),
        ("kong_chain", np.int8, (MAX_KONGS,)),
        ("kong_robbed", np.int8, (MAX_KONGS,)),
        ("kong_points", np.int64, (MAX_KONGS,)),
        ("ledger", np.int64),
        ("ledger_cause", np.int8, (MAX_LEDGER,)),
        ("ledger_from", np.int8, (MAX_LEDGER,)),
        ("ledger_to", np.int8, (MAX_LEDGER,)),
        ("ledger_points", np.int64, (MAX_LEDGER,)),
    ]
)

# The table while a round is replayed.
STATE = np.dtype(
    [
        ("hand", np.int64, (3, KINDS)),
        ("tiles", np.int64, (3,)),
        ("key", np.int64, (3, 3)),  # base-5 keys of the two suits and the dragons
        ("odd", np.int64, (3,)),  # kinds held an odd number of times
        ("pung", np.int64, (3,)),
        ("pung_of_three", np.int64, (3,)),  # pungs made while the third tile was held too
        ("exposed", np.int64, (3,)),
        ("added", np.int64, (3,)),
        ("concealed", np.int64, (3,)),
        ("melds", np.int64, (3,)),
        ("waits", np.int64, (3,)),  # of the 13-tile hand, kept at each discard
        ("revealed", np.int64, (3,)),  # 0, or its order 1-3
        ("hidden", np.int64, (3,)),
        ("hidden_open", np.int64, (3,)),  # revealed, and any triplet may be hidden: the log does not say
        ("held_four", np.int64),  # win.wait_held_four
        ("locked", np.int64, (3,)),  # a win was missed
        ("lock_tile", np.int64, (3,)),
        ("lock_multiple", np.int64, (3,)),
        ("dead", np.int64, (3,)),
        ("unseen", np.int64, (KINDS,)),  # copies not yet dealt or drawn
        ("shown", np.int64, (KINDS,)),  # copies in rivers and melds
        ("wall", np.int64, (WALL_TILES,)),
        ("has_wall", np.int64),
        ("front", np.int64),  # tiles taken from the front, from the back
        ("back", np.int64),
        ("phase", np.int64),
        ("turn", np.int64),
        ("drawn", np.int64),  # kind drawn this turn
        ("may_win", np.int64),  # the turn began with a draw (or the deal)
        ("punged", np.int64),  # the turn began with a pung
        ("kongs_this_turn", np.int64),
        ("revealing", np.int64),  # the turn seat has revealed and not yet discarded
        ("kind", np.int64),  # the tile in the claim window
        ("by", np.int64),  # how it would be won: a discard, or robbing a kong
        ("from_", np.int64),  # who put it there
        ("can_win", np.int64),  # seats that may win it (bit set)
        ("declined", np.int64),
        ("won", np.int64),  # seats that have won the open tile, paid or not (bit set)
        ("after_kong", np.int64),  # the turn's draw is a replacement
        ("kong_discard", np.int64),  # the open discard follows a kong
        ("chain", np.int64),  # kongs of the chain that is open
        ("judged_before", np.int64),  # the open discard is the revealing one
        ("passed", np.int64),  # the turn seat let an offer pass since its kong
        ("rows_before", np.int64),  # the ledger before the first win
        ("points_before", np.int64, (3,)),
        ("dealer", np.int64),
        ("last_drawer", np.int64),
        ("stopped", np.int64),
        # the last evaluation (fans.evaluate)
        ("value", np.int64),  # fans combined, no reveal factor, no cap
        ("fans", np.int64),
        ("kan", np.int64),
        ("problems", np.int64),
        ("problem_code", np.int8, (MAX_PROBLEMS,)),
        ("problem_event", np.int32, (MAX_PROBLEMS,)),
        ("problem_seat", np.int8, (MAX_PROBLEMS,)),
        ("problem_logged", np.int64, (MAX_PROBLEMS,)),
        ("problem_expected", np.int64, (MAX_PROBLEMS,)),
    ]
)
TURN, DISCARDED, ADDED, KONGED, WON, ENDED = range(6)

# 64-bit FNV-1a as signed numbers: the kernel's integers wrap.
FNV_START = np.int64(-3750763034362895579)
FNV_PRIME = np.int64(1099511628211)
