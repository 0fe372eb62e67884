"""What a log leaves out and the game tells: raise, piao, hidden triplets (log-format.md section 2).

* raise: carried from round to round of a game.  Only where the round before is not there (the first round of a game
  in the file, or after a gap) it is inferred: the value that explains most of the rounds up to the next one that it
  does not reach.
* piao: the same for all rounds of a game.  The values per seat that explain most of its rounds; several that do so
  equally well stay open, and a round is then judged with one of them that explains it, if any does.
* hidden triplets: stay open.  They decide only whether a revealed seat may kong, and such a kong tells its triplet.

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

from replay.state import HAS_POINTS

if TYPE_CHECKING:
    from replay.batch import Played, Replayer

RAISE_LIMIT = 6  # doublings that are tried where the rounds before are missing
KONG_EXPOSED, KONG_CONCEALED = 0, 2  # as in problems.KONGS
NONE, LOGGED, CONFIG, INFERRED, AMBIGUOUS = None, "logged", "config", "inferred", "ambiguous"


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
    words = {name: rounds[name].to_pylist() for name in ("piao_from", "raise_from", "hidden_from")}
    raise_known = np.ones(len(prepared), bool)
    if piao_max.any() or open_raise.any():
        solver = _Solver(replayer, prepared, events, games(rounds), words)
        runs = solver.carry_raise(open_raise)
        solver.find_piao(piao_max, np.concatenate([[], *runs]).astype(np.int64))
        if runs:
            raise_known = solver.find_raise(runs, piao_max)
            solver.find_piao(piao_max, np.nonzero(~raise_known)[0])
    played = replayer.play(prepared, events)
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


def candidates(most: int) -> np.ndarray:
    """Every choice of piao up to `most`, int64[(most + 1) ** 3, 3], in ascending order."""
    return np.array(list(product(range(most + 1), repeat=3)), np.int64)


class _Solver:
    """The open inputs of one batch.  Writes prepared.piao, .piao_unknown and .raise_, and the words."""

    def __init__(
        self,
        replayer: "Replayer",
        prepared: np.recarray,
        events: np.ndarray,
        rows_of_games: list[np.ndarray],
        words: dict[str, list[str | None]],
    ) -> None:
        self.replayer, self.prepared, self.events = replayer, prepared, events
        self.games, self.words = rows_of_games, words
        self.numbers = np.zeros(len(prepared), np.int64)
        self.left: dict[int, np.ndarray] = {}  # game -> choices of piao that remain

    def results(self, rows: np.ndarray) -> np.recarray:
        """state.RESULT of some rows with the inputs as they stand."""
        return self.replayer.play(self.prepared[rows], self.events).results

    def carry_raise(self, unknown: np.ndarray) -> list[np.ndarray]:
        """Carry the raise through each game; returns the runs of rows whose raise hangs on a missing round.

        unknown: bool[n], rows whose raise is not recorded.
        """
        runs: list[list[int]] = []
        chains = [(rows, [rows[0] - 1]) for rows in ()]
        del chains
        waiting = [rows for rows in self.games if unknown[rows].any()]
        state = [{"raise": None, "round": None, "run": None} for _ in waiting]
        for place in range(max((len(rows) for rows in waiting), default=0)):
            wave = [game for game, rows in enumerate(waiting) if len(rows) > place]
            for game in wave:
                self._enter(waiting[game][place], state[game], unknown, runs)
            found = self.results(np.array([waiting[game][place] for game in wave]))
            for game, left in zip(wave, found.raise_next.tolist(), strict=True):
                now = state[game]
                now["raise"] = left if left == 0 or (left > 0 and now["run"] is None) else None
                now["run"] = now["run"] if left > 0 else None
        return [np.array(run) for run in runs]
