"""How long simulated people think, and programs: milliseconds of each decision.

A person's time is lognormal around a median of its own, and longer where more discards come close to the best; a
program's is the same every time, or jittered, or drawn like a person's but with no regard to how hard the choice is.
The lognormal factor is interpolated between integer quantiles, so that times are the same on every machine.
"""

from math import exp
from statistics import NormalDist

import numpy as np

from ingest import events
from replay.chance import below
from replay.cheat_record import BOT, works_for
from replay.jit import inner

V_DISCARD, V_DISCARD_DRAWN, V_WIN = events.DISCARD, events.DISCARD_DRAWN, events.WIN
V_PUNG = events.PUNG
SPREADS = (0.35, 0.41, 0.47, 0.53, 0.59, 0.65, 0.71, 0.77)  # of the logarithm, by class
CONSTANT, JITTERED, BLIND = range(3)  # a program's times
QUICKEST, SLOWEST = 180, 45_000
DOUBLINGS = np.array([0, 0, 1024, 1623, 2048, 2378, 2647, 2875, 3072, 3246, 3402, 3542, 3671, 3789, 3899, 4001])
# log2 of the number of choices, in 1/1024


def curves() -> np.ndarray:
    """Quantiles of exp(spread × N(0, 1)) in 1/1024 by class of spread: int64 (8, 257), the ends cut at 1/1024."""
    normal = [NormalDist().inv_cdf(min(max(step / 256, 1 / 1024), 1 - 1 / 1024)) for step in range(257)]
    return np.array([[round(1024 * exp(spread * z)) for z in normal] for spread in SPREADS], np.int64)


@inner
def lognormal(ch, spread):
    """One lognormal factor of median 1, in 1/1024."""
    roll = below(ch.ticks, 256 << 10)
    low = ch.curve[spread, roll >> 10]
    return low + ((ch.curve[spread, (roll >> 10) + 1] - low) * (roll & 1023) >> 10)


@inner
def person_time(ch, seat, verb, forced):
    """Milliseconds of a person's decision."""
    median = ch.pace_ms[seat]
    if forced:
        median = median * 3 >> 3
    elif verb == V_DISCARD or verb == V_DISCARD_DRAWN:
        choices = min(max(ch.choices, 1), 15)
        median = median * (1024 + (ch.slope[seat] * DOUBLINGS[choices] >> 10)) >> 10
    elif verb >= V_PUNG:
        median = median * 3 >> 2
    return min(max(median * lognormal(ch, ch.spread[seat]) >> 10, QUICKEST), SLOWEST)


@inner
def program_time(ch, i):
    """Milliseconds of a program's decision: its n, and its mode."""
    if ch.mode[i] == CONSTANT:
        return ch.n[i]
    if ch.mode[i] == JITTERED:  # up to a third more or less
        third = max(ch.n[i] // 3, 1)
        return ch.n[i] - third + below(ch.ticks, 2 * third + 1)
    return min(max(ch.n[i] * lognormal(ch, 3) >> 10, QUICKEST), SLOWEST)


@inner
def retime(sim, ch, event, forced):
    """The time of the event just logged, where it is not the simulator's usual one.

    forced: the seat had nothing to decide (it had revealed).
    """
    seat = event & 3
    verb = event >> 2 & 15
    if seat > 2 or verb < V_DISCARD or verb > V_WIN:
        return
    for i in range(ch.count):
        if ch.code[i] == BOT and works_for(ch, i, seat):
            sim.times[sim.count - 1] = program_time(ch, i)
            return
    if ch.human:
        sim.times[sim.count - 1] = person_time(ch, seat, verb, forced)
