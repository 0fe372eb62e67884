"""A server's own cheat: recorded rounds in which one account's draws were swapped after the wall was stored.

The audit names it by the wall, and where no wall was recorded by its luck.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from fairness_played import stored

from analytics.fairness import battery
from analytics.fairness.result import Result
from analytics.fairness.tables import Tables
from ingest.formats.kwx_write import write as write_lines
from ingest.read import Reader
from replay import ruleset

DATA = Path(__file__).parent / "data" / "swapped_draws"
CHEAT, OTHERS = "u1", ("u2", "u3")
CHECKS = (4, 15, 16)


def batches(path: Path, users: Path | None = None) -> Iterator[pa.RecordBatch]:
    for part in Reader([str(path)], check_rules=ruleset.check, users=str(users) if users else None):
        yield part.rounds


def audit(rounds: Iterator[pa.RecordBatch]) -> dict[tuple[str, str | None], Result]:
    rows = battery.results(Tables(stored(rounds)), CHECKS)
    return {(row.name, row.subject): row for row in rows}


def test_with_the_wall_the_account_is_named_by_the_wall_and_by_its_luck() -> None:
    rows = audit(batches(DATA / "rows.jsonl.gz", DATA / "users.csv"))
    assert rows["proof", None].status == "flagged"
    row = rows["swapped_draws", CHEAT]
    assert row.status == "escalated" and row.effect > 0.95 and len(row.evidence) > 100
    assert rows["draw_luck", CHEAT].status == rows["hits_while_ready", CHEAT].status == "escalated"
    # Without the rounds that contradict their wall the others would look lucky: the swaps went where they lost.
    for other in OTHERS:
        assert {row.status for (_, who), row in rows.items() if who == other} <= {"passed", "not_run"}


def test_with_the_wall_hidden_it_is_named_by_its_luck_or_told_how_many_rounds_that_takes(tmp_path: Path) -> None:
    lines = []
    for batch in batches(DATA / "rows.jsonl.gz", DATA / "users.csv"):
        for line in write_lines(batch).splitlines():
            record = json.loads(line)
            for key in ("wall", "proof", "_source"):
                record.pop(key, None)
            lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    (tmp_path / "log.jsonl").write_text("".join(lines), encoding="utf-8")
    rows = audit(batches(tmp_path / "log.jsonl"))
    assert (rows["proof", None].status, rows["proof", None].why) == ("not_run", "tier")
    # both count the same draws: the one doesn't confirm the other
    assert rows["draw_luck", CHEAT].status == rows["hits_while_ready", CHEAT].status == "review"
    assert rows["draw_luck", CHEAT].effect > 0.05 and rows["hits_while_ready", CHEAT].effect > 0.5
    for other in OTHERS:
        assert rows["draw_luck", other].status == rows["hits_while_ready", other].status == "passed"
    few = rows["hits_while_revealed", CHEAT]
    assert (few.status, few.why) == ("not_run", "too_few") and few.needed > few.n
    (tmp_path / "few.jsonl").write_text("".join(lines[:32]), encoding="utf-8")
    row = audit(batches(tmp_path / "few.jsonl"))["hits_while_ready", CHEAT]
    assert (row.status, row.why) == ("not_run", "too_few") and row.needed > row.n
