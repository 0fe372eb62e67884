"""Who meets whom at a table, with pairs that look for each other: what replay.crooked asks of a house."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from replay import chance
from replay.cheats import Cheat
from replay.simulate import BASES, SLOT_MS, WRAPS, Room

DAY_MS = 86_400_000
PAIRING = 50  # purpose of streams
GAMMA, MIX_1, MIX_2 = (np.uint64(number) for number in (chance.GAMMA, chance.MIX_1, chance.MIX_2))
S11, S27, S30, S31 = (np.uint64(bits) for bits in (11, 27, 30, 31))


@WRAPS
def shares(seed: np.uint64, place: int | np.ndarray, part: int, purpose: int, count: int) -> np.ndarray:
    """Numbers from 0 to below 1 that belong to a place, or to each of many: float64[count] or [places, count].

    The same generator as replay.chance, many at a time.
    """

    def mixed(z: np.ndarray) -> np.ndarray:
        z = (z ^ (z >> S30)) * MIX_1
        z = (z ^ (z >> S27)) * MIX_2
        return z ^ (z >> S31)

    state = mixed(seed + GAMMA)
    for number in (place, part):
        state = mixed(state ^ np.asarray(number).astype(np.uint64)) + GAMMA
    state = mixed(state ^ np.uint64(purpose))
    steps = np.arange(1, count + 1, dtype=np.uint64) * GAMMA
    return (mixed(state[..., None] + steps) >> S11) / float(1 << 53)


class Sitting(NamedTuple):
    """One game to be played."""

    number: int
    accounts: np.ndarray  # int64[3], by number, seat order
    base: int
    begin_ms: int


class Pair(NamedTuple):
    """Two accounts that sit down together."""

    one: int
    other: int
    q: float
    cheat: Cheat


class House(Protocol):
    """Where accounts meet: a room of replay.simulate or a population."""

    names: list[str]
    tastes: dict[str, np.ndarray]
    human: dict[str, np.ndarray] | None  # of each account: pace_ms, spread, slope; None: the simulator's usual times
    tick_ms: int  # what the log's times are cut to
    builds: Callable[[int], str] | None  # the client's build at a time

    def sittings(self, pairs: list[Pair], high: set[int]) -> Iterator[Sitting]:
        """All games in order of their start, without end.  pairs: who sits down together; high: who plays for most."""


class CrookedRoom(Room):
    """The simulator's room, with pairs that find each other."""

    human = None
    tick_ms = 1000
    builds = None
    _pairs: list[Pair] = []

    @WRAPS
    def drawn(self, slot: int) -> np.ndarray:
        """The order of seating, after pairs have changed places with others."""
        order = super().drawn(slot)
        for number, pair in enumerate(self._pairs):
            roll, side = shares(self.seed, slot, number, PAIRING, 2)
            if pair.cheat.on(slot * SLOT_MS // DAY_MS) and roll < pair.q:
                place = int(np.nonzero(order == pair.one)[0][0])
                mate = int(np.nonzero(order == pair.other)[0][0])
                if place // 3 >= self.tables:
                    place, mate = mate, place
                if place // 3 < self.tables and mate // 3 != place // 3:
                    free = place // 3 * 3 + (place % 3 + 1 + int(side < 0.5)) % 3
                    order[mate], order[free] = order[free], order[mate]
        return order

    def sittings(self, pairs: list[Pair], high: set[int]) -> Iterator[Sitting]:
        """See House."""
        self._pairs = pairs
        game = 0
        while True:
            seats = self.seats(game)
            base = max(BASES) if high & set(seats.tolist()) else self.base(game)
            yield Sitting(game, seats, base, self.begin_ms(game, SLOT_MS))
            game += 1
