"""The decisions of a seat in a round: what it could have done, what it did, and what each option leads to at once.

A decision is one of two kinds.  *Turn*: the seat has a tile too many and wins, kongs, or discards, the last two with
or without a reveal.  *Claim*: another seat's tile lies open, and it wins it, pungs or kongs it, or passes.  What is
legal is asked of the table itself: every option is tried on a copy of it.  Only choices of two or more count.  Not
looked at: reveals between turns, refusals that the log spells out, a kong left without its replacement, and a kong
after a reveal that may leave no legal discard.

Facts are those of the seat's own view: shanten and useful tiles after the option, waits, live copies (neither in its
own hand nor open on the table), and the revealed seats that wait for a discard.
"""

import numpy as np

from ingest import events
from ingest.tiles import KINDS
from replay.fans import SELF_DRAW, evaluate
from replay.flags import wall_left
from replay.hand import add_tile, waits_of
from replay.jit import inner, jit
from replay.loop import clear, deal
from replay.policy import event_of, live_among, see_live
from replay.shanten import shanten
from replay.state import ADDED, DISCARDED, TURN
from replay.table import apply

V_DRAW, V_REPLACEMENT, V_DISCARD, V_DISCARD_DRAWN = (
    events.DRAW, events.REPLACEMENT, events.DISCARD, events.DISCARD_DRAWN,
)  # fmt: skip
V_PUNG, V_KONG, V_CONCEALED, V_ADDED = events.PUNG, events.KONG, events.CONCEALED_KONG, events.ADDED_KONG
V_REVEAL, V_WIN, V_PASS = events.REVEAL, events.WIN, events.DECLINE
V_EXHAUSTED, V_ABORTED = events.EXHAUSTED, events.ABORTED
NONE, NO_TILE = events.NO_SEAT, events.NO_TILE

MOST_OPTIONS = 64  # of a decision: 14 kinds and 4 kongs, each with or without a reveal, fit easily
MOST_DECISIONS = 160  # of the seats of one round: a turn for each of 48 tiles in hand, and claims
OPTION = np.dtype(
    [
        ("reveal", np.int64),  # 1: a reveal goes before
        ("hidden", np.int64),  # triplets that it keeps face down, bit set
        ("verb", np.int64),  # DECLINE is a pass, EXHAUSTED the end for want of a safe tile
        ("tile", np.int64),  # -1: none
        ("shanten", np.int64),  # after it; -1: won
        ("useful", np.int64),  # kinds that then bring the hand nearer, bit set; 0 where a discard is due first
        ("useful_live", np.int64),
        ("waits", np.int64),  # kinds that then win
        ("waits_live", np.int64),
        ("danger", np.int64),  # revealed seats that wait for the discard, bit set
    ]
)
DECISION = np.dtype(
    [
        ("event", np.int64),  # the table stands before this event (index): the frame in which the seat decides
        ("seat", np.int64),
        ("claim", np.int64),  # 1: of another seat's tile
        ("first", np.int64),  # its options are [first, first + count)
        ("count", np.int64),
        ("played", np.int64),  # index within them
        ("shanten", np.int64),  # before
        ("wall_left", np.int64),
        ("live", np.int64, (KINDS,)),  # unseen copies of each kind
    ]
)


@inner
def legal(sim, rules, tb, rin, first, then):
    """Whether the table takes an event, or two in a row (first -1: only one); sim.trial is the table after it."""
    sim.trial = sim.st
    sim.trial_out = sim.out
    if first >= 0:
        apply(sim.trial, rules, tb, rin, sim.trial_out, first, 0)
    if sim.trial.problems == sim.st.problems and not sim.trial.stopped:
        apply(sim.trial, rules, tb, rin, sim.trial_out, then, 0)
    return sim.trial.problems == sim.st.problems and not sim.trial.stopped


@inner
def useful_kinds(st, tb, sh, seat):
    """The kinds that bring a hand nearer, as a bit set; none of which the seat itself holds all four."""
    away = shanten(st, sh, seat)
    kongs = st.exposed[seat] | st.added[seat] | st.concealed[seat]
    kinds = 0
    for kind in range(21):
        own = st.hand[seat, kind] + (3 if st.pung[seat] >> kind & 1 else 0) + (4 if kongs >> kind & 1 else 0)
        if own < 4:
            add_tile(st, tb, seat, kind, 1)
            if shanten(st, sh, seat) < away:
                kinds |= 1 << kind
            add_tile(st, tb, seat, kind, -1)
    return kinds


@inner
def note(sim, tb, sh, seat, options, n, reveal, hidden, verb, tile):
    """Write option n and the facts of sim.trial, the table after it."""
    st = sim.trial
    one = options[n]
    one.reveal = reveal
    one.hidden = hidden
    one.verb = verb
    one.tile = tile
    one.useful = 0
    one.waits = 0
    one.danger = 0
    if verb == V_WIN or verb == V_EXHAUSTED:
        one.shanten = -1 if verb == V_WIN else shanten(sim.st, sh, seat)
    else:
        one.shanten = shanten(st, sh, seat)
    if verb != V_WIN and verb != V_PUNG and verb != V_EXHAUSTED:
        one.useful = useful_kinds(st, tb, sh, seat)
        one.waits = waits_of(st, tb, seat)
    one.useful_live = live_among(sim, one.useful)
    one.waits_live = live_among(sim, one.waits)
    if verb == V_DISCARD:
        for other in range(3):
            if other != seat and sim.st.revealed[other] and sim.st.waits[other] >> tile & 1:
                one.danger |= 1 << other
    return n + 1


@inner
def hiding(st, rules, tb, seat):
    """Triplets that a hand about to be laid open can keep face down and still be ready with some discard."""
    hidden = 0
    if rules.reveal_hide_triplets:
        for kind in range(21):
            if st.hand[seat, kind] >= 3:
                st.hidden[seat] = hidden | 1 << kind
                for discard in range(21):
                    spare = st.hand[seat, discard] - (3 if st.hidden[seat] >> discard & 1 else 0)
                    if spare > 0:
                        add_tile(st, tb, seat, discard, -1)
                        if waits_of(st, tb, seat):
                            hidden |= 1 << kind
                        add_tile(st, tb, seat, discard, 1)
        st.hidden[seat] = 0
    return hidden


@inner
def list_turn(sim, rules, tb, sh, rin, seat, reveal, hidden, options, first):
    """The options of a turn, all after a reveal or all without one; returns how many options there then are.

    Discards are listed as V_DISCARD, of the tile just drawn too.
    """
    st = sim.st
    n = first
    before = seat | V_REVEAL << 2 | hidden << 6 if reveal else -1
    if not reveal and st.may_win:
        tile = st.drawn
        value = 0
        for kind in range(21):  # the dealer's first hand: the tile that makes it worth most
            if st.drawn < 0 and st.hand[seat, kind]:
                if evaluate(st, rules, tb, seat, kind, np.int64(SELF_DRAW), st.after_kong, wall_left(st) == 0):
                    if st.value > value:
                        tile = kind
                        value = st.value
        if tile >= 0 and legal(sim, rules, tb, rin, -1, event_of(seat, V_WIN, tile, NONE)):
            n = note(sim, tb, sh, seat, options, n, 0, 0, V_WIN, tile)
    for verb in (V_CONCEALED, V_ADDED):
        for kind in range(21):
            held = st.hand[seat, kind]
            added = held > 0 and st.pung[seat] >> kind & 1 != 0
            if (held == 4 and verb == V_CONCEALED) or (added and verb == V_ADDED):
                # A hand that has just been laid open must still be ready with whatever the replacement is.
                if legal(sim, rules, tb, rin, before, event_of(seat, verb, kind, NONE)) and (
                    not sim.trial.revealing or waits_of(sim.trial, tb, seat) & ~(1 << kind)
                ):
                    n = note(sim, tb, sh, seat, options, n, reveal, hidden, verb, kind)
    for kind in range(21):
        if st.hand[seat, kind]:
            verb = V_DISCARD_DRAWN if kind == st.drawn else V_DISCARD
            if legal(sim, rules, tb, rin, before, event_of(seat, verb, kind, NONE)):
                n = note(sim, tb, sh, seat, options, n, reveal, hidden, V_DISCARD, kind)
    if not reveal and legal(sim, rules, tb, rin, -1, event_of(NONE, V_EXHAUSTED, NO_TILE, NONE)):
        n = note(sim, tb, sh, seat, options, n, 0, 0, V_EXHAUSTED, -1)
    return n


@inner
def list_claim(sim, rules, tb, sh, rin, seat, options, first):
    """The options of a seat at another's open tile, none where it can only pass; returns how many there then are."""
    st = sim.st
    n = first
    for verb in (V_WIN, V_KONG, V_PUNG):
        if verb == V_WIN and not st.can_win >> seat & 1:
            continue
        if verb != V_WIN and (st.phase != DISCARDED or st.hand[seat, st.kind] < (3 if verb == V_KONG else 2)):
            continue
        if verb != V_WIN and st.tiles[seat] == (3 if verb == V_KONG else 2) and (verb == V_PUNG or wall_left(st) == 0):
            continue  # a dead hand: nothing left to discard
        if legal(sim, rules, tb, rin, -1, event_of(seat, verb, st.kind, st.from_)):
            n = note(sim, tb, sh, seat, options, n, 0, 0, verb, st.kind)
    if n > first:
        sim.trial = st
        n = note(sim, tb, sh, seat, options, n, 0, 0, V_PASS, -1)
    return n


@inner
def claimed(events, place, stop, seat, may_win):
    """What a seat did about the tile that lies open before event `place`: a verb; -1: it was not asked to the end.

    Where others win first, a pung or a kong that was not called may yet have been meant.
    """
    others_won = False
    for at in range(place, stop):
        event = np.int64(events[at])
        verb = event >> 2 & 15
        mine = event & 3 == seat
        if verb == V_WIN:
            if mine:
                return V_WIN
            others_won = True
        elif verb == V_PUNG or verb == V_KONG:
            return verb if mine else V_PASS
        elif verb == V_PASS:
            if mine:
                return V_PASS
        elif verb == V_ABORTED:
            return -1
        elif verb != V_REVEAL:
            return V_PASS
    return V_PASS if others_won and may_win else -1


@inner
def add_turn(sim, rules, tb, sh, rin, events, place, decisions, options, n, m):
    """Note the decision that the seat in turn takes with event `place`; returns (decisions, options) so far."""
    st = sim.st
    seat = st.turn
    event = np.int64(events[place])
    reveal = event >> 2 & 15 == V_REVEAL
    hidden = 0
    if reveal:  # what follows is one choice with it
        hidden = event >> 6
        while place + 1 < rin.stop and (event & 3 != seat or event >> 2 & 15 == V_REVEAL):
            place += 1
            event = np.int64(events[place])
    see_live(sim, seat)
    unknown = rin.hidden_open
    rin.hidden_open = 0  # an option hides what it says, whatever the log tells of other reveals
    end = list_turn(sim, rules, tb, sh, rin, seat, 0, 0, options, m)
    if not st.revealed[seat] and not st.dead[seat]:
        if not reveal:
            hidden = hiding(st, rules, tb, seat)
        end = list_turn(sim, rules, tb, sh, rin, seat, 1, hidden, options, end)
    rin.hidden_open = unknown
    verb = event >> 2 & 15
    if verb == V_DISCARD_DRAWN:
        verb = V_DISCARD
    tile = event >> 6 & 31
    for at in range(m, end):
        one = options[at]
        same = one.verb == verb and (one.tile == tile or verb == V_WIN or verb == V_EXHAUSTED)
        if same and one.reveal == (1 if reveal else 0):
            return add_decision(sim, sh, seat, decisions, n, m, end, at)
    return n, m


@inner
def add_claim(sim, rules, tb, sh, rin, events, place, seat, decisions, options, n, m):
    """Note the decision of a seat about the tile that lies open before event `place`."""
    see_live(sim, seat)
    end = list_claim(sim, rules, tb, sh, rin, seat, options, m)
    if end == m:
        return n, m
    verb = claimed(events, place, rin.stop, seat, options[m].verb == V_WIN)
    for at in range(m, end):
        if options[at].verb == verb:
            return add_decision(sim, sh, seat, decisions, n, m, end, at)
    return n, m


@inner
def add_decision(sim, sh, seat, decisions, n, first, end, played):
    """Note a decision, if there was a choice; returns (decisions, options) so far."""
    if end - first < 2:
        return n, first
    one = decisions[n]
    one.seat = seat
    one.first = first
    one.count = end - first
    one.played = played - first
    one.claim = 0 if sim.st.phase == TURN else 1
    one.shanten = shanten(sim.st, sh, seat)
    one.wall_left = wall_left(sim.st)
    for kind in range(21):
        one.live[kind] = sim.live[kind]
    return n + 1, end


@jit
def find(sim, rules, tb, sh, rin, events, seats, decisions, options):
    """Replay a round and note the decisions of a set of seats (bit set) up to its first problem or its end.

    sim: policy.SIM; events: uint32[], of which the round's are [rin.start, rin.stop); decisions: DECISION[]; options:
    OPTION[].  Returns (decisions, options) found; it stops where the arrays may not suffice.
    """
    st = sim.st
    clear(sim.out)
    deal(st, rules, tb, rin)
    n = 0
    m = 0
    chosen = False  # what the event belongs to has been noted with the reveal before it
    for place in range(rin.start, rin.stop):
        if st.stopped or st.problems or n + 2 >= len(decisions) or m + 2 * MOST_OPTIONS >= len(options):
            break
        event = np.int64(events[place])
        verb = event >> 2 & 15
        actor = st.turn if verb == V_EXHAUSTED else event & 3
        if st.phase == TURN and actor == st.turn and verb != V_ABORTED:
            before = n
            if not chosen and seats >> actor & 1:
                n, m = add_turn(sim, rules, tb, sh, rin, events, place, decisions, options, n, m)
            if n > before:
                decisions[before].event = place - rin.start
            chosen = verb == V_REVEAL
        apply(st, rules, tb, rin, sim.out, event, place - rin.start)
        opened = verb == V_DISCARD or verb == V_DISCARD_DRAWN or verb == V_ADDED
        if opened and (st.phase == DISCARDED or st.phase == ADDED) and not st.problems:
            for step in range(1, 3):
                seat = (st.from_ + step) % 3
                if seats >> seat & 1:
                    before = n
                    n, m = add_claim(sim, rules, tb, sh, rin, events, place + 1, seat, decisions, options, n, m)
                    if n > before:
                        decisions[before].event = place - rin.start + 1
    return n, m
