"""What the audit's contract promises of adjusted p-values, states and rows, each against a slow reading of its rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.fairness import controls, multiplicity
from analytics.fairness.result import ROW, Result, table

P = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P)
def test_holm_rejects_step_by_step(p: list[float]) -> None:
    for alpha in (0.001, 0.05, 0.3):
        rejected = set()
        for rank, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
            if p[at] > alpha / (len(p) - rank):
                break
            rejected.add(at)
        close = {at for at, one in enumerate(p) for rank in range(len(p)) if abs(one - alpha / (rank + 1)) < 1e-12}
        found = set(np.flatnonzero(multiplicity.holm(np.array(p)) <= alpha))
        assert found - close == rejected - close


@given(P)
def test_benjamini_hochberg_rejects_up_to_the_last_below_the_line(p: list[float]) -> None:
    q = 0.1
    ordered = sorted(p)
    last = max((rank for rank, one in enumerate(ordered, 1) if one * len(p) <= q * rank), default=0)
    near = any(abs(one * len(p) - q * rank) < 1e-12 for rank in range(1, len(p) + 1) for one in p)
    assert near or (multiplicity.benjamini_hochberg(np.array(p)) <= q).sum() == sum(
        one <= ordered[last - 1] for one in p if last
    )


def test_e_values_need_their_rank() -> None:
    e = np.array([1.0, 400.0, 150.0, 0.2])
    assert multiplicity.e_benjamini_hochberg(e, 0.01).tolist() == [False, True, False, False]
    assert multiplicity.e_benjamini_hochberg(np.array([1.0, 400.0, 210.0, 0.2]), 0.01).sum() == 2
    assert not multiplicity.e_benjamini_hochberg(np.array([])).any()


def account(check: int, subject: str, p: float, scope: str = "account") -> Result:
    return Result(check, "x", "account" if scope == "account" else "pair", scope, subject, n=9, p=p)


def test_one_check_alone_never_escalates_an_account() -> None:
    honest = [account(15, f"h{n}", (n + 1) / 51) for n in range(50)]
    rows = multiplicity.adjusted([*honest, account(15, "a", 1e-12)])
    assert [row.status for row in rows if row.subject == "a"] == ["review"]
    assert all(row.status == "passed" for row in rows if row.subject != "a")
    rows = multiplicity.adjusted([*honest, account(15, "a", 1e-12), account(20, "a → b", 1e-4, "pair")])
    assert [row.status for row in rows[-2:]] == ["escalated", "review"]


def test_neither_the_same_draws_nor_a_name_escalate() -> None:
    honest = [account(check, f"h{n}", (n + 1) / 51) for n in range(50) for check in (15, 16, 18)]
    rows = multiplicity.adjusted([*honest, account(15, "a", 1e-12), account(16, "a", 1e-12)])
    assert [row.status for row in rows[-2:]] == ["review", "review"]
    rows = multiplicity.adjusted([*honest, account(15, "a", 1e-12), account(18, "a → b", 1e-12)])
    assert [row.status for row in rows[-2:]] == ["review", "review"]


def test_shuffle_tests_are_corrected_together_and_others_are_left_alone() -> None:
    tests = [Result(7, "x", "shuffle", p=0.0004), Result(8, "y", "shuffle", p=0.9), Result(9, "z", "shuffle", p=0.5)]
    log = Result(1, "tiles", "log", status="flagged")
    rows = multiplicity.adjusted([*tests, log, tests[0].but(p=None).not_run("tier")])
    assert [row.p_adjusted for row in rows[:3]] == [pytest.approx(0.0012), 1.0, 1.0]
    assert [row.status for row in rows] == ["passed"] * 3 + ["flagged", "not_run"]


def test_a_row_must_say_why_it_did_not_run_and_use_the_closed_words() -> None:
    with pytest.raises(ValueError):
        Result(1, "tiles", "log", status="not_run")
    with pytest.raises(ValueError):
        Result(1, "tiles", "log", why="tier")
    with pytest.raises(ValueError):
        Result(1, "tiles", "dice")


def test_rows_come_in_one_order() -> None:
    rows = [account(15, "b", 0.5), account(15, "a", 0.5), Result(7, "x", "shuffle")]
    made = table(rows)
    assert made.schema == ROW and made == table(rows[::-1])
    assert made["subject"].to_pylist() == [None, "a", "b"]


def test_the_runs_control_needs_rounds_that_follow_each_other() -> None:
    class Apart:
        def columns(self, query: str) -> dict[str, np.ndarray]:
            return {"won": np.arange(300) % 3 == 0, "game_key": np.arange(300)}

    [row] = controls.runs_of_wins(Apart())
    assert (row.status, row.why, row.n) == ("not_run", "too_few", 300)
