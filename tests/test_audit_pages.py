"""The pages Fairness and Together: the audit on request, its pictures counted by hand, a pair against its log."""

import json
import math
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest
from test_dashboard import EVIL, FOLDER, LANGUAGES, charted, clean, component
from test_dashboard_work import finished

from analytics import pair_history, report, warehouse
from analytics.fairness import accounts, battery, deals, pictures
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables
from analytics.report import BETWEEN, Report
from dashboard import audits, dataset, i18n, jobs
from dashboard.graphs import together
from ingest.read import Reader
from ingest.tiles import NAMES
from replay import ruleset, simulate

PAGES = ("fairness", "together")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data sets by kind, and under "log" the lines of the largest; one account's name is markup."""
    folder = tmp_path_factory.mktemp("audits")
    (folder / "empty.jsonl").write_text("not a round\n", encoding="utf-8")
    simulate.write(folder / "one.jsonl", "hubei", {}, 1, 5)
    simulate.write(folder / "many.jsonl", "hubei", {}, 430, 5, accounts=4)
    lines = [json.loads(line) for line in (folder / "many.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["players"] = [EVIL if name == "u1" else name for name in line["players"]]
        line.pop("prev", None)
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "many.jsonl").write_text(text + "\n", encoding="utf-8")
    for kind in ("empty", "one", "many"):
        warehouse.load(Reader([str(folder / f"{kind}.jsonl")], check_rules=ruleset.check), folder / kind)
    return {kind: folder / kind for kind in ("empty", "one", "many")} | {"log": folder / "many.jsonl"}


def open_page(page: str, language: str, **address: str) -> AppTest:
    test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page(f"page/{page}.py")
    for name, value in {"lang": language, **address}.items():
        test.query_params[name] = value
    return clean(test.run())


@pytest.mark.parametrize("kind", ["empty", "one", "many"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_explain_themselves(made: dict[str, Path], monkeypatch: pytest.MonkeyPatch, page: str, kind: str) -> None:
    monkeypatch.setenv("KWX_DB", str(made[kind]))
    for language in LANGUAGES:
        words = i18n.words(language)
        test = open_page(page, language, a=EVIL, b="u2", check="15")
        assert test.title[0].value == words[f"page.{page}"]
        if kind == "empty":
            assert test.subheader[0].value == words["state.empty"]
            continue
        starts = [button for button in test.button if button.label == words["fairness.start"]]
        if starts:  # the second language finds the audit of the first
            starts[0].click()
            clean(test.run())
            assert finished(audits.key()).state == jobs.DONE
            test = open_page(page, language, a=EVIL, b="u2", check="15")
        assert not [button for button in test.button if button.label == words["fairness.start"]]
        for chart in charted(test):
            assert len(chart.alt) > 20
        if page == "fairness":
            board = component(test, "board")["rows"]
            numbers = {row.check for row in jobs.find(audits.key()).value.report.rows}
            assert [row["id"] for row in board] == [str(number) for number in sorted(numbers)]
            assert component(test, "board")["selected"] == "15"
            assert len(charted(test)) >= {"one": 2, "many": 4}[kind]
            found = [row["cells"][0] for row in component(test, "rows")["rows"]]
            assert kind == "one" or any(EVIL in cell for cell in found)
        elif kind == "many":
            assert len(test.metric) == 4 and len(charted(test)) >= 2
        for node in [*test.markdown, *test.caption, *test.subheader]:
            assert "evil" not in node.value


def test_an_audit_can_be_stopped(made: dict[str, Path]) -> None:
    job = jobs.Job()
    job.cancel()
    job.run(lambda job: audits.run(job, str(made["one"])))
    assert (job.state, job.done, job.note) == (jobs.CANCELLED, 0, "check.0") and job.total > 18
    for words in map(i18n.words, LANGUAGES):
        assert {f"check.{check.number}" for check in battery.checks()} < set(words)
    assert i18n.words("en")["check.1"] == report.texts()["tiles"]["en"]["title"]
    assert i18n.CALLED.items() <= {(check.number, check.name) for check in battery.checks()}


def test_the_pictures_are_made_of_the_rounds(made: dict[str, Path]) -> None:
    lines = [json.loads(line) for line in made["log"].read_text(encoding="utf-8").splitlines()]
    with warehouse.connect(made["many"]) as connection:
        tables = Tables(connection)
        rows = accounts.draw_luck(tables)
        found = {name: pl.DataFrame(columns) for name, columns in pictures.all_of(tables, rows).items()}
    suits = [[name for name in NAMES["ps"] if name[1] == suit] for suit in "psz"]
    order = sum(suits, [])
    cells = found["places"]
    fourth = Counter(order.index(line["wall"][6:8]) for line in lines)
    assert cells.filter(pl.col("place") == 6).sort("kind")["seen"].to_list() == [fourth[kind] for kind in range(21)]
    assert cells["seen"].sum() == 84 * len(lines) == pytest.approx(cells["expected"].sum(), abs=30)
    one = cells.filter((pl.col("place") == 6) & (pl.col("kind") == 3)).row(0, named=True)
    p = 4 / 84
    assert one["z"] == pytest.approx((one["seen"] - 430 * p) / math.sqrt(430 * p * (1 - p)), abs=0.01)
    starts = found["starts"]
    assert set(starts["role"]) == set(deals.ROLES) and starts["hands"].sum() == 3 * len(lines)
    for column in ("share", "exact"):
        assert starts.group_by("role").agg(pl.col(column).sum())[column].to_list() == pytest.approx([1] * 3)
    for name in found["bridges"]["name"].unique():
        bridge = found["bridges"].filter(pl.col("name") == name)
        assert bridge["turn"].sum() == 1 and abs(bridge["away"][-1]) < 1e-6
        assert bridge["away"].abs().max() == abs(bridge.filter("turn")["away"][0])
    last = found["bets"].group_by("account", maintain_order=True).last()
    told = {row.subject: row.e for row in rows}
    assert len(last) == 4
    for account, e in last.select("account", "e").iter_rows():
        assert e == pytest.approx(told[account], rel=1e-6)


def test_quantiles_keep_to_their_band() -> None:
    row = Result(15, "draw_luck", "account", "account")
    found = pictures.quantiles(
        [row.but(subject=f"u{at}", statistic=float(z), p=0.5) for at, z in enumerate((2, 0, -1))]
    )
    assert found["subject"] == ["u2", "u1", "u0"] and found["expected"][1] == pytest.approx(0)
    assert all(low < middle < high for low, middle, high in
               zip(found["low"], found["expected"], found["high"], strict=True))  # fmt: skip
    assert pictures.quantiles([])["z"] == []


def test_a_pair_is_what_its_rounds_say(made: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KWX_DB", str(made["many"]))
    found = pair_history.history(dataset.select, EVIL, "u2")
    with warehouse.connect(made["many"]) as connection:
        rows = connection.sql(
            "SELECT round_id, w.seat AS winner, w.from_seat AS payer, r.winners FROM wins AS w JOIN rounds AS r "
            "USING (round_id) WHERE \"by\" = 'discard'"
        ).fetchall()
        seats = {(round_id, player): seat for round_id, seat, player in
                 connection.sql("SELECT round_id, seat, player FROM seats").fetchall()}  # fmt: skip
        paid = connection.sql(
            "SELECT round_id, from_seat, to_seat, points / base FROM ledger JOIN rounds USING (round_id)"
        ).fetchall()
        missed = connection.sql("SELECT count(*) FROM facts WHERE wins_missed > 0").fetchall()[0][0]
    both = {key for key, name in seats if name == EVIL and (key, "u2") in seats}
    single = [(key, winner, payer) for key, winner, payer, winners in rows if winners == 1]
    won = [(key, payer) for key, winner, payer in single if key in both and winner == seats[key, "u2"]]
    assert found.height == len(both) > 100
    assert found["dealt"].sum() == sum(payer == seats[key, EVIL] for key, payer in won)
    assert found["dealt"].count() == len(won) > 10
    after = sum((payer - winner) % 3 == 1 for _, winner, payer in single) / len(single)
    share = {1: after, 2: 1 - after}
    expected = [share[(seats[key, EVIL] - seats[key, "u2"]) % 3] for key, _ in won]
    assert found["expected"].sum() == pytest.approx(sum(expected))
    ends = {(0, 1): 1, (1, 0): -1}
    moved = 0
    for key, one, other, points in paid:
        if key in both:
            place = {seats[key, EVIL]: 0, seats[key, "u2"]: 1}
            moved += points * ends.get((place.get(one), place.get(other)), 0)
    assert found["transfer"].sum() == pytest.approx(moved)
    assert found["passed"].sum() <= missed
    back = pair_history.history(dataset.select, "u2", EVIL)
    assert back["transfer"].to_list() == [-one for one in found["transfer"]]
    assert pair_history.history(dataset.select, "u2", "nobody").height == 0


def test_pairs_under_review_are_drawn_and_open(made: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KWX_DB", str(made["one"]))
    row = Result(19, "deal_in_share", "pair", "pair", status="review", p=1e-9, statistic=6.0)
    rows = [row.but(subject=f"{EVIL} → u2"), row.but(check=21, subject="u2 ↔ u3", status="escalated"),
            row.but(subject="u2 → u3"), row.but(subject="u4 → u5", status="passed")]  # fmt: skip
    assert [BETWEEN.split(one.subject)[::2] for one in rows[:2]] == [[EVIL, "u2"], ["u2", "u3"]]
    jobs.forget(audits.key())
    of = audits.Audit(Report(rows, {"names": {}}), {})
    jobs.start(audits.key(), lambda job: of)
    finished(audits.key())
    test = open_page("together", "en")
    lines = component(test, "pairs")["rows"]
    assert [line["cells"][0] for line in lines] == [f"{EVIL} – u2", "u2 – u3"]
    assert "a=u2&b=u3" in lines[1]["href"] and len(charted(test)) == 1
    jobs.forget(audits.key())
    places = together.ring([("a", "b"), ("c", "d"), ("b", "e")])
    assert set(places) == set("abcde") and list(places)[:3] == ["a", "b", "e"]
    assert all(x * x + y * y == pytest.approx(1) for x, y in places.values())
