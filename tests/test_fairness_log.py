"""The audit's checks of the log itself, on recordings of a public server and on tables made for the purpose."""

import random
from pathlib import Path

import duckdb
import numpy as np
import pytest
from fairness_tables import empty, insert
from scipy.stats import kstest

from analytics import warehouse
from analytics.fairness import log_integrity, multiplicity
from analytics.fairness.tables import Tables
from ingest.read import Reader
from replay import ruleset

RECORDED = Path(warehouse.__file__).parent / "recorded"


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    return empty()


def games(seed: int, drop: float, loser: str | None, rounds: int) -> list[list[dict]]:
    """Rounds of one table where the winner deals next; of those that `loser` lost (None: of all) a share is dropped."""
    chance = random.Random(seed)
    players = [f"{name}{seed}" for name in "abc"]
    dealer, kept = 0, []
    for number in range(rounds):
        winner = chance.randrange(3) if chance.random() < 0.9 else dealer
        lost = loser is None or players[winner] != loser
        if not (lost and chance.random() < drop):
            kept.append({"round_id": seed * 10_000 + number, "game_key": seed, "round": number, "dealer": dealer})
        dealer = winner
    seats = [
        {"round_id": row["round_id"], "seat": seat, "player": player} for row in kept
        for seat, player in enumerate(players)
    ]  # fmt: skip
    return [kept, seats]


def missing(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """p-values of check 5 by account."""
    rows = log_integrity.completeness(Tables(connection))
    return {row.subject: row.p for row in rows if row.scope == "account" and row.p is not None}


def fill(connection: duckdb.DuckDBPyConnection, *tables: list[list[dict]]) -> None:
    for name, rows in zip(("rounds", "seats"), zip(*tables, strict=True), strict=True):
        insert(connection, name, [row for part in rows for row in part])


def test_dropped_losses_show_and_lost_rounds_of_everyone_do_not(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, games(1, 0.2, "a1", 900))
    found = missing(connection)
    assert found["a1"] < 1e-6 and found["b1"] > 0.01 and found["c1"] > 0.01


def test_p_values_of_missing_rounds_are_uniform(connection: duckdb.DuckDBPyConnection) -> None:
    fill(connection, *(games(seed, 0.1, None, 500) for seed in range(100)))
    found = missing(connection)
    values = np.array([found[f"a{seed}"] for seed in range(100) if f"a{seed}" in found])
    assert len(values) > 80 and kstest(values, "uniform").pvalue > 0.001
    assert 0.08 < np.mean(values < 0.2) < 0.34


def test_a_repeated_deal_is_found_wherever_its_dealer_sits(connection: duckdb.DuckDBPyConnection) -> None:
    chance = np.random.default_rng(5)

    def deal(dealer: int) -> np.ndarray:
        deck = np.repeat(np.arange(21, dtype=np.uint8), 4)
        chance.shuffle(deck)
        hands = np.full((3, 14), 255, np.uint8)
        for seat in range(3):
            hands[seat, :13] = deck[13 * seat : 13 * seat + 13]
        hands[dealer, 13] = deck[39]
        return hands

    hands = [(n % 3, deal(n % 3)) for n in range(300)]
    rows = [
        {"round_id": n, "dealer": dealer, "deal": one.tobytes(), "coverage": "full"}
        for n, (dealer, one) in enumerate(hands)
    ]
    insert(connection, "rounds", rows)
    assert log_integrity.repeats(Tables(connection))[0].status == "passed"
    again = np.roll(hands[7][1], 1, axis=0)  # the same deck, dealt from the next seat
    again[:, :13] = chance.permuted(again[:, :13], axis=1)  # and logged in another order
    insert(connection, "rounds", [rows[0] | {"round_id": 900, "dealer": 2, "deal": again.tobytes()}])
    row = log_integrity.repeats(Tables(connection))[0]
    assert row.status == "flagged" and set(row.evidence) == {7, 900} and row.p < 1e-12
    assert row.effect == pytest.approx(np.log2(301**2 / 2)) and 14 < row.detectable < 15


def test_who_got_the_swapped_draws_is_reviewed_and_faults_are_counted_by_site(tmp_path: Path) -> None:
    reader = Reader([str(RECORDED)], check_rules=ruleset.check)
    warehouse.load(reader, tmp_path / "db")
    with warehouse.connect(tmp_path / "db") as connection:
        tables = Tables(connection)
        rows = multiplicity.adjusted([*log_integrity.proof(tables), *log_integrity.settlement(tables)])
        expected = connection.execute(
            "SELECT coalesce(p.site, ''), count(DISTINCT p.round_id) FROM rounds JOIN problems AS p USING (round_id) "
            "WHERE kind = 'mismatch' GROUP BY 1 ORDER BY 1"
        ).fetchall()
    by_site = {row.subject: row.statistic for row in rows if row.scope == "site" and row.statistic}
    assert by_site == dict(expected) and expected
    swapped = [row for row in rows if row.name == "swapped_draws"]
    assert {row.statistic == row.n for row in swapped if row.status == "review"} == {True}
    assert sum(row.status == "review" for row in swapped) >= 3


def test_what_the_log_does_not_hold_is_not_run(connection: duckdb.DuckDBPyConnection) -> None:
    tables = Tables(connection)
    for check in log_integrity.CHECKS:
        (row,) = check.run(tables)
        assert (row.status, row.why) == ("not_run", "no_rounds")


def test_a_name_on_two_seats_of_a_round_is_nobody(connection: duckdb.DuckDBPyConnection) -> None:
    seats = [(1, 0, "a"), (1, 1, "a"), (1, 2, "b"), (2, 0, "a"), (2, 1, "b"), (2, 2, "c")]
    insert(connection, "seats", [dict(zip(("round_id", "seat", "player"), one, strict=True)) for one in seats])
    query = "SELECT player FROM seats ORDER BY round_id, seat"
    assert Tables(connection).columns(query)["player"].tolist() == ["", "", "b", "a", "b", "c"]
    assert [one for (one,) in connection.execute(query).fetchall()] == [one for _, _, one in seats]
