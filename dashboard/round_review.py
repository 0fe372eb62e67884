"""A seat's decisions of one round, played out beside the page for the viewer (docs/review.md)."""

from collections.abc import Mapping
from typing import Any

from dashboard import dataset, jobs
from replay.review import ROLLOUTS, Reviewer, describe, prepare

Tables = Mapping[str, list[dict[str, Any]]]
SEATS = (0, 1, 2)


def _key(id: str, seat: int) -> tuple[Any, ...]:
    return "review", dataset.stamp(), id, seat


def act(id: str, tables: Tables, asked: str) -> None:
    """Does what the viewer asked for, "start 1" or "stop 1"."""
    verb, _, number = asked.partition(" ")
    seat = int(number) if number in ("0", "1", "2") else 0
    if verb == "start":
        jobs.start(_key(id, seat), lambda job: _decisions(job, tables, seat), [])
    elif (job := jobs.find(_key(id, seat))) is not None:
        job.cancel()


def known(id: str) -> dict[str, dict[str, Any]]:
    """By seat what has been asked for: state, done, total, error, decisions so far (review.describe)."""
    found = {seat: jobs.find(_key(id, seat)) for seat in SEATS}
    return {
        str(seat): {
            "state": job.state, "done": job.done, "total": job.total, "decisions": list(job.value or []),
            "error": str(job.error or ""),
        }
        for seat, job in found.items() if job is not None
    }  # fmt: skip


def running(id: str) -> bool:
    """Whether anything of this round is being played out."""
    return any(one["state"] == jobs.RUNNING for one in known(id).values())


def _decisions(job: jobs.Job, tables: Tables, seat: int) -> list[dict[str, Any]]:
    """All decisions of the seat, one after the other; those that are there already can be shown."""
    seats = sorted(tables["seats"], key=lambda row: row["seat"])
    one = prepare(tables["rounds"][0], [row["piao"] for row in seats])
    reviewer = Reviewer()
    found = reviewer.find(one, 1 << seat)
    for done, (decision, options) in enumerate(found):
        job.step(done, len(found))
        job.value.append(describe(one, decision, options, reviewer.values(one, decision, options, ROLLOUTS)))
    return job.value
