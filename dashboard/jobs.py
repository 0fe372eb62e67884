"""Long work beside the pages: started once a key, seen by every page, with progress, and cancelled on request.

The key holds what the result hangs on (such as the digest of the data set), so a finished piece of work is its own
cache.  Work goes on when the page that asked for it is left.  Asked for again while it is being stopped, it begins once
the stopped one has ended.
"""

import threading
from collections.abc import Callable
from typing import Any

import streamlit as st

KEPT = 64  # finished pieces of work; the oldest are forgotten first
RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"


class Cancelled(Exception):
    """Raised inside work that is to end."""


class Job:
    """One piece of work; `value` may be read while it grows."""

    def __init__(self, value: Any = None) -> None:
        self.state = RUNNING
        self.done = self.total = 0  # total 0: not known yet
        self.note = ""  # what it is at
        self.value = value
        self.error: Exception | None = None
        self.thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def stopping(self) -> bool:
        """Whether it was told to end."""
        return self._stop.is_set()

    def step(self, done: int, total: int = 0, note: str = "") -> None:
        """Told by the work between its parts; raises Cancelled when it is to end."""
        self.done, self.total, self.note = done, total, note
        if self._stop.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ends the work at its next step."""
        self._stop.set()

    def run(self, work: Callable[["Job"], Any], after: threading.Thread | None = None) -> None:
        """Does the work once the thread `after` has ended; whatever it raises is kept for the page to show."""
        if after is not None:
            after.join()
        try:
            self.value = work(self)
            self.state = DONE
        except Cancelled:
            self.state = CANCELLED
        except Exception as error:  # noqa: BLE001 - the page tells it
            self.error, self.state = error, FAILED


Work = Callable[[Job], Any]
_lock = threading.Lock()  # sessions ask at the same time


@st.cache_resource(show_spinner=False)
def _jobs() -> dict[Any, Job]:
    return {}


def find(key: Any) -> Job | None:
    """The work of this key, running or finished; None when nobody asked for it."""
    return _jobs().get(key)


def forget(key: Any) -> None:
    """Drops the result of work that has ended."""
    with _lock:
        found = find(key)
        if found is not None and found.state != RUNNING:
            _jobs().pop(key, None)


def start(key: Any, work: Work, value: Any = None) -> Job:
    """The work of this key, begun now unless it runs or is done."""
    with _lock:
        known = _jobs()
        found = known.get(key)
        if found is not None and (found.state == DONE or found.state == RUNNING and not found.stopping):
            return found
        known.pop(key, None)
        for old in [key for key, job in known.items() if job.state != RUNNING][: max(len(known) - KEPT, 0)]:
            known.pop(old, None)
        known[key] = job = Job(value)
        after = found.thread if found is not None else None
        job.thread = threading.Thread(target=job.run, args=(work, after), name="job", daemon=True)
        job.thread.start()
        return job
