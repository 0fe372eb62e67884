"""Simulated rounds with cheats planted in them, and with the population of replay.corpus.

The cheats work at the tables of an honest room: who doesn't cheat plays by its own taste, and a round in which no
cheat acted is the round that would have been played without, as long as its dealer and raise are the same.
What was planted and what it did goes to labels and nowhere else.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.write import Output
from replay import ruleset, simulate
from replay.cheat_game import play_crooked_game
from replay.cheat_record import ABSENT, ACT, CROOK, EVERYONE, LOADED_DEALER, MAX_ACTS, MAX_CHEATS, OUTSIDE
from replay.cheats import Cheat, CheatError, parse
from replay.corpus import Population
from replay.hand import TABLES, tables
from replay.jit import COMPILED
from replay.labels import Labels
from replay.labels import write as write_labels
from replay.policy import SIM, TASTES
from replay.problems import CODES
from replay.seating import DAY_MS, CrookedRoom, House, Pair, Sitting, shares
from replay.selfplay import LONGEST_GAME, SEAT_0
from replay.shanten import DISTANCES, distances
from replay.simulate import BATCH_ROUNDS, SITE, WRAPS, Played, SimulationError
from replay.think_times import curves

LOADING, TAMPERING = 48, 49  # purposes of streams
SITTINGS = 10  # tried for a streak
ATTEMPTS, ANOTHER = 3000, np.uint64(0x9E3779B97F4A7C15)  # games dealt for a streak, and the step from seed to seed
CARELESS = {"noise": 1, "win": 0.3, "self_draw": 0.3, "pung": 0.1}
# Of an account that plays such a cheat, or looks as if it did: what of its taste is no longer its own.
TASTE: dict[str, dict[str, float]] = {
    "superuser": {"noise": 0, "defend": 1, "win": 1, "self_draw": 1},
    "clone": {"noise": 0, "defend": 1, "flush": 2, "pairs": 0.2, "five": 0.5, "pace": 1, "pung": 0.9, "reveal": 0.3},
    "strong_defender": {"noise": 0, "defend": 1, "reveal": 0.15, "win": 1, "self_draw": 1},
    "always_reveals": {"reveal": 1, "between": 1},
}


def handed(values: np.ndarray | np.record, dtype: np.dtype | None = None) -> np.ndarray:
    """Records as an array that compiled code takes fast; where nothing is compiled, one that has attributes."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values).reshape(1).view(dtype)
    return array.view(np.ndarray if COMPILED else np.recarray)


class CrookedPlayed(Played):
    """A batch of games with the times they started at and the acts of the cheats."""

    def __init__(self, rounds: int) -> None:
        super().__init__(rounds)
        self.starts = np.zeros(rounds, np.int64)
        self.acts = np.zeros(16 * MAX_ACTS, ACT).view(np.recarray)
        self.act_count = 0

    def room_for_acts(self) -> None:
        """Makes sure that a game's acts fit."""
        if len(self.acts) - self.act_count < LONGEST_GAME * MAX_ACTS:
            self.acts = np.concatenate([self.acts, np.zeros(len(self.acts), ACT)]).view(np.recarray)


class Crooks:
    """The planted cheats and all that the compiled part keeps between games."""

    def __init__(self, rules: ruleset.Ruleset, seed: int, cheats: Sequence[Cheat], house: House) -> None:
        self.rules, self.cheats, self.house = rules, cheats, house
        self.seed = np.uint64(seed)
        number = {name: at for at, name in enumerate(house.names)}
        for cheat in cheats:
            for name in cheat.accounts:
                if name not in number:
                    raise CheatError(f"--cheat {cheat}: no account {name!r}; there are {house.names[0]} to "
                                     f"{house.names[-1]}")  # fmt: skip
        self.who = [tuple(number[name] for name in cheat.accounts) for cheat in cheats]
        for cheat, who in zip(cheats, self.who, strict=True):
            for account in who:
                for taste, value in TASTE.get(cheat.kind.name, {}).items():
                    house.tastes[taste][account] = value
        self.pairs = [Pair(*who, cheat.share, cheat) for cheat, who in zip(cheats, self.who, strict=True)
                      if cheat.kind.name in ("queue_pair", "friends")]  # fmt: skip
        self.high = {who[0] for cheat, who in zip(cheats, self.who, strict=True) if cheat.kind.name == "whale"}
        self._sims = np.zeros(1, SIM)
        first = SIM.fields[TASTES[0]][1]  # the tastes stand together, three seats each
        self._tastes = np.ndarray((len(TASTES), 3), np.float64, self._sims.data, first)
        self._people = np.array([house.tastes[name] for name in TASTES])
        self._crooks = np.zeros(1, CROOK)
        self._crooks["curve"][0] = curves()
        self._crooks["human"] = house.human is not None
        self._records = (
            handed(self._sims), handed(self._crooks), handed(rules.record, ruleset.DTYPE), handed(tables(), TABLES),
            handed(distances(), DISTANCES),
        )  # fmt: skip
        self.losses = np.zeros(len(house.names), np.int64)
        self.played = np.zeros(len(house.names), np.int64)
        self._first_day: int | None = None
        self._had: set[int] = set()  # look-alikes that have had their streak
        self._tried: Counter[int] = Counter()  # sittings that were dealt in vain for one

    def day(self, moment_ms: int) -> int:
        """Days since the first day played."""
        day = moment_ms // DAY_MS
        if self._first_day is None:
            self._first_day = day
        return day - self._first_day

    def take_seats(self, sitting: Sitting) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Fill CROOK for a game; the accounts in their seats, and (cheat, seat) of each loaded dealer."""
        day = self.day(sitting.begin_ms)
        accounts = np.array(sitting.accounts, np.int64)
        loaded: list[tuple[int, int]] = []
        ch = self._crooks
        ch["first_dealer"] = -1
        for plan, (cheat, who) in enumerate(zip(self.cheats, self.who, strict=True)):
            if cheat.kind.code != LOADED_DEALER or not cheat.on(day) or who[0] not in accounts:
                continue
            if shares(self.seed, sitting.number, plan, LOADING, 1)[0] >= cheat.share:
                continue
            seat = int(np.nonzero(accounts == who[0])[0][0])
            if self.rules.record.dealer_first == SEAT_0:
                accounts[[0, seat]] = accounts[[seat, 0]]
                seat = 0
            else:
                ch["first_dealer"] = seat
            loaded.append((plan, seat))
        at = 0
        place = {int(account): seat for seat, account in enumerate(accounts)}
        for plan, (cheat, who) in enumerate(zip(self.cheats, self.who, strict=True)):
            if cheat.kind.code in (OUTSIDE, LOADED_DEALER) or not cheat.on(day):
                continue
            seats = [place.get(account, ABSENT) for account in who]
            if seats and seats[0] == ABSENT and cheat.kind.name not in ("clone", "soft"):
                continue
            if not seats:
                seats = [int(cheat.values.get("seat", EVERYONE))]
            for seat, mate in _sides(cheat, seats):
                if at == MAX_CHEATS:
                    raise CheatError(f"more than {MAX_CHEATS} cheats at one table")
                ch["code"][0, at], ch["plan"][0, at] = cheat.kind.code, plan
                ch["seat"][0, at], ch["mate"][0, at] = seat, mate
                ch["q"][0, at], ch["n"][0, at], ch["mode"][0, at] = cheat.share, cheat.number, cheat.mode
                if cheat.kind.name == "clone":
                    ch["n"][0, at] = plan
                at += 1
        ch["count"] = at
        ch["now_ms"] = sitting.begin_ms
        self._tastes[:] = self._people[:, accounts]
        if self.house.human is not None:
            for name, values in self.house.human.items():
                ch[name][0] = values[accounts]
        return accounts, loaded

    @WRAPS
    def play(self, played: CrookedPlayed, sitting: Sitting, most: int) -> None:
        """Play a game of at most `most` rounds into a batch."""
        accounts, loaded = self.take_seats(sitting)
        base = int(self.rules.values["stake.base"]) or sitting.base
        played.room_for_acts()
        first = played.rounds
        streak = self._streak(sitting, accounts, most)
        before = self.losses.copy(), self.played.copy()
        for attempt in range(ATTEMPTS if streak else 1):
            self.losses[:], self.played[:] = before
            self._crooks["now_ms"] = sitting.begin_ms
            seed = self.seed + np.uint64(attempt) * ANOTHER
            count, wrong, act_count = play_crooked_game(
                self._records, seed, sitting.number, most, base, accounts, self.losses, self.played,
                handed(played.rins), handed(played.outs), played.orders, played.salts, played.starts, played.log,
                played.times, handed(played.acts), played.act_count, first, played.events,
            )  # fmt: skip
            if streak and not wrong and self._has_streak(played, first, count, *streak):
                loaded.append((streak[0], streak[1]))
                break
        if streak and streak[0] not in self._had:
            self._tried[streak[0]] += 1
            if self._tried[streak[0]] == SITTINGS:
                n = self.cheats[streak[0]].number
                raise SimulationError(
                    f"dealer_streak: {n} rounds in a row did not come up in {SITTINGS} sittings of {ATTEMPTS:,} games "
                    f"under {self.rules.id}: expected a smaller n"
                )
        played.act_count = act_count
        if wrong:
            state = self._sims["st"][0]
            code = CODES[state["problem_code"][0]] if state["problems"] else "no end"
            what = f"the table refuses the simulator's own event: {code}" if wrong == 1 else "too many acts of cheats"
            raise SimulationError(f"{self.rules.id}, game {sitting.number}, round {count - 1}: {what}")
        played.games.append((sitting.number, count, accounts))
        played.rounds += count
        played.events = int(played.rins.stop[played.rounds - 1])
        for plan, seat in loaded:
            played.acts[played.act_count] = (first, plan, -1, seat, -1, self.cheats[plan].number or seat)
            played.act_count += 1

    def _streak(self, sitting: Sitting, accounts: np.ndarray, most: int) -> tuple[int, int] | None:
        """(the look-alike, its seat) where this game is to hold a dealer's streak; the others then play carelessly."""
        for plan, (cheat, who) in enumerate(zip(self.cheats, self.who, strict=True)):
            if cheat.kind.name != "dealer_streak" or plan in self._had or who[0] not in accounts:
                continue
            if cheat.number < most and cheat.on(self.day(sitting.begin_ms)):
                seat = int(np.nonzero(accounts == who[0])[0][0])
                others = [other for other in range(3) if other != seat]
                for taste, value in CARELESS.items():
                    self._tastes[TASTES.index(taste), others] = value
                return plan, seat
        return None

    def _has_streak(self, played: CrookedPlayed, first: int, count: int, plan: int, seat: int) -> bool:
        """Whether the seat won so many rounds in a row as dealer."""
        rows = slice(first, first + count)
        outs = played.outs[rows]
        won = (played.rins.dealer[rows] == seat) & (outs.wins > 0) & (outs.win_seat[:, 0] == seat)
        longest = run = 0
        for one in won.tolist():
            run = run + 1 if one else 0
            longest = max(longest, run)
        if longest >= self.cheats[plan].number:
            self._had.add(plan)
            return True
        return False

    def tamper(self, played: CrookedPlayed) -> np.ndarray:
        """Change recorded payouts; the rounds of the batch that stay in the log (bool[])."""
        keep = np.ones(played.rounds, bool)
        for plan, (cheat, who) in enumerate(zip(self.cheats, self.who, strict=True)):
            if cheat.kind.family != "log":
                continue
            row = 0
            for game, count, accounts in played.games:
                rows = np.arange(row, row + count)
                row += count
                seats = np.nonzero(accounts == who[0])[0]
                if not len(seats) or not cheat.on(self.day(int(played.starts[rows[0]]))):
                    continue
                hit = shares(self.seed, game, plan, TAMPERING, count) < cheat.share
                if cheat.kind.name == "drop_lost":
                    hit &= (played.outs.points[rows, seats[0]] < 0) & (rows > rows[0])
                    keep[rows[hit]] = False
                else:
                    self._overpay(played, rows[hit], int(seats[0]), int(cheat.values["points"]))
                for at in rows[hit].tolist():
                    played.room_for_acts()
                    before = int(cheat.values.get("points", 0)) * int(played.rins.base_[at])
                    now = int(played.outs.points[at, seats[0]])
                    played.acts[played.act_count] = (at, plan, -1, seats[0], now - before, now)
                    played.act_count += 1
        return keep

    @staticmethod
    def _overpay(played: CrookedPlayed, rows: np.ndarray, seat: int, points: int) -> None:
        """Points for a seat at the cost of whoever lost most of the two others."""
        amount = points * played.rins.base_[rows]
        others = np.array([other for other in range(3) if other != seat])
        poorest = others[np.argmin(played.outs.points[rows][:, others], axis=1)] if len(rows) else rows
        played.outs.points[rows, seat] += amount
        played.outs.points[rows, poorest] -= amount


def _sides(cheat: Cheat, seats: list[int]) -> list[tuple[int, int]]:
    """(seat, partner's seat) of everyone that a cheat works for."""
    if cheat.kind.name == "clone":
        return [(seat, ABSENT) for seat in seats if seat != ABSENT]
    if len(seats) < 2:
        return [(seats[0], ABSENT)]
    if ABSENT in seats:
        return []
    both = [(seats[0], seats[1]), (seats[1], seats[0])]
    return both if cheat.values.get("mutual") == "yes" else both[:1]


def play(
    rules_id: str, rounds: int, seed: int, options: Mapping[str, Any] | None = None, *,
    cheats: Sequence[Cheat | str] = (), accounts: int | None = None, labels: Labels | None = None, site: str = SITE,
    lines: bool = False, batch_rounds: int = BATCH_ROUNDS,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """Batches of ROUNDS as replay.simulate.simulate gives them, with cheats.

    accounts: None for the simulator's usual room; else a population of so many (replay.corpus).  labels: told of all
    that was planted and done.  Fewer than `rounds` where a cheat takes rounds out.  Raises CheatError,
    SimulationError and RulesetError.
    """
    rules = simulate.playable(rules_id, options)
    planted = [parse(cheat) if isinstance(cheat, str) else cheat for cheat in cheats]
    house: House = CrookedRoom(seed, simulate.ACCOUNTS, None) if accounts is None else Population(seed, accounts)
    crooks = Crooks(rules, seed, planted, house)
    return _batches(crooks, rounds, simulate.named(rules, seed, site), labels or Labels(), lines, batch_rounds)


def _batches(
    crooks: Crooks, rounds: int, constant: dict[str, str], labels: Labels, lines: bool, batch_rounds: int
) -> Iterator[pa.RecordBatch]:
    house = crooks.house
    labels.begin(crooks.cheats)
    sittings = house.sittings(crooks.pairs, crooks.high)
    done = written = 0
    while done < rounds:
        played = CrookedPlayed(min(batch_rounds, rounds - done) + LONGEST_GAME)
        while played.rounds < batch_rounds and done + played.rounds < rounds:
            crooks.play(played, next(sittings), rounds - done - played.rounds)
        done += played.rounds
        keep = crooks.tamper(played)
        starts = played.starts[: played.rounds] // house.tick_ms * house.tick_ms
        columns = played.columns(house.names, constant, starts)
        if house.builds is not None:
            columns["extra"] = [f'{{"_build":"{house.builds(moment)}"}}' for moment in starts.tolist()]
        labels.add(columns, played.acts[: played.act_count], played.rins.suits)
        columns = _kept(columns, keep)
        yield simulate.finished(columns, written, lines)
        written += len(columns["round"])
    labels.end()


def _kept(columns: dict[str, Any], keep: np.ndarray) -> dict[str, Any]:
    """The columns without the rounds that were taken out."""
    if keep.all():
        return columns
    mask = pa.array(keep)
    out: dict[str, Any] = {}
    for name, values in columns.items():
        if isinstance(values, str):
            out[name] = values
        elif isinstance(values, pa.Array):
            out[name] = values.filter(mask)
        elif isinstance(values, np.ndarray):
            out[name] = values[keep]
        else:
            out[name] = [value for value, stays in zip(values, keep.tolist(), strict=True) if stays]
    return out


def write(
    path: str | Path, rules_id: str, options: Mapping[str, Any] | None, rounds: int, seed: int, *,
    cheats: Sequence[Cheat | str] = (), accounts: int | None = None,
    progress: Callable[[int], None] = lambda rounds: None, **more: Any,
) -> None:  # fmt: skip
    """Write a simulated log as replay.simulate.write does, and its labels beside it as FILE.labels.jsonl."""
    output = Output(path)
    labels = Labels()
    batches = play(rules_id, rounds, seed, options, cheats=cheats, accounts=accounts, labels=labels, lines=True, **more)
    simulate.write_batches(output, batches, progress)
    write_labels(f"{path}.labels.jsonl", labels)
