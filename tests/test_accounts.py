"""Accounts beside one another, over time, and against whom: as a plain count over the slow reading gives it."""

from collections import defaultdict

import duckdb
import polars as pl
import pytest

from analytics import accounts, intervals, measure, metrics, series

METRICS = ["win_rate", "net", "deal_in_value", "reveal_live"]


def per_account(rows: list[dict], k: str, n: str) -> dict[tuple, tuple[float, int]]:
    sums: dict = defaultdict(lambda: [0.0, 0])
    for row in rows:
        cell = sums[row["site"], row["player"]]
        cell[0] += row[k] / (row["base"] if k == "points" else 1)
        cell[1] += row[n]
    return {account: tuple(cell) for account, cell in sums.items() if cell[1]}


def test_an_account_among_the_others(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    found = accounts.account_table(measured, "u3", "simulated", METRICS, least=50)
    assert found["metric"].to_list() == METRICS
    own = measure.metrics(measured, METRICS, (), {"player": "u3", "site": "simulated"})
    assert found.select(own.columns).equals(own)
    for name, k, n in (("win_rate", "wins", "played"), ("net", "points", "rounds")):
        row = found.row(by_predicate=pl.col("metric") == name, named=True)
        each = per_account(measured_slow, k, n)
        values = {account: k / n for account, (k, n) in each.items() if n >= 50}
        mine = values["simulated", "u3"]
        others = [value for account, value in values.items() if account != ("simulated", "u3")]
        below = sum(value < mine for value in others) + sum(value == mine for value in others) / 2
        assert (row["of"], row["percentile"]) == (len(values), pytest.approx(below / len(others)))
        cohort = sum(k for k, _ in each.values()) / sum(n for _, n in each.values())
        assert row["cohort"] == pytest.approx(cohort, abs=1e-12)
    few = accounts.account_table(measured, "u3", "simulated", ["win_rate"], least=100_000)
    assert (few["percentile"][0], few["of"][0]) == (None, 0)
    assert accounts.account_table(measured, "nobody", "simulated").height == 0


def test_leaderboards_and_account_tables_tell_the_same_intervals(measured: duckdb.DuckDBPyConnection) -> None:
    for name in ("net", "win_value", "kong_net", "luck_adjusted_net", "ready_luck", "win_rate"):
        for row in accounts.leaderboard(measured, name, least=50).head(5).to_dicts():
            (told,) = accounts.account_table(measured, row["player"], row["site"], [name]).to_dicts()
            assert [told[end] for end in ("value", "low", "high")] == pytest.approx(
                [row[end] for end in ("value", "low", "high")], rel=1e-11, abs=1e-13
            ), name


def test_leaderboards(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    for name, k, n in (("win_rate", "wins", "played"), ("net", "points", "rounds")):
        found = accounts.leaderboard(measured, name, least=50)
        each = {account: cell for account, cell in per_account(measured_slow, k, n).items() if cell[1] >= 50}
        rows = found.rows(named=True)
        assert {(row["site"], row["player"]): (row["k"], row["n"]) for row in rows} == {
            account: (pytest.approx(k), n) for account, (k, n) in each.items()
        }
        assert [row["place"] for row in rows] == list(range(1, len(each) + 1))
        shrunk = [row["shrunk"] for row in rows]
        assert shrunk == sorted(shrunk, reverse=True)
        cells, (sums,) = measure.totals(measured, [metrics.get(name)], accounts.ACCOUNT)
        enough = sums.n >= 50
        expected = intervals.shrink(sums.each(lambda part, enough=enough: part[enough]), name == "win_rate")
        assert sorted(shrunk) == sorted(expected.value.tolist())
        assert all(min(row["value"], row["cohort"]) - 1e-12 <= row["shrunk"] <= max(row["value"], row["cohort"]) + 1e-12
                   for row in rows)  # fmt: skip
    with pytest.raises(metrics.MetricError):
        accounts.leaderboard(measured, "win_value_p90")


def test_opponents(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    found = {row["opponent"]: row for row in accounts.opponents(measured, "u3", "simulated").iter_rows(named=True)}
    rounds, dealt, won = defaultdict(int), defaultdict(int), defaultdict(int)
    moved: dict = defaultdict(float)
    for at in range(0, len(measured_slow), 3):
        seats = measured_slow[at : at + 3]
        me = next((row for row in seats if row["player"] == "u3"), None)
        for other in seats:
            if me is None or other is me:
                continue
            name = other["player"]
            rounds[name] += 1
            is_next = (other["seat"] - me["seat"]) % 3 == 1
            dealt[name] += me["deal_ins_next" if is_next else "deal_ins_previous"]
            won[name] += other["deal_ins_previous" if is_next else "deal_ins_next"]
            moved[name] += me["points"] / me["base"]
    assert {name: row["rounds"] for name, row in found.items()} == rounds
    assert {name: row["dealt_to"] for name, row in found.items()} == dealt
    assert {name: row["won_from"] for name, row in found.items()} == won
    assert sum(dealt.values()) > 10 and sum(won.values()) > 10
    for name, row in found.items():
        assert row["net"] == pytest.approx(moved[name] / rounds[name])
        assert row["dealt_to_next"] <= row["dealt_to"]
    # What passes between two seats is all that moves, the fee apart.
    fee = sum(row["fee"] / row["base"] for row in measured_slow if row["player"] == "u3")
    net = sum(row["points"] / row["base"] for row in measured_slow if row["player"] == "u3")
    assert sum(row["got"] - row["paid"] for row in found.values()) == pytest.approx(net + fee)
    assert min(row["got"] for row in found.values()) > 0


@pytest.mark.parametrize("window", [1, 3, 500])
def test_series_add_up(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict], window: int) -> None:
    rows = [row for row in measured_slow if row["player"] == "u3"]
    days = sorted({row["day"] for row in rows})
    found = series.series(measured, "net", "day", window, {"player": "u3"})
    assert found["day"].to_list() == days
    per_day = [
        (sum(row["points"] / row["base"] for row in rows if row["day"] == day), sum(row["day"] == day for row in rows))
        for day in days
    ]
    for at, row in enumerate(found.iter_rows(named=True)):
        for name, first in (("cumulative", 0), ("rolling", max(0, at - window + 1))):
            k, n = (sum(part) for part in zip(*per_day[first : at + 1], strict=True))
            assert (row[f"{name}_n"], row[name]) == (n, pytest.approx(k / n, abs=1e-9))
    upto = measure.metric(measured, "net", (), {"player": "u3"}).row(0, named=True)
    assert [found[f"cumulative{end}"][-1] for end in ("", "_low", "_high")] == pytest.approx(
        [upto[name] for name in ("value", "low", "high")]
    )


def test_a_series_of_games_and_of_rounds(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    rows = [row for row in measured_slow if row["player"] == "u3"]
    found = series.series(measured, "win_rate", "game", 5, {"player": "u3"})
    assert found.height == len({row["game"] for row in rows})
    assert found["started_ms"].is_sorted() and found["cumulative_n"][-1] == sum(row["played"] for row in rows)
    line = series.net_line(measured, "u3", "simulated")
    assert line.height == len(rows) and line["time_ms"].is_sorted()
    assert line["total"][-1] == pytest.approx(sum(row["points"] / row["base"] for row in rows))
    rounds = {tuple(name.split("/")) for name in line["id"]}
    assert {game for _, game, _ in rounds} == {row["game"] for row in rows}
    for call in (("net", "week"), ("net", "day", 0), ("win_multiple_p90",)):
        with pytest.raises(metrics.MetricError):
            series.series(measured, *call)
