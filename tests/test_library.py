"""Data sets of the dashboard's own: uploads from the browser, the demo, cancelling, and where files may go."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from test_dashboard import EVIL, FOLDER, LANGUAGES, clean, component
from test_dashboard_work import finished

from analytics import warehouse
from dashboard import i18n, jobs, library
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
    names = {library.keep([File("a.jsonl", log), File("b.jsonl", b"x\n")]) for _ in range(2)}
    names.add(library.keep([File("b.jsonl", b"x\n"), File("a.jsonl", log)]))
    assert len(names) == 1
    [name] = names
    assert library.load(name, jobs.Job()) == library.load(name, jobs.Job()) == name
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
        library.keep(files)
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
    name = library.keep([File("a.jsonl", log)])
    job = jobs.Job()
    job.cancel()
    with pytest.raises(jobs.Cancelled):
        library.load(name, job)
    assert list(data.iterdir()) == []
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.md", "no log")
    name = library.keep([File("a.zip", packed.getvalue())])
    broken = jobs.Job()
    broken.run(lambda job: library.load(name, job))
    assert broken.state == jobs.FAILED and "an archive without logs" in str(broken.error)
    assert list(data.iterdir()) == []


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
