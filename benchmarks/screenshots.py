"""Screenshots of every page in both languages and themes: python benchmarks/screenshots.py FOLDER [DATA SET].

Without a data set, one of the tests' sample rounds.  For looking at: nothing is compared.

    python benchmarks/screenshots.py --docs

makes the pictures of the README and the guides anew, in docs/pictures/, from what `kwx demo` loads.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from browser import browser, served, settle, view, watch  # noqa: E402
from PIL import Image  # noqa: E402
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
    told = page.locator(".listing, .stVegaLiteChart").first
    start.or_(told).first.wait_for(timeout=30_000)
    if start.count():
        start.click()
    told.wait_for(timeout=240_000)


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


# The pictures of the guides: page and parameters, the heading that each begins at (None: the whole window), its height.
GUIDES: dict[str, tuple[str, dict[str, str], str | None, int]] = {
    "overview": ("overview", {}, None, 900),
    "fans": ("fans", {}, None, 860),
    "pursuit": ("fans", {}, "fans.funnel", 640),
    "fairness": ("fairness", {}, None, 980),
    "player": ("player", {"player": "u21"}, "player.title", 900),
    "viewer": ("rounds", {"round": "simulated/hubei-adea-20260504-23/7", "event": "14"}, None, 860),
}
LARGEST = 150_000  # bytes of a picture


def small(png: bytes) -> bytes:
    """The same picture in 128 colours."""
    written = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(128, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


def reviewed(page: Page) -> None:
    """Plays out the decisions of the seat that the viewer shows."""
    page.get_by_role("button", name=i18n.words("en")["viewer.review_ask"].partition("{")[0]).click()
    running = page.locator(".running")
    running.wait_for()
    running.wait_for(state="detached", timeout=240_000)


def guides(folder: Path) -> None:
    """Writes FOLDER/<name>.png for each of GUIDES, in English, light."""
    folder.mkdir(parents=True, exist_ok=True)
    words = i18n.words("en")
    with tempfile.TemporaryDirectory() as made:
        demo = [sys.executable, str(ROOT / "kwx.py"), "demo", "--no-serve"]
        subprocess.run(demo, cwd=made, check=True, stdout=subprocess.DEVNULL)
        with served(Path(made) / "kwx-demo" / "kwx.duckdb") as home, browser() as chromium:
            page = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light").new_page()
            wrong = watch(page, home)
            for name, (where, parameters, heading, height) in GUIDES.items():
                page.set_viewport_size({"width": 1280, "height": height if heading is None else 4500})
                page.goto(view(home, where, lang="en", **parameters))
                settle(page)
                if where == "fairness":
                    audited(page, "en")
                if where == "rounds":
                    reviewed(page)
                page.mouse.move(1270, 5)
                page.wait_for_timeout(4000)
                clip = None
                if heading is not None:
                    box = page.get_by_role("heading", name=words[heading], exact=True).bounding_box()
                    clip = {"x": 290, "y": box["y"], "width": 970, "height": height}
                png = small(page.screenshot(clip=clip))
                assert len(png) <= LARGEST, f"{name}: {len(png):,} bytes"
                (folder / f"{name}.png").write_bytes(png)
            print(wrong or "nothing wrong")


if __name__ == "__main__":
    if sys.argv[1:] == ["--docs"]:
        guides(ROOT / "docs" / "pictures")
    elif len(sys.argv) > 2:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(sys.argv[1]), build(Path(made) / "sample.duckdb"))
