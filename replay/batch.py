"""A batch of rounds through the engine: Arrow columns in, verdicts, wins, ledger and problems out as Arrow tables."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from replay import ruleset

NOT_NAMED = -1


class Played(NamedTuple):
    """What the kernel made of a batch, row by row as its input."""

    rounds: np.ndarray  # state.ROUND[n]
    events: np.ndarray  # uint32, all rounds' events end to end
    results: np.ndarray  # state.RESULT[n]
    problems: np.ndarray  # state.PROBLEM[m], ordered by row


class Rules:
    """The ruleset records that rounds name, numbered in the order of first use."""

    def __init__(self) -> None:
        self.loaded: list[ruleset.Ruleset] = []
        self.number: dict[tuple[str, str], int] = {}
        self.records = np.zeros(0, ruleset.DTYPE).view(np.recarray)

    def numbers(self, ids: pa.Array, options: pa.Array) -> np.ndarray:
        """Number of each row's ruleset; RulesetError on one that does not load."""
        pairs = pa.StructArray.from_arrays([_plain(ids), _plain(options)], ["rules", "options"])
        encoded = _dictionary(pairs)
        numbers = []
        for pair in encoded.dictionary.to_pylist():
            key = (pair["rules"], pair["options"] or "{}")
            if key not in self.number:
                self.number[key] = len(self.loaded)
                self.loaded.append(ruleset.load(key[0], _json(key[1])))
                self.records = stack([rules.record for rules in self.loaded])
            numbers.append(self.number[key])
        return np.array(numbers, np.int64)[encoded.indices.to_numpy()]


def stack(records: list[np.void]) -> np.recarray:
    """Ruleset records as one array for the kernel."""
    array = np.zeros(len(records), ruleset.DTYPE)
    for n, one in enumerate(records):
        array[n] = one
    return array.view(np.recarray)
