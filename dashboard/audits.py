"""The audit of the data set on show: run on request beside the page, kept by what the data set holds."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from analytics import report, warehouse
from analytics.fairness import battery, pictures
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables
from analytics.report import Report
from dashboard import dataset, jobs
from dashboard.screen import t

POLL = 0.7  # seconds between two looks at an audit that goes on
WORST = ("escalated", "biased", "flagged", "review", "passed", "not_run", "control")  # most serious first


@dataclass(frozen=True)
class Audit:
    """What an audit found, and the pictures of it (analytics.fairness.pictures)."""

    report: Report
    pictures: dict[str, dict[str, list[Any]]]


def key() -> tuple[Any, ...]:
    """What the audit of this data set is kept under: the name of its file holds the digest of its rows."""
    stamp = dataset.stamp()
    return "audit", Path(stamp[0]).name if stamp else "", stamp


def run(job: jobs.Job, path: str) -> Audit:
    """Runs the battery; told check by check, the note being the key of what is at work."""
    numbers = {check.name: check.number for check in battery.checks()}
    total = len(battery.checks()) + 1
    done = 0

    def step(name: str) -> None:
        nonlocal done
        job.step(done, total, f"check.{numbers[name]}")
        done += 1

    made = report.make(path, step=step)
    job.step(total - 1, total, "fairness.drawing")
    with warehouse.connect(path) as connection:
        return Audit(made, pictures.all_of(Tables(connection), made.rows))


def ask() -> Audit | None:
    """The audit, once there is one; until then draws what starts it, how far it is, or what stopped it."""
    mine, path = key(), dataset.path()
    job = jobs.find(mine)
    if job is not None and job.state == jobs.DONE:
        return job.value
    if job is None or job.state != jobs.RUNNING:
        st.write(t("fairness.ask"))
        st.button(t("fairness.start"), type="primary", on_click=jobs.start, args=(mine, lambda job: run(job, path)))
        if job is not None:
            st.write(t("fairness.cancelled") if job.state == jobs.CANCELLED else t("fairness.failed"))
            if job.error is not None:
                st.code(str(job.error), language=None)
        return None

    def look() -> None:
        if job.state != jobs.RUNNING:
            st.rerun()
        told = t("fairness.running", done=job.done, total=job.total) if job.total else t("start.begins")
        st.progress(job.done / max(job.total, 1), f"{told} · {t(job.note)}" if job.note else told)
        st.button(t("fairness.cancel"), on_click=job.cancel)

    st.fragment(look, run_every=POLL)()
    return None


def by_check(rows: list[Result]) -> dict[int, list[Result]]:
    """Rows of each check, the most serious first, then the smallest p."""
    found: dict[int, list[Result]] = {}
    for row in rows:
        found.setdefault(row.check, []).append(row)
    for mine in found.values():
        mine.sort(key=lambda row: (WORST.index(row.status), _p(row), row.name, row.subject or ""))
    return dict(sorted(found.items()))


def _p(row: Result) -> float:
    p = row.p_adjusted if row.p_adjusted is not None else row.p
    return 2.0 if p is None else p
