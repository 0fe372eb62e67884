"""What a log leaves out and the game tells: raise, piao, hidden triplets (log-format.md section 2).

* raise: carried from round to round of a game.  Only where the round before is not there (the first round of a game
  in the file, or after a gap) it is inferred: the value that explains most of the rounds up to the next one that it
  does not reach.
* piao: the same for all rounds of a game.  The values per seat that explain most of its rounds; several that do so
  equally well stay open, and a round is then judged with one of them that explains it, if any does.
* hidden triplets: stay open.  They decide whether a revealed seat may kong, and such a kong tells its triplet; and
  they narrow its waits, which changes what a draw pays: there, if the record isn't right without, the sets that
  explain it are taken.  (A win is logged with its tile, and hiding a triplet takes no fan from it.)

A faulty round is judged with its game's values, never with those that would fit it best.  `piao_from`, `raise_from`
and `hidden_from` say what was done: "config" (it follows from the rounds before), "inferred", "ambiguous" (null).
The engine is a black box here: rounds are replayed with candidate inputs and their points compared.
"""

import json
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.events import ENDS, pack_reveal
from replay import settlement
from replay.state import HAS_POINTS

if TYPE_CHECKING:
    from replay.batch import Played, Replayer

RAISE_LIMIT = 6  # doublings that are tried where the rounds before are missing
HIDDEN_LIMIT = 512  # combinations of hidden triplets that are tried for one round
CONFIG, INFERRED, AMBIGUOUS = "config", "inferred", "ambiguous"


@lru_cache(maxsize=4096)
def options(text: str) -> dict[str, Any]:
    """Room options of a row's canonical JSON."""
    return json.loads(text)


def solve(
    replayer: "Replayer", rounds: pa.RecordBatch, prepared: np.recarray, events: np.ndarray
) -> tuple["Played", dict[str, pa.Array]]:
    """The batch replayed with every input known or chosen, and the columns that say where each came from.

    rounds: ingest.events.ROUNDS; prepared: state.ROUND[n] of it, whose piao, raise_, piao_unknown and hidden_open are
    filled in here; events: all events end to end.  Columns: raise (null where ambiguous) and the three `*_from`.
    """
    rules = replayer.rules.records
    null = {name: rounds[name].is_null().to_numpy(zero_copy_only=False) for name in ("piao", "raise", "hidden_from")}
    piao_max = np.where(null["piao"], rules.side_piao_max[prepared.rules], 0)
    open_raise = null["raise"] & (rules.side_raise[prepared.rules] > 0)
    prepared.hidden_open = null["hidden_from"]
    positions = settlement.positions(rounds["settlement"])
    if not any(one.any() for one in null.values()):  # the log says it all
        known = {name: rounds[name] for name in ("raise", "piao_from", "raise_from", "hidden_from")}
        return replayer.play(prepared, events, positions=positions), known
    words = {name: rounds[name].to_pylist() for name in ("piao_from", "raise_from", "hidden_from")}
    raise_known = np.ones(len(prepared), bool)
    solver = None
    if piao_max.any() or open_raise.any():
        solver = _Solver(replayer, prepared, events, positions, rounds["round"].to_numpy(), games(rounds), words)
        runs = solver.carry_raise(open_raise)
        solver.find_piao(piao_max, np.concatenate([np.zeros(0, np.int64), *runs]))
        if runs:
            raise_known = solver.find_raise(runs)
            solver.find_piao(piao_max, np.nonzero(~raise_known)[0])
    played = find_hidden(replayer, replayer.play(prepared, events, positions=positions), words["hidden_from"])
    played = played._replace(piao_left=solver.left if solver else {})
    for row in np.nonzero(null["hidden_from"] & tells_hidden(played.results))[0].tolist():
        words["hidden_from"][row] = INFERRED
    columns = {name: pa.array(values, pa.string()).dictionary_encode() for name, values in words.items()}
    columns["raise"] = pa.array(prepared.raise_.astype(np.int32), mask=~raise_known)
    return played, columns


def games(rounds: pa.RecordBatch) -> list[np.ndarray]:
    """The rows of each game of the batch, by ascending round; games ordered by their key."""
    key, number = rounds["game_key"].to_numpy(), rounds["round"].to_numpy()
    order = np.lexsort((np.arange(len(key)), number, key))
    starts = np.nonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))[0]
    return np.split(order, starts[1:])


def tells_hidden(results: np.recarray) -> np.ndarray:
    """Whether a reveal of the round is known to hide a triplet, bool[n]."""
    places = np.arange(results.reveal_hidden.shape[1])[None, :] < results.reveals[:, None]
    return ((results.reveal_hidden != 0) & places).any(axis=1)


@lru_cache
def candidates(most: int) -> np.ndarray:
    """Every choice of piao up to `most`, int64[(most + 1) ** 3, 3], in ascending order."""
    return np.array(list(product(range(most + 1), repeat=3)), np.int64)


def hidden_choices(result: np.record) -> list[tuple[int, ...]]:
    """Sets of triplets that the reveals of a round may hide, one set (a bit a kind) a reveal; fewest triplets first."""
    per_reveal = []
    for place in range(int(result.reveals)):
        kinds = np.nonzero(result.hand[result.reveal_seat[place]] >= 3)[0].tolist()
        picks = product((0, 1), repeat=len(kinds))
        per_reveal.append([sum(bit << kind for bit, kind in zip(pick, kinds, strict=True)) for pick in picks])
    choices = list(product(*per_reveal)) if np.prod([len(sets) for sets in per_reveal]) <= HIDDEN_LIMIT else []
    return sorted(choices, key=lambda sets: (sum(one.bit_count() for one in sets), sets))


def find_hidden(replayer: "Replayer", played: "Played", words: list[str | None]) -> "Played":
    """The batch replayed anew with hidden triplets where only they explain what a draw paid."""
    prepared, results = played.rounds, played.results
    asks = (prepared.hidden_open > 0) & (results.reveals > 0) & (results.end == ENDS.index("draw"))
    asks &= (prepared.compare & HAS_POINTS != 0) & (results.points != prepared.points).any(axis=1)
    events = played.events
    for row in np.nonzero(asks)[0].tolist():
        one, result = prepared[row], results[row]
        choices = hidden_choices(result)
        length = int(one.stop - one.start)
        trials = np.repeat(prepared[row : row + 1], len(choices)).view(np.recarray)
        trials.start = np.arange(len(choices)) * length
        trials.stop = trials.start + length
        tried = np.tile(events[one.start : one.stop], (len(choices), 1))
        for place in range(int(result.reveals)):
            seat, event = int(result.reveal_seat[place]), int(result.reveal_event[place])
            tried[:, event] = [pack_reveal(seat, sets[place]) for sets in choices]
        trial = replayer.play(trials, tried.reshape(-1), positions=played.positions)
        right = np.nonzero(trial.results.problems == 0)[0]
        if len(right):
            events = events.copy() if events is played.events else events
            events[one.start : one.stop] = tried[right[0]]
            words[row] = INFERRED if len(right) == 1 else AMBIGUOUS
    return played if events is played.events else replayer.play(prepared, events, positions=played.positions)


class _Chain:
    """One game while its raise is carried: `carried` is None where it hangs on the rounds of `run`, or on none."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows
        self.carried: int | None = None
        self.number: int | None = None  # of the round before
        self.run: list[int] | None = None


class _Solver:
    """The open inputs of one batch.  Writes prepared.piao, .piao_unknown and .raise_, and the words."""

    def __init__(
        self,
        replayer: "Replayer",
        prepared: np.recarray,
        events: np.ndarray,
        positions: np.recarray,
        numbers: np.ndarray,
        rows_of_games: list[np.ndarray],
        words: dict[str, list[str | None]],
    ) -> None:
        self.replayer, self.prepared, self.events, self.positions = replayer, prepared, events, positions
        self.numbers, self.games, self.words = numbers, rows_of_games, words
        self.left: dict[int, np.ndarray] = {}  # row -> the choices of piao that remain in its game

    def results(self, rows: np.ndarray) -> np.recarray:
        """state.RESULT of some rows with the inputs as they stand."""
        return self.replayer.play(self.prepared[rows], self.events, positions=self.positions).results

    def carry_raise(self, unknown: np.ndarray) -> list[np.ndarray]:
        """Carry the raise through each game; returns the runs of rows whose raise hangs on a missing round.

        unknown: bool[n], rows whose raise is not recorded.
        """
        runs: list[list[int]] = []
        chains = [_Chain(rows) for rows in self.games if unknown[rows].any()]
        for place in range(max((len(chain.rows) for chain in chains), default=0)):
            wave = [chain for chain in chains if len(chain.rows) > place]
            for chain in wave:
                self._enter(chain, int(chain.rows[place]), unknown, runs)
            found = self.results(np.array([chain.rows[place] for chain in wave]))
            for chain, left in zip(wave, found.raise_next.tolist(), strict=True):
                if left <= 0:  # the next round starts anew, or (-1) hangs on this one, which stands incomplete
                    chain.run = None
                chain.carried = None if left < 0 or chain.run is not None else left
        return [np.array(run) for run in runs]

    def _enter(self, chain: _Chain, row: int, unknown: np.ndarray, runs: list[list[int]]) -> None:
        """The raise of a chain's next round, from the rounds before it."""
        number = int(self.numbers[row])
        if chain.number is None or number != chain.number + 1:
            chain.run = None
            chain.carried = 0 if number == 0 else None
        chain.number = number
        if not unknown[row]:
            chain.run = None
        elif chain.carried is None:
            if chain.run is None:
                chain.run = []
                runs.append(chain.run)
            chain.run.append(row)
            self.prepared.raise_[row] = 0
        else:
            self.prepared.raise_[row] = chain.carried
            self.words["raise_from"][row] = CONFIG

    def effects(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points without piao, int64[n, 3], and what one piao of each seat adds to them, int64[n, 3 seats, 3].

        Points are linear in the piao.
        """
        kept = self.prepared.piao[rows].copy()
        self.prepared.piao[rows] = 0
        without = self.results(rows).points.copy()
        added = np.zeros((len(rows), 3, 3), np.int64)
        for seat in range(3):
            self.prepared.piao[rows] = np.eye(3, dtype=np.int64)[seat]
            added[:, seat] = self.results(rows).points - without
        self.prepared.piao[rows] = kept
        return without, added

    def explains(
        self, rows: np.ndarray, without: np.ndarray, added: np.ndarray, choices: np.ndarray
    ) -> np.ndarray:
        """Which choices of piao give the recorded points, bool[n, choices]; none where nothing was recorded."""
        points = without[:, None, :] + np.einsum("cs,rsp->rcp", choices, added)
        right = (points == self.prepared.points[rows][:, None, :]).all(axis=2)
        return right & (self.prepared.compare[rows] & HAS_POINTS != 0)[:, None]

    def find_piao(self, most: np.ndarray, mute: np.ndarray) -> None:
        """Choose the piao of each game in which it is open.

        most: int64[n], the most that a seat may choose, 0 where nothing is open; mute: rows that have no vote.
        """
        votes_count = np.ones(len(self.prepared), bool)
        votes_count[mute] = False
        open_games = [rows[most[rows] > 0] for rows in self.games if (most[rows] > 0).any()]
        if not open_games:
            return
        without, added = self.effects(np.concatenate(open_games))
        start = 0
        for rows in open_games:
            part = slice(start, start + len(rows))
            start += len(rows)
            choices = candidates(int(most[rows].max()))
            right = self.explains(rows, without[part], added[part], choices)
            votes = right[votes_count[rows]].sum(axis=0)
            remains = votes == votes.max()
            alone = int(remains.sum()) == 1
            first = np.argmax(remains)
            fits = right & remains
            self.prepared.piao[rows] = choices[np.where(fits.any(axis=1), np.argmax(fits, axis=1), first)]
            self.prepared.piao_unknown[rows] = not alone
            for row in rows.tolist():
                self.words["piao_from"][row] = INFERRED if alone else AMBIGUOUS
                self.left[row] = choices[remains]

    def find_raise(self, runs: list[np.ndarray]) -> np.ndarray:
        """Infer the raise at the start of each run; returns which rows' raise is known, bool[n]."""
        known = np.ones(len(self.prepared), bool)
        for run in runs:
            raises = np.zeros((RAISE_LIMIT + 1, len(run)), np.int64)
            explained = np.zeros(RAISE_LIMIT + 1, np.int64)
            for start in range(RAISE_LIMIT + 1):
                left = start
                for place, row in enumerate(run):
                    self.prepared.raise_[row] = raises[start, place] = left
                    left = int(self.results(run[place : place + 1]).raise_next[0])
                without, added = self.effects(run)
                for place, row in enumerate(run):
                    choices = self.left.get(int(row), self.prepared.piao[row][None])
                    one = slice(place, place + 1)
                    explained[start] += self.explains(run[one], without[one], added[one], choices).any()
            best = explained == explained.max()
            alone = int(best.sum()) == 1
            self.prepared.raise_[run] = raises[np.argmax(best)]
            known[run] = alone
            for row in run.tolist():
                self.words["raise_from"][row] = INFERRED if alone else AMBIGUOUS
        return known
