"""The audit's shuffle checks: exact moments, uniform p-values on fair walls, and what broken shuffles do to them."""

import duckdb
import numpy as np
import pytest
from fairness_tables import TILES, empty, from_orders, shuffled
from scipy.stats import binomtest, chi2, kstest, ncx2

from analytics.fairness import shuffle
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

ALPHA = 0.001


def run(connection: duckdb.DuckDBPyConnection) -> dict[str, Result]:
    """All rows of the file's checks by name."""
    tables = Tables(connection)
    return {row.name: row for check in shuffle.CHECKS for row in check.run(tables)}


def test_moments_agree_with_the_known_ones_and_with_counting() -> None:
    assert shuffle.match_moments(84) == (pytest.approx(4), pytest.approx(320 / 83))
    _, means, cover = shuffle.pair_moments(84)
    assert means[0] == pytest.approx(3)
    rng = np.random.default_rng(3)
    walls = shuffled(rng, 20_000)[:, :44]
    pairs = np.stack([(walls[:, lag:] == walls[:, :-lag]).sum(axis=1) for lag in range(1, 13)], axis=1)
    _, means, cover = shuffle.pair_moments(44)
    assert np.allclose(pairs.mean(axis=0), means, atol=4 * np.sqrt(np.diag(cover).max() / 20_000))
    assert np.allclose(np.cov(pairs.T), cover, atol=0.06)
    same = (walls[:10_000] == walls[10_000:]).sum(axis=1)
    mean, variance = shuffle.match_moments(44)
    assert abs(same.mean() - mean) < 4 * np.sqrt(variance / 10_000) and abs(same.var() - variance) < 0.15


def test_p_values_of_fair_walls_are_uniform() -> None:
    found: dict[str, list[float]] = {}
    for seed in range(24):
        rng = np.random.default_rng(seed)
        rows = run(from_orders(shuffled(rng, 300), stop=rng.integers(5, 45, 300)))
        for name, row in rows.items():
            found.setdefault(name, []).append(row.p)
    assert len(found) == 9
    for name, values in found.items():
        assert kstest(values, "uniform").pvalue > ALPHA, name


def broken(how: str, rng: np.random.Generator, n: int) -> np.ndarray:
    """Orders from shuffles that are wrong in a known way."""
    if how == "swap_any":  # every place swapped with any other, in place of one not yet done
        orders = np.tile(TILES, (n, 1))
        for place in range(84):
            other = rng.integers(0, 84, n)
            rows = np.arange(n)
            orders[rows, place], orders[rows, other] = orders[rows, other], orders[rows, place].copy()
        return orders
    if how == "riffles":  # three riffles of the sorted deck
        piles = rng.integers(0, 8, (n, 84))
        return np.take_along_axis(np.tile(TILES, (n, 1)), np.argsort(piles, axis=1, kind="stable"), axis=1)
    if how == "carry_over":  # a quarter of the tiles stays where it lay
        orders = shuffled(rng, n)
        for at in range(1, n):
            orders[at] = orders[at - 1]
            moved = rng.choice(84, 63, replace=False)
            orders[at, moved] = orders[at, rng.permutation(moved)]
        return orders
    raise ValueError(how)


@pytest.mark.parametrize(
    ("how", "caught", "spared"),
    [
        ("swap_any", {"kind_by_place"}, set()),
        ("riffles", {"adjacent_pairs", "pair_distances"}, set()),
        ("carry_over", {"matches_table_1", "matches_site_1"}, {"adjacent_pairs", "kind_by_hand"}),
    ],
)
def test_broken_shuffles_are_caught_within_two_thousand_rounds(how: str, caught: set[str], spared: set[str]) -> None:
    rows = run(from_orders(broken(how, np.random.default_rng(11), 2000)))
    assert {name for name in caught if rows[name].p < ALPHA / 10} == caught
    assert {name for name in spared if rows[name].p < ALPHA} == set()


def test_a_rest_sorted_after_the_deal_is_caught_by_what_is_drawn() -> None:
    rng = np.random.default_rng(2)
    orders = shuffled(rng, 300)
    orders[:, 40:] = np.sort(orders[:, 40:], axis=1)
    fair = run(from_orders(shuffled(rng, 300), stop=np.full(300, 20), wall=False))["drawn_kinds"]
    rigged = run(from_orders(orders, stop=np.full(300, 20), wall=False))["drawn_kinds"]
    assert fair.p > ALPHA and rigged.p < 1e-9 and fair.n == 6000


def test_stated_power_is_the_power() -> None:
    """A dragon is brought to the front of the wall in a quarter of the deals: rejected as often as the row says."""
    n, runs, rng = 420, 40, np.random.default_rng(7)
    front = np.array([(1 - 0.25) / 21 + 0.25 * (kind >= 18) / 3 for kind in range(21)])
    noncentrality = n * float(((front - 1 / 21) ** 2 * 21).sum())  # the other places change by next to nothing
    predicted = ncx2.sf(chi2.isf(ALPHA, 920), 920, noncentrality)
    rejected = 0
    for _ in range(runs):
        orders = shuffled(rng, n)
        for at in np.flatnonzero(rng.random(n) < 0.25):
            other = int(rng.choice(np.flatnonzero(orders[at] >= 18)))
            orders[at, [40, other]] = orders[at, [other, 40]]
        row = shuffle.places(Tables(from_orders(orders)), True)
        rejected += row.p < ALPHA
    assert 0.3 < predicted < 0.9 and binomtest(rejected, runs, predicted).pvalue > ALPHA
    effect = np.sqrt(noncentrality / (n * 84))
    assert (predicted < 0.9) == (effect < row.detectable) and row.low < effect < row.high


def test_without_walls_and_without_rounds_the_checks_say_why() -> None:
    rows = run(empty())
    assert {row.status for row in rows.values()} == {"not_run"}
    rows = run(from_orders(shuffled(np.random.default_rng(1), 150), wall=False))
    assert {name: row.why for name, row in rows.items() if row.status == "not_run"} == {
        "kind_by_place": "tier", "adjacent_pairs": "tier", "pair_distances": "tier", "matches_table_1": "tier",
        "matches_table_2": "tier", "matches_table_3": "tier", "matches_site_1": "tier", "drawn_kinds": "no_rounds",
    }  # fmt: skip
