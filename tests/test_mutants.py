"""The mutation gate on a sample: no falsified log passes, and the oracle names the same first event.

The whole gate is benchmarks/mutation.py, its results are benchmarks/MUTATION.md.
"""

import gzip
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from mutants import operators
from mutants_rows import ROW, ROWS, row_mutants, run_rows, sound_rows
from mutation import TIERS, TWO, random_games, run, sound

CASES = Path(__file__).parent / "data" / "cases" / "rounds.jsonl.gz"
FAULTS = ("missed", "elsewhere", "false alarm")
RECORD, GAME = operators()
# What a log can't show without a wall, a commitment or a chain: changing it back and forth leaves a round as legal.
FREE = {"drop_decline", "times_changed", "line_repeated", "lines_shuffled", "game_cut"}
# A readable record of these claims something that is never right.  (Moved, exchanged and renamed events can be: where
# one may reveal at any time, before the discard or after it; or `y` for `x` of a tile that was held twice.)
NEVER_LEGAL = {"drop_claim", "repeat_event", "fifth_tile", "cut_events", "event_after_end", "resource",
               "points_moved", "points_not_zero_sum", "points_scaled", "fans_changed",
               "multiple_changed", "winner_changed", "payer_changed", "won_tile_changed", "win_listed_twice",
               "kongs_changed", "fee_changed", "wall_retiled", "wall_drawn_exchanged", "wall_undrawn_retiled",
               "commit_changed", "salt_changed", "order_exchanged", "prev_changed"}  # fmt: skip


@pytest.fixture(scope="module")
def verdicts():
    """Verdicts on mutants of games of every ruleset, eight rounds each, and of random rounds rich in rare play."""
    rng = random.Random(11)
    games = defaultdict(list)
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            games[record["game"]].append(record)
    chosen = [list(games.values())[at] for at in range(0, 60, 3)]
    pool, left_out = sound(chosen + random_games(rng, 60))
    assert sum(left_out.values()) < len(pool) / 10
    return list(run(rng, pool, 3500))


def test_nothing_slips_through(verdicts):
    wrong = [one for one in verdicts if one.verdict in FAULTS]
    assert not wrong, [(one.verdict, one.mutant.operator, one.mutant.tier, one.engine, one.oracle) for one in wrong[:3]]
    assert Counter(one.verdict for one in verdicts)["caught"] > 2000


def test_every_operator_and_tier_is_tried(verdicts):
    tried = {one.mutant.operator for one in verdicts}
    assert tried >= (RECORD.keys() | GAME.keys() | {TWO}) - {"wins_turned"}  # two winners are rare
    assert {one.mutant.tier for one in verdicts} == set(TIERS)
    assert len({one.mutant.rules for one in verdicts}) == 10


def test_what_can_be_legal(verdicts):
    by_operator = defaultdict(Counter)
    for one in verdicts:
        by_operator[one.mutant.operator][one.verdict] += 1
    for name in FREE:
        assert by_operator[name]["legal"], name
    for name in NEVER_LEGAL:
        assert not by_operator[name]["legal"] and not by_operator[name]["unbound"], name


def test_a_changed_line_of_a_chain_is_caught(verdicts):
    """Whatever changes in a line whose successor carries its digest."""
    links = [
        one
        for one in verdicts
        if TIERS[one.mutant.tier].chain and one.mutant.operator in RECORD and one.mutant.place + 1 < 8
    ]
    assert len(links) > 300
    passed = [one.mutant for one in links if one.verdict not in ("caught", "refused")]
    # The first line under another game's name is as good as gone, and a game may start in the middle.
    assert all((one.operator, one.place) == ("game_changed", 0) for one in passed), passed[:3]


def test_rows_of_a_server():
    rng = random.Random(12)
    runs = sound_rows()[::3]
    found = list(run_rows(row_mutants(rng, runs, 330)))
    wrong = [one for one in found if one.verdict in FAULTS]
    assert not wrong, [(one.verdict, one.mutant.operator, one.mutant.tier, one.engine, one.oracle) for one in wrong[:3]]
    assert {one.mutant.operator for one in found} >= ROW.keys() | ROWS.keys()
