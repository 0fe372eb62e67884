"""What compiled code needs to know of planted cheats: their codes, and the record CROOK that they share at a table.

A planted cheat is numbers in CROOK: a code, the seat it works for, its partner's seat, a share `q`, a number `n`, a
word `mode`.  What a cheat did is noted as acts, which become labels and nothing else.
"""

import numpy as np

from replay.chance import STREAM, happens
from replay.jit import inner, record

MAX_CHEATS = 24  # at one table
MAX_ACTS = 512  # of one round
ABSENT, EVERYONE = -1, 3  # as a seat

# Codes, in the order of the hooks that ask for them.
(
    SWAP_ANY, OFF_BY_ONE, MODULO, RIFFLE, CARRY_OVER, LCG, CLOCK_SEED,
    BEST_DEAL, DRAGON_SWAP, SORTED_WALL,
    LOADED_DEALER, LOADED_DICE,
    UPGRADE, UPGRADE_READY, UPGRADE_REVEALED, COMEBACK, HONEYMOON, BEST_REPLACEMENT, BEST_HORSE,
    DUMP, SOFT, SIGNAL, PEEK, SUPERUSER, NEXT_TILE,
    BOT, CLONE,
    OUTSIDE,  # done outside the compiled part
) = range(28)  # fmt: skip

CLEAN, COMMITMENT, WALL = range(3)  # what of a round is made up after a tile was swapped: everything; not the order
# that was committed to; not the recorded wall either

CROOK = np.dtype(
    [
        ("trick", STREAM),  # the cheats' decisions: nobody else's streams are touched
        ("ticks", STREAM),  # thinking times that are not the simulator's usual ones
        ("count", np.int64),
        ("code", np.int64, (MAX_CHEATS,)),
        ("plan", np.int64, (MAX_CHEATS,)),  # index among the planted
        ("seat", np.int64, (MAX_CHEATS,)),
        ("mate", np.int64, (MAX_CHEATS,)),
        ("q", np.float64, (MAX_CHEATS,)),
        ("n", np.int64, (MAX_CHEATS,)),
        ("mode", np.int64, (MAX_CHEATS,)),
        ("done", np.int64, (MAX_CHEATS,)),  # acts of the round so far
        ("last", np.uint8, (84,)),  # the tiles of the table's last round, in their order
        ("has_last", np.int64),
        ("spare", np.uint8, (84,)),
        ("first_dealer", np.int64),  # -1: as the rules say
        ("losses", np.int64, (3,)),  # rounds that each seat's account has lost in a row
        ("played", np.int64, (3,)),  # rounds that it has played
        ("now_ms", np.int64),  # UTC milliseconds of the round's start
        ("human", np.int64),  # thinking times follow replay.think_times
        ("pace_ms", np.int64, (3,)),  # of each seat: the median of an easy decision
        ("spread", np.int64, (3,)),  # its class of spread
        ("slope", np.int64, (3,)),  # how much longer a hard decision takes, in 1/1024 for each doubling of choices
        ("choices", np.int64),  # discards about as good as the one chosen, at the last turn
        ("curve", np.int64, (8, 257)),  # quantiles of the lognormal factor, in 1/1024, by class of spread
        ("acts", np.int64),
        ("act_plan", np.int64, (MAX_ACTS,)),
        ("act_event", np.int64, (MAX_ACTS,)),  # -1: before the first
        ("act_seat", np.int64, (MAX_ACTS,)),
        ("act_was", np.int64, (MAX_ACTS,)),
        ("act_now", np.int64, (MAX_ACTS,)),
    ]
)

# One act of a cheat as it leaves the compiled part.
ACT = np.dtype(
    [
        ("row", np.int64),
        ("plan", np.int64),
        ("event", np.int64),
        ("seat", np.int64),
        ("was", np.int64),  # a kind, a shanten, or -1, as the cheat says
        ("now", np.int64),
    ]
)


def crook() -> np.record:
    """An empty CROOK: nobody cheats."""
    return record(CROOK)


@inner
def works_for(ch, i, seat):
    """Whether the i-th cheat works for this seat."""
    return ch.seat[i] == seat or ch.seat[i] == EVERYONE


@inner
def dares(ch, i):
    """Whether the i-th cheat is done at this chance."""
    return happens(ch.trick, ch.q[i])


@inner
def note(ch, i, event, seat, was, now):
    """Note one act of the i-th cheat; more than MAX_ACTS are counted, and refused outside."""
    at = ch.acts
    ch.acts = at + 1
    ch.done[i] += 1
    if at < MAX_ACTS:
        ch.act_plan[at] = ch.plan[i]
        ch.act_event[at] = event
        ch.act_seat[at] = seat
        ch.act_was[at] = was
        ch.act_now[at] = now
