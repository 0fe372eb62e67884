"""Exact sums of unlike coin tosses against adding one toss after another, and rows of many pairs."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import kstest, norm

from analytics.fairness import exact_sums, multiplicity, pair_rows
from analytics.fairness.exact_sums import Tails
from analytics.fairness.result import Result


def slowly(logits: np.ndarray, hits: int, spread: float) -> tuple[float, float, float]:
    """The tails, with the shift's distribution cut into two thousand pieces."""
    shifts = spread * norm.ppf((np.arange(2000) + 0.5) / 2000) if spread else np.zeros(1)
    chance = np.zeros(len(logits) + 1)
    for shift in shifts:
        one = np.ones(1)
        for p in expit(logits + shift).tolist():
            one = np.convolve(one, [1 - p, p])
        chance += one / len(shifts)
    return chance[:hits].sum(), chance[hits], chance[hits + 1 :].sum()


@pytest.mark.parametrize("spread", [0.0, 0.4])
def test_tails_are_those_of_tossing_one_after_another(spread: float) -> None:
    rng = np.random.default_rng(1)
    sizes = np.array([0, 1, 2, 7, 8, 30, 31])
    logits = rng.normal(0, 1, sizes.sum())
    hits = np.array([0, 1, 0, 5, 8, 12, 20])
    found = exact_sums.tails(logits, sizes, hits, np.full(len(sizes), spread))
    for at, begin in enumerate(np.cumsum(sizes) - sizes):
        told = slowly(logits[begin : begin + sizes[at]], hits[at], spread)
        assert np.allclose([part[at] for part in found], told, rtol=3e-3, atol=1e-6)
    assert np.allclose(sum(found), 1)


def test_long_sums_are_near_the_exact_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    logits = rng.normal(-0.2, 0.7, 400)
    asked = (logits, np.array([400]), np.array([230]), np.array([0.15]))
    exact = exact_sums.tails(*asked)
    monkeypatch.setattr(exact_sums, "LONG", 10)
    near = exact_sums.tails(*asked)
    assert np.allclose(np.log(near.above), np.log(exact.above), atol=0.1) and exact.above[0] < 0.01
    assert np.allclose(near.at, exact.at, rtol=0.1)


def test_sums_of_either_sign_have_the_tails_of_all_their_signs() -> None:
    rng = np.random.default_rng(5)
    sizes = [rng.exponential(1, 16) * rng.choice([-1, 1], 16), np.array([30.0, *rng.exponential(1, 15)])]
    signs = np.array(list(product((-1, 1), repeat=16)))
    which = np.repeat([0, 1], 16)
    for quantile in (0.3, 0.9, 0.999):
        every = [np.abs(signs @ one) for one in sizes]
        total = np.array([np.quantile(one, quantile) for one in every])
        told = [(one >= at).mean() for one, at in zip(every, total, strict=True)]
        p = exact_sums.signs(total, np.concatenate(sizes), which, np.zeros(2))
        assert abs(np.log(p[0] / told[0])) < 0.15
        assert p[1] > told[1] / 2  # one number that outweighs all others: never far too small
    assert exact_sums.signs(np.zeros(1), sizes[0], which[:16], np.ones(1)) == 1.0
    assert exact_sums.signs(np.zeros(1), np.zeros(1), np.zeros(1, int), np.zeros(1)) == 1.0  # nothing to add up
    wide = exact_sums.signs(np.array([60.0]), np.ones(4), np.zeros(4, int), np.array([396.0]))
    assert np.isclose(wide, 2 * norm.sf(3), rtol=0.02)


def test_randomised_p_values_are_uniform_however_coarse_the_count_is() -> None:
    rng = np.random.default_rng(3)
    sizes = np.full(3000, 3)
    logits = rng.normal(0, 1, 9000)
    hits = (rng.random(9000) < expit(logits)).reshape(-1, 3).sum(axis=1)
    names = [str(one) for one in range(3000)]
    p = exact_sums.two_sided(exact_sums.tails(logits, sizes, hits, np.zeros(3000)), names, "x")
    assert kstest(p, "uniform").pvalue > 0.001
    certain = Tails(np.zeros(1), np.ones(1), np.zeros(1))
    assert exact_sums.two_sided(certain, ["a"], "x") == exact_sums.two_sided(certain, ["a"], "x")
    assert exact_sums.two_sided(certain, ["a"], "x") != exact_sums.two_sided(certain, ["b"], "x")


def found(p: np.ndarray) -> pair_rows.Pairs:
    names = [f"a{at} → b" for at in range(len(p))]
    ones = np.ones(len(p))
    return pair_rows.Pairs(names, np.full(len(p), 50), ones, ones, ones, 0 * ones, p, lambda at: np.array([at]))


def test_all_pairs_are_corrected_for_where_only_the_telling_ones_are_shown() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(pair_rows.ALL + 500)
    p[7] = 1e-9
    row = Result(19, "deal_in_share", "pair", unit="wins")
    whole, *shown = pair_rows.rows(row, found(p), 3, 0.2, 20)
    assert len(shown) == pair_rows.TELLING and whole.n == len(p) and whole.subject is None
    assert json.loads(whole.note) == {"pairs": len(p), "left_out": len(p) - len(shown), "too_few": 3}
    states = {one.subject: one.status for one in multiplicity.adjusted([whole, *shown])}
    assert states["a7 → b"] == "review" and sorted(states.values(), key=str).count("review") == 1
    assert next(one for one in shown if one.subject == "a7 → b").p_adjusted == pytest.approx(1e-9 * len(p))
    assert len(pair_rows.rows(row, found(p[:40]), 0, 0.2, 20)) == 41
    assert [one.why for one in pair_rows.rows(row, None, 4, 0.2, 20)] == ["too_few"]


def test_the_strongest_pair_at_a_table_stands_out_first() -> None:
    p = np.array([1e-9, 1e-12, 1e-7, 0.5])
    ends = np.array([[0, 1], [1, 2], [3, 4], [5, 6]])
    assert pair_rows.standing_out(p, p, ends).tolist() == [False, True, True, False]


def test_friends_alone_are_noted_and_are_a_second_kind_for_their_own_pair_only() -> None:
    row = Result(21, "seating", "pair", "pair", "a ↔ b", n=40, p=1e-20, p_adjusted=1e-18)
    assert [one.status for one in multiplicity.adjusted([row])] == ["noted"]
    other = Result(19, "deal_in_share", "pair", "pair", "b → a", n=40, p=1e-9, p_adjusted=1e-7)
    assert [one.status for one in multiplicity.adjusted([row, other])] == ["noted", "escalated"]
    elsewhere = other.but(subject="b → c")
    assert [one.status for one in multiplicity.adjusted([row, elsewhere])] == ["noted", "review"]
