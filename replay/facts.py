"""Facts about how each seat fared in a round: a second pass over it, on the same table.

Replays a round event by event and notes, before and after each, how far every hand is from ready, what its draws were
worth, what was offered to it and what it let pass.  What the table offers is asked of the table itself: where a rule
decides (a kong), the event is tried on a copy (replay.offers).  Rounds whose replay stops, or that name no draws, have
no facts.

*Own view*: what the seat could see: its hand, rivers, melds, hands laid open (not triplets face down).  *In truth*:
what is still in the wall, which is what the next draw is drawn from.  docs/tables.md says every column.
"""

import numpy as np

from ingest import events
from replay.aims import note_aims, start_aims
from replay.choices import note_choice, note_horse
from replay.claims import has_safe_tile, live_own
from replay.flags import wall_left
from replay.hand import popcount, waits_of
from replay.jit import inner, jit
from replay.loop import clear, deal
from replay.offers import allow, close_tile, leave_turn, next_kong, open_tile, own_turn
from replay.shanten import shanten, useful_kinds
from replay.table import REPLACE_BACK, apply
from replay.watch import MOST_DISCARDS, NEVER, UNIT

V_DRAW, V_REPLACEMENT, V_DISCARD, V_DISCARD_DRAWN = range(4)  # as in events.VERBS
V_PUNG, V_KONG, V_CONCEALED, V_ADDED = events.PUNG, events.KONG, events.CONCEALED_KONG, events.ADDED_KONG
V_REVEAL, V_WIN, V_DECLINE, V_ABORTED = events.REVEAL, events.WIN, events.DECLINE, events.ABORTED
NONE = events.NO_SEAT


@inner
def begin(f, w, st, rules, tb, sh):
    """The dealt hands, and what the dealer's turn offers."""
    w.turn = -1
    w.open = 0
    w.caller = -1
    w.asked = 0
    w.ask_concealed = 0
    w.ask_added = 0
    w.ask_kong = 0
    for seat in range(3):
        w.noted[seat] = 0
        w.waits[seat] = 0
        w.fours[seat] = 0
        w.melds[seat] = -1
        w.concealed_offered[seat] = 0
        w.added_offered[seat] = 0
        w.concealed_made[seat] = 0
        w.added_made[seat] = 0
        f.ready_turn[seat] = NEVER
        f.ready_event[seat] = NEVER
        f.reveal_live_own[seat] = NEVER
        f.reveal_live_true[seat] = NEVER
        f.first_missed_event[seat] = NEVER
        f.start_tiles[seat] = st.tiles[seat]
        f.start_shanten[seat] = shanten(st, sh, seat)
        first = 0
        second = 0
        for kind in range(21):
            held = st.hand[seat, kind]
            f.start_pairs[seat] += 1 if held >= 2 else 0
            f.start_triplets[seat] += 1 if held >= 3 else 0
            if held == 4:
                w.fours[seat] |= 1 << kind
            if kind < 9:
                first += held
            elif kind < 18:
                second += held
            else:
                f.start_dragons[seat] += held
        f.start_suit_tiles[seat] = max(first, second)
        start_aims(f, st, w, rules, sh, tb, seat)
        w.away[seat] = f.start_shanten[seat]
        if st.tiles[seat] == 14 and w.away[seat] < 0:  # a dealt win
            note_aims(f, st, w, rules, sh, tb, seat)
        if st.tiles[seat] == 13:
            rest(f, w, st, rules, tb, sh, seat, -1)
    own_turn(w, st, rules, tb, st.turn, -1, f.start_shanten[st.turn] < 0)


@inner
def rest(f, w, st, rules, tb, sh, seat, number):
    """The hand has as many tiles as between turns: how far it is, and what it waits for, first and when revealed."""
    if not same_hand(w, st, seat):
        w.away[seat] = shanten(st, sh, seat)
        if not st.dead[seat]:
            note_aims(f, st, w, rules, sh, tb, seat)
    waits = waits_of(st, tb, seat) if w.away[seat] <= 0 else 0
    w.waits[seat] = waits
    if waits and f.ready_turn[seat] == NEVER:
        f.ready_turn[seat] = f.discards[seat]
        f.ready_event[seat] = number
        f.ready_waits[seat] = waits
        f.ready_live_own[seat] = live_own(st, seat, waits)
        f.ready_live_true[seat] = copies(st.unseen, waits)
        f.ready_left[seat] = wall_left(st)
    if st.revealed[seat] and not w.noted[seat]:
        w.noted[seat] = 1
        f.reveal_live_own[seat] = live_own(st, seat, waits)
        f.reveal_live_true[seat] = copies(st.unseen, waits)


@inner
def same_hand(w, st, seat):
    """Whether the hand is as it was when last asked: the tile drawn has been discarded."""
    same = w.melds[seat] == st.melds[seat]
    w.melds[seat] = st.melds[seat]
    for part in range(3):
        same = same and w.key[seat, part] == st.key[seat, part]
        w.key[seat, part] = st.key[seat, part]
    return same


@inner
def copies(live, kinds):
    """Tiles of a set of kinds in `live`, int64[21]."""
    tiles = 0
    for kind in range(21):
        if kinds >> kind & 1:
            tiles += max(live[kind], 0)
    return tiles


@inner
def note_draw(f, w, st, tb, sh, row, seat, tile, replacement, from_back, number):
    """A tile is about to be drawn: what the wall could have given and gives."""
    left = wall_left(st)
    ready = w.waits[seat] != 0
    kinds = w.waits[seat]
    useful = 0
    if ready:
        useful = copies(st.unseen, kinds)
    elif not st.dead[seat]:
        kinds, useful = useful_kinds(st, tb, sh, seat, st.unseen)
    hit = kinds >> tile & 1
    chance = np.float64(min(useful, left)) / np.float64(left)
    expected = np.rint(chance / UNIT) * UNIT
    variance = np.rint(chance * (1.0 - chance) / UNIT) * UNIT
    f.draws[seat] += 1
    f.useful_draws[seat] += hit
    f.useful_expected[seat] += expected
    f.useful_variance[seat] += variance
    if ready:
        f.ready_draws[seat] += 1
        f.ready_hits[seat] += hit
        f.ready_expected[seat] += expected
        f.ready_variance[seat] += variance
    if st.revealed[seat]:
        f.revealed_draws[seat] += 1
        f.revealed_hits[seat] += hit
        f.revealed_expected[seat] += expected
        f.revealed_variance[seat] += variance
    if replacement:
        f.draws_behind[seat] += 1
        f.replacement_hits[seat] += hit
        f.replacement_expected[seat] += expected
        f.replacement_variance[seat] += variance
    row.n = st.front + st.back
    row.event = number
    row.seat = seat
    row.tile = tile
    row.place = 43 - st.back if from_back else st.front
    row.behind = replacement
    row.remaining = left
    row.same = max(st.unseen[tile], 0)
    row.shanten = w.away[seat]
    row.useful = useful
    row.hit = hit != 0
    row.ready = ready
    row.revealed = st.revealed[seat] != 0
    row.caller = w.caller
    w.caller = -1


@inner
def note_discard(f, w, st, tb, sh, seat, tile):
    """A discard of a seat that may choose, and whether another hand lies open."""
    if st.revealed[seat] and not st.revealing:
        return
    note_choice(f, w, st, tb, sh, seat, tile)
    danger = 0
    opened = False
    for other in range(3):
        if other != seat and st.revealed[other]:
            opened = True
            danger |= st.waits[other]
    if opened:
        f.discards_into_revealed[seat] += 1
        if danger >> tile & 1:
            f.dangerous_discards[seat] += 1
            f.careless_discards[seat] += 1 if has_safe_tile(st, seat, danger) else 0


@inner
def before(f, w, st, rules, tb, sh, rin, verb, seat, tile, source):
    """What an event says of the offers before it, and of the tile that it puts down."""
    if verb == V_WIN:
        if source == NONE:
            leave_turn(f, w, True)
            note_horse(f, st, rules, rin, seat, tile)
        else:
            w.taken |= 1 << seat
    elif verb == V_ABORTED:
        w.open = 0
        w.turn = -1
    elif verb != V_DECLINE and verb != V_REVEAL:
        close_tile(f, w, seat if verb == V_PUNG or verb == V_KONG else -1, verb == V_KONG)
        leave_turn(f, w, False)
        if verb == V_DISCARD or verb == V_DISCARD_DRAWN:
            note_discard(f, w, st, tb, sh, seat, tile)


@inner
def after(f, w, st, rules, tb, sh, verb, seat, tile, number, complete):
    """How the hands stand after an event, and what it offers."""
    if verb == V_DRAW or verb == V_REPLACEMENT:
        if st.hand[seat, tile] == 4:
            w.fours[seat] |= 1 << tile
        own_turn(w, st, rules, tb, seat, number, complete)
    elif verb == V_DISCARD or verb == V_DISCARD_DRAWN:
        n = f.discards[seat]
        f.discards[seat] = n + 1
        rest(f, w, st, rules, tb, sh, seat, number)
        if n < MOST_DISCARDS:
            f.shanten[seat, n] = w.away[seat]
        open_tile(w, st, rules, number)
    elif verb == V_REVEAL:
        if not st.revealing:  # between turns
            rest(f, w, st, rules, tb, sh, seat, number)
    elif V_PUNG <= verb and verb <= V_ADDED:
        w.caller = seat
        if verb == V_PUNG:
            own_turn(w, st, rules, tb, seat, number, False)
        else:
            rest(f, w, st, rules, tb, sh, seat, number)
        if verb == V_CONCEALED:
            w.concealed_offered[seat] |= 1 << tile
            w.concealed_made[seat] |= 1 << tile
        elif verb == V_ADDED:
            w.added_made[seat] |= 1 << tile
            open_tile(w, st, rules, number)


@inner
def finish(f, w, st, sh, out):
    """The end of the round."""
    close_tile(f, w, -1, False)
    for n in range(out.wins):
        payer = out.win_from[n]
        if payer >= 0:
            if w.waits[payer]:
                f.dealt_in_ready[payer] = 1
            if st.revealed[out.win_seat[n]]:
                f.dealt_into_revealed[payer] = 1
    for seat in range(3):
        offered = w.concealed_offered[seat]
        f.kongs_offered[seat] += popcount(offered)
        f.kongs_declined[seat] += popcount(offered & ~w.concealed_made[seat])
        offered = w.added_offered[seat]
        f.kongs_offered[seat] += popcount(offered)
        f.kongs_declined[seat] += popcount(offered & ~w.added_made[seat])
        f.reveal_order[seat] = st.revealed[seat]
        f.final_shanten[seat] = shanten(st, sh, seat)
        f.final_waits[seat] = w.waits[seat]
        f.final_live_true[seat] = copies(st.unseen, w.waits[seat])


@jit
def run(rounds, events_, chosen, rules, tb, sh, st, w, out, facts, draws):
    """The facts of rounds[chosen], whose replay is known to come to an end; returns the draws noted.

    rounds: state.ROUND[n]; events_: uint32; facts: FACTS[len(chosen)], zeroed; draws: DRAW[], room for all.
    """
    rows = 0
    for i in range(len(chosen)):
        rin = rounds[chosen[i]]
        rule = rules[rin.rules]
        f = facts[i]
        clear(out)
        deal(st, rule, tb, rin)
        begin(f, w, st, rule, tb, sh)
        for place in range(rin.start, rin.stop):
            while w.asked:  # what the event before may allow
                event = next_kong(w, st, rule)
                if event >= 0:
                    w.trial = st
                    w.trial_out.kongs = out.kongs  # all that a kong reads of it
                    w.trial_out.ledger = out.ledger
                    apply(w.trial, rule, tb, rin, w.trial_out, event, -2)
                    if w.trial.problems == st.problems and not w.trial.stopped:
                        allow(w, event)
            event = np.int64(events_[place])
            number = place - rin.start
            seat = event & 3
            verb = event >> 2 & 15
            tile = event >> 6 & 31
            before(f, w, st, rule, tb, sh, rin, verb, seat, tile, event >> 11 & 3)
            complete = False
            if verb == V_DRAW or verb == V_REPLACEMENT:
                complete = w.waits[seat] >> tile & 1 != 0
                draws[rows].row = i
                from_back = verb == V_REPLACEMENT and rule.wall_replacement == REPLACE_BACK
                note_draw(f, w, st, tb, sh, draws[rows], seat, tile, verb == V_REPLACEMENT, from_back, number)
                rows += 1
            apply(st, rule, tb, rin, out, event, number)
            after(f, w, st, rule, tb, sh, verb, seat, tile, number, complete)
        finish(f, w, st, sh, out)
    return rows
