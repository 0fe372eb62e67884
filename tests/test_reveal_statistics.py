"""Reveals and ready hands by what they stood on, and the matched comparison, against a plain count."""

from collections import defaultdict

import duckdb
import numpy as np
import pytest

from analytics import pace, reveal_statistics

READY = "SELECT least(turn, 14), least(live, 8), revealed, points / base, won, game_key FROM ready_hands"


def test_reveals_by_live_tiles_and_turn(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    cells = defaultdict(list)
    for row in measured_slow:
        if row["reveals"]:
            cells[row["ruleset"], min(row["reveal_live"], 8), min(row["reveal_turns"] // 3, 14)].append(row)
    found = reveal_statistics.grid(measured, ["ruleset"])
    assert [row[:3] for row in found.iter_rows()] == sorted(cells)
    for row in found.iter_rows(named=True):
        rows = cells[row["ruleset"], row["live"], row["turn"]]
        assert row["n"] == len(rows) and row["win_rate"] == sum(one["wins"] for one in rows) / len(rows)
        assert row["value"] == pytest.approx(sum(one["points"] / one["base"] for one in rows) / len(rows), abs=1e-12)
        games = {one["game"] for one in rows}
        assert (row["low"] is None) == (len(games) < 2)


def test_first_chased_and_chasing(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    found = {row["role"]: row for row in reveal_statistics.orders(measured).iter_rows(named=True)}
    for role, count, points in (("chasing", "chasing_reveals", "chasing_reveal_points"),
                                ("chased", "chased_reveals", "chased_reveal_points")):  # fmt: skip
        n = sum(row[count] for row in measured_slow)
        assert found[role]["n"] == n > 20
        assert found[role]["value"] == pytest.approx(sum(row[points] / row["base"] for row in measured_slow) / n)
    assert sum(row["n"] for row in found.values()) == sum(row["reveals"] for row in measured_slow)


def test_ready_hands_matched_by_turn_and_live_tiles(measured: duckdb.DuckDBPyConnection) -> None:
    cells: dict = defaultdict(lambda: defaultdict(list))
    for turn, live, revealed, net, won, game in measured.execute(READY.replace("revealed", "at_once")).fetchall():
        if turn == 0:
            continue
        cells[turn, live][revealed].append((net, won, game))
    both = {key: cell for key, cell in cells.items()
            if all(len({game for *_, game in cell[side]}) > 1 for side in (True, False))}  # fmt: skip
    weight = {key: len(cell[True]) for key, cell in both.items()}
    total = sum(weight.values())
    means = {
        side: sum(weight[key] * np.mean([net for net, *_ in cell[side]]) for key, cell in both.items()) / total
        for side in (True, False)
    }
    wins = {
        side: sum(weight[key] * np.mean([won for _, won, _ in cell[side]]) for key, cell in both.items()) / total
        for side in (True, False)
    }
    row = reveal_statistics.against_not(measured).row(0, named=True)
    assert (row["revealed"], row["kept"]) == (total, sum(len(cell[False]) for cell in both.values()))
    assert row["share"] == total / sum(len(cell[True]) for cell in cells.values())
    assert (row["value_revealed"], row["value_kept"]) == pytest.approx((means[True], means[False]))
    assert row["difference"] == pytest.approx(means[True] - means[False])
    assert row["win_difference"] == pytest.approx(wins[True] - wins[False])
    assert row["low"] < row["difference"] < row["high"] and row["win_low"] < row["win_difference"] < row["win_high"]


def test_ready_hands_by_live_tiles(measured: duckdb.DuckDBPyConnection) -> None:
    expected = defaultdict(list)
    for _, live, revealed, net, won, _ in measured.execute(READY).fetchall():
        expected[live, revealed].append((net, won))
    found = reveal_statistics.by_live(measured)
    assert [row[:2] for row in found.iter_rows()] == sorted(expected)
    for live, revealed, n, win_rate, *_, value, _, _ in found.iter_rows():
        rows = expected[live, revealed]
        assert (n, win_rate) == (len(rows), sum(won for _, won in rows) / len(rows))
        assert value == pytest.approx(sum(net for net, _ in rows) / n, abs=1e-12)


def test_shanten_by_turn(measured: duckdb.DuckDBPyConnection) -> None:
    expected: dict = defaultdict(int)
    for rules, course in measured.execute("SELECT ruleset, shanten FROM facts JOIN rounds USING (round_id) "
                                          "WHERE \"end\" <> 'aborted'").fetchall():  # fmt: skip
        for turn, shanten in enumerate(course, 1):
            expected[rules, turn, shanten] += 1
    found = pace.shanten_by_turn(measured, ["ruleset"])
    assert [row[:3] for row in found.iter_rows()] == sorted(expected)
    for rules, turn, shanten, seats, n in found.iter_rows():
        assert seats == expected[rules, turn, shanten]
        assert n == sum(count for key, count in expected.items() if key[:2] == (rules, turn))
    fewer = pace.shanten_by_turn(measured, [], most=100)
    first = fewer.filter(fewer["turn"] == 1)["n"][0]
    assert 150 < first < 450 and first == fewer["n"].max()
