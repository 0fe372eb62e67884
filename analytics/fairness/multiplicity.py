"""Many tests at once: Holm for the shuffle, Benjamini-Hochberg for accounts and pairs, e-BH for what is monitored.

Source: fairness.md, Contract 2-4.  The p-values must be valid (P(p ≤ α) ≤ α for honest data) each by itself.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control

from analytics.fairness.result import Result

ALPHA = 0.001  # family-wise, of all global shuffle tests together
Q = 0.01  # false discovery rate among accounts and pairs
ESCALATE = 3e-7  # about 5 sigma, before adjustment


def holm(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values: rejecting those ≤ α keeps the chance of any false rejection ≤ α, however they depend."""
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order])
    out = np.empty(len(p))
    out[order] = np.maximum.accumulate(steps)
    return out


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Adjusted p-values: rejecting those ≤ q keeps the expected share of false ones ≤ q."""
    return false_discovery_control(p, method="bh") if len(p) else p


def e_benjamini_hochberg(e: np.ndarray, q: float = Q) -> np.ndarray:
    """Which e-values are rejected at false discovery rate q, under any dependence; bool[n]."""
    order = np.argsort(-e, kind="stable")
    rank = np.arange(1, len(e) + 1)
    passing = np.flatnonzero(e[order] * rank * q >= len(e))
    out = np.zeros(len(e), bool)
    out[order[: passing[-1] + 1 if len(passing) else 0]] = True
    return out


def adjusted(results: Sequence[Result]) -> list[Result]:
    """The results with adjusted p-values and the status that the contract gives them.

    shuffle: Holm over all tests of the family.  account, pair: Benjamini-Hochberg over the subjects of each check, and
    `escalated` where a subject that is to be reviewed has p < ESCALATE and is under review by a second check too.  The
    status of deterministic checks (family log) and of controls stays as the check set it.
    """
    out = list(results)
    shuffle = [at for at, row in enumerate(out) if row.family == "shuffle" and row.p is not None]
    for at, p in zip(shuffle, holm(np.array([out[at].p for at in shuffle], float)), strict=True):
        out[at] = out[at].but(p_adjusted=float(p), status="flagged" if p <= ALPHA else "passed")
    tests: dict[tuple[int, str], list[int]] = {}
    for at, row in enumerate(out):
        if row.family in ("account", "pair") and row.p is not None:
            tests.setdefault((row.check, row.name), []).append(at)
    for places in tests.values():
        values = benjamini_hochberg(np.array([out[at].p for at in places], float))
        for at, p in zip(places, values, strict=True):
            out[at] = out[at].but(p_adjusted=float(p), status="review" if p <= Q else "passed")
    return escalated(out)


def escalated(results: list[Result]) -> list[Result]:
    """Raises `review` to `escalated` where two checks of different kinds agree on an account and one is beyond 5 sigma.

    A pair counts for both of its accounts, "a → b".
    """
    kinds: dict[str, set[int]] = {}
    for row in results:
        if row.status == "review":
            for account in accounts(row):
                kinds.setdefault(account, set()).add(row.check)
    return [
        row.but(status="escalated")
        if row.status == "review" and row.p < ESCALATE and any(len(kinds[one]) > 1 for one in accounts(row))
        else row
        for row in results
    ]


def accounts(row: Result) -> list[str]:
    """The accounts that a row is about."""
    return (row.subject or "").split(" → ") if row.scope in ("account", "pair") else []
