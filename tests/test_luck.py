"""Luck-adjusted results: controls of mean zero, sums as a slow reading has them, and what the adjustment may not do."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from analytics import luck, starts, warehouse
from ingest.read import Reader
from replay import ruleset
from replay.simulate import write

RULES = "hubei"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Simulated rounds of one ruleset, loaded with their facts."""
    folder = tmp_path_factory.mktemp("luck")
    write(folder / "log.jsonl", RULES, None, 2500, 9)
    warehouse.load(Reader([str(folder / "log.jsonl")], check_rules=ruleset.check), folder / "db")
    return warehouse.connect(folder / "db")


def test_every_ruleset_has_fixed_coefficients() -> None:
    known = luck.coefficients()
    assert set(known) == {*ruleset.ids(), "other"}
    for values in known.values():
        assert set(values) == set(luck.CONTROLS)
        for name in luck.OWN:  # luck of one's own is worth something, and that of the others costs half of it
            assert values[f"others_{name}"] == pytest.approx(-values[name] / 2, abs=0.02)
    assert all(values[name] > 0 for values in known.values() for name in ("start", "draws", "ready"))


def test_controls_have_mean_zero_on_honest_walls(data) -> None:
    frame = luck.rounds(data)
    for name in luck.OWN:
        values = frame[name].to_numpy()
        assert abs(values.mean()) < 4 * values.std() / len(values) ** 0.5, name
    assert abs(frame["luck"].to_numpy().reshape(-1, 3).sum(axis=1)).max() < 60


def test_the_adjustment_removes_variance_and_leaves_the_whole_alone(data) -> None:
    whole = luck.adjusted(data, None).row(0, named=True)
    assert whole["n"] == 7500 and abs(whole["adjusted"] - whole["net"]) < 0.02
    frame = luck.rounds(data)
    removed = 1 - frame["adjusted"].to_numpy().var() / frame["net"].to_numpy().var()
    assert 0.05 < removed < 0.5
    by_account = luck.adjusted(data)
    assert by_account["n"].sum() == 7500 and by_account["removed"].median() > 0


def test_rows_are_those_of_a_slow_reading(data) -> None:
    facts = {
        (row[0], row[1]): row[2:]
        for row in data.execute(
            "SELECT round_id, seat, start_tiles, start_shanten, useful_draws, useful_expected, ready_hits, "
            "ready_expected, replacement_hits, replacement_expected FROM facts"
        ).fetchall()
    }
    worth = luck.coefficients()[RULES]

    def own(ident: int, seat: int) -> list[float]:
        tiles, shanten, *pairs = facts[ident, seat]
        return [starts.moments("shanten", tiles)[0] - shanten, *(pairs[n] - pairs[n + 1] for n in (0, 2, 4))]

    rows = luck.rounds(data).to_dicts()
    for row in rows[::50]:
        mine = own(row["round_id"], row["seat"])
        theirs = [own(row["round_id"], (row["seat"] + step) % 3) for step in (1, 2)]
        controls = [*mine, *(sum(values) for values in zip(*theirs, strict=True))]
        expected = sum(worth[name] * value for name, value in zip(luck.CONTROLS, controls, strict=True))
        assert row["luck"] == pytest.approx(expected, abs=1e-9)
        assert row["adjusted"] == pytest.approx(row["points"] / row["base"] - expected, abs=1e-9)


def test_means_and_series_are_sums_of_the_rows(data) -> None:
    frame = luck.rounds(data)
    table = luck.adjusted(data)
    for row in table.head(4).to_dicts():
        mine = frame.filter(frame["player"] == row["player"])
        assert row["n"] == mine.height and row["games"] == mine["game_key"].n_unique()
        assert row["net"] == pytest.approx(mine["net"].mean()) and row["luck"] == pytest.approx(mine["luck"].mean())
        assert row["adjusted"] == pytest.approx(row["net"] - row["luck"])
        assert row["adjusted_low"] < row["adjusted"] < row["adjusted_high"]
        told = luck.series(data, row["player"])
        assert told["cumulative"][-1] == pytest.approx(mine["net"].sum())
        assert told["cumulative_adjusted"][-1] == pytest.approx(mine["adjusted"].sum())
        assert told["fan_low"][-1] < told["cumulative_adjusted"][-1] < told["fan_high"][-1]
        assert np.all(np.diff(told["n"]) == 1)


def test_filters_and_an_unknown_account(data) -> None:
    assert luck.rounds(data, {"player": "nobody"}).height == 0
    assert luck.series(data, "nobody").height == 0 and luck.adjusted(data, "player", {"player": "nobody"}).height == 0
    seat = luck.adjusted(data, "seat")
    assert seat["seat"].to_list() == [0, 1, 2] and seat["n"].to_list() == [2500] * 3


def test_fitting_again_gives_much_the_same(data, tmp_path: Path) -> None:
    found, explained = luck.fit(luck.rounds(data))
    known = luck.coefficients()[RULES]
    for name in ("start", "draws", "ready"):
        assert found[name] == pytest.approx(known[name], rel=0.5)
    assert 0.05 < explained < 0.5
