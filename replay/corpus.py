"""A population for audits: accounts that differ in strength and taste, in when, how long and for how much they play.

Every hour the accounts that are online queue at a stake, and whoever queues for the same is seated by lot, three at a
table, for a game of several rounds.  Accounts join over time; some play daily, some rarely, most at their own hours.
Decisions take a person's time (replay.think_times).  All of it follows from the seed.
"""

from collections.abc import Callable, Iterator

import numpy as np

from replay.seating import Pair, Sitting, shares
from replay.simulate import EPOCH_MS, SLOT_MS, Room, SimulationError

STAKES = (1, 2, 5, 10, 50)
PERSON, QUEUE, PAIRS, STARTS, CHAIRS = 64, 65, 66, 67, 68  # purposes of streams
NEWCOMERS = 0.3  # of the accounts join later, over JOINING_DAYS
JOINING_DAYS = 10
IDLE_SLOTS = 24 * 60  # without a single table, after which a population is one that never meets
BUILD_DAYS = 4  # from one build of the client to the next


class Population:
    """Accounts u1, u2, … and where they sit; see the module.  SimulationError for fewer than three."""

    tick_ms = 1

    def __init__(self, seed: int, accounts: int, builds: bool = True) -> None:
        people = Room(seed, accounts, None)
        self.names = people.names
        self.tastes = people.tastes
        self.builds: Callable[[int], str] | None = build_at if builds else None
        self._seed = np.uint64(seed)
        share = shares(self._seed, np.arange(accounts), 0, PERSON, 10)
        # Strength: the weakest discard one tile in four at random and forget to defend, the best hardly ever.
        weak = share[:, 0] * share[:, 0]
        self.tastes["noise"] = 0.005 + 0.25 * weak
        self.tastes["defend"] = 1 - 0.6 * weak * share[:, 1]
        self.tastes["win"] = 1 - 0.06 * weak
        self.human = {
            "pace_ms": 700 + whole(1500 * share[:, 2]),
            "spread": whole(8 * share[:, 3]),
            "slope": 150 + whole(350 * share[:, 4]),
        }
        self.active = 0.03 + 0.6 * share[:, 5] * share[:, 5]  # share of its own hours that it is online
        self.hour = whole(24 * share[:, 6])  # around which it plays
        self.stake = whole(len(STAKES) * share[:, 7] * share[:, 7])
        self.joins = np.where(share[:, 8] < NEWCOMERS, whole(JOINING_DAYS * share[:, 9]), 0)

    def busiest(self) -> list[str]:
        """The accounts from the first day on, those that play most first."""
        order = np.lexsort((-self.active, self.joins))
        return [self.names[account] for account in order.tolist() if self.joins[account] == 0]

    def queue(self, slot: int, pairs: list[Pair], high: set[int]) -> list[tuple[list[int], int]]:
        """The tables of one hour: (three accounts in seat order, stake)."""
        rolls = shares(self._seed, slot, 0, QUEUE, 3 * len(self.names)).reshape(3, -1)
        order = np.argsort(rolls[2], kind="stable")
        away = np.abs((slot % 24 - self.hour + 12) % 24 - 12)  # hours from its own
        online = rolls[0] < self.active * np.where(away <= 4, 1.0, 0.25)
        online &= self.joins <= slot // 24
        moved = np.where(rolls[1] < 0.1, 1, 0) - np.where(rolls[1] > 0.85, 1, 0)
        stake = np.clip(self.stake + moved, 0, len(STAKES) - 1)
        for account in high:
            online[account] = rolls[0, account] < 0.8
            stake[account] = len(STAKES) - 1
        together: dict[int, int] = {}
        for number, pair in enumerate(pairs):
            roll = shares(self._seed, slot, number, PAIRS, 1)[0]
            joined = max(self.joins[pair.one], self.joins[pair.other]) <= slot // 24
            met = joined and (online[pair.one] or online[pair.other])
            if met and pair.cheat.on(slot // 24) and roll < pair.q:
                online[pair.one] = online[pair.other] = True
                stake[pair.other] = stake[pair.one]
                together[pair.one], together[pair.other] = pair.other, pair.one
        chairs = shares(self._seed, slot, 0, CHAIRS, len(self.names)) if together else rolls[2]
        found: list[tuple[list[int], int]] = []
        order = order[online[order]]
        levels = stake[order]
        for level, base in enumerate(STAKES):
            waiting = order[levels == level].tolist()
            found += [(table, base) for table in _tables(waiting, together, chairs)]
        return found

    def sittings(self, pairs: list[Pair], high: set[int]) -> Iterator[Sitting]:
        """See replay.seating.House.  SimulationError where no three ever want to play together."""
        slot = game = idle = 0
        while True:
            found = self.queue(slot, pairs, high)
            idle = 0 if found else idle + 1
            if idle == IDLE_SLOTS:
                raise SimulationError(
                    f"{len(self.names)} accounts, of whom no three play at one hour and stake in "
                    f"{IDLE_SLOTS // 24} days: expected more, or another seed"
                )
            # A game starts within the first minute of its hour, at any millisecond.
            late = whole(60_000 * shares(self._seed, slot, 0, STARTS, len(found)))
            for (accounts, base), after in zip(found, late.tolist(), strict=True):
                yield Sitting(game, np.array(accounts), base, EPOCH_MS + slot * SLOT_MS + after)
                game += 1
            slot += 1


def _tables(waiting: list[int], together: dict[int, int], chairs: np.ndarray) -> list[list[int]]:
    """Threes of a queue in its order, pairs kept together; who is left over doesn't play.

    chairs: a number from 0 to 1 of each account, by which a pair's table is seated.
    """
    if not together:
        return [waiting[at : at + 3] for at in range(0, len(waiting) - 2, 3)]
    place = {account: at for at, account in enumerate(waiting)}
    paired = [account for account in waiting if together.get(account) in place]
    singles = [account for account in waiting if account not in paired]
    tables: list[list[int]] = []
    for one in paired:
        other = together[one]
        if place[one] < place[other] and singles:
            tables.append(sorted([one, other, singles.pop(0)], key=lambda account: chairs[account]))
    tables += [singles[at : at + 3] for at in range(0, len(singles) - 2, 3)]
    return sorted(tables, key=lambda table: min(place[account] for account in table))


def whole(values: np.ndarray) -> np.ndarray:
    """Numbers cut to integers."""
    return values.astype(np.int64)


def build_at(moment_ms: int) -> str:
    """The client's build at a time."""
    return f"1.{(moment_ms - EPOCH_MS) // (BUILD_DAYS * 24 * 3_600_000)}"
