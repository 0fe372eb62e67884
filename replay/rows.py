"""The kernel's results as dense rows, one kind of row a table: what replay.outputs makes its columns of.

One pass over the results, which are too long for the cache: a column taken from them directly would wait for memory at
every round.  Types are those of the tables' columns (replay.problems), so that a column is a copy.
"""

from typing import NamedTuple

import numpy as np

from ingest.events import FAN_BITS, FANS
from ingest.tiles import KINDS
from replay.jit import jit

N_FANS = len(FANS)
COPIES = 4  # of a kind
ROUND_ROW = np.dtype(
    [
        ("end", np.int32), ("winners", np.int8), ("multiple", np.int64), ("draws", np.int16), ("wall_left", np.int16),
        ("last_drawer", np.int8), ("next_dealer", np.int8), ("raise_next", np.int32), ("mispaid", np.int64),
        ("digest", np.int64),
    ]
)  # fmt: skip
SEAT_ROW = np.dtype(
    [
        ("points", np.int64), ("kong_points", np.int64), ("recorded_points", np.int64), ("piao", np.int32),
        ("won", np.bool_), ("self_drew", np.bool_), ("dealt_in", np.bool_), ("revealed", np.bool_),
        ("ready", np.bool_), ("pungs", np.int8), ("kongs", np.int8),
        ("deal_stop", np.int32), ("hand_stop", np.int32),  # where its tiles end in Rows.deals and Rows.hands
    ]
)  # fmt: skip
WIN_ROW = np.dtype(
    [
        ("row", np.int32), ("win_no", np.int8), ("seat", np.int8), ("from_seat", np.int8), ("tile", np.uint8),
        ("by", np.int32), ("event", np.int32), ("turn", np.int16), ("multiple", np.int64), ("fans", np.int64),
        ("revealed", np.bool_), ("points", np.int64),
        ("recorded_multiple", np.int64), ("recorded_fans", np.int64),  # of the same winner, -1 without
    ]
)  # fmt: skip
FAN_ROW = np.dtype([("row", np.int32), ("win_no", np.int8), ("fan", np.int32), ("count", np.int8)])
KONG_ROW = np.dtype(
    [
        ("row", np.int32), ("kong_no", np.int8), ("event", np.int32), ("seat", np.int8), ("kind", np.int32),
        ("tile", np.uint8), ("from_seat", np.int8), ("chain", np.int8), ("points", np.int64), ("robbed", np.bool_),
    ]
)  # fmt: skip
REVEAL_ROW = np.dtype(
    [
        ("row", np.int32), ("seat", np.int8), ("order", np.int8), ("event", np.int32), ("turn", np.int16),
        ("wall_left", np.int16), ("waits", np.uint32), ("live", np.int8), ("hidden", np.uint32),
    ]
)  # fmt: skip
LEDGER_ROW = np.dtype(
    [
        ("row", np.int32), ("n", np.int16), ("cause", np.int32), ("from_seat", np.int8), ("to_seat", np.int8),
        ("points", np.int64),
    ]
)  # fmt: skip


class Rows(NamedTuple):
    """Dense rows of a batch, in the order of its rounds; `row` in them is the round's place in the batch."""

    rounds: np.ndarray
    seats: np.ndarray  # three a round
    wins: np.ndarray
    fans: np.ndarray
    kongs: np.ndarray
    reveals: np.ndarray
    ledger: np.ndarray
    deals: np.ndarray  # uint8: the kinds dealt, seat by seat
    hands: np.ndarray  # uint8: the concealed kinds at the end, ascending


def rows(rounds: np.recarray, results: np.recarray) -> Rows:
    """The rows of state.ROUND[n] and their state.RESULT[n]."""
    n, plain = len(rounds), results.view(np.ndarray)
    wins, kongs, reveals, ledger = (int(plain[name].sum()) for name in ("wins", "kongs", "reveals", "ledger"))
    sizes = (
        (n, ROUND_ROW), (3 * n, SEAT_ROW), (wins, WIN_ROW), (N_FANS * wins, FAN_ROW), (kongs, KONG_ROW),
        (reveals, REVEAL_ROW), (ledger, LEDGER_ROW),
    )  # fmt: skip
    made = [np.empty(size, dtype).view(np.recarray) for size, dtype in sizes]
    tiles = np.empty((2, 42 * n + COPIES), np.uint8)
    fans = fill(rounds, results, *made, *tiles)
    dense = Rows(*(one.view(np.ndarray) for one in made), *tiles)
    return dense._replace(fans=dense.fans[:fans])


@jit
def fill(rounds, outs, round_rows, seat_rows, win_rows, fan_rows, kong_rows, reveal_rows, ledger_rows, deals, hands):
    """Fill the rows of all rounds; returns how many rows of fans there are."""
    wins = 0
    fans = 0
    kongs = 0
    reveals = 0
    ledger = 0
    dealt = 0
    held = 0
    for n in range(len(outs)):
        rin = rounds[n]
        out = outs[n]
        best = 0
        differ = 0
        for seat in range(3):
            one = seat_rows[3 * n + seat]
            one.points = out.points[seat]
            one.kong_points = out.kong_net[seat]
            one.recorded_points = rin.points[seat]
            one.piao = rin.piao[seat]
            one.won = False
            one.self_drew = False
            one.dealt_in = False
            one.revealed = out.revealed[seat] > 0
            one.ready = out.ready[seat] > 0
            one.pungs = out.pungs[seat]
            one.kongs = 0
            differ += abs(rin.points[seat] - out.points[seat])
            for place in range(14):
                kind = rin.deal[seat, place]
                deals[dealt] = kind  # what is no tile is written over
                dealt += 1 if kind < KINDS else 0
            one.deal_stop = dealt
            for kind in range(KINDS):
                for place in range(COPIES):  # all, and as many as there are stay: no branch that could be guessed wrong
                    hands[held + place] = kind
                held += np.int64(out.hand[seat, kind])
            one.hand_stop = held
        for place in range(out.wins):
            row = win_rows[wins]
            wins += 1
            seat = out.win_seat[place]
            payer = out.win_from[place]
            row.row = n
            row.win_no = place
            row.seat = seat
            row.from_seat = payer
            row.tile = out.win_tile[place]
            row.by = out.win_by[place]
            row.event = out.win_event[place]
            row.turn = out.win_turn[place]
            row.multiple = out.win_multiple[place]
            row.fans = out.win_fans[place]
            row.revealed = out.revealed[seat] > 0
            row.points = out.win_points[place]
            row.recorded_multiple = -1
            row.recorded_fans = -1
            for other in range(rin.wins):
                if rin.win_seat[other] == seat:
                    row.recorded_multiple = rin.win_multiple[other]
                    row.recorded_fans = rin.win_fans[other]
            best = max(best, out.win_multiple[place])
            seat_rows[3 * n + seat].won = True
            if payer < 0:
                seat_rows[3 * n + seat].self_drew = True
            else:
                seat_rows[3 * n + payer].dealt_in = True
            packed = out.win_fans[place]
            fan = 0
            while packed:
                if packed & 7:
                    fan_rows[fans].row = n
                    fan_rows[fans].win_no = place
                    fan_rows[fans].fan = fan
                    fan_rows[fans].count = packed & 7
                    fans += 1
                fan += 1
                packed >>= FAN_BITS
        for place in range(out.kongs):
            kong = kong_rows[kongs]
            kongs += 1
            kong.row = n
            kong.kong_no = place
            kong.event = out.kong_event[place]
            kong.seat = out.kong_seat[place]
            kong.kind = out.kong_kind[place]
            kong.tile = out.kong_tile[place]
            kong.from_seat = out.kong_from[place]
            kong.chain = out.kong_chain[place]
            kong.points = out.kong_points[place]
            kong.robbed = out.kong_robbed[place] > 0
            if not kong.robbed:
                seat_rows[3 * n + out.kong_seat[place]].kongs += 1
        for place in range(out.reveals):
            reveal = reveal_rows[reveals]
            reveals += 1
            reveal.row = n
            reveal.seat = out.reveal_seat[place]
            reveal.order = place + 1
            reveal.event = out.reveal_event[place]
            reveal.turn = out.reveal_turn[place]
            reveal.wall_left = out.reveal_left[place]
            reveal.waits = out.reveal_waits[place]
            reveal.live = out.reveal_live[place]
            reveal.hidden = out.reveal_hidden[place]
        for place in range(out.ledger):
            line = ledger_rows[ledger]
            ledger += 1
            line.row = n
            line.n = place
            line.cause = out.ledger_cause[place]
            line.from_seat = out.ledger_from[place]
            line.to_seat = out.ledger_to[place]
            line.points = out.ledger_points[place]
        whole = round_rows[n]
        whole.end = out.end
        whole.winners = out.wins
        whole.multiple = best
        whole.draws = out.draws
        whole.wall_left = out.wall_left
        whole.last_drawer = out.last_drawer
        whole.next_dealer = out.next_dealer
        whole.raise_next = out.raise_next
        whole.mispaid = differ // 2
        whole.digest = out.digest
    return fans
