"""Exact chances of dealt hands, and the audit's checks that use them: dealt hands, first dealers, seats, drift."""

from math import comb

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from fairness_tables import TILES, empty, shuffled
from oracle_facts import shanten
from scipy.stats import chisquare, kstest

from analytics import schema, starts
from analytics.fairness import deals, drift
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables
from ingest.tiles import NAMES

ALPHA = 0.001


def test_every_hand_is_counted_once() -> None:
    for feature in starts.FEATURES:
        for tiles in (13, 14):
            assert sum(starts.chances(feature, tiles).values()) == pytest.approx(1, abs=1e-12)
    for tiles in starts.DEALT:
        assert starts.ways(tiles) == starts.DEALT[tiles] == starts.counted(tiles)
        assert sum(starts.ways(tiles).values()) == comb(84, tiles)
    mean, variance = starts.moments("shanten", 13)
    assert mean == pytest.approx(2.4295, abs=1e-3) and variance**0.5 == pytest.approx(0.755, abs=1e-3)
    mean, variance = starts.moments("shanten", 14)
    assert mean == pytest.approx(1.945, abs=1e-3) and variance**0.5 == pytest.approx(0.744, abs=1e-3)
    mean, variance = starts.moments("dragons", 13)
    assert mean == pytest.approx(13 / 7) and variance**0.5 == pytest.approx(1.167, abs=1e-3)


def test_chances_are_those_of_hands_looked_at_one_by_one() -> None:
    hands = shuffled(np.random.default_rng(4), 700)[:, :13]
    held = np.stack([np.bincount(hand, minlength=21) for hand in hands])
    seen = {
        "shanten": [shanten(tuple(NAMES["ps"][kind] for kind in np.sort(hand)), 0) for hand in hands],
        "pairs": (held >= 2).sum(axis=1),
        "triplets": (held >= 3).sum(axis=1),
        "dragons": held[:, 18:].sum(axis=1),
        "suit_tiles": np.maximum(held[:, :9].sum(axis=1), held[:, 9:18].sum(axis=1)),
    }
    for feature, values in seen.items():
        chances = starts.chances(feature, 13)
        counted = dict(zip(*np.unique(values, return_counts=True), strict=True))
        row = deals.goodness(Result(11, "x", "shuffle"), counted, chances)
        assert row.p > ALPHA, feature


def drawn(rng: np.random.Generator, feature: str, tiles: int, n: int) -> np.ndarray:
    """n values of a feature by its exact chances."""
    chances = starts.chances(feature, tiles)
    weights = np.array(list(chances.values()))
    return rng.choice(list(chances), n, p=weights / weights.sum())


def rounds(seed: int, n: int, rig: str = "", players: int = 9) -> duckdb.DuckDBPyConnection:
    """Rounds with dealt hands by their chances, in games of five, three of the players each."""
    rng = np.random.default_rng(seed)
    dealer = np.repeat(rng.integers(0, 3, n // 5), 5)
    members = np.repeat([rng.choice(players, 3, replace=False) for _ in range(n // 5)], 5, axis=0)
    facts: dict[str, np.ndarray] = {"round_id": np.repeat(np.arange(n), 3), "seat": np.tile(np.arange(3), n)}
    deals_now = facts["seat"] == np.repeat(dealer, 3)
    facts["start_tiles"] = np.where(deals_now, 14, 13)
    for feature in starts.FEATURES:
        values = np.where(deals_now, drawn(rng, feature, 14, 3 * n), drawn(rng, feature, 13, 3 * n))
        if rig == "best_of_two" and feature == "shanten":  # for player 0, in half of its hands
            again = np.where(deals_now, drawn(rng, feature, 14, 3 * n), drawn(rng, feature, 13, 3 * n))
            better = (members.ravel() == 0) & (rng.random(3 * n) < 0.5)
            values = np.where(better, np.minimum(values, again), values)
        if rig == "dragons" and feature == "dragons":  # the dealer gets one more in a third of the rounds
            values = values + (deals_now & (rng.random(3 * n) < 0.33))
        if rig == "changed" and feature == "shanten":  # from the middle on, one step less in a quarter of the hands
            values = values - ((np.arange(3 * n) > 1.5 * n) & (rng.random(3 * n) < 0.25))
        facts[f"start_{feature}"] = values
    facts["useful_draws"] = rng.binomial(9, 0.3, 3 * n)
    facts["useful_expected"] = np.full(3 * n, 2.7)
    made = empty()
    schema.insert(made, "facts", pa.table(facts))
    names = [f"p{one}" for one in members.ravel()]
    schema.insert(made, "seats", pa.table({"round_id": facts["round_id"], "seat": facts["seat"], "player": names}))
    whole = {
        "round_id": np.arange(n), "game_key": np.arange(n) // 5, "round": np.arange(n) % 5, "dealer": dealer,
        "time_ms": np.arange(n) * 60_000, "ruleset": ["hubei"] * n, "options": ["{}"] * n,
        "coverage": ["full"] * n, "end": ["win"] * n, "own_verdict": ["clean"] * n,
        "dice": pa.array(rng.integers(1, 7, (n, 2)).tolist(), pa.list_(pa.int8())),
    }  # fmt: skip
    schema.insert(made, "rounds", pa.table(whole))
    return made


def run(connection: duckdb.DuckDBPyConnection) -> list[Result]:
    tables = Tables(connection)
    return [row for check in (*deals.CHECKS, *drift.CHECKS) for row in check.run(tables)]


def test_fair_deals_give_uniform_p_values() -> None:
    found: dict[str, list[float]] = {}
    for seed in range(10):
        for row in run(rounds(seed, 600)):
            if row.p is not None:
                found.setdefault(row.name if row.scope != "seat" else "roles", []).append(row.p)
    assert {"start_luck", "roles", "first_dealer", "dice", "seat_of_account", "drift_start"} <= set(found)
    for name, values in found.items():
        assert kstest(values, "uniform").pvalue > ALPHA / 10, name


def test_three_who_always_sit_together_are_not_taken_for_independent() -> None:
    values, made, ids = [], empty(), np.arange(40)
    whole = {"round_id": ids, "game_key": ids, "round": 0 * ids, "coverage": ["full"] * 40, "end": ["win"] * 40}
    schema.insert(made, "rounds", pa.table(whole | {"own_verdict": ["clean"] * 40}))
    for seed in range(120):
        rng = np.random.default_rng(seed)
        seats = np.array([rng.permutation(3) for _ in range(40)])
        made.execute("DELETE FROM seats")
        told = {"round_id": np.repeat(ids, 3), "seat": seats.ravel(), "player": ["a", "b", "c"] * 40}
        schema.insert(made, "seats", pa.table(told))
        values.append(deals.sittings(Tables(made), Result(12, "seat_of_account", "shuffle")).p)
    assert np.mean(np.array(values) < 0.05) < 0.1 and kstest(values, "uniform").pvalue > ALPHA


@pytest.mark.parametrize(
    ("rig", "name", "about"),
    [("best_of_two", "start_luck", "p0"), ("dragons", "start_dragons", "dealer"), ("changed", "drift_start", None)],
)
def test_rigged_deals_are_found_where_they_are(rig: str, name: str, about: str | None) -> None:
    rows = run(rounds(7, 3000, rig))
    caught = {(row.name, row.subject) for row in rows if row.p is not None and row.p < 1e-5}
    assert (name, about) in caught
    assert all(subject == about for kind, subject in caught if kind == name)
    if rig == "changed":
        row = next(row for row in rows if row.name == name)
        assert abs(row.evidence[0] - 1500) < 150 and row.effect < 0


def test_chi_square_is_the_library_s() -> None:
    chances = {0: 0.2, 1: 0.5, 2: 0.3}
    row = deals.goodness(Result(11, "x", "shuffle"), {0: 70, 1: 140, 2: 90}, chances)
    assert row.p == pytest.approx(chisquare([70, 140, 90], [60, 150, 90]).pvalue)
    assert len(TILES) == 84
