"""Crooked decks: shuffles that are not random, and deals that are not the first.

The honest order is laid first, so that a round in which no cheat acts is the honest round to the byte.  A crooked
order replaces it before anything is committed to.  Tiles start sorted by kind, as a new deck.
"""

import numpy as np

from replay import chance
from replay.chance import below, bits, happens
from replay.cheat_record import (
    ABSENT,
    BEST_DEAL,
    CARRY_OVER,
    CLOCK_SEED,
    DRAGON_SWAP,
    EVERYONE,
    LCG,
    MODULO,
    OFF_BY_ONE,
    RIFFLE,
    SORTED_WALL,
    SWAP_ANY,
    dares,
    note,
)
from replay.jit import inner
from replay.loop import deal
from replay.selfplay import deal_order, lay_order
from replay.shanten import shanten

FIXED_FIRST = 1  # of OFF_BY_ONE; 0 is Sattolo's
DRAGONS = 18  # the first dragon's kind
DAY_MS = 86_400_000
# Numerical Recipes' generator; its upper bits are used.
LCG_FACTOR, LCG_STEP, LCG_MASK = np.uint64(1664525), np.uint64(1013904223), np.uint64(0xFFFFFFFF)
S32, ONE = np.uint64(32), np.uint64(1)


@inner
def new_deck(order):
    """The tiles of a new deck, sorted by kind."""
    for place in range(84):
        order[place] = place // 4


@inner
def swap(order, one, two):
    """Exchange two places."""
    held = order[one]
    order[one] = order[two]
    order[two] = held


@inner
def swap_any(stream, order):
    """Every place exchanged with any place, where Fisher and Yates take one that is not settled yet."""
    for place in range(84):
        swap(order, place, below(stream, 84))


@inner
def off_by_one(stream, order, kind):
    """Fisher and Yates with one place too few: no tile may stay (Sattolo), or the first is never looked at."""
    for last in range(83, 0 if kind != FIXED_FIRST else 1, -1):
        swap(order, last, below(stream, last) if kind != FIXED_FIRST else 1 + below(stream, last))


@inner
def modulo(stream, order, width):
    """Fisher and Yates on the rest of dividing a number of `width` bits: low places come up more often."""
    for last in range(83, 0, -1):
        swap(order, last, below(stream, 1 << width) % (last + 1))


@inner
def riffle(stream, order, spare, times):
    """Riffles as Gilbert, Shannon and Reeds model them: cut binomially, each tile from either packet by its size."""
    for _ in range(times):
        spare[:] = order
        left = 0
        for _ in range(84):
            left += below(stream, 2)
        right = 84 - left
        a = 0
        b = left
        for place in range(84):
            if below(stream, left + right) < left:
                order[place] = spare[a]
                a += 1
                left -= 1
            else:
                order[place] = spare[b]
                b += 1
                right -= 1


@inner
def lcg_shuffle(order, seed):
    """Fisher and Yates on a linear congruential generator, which has few seeds."""
    state = np.uint64(seed) & LCG_MASK
    for last in range(83, 0, -1):
        state = (state * LCG_FACTOR + LCG_STEP) & LCG_MASK
        swap(order, last, np.int64(state * np.uint64(last + 1) >> S32))


@inner
def start_shanten(sim, rules, tb, sh, rin, seat):
    """Shanten of the hand that the seat is dealt."""
    deal(sim.trial, rules, tb, rin)
    return shanten(sim.trial, sh, seat)


@inner
def best_deal(sim, ch, i, rules, tb, sh, rin, seat):
    """Shuffle once more and keep the deal that is better for the seat."""
    first = start_shanten(sim, rules, tb, sh, rin, seat)
    ch.spare[:] = sim.order
    chance.shuffle(ch.trick, sim.order)
    deal_order(sim, rin)
    second = start_shanten(sim, rules, tb, sh, rin, seat)
    if second < first:
        note(ch, i, -1, seat, first, second)
    else:
        sim.order[:] = ch.spare
        deal_order(sim, rin)


@inner
def dragon_swap(sim, ch, i, rin, seat):
    """A dragon of the wall for a tile of the seat's hand that is none."""
    first = (seat - rin.dealer) % 3
    held = 0
    for n in range(13):
        held += sim.order[first + 3 * n] < DRAGONS
    walled = 0
    for place in range(40, 84):
        walled += sim.order[place] >= DRAGONS
    if held == 0 or walled == 0:
        return
    give = below(ch.trick, held)
    take = below(ch.trick, walled)
    given = 0
    for n in range(13):
        if sim.order[first + 3 * n] < DRAGONS:
            if give == 0:
                given = first + 3 * n
            give -= 1
    for place in range(40, 84):
        if sim.order[place] >= DRAGONS:
            if take == 0:
                note(ch, i, -1, seat, sim.order[given], sim.order[place])
                swap(sim.order, given, place)
                break
            take -= 1
    deal_order(sim, rin)


@inner
def sort_wall(sim, rin):
    """The wall sorted by kind, as tiles lie that nobody has mixed."""
    place = 40
    for kind in range(21):
        copies = 0
        for at in range(44):
            copies += rin.wall[at] == kind
        for _ in range(copies):
            sim.order[place] = kind
            place += 1
    deal_order(sim, rin)


@inner
def lay_crooked(sim, ch, rules, tb, sh, rin):
    """Shuffle and deal as an honest table does; then whatever the planted cheats make of it."""
    lay_order(sim, rin)
    for i in range(ch.count):
        code = ch.code[i]
        if code > SORTED_WALL or not dares(ch, i):
            continue
        if code >= BEST_DEAL:
            seat = ch.seat[i] if ch.seat[i] != EVERYONE else below(ch.trick, 3)
            if code == BEST_DEAL and seat != ABSENT:
                best_deal(sim, ch, i, rules, tb, sh, rin, seat)
            elif code == DRAGON_SWAP and seat != ABSENT:
                dragon_swap(sim, ch, i, rin, seat)
            elif code == SORTED_WALL:
                sort_wall(sim, rin)
                note(ch, i, -1, -1, -1, -1)
            continue
        if code == CARRY_OVER:
            if not ch.has_last:
                continue
            sim.order[:] = ch.last
            for _ in range(ch.n[i]):
                swap(sim.order, below(ch.trick, 84), below(ch.trick, 84))
        else:
            new_deck(sim.order)
            if code == SWAP_ANY:
                swap_any(ch.trick, sim.order)
            elif code == OFF_BY_ONE:
                off_by_one(ch.trick, sim.order, ch.mode[i])
            elif code == MODULO:
                modulo(ch.trick, sim.order, ch.n[i])
            elif code == RIFFLE:
                riffle(ch.trick, sim.order, ch.spare, ch.n[i])
            elif code == LCG:
                lcg_shuffle(sim.order, np.int64(bits(ch.trick) & ((ONE << np.uint64(ch.n[i])) - ONE)))
            elif code == CLOCK_SEED:
                lcg_shuffle(sim.order, ch.now_ms % DAY_MS)
        deal_order(sim, rin)
        if ch.q[i] < 1:
            note(ch, i, -1, -1, -1, -1)


@inner
def load_dice(ch, i, rules, rin, carried):
    """Each die shows a chosen face with probability q; raises follow the dice."""
    for die in range(2):
        if happens(ch.trick, ch.q[i]) and rin.dice[die] != ch.n[i]:
            note(ch, i, -1, -1, rin.dice[die], ch.n[i])
            rin.dice[die] = ch.n[i]
    rin.raise_ = carried
    if rules.side_raise_on_dice and rin.dice[0] == rin.dice[1]:
        rin.raise_ += 1
