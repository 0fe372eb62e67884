"""The faults of the demo: each is where it is said to be, and the check finds exactly them."""

import gzip
import json
from itertools import groupby
from pathlib import Path

import pytest

from analytics.planting import EDITS, Planted, plant
from ingest.read import Reader
from replay import ruleset
from replay.check import problems

ROUNDS = Path(__file__).parent / "data" / "cases" / "rounds.jsonl.gz"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Planted], list[dict]]:
    """Every log of the cases with faults in it: what was planted, and what the check says."""
    folder = tmp_path_factory.mktemp("planted")
    rows = gzip.decompress(ROUNDS.read_bytes()).decode().splitlines()
    faults: list[Planted] = []
    for turn, (rules, group) in enumerate(groupby(rows, key=lambda row: json.loads(row)["rules"])):
        path = folder / f"{rules}.jsonl"
        text, done = plant("\n".join(group) + "\n", str(path), turn)
        path.write_text(text, encoding="utf-8")
        faults += done
    return faults, list(problems(Reader([str(folder)], check_rules=ruleset.check)))


def test_every_kind_of_fault_is_planted(planted) -> None:
    codes = {fault.code for fault in planted[0]}
    edits = {code for _, code, _ in EDITS} - {"commit_mismatch"}  # these logs commit to nothing
    assert codes == edits | {"lost_round", "duplicate_round", "truncated"}


def test_the_check_finds_every_fault_and_nothing_else(planted) -> None:
    faults, (*rows, summary) = planted
    found = {(row["source"], row["line"], row["code"]) for row in rows}
    wanted = {(fault.source, fault.line, fault.code) for fault in faults}
    assert wanted <= found
    assert {place[:2] for place in found} == {place[:2] for place in wanted}  # one fault may show in several ways
    assert summary["repeats"] == sum(fault.code == "duplicate_round" for fault in faults)
