"""Draw luck by account, and against what was known before: honest draws are uniform in p, upgraded ones are found."""

import duckdb
import numpy as np
import pyarrow as pa
from fairness_tables import empty
from scipy.stats import kstest

from analytics import schema
from analytics.fairness import accounts, compensation, multiplicity
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

DRAWS = 7  # of a seat in a round
COLUMNS = [
    ("useful_draws", "draws", "useful_expected", "useful_variance"),
    ("ready_hits", "ready_draws", "ready_expected", "ready_variance"),
    ("revealed_hits", "revealed_draws", "revealed_expected", "revealed_variance"),
    ("replacement_hits", "draws_behind", "replacement_expected", "replacement_variance"),
]


def luck(seed: int, rounds: int, rig: str = "", players: int = 12) -> duckdb.DuckDBPyConnection:
    """Rounds of three of the players; each draw is useful by its chance, or as the rig says."""
    rng = np.random.default_rng(seed)
    seats = np.array([rng.choice(players, 3, replace=False) for _ in range(rounds)])
    points = rng.choice([[4, -2, -2], [-2, 4, -2], [-2, -2, 4]], rounds)
    p = rng.integers(2, 40, (rounds, 3, DRAWS)) / 64
    hit = rng.random((rounds, 3, DRAWS)) < p
    if rig == "upgrade":  # a draw in twenty of player 0
        hit |= (seats == 0)[:, :, None] & (rng.random(hit.shape) < 0.05)
    if rig == "streak":  # who has lost three in a row gets a useful tile more often
        lost = np.zeros(players, int)
        for at in range(rounds):
            for seat in range(3):
                if lost[seats[at, seat]] >= 3:
                    hit[at, seat] |= rng.random(DRAWS) < 0.2
            for seat in range(3):
                lost[seats[at, seat]] = 0 if points[at, seat] > 0 else lost[seats[at, seat]] + 1
    made = empty()
    ids = np.repeat(np.arange(rounds), 3)
    seat = np.tile(np.arange(3), rounds)
    facts = {"round_id": pa.array(ids, pa.uint64()), "seat": pa.array(seat, pa.int8())}
    for hits, draws, expected, variance in COLUMNS:
        facts[hits] = pa.array(hit.sum(axis=2).ravel(), pa.int16())
        facts[draws] = pa.array(np.full(len(ids), DRAWS), pa.int16())
        facts[expected] = pa.array(p.sum(axis=2).ravel())
        facts[variance] = pa.array((p * (1 - p)).sum(axis=2).ravel())
    schema.insert(made, "facts", pa.table(facts))
    names = [f"p{one}" for one in seats.ravel()]
    told = {"round_id": facts["round_id"], "seat": facts["seat"], "player": names, "points": points.ravel()}
    schema.insert(made, "seats", pa.table(told))
    whole = {
        "round_id": pa.array(np.arange(rounds), pa.uint64()), "game_key": pa.array(np.zeros(rounds), pa.uint64()),
        "round": np.arange(rounds), "time_ms": np.arange(rounds) * 1000, "base": rng.choice([1, 5], rounds),
        "coverage": ["full"] * rounds, "end": ["win"] * rounds, "own_verdict": ["clean"] * rounds,
    }  # fmt: skip
    schema.insert(made, "rounds", pa.table(whole))
    return made


def run(connection: duckdb.DuckDBPyConnection) -> list[Result]:
    tables = Tables(connection)
    return [row for check in (*accounts.CHECKS, *compensation.CHECKS) for row in check.run(tables)]


def test_honest_luck_is_uniform_and_flags_nobody() -> None:
    rows = [row for seed in range(12) for row in run(luck(seed, 300))]
    for name in ("draw_luck", "past_net", "losing_streak", "newness", "stake"):
        values = [row.p for row in rows if row.name == name and row.p is not None]
        assert len(values) >= 12 and kstest(values, "uniform").pvalue > 0.001, name
    assert {(row.status, row.name == "horse_tiles") for row in multiplicity.adjusted(rows)} == {
        ("passed", False), ("not_run", True),
    }  # fmt: skip
    assert np.mean([row.e for row in rows if row.e is not None]) < 1.3


def test_e_values_of_honest_draws_average_at_most_one() -> None:
    rng = np.random.default_rng(4)
    p = rng.random((4000, 30)) * 0.6
    away = ((rng.random(p.shape) < p) - p).sum(axis=1)
    e = accounts.e_value(away, (p * (1 - p)).sum(axis=1))
    assert e.mean() < 1 + 4 * e.std() / np.sqrt(len(e)) and (e >= 100).mean() <= 0.01


def test_the_account_whose_draws_are_upgraded_is_the_one_under_review() -> None:
    rows = multiplicity.adjusted(run(luck(5, 4000, "upgrade")))
    flagged = {(row.name, row.subject) for row in rows if row.status in ("review", "escalated")}
    assert ("draw_luck", "p0") in flagged and {subject for _, subject in flagged} == {"p0"}
    row = next(row for row in rows if row.name == "draw_luck" and row.subject == "p0")
    assert row.needed < row.n and row.power > 0.9 and row.low < 0.05 * 0.67 < row.high
    assert row.e > 100 and row.status == "review"  # checks 16 and 17 count the same draws: no second kind of sign


def test_luck_that_follows_losses_is_found_and_nothing_else() -> None:
    rows = {row.name: row for row in multiplicity.adjusted(run(luck(6, 1500, "streak"))) if row.check == 14}
    assert rows["losing_streak"].status == "flagged" and rows["losing_streak"].effect > 0
    assert rows["stake"].status == "passed"


def test_the_sums_are_those_of_a_slow_reading() -> None:
    connection = luck(9, 60)
    told = connection.execute(
        "SELECT player, useful_draws, useful_expected, useful_variance FROM facts JOIN seats USING (round_id, seat)"
    ).fetchall()
    for row in accounts.draw_luck(Tables(connection)):
        mine = [one for one in told if one[0] == row.subject]
        assert row.n == DRAWS * len(mine)
        if row.p is not None:
            away = sum(one[1] - one[2] for one in mine)
            assert abs(row.statistic - away / sum(one[3] for one in mine) ** 0.5) < 1e-6


def test_streaks_and_nets_are_those_of_a_slow_reading(monkeypatch) -> None:
    seen = {}
    monkeypatch.setattr(compensation, "slope", lambda row, away, variance, x, planned: seen.setdefault(row.name, x))
    connection = luck(10, 200)
    compensation.compensated(Tables(connection))
    rows = connection.execute(
        "SELECT round_id, player, points, base FROM seats JOIN rounds USING (round_id) ORDER BY round_id, player"
    ).fetchall()
    net, lost, before, expected = {}, {}, {}, {name: [] for name in seen}
    for _, player, points, base in rows:
        so_far = net.get(player, 0)
        expected["past_net"].append((so_far > 0) - (so_far < 0))
        expected["losing_streak"].append(lost.get(player, 0) >= 3)
        expected["newness"].append(before.get(player, 0) < 50)
        expected["stake"].append(np.log(base))
        net[player] = so_far + round(1000 * points / base)
        lost[player] = 0 if points >= 0 else lost.get(player, 0) + 1
        before[player] = before.get(player, 0) + 1
    for name, values in expected.items():
        assert np.allclose(seen[name], np.array(values, float)), name
