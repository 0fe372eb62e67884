"""Pungs and kongs: what they ask of the hand and the wall, and the chain of kongs (rules.md sections 2 and 5)."""

from ingest import events
from replay.claims import close_window, kong_keeps_waits, open_window
from replay.fans import ROB
from replay.flags import due_seat, flag, out_of_turn, stop, wall_left
from replay.hand import add_tile, waits_of
from replay.jit import inner
from replay.problems import CODE
from replay.ruleset import mode
from replay.settle import settle_kong
from replay.state import ADDED, DISCARDED, KONGED, MAX_KONGS, TURN

V_PUNG, V_CONCEALED = events.PUNG, events.CONCEALED_KONG
BAD_CLAIM, KONG_TOO_LATE, KONG_HELD = CODE["bad_claim"], CODE["kong_too_late"], CODE["kong_held"]
KONG_ON_EMPTY_WALL, CHANGED, TILE_NOT_HELD = (
    CODE["kong_on_empty_wall"],
    CODE["changed_after_reveal"],
    CODE["tile_not_held"],
)
EMPTY_WALL_VOID = mode("kong.empty_wall", "void")
EXPOSED, ADDED_KIND, CONCEALED = range(3)  # as in problems.KONGS


@inner
def claim(st, rules, tb, rin, out, seat, verb, tile, source, number):
    """A pung or an exposed kong of the last discard."""
    if st.phase != DISCARDED:
        out_of_turn(st, seat, due_seat(st), number)
        return
    need = 2 if verb == V_PUNG else 3
    own = seat == st.from_ or st.declined >> seat & 1
    if own or source != st.from_ or tile != st.kind or st.hand[seat, tile] < need:
        flag(st, BAD_CLAIM, number, seat, tile, st.kind)
        if st.hand[seat, st.kind] < need or tile != st.kind or seat == st.from_:
            stop(st)
            return
    if verb == V_PUNG:
        if st.revealed[seat]:
            flag(st, CHANGED, number, seat, tile, -1)
        elif wall_left(st) == 0 and not rules.wall_last_pung:
            flag(st, BAD_CLAIM, number, seat, tile, -1)
        close_window(st, rules)
        if st.hand[seat, tile] == 3:
            st.pung_of_three[seat] |= 1 << tile
        add_tile(st, tb, seat, tile, -2)
        st.shown[tile] += 2
        st.pung[seat] |= 1 << tile
        st.melds[seat] += 1
        out.pungs[seat] += 1
        st.chain = 0
        st.phase = TURN
        st.punged = 1
    else:
        void = wall_left(st) == 0 and rules.kong_empty_wall == EMPTY_WALL_VOID
        if wall_left(st) == 0 and not void:
            flag(st, KONG_ON_EMPTY_WALL, number, seat, tile, -1)
        if st.revealed[seat] and not kong_keeps_waits(st, rules, tb, seat, tile, 3):
            flag(st, CHANGED, number, seat, tile, -1)
        close_window(st, rules)
        if not rules.kong_chain_across:
            st.chain = 0
        add_tile(st, tb, seat, tile, -3)
        st.shown[tile] += 3
        st.exposed[seat] |= 1 << tile
        st.melds[seat] += 1
        st.hidden[seat] &= ~(1 << tile)
        make_kong(st, rules, rin, out, seat, EXPOSED, tile, st.from_, void, number)
        if st.revealed[seat]:
            st.waits[seat] = waits_of(st, tb, seat)
            tells_hidden(st, out, seat, tile)
    st.turn = seat
    st.drawn = -1
    st.may_win = 0
    st.after_kong = 0
    st.kong_discard = 0
    if verb == V_PUNG:
        st.kongs_this_turn = 0
        st.passed = 0


@inner
def tells_hidden(st, out, seat, tile):
    """A revealed seat made a concealed or exposed kong: where the log does not name hidden triplets, this was one."""
    if st.hidden_open[seat]:
        out.reveal_hidden[st.revealed[seat] - 1] |= 1 << tile


@inner
def make_kong(st, rules, rin, out, seat, kind, tile, source, void, number):
    """Note a kong; pay it and take its place in the chain unless it is void or can still be robbed."""
    if out.kongs >= MAX_KONGS:
        stop(st)
        return
    n = out.kongs
    out.kongs = n + 1
    out.kong_event[n] = number
    out.kong_seat[n] = seat
    out.kong_kind[n] = kind
    out.kong_tile[n] = tile
    out.kong_from[n] = source
    out.kong_chain[n] = st.chain + 1
    out.kong_points[n] = 0
    out.kong_robbed[n] = 0
    st.kongs_this_turn += 1
    st.phase = ADDED if kind == ADDED_KIND else KONGED
    if not void and kind != ADDED_KIND:
        st.chain += 1
        settle_kong(st, rules, rin, out, n)


@inner
def complete_added(st, rules, rin, out):
    """Nobody robbed the added kong: it counts, unless it was made on an empty wall."""
    if wall_left(st) > 0 or rules.kong_empty_wall != EMPTY_WALL_VOID:
        st.chain += 1
        settle_kong(st, rules, rin, out, out.kongs - 1)


@inner
def own_kong(st, rules, tb, rin, out, seat, verb, tile, number):
    """A concealed kong, or an added one, which can be robbed."""
    concealed = verb == V_CONCEALED
    if st.hand[seat, tile] < (4 if concealed else 1):
        flag(st, TILE_NOT_HELD, number, seat, tile, -1)
        stop(st)
        return
    if not concealed and not st.pung[seat] >> tile & 1:
        flag(st, BAD_CLAIM, number, seat, tile, -1)
        stop(st)
        return
    void = wall_left(st) == 0 and rules.kong_empty_wall == EMPTY_WALL_VOID
    if wall_left(st) == 0 and not void:
        flag(st, KONG_ON_EMPTY_WALL, number, seat, tile, -1)
    if st.punged and not rules.kong_after_pung:
        flag(st, BAD_CLAIM if concealed else KONG_TOO_LATE, number, seat, tile, -1)
    elif not concealed and rules.kong_added_only_when_drawn and tile != st.drawn:
        flag(st, KONG_TOO_LATE, number, seat, tile, st.drawn)
    elif not concealed and not rules.kong_added_after_three and st.pung_of_three[seat] >> tile & 1:
        flag(st, KONG_TOO_LATE, number, seat, tile, st.drawn)
    elif concealed and not rules.kong_concealed_any_time and tile != st.drawn and st.drawn >= 0:
        flag(st, KONG_TOO_LATE, number, seat, tile, st.drawn)
    elif rules.kong_one_held_per_turn and st.kongs_this_turn > 0 and tile != st.drawn:
        flag(st, KONG_HELD, number, seat, tile, st.drawn)
    if concealed:
        settled = st.revealed[seat] != 0 and not st.revealing
        if st.revealed[seat] and not kong_keeps_waits(st, rules, tb, seat, tile, 4):
            flag(st, CHANGED, number, seat, tile, -1)
        add_tile(st, tb, seat, tile, -4)
        st.shown[tile] += 4
        st.concealed[seat] |= 1 << tile
        st.melds[seat] += 1
        st.hidden[seat] &= ~(1 << tile)
        make_kong(st, rules, rin, out, seat, CONCEALED, tile, -1, void, number)
        if settled:
            st.waits[seat] = waits_of(st, tb, seat)
            tells_hidden(st, out, seat, tile)
    else:
        if st.revealed[seat] and not rules.reveal_added_kong:
            flag(st, CHANGED, number, seat, tile, -1)
        add_tile(st, tb, seat, tile, -1)
        st.shown[tile] += 1
        st.pung[seat] &= ~(1 << tile)
        st.added[seat] |= 1 << tile
        make_kong(st, rules, rin, out, seat, ADDED_KIND, tile, -1, void, number)
        st.judged_before = 0
        open_window(st, rules, tb, seat, tile, ROB, ADDED)
    st.drawn = -1
    st.may_win = 0
