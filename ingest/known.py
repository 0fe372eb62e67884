"""Which rounds are new: the first record of a round stays, an equal one is a repeat, another one a reject.

A round is known by its id.  In a format whose records carry ids of their own (they are `marked`), an equal record is a
repeat in whatever game it stands.  Source: log-format.md section 3.
"""

import numpy as np


class Sift:
    """Decides about records in the order in which they come, a batch at a time."""

    def __init__(self) -> None:
        self.rounds = Known()  # contents by round
        self.contents = Known()  # contents of the marked records, and of all of earlier runs

    def know(self, ids: np.ndarray, contents: np.ndarray) -> None:
        """Rounds (round_id and content, uint64 arrays) whose first record came before."""
        self.rounds.add(ids, contents)
        self.contents.add(contents, contents)

    def decide(self, ids: np.ndarray, contents: np.ndarray, marked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(first, same) of a batch, bool[n]: it stays; it says the same as the record that stays."""
        if not marked.any():
            return self.rounds.add(ids, contents)
        new = ~marked
        new[marked] = self.contents.new(contents[marked])
        first, same = np.zeros(len(ids), bool), np.ones(len(ids), bool)
        first[new], same[new] = self.rounds.add(ids[new], contents[new])
        self.contents.add(contents[marked & first], contents[marked & first])
        return first, same


class Known:
    """The rounds seen so far: ids and contents in sorted arrays of doubling size, 16 bytes a round."""

    def __init__(self) -> None:
        self._levels: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, ids: np.ndarray, contents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take rounds in (uint64 arrays); (first, same): seen for the first time; content equal to the first one's."""
        where = np.argsort(ids)
        unique = ids[where]
        distinct = bool((unique[1:] != unique[:-1]).all())  # as ever, but for repeats
        if not distinct:
            unique, where, group = np.unique(ids, return_index=True, return_inverse=True)
        standing = contents[where]  # the content that stands for each distinct id
        new = np.ones(len(unique), bool)
        for level, values in self._levels:
            at = np.minimum(np.searchsorted(level, unique), len(level) - 1)
            hit = level[at] == unique
            if hit.any():
                standing = np.where(hit, values[at], standing)
                new &= ~hit
        if distinct and new.all():
            self._insert(unique, standing)
            return new, new.copy()
        if distinct:
            group = np.argsort(where)
        first = np.zeros(len(ids), bool)
        first[where[new]] = True
        self._insert(unique[new], standing[new])
        return first, contents == standing[group]

    def new(self, ids: np.ndarray) -> np.ndarray:
        """Which of the ids (uint64) are not in yet, each only where it stands first; takes nothing in."""
        unique, where = np.unique(ids, return_index=True)
        new = np.ones(len(unique), bool)
        for level, _ in self._levels:
            new &= level[np.minimum(np.searchsorted(level, unique), len(level) - 1)] != unique
        out = np.zeros(len(ids), bool)
        out[where[new]] = True
        return out

    def standing(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of the ids that are in, and the contents that stand for them."""
        ids = np.unique(ids)
        contents, hit = np.zeros(len(ids), np.uint64), np.zeros(len(ids), bool)
        for level, values in self._levels:
            at = np.minimum(np.searchsorted(level, ids), len(level) - 1)
            found = level[at] == ids
            contents[found], hit = values[at[found]], hit | found
        return ids[hit], contents[hit]

    def _insert(self, ids: np.ndarray, contents: np.ndarray) -> None:
        if not len(ids):
            return
        while self._levels and len(self._levels[-1][0]) <= 2 * len(ids):
            more_ids, more_contents = self._levels.pop()
            ids, contents = np.concatenate([more_ids, ids]), np.concatenate([more_contents, contents])
            order = np.argsort(ids)
            ids, contents = ids[order], contents[order]
        self._levels.append((ids, contents))
