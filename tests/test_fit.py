"""Which rules were played, found from the rounds alone."""

import gzip
import json
from pathlib import Path

import pytest

from ingest.read import Reader
from replay import ruleset
from replay.fit import fit

CASES = Path(__file__).parent / "data" / "cases" / "rounds.jsonl.gz"


@pytest.fixture(scope="module")
def rounds() -> list[dict]:
    with gzip.open(CASES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def explained(path: Path, rows: list[dict]) -> list:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return fit(Reader([path], check_rules=ruleset.check))


def test_the_rules_that_were_played_explain_every_round_whatever_the_log_claims(rounds, tmp_path) -> None:
    rows = [row | {"rules": "suizhou"} for row in rounds if row["rules"] == "hubei" and not row.get("options")]
    best, *rest = explained(tmp_path / "log.jsonl", rows)
    assert (best.ruleset, best.changes, best.explained) == ("hubei", (), len(rows))
    assert all(one.explained <= best.explained for one in rest)


def test_a_changed_key_is_found(rounds, tmp_path) -> None:
    """Rounds with a cap that the log does not name: the cap stands among the changes that explain them all."""
    rows = [row for row in rounds if row.get("options") == {"score.cap": 8}]
    rows = [row | {"options": {}} for row in rows if row["rules"] == "qichun"]
    best = explained(tmp_path / "log.jsonl", rows)[0]
    assert best.explained == len(rows)
    assert best.changes == ("score.cap=8",)


def test_no_rounds_no_rules(tmp_path) -> None:
    assert explained(tmp_path / "log.jsonl", []) == []
