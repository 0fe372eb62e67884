"""The viewer, the first run and the audit in a real browser: keys, overlays, values, files to save, logs to upload."""

import json
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest
from browser_session import ids, opened

from analytics import warehouse
from dashboard import library

pytestmark = pytest.mark.browser


def saved(page, name: str) -> str:
    """What a button of the viewer saves."""
    with page.expect_download() as told:
        page.locator(".saves button", has_text=name).click()
    return Path(told.value.path()).read_text(encoding="utf-8")


def shown(page, home: str, **address: str):
    """The viewer of a round."""
    opened(page, home, "rounds", **{"set": "played", **address})
    viewer = page.locator(".viewer")
    viewer.wait_for()
    return viewer


FOCUSED = """() => {
    let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return [at?.getAttribute('aria-label') ?? '', at?.getAttribute('href') ?? ''];
}"""


def test_a_round_step_by_step(page, home: str, sets: Path) -> None:
    id = ids(sets, "list_contains(codes, 'tile_not_held') AND winners = 1")[0]
    viewer = shown(page, home, set="many", lang="en", round=id, event="7")
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


def test_wide_and_narrow(page, home: str, sets: Path) -> None:
    for width in (1920, 1280, 760):
        page.set_viewport_size({"width": width, "height": 900})
        shown(page, home, set="many", lang="zh", round=ids(sets)[0], event="30")
        over = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - "
                             "document.querySelector('[data-testid=stMain]').clientWidth")  # fmt: skip
        assert over <= 0


def test_keys_overlays_and_what_a_step_takes(page, home: str, sets: Path) -> None:
    id = ids(sets, "revealed > 0 AND winners = 1", "played")[0]
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
    viewer.focus()  # on a button the space bar is the button's
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("/event=1$|event=1&/.test(location.search)", timeout=15_000)
    page.keyboard.press(" ")


def test_a_round_can_be_saved(page, home: str, sets: Path) -> None:
    id = ids(sets, "winners = 1", "played")[0]
    shown(page, home, lang="en", round=id, event="9")
    page.get_by_role("button", name="save", exact=True).click()
    line = json.loads(saved(page, "log line"))
    assert line["kwx"] == 1 and f"simulated/{line['game']}/{line['round']}" == id
    assert "wins" in saved(page, "text")
    picture = xml.fromstring(saved(page, "SVG"))
    assert picture.tag.endswith("svg") and len(picture.findall(".//{*}use")) > 40


def test_decisions_are_played_out(page, home: str, sets: Path) -> None:
    with warehouse.connect(sets / "played" / library.DB) as connection:
        shortest = "SELECT game, round FROM rounds WHERE events_count >= 20 ORDER BY events_count, game LIMIT 1"
        game, number = connection.execute(shortest).fetchall()[0]
    viewer = shown(page, home, lang="en", round=f"simulated/{game}/{number}", pov="0")
    page.keyboard.press("ArrowDown")
    viewer.get_by_role("button", name="Play out the decisions of seat 0").click()
    viewer.get_by_text("decisions played out").wait_for(timeout=90_000)
    at = viewer.get_attribute("data-event")
    assert viewer.locator(".option .value").count() >= 2 and viewer.locator(".chip.best").count() >= 1
    assert "kwx's own policy" in viewer.locator(".policy").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert viewer.get_attribute("data-event") == at


def test_the_keyboard_alone_reaches_everything(page, home: str) -> None:
    opened(page, home, "rounds", lang="en", set="played")
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


def test_the_audit_runs_and_its_pictures_draw(page, home: str) -> None:
    from browser import drawn, settle, view

    opened(page, home, "fairness", lang="zh", set="played")
    page.get_by_role("button", name="开始审计").click()
    page.locator(".listing tbody tr").first.wait_for(timeout=90_000)
    settle(page)
    assert drawn(page) == 5  # quantiles, kinds by place, e-processes, changes, dealt hands
    page.locator(".listing tbody a", has_text="结算复核").click()
    page.wait_for_url("**check=3*")
    page.get_by_text("这项检查的全部结果").first.wait_for(state="attached")
    page.goto(view(home, "together", lang="en", set="played"))
    settle(page)
    page.locator(".listing tbody a", has_text="u1 – u2").wait_for()
    assert drawn(page) == 1  # the web of pairs
    page.locator(".listing tbody a", has_text="u1 – u2").click()
    page.wait_for_url("**a=u1&b=u2*")
    page.get_by_test_id("stMetricValue").first.wait_for()
    settle(page)
    assert drawn(page) == 3  # and what went over, and deal-ins against what was to be expected


def test_a_first_run_takes_logs_from_the_browser(page, home: str, sets: Path, tmp_path: Path) -> None:
    from browser import settle

    evil = tmp_path / "<b>evil & 'log.jsonl"
    lines = (sets / "played" / "log.jsonl").read_text(encoding="utf-8").splitlines()[:6]
    evil.write_text("\n".join([*lines, "<script>window.evil=1</script>"]) + "\n", encoding="utf-8")
    beside, before = sorted(sets.parent.iterdir()), set(sets.iterdir())
    page.goto(home)
    settle(page)
    page.get_by_text("No data set is chosen").wait_for()
    page.get_by_role("button", name="Make the demo").wait_for()
    page.locator("input[type=file]").set_input_files(str(evil))
    page.get_by_role("button", name="Read them").click()
    page.get_by_test_id("stMetricValue").first.get_by_text("6", exact=True).wait_for(timeout=60_000)
    assert "set=upload-" in page.url
    page.get_by_test_id("stSidebarNav").get_by_text("Data quality").click()
    page.locator(".listing tr", has_text="window.evil").first.wait_for()
    assert "set=upload-" in page.url and page.evaluate("window.evil") is None
    assert sorted(sets.parent.iterdir()) == beside
    assert [path.name[:7] for path in set(sets.iterdir()) - before] == ["upload-"]
