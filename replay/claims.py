"""The claim window: who may win an open tile, what passing it costs, what a revealed or careful seat may do."""

import numpy as np

from replay.fans import DISCARD, SELF_DRAW, evaluate
from replay.flags import wall_left
from replay.hand import add_tile, splits_without_triplet, suit_entry, waits_of
from replay.jit import inlined, inner
from replay.ruleset import mode
from replay.settle import meets_minimum, share

MISSED_OFF = mode("win.missed", "off")
MISSED_SAME_TILE = mode("win.missed", "same_tile")
MISSED_LARGER_ONLY = mode("win.missed", "larger_only")
KONG_WAITS_UNCHANGED = mode("reveal.kong_after", "waits_unchanged")
KONG_HIDDEN_ONLY = mode("reveal.kong_after", "hidden_only")
KONG_ANY = mode("reveal.kong_after", "any")
KONG_SAME_WAITS = mode("reveal.kong_after", "same_waits")


@inner
def lock_forbids(st, rules, seat, payer, kind):
    """Whether a missed win forbids this one (st.value is of this win where the value matters)."""
    if not st.locked[seat] or rules.win_missed == MISSED_OFF:
        return False
    if rules.win_missed == MISSED_SAME_TILE:
        return st.lock_tile[seat] >> kind & 1 != 0
    if rules.win_missed == MISSED_LARGER_ONLY:
        return share(rules, st.value, st.revealed[seat] != 0, st.revealed[payer] != 0) <= st.lock_multiple[seat]
    return True


@inlined
def open_window(st, rules, tb, seat, kind, by, phase):
    """Offer a discard, or the tile of an added kong, to the others; st.can_win becomes the seats that may win it."""
    st.phase = phase
    st.kind = kind
    st.by = by
    st.from_ = seat
    st.declined = 0
    st.can_win = 0
    if by != DISCARD and not rules.kong_robbable:
        return
    for step in range(1, 3):
        other = (seat + step) % 3
        if not st.waits[other] >> kind & 1 or st.dead[other]:
            continue
        needs_value = rules.win_discard_min > 1 or rules.win_missed == MISSED_LARGER_ONLY
        if needs_value:
            after_kong = st.kong_discard if by == DISCARD else 0
            if not evaluate(st, rules, tb, other, kind, by, after_kong, st.front + st.back == 44):
                continue
            if not meets_minimum(st, rules, st.value, other, seat, by, st.judged_before):
                continue
        if lock_forbids(st, rules, other, seat, kind):
            continue
        st.can_win |= 1 << other
        if rules.win_missed == MISSED_LARGER_ONLY:
            st.lock_multiple[other] = share(rules, st.value, st.revealed[other] != 0, st.revealed[seat] != 0)


@inner
def close_window(st, rules):
    """The play went on: whoever could have won the open tile has missed it."""
    missed = st.can_win
    st.can_win = 0
    if missed == 0:
        return
    for seat in range(3):
        if missed >> seat & 1:
            st.locked[seat] = 1
            st.lock_tile[seat] |= 1 << st.kind


@inner
def has_safe_tile(st, seat, danger):
    """Whether the hand holds a tile that no revealed seat waits for."""
    for kind in range(21):
        if st.hand[seat, kind] and not danger >> kind & 1:
            return True
    return False


@inner
def lets_pass(st, rules, tb, seat):
    """Whether the turn seat, about to discard its own tile, could have won, konged or revealed instead."""
    if st.drawn >= 0 and evaluate(st, rules, tb, seat, st.drawn, SELF_DRAW, st.after_kong, wall_left(st) == 0):
        if meets_minimum(st, rules, st.value, seat, -1, SELF_DRAW, 0):
            return True
    danger = 0
    for other in range(3):
        if other != seat and st.revealed[other]:
            danger |= st.waits[other]
    for kind in range(21):
        if st.hand[seat, kind] == 0:
            continue
        if wall_left(st) > 0 and (st.hand[seat, kind] == 4 or st.pung[seat] >> kind & 1):
            return True
        if not st.revealed[seat] and not danger >> kind & 1 and st.tiles[seat] >= rules.reveal_min_hand:
            add_tile(st, tb, seat, kind, -1)
            ready = waits_of(st, tb, seat) != 0
            add_tile(st, tb, seat, kind, 1)
            if ready:
                return True
    return False


@inner
def kong_keeps_waits(st, rules, tb, seat, tile, count):
    """Whether a revealed seat may make this concealed (count 4) or exposed (3) kong (reveal.kong_after).

    The waits must stay exactly the same, and the three tiles be a triplet in every reading of the hand (under
    "same_waits" they need not).
    """
    if rules.reveal_kong_after == KONG_ANY:
        return True
    if rules.reveal_kong_after == KONG_HIDDEN_ONLY:
        return st.hidden[seat] >> tile & 1 != 0 or st.hidden_open[seat] != 0
    if rules.reveal_kong_after != KONG_WAITS_UNCHANGED and rules.reveal_kong_after != KONG_SAME_WAITS:
        return False
    # The tiles that are ready: for a concealed kong without this turn's draw, which must be the fourth.
    if count == 4:
        if st.drawn != tile and not st.revealing:
            return False
        add_tile(st, tb, seat, tile, -1)
    keeps = st.hand[seat, tile] == 3 and triplet_stands_apart(st, rules, tb, seat, tile)
    if count == 4:
        add_tile(st, tb, seat, tile, 1)
    return keeps


@inner
def triplet_stands_apart(st, rules, tb, seat, tile):
    """Whether a ready hand waits for the same tiles without the triplet, and uses it as one in every reading asked."""
    waits = waits_of(st, tb, seat)
    hidden = st.hidden[seat]
    add_tile(st, tb, seat, tile, -3)
    st.hidden[seat] = hidden & ~(1 << tile)
    same = waits != 0 and (waits_of(st, tb, seat) & ~(1 << tile)) == waits
    st.hidden[seat] = hidden
    add_tile(st, tb, seat, tile, 3)
    if not same:
        return False
    if hidden >> tile & 1 or rules.reveal_kong_after == KONG_SAME_WAITS:
        return True
    for wait in range(21):
        if waits >> wait & 1:
            add_tile(st, tb, seat, wait, 1)
            other = other_reading(st, tb, seat, tile)
            add_tile(st, tb, seat, wait, -1)
            if other:
                return False
    return True


@inner
def other_reading(st, tb, seat, tile):
    """Whether the complete hand has a reading in which the tiles of this kind are no triplet."""
    if st.melds[seat] == 0 and st.odd[seat] == 0 and st.tiles[seat] == 14:
        return True
    if tile >= 18:
        return False
    part = tile // 9
    x = suit_entry(tb, st.key[seat, 1 - part])
    z = np.int64(tb.dragon[st.key[seat, 2]])
    others_melds = x & z & 1 != 0
    others_pair = (x & 1 != 0 and z & 2 != 0) or (x & 2 != 0 and z & 1 != 0)
    if others_melds and splits_without_triplet(st.hand[seat, part * 9 : part * 9 + 9], tile % 9, 1):
        return True
    return others_pair and splits_without_triplet(st.hand[seat, part * 9 : part * 9 + 9], tile % 9, 0)


@inner
def live_own(st, seat, kinds):
    """Copies of some kinds that a seat has not seen: not in its hand and melds, not discarded, not in others' melds or
    revealed hands; triplets that those keep face down are not seen."""
    live = 0
    for kind in range(21):
        if kinds >> kind & 1:
            live += 4 - st.hand[seat, kind] - st.shown[kind]
            for other in range(3):
                if other != seat and st.revealed[other]:
                    live -= st.hand[other, kind] - (3 if st.hidden[other] >> kind & 1 else 0)
    return live
