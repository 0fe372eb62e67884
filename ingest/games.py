"""Keeps the rounds of a game together: foreign rows come interleaved, the replay wants whole games in one batch.

Rounds wait by game and are released when all rounds of the game are there, when the source ends, or when more than
`limit` rounds wait: then the games that have waited longest since their last row are released unfinished, until half
of the limit is free.  Memory is bounded by `limit`, whatever the source does.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

WAITING_LIMIT = 16_384  # rounds; a row of a game weighs a few kilobytes


class Waiting(NamedTuple):
    """One round that waits for the rest of its game."""

    round: int
    record: int
    row: Any


class Games:
    """Rounds in any order in, lists of rounds out: whole games, each with its rounds ascending."""

    def __init__(self, limit: int = WAITING_LIMIT) -> None:
        self._limit = limit
        self._games: dict[Any, list[Waiting]] = {}  # the game that got a row last stands last
        self._count = 0

    def add(self, game: Any, number: int, record: int, row: Any, size: int) -> Iterator[list[Any]]:
        """Takes round `number` of `game`, which has `size` rounds; yields the rows of each game that this releases."""
        waiting = self._games.pop(game, [])
        waiting.append(Waiting(number, record, row))
        self._games[game] = waiting
        self._count += 1
        if len(waiting) >= size and len({entry.round for entry in waiting}) >= size:
            yield self._release(game)
        elif self._count > self._limit:
            while self._count > self._limit // 2:
                yield self._release(next(iter(self._games)))

    def rest(self) -> Iterator[list[Any]]:
        """Yields the rows of every game that still waits, the one that waited longest first."""
        while self._games:
            yield self._release(next(iter(self._games)))

    def _release(self, game: Any) -> list[Any]:
        waiting = self._games.pop(game)
        self._count -= len(waiting)
        return [entry.row for entry in sorted(waiting, key=lambda entry: (entry.round, entry.record))]
