"""Tastes given to simulated accounts show in their statistics, with the right sign and size."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl
import pytest

from analytics import accounts, fan_statistics, intervals, measure, pursuit, warehouse
from ingest.read import Reader
from replay import ruleset, simulate
from replay.policy import Policy

USUAL = Policy()
FLUSH, REVEALS, CARELESS, OTHERS = "u1", "u2", "u3", ["u4", "u5", "u6"]
TASTES = {
    **dict.fromkeys(OTHERS, USUAL),
    FLUSH: replace(USUAL, flush=60.0),
    REVEALS: replace(USUAL, reveal=1.0),
    CARELESS: replace(USUAL, defend=0.0),
}


SIZES = {  # statistics whose size is compared with that of a larger run, and which way they go
    FLUSH: {"win_multiple": 1, "win_rate": -1, "ready_rate": -1},
    REVEALS: {"reveal_rate": 1, "first_reveal_share": 1, "reveal_turn": -1},
    CARELESS: {"careless_discard_rate": 1, "deal_in_revealed_share": 1, "deal_in_rate": 1},
}


def played(folder: Path, rounds: int, seed: int) -> Iterator[duckdb.DuckDBPyConnection]:
    simulate.write(folder / "log.parquet", "hubei", {}, rounds, seed, accounts=6, policy=TASTES)
    warehouse.load(Reader([str(folder / "log.parquet")], check_rules=ruleset.check), folder / "db")
    with warehouse.connect(folder / "db") as connection:
        yield connection


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    yield from played(tmp_path_factory.mktemp("tastes"), 3000, 11)


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same accounts over four times as many rounds of another seed: what their tastes truly come to."""
    yield from played(tmp_path_factory.mktemp("larger"), 12_000, 12)


def against(data: duckdb.DuckDBPyConnection, player: str, name: str) -> dict:
    """The account's statistic beside that of those who play as usual."""
    return measure.compare(data, [name], {"player": player}, {"player": OTHERS}).row(0, named=True)


def test_who_chases_one_suit(data: duckdb.DuckDBPyConnection) -> None:
    own, usual = (
        fan_statistics.fans(data, (), {"player": who}).row(by_predicate=pl.col("fan") == "full_flush", named=True)
        for who in (FLUSH, OTHERS)
    )
    assert own["share"] > 2.5 * usual["share"] and own["share_low"] > 1.5 * usual["share_high"]
    assert own["contribution_low"] > 1.5 * usual["contribution_high"]
    assert against(data, FLUSH, "win_multiple")["low"] > 0
    assert against(data, FLUSH, "win_rate")["high"] < 0  # it is dear


def test_who_always_reveals(data: duckdb.DuckDBPyConnection) -> None:
    found = against(data, REVEALS, "reveal_rate")
    assert found["low"] > 0.15
    # It reveals every ready hand with a live tile that its discard leaves, unless it wins or the round ends first.
    hands = "SELECT count(*) FILTER (revealed) / count(*) FROM ready_hands WHERE player = ? AND live > 0 AND turn > 0"
    share = {who: data.execute(hands, [who]).fetchall()[0][0] for who in (REVEALS, "u4")}
    assert share[REVEALS] > 0.97 > 0.8 > share["u4"]
    row = accounts.account_table(data, REVEALS, "simulated", ["reveal_rate", "reveal_live"])
    assert row["percentile"][0] == 1
    assert against(data, REVEALS, "reveal_turn")["high"] < 0


def test_who_never_defends(data: duckdb.DuckDBPyConnection) -> None:
    found = against(data, CARELESS, "careless_discard_rate")
    assert found["low"] > 0
    # The others keep a dangerous tile back in 85 of 100 cases: what they throw carelessly is 15 % of what they would.
    assert found["value_b"] / found["value_a"] == pytest.approx(1 - USUAL.defend, abs=0.06)
    assert against(data, CARELESS, "deal_in_revealed_share")["low"] > 0
    assert against(data, CARELESS, "deal_in_rate")["low"] > 0
    assert accounts.leaderboard(data, "dangerous_discard_rate")["player"][0] == CARELESS


@pytest.mark.parametrize("player", SIZES)
def test_sizes_are_those_of_a_larger_run(data, larger, player: str) -> None:
    """Each difference is clear of zero on the right side, and what the larger run says, within both errors."""
    for name, sign in SIZES[player].items():
        own, true = against(data, player, name), against(larger, player, name)
        assert (own["low"] if sign > 0 else -own["high"]) > 0, name
        errors = [(one["high"] - one["low"]) / (2 * intervals.Z) for one in (own, true)]
        assert abs(own["difference"] - true["difference"]) < 3 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5, name
        assert abs(true["difference"]) > 3 * errors[1], name


def test_who_chases_one_suit_aims_and_wins_as_often_as_in_a_larger_run(data, larger) -> None:
    for table, key in ((fan_statistics.fans, "share"), (pursuit.pursuit, "aimed_share")):
        own, true = (
            table(run, (), {"player": FLUSH}).row(by_predicate=pl.col("fan") == "full_flush", named=True)
            for run in (data, larger)
        )
        usual = table(data, (), {"player": OTHERS}).row(by_predicate=pl.col("fan") == "full_flush", named=True)
        assert own[f"{key}_low"] > usual[f"{key}_high"]
        errors = [(one[f"{key}_high"] - one[f"{key}_low"]) / (2 * intervals.Z) for one in (own, true)]
        assert abs(own[key] - true[key]) < 3 * (errors[0] ** 2 + errors[1] ** 2) ** 0.5, key


def test_the_usual_ones_are_alike(data: duckdb.DuckDBPyConnection) -> None:
    board = accounts.leaderboard(data, "reveal_rate", {"player": OTHERS})
    assert board["spread"][0] < 0.03
    names = ["win_rate", "deal_in_rate", "net", "win_value", "win_multiple", "reveal_rate", "reveal_live", "call_rate",
             "kong_rate", "ready_rate", "ready_turn", "careless_discard_rate"]  # fmt: skip
    found = measure.compare(data, names, {"player": "u4"}, {"player": ["u5", "u6"]})
    assert found.filter(pl.col("low").le(0) & pl.col("high").ge(0)).height >= len(names) - 2
