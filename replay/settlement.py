"""Rounds whose log has neither wall nor drawn tiles: settled from the hands at their end (`settlement_only`).

The same state machine as in replay.table walks through what the log tells: turns, discards, claims, kongs, reveals,
how many tiles are left.  Each hand is taken to be its last one all the time; the tiles that a seat lets go are lent to
it for the moment (a triplet that a revealed hand kongs: from the start).  So kongs and wins are judged and paid by the
very functions that settle a full replay, and after-kong and last-tile fans, the kong ledger and the last drawer follow
from the order of play.  What hangs on concealed tiles in mid-round (feeding a revealed seat, missed wins, which tile
was drawn) can't be judged, and isn't.
"""

import numpy as np
import pyarrow as pa

from ingest import events as ev
from ingest.events import FAN_BITS, FANS
from ingest.tiles import KINDS, NO_TILE, PAD
from replay import state
from replay.fans import REVEAL, combine
from replay.flags import flag, stop
from replay.hand import add_tile, waits_of
from replay.jit import inner, jit
from replay.loop import clear, close, compare, deal, finish, hand_over
from replay.problems import CAUSE, CAUSES, CODE
from replay.settle import reveal_factor
from replay.state import ENDED, WON
from replay.table import apply, draw, own_turn, put_down

V_DRAW, V_REPLACEMENT, V_DISCARD, V_DISCARD_DRAWN = ev.DRAW, ev.REPLACEMENT, ev.DISCARD, ev.DISCARD_DRAWN
V_PUNG, V_KONG, V_CONCEALED, V_ADDED = ev.PUNG, ev.KONG, ev.CONCEALED_KONG, ev.ADDED_KONG
V_REVEAL, V_WIN, NONE = ev.REVEAL, ev.WIN, ev.NO_SEAT
MISSING_EVENT, FIFTH_TILE, TILE_NOT_HELD = CODE["missing_event"], CODE["fifth_tile"], CODE["tile_not_held"]
FANS_CODE, MULTIPLE, LEDGER = CODE["fans"], CODE["multiple"], CODE["ledger"]
WAITS, NEXT_DEALER = CODE["waits"], CODE["next_dealer"]
N_CAUSES, N_FANS = len(CAUSES), len(FANS)
KONG_FIRST, KONG_LAST = CAUSE["kong_exposed"], CAUSE["kong_concealed"]
REVEAL_BITS = (1 << FAN_BITS) - 1 << FAN_BITS * REVEAL

MAX_SHARES = 4
HAS_LINES, HAS_KONG_LINES, HAS_WAITS = 1, 2, 4
# What a log says of a settled round beside its events (events.SETTLEMENT_TYPE); the last fields are the kernel's.
POSITION = np.dtype(
    [
        ("hands", np.uint8, (3, 14)),
        ("compare", np.int64),  # bit set of HAS_LINES, HAS_KONG_LINES, HAS_WAITS
        ("lines", np.int64, (N_CAUSES, 3, 3)),  # points by cause, payer and payee
        ("kong_lines", np.int64, (N_CAUSES, 3, 3)),
        ("waits", np.int64, (3,)),
        ("next_dealer", np.int64),  # -1: not recorded
        ("shares", np.int64),
        ("share_seat", np.int64, (MAX_SHARES,)),
        ("share_from", np.int64, (MAX_SHARES,)),
        ("share_fans", np.int64, (MAX_SHARES,)),
        ("share_values", np.int64, (MAX_SHARES, N_FANS)),
        ("share_multiple", np.int64, (MAX_SHARES,)),
        ("won", np.int64),  # the seat whose self-drawn tile is kept back until it wins, -1 without
        ("lent", np.int64),  # kind that a reveal has been lent for the discard that follows, -1 without
        ("dealt", np.int64, (3, KINDS)),  # dealt tiles that the seat has not let go
        ("owed", np.int64, (3,)),  # tiles let go that had not been dealt to the seat
        ("drawn", np.int64, (3,)),
        ("paid", np.int64, (N_CAUSES, 3, 3)),
    ]
)


def positions(column: pa.Array) -> np.recarray:
    """POSITION[m] of the rows of a column of events.SETTLEMENT_TYPE that are not null, in their order."""
    rows = column.filter(column.is_valid()).to_pylist() if column.null_count < len(column) else []
    out = np.zeros(len(rows), POSITION).view(np.recarray)
    for one, row in zip(out, rows, strict=True):
        hands = np.frombuffer(row["hands"] or bytes([PAD]) * 42, np.uint8)
        one.hands = hands.reshape(3, 14)
        for name, bit in (("lines", HAS_LINES), ("kong_lines", HAS_KONG_LINES)):
            one.compare |= bit * (row[name] is not None)
            for line in row[name] or ():
                one[name][CAUSE[line["cause"]], line["from"], line["to"]] += line["points"]
        if row["waits"] is not None:
            one.compare |= HAS_WAITS
            one.waits = row["waits"]
        one.next_dealer = -1 if row["next_dealer"] is None else row["next_dealer"]
        shares = (row["shares"] or [])[:MAX_SHARES]
        one.shares = len(shares)
        for n, share in enumerate(shares):
            one.share_seat[n], one.share_from[n] = share["seat"], share["from"]
            one.share_fans[n], one.share_multiple[n] = share["fans"], share["multiple"]
            for fan, value in zip(ev.unpack_fans(share["fans"]), share["values"], strict=False):
                one.share_values[n, FANS.index(fan)] = value
    return out


@inner
def lay_out(st, rules, tb, rin, pos, events):
    """Deal, note what was dealt, then put the final hands in place and find what they wait for."""
    deal(st, rules, tb, rin)
    pos.owed[:] = 0
    pos.drawn[:] = 0
    pos.won = -1
    pos.lent = -1
    for seat in range(3):
        for kind in range(KINDS):
            pos.dealt[seat, kind] = st.hand[seat, kind]
            st.hand[seat, kind] = 0
        st.tiles[seat] = 0
        st.odd[seat] = 0
        st.key[seat, :] = 0
        for place in range(14):
            kind = np.int64(pos.hands[seat, place])
            if kind < KINDS:
                lend(st, tb, seat, kind, 1, -1)
    shown = 0
    for place in range(rin.start, rin.stop):
        event = np.int64(events[place])
        seat = event & 3
        verb = event >> 2 & 15
        tile = event >> 6 & 31
        if verb == V_REVEAL:
            shown |= 1 << seat
        if verb == V_REVEAL or seat > 2 or tile >= KINDS:
            continue
        if shown >> seat & 1 and (verb == V_KONG or verb == V_CONCEALED):
            lend(st, tb, seat, tile, 3, -1)  # a revealed hand doesn't change: it held the triplet all the time
        if verb == V_PUNG:
            st.pung[seat] |= 1 << tile
        elif verb == V_KONG:
            st.exposed[seat] |= 1 << tile
        elif verb == V_CONCEALED:
            st.concealed[seat] |= 1 << tile
        elif verb == V_ADDED:
            st.pung[seat] &= ~(1 << tile)
            st.added[seat] |= 1 << tile
        elif verb == V_WIN and event >> 11 & 3 == NONE and pos.won < 0 and st.hand[seat, tile]:
            add_tile(st, tb, seat, tile, -1)
            pos.won = seat
    find_waits(st, tb)
    st.pung[:] = 0
    st.exposed[:] = 0
    st.added[:] = 0
    st.concealed[:] = 0


@inner
def find_waits(st, tb):
    """What each hand waits for, as it stands."""
    for seat in range(3):
        st.waits[seat] = waits_of(st, tb, seat)


@inner
def lend(st, tb, seat, tile, count, number):
    """Tiles into a hand; more than four of a kind can't be, and end the walk."""
    if st.hand[seat, tile] + count > 4:
        flag(st, FIFTH_TILE, number, seat, tile, -1)
        stop(st)
    else:
        add_tile(st, tb, seat, tile, count)


@inner
def let_go(st, pos, seat, tile, count, number):
    """The seat parts with tiles: dealt ones, or ones that it must have drawn by now."""
    known = min(count, pos.dealt[seat, tile])
    pos.dealt[seat, tile] -= known
    pos.owed[seat] += count - known
    if pos.owed[seat] > pos.drawn[seat]:
        flag(st, TILE_NOT_HELD, number, seat, tile, -1)
        pos.owed[seat] = pos.drawn[seat]


@inner
def own_tiles(verb):
    """How many tiles of its own a seat puts down."""
    if verb == V_PUNG:
        return 2
    if verb == V_KONG:
        return 3
    return 4 if verb == V_CONCEALED else 1


@inner
def step(st, rules, tb, rin, pos, out, events, place):
    """One event of the walk."""
    event = np.int64(events[place])
    number = place - rin.start
    seat = event & 3
    verb = event >> 2 & 15
    tile = event >> 6 & 31
    over = st.phase == ENDED or st.phase == WON
    if over or seat > 2 or verb > V_WIN or (tile >= KINDS and V_REPLACEMENT < verb != V_REVEAL):
        find_waits(st, tb)
        apply(st, rules, tb, rin, out, event, number)
    elif verb == V_DRAW or verb == V_REPLACEMENT:
        before = out.draws
        draw(st, rules, tb, rin, out, seat, verb, NO_TILE, number)
        st.drawn = -1
        pos.drawn[seat] += out.draws - before
    elif verb == V_DISCARD or verb == V_DISCARD_DRAWN:
        if own_turn(st, rules, rin, out, seat, verb, number):
            let_go(st, pos, seat, tile, 1, number)
            if pos.lent != tile:
                lend(st, tb, seat, tile, 1, number)
            pos.lent = -1
            if not st.stopped:
                put_down(st, rules, tb, out, seat, tile, number, False)
    elif verb == V_REVEAL:
        # The tile that is discarded with the reveal belongs to the hand that reveals.
        following = np.int64(events[place + 1]) if place + 1 < rin.stop else event
        other = following >> 6 & 31
        lent = following >> 2 & 15 == V_DISCARD and following & 3 == seat and other < KINDS and not st.revealing
        if lent:
            lend(st, tb, seat, other, 1, number)
        if not st.stopped:
            apply(st, rules, tb, rin, out, event, number)
            if lent and st.revealing:
                pos.lent = other
            elif lent:
                add_tile(st, tb, seat, other, -1)
    elif verb == V_WIN:
        find_waits(st, tb)
        if pos.won == seat and event >> 11 & 3 == NONE and st.hand[seat, tile] < 4:
            add_tile(st, tb, seat, tile, 1)
        apply(st, rules, tb, rin, out, event, number)
    else:
        count = own_tiles(verb)
        let_go(st, pos, seat, tile, count, number)
        if st.revealed[seat] and (verb == V_KONG or verb == V_CONCEALED):
            count -= 3
        lend(st, tb, seat, tile, count, number)
        if not st.punged and verb >= V_CONCEALED:
            st.drawn = tile
        if not st.stopped:
            apply(st, rules, tb, rin, out, event, number)
    st.can_win = 0


@inner
def play(st, rules, tb, rin, pos, out, events):
    """Walk through one round, settle it and compare; its problems stay in `st`."""
    clear(out)
    lay_out(st, rules, tb, rin, pos, events)
    for place in range(rin.start, rin.stop):
        if st.stopped:
            break
        step(st, rules, tb, rin, pos, out, events, place)
    if not st.stopped and out.end < 0:
        flag(st, MISSING_EVENT, -1, -1, -1, -1)
        st.stopped = 1
    if st.stopped:
        out.end = -1
    else:
        count_tiles(st, pos)
        if pos.compare & HAS_KONG_LINES:  # before a draw takes them back
            compare_lines(st, pos, pos.kong_lines, out, KONG_FIRST, KONG_LAST)
        finish(st, rules, tb, rin, out)
        compare(st, rules, rin, out)
        compare_settlement(st, rules, pos, out)
    close(st, out)


@inner
def count_tiles(st, pos):
    """What was dealt and not let go is still there, and no kind has more than four copies."""
    for kind in range(KINDS):
        copies = st.shown[kind]
        for seat in range(3):
            copies += st.hand[seat, kind]
            if pos.dealt[seat, kind] > st.hand[seat, kind]:
                flag(st, TILE_NOT_HELD, -1, seat, kind, -1)
        if copies > 4:
            flag(st, FIFTH_TILE, -1, -1, kind, -1)


@inner
def compare_lines(st, pos, recorded, out, first, last):
    """A recorded ledger against ours, by payer and payee, for the causes first..last."""
    pos.paid[:, :, :] = 0
    for n in range(out.ledger):
        if out.ledger_to[n] >= 0:
            pos.paid[out.ledger_cause[n], out.ledger_from[n], out.ledger_to[n]] += out.ledger_points[n]
    for cause in range(first, last + 1):
        for payer in range(3):
            for payee in range(3):
                if recorded[cause, payer, payee] != pos.paid[cause, payer, payee]:
                    once(st, LEDGER, -1, payer, recorded[cause, payer, payee], pos.paid[cause, payer, payee])


@inner
def once(st, code, event, seat, logged, expected):
    """Flag unless the event has the code already."""
    for n in range(st.problems):
        if st.problem_code[n] == code and st.problem_event[n] == event:
            return
    flag(st, code, event, seat, logged, expected)


@inner
def compare_settlement(st, rules, pos, out):
    """What the log recorded of the settlement beside points and wins."""
    if pos.compare & HAS_LINES:
        compare_lines(st, pos, pos.lines, out, 0, N_CAUSES - 1)
    for n in range(pos.shares):
        for win in range(out.wins):
            if out.win_seat[win] == pos.share_seat[n]:
                compare_share(st, rules, pos, out, n, win)
    if pos.compare & HAS_WAITS:
        for seat in range(3):
            if pos.waits[seat] != st.waits[seat]:
                once(st, WAITS, -1, seat, pos.waits[seat], st.waits[seat])
    if pos.next_dealer >= 0 and pos.next_dealer != out.next_dealer:
        flag(st, NEXT_DEALER, -1, pos.next_dealer, pos.next_dealer, out.next_dealer)


@inner
def compare_share(st, rules, pos, out, n, win):
    """What the log recorded of a win for one payer: fans, their values and the multiple before the cap."""
    seat = out.win_seat[win]
    event = out.win_event[win]
    fans = out.win_fans[win] & ~REVEAL_BITS
    factor = reveal_factor(rules, st.revealed[seat] != 0, st.revealed[pos.share_from[n]] != 0)
    multiple = combine(rules, fans) * factor
    while factor > 1:
        factor //= rules.fan[REVEAL]
        fans += 1 << FAN_BITS * REVEAL
    if pos.share_fans[n] != fans:
        once(st, FANS_CODE, event, seat, pos.share_fans[n], fans)
    if pos.share_multiple[n] != multiple:
        once(st, MULTIPLE, event, seat, pos.share_multiple[n], multiple)
    for code in range(N_FANS):
        both = fans & pos.share_fans[n]
        if both >> FAN_BITS * code & 7 and pos.share_values[n, code] != rules.fan[code]:
            once(st, MULTIPLE, event, seat, pos.share_values[n, code], rules.fan[code])


@jit
def run(rounds, positions, events, rules, tb, st, outs, problems, first):
    """Settle rounds[first:] until the problem rows may not suffice; returns (rounds done up to, problem rows).

    rounds: state.ROUND[n], all with `settled`; positions: POSITION[m]; the rest as in replay.loop.run.
    """
    rows = 0
    for n in range(first, len(rounds)):
        if rows + state.MAX_PROBLEMS > len(problems):
            return n, rows
        rin = rounds[n]
        play(st, rules[rin.rules], tb, rin, positions[rin.settled - 1], outs[n], events)
        rows = hand_over(st, problems, rows, n)
    return len(rounds), rows
