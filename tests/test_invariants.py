"""What the tables must keep between them: it holds on real rounds, and each tampering breaks its own invariant."""

import shutil
from pathlib import Path

import duckdb
import pytest

TAMPERED = [
    ("UPDATE seats SET points = points + 1 WHERE won AND round_id = (SELECT min(round_id) FROM wins)",
     {"points_sum_to_the_fee", "points_are_the_ledger"}),
    ("UPDATE ledger SET points = points + 1 WHERE cause = 'win' AND round_id = (SELECT min(round_id) FROM wins)",
     {"points_are_the_ledger", "wins_are_paid"}),
    ("UPDATE ledger SET to_seat = NULL WHERE cause = 'win' AND round_id = (SELECT min(round_id) FROM wins)",
     {"points_are_the_ledger", "payments_have_both_ends"}),
    ("UPDATE seats SET dealt_in = true WHERE NOT won "
     "AND round_id = (SELECT min(round_id) FROM wins WHERE \"by\" = 'self_draw')", {"deal_ins_are_the_payers"}),
    ("UPDATE seats SET self_drew = true WHERE won "
     "AND round_id = (SELECT min(round_id) FROM wins WHERE \"by\" = 'discard')", {"self_draws_are_alone"}),
    ("UPDATE kongs SET seat = (seat + 1) % 3 WHERE robbed", {"robbed_kong_pays_the_konger"}),
    ("UPDATE kongs SET points = 2 WHERE robbed", {"robbed_kong_pays_the_konger", "kongs_sum_to_zero"}),
    ("UPDATE seats SET won = false WHERE won AND round_id = (SELECT min(round_id) FROM rounds WHERE winners = 2) "
     "AND seat = (SELECT min(seat) FROM wins WHERE round_id = (SELECT min(round_id) FROM rounds WHERE winners = 2))",
     {"wins_are_the_winners", "double_win_once_per_winner"}),
    ("DELETE FROM wins WHERE win_no = 1", {"wins_are_the_winners", "double_win_once_per_winner", "wins_are_paid"}),
    ("UPDATE wins SET from_seat = 3 - seat - from_seat WHERE win_no = 1",
     {"deal_ins_are_the_payers", "double_win_has_one_payer"}),
    ("UPDATE rounds SET multiple = multiple + 1 WHERE round_id = (SELECT min(round_id) FROM wins)",
     {"multiple_is_the_largest"}),
    ("DELETE FROM win_fans WHERE round_id = (SELECT min(round_id) FROM win_fans)", {"fans_are_listed"}),
    ("DELETE FROM reveals WHERE round_id = (SELECT min(round_id) FROM reveals)", {"reveals_are_in_order"}),
    ('UPDATE reveals SET "order" = "order" + 1 WHERE round_id = (SELECT min(round_id) FROM reveals)',
     {"reveals_are_in_order"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def copy(measured: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """A copy of the data set that may be changed."""
    path = measured.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()[0][0]
    target = tmp_path_factory.mktemp("copy") / "kwx.duckdb"
    shutil.copyfile(Path(path), target)
    return duckdb.connect(str(target))


def broken(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.sql("FROM invariants").fetchall()
    assert all(holds == (count == 0) and count >= 0 for _, holds, count, _ in rows)
    return {name for name, holds, *_ in rows if not holds}


def test_all_hold_and_say_something(measured: duckdb.DuckDBPyConnection) -> None:
    assert broken(measured) == set()
    counts = {name: n for name, _, _, n in measured.sql("FROM invariants").fetchall()}
    rounds = measured.execute("SELECT count(*) FROM rounds").fetchall()[0][0]
    assert counts["points_sum_to_the_fee"] == rounds and min(counts.values()) > 0


@pytest.mark.parametrize(("change", "breaks"), TAMPERED, ids=[change[:60] for change, _ in TAMPERED])
def test_a_change_of_a_table_shows(copy: duckdb.DuckDBPyConnection, change: str, breaks: set[str]) -> None:
    copy.execute("BEGIN")
    try:
        copy.execute(change)
        found = broken(copy)
    finally:
        copy.execute("ROLLBACK")
    assert breaks <= found, (breaks, found)
