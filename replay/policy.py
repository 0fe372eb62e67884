"""How simulated accounts play: what to discard, claim, kong and reveal, and when to win.

A decision looks only at what its seat can see: its own hand, melds, rivers, and hands laid open.  It is a wish, a
packed event or -1 for none; whether the table takes it, the table decides (replay.selfplay), so that there is no
second idea of the rules here.  Taste is data (`Policy`), one per seat, and every choice is drawn from SIM's streams.
"""

from dataclasses import dataclass, fields

import numpy as np

from ingest import events
from replay.calls import EMPTY_WALL_VOID
from replay.chance import STREAM, below, bits, happens
from replay.claims import has_safe_tile
from replay.fans import SELF_DRAW, evaluate
from replay.flags import wall_left
from replay.hand import add_tile, waits_of
from replay.jit import inner
from replay.ruleset import mode
from replay.shanten import shanten, useful_tiles
from replay.state import RESULT, STATE

MAX_EVENTS = 320
V_DISCARD, V_DISCARD_DRAWN, V_REVEAL, V_WIN = events.DISCARD, events.DISCARD_DRAWN, events.REVEAL, events.WIN
V_PUNG, V_KONG, V_CONCEALED, V_ADDED = events.PUNG, events.KONG, events.CONCEALED_KONG, events.ADDED_KONG
NONE = events.NO_SEAT
LAST_DRAWN = mode("wall.last_discard", "drawn")
FAR_BELOW = -(1 << 40)
STEP = 16 * 256  # of a score: a step towards ready; 16 is a useful tile
HALF = 7  # tiles of one suit up to which nobody thinks of a flush
PURE = 24.0  # a taste for it that no longer pungs outside the suit


@dataclass(frozen=True)
class Policy:
    """An account's taste: probabilities, one per chance to do the thing, unless said otherwise."""

    win: float = 0.985  # take a win from others; else it is passed
    self_draw: float = 0.998
    pung: float = 0.85  # a pung that brings the hand nearer
    pung_idle: float = 0.06  # one that does not
    kong: float = 0.93
    kong_idle: float = 0.15  # a kong from the hand that takes the hand further away
    reveal: float = 0.25  # per discard that leaves the hand ready
    between: float = 0.3  # of a reveal between turns, times `reveal`
    hide: float = 0.5  # per triplet that may stay face down
    defend: float = 0.85  # keep back what an open hand waits for
    noise: float = 0.04  # a discard at random
    short: float = 0.01  # leave a kong without its replacement where that makes a dead hand
    void_kong: float = 0.3  # a kong on the empty wall where it is void
    # What it is worth to throw a tile outside the longest suit (for each tile of that suit beyond seven), to throw a
    # single tile, to keep a 4, 5 or 6: in useful tiles, 256 of which are a step to ready.
    flush: float = 2.0
    pairs: float = 0.2
    five: float = 0.5
    pace: float = 1.0  # factor on thinking times


TASTES = tuple(field.name for field in fields(Policy))

# Everything that one simulated table needs, in one record.
SIM = np.dtype(
    [
        ("st", STATE),
        ("out", RESULT),
        ("trial", STATE),  # a copy on which an event is tried
        ("trial_out", RESULT),
        ("deck", STREAM),  # shuffles and dice
        ("mind", STREAM),  # decisions
        ("clock", STREAM),  # thinking times
        ("order", np.uint8, (84,)),
        ("salt", np.uint64, (2,)),
        ("stage", np.int64),  # how far the present move has been thought through
        ("unsure", np.int64),  # the wish must be tried on a copy first
        ("kind", np.int64),  # the next kind to think of for a kong
        ("wish", np.int64, (3,)),  # the two others' wins, and the discard
        ("abort_at", np.int64),  # event at which the platform aborts the round, -1: never
        ("declines", np.int64),  # whether the platform logs declined claims
        ("live", np.int64, (21,)),  # copies of each kind that a seat has not seen, while it decides
        ("score", np.int64, (21,)),  # what a discard of each kind is worth to it
        ("count", np.int64),
        ("events", np.uint32, (MAX_EVENTS,)),
        ("times", np.int32, (MAX_EVENTS,)),
        *((name, np.float64, (3,)) for name in TASTES),
    ]
)


@inner
def event_of(seat, verb, tile, source):
    """One packed event."""
    return seat | verb << 2 | tile << 6 | source << 11


@inner
def dangerous(st, seat):
    """The kinds that hands laid open by others wait for, as a bit set."""
    kinds = 0
    for other in range(3):
        if other != seat and st.revealed[other]:
            kinds |= st.waits[other]
    return kinds


@inner
def see_live(sim, seat):
    """Count into sim.live the copies of each kind that the seat has not seen."""
    st = sim.st
    for kind in range(21):
        left = 4 - st.hand[seat, kind] - st.shown[kind]
        for other in range(3):
            if other != seat and st.revealed[other]:
                left -= st.hand[other, kind] - (3 if st.hidden[other] >> kind & 1 else 0)
        sim.live[kind] = left


@inner
def live_among(sim, kinds):
    """Unseen copies of a set of kinds."""
    left = 0
    for kind in range(21):
        if kinds >> kind & 1:
            left += sim.live[kind]
    return left


@inner
def chased_suit(st, seat):
    """(suit 0 or 1, tiles of it beyond half a hand), hand and melds; suit -1 when there is no flush to chase."""
    melds = st.pung[seat] | st.exposed[seat] | st.added[seat] | st.concealed[seat]
    first = 0
    second = 0
    for kind in range(18):
        held = st.hand[seat, kind] + (3 if melds >> kind & 1 else 0)
        first += held if kind < 9 else 0
        second += held if kind >= 9 else 0
    suit = 0 if first >= second else 1
    beyond = max(first, second) - HALF
    if beyond <= 0 or melds & ~(0x1FF << 9 * suit):
        return -1, 0
    return suit, beyond


@inner
def choose_discard(sim, tb, sh, seat, forbidden, ready_only):
    """The kind to discard: nearest to ready, most useful tiles, some taste; -1 when nothing fits.

    forbidden: a bit set of kinds; ready_only: the rest must be ready (the hand has just been laid open).
    """
    see_live(sim, seat)
    return weigh_discards(sim, tb, sh, seat, forbidden, ready_only)


@inner
def weigh_discards(sim, tb, sh, seat, forbidden, ready_only):
    """The same with the copies of each kind that are left, sim.live, as somebody else has counted them."""
    st = sim.st
    roll = bits(sim.mind)
    noisy = happens(sim.mind, sim.noise[seat])
    suit, beyond = chased_suit(st, seat)
    nearest = 99
    for kind in range(21):
        sim.score[kind] = FAR_BELOW
        spare = st.hand[seat, kind] - (3 if st.hidden[seat] >> kind & 1 else 0)
        if spare <= 0 or forbidden >> kind & 1:
            continue
        add_tile(st, tb, seat, kind, -1)
        if not ready_only or waits_of(st, tb, seat):
            sim.score[kind] = np.int64(roll >> np.uint64(3 * kind) & np.uint64(7))
            if not noisy:
                away = shanten(st, sh, seat)
                nearest = min(nearest, away)
                taste = sim.flush[seat] * beyond if suit >= 0 and kind // 9 != suit else 0.0
                if st.hand[seat, kind] == 0:
                    taste += sim.pairs[seat]
                if kind < 18 and 3 <= kind % 9 <= 5:
                    taste -= sim.five[seat]
                sim.score[kind] += np.int64(16 * taste) - STEP * away
        add_tile(st, tb, seat, kind, 1)
    best = -1
    for kind in range(21):
        score = sim.score[kind]
        if score == FAR_BELOW:
            continue
        if not noisy and score >= -STEP * nearest - STEP // 2:
            add_tile(st, tb, seat, kind, -1)
            score += 16 * useful_tiles(st, tb, sh, seat, sim.live)
            add_tile(st, tb, seat, kind, 1)
            sim.score[kind] = score
        if best < 0 or score > sim.score[best]:
            best = kind
    return best


@inner
def plan_discard(sim, rules, tb, sh):
    """The discard of the seat in turn; never -1."""
    st = sim.st
    seat = st.turn
    drawn = st.drawn
    if st.revealed[seat] and not st.revealing:
        return event_of(seat, V_DISCARD_DRAWN, drawn, NONE)
    if rules.wall_last_discard == LAST_DRAWN and wall_left(st) == 0 and drawn >= 0:
        return event_of(seat, V_DISCARD_DRAWN, drawn, NONE)
    forbidden = 0
    danger = dangerous(st, seat)
    if danger and not st.revealed[seat] and has_safe_tile(st, seat, danger):
        if rules.reveal_no_feeding or happens(sim.mind, sim.defend[seat]):
            forbidden = danger
    kind = choose_discard(sim, tb, sh, seat, forbidden, st.revealing != 0)
    if kind < 0:
        kind = 0  # there always is one; were there none, the table would refuse this and the simulation end loudly
    same = kind == drawn and (st.hand[seat, kind] == 1 or happens(sim.mind, 0.8))
    return event_of(seat, V_DISCARD_DRAWN if same else V_DISCARD, kind, NONE)


@inner
def plan_hidden(sim, rules, tb, seat):
    """Which triplets of a ready hand of 13 stay face down: a bit set under which it is still ready."""
    st = sim.st
    hidden = 0
    if rules.reveal_hide_triplets:
        for kind in range(21):
            if st.hand[seat, kind] >= 3 and happens(sim.mind, sim.hide[seat]):
                st.hidden[seat] = hidden | 1 << kind
                if waits_of(st, tb, seat):
                    hidden |= 1 << kind
        st.hidden[seat] = 0
    return hidden


@inner
def plan_reveal(sim, rules, tb, discard):
    """The reveal that goes before this discard."""
    st = sim.st
    seat = st.turn
    kind = discard >> 6 & 31
    add_tile(st, tb, seat, kind, -1)
    waits = waits_of(st, tb, seat)
    event = -1
    if waits:
        see_live(sim, seat)
        if live_among(sim, waits) > 0 and happens(sim.mind, sim.reveal[seat]):
            event = event_of(seat, V_REVEAL, plan_hidden(sim, rules, tb, seat), 0)
    add_tile(st, tb, seat, kind, 1)
    return event


@inner
def plan_reveal_between(sim, rules, tb, seat):
    """A reveal while it is not the seat's turn."""
    st = sim.st
    if st.revealed[seat] or st.dead[seat] or st.waits[seat] == 0:
        return -1
    if not happens(sim.mind, sim.between[seat] * sim.reveal[seat]):
        return -1
    return event_of(seat, V_REVEAL, plan_hidden(sim, rules, tb, seat), 0)


@inner
def plan_self_draw(sim, rules, tb, sh):
    """The win on the tile drawn, or on the dealer's fourteen the tile that makes it worth most."""
    st = sim.st
    seat = st.turn
    if shanten(st, sh, seat) >= 0:
        return -1
    best = -1
    value = 0
    by = np.int64(SELF_DRAW)
    empty = wall_left(st) == 0
    for kind in range(21):
        if (kind == st.drawn or st.drawn < 0) and st.hand[seat, kind]:
            if evaluate(st, rules, tb, seat, kind, by, st.after_kong, empty) and st.value > value:
                best = kind
                value = st.value
    if best < 0 or not happens(sim.mind, sim.self_draw[seat]):
        return -1
    return event_of(seat, V_WIN, best, NONE)


@inner
def plan_own_kong(sim, rules, tb, sh):
    """A concealed or added kong of the seat in turn, of sim.kind or a kind after it; sim.kind moves on."""
    st = sim.st
    seat = st.turn
    void = wall_left(st) == 0
    if void and (rules.kong_empty_wall != EMPTY_WALL_VOID or st.revealed[seat]):
        return -1
    if st.punged and not rules.kong_after_pung:
        return -1
    for kind in range(sim.kind, 21):
        held = st.hand[seat, kind]
        added = held == 1 and st.pung[seat] >> kind & 1 != 0
        if (held != 4 and not added) or (void and st.tiles[seat] == held):  # a dead hand may run out of tiles
            continue
        chance = sim.void_kong[seat] if void else sim.kong[seat]
        if added and dangerous(st, seat) >> kind & 1 and happens(sim.mind, sim.defend[seat]):
            continue
        before = shanten(st, sh, seat)
        hidden = st.hidden[seat]
        add_tile(st, tb, seat, kind, -held)
        st.melds[seat] += 0 if added else 1
        st.hidden[seat] = hidden & ~(1 << kind)  # a triplet face down is turned up with its kong
        worse = shanten(st, sh, seat) > before and not added
        # A hand just laid open must still be ready with whatever the replacement is.
        apart = st.revealing and waits_of(st, tb, seat) & ~(1 << kind) == 0
        st.hidden[seat] = hidden
        st.melds[seat] -= 0 if added else 1
        add_tile(st, tb, seat, kind, held)
        if apart or not happens(sim.mind, chance * (sim.kong_idle[seat] if worse else 1.0)):
            continue
        sim.kind = kind + 1
        return event_of(seat, V_ADDED if added else V_CONCEALED, kind, NONE)
    return -1


@inner
def claimant(st):
    """The seat that holds two or three of the open discard, -1 for none."""
    for step in range(1, 3):
        seat = (st.from_ + step) % 3
        if st.hand[seat, st.kind] >= 2:
            return seat
    return -1


@inner
def plan_claim(sim, tb, sh, seat, verb):
    """A pung or an exposed kong of the open discard."""
    st = sim.st
    kind = st.kind
    held = 3 if verb == V_KONG else 2
    if st.hand[seat, kind] < held or (st.revealed[seat] and (verb == V_PUNG or wall_left(st) == 0)):
        return -1
    if st.tiles[seat] == held and (verb == V_PUNG or wall_left(st) == 0):  # a dead hand: nothing left to discard
        return -1
    before = shanten(st, sh, seat)
    suit, beyond = chased_suit(st, seat)
    add_tile(st, tb, seat, kind, -held)
    st.melds[seat] += 1
    after = shanten(st, sh, seat)
    st.melds[seat] -= 1
    add_tile(st, tb, seat, kind, held)
    if verb == V_KONG:
        chance = sim.kong[seat] * (sim.kong_idle[seat] if after > before else 1.0)
    elif after > before or (suit >= 0 and kind // 9 != suit and sim.flush[seat] * beyond >= PURE):
        chance = 0.0
    else:
        chance = sim.pung[seat] if after < before else sim.pung_idle[seat]
    return event_of(seat, verb, kind, st.from_) if happens(sim.mind, chance) else -1


@inner
def plan_win(sim, seat):
    """The win of the open tile, where it is offered and not passed."""
    st = sim.st
    if not (st.can_win & ~st.declined) >> seat & 1 or not happens(sim.mind, sim.win[seat]):
        return -1
    return event_of(seat, V_WIN, st.kind, st.from_)


@inner
def thinking(sim, seat, verb):
    """Milliseconds before an event: quick for what the platform does, mostly short and sometimes long for people."""
    share = below(sim.clock, 1024)
    if verb < V_DISCARD or verb > V_WIN:
        return 80 + share // 8
    longest = 9000 if verb < V_PUNG else 6000
    skewed = longest * (share * share >> 10) >> 10
    return np.int64(np.float64(350 + skewed) * (sim.pace[seat] if seat < 3 else 1.0))
