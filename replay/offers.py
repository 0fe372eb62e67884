"""What the table offers to a seat, and what the seat lets pass: wins, kongs, pungs (see replay.facts).

Where a rule of its own decides (a kong) the table is asked: replay.facts tries the event on a copy.
"""

from ingest import events
from replay.claims import KONG_HIDDEN_ONLY
from replay.fans import DISCARD, SELF_DRAW, evaluate
from replay.flags import wall_left
from replay.jit import inner
from replay.settle import meets_minimum

V_KONG, V_CONCEALED, V_ADDED, NONE = events.KONG, events.CONCEALED_KONG, events.ADDED_KONG, events.NO_SEAT


@inner
def own_turn(w, st, rules, tb, seat, number, complete):
    """What a turn offers to the seat: the win of a complete hand, and (to be asked) kongs."""
    w.turn = seat
    w.turn_event = number
    w.self_draw = 0
    w.concealed = 0
    w.added = 0
    if complete:
        for kind in range(21):
            if (kind == st.drawn or st.drawn < 0) and st.hand[seat, kind] and not w.self_draw:
                if evaluate(st, rules, tb, seat, kind, SELF_DRAW, st.after_kong, wall_left(st) == 0):
                    if meets_minimum(st, rules, st.value, seat, -1, SELF_DRAW, 0):
                        w.self_draw = 1
    w.ask_concealed = w.fours[seat]
    w.ask_added = st.pung[seat]
    w.asked = w.ask_concealed | w.ask_added


@inner
def next_kong(w, st, rules):
    """A kong of which the table is to be asked, as an event, and taken off the list; -1 when none is left."""
    seat = w.turn
    for kind in range(21):
        if w.ask_concealed >> kind & 1:
            w.ask_concealed &= ~(1 << kind)
            if st.hand[seat, kind] == 4 and told(st, rules, seat, kind):
                return seat | V_CONCEALED << 2 | kind << 6 | NONE << 11
        if w.ask_added >> kind & 1:
            w.ask_added &= ~(1 << kind)
            if st.hand[seat, kind]:
                return seat | V_ADDED << 2 | kind << 6 | NONE << 11
    for other in range(3):
        if w.ask_kong >> other & 1:
            w.ask_kong &= ~(1 << other)
            if told(st, rules, other, st.kind):
                return other | V_KONG << 2 | st.kind << 6 | st.from_ << 11
    w.asked = 0
    return -1


@inner
def told(st, rules, seat, kind):
    """Whether the log tells that the seat may kong these three.

    After a reveal that leaves open what lies face down, where only that may be konged, it tells of kongs made alone.
    """
    if rules.reveal_kong_after != KONG_HIDDEN_ONLY or not st.revealed[seat] or not st.hidden_open[seat]:
        return True
    return st.hidden[seat] >> kind & 1 != 0


@inner
def allow(w, event):
    """The table takes this kong."""
    verb = event >> 2 & 15
    kind = event >> 6 & 31
    if verb == V_CONCEALED:
        w.concealed |= 1 << kind
    elif verb == V_ADDED:
        w.added |= 1 << kind
    else:
        w.kong |= 1 << (event & 3)


@inner
def leave_turn(f, w, won):
    """The turn went on, or its seat won: what it offered counts, what was not taken was passed."""
    seat = w.turn
    if seat < 0:
        return
    w.turn = -1
    if w.self_draw:
        f.self_draws_offered[seat] += 1
        if not won:
            f.self_draws_missed[seat] += 1
        offered_win(f, seat, won, w.turn_event)
    if not won:
        w.concealed_offered[seat] |= w.concealed
        w.added_offered[seat] |= w.added


@inner
def offered_win(f, seat, taken, number):
    """A win was offered to the seat at an event."""
    f.wins_offered[seat] += 1
    if not taken:
        if f.wins_missed[seat] == 0:
            f.first_missed_event[seat] = number
        f.wins_missed[seat] += 1


@inner
def open_tile(w, st, rules, number):
    """What the tile just put down offers to the two others."""
    w.open = 1
    w.open_event = number
    w.win = st.can_win
    w.taken = 0
    w.pung = 0
    w.kong = 0
    if st.by != DISCARD:
        return
    for step in range(1, 3):
        other = (st.from_ + step) % 3
        held = st.hand[other, st.kind]
        if held >= 2 and not st.revealed[other] and (wall_left(st) > 0 or rules.wall_last_pung):
            w.pung |= 1 << other
        if held >= 3:
            w.ask_kong |= 1 << other
            w.asked = 1


@inner
def close_tile(f, w, taker, kong):
    """The claims on a tile are over: it was won (w.taken), punged or konged by `taker`, or (-1) left to lie."""
    if not w.open:
        return
    w.open = 0
    for seat in range(3):
        if w.win >> seat & 1:
            offered_win(f, seat, w.taken >> seat & 1 != 0, w.open_event)
        if w.taken:  # a win goes before the other claims
            continue
        if w.pung >> seat & 1:
            f.pungs_offered[seat] += 1
            f.pungs_declined[seat] += 0 if taker == seat else 1
        made = taker == seat and kong
        if w.kong >> seat & 1 or made:
            f.kongs_offered[seat] += 1
            f.kongs_declined[seat] += 0 if made else 1
