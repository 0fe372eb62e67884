"""Simulated logs: seeded self-play of any ruleset as rounds (ingest.events.ROUNDS) or as a kwx log.

The same seed gives the same rounds and the same bytes, however many rounds are asked for, in batches of any size:
every game has streams of its own (replay.chance), and times are made up too, from a fixed epoch.
Accounts are seated anew every slot of time, each plays to its own taste, and a room has several tables.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.events import WIN_TYPE
from ingest.formats import rounds_batch
from ingest.formats.kwx_write import write as write_lines
from ingest.notation import encode_wall
from ingest.read import identified
from ingest.tiles import SUITS
from ingest.write import Output
from replay import chance, ruleset
from replay.hand import tables
from replay.jit import record
from replay.policy import MAX_EVENTS, SIM, TASTES, Policy
from replay.problems import CODES
from replay.selfplay import LONGEST_GAME, play_game
from replay.shanten import distances
from replay.state import RESULT, ROUND

SITE = "simulated"
ACCOUNTS, TABLES = 48, 8  # of a room; at most ACCOUNTS // 3 tables
EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
SLOT_MS = 3_600_000  # from one game of a table to its next
PAUSE_MS = 12_000  # between the rounds of a game
BASES = (1, 1, 1, 2, 5, 10)
BATCH_ROUNDS = 2048
NO_PREV = "0" * 64
SEATING, TASTE, STAKE = 16, 17, 18  # purposes of streams, beside those of replay.selfplay

WRAPS = np.errstate(over="ignore")  # numbers wrap here; where nothing is compiled, NumPy would warn of it

Policies = Policy | Mapping[str, Policy] | None


class SimulationError(Exception):
    """A simulation that cannot be run as asked; the message says which argument is wrong and what was expected."""


class Room:
    """Who sits where, at which stake and with which taste: everything about games that is not play.

    policy: None for people of different tastes; one Policy for all; or some accounts' own by name.
    """

    @WRAPS
    def __init__(self, seed: int, accounts: int, policy: Policies) -> None:
        if not 0 <= seed < 1 << 64:
            raise SimulationError(f"seed {seed}: expected 0 to 2^64 - 1")
        if accounts < 3:
            raise SimulationError(f"accounts {accounts}: expected at least 3")
        self.seed = np.uint64(seed)
        self.names = [f"u{number + 1}" for number in range(accounts)]
        self.tables = min(TABLES, accounts // 3)
        self._stream = record(chance.STREAM)
        own = policy if isinstance(policy, Mapping) else {}
        if unknown := sorted(set(own) - set(self.names)):
            raise SimulationError(f"policy of {unknown[0]!r}: expected accounts u1 to u{accounts}")
        same = policy if isinstance(policy, Policy) else None
        people = [same or own.get(name) or self.person(n) for n, name in enumerate(self.names)]
        self.tastes = {name: np.array([getattr(one, name) for one in people]) for name in TASTES}
        self._slot, self._seats = -1, np.zeros(0, np.int64)

    @WRAPS
    def person(self, account: int) -> Policy:
        """The taste of one account: around the usual one, more or less careful, quick and daring."""
        chance.start(self._stream, self.seed, account, 0, TASTE)

        def around(low: float, high: float) -> float:
            return low + (high - low) * chance.below(self._stream, 1001) / 1000

        chaser, pairer = around(0, 1), around(0, 1)  # few accounts are far from the usual here
        return replace(
            Policy(), win=around(0.95, 1), pung=around(0.6, 0.97), pung_idle=around(0, 0.15), kong=around(0.8, 1),
            reveal=around(0.05, 0.5), between=around(0.05, 0.4), defend=around(0.5, 1), noise=around(0.01, 0.1),
            flush=60 * chaser * chaser * chaser, pairs=8 * pairer * pairer * pairer, five=around(0, 1),
            pace=around(0.6, 1.6),
        )  # fmt: skip

    @WRAPS
    def seats(self, game: int) -> np.ndarray:
        """The three accounts of a game by number, seat order; an account sits at one table at a time."""
        slot, table = divmod(game, self.tables)
        if slot != self._slot:
            self._slot, self._seats = slot, self.drawn(slot)
        return self._seats[3 * table : 3 * table + 3]

    @WRAPS
    def drawn(self, slot: int) -> np.ndarray:
        """All accounts in the order in which they are seated in a slot of time, three a table."""
        order = np.arange(len(self.names))
        chance.start(self._stream, self.seed, slot, 0, SEATING)
        chance.shuffle(self._stream, order)
        return order

    @WRAPS
    def base(self, game: int) -> int:
        """The stake of a game where the rules leave it open."""
        chance.start(self._stream, self.seed, game, 0, STAKE)
        return BASES[chance.below(self._stream, len(BASES))]

    def begin_ms(self, game: int, slot_ms: int) -> int:
        """UTC milliseconds of a game's start."""
        slot, table = divmod(game, self.tables)
        return EPOCH_MS + slot * slot_ms + table * 20_000


def simulate(
    rules_id: str,
    rounds: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
    *,
    site: str = SITE,
    accounts: int = ACCOUNTS,
    slot_ms: int = SLOT_MS,
    policy: Policies = None,
    lines: bool = False,
    batch_rounds: int = BATCH_ROUNDS,
) -> Iterator[pa.RecordBatch]:
    """Batches of ROUNDS, whole games each, `rounds` rounds in all; the last game may be cut short.

    options: room options; accounts: how many play, named u1, u2, …; slot_ms: from one game of a table to its next;
    policy: see Room; lines: chain the rounds of a game by `prev` and fill `raw` and the digests of lines, as a reader
    that keeps raw lines would.  Raises SimulationError and RulesetError.
    """
    rules = playable(rules_id, options)
    return _batches(rules, rounds, Room(seed, accounts, policy), named(rules, seed, site), slot_ms, lines, batch_rounds)


def playable(rules_id: str, options: Mapping[str, Any] | None) -> ruleset.Ruleset:
    """The ruleset to play; SimulationError for one that is only a parent, RulesetError."""
    rules = ruleset.load(rules_id, dict(options or {}))
    if not rules.playable:
        raise SimulationError(f"{rules_id} is a parent of rulesets and not played itself")
    return rules


def named(rules: ruleset.Ruleset, seed: int, site: str) -> dict[str, str]:
    """The columns that are the same in every round; `source` also is the start of every game's name."""
    chosen = ruleset.canonical(rules.options)
    options = f"-{sha256(chosen.encode()).hexdigest()[:4]}" if rules.options else ""
    return {"site": site, "rules": rules.id, "options": chosen, "source": f"{rules.id}{options}-{seed}"}


def _batches(
    rules: ruleset.Ruleset, rounds: int, room: Room, constant: dict[str, str], slot_ms: int, lines: bool,
    batch_rounds: int,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    sim = record(SIM)
    game = done = 0
    while done < rounds:
        played = Played(min(batch_rounds, rounds - done) + LONGEST_GAME)
        while played.rounds < batch_rounds and done + played.rounds < rounds:
            played.add(sim, rules, room, game, rounds - done - played.rounds)
            game += 1
        columns = played.columns(room.names, constant, played.start_times(room, slot_ms))
        yield finished(columns, done, lines)
        done += played.rounds


class Played:
    """Room for a batch of whole games, and what the kernel has put there."""

    def __init__(self, rounds: int) -> None:
        self.rounds = self.events = 0
        self.rins = np.zeros(rounds, ROUND).view(np.recarray)
        self.outs = np.zeros(rounds, RESULT).view(np.recarray)
        self.orders = np.zeros((rounds, 84), np.uint8)
        self.salts = np.zeros((rounds, 2), np.uint64)
        self.log = np.zeros(rounds * MAX_EVENTS, np.uint32)
        self.times = np.zeros(rounds * MAX_EVENTS, np.int32)
        self.games: list[tuple[int, int, np.ndarray]] = []  # (game, rounds, accounts)

    @WRAPS
    def add(self, sim: np.record, rules: ruleset.Ruleset, room: Room, game: int, most: int) -> None:
        """Play a game of at most `most` rounds."""
        seats = room.seats(game)
        for name in TASTES:
            sim[name][:] = room.tastes[name][seats]
        base = int(rules.values["stake.base"]) or room.base(game)
        count, wrong = play_game(
            sim, rules.record, tables(), distances(), room.seed, game, most, base, self.rins, self.outs,
            self.orders, self.salts, self.log, self.times, self.rounds, self.events,
        )  # fmt: skip
        if wrong:
            code = CODES[sim.st.problem_code[0]] if sim.st.problems else "no end"
            at = sim.st.problem_event[0] if sim.st.problems else sim.count
            raise SimulationError(
                f"{rules.id}, game {game}, round {count - 1}: the table refuses the simulator's own event {at}: {code}"
            )
        self.games.append((game, count, seats))
        self.rounds += count
        self.events = int(self.rins.stop[self.rounds - 1])

    def columns(self, names: list[str], constant: dict[str, str], starts: np.ndarray) -> dict[str, Any]:
        """The columns of ROUNDS; names: of the accounts; constant: see `named`; starts: UTC ms of each round."""
        n = self.rounds
        rins, outs = self.rins[:n], self.outs[:n]
        counts = [count for _, count, _ in self.games]
        number = np.concatenate([np.arange(count) for count in counts])
        seats = np.repeat([seats for _, _, seats in self.games], counts, axis=0)
        offsets = np.concatenate([[0], rins.stop]).astype(np.int32)
        suits = rins.suits.astype(np.uint8)
        orders = encode_wall(self.orders[:n], suits).to_pylist()
        salts = [f"{one:016x}{two:016x}" for one, two in self.salts[:n].tolist()]
        commits = [sha256((salt + order).encode()) for salt, order in zip(salts, orders, strict=True)]
        return constant | {
            "format": "kwx",
            "game": [f"{constant['source']}-{game}" for game, count, _ in self.games for _ in range(count)],
            "round": number,
            "time_ms": starts,
            "suits": pa.DictionaryArray.from_arrays(pa.array(suits.astype(np.int32)), list(SUITS)),
            "players": pa.FixedSizeListArray.from_arrays(pa.array(names).take(pa.array(seats.ravel())), 3),
            "dealer": rins.dealer, "dice": _listed(rins.dice, 2, np.int8), "base": rins.base_, "raise": rins.raise_,
            "piao": _listed(rins.piao, 3, np.int32), "piao_from": "logged", "raise_from": "logged",
            "hidden_from": "logged", "coverage": "full",
            "deal": _binary(rins.deal.reshape(n, 42)), "wall": _binary(rins.wall),
            "proof_scheme": "sha256", "proof_deal": "one", "proof_salt": salts, "proof_order": orders,
            "proof_commit": [commit.hexdigest() for commit in commits],
            "content": np.frombuffer(b"".join([commit.digest()[:8] for commit in commits]), "<u8"),
            "events": pa.ListArray.from_arrays(pa.array(offsets), pa.array(self.log[: self.events])),
            "times": pa.ListArray.from_arrays(pa.array(offsets), pa.array(self.times[: self.events])),
            "result_end": outs.end, "result_points": _listed(outs.points, 3, np.int64), "result_wins": _wins(outs),
            "result_kongs": _listed(outs.kong_net, 3, np.int64), "result_fee": outs.fee,
        }  # fmt: skip

    def start_times(self, room: Room, slot_ms: int) -> np.ndarray:
        """UTC milliseconds of each round's start, whole seconds: its game's, then after the rounds before it."""
        offsets = np.concatenate([[0], self.rins.stop[: self.rounds]])
        lasted = np.diff(np.concatenate([[0], np.cumsum(self.times[: self.events], dtype=np.int64)])[offsets])
        starts = np.zeros(self.rounds, np.int64)
        row = 0
        for game, count, _ in self.games:
            spent = np.cumsum(lasted[row : row + count] + PAUSE_MS)
            starts[row : row + count] = room.begin_ms(game, slot_ms) + np.concatenate([[0], spent[:-1]])
            row += count
        return starts // 1000 * 1000


def _listed(values: np.ndarray, width: int, kind: type) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.astype(kind).ravel()), width)


def _binary(kinds: np.ndarray) -> pa.Array:
    data = np.ascontiguousarray(kinds)
    return pa.Array.from_buffers(pa.binary(data.shape[1]), len(data), [None, pa.py_buffer(data)])


def _wins(outs: np.recarray) -> pa.Array:
    """The wins of each round as `result_wins`: no entry for a round without one."""
    there = np.arange(outs.win_seat.shape[1]) < outs.wins[:, None]
    payer = outs.win_from[there]
    fields = [
        pa.array(outs.win_seat[there].astype(np.int8)),
        pa.array(payer.astype(np.int8), mask=payer < 0),
        pa.array(outs.win_tile[there].astype(np.uint8)),
        pa.array(outs.win_fans[there].astype(np.uint64)),
        pa.array(outs.win_multiple[there]),
    ]
    offsets = np.concatenate([[0], np.cumsum(outs.wins)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.StructArray.from_arrays(fields, fields=list(WIN_TYPE)))


def finished(columns: dict[str, Any], before: int, lines: bool) -> pa.RecordBatch:
    """A batch of ROUNDS, read as the records from `before` of one source; lines: see `simulate`."""
    rounds = len(columns["round"])
    columns["record"] = np.arange(before, before + rounds)
    columns["line"] = columns["record"] + 1
    return identified(rounds_batch(columns | _links(columns, rounds) if lines else columns, rounds), [])


def _links(columns: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Every line written, each naming the digest of the one before it in its game; a game's rounds stand together."""
    games = columns["game"]
    follows = [at > 0 and games[at] == games[at - 1] for at in range(rounds)]
    draft = rounds_batch(columns | {"prev": [NO_PREV if link else None for link in follows]}, rounds)
    prevs: list[str | None] = []
    raws: list[bytes] = []
    digests: list[bytes] = []
    for line, link in zip(write_lines(draft).splitlines(), follows, strict=True):
        prev = digests[-1].hex() if link else None
        raws.append(line.replace(NO_PREV.encode(), prev.encode(), 1) if prev else line)
        digests.append(sha256(raws[-1]).digest())
        prevs.append(prev)
    return {
        "prev": prevs,
        "raw": [raw.decode() for raw in raws],
        "line_sha256": [digest.hex() for digest in digests],
        "content": np.frombuffer(b"".join([digest[:8] for digest in digests]), "<u8"),
    }


def write(
    path: str | Path,
    rules_id: str,
    options: Mapping[str, Any] | None,
    rounds: int,
    seed: int,
    *,
    progress: Callable[[int], None] = lambda rounds: None,
    **more: Any,
) -> None:
    """Write a simulated log (.jsonl, .jsonl.gz, .jsonl.zst, .parquet), whole or not at all.

    more: as for `simulate`.  `progress` is told the rounds of each batch.  Raises SimulationError, RulesetError and
    ingest.write.WriteError.
    """
    output = Output(path)  # a wrong name is told before anything is played
    write_batches(output, simulate(rules_id, rounds, seed, options, lines=True, **more), progress)


def write_batches(output: Output, batches: Iterator[pa.RecordBatch], progress: Callable[[int], None]) -> None:
    """Write batches as they are played; `progress` is told the rounds of each."""
    with output:
        for batch in batches:
            output.add(batch)
            progress(batch.num_rows)
