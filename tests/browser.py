"""A served dashboard and a real browser, for the tests and the screenshots."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

from playwright.sync_api import Browser, Page, sync_playwright

from dashboard.serve import free_port

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
STILL = 250  # milliseconds in which nothing changes its size any more
# Connected, the script has run, nothing on the page is older than that, and what it made has found its size.
SETTLED = """(still) => {
    const app = document.querySelector('[data-testid=stApp]'), main = document.querySelector('[data-testid=stMain]');
    const done = app?.dataset.testConnectionState === 'CONNECTED' && app.dataset.testScriptState === 'notRunning'
        && main?.querySelector('h1, h2, h3') && !document.querySelector('[data-stale=true], .stSkeleton');
    const undrawn = [...document.querySelectorAll('[data-testid=stVegaLiteChart]')]
        .some((chart) => chart.offsetParent && !chart.querySelector('canvas, svg'));
    const size = done && !undrawn ? `${main.scrollWidth} ${main.scrollHeight} ${location}` : '';
    const now = performance.now();
    if (window.kwxSize?.[0] !== size) window.kwxSize = [size, now];
    return size && now - window.kwxSize[1] >= still;
}"""


@contextmanager
def served(db: Path) -> Iterator[str]:
    """`kwx dashboard` on a data set, started from elsewhere; its address.  A folder: without one, started there."""
    kwx = Path(__file__).parent.parent / "kwx.py"
    port = free_port(0)
    named, where = ([], db) if db.is_dir() else (["--db", str(db.absolute())], db.parent)
    server = subprocess.Popen(
        [sys.executable, str(kwx), "dashboard", *named, "--port", str(port)],
        cwd=where, env={**os.environ, "PYTHONPATH": ""}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(600):
            time.sleep(0.1)
            assert server.poll() is None, "the server ended"
            try:
                if urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5).status == 200:
                    break
            except OSError:
                continue
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


_running: list[Browser] = []  # at most one: Playwright runs once a process


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's chromium; the one that runs already, if one does."""
    if _running:
        yield _running[0]
        return
    with sync_playwright() as playwright:
        _running.append(playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS))
        yield _running[0]
        _running.pop().close()


def watch(page: Page, home: str) -> list[str]:
    """A list that fills with whatever goes wrong on a page: errors, and requests to anywhere else."""
    wrong: list[str] = []

    def message(text: str, url: str) -> None:
        # Below a page's own path Streamlit asks for its host settings, finds none, and goes on.
        if not ("404" in text and "/_stcore/" in url):
            wrong.append(f"{text} {url}")

    def request(url: str) -> None:
        if urlsplit(url).scheme not in ("data", "blob") and urlsplit(url).netloc != urlsplit(home).netloc:
            wrong.append(f"request to {url}")

    page.on("console", lambda said: said.type == "error" and message(said.text, said.location.get("url", "")))
    page.on("pageerror", lambda error: wrong.append(f"page error {error}"))
    page.on("request", lambda asked: request(asked.url))
    return wrong


def settle(page: Page) -> None:
    """Waits until the script has run and what it made stands."""
    page.wait_for_function(SETTLED, arg=STILL, timeout=60_000)


def drawn(page: Page) -> int:
    """Waits until every picture that can be seen is drawn; how many there are.  Those in closed tabs are not."""
    found = [chart for chart in page.get_by_test_id("stVegaLiteChart").all() if chart.is_visible()]
    for chart in found:
        chart.scroll_into_view_if_needed()
        chart.locator("canvas, svg").first.wait_for()
    return len(found)


def view(home: str, name: str, **parameters: str) -> str:
    """The address of a view; the overview is the home page."""
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in parameters.items())
    return f"{home}/{name.removeprefix('overview')}?{query}"
