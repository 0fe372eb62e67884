"""Checks 23 and 24 and the horse: sums against a slow reading, honest accounts uniform, planted cheats named alone."""

import math
from collections import defaultdict

import duckdb
import numpy as np
import pytest
from fairness_played import played
from fairness_tables import empty
from scipy.stats import kstest, norm, t

from analytics.fairness import accounts, hidden, multiplicity, timing
from analytics.fairness.cohort import CAUTION, cohort, judged
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables
from replay.corpus import Population

SEED, PEOPLE = 7, 40
WHO = Population(SEED, PEOPLE).busiest()
PEEKER, DEFENDER, OPEN, CALLER, BOT, HORSE = WHO[:6]
PLANTED = (
    f"peek:account={PEEKER},q=1", f"strong_defender:account={DEFENDER}", f"always_reveals:account={OPEN}",
    f"next_tile:account={CALLER}", f"bot:account={BOT},shape=jittered", f"best_horse:account={HORSE}",
)  # fmt: skip
GUILTY = {
    "hidden_waits": PEEKER, "waits_made_public": PEEKER, "after_calls": CALLER,
    "time_difficulty": BOT, "horse_tiles": HORSE,
}  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> duckdb.DuckDBPyConnection:
    return played(*PLANTED, rules="xiangyang", rounds=9000, seed=SEED, accounts=PEOPLE,
                  options='{"side.horse":"last_tile"}')  # fmt: skip


@pytest.fixture(scope="module")
def rows(corpus) -> list[Result]:
    found = Tables(corpus)
    return multiplicity.adjusted([*hidden.avoidance(found), *timing.timing(found), *accounts.replacements(found)])


def test_the_planted_are_named_and_the_look_alikes_are_not(rows) -> None:
    under = {(row.name, row.subject) for row in rows if row.status in ("review", "escalated")}
    for name, account in GUILTY.items():
        assert (name, account) in under, (name, [row for row in rows if row.name == name and row.subject == account])
    assert {subject for _, subject in under} <= {*GUILTY.values()} - {DEFENDER, OPEN}
    peeker = next(row for row in rows if row.name == "hidden_waits" and row.subject == PEEKER)
    assert peeker.effect < -0.4 and peeker.evidence


def test_decisions_and_calls_are_those_of_a_slow_reading(corpus, rows) -> None:
    facts = corpus.execute(
        "SELECT player, hidden_choices, hidden_fed, hidden_expected FROM facts JOIN seats USING (round_id, seat)"
    ).fetchall()
    mine = [row for row in facts if row[0] == DEFENDER]
    assert next(row.n for row in rows if row.name == "hidden_waits" and row.subject == DEFENDER) == sum(
        row[1] for row in mine
    )
    drawn = corpus.execute(
        "SELECT player, behind, hit, useful, remaining FROM draws JOIN seats ON seats.round_id = draws.round_id "
        "AND seats.seat = caller WHERE caller IS NOT NULL AND (behind OR draws.seat <> caller)"
    ).fetchall()
    for account in (CALLER, DEFENDER):
        own = [((hit - useful / left) * (1 if behind else -1), useful / left)
               for player, behind, hit, useful, left in drawn if player == account]  # fmt: skip
        row = next(row for row in rows if row.name == "after_calls" and row.subject == account)
        z = sum(away for away, _ in own) / math.sqrt(sum(p * (1 - p) for _, p in own))
        assert (row.n, row.statistic) == (len(own), pytest.approx(z, abs=1e-4))


def test_times_are_those_of_a_slow_reading(corpus) -> None:
    seen = defaultdict(list)
    told = corpus.execute(
        "SELECT round_id, seat, player, choices FROM facts JOIN seats USING (round_id, seat)"
    ).fetchall()
    choices = {(ident, seat): (player, list(listed)) for ident, seat, player, listed in told}
    for ident, events, times in corpus.execute("SELECT round_id, events, times FROM rounds").fetchall():
        for event, spent in zip(events, times, strict=True):
            if event >> 2 & 15 in (2, 3):
                player, left = choices[ident, event & 3]
                count = left.pop(0)
                level = 0 if count == 0 else 1 if count == 1 else 2 if count < 4 else 3
                if spent > 0:
                    seen[player, level].append(math.log2(spent))
    assert not any(left for _, left in choices.values())
    found = timing.times(Tables(corpus))
    for at, player in enumerate(found.players):
        for level in range(timing.CLASSES):
            mine = seen[player, level]
            assert found.count[at, level] == len(mine) == found.bins[at, level].sum()
            assert found.total[at, level] == pytest.approx(sum(mine), abs=1e-2)
            assert found.square[at, level] == pytest.approx(sum(one * one for one in mine), abs=1e-2)


def test_horses_have_the_mean_and_the_variance_that_is_said(corpus) -> None:
    points, expected, variance, square, n = corpus.execute(
        "SELECT sum(horse_points), sum(horse_expected), sum(horse_variance), "
        "sum((horse_points - horse_expected)^2), sum(horses) FROM facts JOIN seats USING (round_id, seat) "
        f"WHERE player <> '{HORSE}'"
    ).fetchone()
    assert n > 1000 and abs(points - expected) / variance**0.5 < 3.5
    assert 0.9 < square / variance < 1.1


def test_p_values_of_draws_are_those_of_the_exact_sum() -> None:
    """Against the distribution of the sum, convolved draw by draw; the normal law is off by half and more out there."""
    rng = np.random.default_rng(8)
    chances = rng.uniform(0.05, 0.3, 120)
    exact = np.ones(1)
    for p in chances:
        exact = np.convolve(exact, [1 - p, p])
    expected, variance = chances.sum(), (chances * (1 - chances)).sum()
    hits = np.arange(5.0, 45.0)
    upper = exact[::-1].cumsum()[::-1][hits.astype(int)] - exact[hits.astype(int)] / 2
    wanted = 2 * np.minimum(upper, 1 - upper)
    found = accounts.two_sided(hits, np.full(40, expected), np.full(40, variance))
    assert np.all(np.abs(np.log(found / wanted)[wanted > 1e-8]) < 0.15)
    normal = 2 * norm.sf(np.abs(hits - expected) / variance**0.5)
    assert np.abs(np.log(normal / wanted)[wanted > 1e-6]).max() > 0.5


def test_honest_members_of_a_cohort_keep_their_level_and_a_cheat_moves_it_little() -> None:
    rng = np.random.default_rng(3)
    values_of, away = {False: [], True: []}, []
    for _ in range(30):
        error = rng.uniform(0.02, 0.3, 60)
        values = 0.8 + rng.normal(0, 0.1, 60) + rng.normal(0, 1, 60) * error
        values[0] = 0.0  # the cheat
        of = cohort(values, error)
        assert abs(of.centre - 0.8) < 0.12 and 0 <= of.spread < 0.25
        away += (of.z[1:] * CAUTION).tolist()
        for at in range(1, 60):
            row = judged(Result(23, "x", "account", n=100), of, at, 0.4, lower=at % 2 == 0)
            values_of[at % 2 == 0].append(row.p)
    assert kstest(away, t(59).cdf).pvalue > 0.001  # the caution apart
    for values in values_of.values():
        for level in (0.3, 0.1, 0.01):
            assert np.mean(np.array(values) <= level) < level


def test_who_lacks_what_a_check_needs_is_told_so() -> None:
    found = Tables(empty())
    assert {(row.status, row.why) for row in [*hidden.avoidance(found), *timing.timing(found)]} == {("not_run", "tier")}
    few = Tables(played(rounds=120, accounts=9))
    why = {row.name: row.why for row in [*hidden.avoidance(few), *timing.timing(few)] if row.scope == "global"}
    assert why == dict.fromkeys(("hidden_waits", "waits_made_public", *timing.NAMES), "too_few")
