"""Seeded random numbers inside compiled code: splitmix64 streams in a record, no global generator.

A stream is one 64-bit number.  Each purpose (a deck, a mind, a clock) of each round has a stream of its own, derived
from the seed and the round's place, so that a round is the same whatever is simulated before or beside it.
Method: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014); bounded numbers without bias:
Lemire, "Fast random integer generation in an interval" (2019).
"""

import numpy as np

from replay.jit import inner, jit

STREAM = np.dtype([("state", np.uint64)])
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32, S11 = (np.uint64(bits) for bits in (27, 30, 31, 32, 11))
LOW = np.uint64(0xFFFFFFFF)
UNIT = 2.0**-53


@inner
def mix(z):
    """The output function of splitmix64: uint64 to uint64, one to one."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@jit
def start(stream, seed, place, part, purpose):
    """Set a stream by its seed (uint64), two numbers that say where it is used, and its purpose (int64 each)."""
    state = mix(seed + GAMMA)
    state = mix(state ^ np.uint64(place)) + GAMMA
    state = mix(state ^ np.uint64(part)) + GAMMA
    stream.state = mix(state ^ np.uint64(purpose))


@jit
def bits(stream):
    """The next 64 random bits (uint64)."""
    stream.state = stream.state + GAMMA
    return mix(stream.state)


@jit
def below(stream, n):
    """A number from 0 to n - 1, each equally likely; 1 <= n < 2^32."""
    size = np.uint64(n)
    wide = (bits(stream) >> S32) * size
    if wide & LOW < size:
        least = ((LOW - size) + np.uint64(1)) % size
        while wide & LOW < least:
            wide = (bits(stream) >> S32) * size
    return np.int64(wide >> S32)


@inner
def happens(stream, probability):
    """True with this probability."""
    return np.float64(bits(stream) >> S11) * UNIT < probability


@jit
def shuffle(stream, array):
    """Fisher and Yates: every order of the array equally likely, in place."""
    for last in range(len(array) - 1, 0, -1):
        place = below(stream, last + 1)
        held = array[last]
        array[last] = array[place]
        array[place] = held
