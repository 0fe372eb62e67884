"""Pages of statistics in a real browser: narrow and dark, what marks open by the keyboard, numbers saved."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Page, expect

from dashboard import i18n

pytestmark = pytest.mark.browser

PAGES = ("overview", "fans", "reveal", "pace", "seats", "player", "payouts", "data", "methods")


@pytest.fixture(scope="module")
def home(measured: duckdb.DuckDBPyConnection) -> Iterator[str]:
    from browser import served

    with served(
        Path(measured.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()[0][0])
    ) as at:
        yield at


@pytest.fixture(scope="module")
def dark(home: str) -> Iterator[Page]:
    """A narrow page in the dark; whatever goes wrong on it fails the last test."""
    from browser import browser, watch

    with browser() as chromium:
        tab = chromium.new_page(viewport={"width": 800, "height": 1000}, color_scheme="dark")
        wrong = watch(tab, home)
        yield tab
        assert not wrong


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_narrow_and_dark(dark: Page, home: str, language: str) -> None:
    from browser import settle, view

    for name in PAGES:
        dark.goto(view(home, name, lang=language))
        settle(dark)
        expect(dark.locator("h1")).to_have_text(i18n.words(language)[f"page.{name}"])
        assert dark.get_by_test_id("stException").count() == 0
        over = dark.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - "
                             "document.querySelector('[data-testid=stMain]').clientWidth")  # fmt: skip
        assert over <= 0, name


def test_the_keyboard_opens_what_a_mark_opens(dark: Page, home: str) -> None:
    from browser import settle, view

    dark.goto(view(home, "seats", lang="en"))
    settle(dark)
    dark.locator("summary").first.focus()
    dark.keyboard.press("Enter")
    link = dark.locator("details a[href*='behind=relative']").first
    link.wait_for()
    for _ in range(30):
        dark.keyboard.press("Tab")
        if link.evaluate("e => e === document.activeElement"):
            break
    assert link.evaluate("e => e === document.activeElement && getComputedStyle(e).outlineStyle") == "solid"
    dark.keyboard.press("Enter")
    dark.wait_for_url("**/rounds?*behind=relative*")
    settle(dark)
    dark.get_by_text("Paid: dealer → next").wait_for()
    dark.locator(".listing tbody a").first.wait_for()


def test_numbers_are_saved(dark: Page, home: str) -> None:
    from browser import settle, view

    dark.goto(view(home, "seats", lang="en"))
    settle(dark)
    dark.locator("summary").first.click()
    button = dark.get_by_role("button", name="Save CSV").first
    button.wait_for()
    settle(dark)  # a click on a button that is drawn anew at that moment is lost
    with dark.expect_download() as saved:
        button.click()
    assert saved.value.suggested_filename == "kwx-flows.csv"
    assert len(Path(saved.value.path()).read_text(encoding="utf-8").splitlines()) == 7
