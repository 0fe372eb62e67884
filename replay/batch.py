"""A batch of rounds through the engine: Arrow columns in, verdicts, wins, ledger and problems out as Arrow tables."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from replay import inputs, loop, outputs, proof, ruleset, settlement, state
from replay.diagnose import explanations
from replay.hand import tables
from replay.jit import record
from replay.prepared import coded, columns, flat_events

if TYPE_CHECKING:
    from replay.facts_tables import Watcher

PROBLEM_ROWS = 16 * state.MAX_PROBLEMS  # of one kernel call; it comes back for more


class Played(NamedTuple):
    """What the kernel made of a batch, row by row as its input."""

    rounds: np.recarray  # state.ROUND[n]
    events: np.ndarray  # uint32, all rounds' events end to end
    results: np.recarray  # state.RESULT[n]
    problems: np.recarray  # state.PROBLEM[m], ordered by row
    fan_values: np.ndarray  # int64[rulesets, fans]
    piao_left: dict[int, np.ndarray] = {}  # row -> the choices of piao that remain, where the log leaves it open
    positions: np.recarray | None = None  # settlement.POSITION[], which `rounds.settled` counts from 1


class Rules:
    """The rulesets that rounds name, numbered in the order of first use, with their records as one array."""

    def __init__(self) -> None:
        self.loaded: list[ruleset.Ruleset] = []
        self.records = np.zeros(0, ruleset.DTYPE).view(np.recarray)
        self._number: dict[tuple[str, str], int] = {}

    def numbers(self, ids: pa.Array, options: pa.Array) -> np.ndarray:
        """The number of each row's ruleset, int64[n]; RulesetError on one that does not load."""
        id_words, id_codes = coded(ids)
        option_words, option_codes = coded(options)
        codes = id_codes * (len(option_words) + 1) + option_codes
        if len(codes) and (codes == codes[0]).all():
            pairs, rows = codes[:1], np.zeros(len(codes), np.int64)
        else:
            pairs, rows = np.unique(codes, return_inverse=True)
        numbers = np.empty(len(pairs), np.int64)
        for place, pair in enumerate(pairs.tolist()):
            id, chosen = divmod(pair, len(option_words) + 1)
            key = (id_words[id], option_words[chosen] if chosen < len(option_words) else "{}")
            if key not in self._number:
                self._number[key] = len(self.loaded)
                self.loaded.append(ruleset.load(key[0], inputs.options(key[1])))
                self.records = stack([one.record for one in self.loaded])
            numbers[place] = self._number[key]
        return numbers[rows]


class Replayer:
    """Replays batch after batch.  Rounds of one game that need one another's state stand in one batch, in order.

    explain: find the keys of which each alone would make a faulty round right (a second pass over those rounds).
    facts: also find the facts of each seat and draw (a second pass over all).
    """

    def __init__(self, explain: bool = True, facts: bool = False) -> None:
        self.rules = Rules()
        self.explain = explain
        self.facts = facts
        self._state = record(state.STATE)
        self._watcher: Watcher | None = None
        self._problems = np.empty(PROBLEM_ROWS, state.PROBLEM).view(np.recarray)
        self._spare: np.ndarray | None = None  # results of an earlier batch that nobody needs any more: memory in use

    def feed(self, rounds: pa.RecordBatch) -> dict[str, pa.Table]:
        """Replay a batch of ingest.events.ROUNDS; returns the tables of problems.TABLES by name, rows in order.

        With facts also those of facts_tables.TABLES.
        """
        numbers = self.rules.numbers(rounds["rules"], rounds["options"])
        played, origins = inputs.solve(self, rounds, columns(rounds, numbers), flat_events(rounds))
        notes = proof.check(rounds, *played[:4])
        why = explanations(self, played) if self.explain and len(played.problems) else {}
        found = outputs.tables(rounds, played, self.rules.loaded, origins, notes, why)
        if self.facts:
            found |= self._facts(rounds, played)
        self._spare = played.results
        return found

    def facts_of(self, rounds: pa.RecordBatch) -> dict[str, pa.Table]:
        """Only the tables of facts_tables.TABLES, for a batch as `feed` takes it."""
        numbers = self.rules.numbers(rounds["rules"], rounds["options"])
        played, _ = inputs.solve(self, rounds, columns(rounds, numbers), flat_events(rounds))
        return self._facts(rounds, played)

    def _facts(self, rounds: pa.RecordBatch, played: Played) -> dict[str, pa.Table]:
        if self._watcher is None:
            from replay.facts_tables import Watcher  # only here: whoever asks for no facts compiles none

            self._watcher = Watcher()
        return self._watcher.tables(rounds["round_id"].to_numpy(), played, self.rules)

    def play(
        self,
        rounds: np.recarray,
        events: np.ndarray,
        records: np.recarray | None = None,
        positions: np.recarray | None = None,
    ) -> Played:
        """Run the kernel over prepared rounds, with the rulesets loaded here or `records` in their place.

        positions: settlement.POSITION[] of the rounds that are `settled`; ValueError when one has none.
        """
        rules = self.rules.records if records is None else records
        events = events.view()
        events.flags.writeable = False  # always: numba compiles anew for the other kind of array
        settled = rounds.settled > 0
        if settled.any() and (positions is None or rounds.settled.max() > len(positions)):
            raise ValueError("rounds without draws, and no final positions to settle them from")
        if not settled.any():
            results, problems = self._run(loop.run, (rounds, events), rules)
        elif settled.all():
            results, problems = self._run(settlement.run, (rounds, positions, events), rules)
        else:
            results = np.empty(len(rounds), state.RESULT).view(np.recarray)
            parts = []
            for which, kernel, more in ((~settled, loop.run, ()), (settled, settlement.run, (positions,))):
                results[which], found = self._run(kernel, (rounds[which], *more, events), rules)
                found.row = np.nonzero(which)[0][found.row]
                parts.append(found)
            problems = np.concatenate(parts)
            problems = problems[np.argsort(problems["row"], kind="stable")]
        fan_values = np.array(rules.fan)
        return Played(rounds, events, results, problems.view(np.recarray), fan_values, positions=positions)

    def _run(
        self, kernel: Callable[..., tuple[int, int]], inputs: tuple[Any, ...], rules: np.recarray
    ) -> tuple[np.recarray, np.recarray]:
        """(state.RESULT[n], state.PROBLEM[m]) of the rounds that stand first among the inputs."""
        rounds = inputs[0]
        results = self._results(len(rounds))
        buffer = self._problems
        parts = []
        done = 0
        while done < len(rounds):
            done, rows = kernel(*inputs, rules, tables(), self._state, results, buffer, done)
            parts.append(buffer[:rows].copy())
        problems = np.concatenate(parts) if parts else buffer[:0]
        return results, problems.view(np.recarray)

    def _results(self, rounds: int) -> np.recarray:
        """state.RESULT[rounds] with anything in it."""
        spare, self._spare = self._spare, None
        if spare is None or len(spare) < rounds:
            spare = np.empty(rounds, state.RESULT)
        return spare[:rounds].view(np.recarray)


def stack(records: list[np.void]) -> np.recarray:
    """Ruleset records as one array for the kernel."""
    array = np.zeros(len(records), ruleset.DTYPE)
    for place, one in enumerate(records):
        array[place] = one
    return array.view(np.recarray)
