"""Checks 18-22 on crooked rounds: what is planted is found and look-alikes are not; parts against slow readings."""

from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from fairness_played import played
from fairness_tables import empty
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import hypergeom, kstest, t

from analytics.fairness import (
    battery,
    deal_ins,
    net_results,
    pair_money,
    passed_wins,
    payers,
    seating,
    strength,
    transfers,
)
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

CHEATS = (
    "dump:account=u1,partner=u4", "queue_pair:account=u1,partner=u4,q=0.6", "soft:account=u10,partner=u12",
    "queue_pair:account=u10,partner=u12,q=0.6", "signal:account=u15,partner=u17",
    "queue_pair:account=u15,partner=u17,q=0.6",
)  # fmt: skip
HONEST = (
    "friends:account=u1,partner=u4", "friends:account=u10,partner=u12,q=0.6", "strong_defender:account=u15",
    "always_reveals:account=u17", "whale:account=u20", "dealer_streak:account=u1,n=6",
)  # fmt: skip


def results(*cheats: str) -> list[Result]:
    return battery.results(Tables(played(*cheats, rounds=9000, seed=3, accounts=30)), (18, 19, 20, 21, 22))


def standing(rows: list[Result]) -> dict[str, set[str]]:
    out = defaultdict(set)
    for row in rows:
        if row.status in ("review", "escalated", "noted"):
            out[row.name].add(f"{row.subject} {row.status}")
    return out


def test_each_pair_that_plays_for_each_other_is_found_by_its_check_and_nobody_else() -> None:
    found = standing(results(*CHEATS))
    assert "u1 → u4 review" in found["deal_in_share"]
    assert found["passed_wins"] == {"u10 → u12 escalated", "u12 → u10 escalated"}
    assert found["pung_gifts"] == {"u15 → u17 review"}
    named = {one.rsplit(" ", 1)[0] for told in found.values() for one in told}
    assert {frozenset(name.split(" → ")) for name in named} == {
        frozenset({"u1", "u4"}), frozenset({"u10", "u12"}), frozenset({"u15", "u17"}),
    }  # fmt: skip


def test_look_alikes_are_no_reason_for_review_and_honest_p_values_are_uniform() -> None:
    rows = results(*HONEST)
    assert not standing(rows)
    for name in ("deal_in_share", "net_transfer", "kong_gifts", "passed_wins", "third_player", "pung_gifts"):
        p = [row.p for row in rows if row.name == name and row.p is not None]
        assert len(p) > 30 and kstest(p, "uniform").pvalue > 1e-4, name
    for row in rows:
        assert row.p is None or (0 < row.p <= 1 and row.low < row.effect < row.high and row.detectable > 0)


def gifts(seed: int, accounts: int = 7, n: int = 900) -> payers.Gifts:
    rng = np.random.default_rng(seed)
    who = np.array([rng.choice(accounts, 3, replace=False) for _ in range(n)])
    cell, kind = rng.integers(0, 4, n), rng.integers(0, 2, n)
    freely = rng.normal(0, 0.5, 2 * accounts)
    odds = 0.3 * cell - 0.4 + freely[2 * who[:, 1] + kind] - freely[2 * who[:, 2] + kind]
    gave = rng.random(n) < expit(odds)
    return payers.Gifts(np.arange(n, dtype=np.uint64), who[:, 0], who[:, 1], who[:, 2], gave, cell, kind)


def test_the_model_of_who_gives_is_the_largest_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payers, "CLOSE", 1e-9)
    monkeypatch.setattr(payers, "STEPS", 500)
    told = gifts(1)
    found = payers.fit(told, 7, 4)

    def loss(x: np.ndarray) -> float:
        freely, of_cell = x[:14], x[14:]
        odds = of_cell[told.cell] + freely[2 * told.first + told.kind] - freely[2 * told.second + told.kind]
        likelihood = np.logaddexp(0, np.where(told.gave, -odds, odds)).sum()
        return likelihood + (freely**2 * np.tile(found.prior, 7)).sum() / 2 + (of_cell**2).sum() / 2

    best = minimize(loss, np.zeros(18), tol=1e-10).x
    assert np.allclose(found.freely, best[:14], atol=2e-4) and np.allclose(found.of_cell, best[14:], atol=2e-4)
    spread = found.freely**2 + 1 / (found.information + np.tile(found.prior, 7))
    assert np.allclose(1 / found.prior, [spread[0::2].mean(), spread[1::2].mean()], rtol=1e-3)


def test_a_pair_is_measured_by_what_its_giver_gives_to_others() -> None:
    told = gifts(2)
    pair = (told.taker == 0) & ((told.first == 1) | (told.second == 1))
    feeds = pair & (told.first == 1) | told.gave & ~(pair & (told.second == 1))
    rows = payers.judge(
        Result(19, "deal_in_share", "pair"), told._replace(gave=feeds), np.array(list("abcdefg")), 20, 0.2
    )
    fed = next(row for row in rows if row.subject == "b → a")
    assert fed.n == pair.sum() and fed.p < 1e-9 and 0.3 < fed.effect < 0.7
    assert set(fed.evidence) <= set(told.round_id[pair].tolist())
    assert all(row.p_adjusted > 0.01 for row in rows if row.p is not None and row.subject != "b → a")


def honest(seed: int, rounds: int = 600, accounts: int = 8) -> strength.Results:
    rng = np.random.default_rng(seed)
    who = np.array([rng.choice(accounts, 3, replace=False) for _ in range(rounds)])
    strong = rng.normal(0, 0.3, accounts)[who]
    flow = (np.roll(strong, -1, axis=1) - strong) / 3 + rng.normal(0, 1, (rounds, 3))
    names = np.array([f"u{one}" for one in range(accounts)])
    net = np.roll(flow, 1, axis=1) - flow
    return strength.Results(names, np.arange(rounds), np.arange(rounds) // 5, who, net, flow, np.full(rounds, 2.0))


def test_strengths_are_the_ridge_regression_on_who_sat_there() -> None:
    of = honest(1)
    found = strength.strengths(of)
    x = np.zeros((3 * len(of.net), len(of.names)))
    for at, who in enumerate(of.account):
        for seat in range(3):
            x[3 * at + seat, who] -= 1 / 3
            x[3 * at + seat, who[seat]] += 1
    told = np.linalg.solve(x.T @ x + found.prior * np.eye(len(of.names)), x.T @ of.net.ravel())
    assert np.allclose(found.value, told, atol=1e-6)
    left = of.net.ravel() - x @ told
    assert np.isclose(found.each, left @ left / (2 * len(of.net)), rtol=1e-3)


def test_money_of_a_pair_is_that_of_a_slow_reading() -> None:
    of = honest(2)
    known = strength.strengths(of)
    a, b = 1, 5
    total, games, squares, n = 0.0, defaultdict(float), 0.0, 0
    nets = []
    for at, who in enumerate(of.account.tolist()):
        if a in who and b in who:
            mean = known.value[who].mean()
            nets.append(of.net[at, who.index(b)] - known.value[b] + mean)
    rest = (known.rounds[b] - len(nets)) * 2 / 3 + known.prior
    apart = known.value[b] - sum(nets) / rest
    thirds = defaultdict(int)
    for at, who in enumerate(of.account.tolist()):
        if a in who and b in who:
            c = next(one for one in who if one not in (a, b))
            seat = who.index(a)
            gave = {who[(seat + 1) % 3]: of.flow[at, seat], who[(seat + 2) % 3]: -of.flow[at, (seat + 2) % 3]}
            games[of.game[at]] += gave[b] - gave[c] - (apart - known.value[c]) / 3
            thirds[c] += 1
            n += 1
    total, squares = sum(games.values()), sum(one * one for one in games.values())
    unknown = n * n / 9 * known.each / rest + sum(k * k / 9 * known.variance[c] for c, k in thirds.items())
    row = Result(20, "net_transfer", "pair")
    rows = pair_money.judge(row, of, transfers.what_passes(of), " → ", 20, 0.5)
    mine = next(row for row in rows if row.subject == "u1 → u5")
    z = total / (squares + unknown) ** 0.5
    assert (
        mine.n == n and np.isclose(mine.statistic, z, rtol=1e-4) and np.isclose(mine.effect, 2 * total / n, rtol=1e-4)
    )
    rng = np.random.default_rng(3)
    sums = np.array(list(games.values()))
    flipped = rng.choice([-1, 1], (200_000, len(sums))) @ sums + rng.normal(0, unknown**0.5, 200_000)
    assert np.isclose(mine.p, (np.abs(flipped) >= abs(total)).mean(), atol=0.01)


def test_accounts_are_compared_with_those_that_play_alike() -> None:
    rng = np.random.default_rng(8)
    p, seen = [], []
    for _ in range(12):
        habits, error = rng.random((60, 3)), rng.uniform(0.03, 0.2, 60)
        value = 0.5 - 1.2 * habits[:, 0] ** 2 + 0.3 * habits[:, 1] + rng.normal(0, 0.05, 60) + rng.normal(0, error)
        value[0] += 0.6
        found = net_results.alike(value, error, habits)
        z = (value - found.expected) / np.sqrt(found.noise**2 + found.spread**2 + found.error**2)
        p += list(2 * t.sf(np.abs(z[1:]), found.free))
        seen.append(value[0] - found.expected[0])
    assert kstest(p, "uniform").pvalue > 0.001 and abs(np.mean(seen) - 0.6) < 0.15


def test_an_account_is_measured_by_its_own_rounds() -> None:
    of = honest(4)
    known = strength.strengths(of)
    own = net_results.own_strengths(of, known)
    told, rounds = [], []
    for at, who in enumerate(of.account.tolist()):
        if 3 in who:
            seat = who.index(3)
            others = sum(known.value[one] for one in who if one != 3)
            told.append((of.net[at, seat] + others / 3) * 1.5)
            rounds.append((of.net[at, seat], at))
    assert np.isclose(own.value[3], np.mean(told)) and own.rounds[3] == len(told)
    assert 0.7 < own.error[3] / (np.std(told) / len(told) ** 0.5) < 1.5
    assert net_results.telling(of, 3, 1)[0] == max(rounds)[1] and net_results.telling(of, 3, -1)[0] == min(rounds)[1]


def test_passes_of_a_pair_are_dealt_by_lot_among_like_offers() -> None:
    rng = np.random.default_rng(5)
    n = 300
    of = passed_wins.Offers(np.arange(n), np.zeros(n, int), rng.integers(1, 4, n), rng.integers(0, 2, n),
                            rng.random(n) < 0.2)  # fmt: skip
    pair = of.giver - 1
    found = passed_wins.count(of, pair, 3, np.zeros(3, bool))
    for one in range(3):
        chance = np.ones(1)
        for like in range(2):
            cell = of.like == like
            mine = cell & (pair == one)
            k = np.arange(mine.sum() + 1)
            chance = np.convolve(chance, hypergeom.pmf(k, cell.sum(), of.passed[cell].sum(), mine.sum()))
        seen = int(of.passed[pair == one].sum())
        assert found.hits[one] == seen and np.isclose(found.expected[one], (chance * np.arange(len(chance))).sum())
        told = chance[:seen].sum(), chance[seen], chance[seen + 1 :].sum()
        assert np.allclose([found.below[one], found.at[one], found.above[one]], told)


def test_chance_to_sit_together_is_that_of_all_seatings() -> None:
    seats = np.array([[[0, 1, 2], [3, 4, 5]], [[0, 3, 5], [1, 2, 4]]])  # two hours of two tables each
    of = seating.Sittings(np.array([0, 0, 1, 1]), seats.reshape(4, 3), np.arange(4, dtype=np.uint64))
    tested = np.array([[0, 1], [3, 5]])
    found = seating.count(of, np.zeros((4, 3), bool), tested, 6)
    together = np.mean([(one.index(0) < 3) == (one.index(1) < 3) for one in permutations(range(6))])
    assert found.n.tolist() == [2, 2] and found.hits.tolist() == [1, 2]
    assert np.allclose(found.expected, 2 * together)
    assert np.allclose([found.below[0], found.at[0], found.above[0]],
                       [(1 - together) ** 2, 2 * together * (1 - together), together**2])  # fmt: skip


def test_friends_who_queue_together_are_noted_and_those_they_then_miss_are_not() -> None:
    rng = np.random.default_rng(6)
    slots, accounts = 120, 12
    seats = np.array([rng.permutation(accounts) for _ in range(slots)])
    for row in seats[: slots * 2 // 3]:  # 0 and 1 change places with others until they share a table
        one, other = int(np.flatnonzero(row == 0)[0]), int(np.flatnonzero(row == 1)[0])
        free = one // 3 * 3 + (one + 1) % 3
        if one // 3 != other // 3:
            row[[free, other]] = row[[other, free]]
    of = seating.Sittings(np.repeat(np.arange(slots), 4), seats.reshape(-1, 3), np.arange(4 * slots, dtype=np.uint64))
    rows = seating.judge(
        Result(21, "seating", "pair", tier="T3"), of, np.array([f"u{at:02}" for at in range(accounts)])
    )
    assert [row.subject for row in rows if row.p_adjusted is not None and row.p_adjusted <= 0.01] == ["u00 ↔ u01"]
    others = [row.p for row in rows if row.p is not None and row.subject != "u00 ↔ u01"]
    assert len(others) > 50 and kstest(others, "uniform").pvalue > 0.001
    pair = next(row for row in rows if row.subject == "u00 ↔ u01")
    assert len(pair.evidence) == 50 and pair.effect > 0.4 and pair.power > 0.9


def test_checks_say_why_they_did_not_run() -> None:
    for check in (*deal_ins.CHECKS, *transfers.CHECKS, *passed_wins.CHECKS, *seating.CHECKS):
        assert [row.why for row in check.run(Tables(empty()))] == ["no_rounds"]
