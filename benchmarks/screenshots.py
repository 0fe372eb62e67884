"""Screenshots of every page in both languages and themes: python benchmarks/screenshots.py FOLDER [DATA SET].

Without a data set, one of the tests' sample rounds.  For looking at: nothing is compared.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from browser import browser, served, settle, view, watch  # noqa: E402
from playwright.sync_api import Page  # noqa: E402
from sample_warehouse import build  # noqa: E402

from analytics import warehouse  # noqa: E402
from dashboard import i18n  # noqa: E402

PAGES = [path.stem for path in sorted((ROOT / "dashboard" / "page").glob("[a-z]*.py"))]
HEIGHT = "document.querySelector('[data-testid=stMain]').scrollHeight"


def views(db: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """What to look at: name → page and parameters."""
    found: dict[str, tuple[str, dict[str, str]]] = {
        name: (name, {}) for name in PAGES
    }
    with warehouse.connect(db) as connection:
        for name, condition in (
            ("violation", "verdict = 'violation'"),
            ("mismatch", "mispaid > 0"),
            ("kongs", "winners > 1"),
        ):
            rows = connection.execute(f"SELECT id FROM round_list WHERE {condition} LIMIT 1").fetchall()
            if rows:
                found[f"round-{name}"] = ("rounds", {"round": rows[0][0], "event": "99999"})
                found[f"round-{name}-middle"] = ("rounds", {"round": rows[0][0], "event": "24"})
    return found


def audited(page: Page, language: str) -> None:
    """Runs the audit where a page asks for it."""
    start = page.get_by_role("button", name=i18n.words(language)["fairness.start"])
    if start.count():
        start.click()
        page.locator(".listing, .stVegaLiteChart").first.wait_for(timeout=120_000)


def main(folder: Path, db: Path, widths: tuple[int, ...] = (1280, 800)) -> None:
    """Writes FOLDER/<view>-<language>-<theme>.png and says what went wrong on the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    with served(db) as home, browser() as chromium:
        for theme in ("light", "dark"):
            for width in widths:
                context = chromium.new_context(viewport={"width": width, "height": 1000}, color_scheme=theme)
                page = context.new_page()
                wrong = watch(page, home)
                for name, (where, parameters) in views(db).items():
                    for language in ("zh", "en"):
                        page.set_viewport_size({"width": width, "height": 1000})
                        page.goto(view(home, where, lang=language, **parameters))
                        settle(page)
                        if where == "fairness":
                            audited(page, language)
                        height, before = 1, 0
                        while height != before:  # until nothing more arrives
                            page.wait_for_timeout(1500)
                            before, height = height, page.evaluate(HEIGHT)
                        page.set_viewport_size({"width": width, "height": min(max(height, 800), 5000)})
                        page.wait_for_timeout(1000)
                        page.screenshot(path=folder / f"{name}-{language}-{theme}-{width}.png")
                print(theme, width, wrong or "nothing wrong")
                context.close()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(sys.argv[1]), build(Path(made) / "sample.duckdb"))
