"""Wins and refusals: whether the table offers them, what a win is worth, who is paid (rules.md sections 2 and 5)."""

from ingest import events
from replay.claims import kong_keeps_waits, lock_forbids
from replay.fans import DISCARD, ROB, SELF_DRAW, evaluate
from replay.flags import due_seat, flag, out_of_turn, stop, wall_left
from replay.jit import inner
from replay.problems import CODE
from replay.settle import FIRST_REVEALED_ONLY, meets_minimum, settle_win, share
from replay.state import ADDED, DISCARDED, ENDED, TURN, WON

NONE = events.NO_SEAT
BAD_CLAIM, TILE_NOT_HELD = CODE["bad_claim"], CODE["tile_not_held"]
NOT_A_WIN, BELOW_MINIMUM, DEAD_HAND = CODE["not_a_win"], CODE["below_minimum"], CODE["dead_hand"]
CLAIM_ORDER, MISSED_WIN_LOCK = CODE["claim_order"], CODE["missed_win_lock"]
END_WIN = 0  # as in events.ENDS


@inner
def decline(st, rules, tb, out, seat, number):
    """A refusal of an offered claim."""
    window = st.phase == DISCARDED or st.phase == ADDED or st.phase == WON
    offered = False
    if window and seat != st.from_ and not (st.declined | st.won) >> seat & 1:
        offered = st.can_win >> seat & 1 != 0
        if st.by == DISCARD and st.hand[seat, st.kind] >= 2:
            can_pung = not st.revealed[seat] and (wall_left(st) > 0 or rules.wall_last_pung)
            can_kong = st.hand[seat, st.kind] == 3 and wall_left(st) > 0
            if can_kong and st.revealed[seat]:
                can_kong = kong_keeps_waits(st, rules, tb, seat, st.kind, 3)
            offered = offered or can_pung or can_kong
    if not offered:
        flag(st, BAD_CLAIM, number, seat, -1, -1)
        return
    st.declined |= 1 << seat


@inner
def win(st, rules, tb, rin, out, seat, tile, source, number):
    """A self-draw, a win on a discard, or a robbed kong."""
    by = SELF_DRAW
    payer = -1
    after_kong = st.after_kong
    if source == NONE:
        if st.phase != TURN or seat != st.turn:
            out_of_turn(st, seat, due_seat(st), number)
            return
        if not st.may_win or (st.drawn >= 0 and tile != st.drawn):
            flag(st, BAD_CLAIM, number, seat, tile, st.drawn)
            if not st.may_win:
                stop(st)
                return
        if st.hand[seat, tile] == 0:
            flag(st, TILE_NOT_HELD, number, seat, tile, -1)
            stop(st)
            return
    else:
        robbing = st.by == ROB
        if st.phase != DISCARDED and st.phase != ADDED and st.phase != WON:
            out_of_turn(st, seat, due_seat(st), number)
            return
        by = ROB if robbing else DISCARD
        payer = st.from_
        after_kong = 0 if robbing else st.kong_discard
        if st.phase == WON:
            # Not out.win_seat: a winner that is not paid has claimed its turn too.
            last = (payer + 2) % 3 if st.won >> (payer + 2) % 3 & 1 else (payer + 1) % 3
            if (seat - payer) % 3 <= (last - payer) % 3:
                flag(st, CLAIM_ORDER, number, seat, -1, last)
                if out.wins >= 2 or st.won >> seat & 1:
                    stop(st)
                    return
        if seat == payer or source != payer or tile != st.kind or st.declined >> seat & 1:
            flag(st, BAD_CLAIM, number, seat, tile, st.kind)
            if seat == payer or tile != st.kind:
                stop(st)
                return
        if robbing and not rules.kong_robbable:
            flag(st, BAD_CLAIM, number, seat, tile, -1)
    if st.dead[seat]:
        flag(st, DEAD_HAND, number, seat, tile, -1)
        stop(st)
        return
    if not evaluate(st, rules, tb, seat, tile, by, after_kong, wall_left(st) == 0):
        flag(st, NOT_A_WIN, number, seat, tile, -1)
        stop(st)
        return
    own = st.revealed[seat] != 0
    if not meets_minimum(st, rules, st.value, seat, payer, by, st.judged_before):
        flag(st, BELOW_MINIMUM, number, seat, share(rules, st.value, own, False), -1)
    if by != SELF_DRAW and lock_forbids(st, rules, seat, payer, tile):
        flag(st, MISSED_WIN_LOCK, number, seat, tile, -1)
    if st.phase == ADDED:
        n = out.kongs - 1
        out.kong_robbed[n] = 1
        st.added[payer] &= ~(1 << tile)
        st.pung[payer] |= 1 << tile
    st.won |= 1 << seat
    n = out.wins
    if n == 0:
        st.rows_before = out.ledger
        for other in range(3):
            st.points_before[other] = out.points[other]
    out.wins = n + 1
    out.win_seat[n] = seat
    out.win_from[n] = payer
    out.win_tile[n] = tile
    out.win_by[n] = by
    out.win_event[n] = number
    out.win_turn[n] = out.draws
    out.win_fans[n] = st.fans
    out.win_multiple[n] = share(rules, st.value, own, False)
    out.win_points[n] = 0
    out.end = END_WIN
    st.phase = ENDED if by == SELF_DRAW else WON
    if n == 1 and rules.deal_in_double == FIRST_REVEALED_ONLY and (st.revealed[seat] or st.revealed[out.win_seat[0]]):
        only_first_revealed(st, rules, tb, rin, out)
    else:
        settle_win(st, rules, tb, rin, out, n, False)


@inner
def only_first_revealed(st, rules, tb, rin, out):
    """Of two winners only the one that revealed first is paid, double; the other is no winner."""
    first, second = st.revealed[out.win_seat[0]], st.revealed[out.win_seat[1]]
    if second and (not first or second < first):
        out.win_seat[0], out.win_event[0] = out.win_seat[1], out.win_event[1]
        out.win_fans[0], out.win_multiple[0] = out.win_fans[1], out.win_multiple[1]
    else:
        after_kong = st.kong_discard if out.win_by[0] == DISCARD else 0
        evaluate(st, rules, tb, out.win_seat[0], out.win_tile[0], out.win_by[0], after_kong, wall_left(st) == 0)
    out.wins = 1
    out.win_points[0] = 0
    out.ledger = st.rows_before
    for seat in range(3):
        out.points[seat] = st.points_before[seat]
    settle_win(st, rules, tb, rin, out, 0, True)
