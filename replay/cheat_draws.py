"""Crooked draws: a tile of the rest of the wall put where the next draw comes from.

The table plays with the changed wall.  What the log shows of it is the cheat's `mode`: the changed wall and an order
made up to fit; or the changed wall beside the order committed to; or the wall as it was.
"""

from ingest import events
from replay.chance import below
from replay.cheat_record import (
    BEST_HORSE,
    BEST_REPLACEMENT,
    CLEAN,
    COMEBACK,
    HONEYMOON,
    UPGRADE,
    UPGRADE_READY,
    UPGRADE_REVEALED,
    WALL,
    dares,
    note,
    works_for,
)
from replay.flags import wall_left
from replay.jit import inner
from replay.selfplay import refused
from replay.settle import HORSE_BACK, horse_points
from replay.shanten import shanten, useful_kinds
from replay.table import REPLACE_BACK

V_REPLACEMENT = events.REPLACEMENT
TILE_BITS = 31 << 6


@inner
def wanted(st, tb, sh, seat):
    """The kinds still in the wall that bring a hand of 13 (or 10, …) nearer or complete it, as a bit set."""
    if st.revealed[seat]:  # hidden triplets stay together
        return st.waits[seat]
    return useful_kinds(st, tb, sh, seat, st.unseen)[0]


@inner
def next_place(st, rules, replacement):
    """The place in the wall that the next draw comes from."""
    return 43 - st.back if replacement and rules.wall_replacement == REPLACE_BACK else st.front


@inner
def exchange(sim, rin, mode, one, two):
    """Exchange two places of the wall that is played with, and of what the log shows of it."""
    st = sim.st
    held = st.wall[one]
    st.wall[one] = st.wall[two]
    st.wall[two] = held
    if mode != WALL:
        rin.wall[one] = st.wall[one]
        rin.wall[two] = st.wall[two]
    if mode == CLEAN:
        sim.order[40 + one] = st.wall[one]
        sim.order[40 + two] = st.wall[two]


@inner
def any_place(sim, ch, kinds):
    """A place of the wall that holds one of these kinds, each equally likely; -1 where there is none."""
    st = sim.st
    found = 0
    for place in range(st.front, 44 - st.back):
        found += kinds >> st.wall[place] & 1
    if found == 0:
        return -1
    pick = below(ch.trick, found)
    for place in range(st.front, 44 - st.back):
        if kinds >> st.wall[place] & 1:
            if pick == 0:
                return place
            pick -= 1
    return -1


@inner
def is_due(ch, st, sh, i, seat):
    """Whether the i-th cheat wants this seat's draw to be a good one."""
    code = ch.code[i]
    if code == UPGRADE:
        return True
    if code == UPGRADE_READY:
        return shanten(st, sh, seat) == 0
    if code == UPGRADE_REVEALED:
        return st.revealed[seat] != 0
    if code == COMEBACK:
        return ch.losses[seat] >= ch.n[i]
    return ch.played[seat] < ch.n[i]


@inner
def bend_draw(sim, ch, rules, tb, sh, rin, event):
    """A draw or replacement after the cheats that work for its seat; returns the event with the tile it gets."""
    st = sim.st
    seat = event & 3
    replacement = event >> 2 & 15 == V_REPLACEMENT
    place = next_place(st, rules, replacement)
    for i in range(ch.count):
        code = ch.code[i]
        if code < UPGRADE or code > BEST_REPLACEMENT or not works_for(ch, i, seat) or st.dead[seat]:
            continue
        if code == BEST_REPLACEMENT:
            if not replacement or not dares(ch, i):
                continue
        elif not is_due(ch, st, sh, i, seat) or not dares(ch, i):
            continue
        kinds = wanted(st, tb, sh, seat)
        was = st.wall[place]
        if kinds >> was & 1:
            continue
        other = any_place(sim, ch, -1 if code == BEST_REPLACEMENT else kinds)
        if other >= 0 and kinds >> st.wall[other] & 1:
            exchange(sim, rin, ch.mode[i], place, other)
            note(ch, i, sim.count, seat, was, st.wall[place])
    return event & ~TILE_BITS | st.wall[place] << 6


@inner
def bend_horse(sim, ch, rules, tb, rin, event):
    """Before a self-draw is settled: the better of two tiles stands where the horse is turned."""
    st = sim.st
    seat = event & 3
    tile = event >> 6 & 31
    for i in range(ch.count):
        if ch.code[i] != BEST_HORSE or not works_for(ch, i, seat) or rules.side_horse == 0 or wall_left(st) < 2:
            continue
        if not dares(ch, i) or refused(sim, rules, tb, rin, event):
            continue
        place = 43 - st.back if rules.side_horse_end == HORSE_BACK else st.front
        other = any_place(sim, ch, -1)
        before = horse_points(st, rules, rin, seat, tile)
        was = st.wall[place]
        exchange(sim, rin, ch.mode[i], place, other)
        if horse_points(st, rules, rin, seat, tile) > before:
            note(ch, i, sim.count, seat, was, st.wall[place])
        else:
            exchange(sim, rin, ch.mode[i], place, other)


assert (UPGRADE, UPGRADE_READY, UPGRADE_REVEALED, COMEBACK, HONEYMOON) == tuple(range(UPGRADE, BEST_REPLACEMENT))
