"""The viewer, the first run and the audit in a real browser: keys, overlays, values, files to save, logs to upload."""

import json
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_browser import chromium, ids, opened, page  # noqa: F401 - fixtures

from analytics import warehouse
from ingest.read import Reader
from replay import ruleset, simulate

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated rounds, from the real pipeline."""
    folder = tmp_path_factory.mktemp("played")
    simulate.write(folder / "log.jsonl", "hubei", {}, 30, 3)
    warehouse.load(Reader([str(folder / "log.jsonl")], check_rules=ruleset.check), folder / "played.duckdb")
    return folder / "played.duckdb"


@pytest.fixture(scope="module")
def home(db: Path) -> Iterator[str]:
    from browser import served

    with served(db) as address:
        yield address


def saved(page, name: str) -> str:  # noqa: F811
    """What a button of the viewer saves."""
    with page.expect_download() as told:
        page.locator(".saves button", has_text=name).click()
    return Path(told.value.path()).read_text(encoding="utf-8")


def shown(page, home: str, **address: str):  # noqa: F811
    """The viewer of a round."""
    opened(page, home, "rounds", **address)
    viewer = page.locator(".viewer")
    viewer.wait_for()
    return viewer


FOCUSED = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return [at?.getAttribute('aria-label') ?? '', at?.getAttribute('href') ?? ''];
}"""


def test_keys_overlays_and_what_a_step_takes(page, home: str, db: Path) -> None:  # noqa: F811
    id = ids(db, "revealed > 0 AND winners = 1")[0]
    viewer = shown(page, home, lang="en", round=id)
    assert viewer.locator(".panel .away").count() == 3 and viewer.locator(".under").count() in (0, 14)
    page.keyboard.press("ArrowDown")
    own = viewer.get_attribute("data-event")
    page.keyboard.press("ArrowDown")
    assert viewer.get_attribute("data-event") != own
    page.keyboard.press("ArrowUp")
    assert viewer.get_attribute("data-event") == own
    assert viewer.locator(".own .under.best").count() >= 1 and viewer.locator(".options .option").count() >= 2
    for overlay in viewer.locator(".overlays button").all():
        assert overlay.get_attribute("aria-pressed") in ("true", "false")
    viewer.locator(".overlays button", has_text="draw luck").click()
    assert viewer.locator(".chip.luck").count() == 3
    viewer.locator(".overlays button", has_text="useful").click()
    assert viewer.locator(".under").count() == 0
    viewer.locator(".overlays button", has_text="useful").click()
    page.keyboard.press("End")
    last = int(viewer.get_attribute("data-event"))
    page.keyboard.press("PageUp")
    assert int(viewer.get_attribute("data-event")) < last
    page.keyboard.press("h")
    backs = viewer.locator("use[href='#kwx-back']").count()
    page.keyboard.press("h")
    assert viewer.locator("use[href='#kwx-back']").count() < backs
    viewer.locator(".pov").nth(1).click()
    assert viewer.locator(".own .badge.seat1").count() >= 1
    took = viewer.evaluate(
        """(host) => ['Home', ...Array(200).fill('ArrowRight')].map((key) => {
            host.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
            return Number(host.dataset.stepMs);
        })"""
    )
    assert sorted(took)[len(took) // 2] <= 20 and viewer.get_attribute("data-event") == str(last)
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("location.search.includes('event=1')", timeout=15_000)
    page.keyboard.press(" ")


def test_a_round_can_be_saved(page, home: str, db: Path) -> None:  # noqa: F811
    id = ids(db, "winners = 1")[0]
    shown(page, home, lang="en", round=id, event="9")
    page.get_by_role("button", name="save", exact=True).click()
    line = json.loads(saved(page, "log line"))
    assert line["kwx"] == 1 and f"simulated/{line['game']}/{line['round']}" == id
    assert "wins" in saved(page, "text")
    picture = xml.fromstring(saved(page, "SVG"))
    assert picture.tag.endswith("svg") and len(picture.findall(".//{*}use")) > 40


def test_decisions_are_played_out(page, home: str, db: Path) -> None:  # noqa: F811
    with warehouse.connect(db) as connection:
        shortest = "SELECT game, round FROM rounds ORDER BY events_count, game, round LIMIT 1"
        game, number = connection.execute(shortest).fetchall()[0]
    viewer = shown(page, home, lang="en", round=f"simulated/{game}/{number}", pov="0")
    page.keyboard.press("ArrowDown")
    viewer.get_by_role("button", name="Play out the decisions of seat 0").click()
    viewer.get_by_text("decisions played out").wait_for(timeout=90_000)
    at = viewer.get_attribute("data-event")
    assert viewer.locator(".option .value").count() >= 2 and viewer.locator(".chip.best").count() == 1
    assert "kwx's own policy" in viewer.locator(".policy").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert viewer.get_attribute("data-event") == at


def test_the_keyboard_alone_reaches_everything(page, home: str) -> None:  # noqa: F811
    opened(page, home, "rounds", lang="en")
    page.locator(".listing tbody a").first.wait_for()
    for _ in range(80):
        page.keyboard.press("Tab")
        if "round=" in page.evaluate(FOCUSED)[1]:
            break
    page.keyboard.press("Enter")
    viewer = page.locator(".viewer")
    viewer.wait_for()
    page.wait_for_url("**round=*")
    page.keyboard.press("ArrowRight")
    assert viewer.get_attribute("data-event") == "0"
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(FOCUSED)[0])
    named = {button.get_attribute("aria-label") for button in viewer.locator(".controls button").all()}
    assert named <= seen and "event" in seen
    stops = viewer.locator("button:not(.mark)").all()
    assert all(button.evaluate("node => node.tabIndex") == 0 for button in stops)


def test_the_audit_runs_and_opens_a_check(page, home: str) -> None:  # noqa: F811
    opened(page, home, "fairness", lang="zh")
    page.get_by_role("button", name="开始审计").click()
    page.locator(".listing tbody tr").first.wait_for(timeout=90_000)
    page.locator(".listing tbody a", has_text="结算复算").click()
    page.wait_for_url("**check=3*")
    page.get_by_text("这项检查的全部结果").first.wait_for(state="attached")


def test_a_first_run_takes_logs_from_the_browser(chromium, tmp_path: Path, db: Path) -> None:  # noqa: F811
    from browser import served, settle, watch

    evil = tmp_path / "<b>evil & 'log.jsonl"
    lines = (db.parent / "log.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    evil.write_text("\n".join([*lines, "<script>window.evil=1</script>"]) + "\n", encoding="utf-8")
    (tmp_path / "work").mkdir()
    with served(tmp_path / "work") as address:
        tab = chromium.new_page(locale="en-US")
        wrong = watch(tab, address)
        tab.goto(address)
        settle(tab)
        tab.get_by_text("No data set is chosen").wait_for()
        tab.get_by_role("button", name="Make the demo").wait_for()
        tab.locator("input[type=file]").set_input_files(str(evil))
        tab.get_by_role("button", name="Read them").click()
        tab.get_by_test_id("stMetricValue").first.get_by_text("6", exact=True).wait_for(timeout=60_000)
        assert "set=upload-" in tab.url
        tab.get_by_test_id("stSidebarNav").get_by_text("Data quality").click()
        tab.locator(".listing tr", has_text="window.evil").first.wait_for()
        assert "set=upload-" in tab.url and tab.evaluate("window.evil") is None
        assert not wrong
        tab.close()
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["kwx-data"]
