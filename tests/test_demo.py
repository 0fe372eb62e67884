"""The demo finds what it planted, and the same number of rounds gives the same files."""

import hashlib
import os
from pathlib import Path

import pytest

from analytics import demo, planting, warehouse

ROUNDS = 640


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> demo.Demo:
    here = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("demo"))  # a relative folder, so that paths in the logs' reports are the same
    try:
        yield demo.make(Path("kwx-demo"), ROUNDS)
    finally:
        os.chdir(here)


def test_every_fault_is_found(made: demo.Demo) -> None:
    assert made.complete and made.example
    codes = {fault.code for fault, _ in made.planted}
    assert codes == {code for _, code, _ in planting.EDITS} | {"lost_round", "duplicate_round", "truncated"}
    assert len({fault.source for fault, _ in made.planted}) == len(demo.rulesets()) == 10


def test_the_recordings_show_what_their_servers_did(made: demo.Demo) -> None:
    assert made.recorded["draw_not_from_wall"] == 29
    assert set(made.recorded) <= {"draw_not_from_wall", "horse", "points"}


def test_the_summary_adds_up(made: demo.Demo) -> None:
    counts = made.summary
    assert counts["records"] == counts["rounds"] + counts["repeats"] + counts["rejects"]
    assert counts["rounds"] == sum(counts[verdict] for verdict in ("clean", "violation", "mismatch", "unpaid"))
    assert ROUNDS < counts["records"] < ROUNDS + 300


def test_again_gives_the_same_files(made: demo.Demo) -> None:
    logs, data = digests(made.folder / "logs"), warehouse.digest(made.db)
    again = demo.make(made.folder, ROUNDS)
    assert digests(made.folder / "logs") == logs
    assert warehouse.digest(made.db) == data and again.planted == made.planted


def test_a_small_demo_is_a_demo(cli, tmp_path) -> None:
    ran = cli("demo", "--no-serve", "--rounds", 10, "--folder", tmp_path / "small")
    assert (ran.code, ran.err) == (0, "")
    assert "found in the recordings of public servers:" in ran.out and "266 records" in ran.out


def test_an_interrupted_demo_leaves_nothing(tmp_path) -> None:
    def interrupt(rounds: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        demo.make(tmp_path / "new", 20, interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_else_is_left_alone(cli, tmp_path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "own.jsonl").write_text("kept", encoding="utf-8")
    ran = cli("demo", "--no-serve", "--rounds", 10, "--folder", tmp_path)
    assert ran.code == 2 and "is no folder of a demo" in ran.err
    assert (tmp_path / "logs" / "own.jsonl").read_text(encoding="utf-8") == "kept"
