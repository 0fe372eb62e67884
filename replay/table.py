"""The round as a state machine: what each event asks of the table, and what it does to it (rules.md section 2).

`apply` takes one event.  A breach is flagged with its code; where the table stays defined the log is trusted and
the round goes on, else st.stopped is set and the round stands incomplete.
"""

from ingest import events
from replay.calls import EMPTY_WALL_VOID, claim, complete_added, own_kong
from replay.claims import close_window, has_safe_tile, lets_pass, live_own, open_window
from replay.fans import DISCARD
from replay.flags import due_seat, flag, out_of_turn, stop, wall_left
from replay.hand import add_tile, ready_with_discard, waits_of
from replay.jit import inlined, inner
from replay.problems import CODE
from replay.ruleset import mode
from replay.settle import settle_no_safe_tile
from replay.state import ADDED, DISCARDED, ENDED, KONGED, TURN, WON
from replay.winning import decline, win

V_DRAW, V_REPLACEMENT, V_DISCARD_DRAWN = events.DRAW, events.REPLACEMENT, events.DISCARD_DRAWN
V_PUNG, V_KONG, V_CONCEALED, V_ADDED = events.PUNG, events.KONG, events.CONCEALED_KONG, events.ADDED_KONG
V_REVEAL, V_WIN, V_DECLINE, V_EXHAUSTED, V_ABORTED = (
    events.REVEAL,
    events.WIN,
    events.DECLINE,
    events.EXHAUSTED,
    events.ABORTED,
)

TILE_NOT_HELD, WRONG_DISCARD, FIFTH_TILE = CODE["tile_not_held"], CODE["wrong_discard"], CODE["fifth_tile"]
NOT_FROM_WALL, WRONG_REPLACEMENT = CODE["draw_not_from_wall"], CODE["wrong_replacement"]
NOT_READY, REVEAL_NOT_ALLOWED, BAD_HIDDEN = CODE["not_ready"], CODE["reveal_not_allowed"], CODE["bad_hidden"]
CHANGED, FED_REVEALED, SAFE_TILE_HELD = CODE["changed_after_reveal"], CODE["fed_revealed"], CODE["safe_tile_held"]
DEAD_HAND, MUST_DISCARD_DRAWN, BAD_CLAIM = CODE["dead_hand"], CODE["must_discard_drawn"], CODE["bad_claim"]
MISSING_EVENT, AFTER_END = CODE["missing_event"], CODE["event_after_end"]

REPLACE_BACK = mode("wall.replacement", "back")
LAST_DRAWN = mode("wall.last_discard", "drawn")
DEAD_ALLOWED = mode("dead_hand", "dead")
ANY_TIME = mode("reveal.when", "any_time")
JUDGED_BEFORE = mode("reveal.discard_judged", "before")
END_AND_PAY = mode("reveal.no_safe_tile", "end_and_pay")
MISSED_UNTIL_DISCARD = mode("win.missed", "until_discard")
END_WIN, END_DRAW, END_NO_SAFE_TILE, END_ABORTED = range(4)  # as in events.ENDS


@inner
def apply(st, rules, tb, rin, out, event, number):
    """One packed event; `number` is its index, for problems."""
    seat = event & 3
    verb = event >> 2 & 15
    tile = event >> 6 & 31
    source = event >> 11 & 3
    if verb <= V_DISCARD_DRAWN and st.phase < WON and seat < 3 and tile <= 20:  # nine of ten events
        if verb <= V_REPLACEMENT:
            draw(st, rules, tb, rin, out, seat, verb, tile, number)
        elif own_turn(st, rules, rin, out, seat, verb, number):
            discard(st, rules, tb, out, seat, verb, tile, number)
    elif st.phase == ENDED:
        flag(st, AFTER_END, number, seat if seat < 3 else -1, -1, -1)
        stop(st)
    elif st.phase == WON and (verb == V_EXHAUSTED or verb == V_ABORTED):
        flag(st, AFTER_END, number, -1, -1, -1)
        stop(st)
    elif verb == V_EXHAUSTED:
        exhausted(st, rules, tb, rin, out, number)
    elif verb == V_ABORTED:
        if st.phase == ADDED:
            complete_added(st, rules, rin, out)
        out.end = END_ABORTED
        st.phase = ENDED
    elif verb > V_ABORTED or seat > 2 or (tile > 20 and verb < V_REVEAL) or (verb == V_WIN and tile > 20):
        flag(st, BAD_CLAIM, number, -1, -1, -1)
        stop(st)
    elif st.phase == WON and verb != V_DECLINE and (verb != V_WIN or source > 2):  # only others' wins may follow
        flag(st, AFTER_END, number, seat, -1, -1)
        stop(st)
    elif verb == V_WIN:
        win(st, rules, tb, rin, out, seat, tile, source, number)
    elif verb == V_DECLINE:
        decline(st, rules, tb, out, seat, number)
    elif verb == V_REVEAL:
        reveal(st, rules, tb, rin, out, seat, event >> 6, number)
    elif verb == V_PUNG or verb == V_KONG:
        claim(st, rules, tb, rin, out, seat, verb, tile, source, number)
    elif own_turn(st, rules, rin, out, seat, verb, number):
        own_kong(st, rules, tb, rin, out, seat, verb, tile, number)


@inlined
def own_turn(st, rules, rin, out, seat, verb, number):
    """Whether the seat may act in its own turn; a kong left without its replacement makes a dead hand or a breach."""
    if st.phase == TURN and seat == st.turn:
        return True
    if (st.phase == KONGED or st.phase == ADDED) and seat == st.turn and verb != V_DISCARD_DRAWN:
        void = wall_left(st) == 0 and rules.kong_empty_wall == EMPTY_WALL_VOID
        if void or rules.dead_hand == DEAD_ALLOWED:
            if st.phase == ADDED:
                close_window(st, rules)
                complete_added(st, rules, rin, out)
            st.dead[seat] = 1
            st.phase = TURN
            st.drawn = -1
            st.may_win = 0
            st.after_kong = 0 if void else st.chain
            return True
    out_of_turn(st, seat, due_seat(st), number)
    return False


@inner
def draw(st, rules, tb, rin, out, seat, verb, tile, number):
    """A tile from the wall: the next seat's, or the konger's replacement."""
    replacement = verb == V_REPLACEMENT
    due = st.phase == KONGED or st.phase == ADDED if replacement else st.phase == DISCARDED
    if not due or seat != due_seat(st):
        out_of_turn(st, seat, due_seat(st), number)
        return
    if wall_left(st) == 0:
        flag(st, WRONG_REPLACEMENT if replacement else NOT_FROM_WALL, number, seat, tile, -1)
        stop(st)
        return
    close_window(st, rules)
    if replacement:
        if st.phase == ADDED:
            complete_added(st, rules, rin, out)
    else:
        st.chain = 0
    from_back = replacement and rules.wall_replacement == REPLACE_BACK
    expected = -1
    if st.has_wall:
        expected = st.wall[43 - st.back if from_back else st.front]
    if from_back:
        st.back += 1
    else:
        st.front += 1
    if st.has_wall and expected != tile:
        # A replacement from the front is a draw like any other: only one that is due from the back can be misplaced.
        flag(st, WRONG_REPLACEMENT if from_back else NOT_FROM_WALL, number, seat, tile, expected)
    if tile <= 20:  # replay.settlement draws tiles that nobody knows
        st.unseen[tile] -= 1
        if st.unseen[tile] < 0:
            # With a recorded wall the foreign draw is the breach already; without one the fifth copy is.
            if not st.has_wall:
                flag(st, FIFTH_TILE, number, seat, tile, -1)
            if st.hand[seat, tile] >= 4:
                stop(st)
                return
        add_tile(st, tb, seat, tile, 1)
    if rules.win_missed != MISSED_UNTIL_DISCARD:
        st.locked[seat] = 0
        st.lock_tile[seat] = 0
        st.lock_multiple[seat] = 0
    st.turn = seat
    st.last_drawer = seat
    st.drawn = tile
    st.may_win = 1
    st.punged = 0
    st.after_kong = st.chain if replacement else 0
    if not replacement:
        st.kongs_this_turn = 0
        st.passed = 0
    st.kong_discard = 0
    st.phase = TURN
    out.draws += 1


@inner
def discard(st, rules, tb, out, seat, verb, tile, number):
    """A tile to the table, which opens the claims on it."""
    if st.hand[seat, tile] == 0:
        flag(st, TILE_NOT_HELD, number, seat, tile, -1)
        stop(st)
        return
    settled = st.revealed[seat] != 0 and not st.revealing
    # Who lets go what it drew has the hand again that its last discard left.
    same = verb == V_DISCARD_DRAWN and st.drawn == tile and st.kongs_this_turn == 0 and not st.revealing
    if verb == V_DISCARD_DRAWN:
        if st.drawn != tile:
            flag(st, WRONG_DISCARD, number, seat, tile, st.drawn)
    elif settled:
        flag(st, CHANGED, number, seat, tile, st.drawn)
    elif st.drawn == tile and st.hand[seat, tile] == 1:
        flag(st, WRONG_DISCARD, number, seat, tile, st.drawn)
    elif rules.wall_last_discard == LAST_DRAWN and wall_left(st) == 0 and st.drawn >= 0:
        flag(st, MUST_DISCARD_DRAWN, number, seat, tile, st.drawn)
    if rules.reveal_no_feeding and not st.revealed[seat]:
        danger = 0
        for other in range(3):
            if other != seat and st.revealed[other]:
                danger |= st.waits[other]
        if danger >> tile & 1 and (rules.reveal_no_safe_tile == END_AND_PAY or has_safe_tile(st, seat, danger)):
            flag(st, FED_REVEALED, number, seat, tile, -1)
    if st.after_kong and not rules.kong_flag_survives_pass and not st.revealing:
        st.passed = 1 if lets_pass(st, rules, tb, seat) else 0
    if st.hidden[seat] >> tile & 1 and st.hand[seat, tile] <= 3:
        flag(st, BAD_HIDDEN, number, seat, tile, -1)
        st.hidden[seat] &= ~(1 << tile)
        same = False
    put_down(st, rules, tb, out, seat, tile, number, same)


@inlined
def put_down(st, rules, tb, out, seat, tile, number, same):
    """What a discard does to the table: the river, the reveal that it completes, the claims on it.

    same: the hand is the one whose waits stand in the state.
    """
    add_tile(st, tb, seat, tile, -1)
    st.shown[tile] += 1
    if not same:
        st.waits[seat] = waits_of(st, tb, seat)
    if st.revealing:
        if not st.waits[seat] and not st.dead[seat]:
            flag(st, NOT_READY, number, seat, tile, -1)
        note_reveal(st, out, seat)
    if rules.win_missed == MISSED_UNTIL_DISCARD:
        st.locked[seat] = 0
    st.kong_discard = st.after_kong
    if st.revealing and not rules.kong_flag_survives_reveal:
        st.kong_discard = 0
    if st.passed and not rules.kong_flag_survives_pass:
        st.kong_discard = 0
    st.judged_before = 1 if st.revealing and rules.reveal_discard_judged == JUDGED_BEFORE else 0
    st.revealing = 0
    st.drawn = -1
    st.may_win = 0
    open_window(st, rules, tb, seat, tile, DISCARD, DISCARDED)


@inner
def reveal(st, rules, tb, rin, out, seat, hidden, number):
    """A ready hand laid open: before the discard of the own turn, or between turns where the ruleset allows it."""
    between = rules.reveal_when == ANY_TIME and (st.phase == DISCARDED or seat != st.turn)
    if not between and (st.phase != TURN or seat != st.turn):
        out_of_turn(st, seat, due_seat(st), number)
        return
    if st.revealed[seat]:
        flag(st, CHANGED, number, seat, -1, -1)
        return
    if st.dead[seat]:
        flag(st, DEAD_HAND, number, seat, -1, -1)
    elif wall_left(st) < rules.reveal_min_wall:
        flag(st, REVEAL_NOT_ALLOWED, number, seat, wall_left(st), rules.reveal_min_wall)
    elif st.tiles[seat] < rules.reveal_min_hand:
        flag(st, REVEAL_NOT_ALLOWED, number, seat, st.tiles[seat], rules.reveal_min_hand)
    elif between and (st.can_win >> seat & 1 or st.locked[seat]):
        # A tile that it could have won lies open, or was missed since its last draw.
        flag(st, REVEAL_NOT_ALLOWED, number, seat, -1, -1)
    for kind in range(21):
        if hidden >> kind & 1 and (st.hand[seat, kind] < 3 or not rules.reveal_hide_triplets):
            flag(st, BAD_HIDDEN, number, seat, kind, -1)
            hidden &= ~(1 << kind)
            if not rules.reveal_hide_triplets:
                hidden = 0
                break
    st.hidden[seat] = hidden
    st.hidden_open[seat] = rules.reveal_hide_triplets and rin.hidden_open
    if between:
        if hidden:
            st.waits[seat] = waits_of(st, tb, seat)
        if not st.waits[seat] and not st.dead[seat]:
            flag(st, NOT_READY, number, seat, -1, -1)
    else:
        st.revealing = 1
        st.may_win = 0
        if not st.dead[seat] and not ready_with_discard(st, tb, seat):
            flag(st, NOT_READY, number, seat, -1, -1)
    n = out.reveals
    st.revealed[seat] = n + 1
    out.reveals = n + 1
    out.reveal_seat[n] = seat
    out.reveal_event[n] = number
    out.reveal_turn[n] = out.draws
    out.reveal_left[n] = wall_left(st)
    out.reveal_hidden[n] = hidden
    if between:
        note_reveal(st, out, seat)


@inner
def note_reveal(st, out, seat):
    """The waits that a reveal stands on, and how many of their tiles the revealer had not seen yet."""
    n = st.revealed[seat] - 1
    out.reveal_waits[n] = st.waits[seat]
    out.reveal_live[n] = live_own(st, seat, st.waits[seat])


@inner
def exhausted(st, rules, tb, rin, out, number):
    """The end without a winner: the wall is empty, or the seat to discard has no safe tile."""
    if st.phase == DISCARDED and wall_left(st) == 0:
        out.end = END_DRAW
        st.phase = ENDED
        return
    if st.phase == TURN and rules.reveal_no_feeding and rules.reveal_no_safe_tile == END_AND_PAY:
        seat = st.turn
        danger = 0
        for other in range(3):
            if other != seat and st.revealed[other]:
                danger |= st.waits[other]
        if danger and not st.revealed[seat]:
            if has_safe_tile(st, seat, danger):
                flag(st, SAFE_TILE_HELD, number, seat, -1, -1)
            settle_no_safe_tile(st, rules, tb, rin, out, seat)
            out.end = END_NO_SAFE_TILE
            st.phase = ENDED
            return
    flag(st, MISSING_EVENT, number, due_seat(st), -1, due_seat(st) + 4 * st.phase)
    stop(st)
