"""The audit report: what it says of a clean and of a rigged data set, in both languages, as text only."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from fairness_tables import empty, from_orders, insert, shuffled

from analytics import report, report_html, schema, warehouse
from analytics.fairness import __main__ as audit_page
from analytics.fairness import battery, power
from analytics.fairness.result import Result, ordered
from analytics.fairness.tables import Tables

EVIL = '<script>alert(1)</script>\u202e&"'


def made(rows: list[Result], **more: object) -> report.Report:
    """A report of the rows."""
    facts = {"version": "1", "digest": "d", "confirm": False, "rounds": 10, "games": 2, "accounts": 3, "rejects": 0}
    return report.Report(ordered(rows), facts | {"rulesets": [], "sources": [], "names": {7: "s/g/7"}} | more)


def test_every_row_of_the_battery_has_its_texts() -> None:
    names = {row.name for row in battery.results(Tables(empty()))}
    rng = np.random.default_rng(1)
    names |= {row.name for row in battery.results(Tables(from_orders(shuffled(rng, 150), stop=np.full(150, 9))))}
    for name in sorted(names | {"swapped_draws", "missing_losses"}):
        for language in report.LANGUAGES:
            assert set(report.texts()[name][language]) == {"title", "finding", "blind"}, name
    zh, en = report.words()["zh"], report.words()["en"]
    assert set(zh) == set(en) and all(set(zh[key]) == set(en[key]) for key in ("statuses", "why"))


def test_nothing_found_still_says_what_would_have_been_found_and_what_did_not_run() -> None:
    rows = [
        Result(1, "tiles", "log", n=1000, detectable=0.0023),
        Result(7, "kind_by_place", "shuffle", tier="T2", n=1000, p=0.4, detectable=0.05),
        Result(8, "adjacent_pairs", "shuffle", tier="T2").not_run("tier"),
    ]
    english = " ".join(report.verdict(made(rows), "en"))
    assert "Nothing was found" in english and "5 %" in english and "0.23 %" in english
    assert "1 checks did not run, which is not a pass: Adjacent pairs" in english
    faulty = [rows[0].but(status="flagged", statistic=4.0), *rows[1:]]
    assert "Tile conservation (4 / 1,000)" in report.verdict(made(faulty), "en")[0]
    assert not made(rows).found and "没有发现问题" in report.verdict(made(rows), "zh")[0]


def test_a_failed_shuffle_is_not_called_biased_until_confirmed() -> None:
    rows = [Result(7, "kind_by_place", "shuffle", tier="T2", n=10, p=1e-9, status="flagged")]
    said = " ".join(report.verdict(made(rows), "en"))
    assert "Don't call the shuffle biased" in said and made(rows).found
    said = " ".join(report.verdict(made([rows[0].but(status="biased")]), "en"))
    assert "the shuffle is biased" in said


def test_accounts_under_review_are_never_called_cheaters() -> None:
    rows = [Result(15, "draw_luck", "account", "account", "a", n=9, p=1e-9, status="review", evidence=(7,))]
    page = report_html.page(made(rows))
    assert "cheater" not in page.replace("never “cheater”", "") and "s/g/7" in page
    assert "not a verdict of cheating" in page
    two = [*rows, rows[0].but(name="hits_while_ready", check=16), rows[0].but(subject="b")]
    assert report.verdict(made(two), "en")[0].startswith(
        "2 accounts or pairs should be reviewed by a person (Draw luck, Hits while ready)."
    )


def test_names_from_logs_are_text(tmp_path: Path) -> None:
    rows = [
        Result(15, "draw_luck", "account", "account", f"{EVIL}{n}", n=9, p=0.5, statistic=float(n), status="passed")
        for n in range(6)
    ] + [Result(15, "draw_luck", "account", "account", EVIL, n=9, p=1e-9, statistic=9.0, status="review")]
    rows += [
        Result(18, "net_results", "account", "account", f"{EVIL}{n}", n=300 + n, p=0.5, effect=0.1, low=-0.1, high=0.3,
               statistic=1.0)
        for n in range(6)
    ]  # fmt: skip
    page = report_html.page(made(rows, sources=[{"source": EVIL, "sha256": "x", "rounds": 1}]))
    assert page.count(report.words()["en"]["funnel"].split("{")[0]) >= 1
    assert "<script" not in page and "&lt;script&gt;" in page
    assert not re.findall(r"(?:src|href)=\"(?!#)", page) and "http" not in page
    report_html.write(tmp_path / "r.html", made(rows))
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report_html.page(made(rows))
    with pytest.raises(report_html.ReportError, match="no/r.html"):
        report_html.write(tmp_path / "no" / "r.html", made(rows))


def store(folder: Path, orders: np.ndarray, games: int = 40, first: int = 0) -> Path:
    """The rounds dealt from the orders as a data set in a file, in several games; `first`: id of the first round."""
    source, path = from_orders(orders, stop=np.full(len(orders), 12)), folder / "db"
    with warehouse.duckdb.connect(str(path)) as target:
        schema.create_tables(target)
        for name in schema.table_names():
            table = schema.arrow(source, f"FROM {name}")
            target.execute(f"CREATE TABLE free AS FROM {name}; DROP TABLE {name}; ALTER TABLE free RENAME TO {name}")
            schema.insert(target, name, table)
        target.execute(f"UPDATE rounds SET game_key = round % {games}, game = 'g', site = '{EVIL[:8]}', ruleset = 'r'")
        target.execute(f"UPDATE rounds SET round_id = round_id + {first}")
        insert(target, "seats", [{"round_id": first, "seat": 0, "player": EVIL}])
    return path


def test_the_report_is_the_same_bytes_again_and_confirms_on_other_games(tmp_path: Path, cli) -> None:
    rng = np.random.default_rng(2)
    orders = shuffled(rng, 1600)
    moved = rng.random(1600) < 0.5  # a dragon comes to the front of the wall in half of the deals
    for at in np.flatnonzero(moved):
        other = int(rng.choice(np.flatnonzero(orders[at] >= 18)))
        orders[at, [40, other]] = orders[at, [other, 40]]
    db = store(tmp_path, orders)
    first = cli("audit", "--db", db, "--report", tmp_path / "a.html", "--confirm")
    again = cli("audit", "--db", db, "--report", tmp_path / "b.html", "--confirm", "--json")
    assert (first.code, again.code) == (1, 1)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    rows = [json.loads(line) for line in again.out.splitlines()]
    assert rows[-1]["kind"] == "summary" and rows[-1]["found"] and rows[-1]["biased"] >= 1
    assert [row["status"] for row in rows if row.get("name") == "kind_by_place"] == ["biased"]
    assert "the shuffle is biased" in first.out and "Kind by place" in first.out


def test_a_clean_data_set_ends_with_zero_and_a_missing_one_with_two(tmp_path: Path, cli) -> None:
    clean = store(tmp_path, shuffled(np.random.default_rng(3), 300))
    ran = cli("audit", "--db", clean, "--confirm")
    assert ran.code == 0 and "Nothing was found" in ran.out
    ran = cli("audit", "--db", tmp_path / "none")
    assert ran.code == 2 and "no such data set" in ran.err


def test_the_page_of_the_audit_is_current() -> None:
    """`python -m analytics.fairness docs/audit.md` writes it, and power.svg beside."""
    docs = Path(report.__file__).parent.parent / "docs"
    page = (docs / "audit.md").read_text(encoding="utf-8")
    assert page == audit_page.page()
    assert (docs / "power.svg").read_text(encoding="utf-8") == power.svg(power.curves())
    for check in battery.checks():
        assert check.number == 0 or f"\n### {check.number}. " in page
