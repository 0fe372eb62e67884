"""Which rules were played: how many rounds of a set of logs each ruleset explains (`kwx fit`).

A round is explained by rules under which it has no problem: every event legal, every recorded amount as recomputed.
What the log claims to have played is set aside.  Each playable ruleset is tried as it stands and with the room
options that its logs name; then the best ones with every one key changed, and the best of those with a second one.
Keys that only the game level sees (the next dealer, the raise) do not show in single rounds.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingest.read import Batch
from replay import inputs, ruleset
from replay.batch import Replayer, Rules, stack
from replay.prepared import columns, flat_events

SAMPLE = 2000  # rounds that the search for changed keys looks at
CHANGED = 3  # rulesets whose keys are changed one at a time
PAIRED = 6  # best single changes that a second one is added to


class Explained(NamedTuple):
    """One set of rules and how many of the rounds it explains."""

    ruleset: str
    changes: tuple[str, ...]  # "key=value", sorted
    explained: int
    rounds: int


class _Trial:
    """The rounds to explain, replayed under one record of rules after another."""

    def __init__(self, batches: list[pa.RecordBatch]) -> None:
        self.batches = batches
        self.rounds = sum(batch.num_rows for batch in batches)
        self.replayer = Replayer(explain=False)

    def count(self, rules: ruleset.Ruleset, record: np.void) -> int:
        """Rounds without a problem under a record (of `rules`, or one of its variants)."""
        self.replayer.rules = Rules()
        self.replayer.rules.loaded = [rules]
        self.replayer.rules.records = stack([record])
        right = 0
        for batch in self.batches:
            prepared = columns(batch, np.zeros(batch.num_rows, np.int64))
            played, _ = inputs.solve(self.replayer, batch, prepared, flat_events(batch))
            right += int((played.results.problems == 0).sum())
        return right


def fit(batches: Iterable[Batch]) -> list[Explained]:
    """Every ruleset by how much it explains, best first; then changes of one and two keys that explain more.

    batches: what a Reader yields; all rounds are kept in memory.  Ties are in the order of ids and changes.
    """
    rounds = [batch.rounds for batch in batches if batch.rounds.num_rows]
    whole = _Trial(rounds)
    if not whole.rounds:
        return []
    named = sorted({row for batch in rounds for row in batch["options"].to_pylist()} | {"{}"})
    tried: list[tuple[int, ruleset.Ruleset]] = []
    for id in ruleset.ids():
        choices = [inputs.options(text) for text in named]
        allowed = [options for options in choices if ruleset.check(id, options) is None]
        if allowed:
            counted = [(whole.count(rules, rules.record), rules) for rules in (ruleset.load(id, o) for o in allowed)]
            tried.append(max(counted, key=lambda item: item[0]))
    tried.sort(key=lambda item: (-item[0], item[1].id))
    found = [Explained(rules.id, changes_of(rules), count, whole.rounds) for count, rules in tried]
    best = tried[0][0]
    if best < whole.rounds:
        sample = whole if whole.rounds <= SAMPLE else _Trial(first_rounds(rounds, SAMPLE))
        found += changed(sample, whole, [rules for _, rules in tried[:CHANGED]], best)
    return sorted(found, key=lambda one: (-one.explained, len(one.changes), one.ruleset, one.changes))


def first_rounds(batches: list[pa.RecordBatch], most: int) -> list[pa.RecordBatch]:
    """The first `most` rounds."""
    table = pa.Table.from_batches(batches).slice(0, most).combine_chunks()
    return table.to_batches()


def changes_of(rules: ruleset.Ruleset) -> tuple[str, ...]:
    """Room options as changes."""
    return tuple(f"{key}={ruleset.text(value)}" for key, value in rules.options.items())


def changed(sample: _Trial, whole: _Trial, rulesets: list[ruleset.Ruleset], best: int) -> list[Explained]:
    """Changes of one key, then of two, that explain more rounds than any ruleset as it stands."""
    found: list[Explained] = []
    for rules in rulesets:
        before = sample.count(rules, rules.record)
        singles: list[tuple[int, str, dict[str, Any]]] = []
        for key, value, record in ruleset.variants(rules):
            count = sample.count(rules, record)
            if count > before:
                singles.append((count, f"{key}={ruleset.text(value)}", {key: value}))
        singles.sort(key=lambda item: (-item[0], item[1]))
        sets = [(change,) for change in singles[:PAIRED]]
        for count, word, change in singles[:PAIRED]:
            values = rules.values | change
            pairs = []
            for _, other, second in singles:
                if set(second) != set(change):
                    both = sample.count(rules, ruleset.record_of(values | second))
                    if both > count:
                        pairs.append((both, other, second))
            pairs.sort(key=lambda item: (-item[0], item[1]))
            sets += [((count, word, change), pair) for pair in pairs[:1]]
        seen: set[tuple[str, ...]] = set()
        for parts in sets:
            words = tuple(sorted(word for _, word, _ in parts))
            if words in seen:
                continue
            seen.add(words)
            values = dict(rules.values)
            for _, _, change in parts:
                values |= change
            count = whole.count(rules, ruleset.record_of(values))
            if count > best:
                found.append(Explained(rules.id, tuple(sorted({*changes_of(rules), *words})), count, whole.rounds))
    return found
