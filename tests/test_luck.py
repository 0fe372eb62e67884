"""Luck-adjusted results: controls of mean zero, sums as a slow reading has them, and what the adjustment may not do."""

from pathlib import Path

import duckdb
import numpy as np
import pytest

from analytics import accounts, intervals, luck, series, starts, warehouse
from analytics.metrics import MetricError
from ingest.read import Reader
from replay import ruleset
from replay.luck import KINDS, MEAN_SHANTEN, coefficients
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
    known = coefficients()
    assert set(known) == {*ruleset.ids(), "other"}
    for tiles, mean in MEAN_SHANTEN.items():
        assert mean == starts.moments("shanten", tiles)[0]
    for values in known.values():
        assert set(values) == set(KINDS)
    assert all(values[name] > 0 for values in known.values() for name in ("start", "draws", "ready"))


def test_controls_have_mean_zero_on_honest_walls(data) -> None:
    frame = luck.rounds(data)
    for name in KINDS:
        values = frame[name].to_numpy()
        assert abs(values.mean()) < 4 * values.std() / len(values) ** 0.5, name
    assert abs(frame["luck"].to_numpy().reshape(-1, 3).sum(axis=1)).max() < 60


def test_the_adjustment_removes_variance_and_leaves_the_whole_alone(data) -> None:
    whole = luck.adjusted(data, ()).row(0, named=True)
    frame = luck.rounds(data)
    assert whole["n"] == frame.height > 7400 and abs(whole["adjusted"] - whole["net"]) < 0.02
    removed = 1 - frame["adjusted"].to_numpy().var() / frame["net"].to_numpy().var()
    assert 0.05 < removed < 0.5
    by_account = luck.adjusted(data)
    assert by_account["n"].sum() == frame.height and by_account["removed"].median() > 0


def test_rows_are_those_of_a_slow_reading(data) -> None:
    facts = {
        (row[0], row[1]): row[2:]
        for row in data.execute(
            "SELECT round_id, seat, start_tiles, start_shanten, useful_draws, useful_expected, ready_hits, "
            "ready_expected, replacement_hits, replacement_expected FROM facts"
        ).fetchall()
    }
    worth = coefficients()[RULES]

    def own(ident: int, seat: int) -> list[float]:
        tiles, shanten, *pairs = facts[ident, seat]
        return [starts.moments("shanten", tiles)[0] - shanten, *(pairs[n] - pairs[n + 1] for n in (0, 2, 4))]

    assert len(facts) == 7500
    rows = luck.rounds(data).to_dicts()
    for row in rows[::50]:
        mine = own(row["round_id"], row["seat"])
        theirs = [own(row["round_id"], (row["seat"] + step) % 3) for step in (1, 2)]
        expected = 0.0
        for name, own_luck, *others in zip(KINDS, mine, *theirs, strict=True):
            assert row[name] == pytest.approx(own_luck - sum(others) / 2, abs=1e-9)
            expected += worth[name] * (own_luck - sum(others) / 2)
        assert row["luck"] == pytest.approx(expected, abs=1e-6)
        assert row["adjusted"] == pytest.approx(row["points"] / row["base"] - expected, abs=2e-6)


def test_means_and_lines_are_sums_of_the_rows(data) -> None:
    frame = luck.rounds(data)
    table = luck.adjusted(data)
    for row in table.head(4).to_dicts():
        mine = frame.filter(frame["player"] == row["player"]).sort("time_ms", maintain_order=True)
        assert row["n"] == mine.height and row["games"] == mine["game_key"].n_unique()
        assert row["net"] == pytest.approx(mine["net"].mean()) and row["luck"] == pytest.approx(mine["luck"].mean())
        assert row["adjusted"] == pytest.approx(row["net"] - row["luck"])
        assert row["adjusted_low"] < row["adjusted"] < row["adjusted_high"]
        (told,) = accounts.account_table(data, row["player"], row["site"], ["luck_adjusted_net"]).to_dicts()
        assert told["n"] == row["n"] and told["value"] == pytest.approx(row["adjusted"])
        assert told["low"] == pytest.approx(row["adjusted_low"], abs=1e-4)  # skewness is taken of thousandths
        assert told["percentile"] is not None and told["of"] > 3
        line = series.net_line(data, row["player"], row["site"])
        known = line.filter(line["luck"].is_not_null())
        for name in ("net", "luck"):
            assert known[name].sort().to_list() == pytest.approx(mine[name].sort().to_list())
        games = series.net_line(data, row["player"], row["site"], step="game")
        assert games.height == row["games"] and games["rounds"].sum() == line.height
        for found in (line, games):
            assert found["total"].to_list() == pytest.approx(np.cumsum(found["net"].to_numpy()).tolist())
            assert found["total"][-1] == pytest.approx(line["net"].sum())
            assert found["adjusted_total"][-1] == pytest.approx(line["net"].sum() - mine["luck"].sum())
            assert found["fan_low"][-1] < found["adjusted_total"][-1] < found["fan_high"][-1]
            assert np.all(np.diff((found["fan_high"] - found["fan_low"]).to_numpy()) > 0)
        last = games.row(-1, named=True)
        assert last["fan_low"] == pytest.approx(line["fan_low"][-1]) and last["id"] == line["id"][-1]


def test_the_fan_is_as_wide_as_totals_spread_between_games(data) -> None:
    names = luck.adjusted(data)["player"].to_list()
    outside = 0
    for name in names:
        line = series.net_line(data, name, "simulated", step="game").to_dicts()
        net, n = sum(row["net"] for row in line), sum(row["rounds"] for row in line)
        squares = sum((row["net"] - net / n * row["rounds"]) ** 2 for row in line) * len(line) / (len(line) - 1)
        t = float(intervals.t_quantile(len(line) - 1))
        done = 0
        for row in line:
            done += row["rounds"]
            middle = line[-1]["adjusted_total"] / n * done
            half = t * (squares * done / n) ** 0.5
            assert (row["fan_low"], row["fan_high"]) == pytest.approx((middle - half, middle + half))
        outside += not line[-1]["fan_low"] <= line[-1]["total"] <= line[-1]["fan_high"]
    assert outside <= len(names) / 4


def test_rounds_without_known_draws_keep_their_net(tmp_path: Path) -> None:
    write(tmp_path / "log.jsonl", RULES, None, 60, 9, accounts=3)
    warehouse.load(Reader([str(tmp_path / "log.jsonl")], check_rules=ruleset.check), tmp_path / "db", facts=False)
    with warehouse.connect(tmp_path / "db") as connection:
        line = series.net_line(connection, "u1", "simulated")
        assert line.height == 60 and line["luck"].is_null().all()
        assert line["adjusted_total"].to_list() == line["total"].to_list()
        assert luck.adjusted(connection).height == 0


def test_filters_and_an_unknown_account(data) -> None:
    assert luck.rounds(data, {"player": "nobody"}).height == 0
    for step in ("round", "game"):
        assert series.net_line(data, "nobody", step=step).height == 0
    assert luck.adjusted(data, where={"player": "nobody"}).height == 0
    seat = luck.adjusted(data, ["seat"])
    assert seat["seat"].to_list() == [0, 1, 2] and len(set(seat["n"])) == 1
    with pytest.raises(MetricError, match="no step 'day'"):
        series.net_line(data, "u1", step="day")


def test_fitting_again_gives_much_the_same(data, tmp_path: Path) -> None:
    found, explained = luck.fit(luck.rounds(data))
    known = coefficients()[RULES]
    for name in ("start", "draws", "ready"):
        assert found[name] == pytest.approx(known[name], rel=0.5)
    assert 0.05 < explained < 0.5
