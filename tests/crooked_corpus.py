"""Simulated rounds with cheats as plain rows, for the tests of the cheats."""

import json
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from ingest import events
from ingest.tiles import names
from replay import crooked
from replay.labels import Labels

KIND = {name: kind for kind, name in enumerate(names())}
COLUMNS = ["game", "round", "players", "dealer", "dice", "base", "raise", "deal", "wall", "proof_order", "events",
           "times", "time_ms", "result_points", "result_wins"]  # fmt: skip
DISCARDS = (events.DISCARD, events.DISCARD_DRAWN)
DRAWS = (events.DRAW, events.REPLACEMENT)


class Corpus(NamedTuple):
    """Simulated rounds as dicts, what was planted, and what the cheats did."""

    rounds: list[dict]
    planted: list[dict]
    acts: list[dict]
    sums: list[dict]

    def acted(self) -> list[tuple[dict, dict]]:
        """Every act with its round."""
        at = {(row["game"], row["round"]): row for row in self.rounds}
        return [(act, at[act["game"], act["round"]]) for act in self.acts]


@cache
def made(*cheats: str, rules: str = "hubei", rounds: int = 1500, seed: int = 11, accounts: int | None = None,
         options: str = "{}") -> Corpus:  # fmt: skip
    labels, rows = Labels(), []
    for batch in crooked.play(
        rules, rounds, seed, json.loads(options), cheats=cheats, accounts=accounts, labels=labels
    ):
        rows += batch.select(COLUMNS).to_pylist()
    by = defaultdict(list)
    for label in labels.rows:
        by[label["label"]].append(label)
    return Corpus(rows, by["cheat"] + by["honest"], by["act"], by["sum"])


def moves(row: dict) -> list[tuple[int, int, int, int]]:
    """(seat, verb, tile, seat claimed from) of each event."""
    return [(one & 3, one >> 2 & 15, one >> 6 & 31, one >> 11 & 3) for one in row["events"]]


def order(row: dict) -> list[int]:
    text = row["proof_order"]
    return [KIND[text[at : at + 2]] for at in range(0, 168, 2)]


def within(count: float, of: int, share: float, deviations: float = 4.5) -> bool:
    """Whether a count is what this share of so many trials gives."""
    return abs(count - of * share) <= deviations * (of * share * (1 - share)) ** 0.5 + 1e-9
