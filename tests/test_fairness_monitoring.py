"""E-processes: honest accounts hardly ever reach 1/q however often one looks, rigged ones do, and e-BH names them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fairness_tables import empty
from test_fairness_accounts import luck
from test_report import store

from analytics import report, report_html
from analytics.fairness import accounts, battery, monitoring
from analytics.fairness.tables import Tables


def test_an_honest_account_hardly_ever_reaches_what_is_found() -> None:
    rng = np.random.default_rng(12)
    p = rng.uniform(0.03, 0.6, (4000, 250))
    away = np.cumsum((rng.random(p.shape) < p) - p, axis=1)
    variance = np.cumsum(p * (1 - p), axis=1)
    e = accounts.e_value(away, variance)
    for limit in (5, 20, 100):  # looked at after every draw
        assert (e.max(axis=1) >= limit).mean() <= 1 / limit
    for at in (10, 249):
        assert e[:, at].mean() < 1 + 4 * e[:, at].std() / np.sqrt(len(e))


def test_the_account_whose_draws_are_upgraded_crosses_and_is_named_alone() -> None:
    found = Tables(luck(5, 3000, "upgrade"))
    now = monitoring.now(found)
    named = now.filter(pl.col("found") & (pl.col("name") == "draw_luck"))
    assert named["player"].to_list() == ["p0"]
    line = monitoring.line(found, "p0")
    row = now.filter((pl.col("name") == "draw_luck") & (pl.col("player") == "p0"))
    assert line["e"][-1] == pytest.approx(row["e"][0], rel=1e-6) and line["draws"][-1] == row["n"][0]
    assert line["most"].to_list() == np.maximum.accumulate(line["e"].to_numpy()).tolist()
    crossed = line.filter(pl.col("most") >= 100)["n"][0]
    assert 100 < crossed < line.height  # long before the last round
    assert monitoring.line(found, "p1")["most"][-1] < 100


def test_no_rounds_give_empty_tables() -> None:
    found = Tables(empty())
    assert monitoring.now(found).height == 0 == monitoring.line(found, "a'b").height
    with pytest.raises(KeyError):
        monitoring.line(found, "a", "no such row")


def test_a_second_batch_confirms_and_must_hold_other_rounds(tmp_path: Path, cli) -> None:
    rng = np.random.default_rng(9)
    paths = []
    for number in range(2):
        orders = np.tile(np.repeat(np.arange(21, dtype=np.uint8), 4), (500, 1))
        orders = rng.permuted(orders, axis=1)
        for at in np.flatnonzero(rng.random(500) < 0.8):  # a dragon comes to the front of the wall
            other = int(rng.choice(np.flatnonzero(orders[at] >= 18)))
            orders[at, [40, other]] = orders[at, [other, 40]]
        (tmp_path / f"batch{number}").mkdir()
        paths.append(store(tmp_path / f"batch{number}", orders, first=1000 * number))
    rows = battery.run(paths[0], paths[1])
    assert {row.status for row in rows if row.name == "kind_by_place"} == {"biased"}
    made = report.make(paths[0], paths[1])
    assert made.facts["second"]["rounds"] == 500 and made.facts["second"]["digest"] in report_html.page(made)
    ran = cli("audit", "--db", paths[0], "--confirm-with", paths[0])
    assert ran.code == 2 and "500 rounds of the first data set" in ran.err
    ran = cli("audit", "--db", paths[0], "--confirm-with", paths[1], "--confirm")
    assert ran.code == 2 and "one of --confirm and --confirm-with" in ran.err
    ran = cli("audit", "--db", paths[0])
    assert ran.code == 1 and "Don't call the shuffle biased" in ran.out
