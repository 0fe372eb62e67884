"""Raise and piao that rows leave out: carried, inferred, left open; an inference never explains a fault away."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer
from tests.oracle_servers import lines, truths

RAISED = "sx_13_sy_full_up_cap32_piao1_base2_bighands"
CHOSEN = "sx_03_xy_full_cap16_ma1_piao-choice"


def replay(path: Path, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rounds, seats and problems of some rows, read and replayed."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    replayer = Replayer()
    parts = [replayer.feed(batch.rounds) for batch in Reader([str(path)], check_rules=ruleset.check)]
    wanted = ("rounds", "seats", "problems")
    return {name: pa.concat_tables([part[name] for part in parts]).to_pylist() for name in wanted}


def rooms(name: str) -> list[list[dict[str, Any]]]:
    """The rows of each room of a recording."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in lines(f"{name}.rows.jsonl.gz"):
        found.setdefault(row["room_uuid"], []).append(row)
    return list(found.values())


def carried(rows: list[dict[str, Any]]) -> dict[tuple[str, int], int]:
    """The raise in force in each round of whole rooms, by the servers' announcements put right."""
    sides = {(side["room_uuid"], side["game_index"]): side for side in lines(f"{RAISED}.sidecar.jsonl.gz")}
    out, raised = {}, 0
    for row in rows:
        raised = 0 if row["game_index"] == 0 else raised
        place = (row["room_uuid"], row["game_index"])
        out[place] = raised
        wins = [hand for result in sides[place]["server_settlement"]["results"] for hand in result["huinfo"]]
        wins = [hand for hand in wins if hand.get("ishupai")]
        double = len(wins) == 2 and not wins[0]["isQiangGangHu"]
        raised = raised + 1 if not wins or double else 0
    return out


def test_the_raise_is_carried_through_a_game(tmp_path: Path) -> None:
    rows = [row for room in rooms(RAISED) for row in room]
    found = replay(tmp_path / "a.jsonl", rows)["rounds"]
    wanted = carried(rows)
    assert max(wanted.values()) >= 1
    assert {(entry["game"], entry["round"]): entry["raise"] for entry in found} == wanted
    assert {entry["raise_from"] for entry in found} == {"config"}


def test_after_a_gap_the_raise_is_inferred(tmp_path: Path) -> None:
    rows = rooms(RAISED)[0]
    wanted = carried(rows)
    faulty = {truth.row["game_index"] for truth in truths(RAISED) if truth.faults and truth.row in rows}
    after_gap = [number for (_, number), raised in wanted.items() if raised and number not in faulty]
    assert len(after_gap) >= 2
    for number in after_gap:
        left = [row for row in rows if row["game_index"] != number - 1]
        entry = replay(tmp_path / "a.jsonl", left)["rounds"][number - 1]
        assert (entry["round"], entry["raise_from"], entry["verdict"]) == (number, "inferred", "clean")
        assert entry["raise"] == wanted[entry["game"], number]


def test_a_round_that_pays_nothing_leaves_its_raise_open(tmp_path: Path) -> None:
    """Alone in its file, a draw without payments tells no raise: null, and clean."""
    rows = [row for row in lines(f"{RAISED}.rows.jsonl.gz") if row["result"] == "[0,0,0,0]"]
    assert rows
    for row in rows:
        base_info = json.loads(row["base_info"]) | {"index": 3}
        later = row | {"game_index": 3, "base_info": json.dumps(base_info)}
        entry = replay(tmp_path / "a.jsonl", [later])["rounds"][0]
        assert (entry["raise_from"], entry["raise"], entry["verdict"]) == ("ambiguous", None, "clean")


def test_a_carried_raise_does_not_bend_to_the_record(tmp_path: Path) -> None:
    """The server forgot to double: the round is a mismatch, whatever raise would explain it."""
    at = next(at for at, truth in enumerate(truths(RAISED)) if truth.faults == {"raise"})
    rows = lines(f"{RAISED}.rows.jsonl.gz")
    found = replay(tmp_path / "a.jsonl", rows)["rounds"][at]
    assert (found["verdict"], found["raise_from"]) == ("mismatch", "config")
    assert found["raise"] > 0


def test_the_piao_of_a_game_holds_for_its_faulty_rounds(tmp_path: Path) -> None:
    """A fault is judged with the game's piao, not with the one that would fit its own row best."""
    room = rooms(CHOSEN)[0]
    clean = replay(tmp_path / "a.jsonl", room)
    assert {entry["piao_from"] for entry in clean["rounds"]} == {"inferred"}
    piao = [seat["piao"] for seat in clean["seats"][:3]]
    for row, entry in zip(room, clean["rounds"], strict=True):
        if entry["end"] != "win" or entry["verdict"] != "clean":
            continue
        points = json.loads(row["result"])
        winner = points.index(max(points))
        payer = points.index(min(points))
        points[winner] += 1
        points[payer] -= 1
        bent = [other if other is not row else row | {"result": json.dumps(points)} for other in room]
        found = replay(tmp_path / "b.jsonl", bent)
        assert [seat["piao"] for seat in found["seats"][:3]] == piao
        assert [e["round"] for e in found["rounds"] if e["verdict"] == "mismatch"] == sorted(
            [entry["round"], *(e["round"] for e in clean["rounds"] if e["verdict"] == "mismatch")]
        )
        return
    pytest.fail("no clean win in the room")


def test_one_round_leaves_the_piao_open(tmp_path: Path) -> None:
    """A draw tells nothing, one win only sums: null, "ambiguous", and clean as far as some value explains it."""
    rows = rooms(CHOSEN)[0]
    words = set()
    for row in rows:
        found = replay(tmp_path / "a.jsonl", [row])
        entry = found["rounds"][0]
        words.add(entry["piao_from"])
        known = [seat["piao"] for seat in found["seats"]]
        assert (known == [None] * 3) == (entry["piao_from"] == "ambiguous")
        assert entry["verdict"] in ("clean", "mismatch")
    assert "ambiguous" in words


def test_a_record_that_no_piao_explains_is_a_mismatch(tmp_path: Path) -> None:
    row = rooms(CHOSEN)[0][0]
    found = replay(tmp_path / "a.jsonl", [row | {"result": "[1000,-1000,0,0]"}])
    assert found["rounds"][0]["verdict"] == "mismatch"
    assert found["rounds"][0]["piao_from"] == "ambiguous"


def test_rounds_may_come_in_any_order(tmp_path: Path) -> None:
    rows = [row for room in rooms(RAISED) for row in room]
    forward = replay(tmp_path / "a.jsonl", rows)
    backward = replay(tmp_path / "b.jsonl", rows[::-1])
    key = ("game", "round", "raise", "raise_from", "piao_from", "verdict", "state_digest")
    assert sorted([entry[name] for name in key] for entry in forward["rounds"]) == sorted(
        [entry[name] for name in key] for entry in backward["rounds"]
    )


def drawn_out(paid: int) -> dict[str, Any]:
    """A row in which seat 1 reveals 2223334p 123789s, and the wall runs out: two unready seats pay it `paid` each.

    Its best wait is 2p or 3p (the fourth in hand: multiple 4); with both triplets hidden it waits for 4p alone (1).
    """
    mine = [1, 1, 1, 2, 2, 2, 3, 9, 10, 11, 15, 16, 17]
    left = [code for code in (*range(18), 27, 28, 29) for _ in range(4)]
    for code in mine:
        left.remove(code)
    apart = [0, 3, 6, 9, 12, 15, 27, 28, 29, 5, 8, 11, 14]
    hands = [[*apart, 17], mine, apart]
    for code in (*hands[0], *hands[2]):
        left.remove(code)
    order = [hands[seat][place] for place in range(13) for seat in range(3)] + [17, *left]
    actions = [0, 1, 17]
    for turn, code in enumerate(left):
        seat = (turn + 1) % 3
        actions += [seat, 2, code, seat, 1, code, *([1, 7, 0] if turn == 0 else [])]
    conf = {"type": "xgkwx", "baseScore": 1, "maxFan": 4, "maxGames": 8, "dingpiao": 0, "maima": 0, "people": 3}
    base_info = {"type": "xgkwx", "button": 0, "index": 0, "mahjongs": order, "game_seats": hands, "conf": conf}
    return {
        "room_uuid": "1", "game_index": 0, "base_info": json.dumps(base_info), "create_time": 0, "snapshots": None,
        "action_records": json.dumps(actions), "result": json.dumps([-paid, 2 * paid, -paid, 0]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("paid", "verdict", "hidden_from"), [(4, "clean", None), (1, "clean", "inferred"), (2, "mismatch", None)]
)
def test_hidden_triplets_where_a_draw_hangs_on_them(
    tmp_path: Path, paid: int, verdict: str, hidden_from: str | None
) -> None:
    entry = replay(tmp_path / "a.jsonl", [drawn_out(paid)])["rounds"][0]
    assert (entry["end"], entry["verdict"], entry["hidden_from"]) == ("draw", verdict, hidden_from)
