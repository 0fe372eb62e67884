"""Simulated rounds as a data set in memory, for the audit's tests and benchmarks."""

import json
from collections.abc import Iterable
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from fairness_tables import empty

from analytics import schema
from replay import crooked
from replay.batch import Replayer
from replay.corpus import Population
from replay.labels import Labels

REPLAYER = Replayer(explain=False, facts=True)


def stored(batches: Iterable[pa.RecordBatch]) -> duckdb.DuckDBPyConnection:
    """Batches of ROUNDS, replayed, as the tables that a load makes of them; without what games say of one another."""
    made = empty()
    for batch in batches:
        for name, table in REPLAYER.feed(batch).items():
            schema.insert(made, name, table, ", verdict AS own_verdict" if name == "rounds" else "")
    return made


def played(*cheats: str, rules: str = "hubei", rounds: int = 2000, seed: int = 1, accounts: int | None = 60,
           options: str = "{}", labels: Labels | None = None) -> duckdb.DuckDBPyConnection:  # fmt: skip
    """Rounds of a population, with cheats."""
    return stored(
        crooked.play(rules, rounds, seed, json.loads(options), cheats=cheats, accounts=accounts, labels=labels)
    )


# Rulesets that corpora of honest rounds take in turn, with options that make more checks run; the fifth has no cap.
RULES = (
    ("hubei", '{"side.horse":"last_tile"}'), ("xiangyang", '{"side.horse":"last_tile"}'), ("suizhou", "{}"),
    ("qichun", '{"side.horse":"six"}'), ("xiangyang_unlimited", "{}"), ("parlour", '{"side.horse":"last_tile"}'),
    ("3d_xiangyang", "{}"), ("3d_shiyan", "{}"),
)  # fmt: skip
PEOPLE = 40  # accounts of a corpus
LOST = 0.15  # of the rounds, whoever won them, of a corpus with gaps
LOOK_ALIKES = ("strong_defender", "always_reveals", "friends", "whale", "dealer_streak")


class Honest(NamedTuple):
    """Corpus number `n` of honest rounds: whose it is and what is special about it."""

    db: duckdb.DuckDBPyConnection
    rules: str
    gaps: bool  # rounds are missing, by lot
    alike: dict[str, str]  # account -> what it looks like; empty in every second corpus


def honest(n: int, rounds: int) -> Honest:
    """The corpus with seed 50,000 + n."""
    seed, (rules, options) = 50_000 + n, RULES[n % len(RULES)]
    alike, cheats = {}, []
    if n // len(RULES) % 2:
        who = Population(seed, PEOPLE).busiest()
        alike = dict(zip(who, [*LOOK_ALIKES, "friends"], strict=False))
        cheats = [f"{name}:account={who[at]}" for at, name in enumerate(LOOK_ALIKES)]
        cheats[2] += f",partner={who[len(LOOK_ALIKES)]}"
        if rules.startswith("3d"):  # where a dealer hardly ever stays for so long
            alike.pop(who[4])
            cheats.pop()
    gaps, rng = n // (2 * len(RULES)) % 2 == 1, np.random.default_rng(seed)
    batches = crooked.play(rules, rounds, seed, json.loads(options), cheats=cheats, accounts=PEOPLE)
    if gaps:
        batches = (batch.filter(pa.array(rng.random(batch.num_rows) >= LOST)) for batch in batches)
    return Honest(stored(batches), rules, gaps, alike)
