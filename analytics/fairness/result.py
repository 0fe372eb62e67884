"""What a check reports: one row for each scope that it looked at, and the words that stand in it.

A row says on how many cases the check ran, what it found, and how small an effect it would have found; a check that
could not run is a row of its own with the reason, and never counts as passed.  Source: fairness.md, Contract 5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

FAMILIES = ("log", "shuffle", "account", "pair", "control")
SCOPES = ("global", "seat", "ruleset", "build", "site", "account", "pair")
TIERS = ("T1", "T2", "T3")
# flagged: a fault of the log, or a shuffle that fails its test; biased: it failed again on rounds of its own; review,
# escalated: an account or pair for a person to look at; noted: a fact about a pair that honest friends share, which
# counts beside other checks and not alone; control: a naive test that honest players fail, shown for its
# lesson; not_run: see `why`.
STATUSES = ("passed", "flagged", "biased", "review", "escalated", "noted", "control", "not_run")
WHY = (
    "no_rounds",  # nothing of what the check looks at
    "too_few",  # `needed` cases would do
    "tier",  # the log does not hold what the check needs: `tier`
    "no_times",
    "no_commitment",
    "one_account",  # nothing to compare with
    "one_build",
    "no_build",
    "no_stakes",
)
POWER = 0.9  # at which `detectable` is stated

ROW = pa.schema(
    [
        ("check", pa.int8()),  # 1-24; 0: a control
        ("name", pa.string()),  # stable word; its texts are in the dashboard's language files and in docs/audit.md
        ("family", pa.string()),
        ("scope", pa.string()),
        (
            "subject",
            pa.string(),
        ),  # role at the table, ruleset id, build, account, or "account → account"; null for global
        ("tier", pa.string()),  # what the log must hold
        ("status", pa.string()),
        ("n", pa.int64()),
        ("unit", pa.string()),  # of n: rounds, draws, deals, …
        ("statistic", pa.float64()),
        ("effect", pa.float64()),
        ("effect_unit", pa.string()),
        ("low", pa.float64()),  # 95 % interval of the effect
        ("high", pa.float64()),
        ("p", pa.float64()),  # two-sided unless docs/audit.md says otherwise
        ("p_adjusted", pa.float64()),
        ("e", pa.float64()),  # e-value, where the check has one
        ("power", pa.float64()),  # at this n, to find the effect that the check is planned for
        ("detectable", pa.float64()),  # smallest effect found with 90 % power at this n, in effect_unit
        ("needed", pa.int64()),  # n for 90 % power at the planned effect
        ("why", pa.string()),  # reason of not_run, one of WHY
        ("note", pa.string()),  # further facts in numbers and codes, canonical JSON
        ("evidence", pa.list_(pa.uint64())),  # round_id of the rounds behind it, at most EVIDENCE, most telling first
    ]
)
EVIDENCE = 50


@dataclass(frozen=True)
class Result:
    """One row of ROW; what a check leaves out is null."""

    check: int
    name: str
    family: str
    scope: str = "global"
    subject: str | None = None
    tier: str = "T1"
    status: str = "passed"
    n: int = 0
    unit: str = "rounds"
    statistic: float | None = None
    effect: float | None = None
    effect_unit: str | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    e: float | None = None
    power: float | None = None
    detectable: float | None = None
    needed: int | None = None
    why: str | None = None
    note: str | None = None
    evidence: Sequence[int] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        for value, words in (
            (self.family, FAMILIES),
            (self.scope, SCOPES),
            (self.tier, TIERS),
            (self.status, STATUSES),
        ):
            if value not in words:
                raise ValueError(f"{value!r}: expected one of {', '.join(words)}")
        if (self.status == "not_run") != (self.why is not None) or self.why not in (None, *WHY):
            raise ValueError(f"check {self.check}: status {self.status} with why {self.why}")

    def but(self, **changes: Any) -> "Result":
        """The row with some fields changed."""
        return replace(self, **changes)

    def not_run(self, why: str, **more: Any) -> "Result":
        """The row of a check that could not run."""
        return replace(self, status="not_run", why=why, **more)


def ordered(results: Iterable[Result]) -> list[Result]:
    """Rows by check, name, scope, subject."""
    return sorted(results, key=lambda row: (row.check, row.name, SCOPES.index(row.scope), row.subject or ""))


def table(results: Iterable[Result]) -> pa.Table:
    """Rows of ROW in their order; evidence cut to EVIDENCE."""
    rows = ordered(results)
    columns = {name: [getattr(row, name) for row in rows] for name in ROW.names}
    columns["evidence"] = [[int(one) for one in row.evidence[:EVIDENCE]] for row in rows]
    return pa.table(columns, schema=ROW)
