"""The dashboard in a real browser: every page, filters, links, the list, hostile names, a data set that grows."""

from pathlib import Path

import pytest
import sample_warehouse
from browser_session import EVIL, ids, load, opened
from playwright.sync_api import expect

from dashboard import i18n, library

pytestmark = pytest.mark.browser

PAGES = sorted(path.stem for path in (Path(i18n.__file__).parent.parent / "page").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", PAGES)
def test_pages_open_and_show_names_as_text(page, home: str, name: str) -> None:
    from browser import drawn

    language = list(i18n.LANGUAGES)[PAGES.index(name) % 2]  # the tests without a browser see each page in both
    opened(page, home, name, lang=language)
    words = i18n.words(language)
    assert page.locator("h1").inner_text() == words["start.title" if name == "start" else f"page.{name}"]
    drawn(page)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, "the page is wider than the window"


def test_language_and_navigation(page, home: str) -> None:
    opened(page, home, "rounds", lang="en", verdict="violation")
    page.get_by_text("中文", exact=True).click()
    page.wait_for_selector("h1:has-text('牌谱')")
    assert "lang=zh" in page.url and "verdict=violation" in page.url
    page.get_by_test_id("stSidebarNav").get_by_text("结算异常").click()
    page.wait_for_selector("h1:has-text('结算异常')")
    page.wait_for_url("**/payouts?*lang=zh*")
    assert "set=many" in page.url and "verdict" not in page.url
    page.reload()
    page.wait_for_selector("h1:has-text('结算异常')")


def test_filter_then_open_a_round_and_come_back(page, home: str, sets: Path) -> None:
    violated = ids(sets, "verdict = 'violation'")
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


def test_links_lead_to_what_is_behind_a_number(page, home: str, sets: Path) -> None:
    opened(page, home, "overview", lang="en")
    page.get_by_text("Show rounds").nth(2).click()
    page.wait_for_url("**/rounds?*verdict=violation*")
    violated = len(ids(sets, "verdict = 'violation'"))
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


def test_text_from_logs_is_never_markup(page, home: str, sets: Path) -> None:
    """What the pages show at their first opening, test_pages_open… sees; here a round, a payout and a raw record."""
    id = ids(sets, "verdict = 'mismatch' AND site LIKE '<img%'")[0]
    opened(page, home, "rounds", lang="zh", round=id)
    page.keyboard.press("End")
    names = page.locator(".viewer .panel .player").all_inner_texts()
    assert len(names) == 3 and set(names) <= {EVIL, "", "a/b?c#d"}
    assert page.evaluate("window.evil") is None
    opened(page, home, "payouts", lang="zh", case=id)
    assert page.evaluate("window.evil") is None
    opened(page, home, "data", lang="en")
    page.locator(".listing tr.opens", has_text="<img").first.click()
    page.get_by_test_id("stCode").wait_for()
    assert page.get_by_test_id("stCode").inner_text().strip() == EVIL


def test_an_open_page_follows_a_load(page, home: str, sets: Path) -> None:
    logs, db = sample_warehouse.logs(), sets / "growing" / library.DB
    words = i18n.words("zh")
    load(db, {})
    opened(page, home, "overview", lang="zh", set="growing")
    page.get_by_text(words["state.empty"]).wait_for()
    load(db, {"log.jsonl": logs[:1]})
    page.get_by_text(words["state.one"]).wait_for(timeout=30_000)
    load(db, {"more.jsonl": logs[:40]})
    page.get_by_test_id("stMetricValue").first.get_by_text("40").wait_for(timeout=30_000)
