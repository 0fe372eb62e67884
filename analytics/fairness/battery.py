"""The battery: which checks there are, and one run of all of them under the contract.

A family's file holds its checks and lists them in `CHECKS`; a check is a pure function `Tables → list[Result]` without
adjusted p-values, which are given here, over all of them together.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

import duckdb
import pyarrow as pa

from analytics.fairness import multiplicity, result
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables

FILES: tuple[str, ...] = (
    "log_integrity",
    "shuffle",
    "compensation",
    "accounts",
)  # the families' files, in the order of their checks


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


def results(tables: Tables, only: Sequence[int] = (), step: Callable[[str], None] = lambda name: None) -> list[Result]:
    """The rows of all checks (or those with the numbers `only`), adjusted; step is told each check's name before."""
    rows: list[Result] = []
    for check in checks():
        if not only or check.number in only:
            step(check.name)
            rows += check.run(tables)
    return multiplicity.adjusted(rows)


def run(connection: duckdb.DuckDBPyConnection, only: Sequence[int] = ()) -> pa.Table:
    """The audit of a data set as a table of result.ROW."""
    return result.table(results(Tables(connection), only))


def verdicts(rows: Sequence[Result]) -> Iterator[tuple[str, int]]:
    """How many rows have each status, in the order of result.STATUSES."""
    for status in result.STATUSES:
        yield status, sum(row.status == status for row in rows)
