"""Many tests at once: Holm for the shuffle, Benjamini-Hochberg for accounts and pairs, e-BH for what is monitored.

Source: fairness.md, Contract 2-4.  The p-values must be valid (P(p ≤ α) ≤ α for honest data) each by itself.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control

from analytics.fairness.result import Result

ALPHA = 0.001  # family-wise, of all global shuffle tests together
Q = 0.01  # false discovery rate among accounts and pairs
ESCALATE = 3e-7  # about 5 sigma, before adjustment
# Checks and rows that count the same draws: one of them doesn't confirm another.
DRAWS = (15, 16, 17, "after_calls")
FACTS = (21,)  # checks that say what honest friends do too: never a reason for review by themselves
TO, WITH = " → ", " ↔ "  # between the accounts of an ordered and an unordered pair


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
    `escalated` where a subject that is to be reviewed has p < ESCALATE and is under review by a second check too.  A
    check of pairs that does not show all that it tested has adjusted its p-values, and they stay.  The status of
    deterministic checks (family log) and of controls stays as the check set it.
    """
    out = list(results)
    shuffle = [at for at, row in enumerate(out) if row.family == "shuffle" and row.p is not None]
    for at, p in zip(shuffle, holm(np.array([out[at].p for at in shuffle], float)), strict=True):
        out[at] = out[at].but(p_adjusted=float(p), status="flagged" if p <= ALPHA else "passed")
    tests: dict[tuple[int, str], list[int]] = {}
    for at, row in enumerate(out):
        if row.family == "pair" and row.p_adjusted is not None:
            out[at] = row.but(status=found(row) if row.p_adjusted <= Q else "passed")
        elif row.family in ("account", "pair") and row.p is not None:
            tests.setdefault((row.check, row.name), []).append(at)
    for places in tests.values():
        values = benjamini_hochberg(np.array([out[at].p for at in places], float))
        for at, p in zip(places, values, strict=True):
            out[at] = out[at].but(p_adjusted=float(p), status=found(out[at]) if p <= Q else "passed")
    return escalated(out)


def found(row: Result) -> str:
    """What a row becomes whose adjusted p-value is at most Q."""
    return "noted" if row.check in FACTS else "review"


def escalated(results: list[Result]) -> list[Result]:
    """Raises `review` to `escalated` where one check is beyond 5 sigma and one of another kind agrees.

    Checks of different numbers are of different kinds, but for DRAWS, which are all of one.
    About an account agree other checks of it, and of pairs that it is in; about a pair, other checks of the same pair
    and of either account.  What is only noted counts for its own pair, as a second kind and never as the first.
    """
    alone: dict[str, set[int]] = defaultdict(set)
    within: dict[str, set[int]] = defaultdict(set)
    pairs: dict[frozenset[str], set[int]] = defaultdict(set)
    for row in results:
        who = accounts(row)
        if row.status in ("review", "noted") and row.scope == "pair" and who:
            pairs[frozenset(who)].add(kind(row))
        for account in who if row.status == "review" else ():
            (alone if row.scope == "account" else within)[account].add(kind(row))

    def agreeing(row: Result) -> set[int]:
        who = accounts(row)
        if not who:
            return set()
        found = set().union(*(alone[one] for one in who))
        return (found | (pairs[frozenset(who)] if row.scope == "pair" else within[who[0]])) - {kind(row)}

    return [
        row.but(status="escalated") if row.status == "review" and row.p < ESCALATE and agreeing(row) else row
        for row in results
    ]


def kind(row: Result) -> int:
    """What a row's evidence is made of: the number of its check, or of the first that counts the same."""
    return 15 if row.check in DRAWS or row.name in DRAWS else row.check


def accounts(row: Result) -> list[str]:
    """The accounts that a row is about.

    Of a pair in which a name holds the sign between two: none, so that nobody is escalated by what somebody is called.
    """
    if row.scope == "account":
        return [row.subject or ""]
    two = re.split(f"{TO}|{WITH}", row.subject or "") if row.scope == "pair" else []
    return two if len(two) == 2 else []
