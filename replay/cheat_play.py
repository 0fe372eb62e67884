"""Crooked play: discards, passes and calls by what a seat should not know, or for somebody else's good.

The seat first decides as its honest self does; a cheat then puts another wish in the place of that one, and the table
is asked whether it may.  Its own chances come from CROOK's stream and those of the honest decision are put back.
"""

import numpy as np

from ingest import events
from replay.chance import mix
from replay.cheat_draws import next_place, wanted
from replay.cheat_record import CLONE, DUMP, NEXT_TILE, PEEK, SIGNAL, SOFT, SUPERUSER, dares, note, works_for
from replay.claims import has_safe_tile
from replay.flags import wall_left
from replay.hand import add_tile
from replay.jit import inner
from replay.policy import FAR_BELOW, choose_discard, dangerous, event_of, plan_reveal, weigh_discards
from replay.selfplay import refused
from replay.shanten import shanten

V_DISCARD, V_DISCARD_DRAWN, V_PUNG = events.DISCARD, events.DISCARD_DRAWN, events.PUNG
NONE = events.NO_SEAT
CLOSE = 48  # of a discard's score: three useful tiles


@inner
def hidden_waits(st, seat):
    """The kinds that others wait for without having revealed, as a bit set."""
    kinds = 0
    for other in range(3):
        if other != seat and not st.revealed[other] and not st.dead[other]:
            kinds |= st.waits[other]
    return kinds


@inner
def choices_of(sim):
    """How many discards came close to the best one when the seat last chose."""
    best = FAR_BELOW
    for kind in range(21):
        best = max(best, sim.score[kind])
    close = 0
    for kind in range(21):
        close += sim.score[kind] > FAR_BELOW and sim.score[kind] >= best - CLOSE
    return close


@inner
def may_discard(sim, rules, tb, rin, seat, kind):
    """The discard of a kind as an event if the table allows it, else -1; sim.trial then is the table after it."""
    st = sim.st
    same = kind == st.drawn and st.hand[seat, kind] == 1
    event = event_of(seat, V_DISCARD_DRAWN if same else V_DISCARD, kind, NONE)
    return -1 if refused(sim, rules, tb, rin, event) else event


@inner
def feeding(sim, rules, tb, rin, seat, mate):
    """A discard that the partner can win on, of the kinds that the hand holds; -1 for none."""
    st = sim.st
    for kind in range(21):
        if st.waits[mate] >> kind & 1 and st.hand[seat, kind]:
            event = may_discard(sim, rules, tb, rin, seat, kind)
            if event >= 0 and sim.trial.can_win >> mate & 1:
                return event
    return -1


@inner
def serving(sim, rules, tb, sh, rin, seat, mate):
    """The discard that the partner needs for a pung and that costs this hand least; -1 for none."""
    st = sim.st
    if st.revealed[mate] or st.dead[mate] or st.waits[mate]:
        return -1
    away = shanten(st, sh, mate)
    best = -1
    cost = 99
    for kind in range(21):
        if st.hand[mate, kind] < 2 or st.hand[seat, kind] == 0:
            continue
        add_tile(st, tb, mate, kind, -2)
        st.melds[mate] += 1
        nearer = shanten(st, sh, mate) < away
        st.melds[mate] -= 1
        add_tile(st, tb, mate, kind, 2)
        if not nearer:
            continue
        add_tile(st, tb, seat, kind, -1)
        mine = shanten(st, sh, seat)
        add_tile(st, tb, seat, kind, 1)
        if mine < cost:
            event = may_discard(sim, rules, tb, rin, seat, kind)
            if event >= 0:
                best = event
                cost = mine
    return best


@inner
def avoiding(sim, rules, tb, sh, rin, seat, forbidden, sees_all):
    """The best discard outside a set of kinds; -1 for none.  sees_all: useful tiles are those still in the wall."""
    st = sim.st
    held = sim.mind.state
    if sees_all:
        for kind in range(21):
            sim.live[kind] = 0
        for place in range(st.front, 44 - st.back):
            sim.live[st.wall[place]] += 1
        kind = weigh_discards(sim, tb, sh, seat, forbidden, False)
    else:
        kind = choose_discard(sim, tb, sh, seat, forbidden, False)
    sim.mind.state = held
    return may_discard(sim, rules, tb, rin, seat, kind) if kind >= 0 else -1


@inner
def bend_discard(sim, ch, rules, tb, sh, rin, event):
    """After a seat has chosen its discard (sim.wish[2]) and whether to reveal first (event): what cheats make of both.

    Returns the reveal, or -1.
    """
    st = sim.st
    seat = st.turn
    if st.revealed[seat]:
        return event
    for i in range(ch.count):
        code = ch.code[i]
        if code < DUMP or code > SUPERUSER or not works_for(ch, i, seat):
            continue
        was = sim.wish[2] >> 6 & 31
        other = -1
        if code == DUMP or code == SIGNAL:
            mate = ch.mate[i]
            if mate < 0:
                continue
            if code == DUMP and st.waits[mate] and not st.waits[mate] >> was & 1:
                other = feeding(sim, rules, tb, rin, seat, mate)
            elif code == SIGNAL and ch.done[i] < ch.n[i]:
                other = serving(sim, rules, tb, sh, rin, seat, mate)
        elif code == PEEK:
            hidden = hidden_waits(st, seat)
            if hidden >> was & 1:
                other = avoiding(sim, rules, tb, sh, rin, seat, hidden | dangerous(st, seat), False)
        elif code == SUPERUSER:
            known = hidden_waits(st, seat) | dangerous(st, seat)
            other = avoiding(sim, rules, tb, sh, rin, seat, known if has_safe_tile(st, seat, known) else 0, True)
        if other < 0 or other >> 6 & 31 == was or not dares(ch, i):
            continue
        sim.wish[2] = other
        note(ch, i, sim.count, seat, was, other >> 6 & 31)
        event = -1
        if code == PEEK or code == SUPERUSER:
            held = sim.mind.state
            event = plan_reveal(sim, rules, tb, other)
            sim.mind.state = held
    return event


@inner
def bend_wins(sim, ch):
    """After the others have decided whether to win the open tile: passes on the partner."""
    st = sim.st
    for step in range(2):
        seat = (st.from_ + 1 + step) % 3
        for i in range(ch.count):
            if ch.code[i] == SOFT and works_for(ch, i, seat) and ch.mate[i] == st.from_ and sim.wish[step] >= 0:
                if dares(ch, i):
                    note(ch, i, sim.count, seat, st.kind, -1)
                    sim.wish[step] = -1


@inner
def bend_call(sim, ch, rules, tb, sh, rin, event):
    """A pung or kong that its seat would make, after a look at the tile that is drawn next; -1 when it is let be.

    A pung is made unless that tile helps the seat that would draw it, a kong only if the replacement helps.
    """
    st = sim.st
    seat = event & 3
    pung = event >> 2 & 15 == V_PUNG
    for i in range(ch.count):
        if ch.code[i] != NEXT_TILE or not works_for(ch, i, seat) or wall_left(st) == 0:
            continue
        if refused(sim, rules, tb, rin, event):
            continue
        drawer = (seat + 1) % 3 if pung else seat
        tile = st.wall[next_place(st, rules, not pung)]
        helps = wanted(sim.trial, tb, sh, drawer) >> tile & 1 != 0
        if helps == pung and dares(ch, i):
            note(ch, i, sim.count, seat, event >> 6 & 31, tile)
            return -1
    return event


@inner
def clone_of(ch, seat):
    """The number of the program that plays a seat, -1 for a person."""
    for i in range(ch.count):
        if ch.code[i] == CLONE and works_for(ch, i, seat):
            return ch.n[i]
    return -1


@inner
def view_digest(st, seat, program):
    """A number made of what a seat has before it: its hand and melds, what it drew, what lies open."""
    state = mix(np.uint64(program))
    for part in range(3):
        state = mix(state ^ np.uint64(st.key[seat, part]))
    state = mix(state ^ np.uint64(st.pung[seat] | st.exposed[seat] | st.added[seat] | st.concealed[seat]))
    state = mix(state ^ np.uint64(st.drawn + 1))
    for kind in range(21):
        state = mix(state ^ np.uint64(st.shown[kind]))
    return state
