"""Data sets of the dashboard's own: uploads from the browser, the demo, cancelling, and where files may go."""

import gzip
import re
import threading
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from test_dashboard import EVIL, FOLDER, LANGUAGES, clean, component
from test_dashboard_work import finished

from analytics import warehouse
from dashboard import first_run, i18n, jobs, library
from replay import simulate


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder, not made yet, and no data set served."""
    monkeypatch.setenv("KWX_DATA", str(tmp_path / "inside"))
    monkeypatch.delenv("KWX_DB", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "inside"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("upload") / "log.jsonl"
    simulate.write(path, "hubei", {}, 5, 8)
    return path.read_bytes() + EVIL.encode() + b"\n"


class File:
    """What Streamlit hands over of an uploaded file."""

    def __init__(self, name: str, content: bytes, size: int | None = None) -> None:
        self.name, self._content, self.size = name, content, len(content) if size is None else size

    def getvalue(self) -> bytes:
        return self._content


def open_app(page: str, language: str = "en", **address: str) -> AppTest:
    test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page(f"page/{page}.py")
    for name, value in {"lang": language, **address}.items():
        test.query_params[name] = value
    return clean(test.run())


@pytest.mark.parametrize("language", LANGUAGES)
def test_uploaded_logs_become_a_data_set_of_their_own(data: Path, log: bytes, language: str) -> None:
    words = i18n.words(language)
    test = open_app("start", language)
    assert test.title[0].value == words["page.start"]
    test.file_uploader(key="files").set_value([("../../evil log.jsonl", log, "text/plain")])
    clean(test.run())
    next(button for button in test.button if button.label == words["start.load"]).click()
    clean(test.run())
    [name] = [one.name for one in data.iterdir()]
    assert finished(("upload", str(data / name))).state == jobs.DONE
    assert library.names() == [name]
    clean(test.run())
    assert test.query_params["set"] == name and test.title[0].value == words["page.overview"]
    assert test.metric[0].value == "5"
    rows = component(open_app("data", language, set=name), "rejects-list")["rows"]
    assert [row["cells"][4] for row in rows] == [EVIL]
    assert sorted(one.name for one in data.parent.iterdir()) == ["inside"]  # nothing beside the data folder
    assert [one.name for one in (data / name / "logs").iterdir()] == ["001-evil_log.jsonl"]


def test_the_same_files_are_one_data_set(data: Path, log: bytes) -> None:
    files = [File("a.jsonl", log), File("b.jsonl", b"x\n")]
    names = {library.take(given).name for given in (files, files, files[::-1])}
    assert len(names) == 1
    [name] = names
    assert library.load(library.take(files), jobs.Job()) == library.load(library.take(files), jobs.Job()) == name
    with warehouse.connect(library.path(name)) as connection:
        assert connection.execute("SELECT count(*) FROM rounds").fetchall() == [(5,)]


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ([File("a.exe", b"MZ")], "not_a_log"), ([File(".jsonl", b"{}")], "not_a_log"),
        ([File("a.jsonl", b"")], "no_bytes"),
        ([File("a.jsonl", b"x", 150 << 20), File("b.jsonl", b"x", 60 << 20)], "too_large"),
    ],
)  # fmt: skip
def test_what_is_not_taken(data: Path, files: list[File], word: str) -> None:
    with pytest.raises(library.UploadError) as told:
        library.take(files)
    assert told.value.args[0] == word and f"start.{word}" in i18n.words("en")
    assert not data.exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "", "A", "a" * 50, "demo\n", "upload-1/../../x", EVIL])
def test_names_of_an_address_lead_nowhere_else(data: Path, name: str) -> None:
    (data.parent / "x").mkdir()
    (data.parent / "x" / library.DB).write_bytes(b"")
    assert library.path(name) is None
    library.remove(name)
    assert (data.parent / "x" / library.DB).exists()
    test = open_app("overview", set=name)
    assert test.subheader[0].value == i18n.words("en")["state.unset"]


def test_cancelled_and_failed_loads_leave_nothing(data: Path, log: bytes) -> None:
    job = jobs.Job()
    job.cancel()
    with pytest.raises(jobs.Cancelled):
        library.load(library.take([File("a.jsonl", log)]), job)
    assert list(data.iterdir()) == []
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.md", "no log")
    taken = library.take([File("a.zip", packed.getvalue())])
    broken = jobs.Job()
    broken.run(lambda job: library.load(taken, job))
    assert broken.state == jobs.FAILED and "an archive without logs" in str(broken.error)
    assert list(data.iterdir()) == []


def zipped(members: dict[str, bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("blank.jsonl.gz", gzip.compress(b"\n" * (5 << 20)), "too_deep"),
        ("heads.zip", zipped({f"{at}.jsonl": b" " * 60_000 for at in range(40)}), "too_deep"),
        ("line.jsonl.gz", gzip.compress(b"x" * (5 << 20)), "too_deep"),
        ("rejects.jsonl", b"x\n" * 3000, "too_many"),
    ],
)
def test_what_unpacks_too_far_is_not_taken(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, word: str
) -> None:
    monkeypatch.setattr(library, "MOST_UNPACKED", 2 << 20)
    monkeypatch.setattr(library, "MOST_RECORDS", 2000)
    taken = library.take([File(name, content)])
    with pytest.raises(library.UploadError) as told:
        library.load(taken, jobs.Job())
    assert told.value.args[0] == word and first_run.refused(told.value).endswith("kwx run.")
    assert list(data.iterdir()) == []


def test_names_of_files_and_members_lead_nowhere_else(data: Path, log: bytes) -> None:
    lines = log.splitlines(keepends=True)
    names = [
        "../../a.jsonl",
        EVIL.replace("/", "") + ".jsonl",
        "\u202e🀄.jsonl",
        "C:\\x\\a.jsonl",
        "same.jsonl",
        "same.jsonl",
    ]
    files = [File(name, line) for name, line in zip(names, lines, strict=False)]
    files.append(File("out.zip", zipped({"../../../out.jsonl": lines[0], "/root.jsonl": lines[1]})))
    taken = library.take(files)
    assert len({name for name, _ in taken.files}) == len(files)
    assert all(re.fullmatch(r"\d{3}-[a-z0-9._-]+", name) for name, _ in taken.files)
    library.load(taken, jobs.Job())
    assert [one.name for one in data.parent.iterdir()] == ["inside"] and library.names() == [taken.name]
    with warehouse.connect(library.path(taken.name)) as connection:
        found = "SELECT sum(rounds)::INT, sum(repeats)::INT, sum(rejects)::INT FROM sources"
        assert connection.execute(found).fetchall() == [(5, 2, 1)]


def test_stopped_halfway_and_begun_again(data: Path, log: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = library.take([File("a.jsonl", log)])
    reading, go = threading.Event(), threading.Event()
    key, write = ("upload", str(data / taken.name)), warehouse.load

    def slow(*arguments, **named):
        reading.set()
        go.wait(30)
        return write(*arguments, **named)

    monkeypatch.setattr(warehouse, "load", slow)
    first = jobs.start(key, lambda job: library.load(taken, job))
    assert reading.wait(30) and jobs.start(key, lambda job: library.load(taken, job)) is first
    first.cancel()
    second = jobs.start(key, lambda job: library.load(taken, job))
    assert second is not first and first.state == jobs.RUNNING
    go.set()
    second.thread.join(60)
    assert (first.state, second.state, second.value) == (jobs.CANCELLED, jobs.DONE, taken.name)
    assert library.names() == [taken.name]


def test_two_uploads_at_once(data: Path, log: bytes) -> None:
    lines = log.splitlines(keepends=True)
    both = [library.take([File("a.jsonl", part)]) for part in (lines[0], b"".join(lines[1:]))]
    begun = [jobs.start(("upload", one.name), lambda job, one=one: library.load(one, job)) for one in both]
    for job in begun:
        job.thread.join(60)
    assert [job.state for job in begun] == [jobs.DONE] * 2
    assert library.names() == sorted(one.name for one in both)


def test_the_demo_is_made_from_the_browser(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "DEMO_ROUNDS", 10)
    words = i18n.words("en")
    test = open_app("overview")
    next(button for button in test.button if button.label == words["start.demo_make"]).click()
    clean(test.run())
    assert finished(("demo", str(data))).state == jobs.DONE
    clean(test.run())
    assert test.query_params["set"] == "demo" and int(test.metric[0].value.replace(",", "")) > 10
    assert test.sidebar.selectbox(key="data-set").options == ["demo"]
    linked = open_app("rounds", set="demo")
    assert linked.query_params["set"] == "demo"
    assert "set=demo" in component(linked, "rounds")["rows"][0]["href"]
