"""Each violation and mismatch code has a log that shows it, named after it, and nothing else."""

from pathlib import Path

import pytest

from ingest.read import Reader
from ingest.rejects import REJECT_CODES
from replay import check, ruleset
from replay.messages import WORDS
from replay.problems import CODES, FIRST_MISMATCH

BROKEN = Path(__file__).parent / "data" / "broken"


def test_every_code_has_exactly_one_broken_log() -> None:
    names = sorted(path.name.partition(".")[0] for path in BROKEN.iterdir())
    assert names == sorted([*REJECT_CODES, *CODES])


def test_every_code_has_words() -> None:
    assert set(WORDS) == set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_broken_log_shows_its_code(code: str) -> None:
    reader = Reader([BROKEN / f"{code}.jsonl"], check_rules=ruleset.check)
    *rows, summary = check.problems(reader)
    assert {row["code"] for row in rows} == {code}
    kind = "mismatch" if CODES.index(code) >= FIRST_MISMATCH else "violation"
    assert {row["kind"] for row in rows} == {kind}
    assert summary[kind] == 1 and summary["rejects"] == 0
    assert all(row["message"] and "{" not in row["message"] for row in rows)


def test_a_log_of_rejects_alone(tmp_path: Path) -> None:
    """A batch without a single round is replayed too; one with rounds may follow."""
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_bytes(b'{"kwx":1}\nx\n')
    sound = BROKEN.parent / "hubei.jsonl"
    for paths, rounds in (([nothing], 0), ([nothing, sound], len(sound.read_bytes().splitlines()))):
        *rows, summary = check.problems(Reader(map(str, paths), check_rules=ruleset.check))
        assert [row["kind"] for row in rows] == ["reject", "reject"]
        assert (summary["records"], summary["rounds"], summary["rejects"]) == (rounds + 2, rounds, 2)
