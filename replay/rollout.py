"""What an option is worth: the round played to its end from the table as the seat saw it, many times over.

Each sample lays the tiles that the seat could not see anew: every arrangement of the unseen tiles over the other
hands, the triplets that revealed hands keep face down, and the wall is equally likely that has the right number of
tiles everywhere.  That uses what lies open (melds, rivers, revealed hands and their waits) and ignores what else the
others' play may tell.  Then every option is played on the same tiles and with the same random numbers, and the
simulator's policy plays all three seats to the end.  Nothing hidden is read: not the others' tiles, not the wall, not
what they could have won and passed (a lock follows from the new hand and the tiles that were open to it).
"""

import numpy as np

from ingest import events
from replay import chance
from replay.claims import MISSED_LARGER_ONLY, MISSED_OFF, open_window
from replay.fans import DISCARD, evaluate
from replay.hand import add_tile, popcount, waits_of
from replay.jit import inner, jit
from replay.loop import clear, deal, finish
from replay.options import V_PASS, V_WIN
from replay.policy import event_of, plan_win, see_live
from replay.selfplay import play_on
from replay.settle import share
from replay.state import ADDED, DISCARDED, RESULT, STATE, TURN, WON
from replay.table import MISSED_UNTIL_DISCARD, apply

V_DRAW, V_REPLACEMENT, V_DISCARD, V_DISCARD_DRAWN = (
    events.DRAW, events.REPLACEMENT, events.DISCARD, events.DISCARD_DRAWN,
)  # fmt: skip
V_PUNG, V_KONG, V_REVEAL, V_EXHAUSTED = events.PUNG, events.KONG, events.REVEAL, events.EXHAUSTED
NONE, NO_TILE = events.NO_SEAT, events.NO_TILE
REVIEW = 32  # purpose of streams
FAILED = -(1 << 62)  # the result of an option that the table did not play to an end: a fault of ours

# The table that a seat decides at, and that of one sample.
POSITION = np.dtype(
    [
        ("st", STATE),
        ("out", RESULT),
        ("sampled", STATE),
        ("offered", np.int64, (3,)),  # kinds open to each seat since its lock was last lifted, bit set
        ("pool", np.uint8, (84,)),
    ]
)


@inner
def note_offers(pos, rules, st, verb):
    """Before an event: the open tile that it leaves behind was offered, and a draw or discard lifts locks."""
    window = st.phase == DISCARDED or (st.phase == ADDED and rules.kong_robbable)
    if window and (verb == V_DRAW or verb == V_REPLACEMENT or verb == V_PUNG or verb == V_KONG):
        for step in range(1, 3):
            pos.offered[(st.from_ + step) % 3] |= 1 << st.kind


@inner
def lift(pos, rules, seat, verb):
    """After an event: whose lock it has lifted."""
    if rules.win_missed == MISSED_UNTIL_DISCARD:
        if verb == V_DISCARD or verb == V_DISCARD_DRAWN:
            pos.offered[seat] = 0
    elif verb == V_DRAW or verb == V_REPLACEMENT:
        pos.offered[seat] = 0


@jit
def stand(sim, pos, rules, tb, rin, log, event):
    """Replay a round up to an event (index) into `pos`; whether the table stood so far.

    sim: policy.SIM; pos: POSITION; log: uint32[], of which the round's events are [rin.start, rin.stop).
    """
    clear(sim.out)
    deal(sim.st, rules, tb, rin)
    pos.offered[:] = 0
    for place in range(rin.start, rin.start + event):
        one = np.int64(log[place])
        note_offers(pos, rules, sim.st, one >> 2 & 15)
        apply(sim.st, rules, tb, rin, sim.out, one, place - rin.start)
        if one & 3 < 3:
            lift(pos, rules, one & 3, one >> 2 & 15)
    pos.st = sim.st
    pos.out = sim.out
    return sim.st.problems == 0 and not sim.st.stopped


@inner
def hide_anew(sim, tb, seat):
    """Draw which triplets the revealed others keep face down: every choice of tiles that the seat cannot tell apart.

    sim.live holds what the seat has not seen.  A kind of which u copies are unseen makes u choose 3 triplets; kinds
    are drawn by that weight and drawn again until they differ, which makes every choice of triplets equally likely.
    """
    st = sim.st
    while True:
        taken = 0
        clash = False
        total = 0
        for kind in range(21):
            total += 4 if sim.live[kind] == 4 else (1 if sim.live[kind] == 3 else 0)
        for other in range(3):
            if other == seat or not st.revealed[other]:
                continue
            kinds = 0
            for _ in range(popcount(st.hidden[other])):
                at = chance.below(sim.mind, max(total, 1))
                drawn = 0
                for kind in range(21):
                    weight = 4 if sim.live[kind] == 4 else (1 if sim.live[kind] == 3 else 0)
                    if 0 <= at < weight:
                        drawn = kind
                    at -= weight
                clash = clash or taken >> drawn & 1 != 0
                taken |= 1 << drawn
                kinds |= 1 << drawn
            sim.wish[other % 3] = kinds
        if not clash:
            break
    for other in range(3):
        if other == seat or not st.revealed[other]:
            continue
        kinds = sim.wish[other]
        for kind in range(21):
            if st.hidden[other] >> kind & 1:
                add_tile(st, tb, other, kind, -3)
        for kind in range(21):
            if kinds >> kind & 1:
                add_tile(st, tb, other, kind, 3)
                sim.live[kind] -= 3
        st.hidden[other] = kinds


@inner
def lock_anew(sim, pos, rules, tb, other):
    """Whether a seat with its new hand has let a win pass since its lock was last lifted."""
    st = sim.st
    st.locked[other] = 0
    st.lock_tile[other] = 0
    st.lock_multiple[other] = 0
    missed = st.waits[other] & pos.offered[other]
    if missed == 0 or rules.win_missed == MISSED_OFF or st.dead[other]:
        return
    for kind in range(21):
        if missed >> kind & 1:
            worth = 1
            if rules.win_discard_min > 1 or rules.win_missed == MISSED_LARGER_ONLY:
                if not evaluate(st, rules, tb, other, kind, np.int64(DISCARD), 0, False):
                    continue
                worth = share(rules, st.value, st.revealed[other] != 0, False)
            if worth >= rules.win_discard_min:
                st.locked[other] = 1
                st.lock_tile[other] |= 1 << kind
                st.lock_multiple[other] = max(st.lock_multiple[other], worth)


@inner
def resample(sim, pos, rules, tb, seat):
    """Lay all tiles that the seat cannot see anew in sim.st; sim.mind is the stream."""
    st = sim.st
    see_live(sim, seat)
    hide_anew(sim, tb, seat)
    count = 0
    for kind in range(21):
        for _ in range(sim.live[kind]):
            pos.pool[count] = kind
            count += 1
    for last in range(count - 1, 0, -1):
        place = chance.below(sim.mind, last + 1)
        held = pos.pool[last]
        pos.pool[last] = pos.pool[place]
        pos.pool[place] = held
    at = 0
    for other in range(3):
        if other == seat:
            continue
        st.pung_of_three[other] = 0
        if st.revealed[other]:
            continue
        size = st.tiles[other]
        for kind in range(21):
            if st.hand[other, kind]:
                add_tile(st, tb, other, kind, -st.hand[other, kind])
        for _ in range(size):
            add_tile(st, tb, other, np.int64(pos.pool[at]), 1)
            at += 1
        st.waits[other] = waits_of(st, tb, other)
        lock_anew(sim, pos, rules, tb, other)
    st.unseen[:] = 0
    st.has_wall = 1
    for place in range(st.front, 44 - st.back):
        st.wall[place] = np.int64(pos.pool[at])
        st.unseen[st.wall[place]] += 1
        at += 1
    if st.phase == DISCARDED or st.phase == ADDED:
        open_window(st, rules, tb, st.from_, st.kind, st.by, st.phase)
    return at == count


@inner
def play_turn(sim, rules, tb, rin, seat, one):
    """Play an option of a turn."""
    st = sim.st
    if one.reveal:
        apply(st, rules, tb, rin, sim.out, seat | V_REVEAL << 2 | one.hidden << 6, 0)
    if one.verb == V_EXHAUSTED:
        event = event_of(NONE, V_EXHAUSTED, NO_TILE, NONE)
    elif one.verb == V_DISCARD and one.tile == st.drawn:
        event = event_of(seat, V_DISCARD_DRAWN, one.tile, NONE)
    else:
        event = event_of(seat, one.verb, one.tile, NONE)
    apply(st, rules, tb, rin, sim.out, event, 0)


@inner
def play_claim(sim, rules, tb, rin, seat, one):
    """Play an option at an open tile: others' wins go before a pung or a kong, and may stand beside a win."""
    st = sim.st
    if one.verb == V_PASS:
        apply(st, rules, tb, rin, sim.out, event_of(seat, V_PASS, NO_TILE, NONE), 0)
        return
    source = st.from_
    kind = st.kind
    for step in range(1, 3):
        other = (source + step) % 3
        if other != seat:
            event = plan_win(sim, other)
        else:
            event = event_of(seat, V_WIN, kind, source) if one.verb == V_WIN else -1
        if event >= 0:
            apply(st, rules, tb, rin, sim.out, event, 0)
    if st.phase != WON and one.verb != V_WIN:
        apply(st, rules, tb, rin, sim.out, event_of(seat, one.verb, kind, source), 0)


@jit
def roll(sim, pos, rules, tb, sh, rin, seat, seed, event, options, chosen, first, results):
    """Play options out from the table in `pos` (see `stand`), as the seat sees it.

    options: options.OPTION[m]; chosen: uint8[m], 0 leaves an option out; first: number of the first sample; results:
    int64[samples, m], the seat's points of the whole round, written.  Sample k of a seed (uint64) and an event is the
    same whichever samples are asked for, and the same tiles and random numbers for every option.  Returns how many
    results FAILED, which is none.
    """
    failed = 0
    sim.abort_at = -1
    sim.declines = 0
    for sample in range(len(results)):
        chance.start(sim.mind, seed, event, first + sample, REVIEW + seat)
        chance.start(sim.clock, seed, event, first + sample, REVIEW + 3)
        sim.st = pos.st
        whole = resample(sim, pos, rules, tb, seat)
        pos.sampled = sim.st
        mind = sim.mind.state
        for n in range(len(options)):
            if not chosen[n]:
                continue
            sim.st = pos.sampled
            sim.out = pos.out
            sim.mind.state = mind
            sim.count = 0
            if sim.st.phase == TURN:
                play_turn(sim, rules, tb, rin, seat, options[n])
            else:
                play_claim(sim, rules, tb, rin, seat, options[n])
            if sim.st.phase == WON:
                finish(sim.st, rules, tb, rin, sim.out)
                fine = sim.st.problems == 0
            else:
                fine = sim.st.problems == 0 and play_on(sim, rules, tb, sh, rin)
            if fine and whole:
                results[sample, n] = sim.out.points[seat]
            else:
                results[sample, n] = FAILED
                failed += 1
    return failed
