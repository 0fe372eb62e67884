"""Work beside the pages: jobs with progress and cancel, decisions played out for the viewer, joined scripts."""

import json
import re
import shutil
import threading
from pathlib import Path

import duckdb
import pytest
from streamlit.testing.v1 import AppTest
from test_dashboard import FOLDER, clean, component

from analytics import warehouse
from analytics.one_round import from_data_set
from dashboard import bundle, dataset, i18n, jobs, round_review
from ingest.read import Reader
from replay import ruleset, simulate
from replay.review import review

SCRIPTS = [FOLDER / "replayer" / "viewer.js", FOLDER / "listing" / "listing.js"]


def finished(key: object) -> jobs.Job:
    """The job once it has ended."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon and thread.name.startswith("job"):
            thread.join(60)
    found = jobs.find(key)
    assert found is not None and found.state != jobs.RUNNING
    return found


def test_work_is_done_once_and_kept() -> None:
    calls = []

    def work(job: jobs.Job) -> int:
        calls.append(1)
        job.step(1, 2, "half")
        return 7

    first = jobs.start("once", work)
    assert finished("once").value == 7 and (first.done, first.total, first.note) == (1, 2, "half")
    assert jobs.start("once", work) is first and len(calls) == 1


def test_work_ends_when_it_is_cancelled_and_can_begin_again() -> None:
    at, go = threading.Event(), threading.Event()

    def work(job: jobs.Job) -> str:
        at.set()
        go.wait(30)
        job.step(1)
        return "done"

    job = jobs.start("stop", work)
    at.wait(30)
    job.cancel()
    go.set()
    assert finished("stop").state == jobs.CANCELLED
    assert jobs.start("stop", work) is not job
    assert finished("stop").value == "done"


def test_what_goes_wrong_is_kept_for_the_page() -> None:
    def work(job: jobs.Job) -> None:
        raise ValueError("no such thing")

    jobs.start("wrong", work)
    assert finished("wrong").state == jobs.FAILED and str(jobs.find("wrong").error) == "no such thing"


@pytest.mark.parametrize("main", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_join_into_one_scope(main: Path) -> None:
    text = bundle.script(main)
    assert not re.search(r"^import |^export (?!default)", text, re.MULTILINE)
    assert text.count("export default") == 1
    names = re.findall(r"^(?:export default )?(?:async )?(?:function|class|const|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names)) > 5
    assert bundle.script(main) == text
    for path in main.parent.glob("*.js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of a few simulated rounds, from the real pipeline."""
    folder = tmp_path_factory.mktemp("played")
    simulate.write(folder / "log.jsonl", "hubei", {}, 4, 3)
    warehouse.load(Reader([str(folder / "log.jsonl")], check_rules=ruleset.check), folder / "db")
    return folder / "db"


def test_decisions_are_played_out_for_the_viewer(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_review, "ROLLOUTS", 40)
    monkeypatch.setenv("KWX_DB", str(played))
    with warehouse.connect(played) as connection:
        id = connection.execute("SELECT id FROM round_list ORDER BY id LIMIT 1").fetchone()[0]

    def shown(language: str) -> dict:
        test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page("page/rounds.py")
        test.query_params["lang"], test.query_params["round"] = language, id
        return component(clean(test.run()), "viewer")

    assert shown("en")["review"] == {}
    tables = from_data_set(played, id)
    round_review.act(id, tables, "start 1")
    finished(("review", dataset.stamp(), id, 1))
    seen = shown("zh")
    assert {seat: one["state"] for seat, one in seen["review"].items()} == {"1": "done"}
    expected = review(tables, 1, 40)
    assert seen["review"]["1"]["decisions"] == json.loads(json.dumps(expected)) and expected
    for decision in expected:  # each stands at the frame after which its move comes, if it is no pass
        option, after = decision["options"][decision["played"]], seen["frames"][decision["event"] + 1]
        if option["action"] == "discard" and not option["reveal"]:
            assert (after["seat"], after["tile"]) == (1, option["tile"])
    assert json.loads(seen["line"])["game"] == tables["rounds"][0]["game"] and "wins" in seen["lines"]


def test_rounds_that_cannot_be_played_out_say_why(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KWX_DB", str(played))
    tables = {"rounds": [{"coverage": "settlement_only", "deal": None, "events": []}], "seats": []}
    round_review.act("a/b/1", tables, "start 2")
    finished(("review", dataset.stamp(), "a/b/1", 2))
    assert round_review.known("a/b/1")["2"]["error"] == "the log names no drawn tiles"
    round_review.act("a/b/1", tables, "stop 2")
    round_review.act("a/b/1", tables, "nonsense")
    assert list(round_review.known("a/b/1")) == ["2"]


def test_a_data_set_of_another_version_is_explained(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copyfile(played.resolve(), tmp_path / "old")
    with duckdb.connect(str(tmp_path / "old")) as connection:
        connection.execute("ALTER TABLE reveals DROP COLUMN live")
    monkeypatch.setenv("KWX_DB", str(tmp_path / "old"))
    test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page("page/fairness.py")
    test.query_params["lang"] = "en"
    assert clean(test.run()).subheader[0].value == i18n.words("en")["state.unreadable"]
    assert any("another version of kwx" in str(node.proto) for node in test.get("html"))
