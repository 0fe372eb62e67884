"""Fans, their shares of a win's points, pairs, multiples and examples, counted from the recorded results."""

import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import duckdb
import pytest
from polars.testing import assert_frame_equal
from sample_statistics import filled

from analytics import fan_statistics
from replay import ruleset


@pytest.fixture(scope="module")
def wins(measured_lines: list[Path]) -> list[dict]:
    """Every win of the lines: rules, fans, multiple, stakes won, and who."""
    found = []
    for path in measured_lines:
        for line in path.read_text(encoding="utf-8").splitlines():
            log = filled(json.loads(line)) if "sx_07" not in path.name else None
            if log is None:
                continue
            result = log["result"]
            for win in result["wins"]:
                seat = win["seat"]
                side = result["points"][seat] - result["kongs"][seat] + result.get("fee", 0)
                found.append({"rules": log["rules"], "fans": win["fans"], "multiple": win["multiple"],
                              "stakes": side / log["base"], "player": log["players"][seat],
                              "cap": log.get("options", {}).get("score.cap", 0)})  # fmt: skip
    return found


def test_fans_of_the_simulated_rounds(measured: duckdb.DuckDBPyConnection, wins: list[dict]) -> None:
    found = fan_statistics.fans(measured, ("ruleset",), {"site": "simulated"})
    for rules in {win["rules"] for win in wins}:
        mine = [win for win in wins if win["rules"] == rules]
        counts = Counter(fan for win in mine for fan in (set(win["fans"]) or {"plain"}))
        rows = [row for row in found.iter_rows(named=True) if row["ruleset"] == rules]
        assert {row["fan"]: row["wins"] for row in rows} == counts
        assert sum(row["contribution"] for row in rows) == pytest.approx(1)
        total = sum(win["stakes"] for win in mine)
        assert sum(row["stakes"] for row in rows) == pytest.approx(total)
        stakes = [row["stakes"] for row in rows]
        assert stakes == sorted(stakes, reverse=True)
        for row in rows:
            with_it = [win for win in mine if row["fan"] in (win["fans"] or ["plain"])]
            assert row["n"] == len(mine) and row["share"] == len(with_it) / len(mine)
            for name, key in (("multiple", "multiple"), ("value", "stakes")):
                values = [win[key] for win in with_it]
                mean = sum(values) / len(values)
                assert row[name] == pytest.approx(mean)
                if len(values) > 30:
                    spread = (sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5
                    assert row[f"{name}_high"] - mean == pytest.approx(2 * spread, rel=0.06, abs=1e-9)


def test_how_points_are_shared() -> None:
    hubei, qichun = (fan_statistics._Rules(name, None) for name in ("hubei", "qichun"))
    shares = fan_statistics.shares
    assert shares([], hubei) == {"plain": 1}
    assert shares(["full_flush", "ka_wu_xing", "reveal"], hubei) == pytest.approx(
        {"full_flush": 0.5, "ka_wu_xing": 0.25, "reveal": 0.25}
    )
    assert shares(["an_si_gui", "an_si_gui", "reveal"], hubei) == pytest.approx({"an_si_gui": 0.8, "reveal": 0.2})
    # Added: (4 + 4) × 2 = 16, of whose logarithm the reveal is a quarter.
    assert shares(["full_flush", "all_pungs", "reveal"], qichun) == pytest.approx(
        {"full_flush": 0.375, "all_pungs": 0.375, "reveal": 0.25}
    )
    assert shares(["reveal"], qichun) == {"reveal": 1}
    assert math.isclose(sum(shares(["seven_pairs", "an_si_gui", "after_kong_draw"], hubei).values()), 1)


def test_pairs_of_fans(measured: duckdb.DuckDBPyConnection, wins: list[dict]) -> None:
    found = fan_statistics.together(measured, (), {"site": "simulated"})
    single, both = Counter(), Counter()
    for win in wins:
        names = sorted(set(win["fans"]))
        single.update(names)
        both.update((one, other) for place, one in enumerate(names) for other in names[place + 1 :])
    assert {(row["fan"], row["other"]): row["wins"] for row in found.iter_rows(named=True)} == both
    for row in found.iter_rows(named=True):
        independent = single[row["fan"]] / len(wins) * single[row["other"]] / len(wins)
        assert row["lift"] == pytest.approx(row["share"] / independent)
        assert row["low"] <= row["share"] <= row["high"]


def test_multiples_and_the_cap(measured: duckdb.DuckDBPyConnection, wins: list[dict]) -> None:
    found = fan_statistics.multiples(measured, ("ruleset",), {"site": "simulated"})
    expected = Counter((win["rules"], win["cap"], win["multiple"]) for win in wins)
    rows = found.rows(named=True)
    assert {(row["ruleset"], row["cap"], row["multiple"]): row["wins"] for row in rows} == expected
    assert {row["multiple"] for row in rows if row["capped"]} == {8}
    assert sum(row["stakes"] for row in rows) == pytest.approx(sum(win["stakes"] for win in wins))


def test_filters_reach_fans(measured: duckdb.DuckDBPyConnection, wins: list[dict]) -> None:
    mine = [win for win in wins if win["player"] == "u2"]
    found = fan_statistics.fans(measured, (), {"player": "u2"})
    assert found["n"][0] == len(mine)
    counts = Counter(fan for win in mine for fan in (set(win["fans"]) or {"plain"}))
    assert dict(found.select("fan", "wins").iter_rows()) == counts
    assert fan_statistics.fans(measured, (), {"player": "nobody"}).height == 0


def test_an_example_for_each_fan(measured: duckdb.DuckDBPyConnection) -> None:
    found = fan_statistics.examples(measured)
    all_wins = {(row[0], row[1]): row[2] for row in measured.sql("SELECT round_id, win_no, fans FROM wins").fetchall()}
    fewest: dict = defaultdict(lambda: 99)
    for fans in all_wins.values():
        for fan in fans:
            fewest[fan] = min(fewest[fan], len(fans))
    assert {fan: len(all_wins[key, number]) for fan, key, number in found.iter_rows()} == fewest
    assert all(fan in all_wins[key, number] for fan, key, number in found.iter_rows())


def test_every_ruleset_can_be_shared_out() -> None:
    for name in ruleset.ids():
        if ruleset.load(name).playable:
            rules = fan_statistics._Rules(name, "{}")
            shares = fan_statistics.shares(["all_pungs", "after_kong_draw", "reveal"], rules)
            assert sum(shares.values()) == pytest.approx(1)


def test_an_overview_is_all_of_them(measured: duckdb.DuckDBPyConnection) -> None:
    for where in ({}, {"ruleset": "hubei"}, {"player": "nobody"}):
        found = fan_statistics.overview(measured, where)
        every = (
            ("fans", fan_statistics.fans(measured, (), where)),
            ("by_ruleset", fan_statistics.fans(measured, where=where)),
            ("together", fan_statistics.together(measured, (), where)),
            ("multiples", fan_statistics.multiples(measured, (), where)),
            ("examples", fan_statistics.examples(measured, where)),
        )
        for name, one in every:
            if name == "examples" or one.height == 0:
                assert found[name].equals(one), name
            else:
                key = [column for column in ("ruleset", "cap", "multiple", "fan", "other") if column in one.columns]
                assert_frame_equal(found[name].sort(key), one.sort(key), rel_tol=1e-12)
