"""The dashboard in a real browser: every page in both languages, filters, links, stepping by keys, hostile names."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sample_warehouse
from playwright.sync_api import expect

from analytics import warehouse
from dashboard import i18n

pytestmark = pytest.mark.browser

PAGES = sorted(path.stem for path in (Path(i18n.__file__).parent.parent / "page").glob("[a-z]*.py"))
EVIL = "<img src=x onerror=window.evil=1><script>window.evil=1</script>\"'`*b* :smile: \u202eabc\u202c 🀄"


def load(db: Path, sources: dict[str, list]) -> None:
    """Adds logs to a data set."""
    parts = {"replayer": sample_warehouse.FakeReplayer(), "check_games": sample_warehouse.lost_rounds}
    warehouse.load(sample_warehouse.FakeReader(sources), db, **parts)


def ids(db: Path, condition: str = "true") -> list[str]:
    with warehouse.connect(db) as connection:
        return [row[0] for row in connection.execute(f"SELECT id FROM round_list WHERE {condition}").fetchall()]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_warehouse.build(tmp_path_factory.mktemp("served") / "many.duckdb")


@pytest.fixture(scope="module")
def home(db: Path) -> Iterator[str]:
    from browser import served

    with served(db) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator:
    from browser import browser

    with browser() as found:
        yield found


@pytest.fixture
def page(chromium, home: str) -> Iterator:
    """A fresh page; whatever goes wrong on it fails the test."""
    from browser import watch

    tab = chromium.new_page(viewport={"width": 1440, "height": 900}, locale="en-US")
    wrong = watch(tab, home)
    yield tab
    tab.close()
    assert not wrong


def opened(page, home: str, name: str, **parameters: str):
    """The page after it has settled."""
    from browser import settle, view

    page.goto(view(home, name, **parameters))
    settle(page)
    assert page.get_by_test_id("stException").count() == 0
    return page


@pytest.mark.parametrize("name", PAGES)
def test_pages_open(page, home: str, name: str) -> None:
    language = list(i18n.LANGUAGES)[PAGES.index(name) % 2]  # the tests without a browser see each page in both
    opened(page, home, name, lang=language)
    assert page.locator("h1").inner_text() == i18n.words(language)[f"page.{name}"]
    for chart in page.get_by_test_id("stVegaLiteChart").all():
        if chart.is_visible():  # those in tabs behind the first are not
            chart.scroll_into_view_if_needed()
            chart.locator("canvas, svg").first.wait_for()
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, "the page is wider than the window"


def test_language_and_navigation(page, home: str) -> None:
    opened(page, home, "rounds", lang="en", verdict="violation")
    page.get_by_text("中文", exact=True).click()
    page.wait_for_selector("h1:has-text('牌谱')")
    assert "lang=zh" in page.url and "verdict=violation" in page.url
    page.get_by_test_id("stSidebarNav").get_by_text("结算异常").click()
    page.wait_for_selector("h1:has-text('结算异常')")
    page.wait_for_url("**/payouts?lang=zh")
    page.reload()
    page.wait_for_selector("h1:has-text('结算异常')")


def test_filter_then_open_a_round_and_come_back(page, home: str, db: Path) -> None:
    violated = ids(db, "verdict = 'violation'")
    opened(page, home, "rounds", lang="en")
    box = page.get_by_role("combobox", name="Verdict")
    box.click()
    page.get_by_role("option", name="violation").click()
    page.wait_for_url("**verdict=violation*")
    page.get_by_text(f"{len(violated)} rounds").wait_for()
    page.locator(".listing tbody a").first.click()
    page.locator(".viewer").wait_for()
    assert "verdict=violation" in page.url
    page.get_by_role("button", name="Back to the list").click()
    page.locator(".listing").wait_for()
    page.wait_for_function("!location.search.includes('round=')")  # the address follows the page
    assert "verdict=violation" in page.url
    page.get_by_role("button", name="Next", exact=False).last.click()
    page.get_by_text(f"26–{len(violated)} of {len(violated)}").wait_for()
    page.wait_for_url("**page=2*")
    expect(page.locator(".listing tbody tr")).to_have_count(len(violated) - 25)  # the list follows its caption


def test_links_lead_to_what_is_behind_a_number(page, home: str, db: Path) -> None:
    opened(page, home, "overview", lang="en")
    page.get_by_text("Show rounds").nth(2).click()
    page.wait_for_url("**/rounds?*verdict=violation*")
    violated = len(ids(db, "verdict = 'violation'"))
    page.get_by_text(f"{violated} rounds").wait_for()
    opened(page, home, "overview", lang="en")
    page.locator(".listing tbody tr").nth(1).click()
    page.locator(".viewer").wait_for()
    assert "event=" in page.url
    opened(page, home, "data", lang="en")
    page.locator(".listing a", has_text="tile not held").click()
    page.wait_for_url("**/rounds?*code=tile_not_held*")
    opened(page, home, "payouts", lang="en")
    page.get_by_text("Open the round").first.click()
    page.locator(".viewer").wait_for()


def test_a_round_step_by_step(page, home: str, db: Path) -> None:
    id = ids(db, "list_contains(codes, 'tile_not_held') AND winners = 1")[0]
    opened(page, home, "rounds", lang="en", round=id, event="7")
    viewer = page.locator(".viewer")
    assert viewer.get_attribute("data-event") == "7"
    page.keyboard.press("ArrowRight")
    assert viewer.get_attribute("data-event") == "8"
    page.wait_for_url("**event=8")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert viewer.get_attribute("data-event") == "6"
    page.keyboard.press("Home")
    assert viewer.get_attribute("data-event") == ""
    page.wait_for_function("!location.search.includes('event=')")
    assert viewer.locator(".panel").count() == 3
    assert viewer.locator(".hand .tile").count() == 40
    assert viewer.locator(".walltiles .tile").count() == 44
    page.keyboard.press("PageDown")
    assert viewer.get_attribute("data-event") != ""
    page.keyboard.press("End")
    last = int(viewer.get_attribute("data-event"))
    assert viewer.locator(".ledger .rows tr").count() >= 1
    viewer.locator(".flag").click()
    assert viewer.get_attribute("data-event") == str((last + 1) // 2)
    assert viewer.locator(".problem.here").count() == 1
    viewer.locator(".mark").nth(3).click()
    page.keyboard.press("h")
    assert viewer.locator("use[href='#kwx-back']").count() >= 26
    page.keyboard.press("?")
    assert viewer.locator(".help").is_visible()
    took = []
    page.keyboard.press("Home")
    for _ in range(last + 1):
        page.keyboard.press("ArrowRight")
        took.append(float(viewer.get_attribute("data-step-ms")))
    assert viewer.get_attribute("data-event") == str(last)
    assert sorted(took)[len(took) // 2] <= 20  # the median: other work on the machine makes single steps slow
    page.wait_for_url(f"**event={last}")
    page.reload()
    viewer.wait_for()
    assert viewer.get_attribute("data-event") == str(last)


def test_wide_and_narrow(page, home: str, db: Path) -> None:
    for width in (1920, 1280, 760):
        page.set_viewport_size({"width": width, "height": 900})
        opened(page, home, "rounds", lang="zh", round=ids(db)[0], event="30")
        page.locator(".viewer").wait_for()
        over = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - "
                             "document.querySelector('[data-testid=stMain]').clientWidth")  # fmt: skip
        assert over <= 0


def test_text_from_logs_is_never_markup(chromium, tmp_path: Path) -> None:
    from browser import served, watch

    logs = [
        {**log, "site": EVIL, "game": EVIL, "players": [EVIL, "", "a/b?c#d"]} for log in sample_warehouse.logs()[:8]
    ]
    load(tmp_path / "evil.duckdb", {"<b>evil</b>.jsonl": [*logs, EVIL]})
    id = ids(tmp_path / "evil.duckdb", "verdict = 'mismatch'")[0]
    with served(tmp_path / "evil.duckdb") as home:
        tab = chromium.new_page(viewport={"width": 1440, "height": 900})
        wrong = watch(tab, home)
        for name in PAGES:
            opened(tab, home, name, lang="en")
            assert tab.evaluate("window.evil") is None
        opened(tab, home, "rounds", lang="zh", round=id)
        tab.keyboard.press("End")
        assert tab.evaluate("window.evil") is None
        assert tab.locator(".viewer .player").first.inner_text() in (EVIL, "", "a/b?c#d")
        opened(tab, home, "payouts", lang="zh", case=id)
        assert tab.evaluate("window.evil") is None
        opened(tab, home, "data", lang="en")
        tab.locator(".listing tr.opens", has_text="not JSON").click()
        tab.get_by_test_id("stCode").wait_for()
        assert tab.get_by_test_id("stCode").inner_text().strip() == EVIL
        assert tab.evaluate("window.evil") is None
        assert not wrong
        tab.close()


def test_an_open_page_follows_a_load(chromium, tmp_path: Path) -> None:
    from browser import served, watch

    logs, db = sample_warehouse.logs(), tmp_path / "growing.duckdb"
    load(db, {})
    with served(db) as home:
        tab = chromium.new_page(locale="zh-CN")
        wrong = watch(tab, home)
        tab.goto(home)
        tab.get_by_text(i18n.words("zh")["state.empty"]).wait_for()
        load(db, {"log.jsonl": logs[:1]})
        tab.get_by_text(i18n.words("zh")["state.one"]).wait_for(timeout=20_000)
        load(db, {"more.jsonl": logs[:40]})
        tab.get_by_test_id("stMetricValue").first.get_by_text("40").wait_for(timeout=20_000)
        assert not wrong
        tab.close()
