"""Pursuit of fans: equal to a plain count over the tables, intervals too; samples and splits."""

import math
from collections import defaultdict

import duckdb
import pytest

from analytics import intervals, pursuit
from analytics.metrics import MetricError


def plainly(measured: duckdb.DuckDBPyConnection, rules: str) -> dict[str, dict]:
    """Per fan, what the tables say of one ruleset's hands, counted one by one: lists of (game, net) by step."""
    hands = {
        row[:2]: row[2:]
        for row in measured.execute(
            "SELECT f.round_id, f.seat, r.game_key, s.points / r.base FROM facts AS f JOIN rounds AS r "
            "USING (round_id) JOIN seats AS s USING (round_id, seat) WHERE r.ruleset = ? AND r.\"end\" <> 'aborted'",
            [rules],
        ).fetchall()
    }
    found: dict = {}
    for round_id, seat, fan, aimed, ready, won in measured.execute(
        "SELECT round_id, seat, fan, aimed_turn, ready_turn, won FROM aims"
    ).fetchall():
        if (round_id, seat) in hands:
            own = found.setdefault(fan, {"other": dict(hands)} | {name: [] for name in pursuit.STEPS})
            for name, there in zip(pursuit.STEPS, (True, aimed is not None, ready is not None, won), strict=True):
                if there:
                    own[name].append(hands[round_id, seat])
            if aimed is not None:
                del own["other"][round_id, seat]
    return {fan: own | {"n": list(hands.values()), "other": list(own["other"].values())} for fan, own in found.items()}


def mean(hands: list[tuple[int, float]]) -> tuple[float, float, float]:
    games: dict = defaultdict(list)
    for game, net in hands:
        games[game].append(net)
    value = sum(net for _, net in hands) / len(hands)
    g = len(games)
    if g == 1:
        return value, math.nan, math.nan
    squares = sum((sum(nets) - value * len(nets)) ** 2 for nets in games.values()) / len(hands) ** 2 * g / (g - 1)
    half = float(intervals.t_quantile(g - 1)) * squares**0.5
    return value, value - half, value + half


@pytest.mark.parametrize("rules", ["hubei", "qichun"])
def test_it_equals_a_plain_count(measured: duckdb.DuckDBPyConnection, rules: str) -> None:
    expected = plainly(measured, rules)
    table = pursuit.pursuit(measured, (), {"ruleset": rules})
    assert sorted(table["fan"]) == sorted(expected)
    assert table["aimed"].to_list() == sorted(table["aimed"], reverse=True) and table["aimed"][0] > 10
    for row in table.to_dicts():
        own = expected[row["fan"]]
        for name in ("n", *pursuit.STEPS):
            assert row[name] == len(own[name]), (row["fan"], name)
        for share, (part, whole) in pursuit.SHARES.items():
            if own[whole]:
                assert row[share] == pytest.approx(len(own[part]) / len(own[whole]))
                assert 0 <= row[f"{share}_low"] <= row[share] <= row[f"{share}_high"] <= 1
            else:
                assert row[share] is None
        for name in pursuit.MEANS:
            told = [row[f"{name}_net{end}"] for end in ("", "_low", "_high")]
            if own[name]:
                told = [math.nan if one is None else one for one in told]
                assert told == pytest.approx(mean(own[name]), abs=1e-9, nan_ok=True), (row["fan"], name)
            else:
                assert told == [None] * 3
        if own["aimed"]:
            assert row["difference"] == pytest.approx(row["aimed_net"] - row["other_net"])


def test_splits_are_in_order_and_add_up(measured: duckdb.DuckDBPyConnection) -> None:
    table = pursuit.pursuit(measured)
    assert table["ruleset"].to_list() == sorted(table["ruleset"])
    whole = pursuit.pursuit(measured, ())
    for name in pursuit.STEPS:
        assert table[name].sum() == whole[name].sum() > 0
    mine = pursuit.pursuit(measured, ["dealer"], {"player": "u3", "site": "simulated"})
    assert set(mine["dealer"]) == {True, False}
    alone = pursuit.pursuit(measured, (), {"player": "u3", "site": "simulated", "dealer": True})
    assert mine.filter(mine["dealer"])["aimed"].to_list() == alone["aimed"].to_list()


def test_the_view_says_the_same(measured: duckdb.DuckDBPyConnection) -> None:
    view = {row[:2]: row[2:6] for row in measured.execute(
        "SELECT ruleset, fan, near, aimed, ready, won FROM fan_pursuit").fetchall()}  # fmt: skip
    table = pursuit.pursuit(measured).select("ruleset", "fan", *pursuit.STEPS)
    assert {row[:2]: row[2:] for row in table.iter_rows()} == view


def test_large_data_sets_are_sampled(measured: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pursuit, "MOST", 100)
    some = pursuit.pursuit(measured, ())
    assert 100 < some["n"][0] < 600 and some.equals(pursuit.pursuit(measured, ()))
    mine = pursuit.pursuit(measured, (), {"player": "u3"})["n"][0]
    monkeypatch.undo()
    assert pursuit.pursuit(measured, (), {"player": "u3"})["n"][0] == mine


def test_nothing_there_and_wrong_names(measured: duckdb.DuckDBPyConnection) -> None:
    assert pursuit.pursuit(measured, (), {"player": "nobody"}).height == 0
    assert pursuit.pursuit(measured, ("ruleset",), {"player": "nobody"}).height == 0
    with pytest.raises(MetricError, match="weather"):
        pursuit.pursuit(measured, ["weather"])
