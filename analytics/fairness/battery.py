"""The battery: which checks there are, and one run of all of them under the contract.

A family's file holds its checks and lists them in `CHECKS`; a check is a pure function `Tables → list[Result]` without
adjusted p-values, which are given here, over all of them together.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analytics import warehouse
from analytics.fairness import multiplicity, tables
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

# in the order of their checks
FILES = (
    "log_integrity",
    "shuffle",
    "deals",
    "drift",
    "compensation",
    "accounts",
    "net_results",
    "deal_ins",
    "transfers",
    "passed_wins",
    "seating",
    "third_player",
    "hidden",
    "timing",
    "controls",
)


SHUFFLE = tuple(range(7, 15))  # numbers of the checks of the family


class BatchError(Exception):
    """A second batch that can confirm nothing; the message says why."""


class Check(NamedTuple):
    """One check of the battery."""

    number: int
    name: str  # stable word
    tier: str  # the least that the log must hold, one of result.TIERS
    run: Callable[[Tables], list[Result]]


def checks() -> list[Check]:
    """All checks by number; a file may hold several of one number (sub-checks), in its order."""
    found = [check for file in FILES for check in import_module(f"analytics.fairness.{file}").CHECKS]
    return sorted(found, key=lambda check: check.number)


def results(of: Tables, only: Sequence[int] = (), step: Callable[[str], None] = lambda name: None) -> list[Result]:
    """The rows of all checks (or those with the numbers `only`), adjusted; step is told each check's name before."""
    rows: list[Result] = []
    for check in checks():
        if not only or check.number in only:
            step(check.name)
            rows += check.run(of)
    return multiplicity.adjusted(rows)


def run(
    db_path: str | Path, confirm: bool | str | Path = False, step: Callable[[str], None] = lambda name: None
) -> list[Result]:
    """The audit of a data set.

    confirm: what the shuffle fails in one half of the games is tested again, alone, in the other half; or, with the
    path of a second data set, what it fails in all games is tested again there.  Only what fails twice is called
    biased.  Everything else uses all rounds.  WarehouseError; BatchError when the second holds rounds of the first.
    """
    other = None if isinstance(confirm, bool) else confirm
    with warehouse.connect(db_path) as connection:
        if other is not None:
            apart(Tables(connection), other)
        rows = results(Tables(connection), step=step)
    if not confirm:
        return rows
    named = rows
    if other is None:
        with tables.half(db_path, 0) as first:
            named = results(Tables(first), SHUFFLE, step)
    named = [row for row in named if row.family == "shuffle" and row.status == "flagged"]
    with tables.half(db_path, 1) if other is None else warehouse.connect(other) as second:
        again = results(Tables(second), sorted({row.check for row in named}), step) if named else []
    kept = {(row.name, row.subject) for row in named}
    tested = [row for row in again if (row.name, row.subject) in kept and row.p is not None]
    confirmed = {
        (row.name, row.subject)
        for row, p in zip(tested, multiplicity.holm(np.array([row.p for row in tested], float)), strict=True)
        if p <= multiplicity.ALPHA
    }
    return [
        row.but(status="biased") if row.family == "shuffle" and (row.name, row.subject) in confirmed else row
        for row in rows
    ]


def apart(first: Tables, second_path: str | Path) -> None:
    """BatchError unless the second data set has rounds, and none of the first's: a test must fail again elsewhere."""
    query = "SELECT round_id FROM rounds ORDER BY round_id"
    with warehouse.connect(second_path) as connection:
        theirs = Tables(connection).columns(query)["round_id"]
    shared = len(np.intersect1d(first.columns(query)["round_id"], theirs))
    if shared or not len(theirs):
        what = f"holds {shared:,} rounds of the first data set" if shared else "holds no rounds"
        raise BatchError(f"{second_path}: {what}; a second batch to confirm with must hold other rounds")
