"""What all browser tests share: one server, its data sets by name, one browser whose tabs share a cache."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_warehouse

from analytics import warehouse
from dashboard import library
from ingest.read import Reader
from replay import ruleset, simulate

EVIL = "<img src=x onerror=window.evil=1><script>window.evil=1</script>\"'`*b* :smile: \u202eabc\u202c 🀄"
PLAYED = 400  # rounds


def load(db: Path, sources: dict[str, list]) -> None:
    """Adds logs to a data set of sample_warehouse."""
    db.parent.mkdir(parents=True, exist_ok=True)
    parts = {"replayer": sample_warehouse.FakeReplayer(), "check_games": sample_warehouse.lost_rounds}
    warehouse.load(sample_warehouse.FakeReader(sources), db, **parts)


def play(folder: Path) -> None:
    """A data set of simulated rounds, each a game of its own, in which u1 deals in to u2 far too often."""
    folder.mkdir(parents=True)
    path = folder / "log.jsonl"
    simulate.write(path, "hubei", {}, PLAYED, 3)
    out, given = [], 0
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        log = json.loads(line)
        log.pop("prev", None)
        names = [f"u{3 + (at * (1 + at // 8 % 3) + seat) % 8}" for seat in range(3)]
        wins = log["result"].get("wins", [])
        if len(wins) == 1 and "from" in wins[0]:
            given += 1
            if given % 3 == 0:
                names[wins[0]["seat"]], names[wins[0]["from"]] = "u2", "u1"
        elif at % 3 == 0:
            names[:2] = "u1", "u2"
        out.append(json.dumps({**log, "game": f"g{at}", "round": 1, "players": names}))
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    warehouse.load(Reader([str(path)], check_rules=ruleset.check), folder / library.DB)


@pytest.fixture(scope="session")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the server: "many" (one account, site and game are named like markup) and "played"."""
    folder = tmp_path_factory.mktemp("served") / library.FOLDER
    logs = sample_warehouse.logs()
    evil = [{**log, "site": EVIL, "game": EVIL, "players": [EVIL, "", "a/b?c#d"]} for log in logs[:8]]
    third = len(logs) // 3
    sources = {
        "may/01.jsonl": [*logs[8:third], '{"kwx":1,"site":"oracle"', *logs[10:14]],
        "may/02.jsonl": [*logs[third:-40], *logs[-38:], "not a round"],
        "<b>evil</b>.jsonl": [*evil, EVIL],
    }
    load(folder / "many" / library.DB, sources)
    play(folder / "played")
    return folder


@pytest.fixture(scope="session")
def home(sets: Path) -> Iterator[str]:
    """The server's address; it was started without a data set, so addresses name theirs (`set`)."""
    from browser import served

    with served(sets.parent) as address:
        yield address


@pytest.fixture(scope="session")
def window(home: str) -> Iterator:
    """The browser: a context whose tabs share what they loaded."""
    from browser import browser

    with browser() as chromium:
        context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-US")
        yield context
        context.close()


@pytest.fixture
def page(window, home: str) -> Iterator:
    """A fresh tab; whatever goes wrong on it fails the test."""
    from browser import watch

    tab = window.new_page()
    wrong = watch(tab, home)
    yield tab
    evil = tab.evaluate("window.evil")
    tab.close()
    assert not wrong and evil is None


def opened(page, home: str, name: str, **parameters: str):
    """The page after it has settled; `set` is the data set "many" unless given."""
    from browser import settle, view

    page.goto(view(home, name, **{"set": "many", **parameters}))
    settle(page)
    assert page.get_by_test_id("stException").count() == 0
    return page


def ids(sets: Path, condition: str = "true", name: str = "many") -> list[str]:
    """Rounds of a data set that fit."""
    with warehouse.connect(sets / name / library.DB) as connection:
        return [row[0] for row in connection.execute(f"SELECT id FROM round_list WHERE {condition}").fetchall()]
