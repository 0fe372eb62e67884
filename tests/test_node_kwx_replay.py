"""Recorded rounds of public servers through ingest and replay: flagged is each fault of the servers, nothing else."""

import json
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer
from replay.games import check_games
from tests.oracle_servers import FOLDER, NAMES, truths

# fault -> the code that shows it and the key that explains it alone
SHOWN = {
    "horse": ("horse", "side.horse_one_dot=false"),
    "addon": ("points", "side.addon_revealed_payer=false"),
    "all_pungs": ("points", "reveal.hidden_all_pungs=false"),
    "pass": ("points", "kong.flag_survives_pass=false"),
    "raise": ("points", None),
    "swap": ("draw_not_from_wall", None),
    "dealer": ("wrong_dealer", "dealer.after_double_rob=first_winner"),
}


@lru_cache
def replayed(name: str) -> dict[str, list[dict[str, Any]]]:
    """Rounds, seats and problems (those of the game level too) of one recording."""
    reader = Reader([str(FOLDER / f"{name}.rows.jsonl.gz")], check_rules=ruleset.check)
    replayer = Replayer()
    parts = []
    for batch in reader:
        assert batch.rejects.num_rows == 0
        parts.append(replayer.feed(batch.rounds))
    wanted = ("rounds", "seats", "problems", "reveals")
    tables = {key: pa.concat_tables([part[key] for part in parts]) for key in wanted}
    tables["problems"] = pa.concat_tables([tables["problems"], check_games(tables["rounds"])])
    return {key: table.to_pylist() for key, table in tables.items()}


def problems(name: str) -> dict[tuple[str, int], list[dict[str, Any]]]:
    found = defaultdict(list)
    for problem in replayed(name)["problems"]:
        found[problem["game"], problem["round"]].append(problem)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_each_fault_is_flagged_and_nothing_else(name: str) -> None:
    found = problems(name)
    for truth in truths(name):
        place = (truth.row["room_uuid"], truth.row["game_index"])
        flagged = {problem["code"]: problem for problem in found.pop(place, [])}
        # A fault may cost nothing, for example beyond the cap: then there is nothing to see.
        costs = truth.points != eval_points(truth.row["result"])
        seen = [fault for fault in truth.faults if costs or fault in ("swap", "dealer")]
        if not seen:
            assert not flagged, (place, flagged)
            continue
        assert flagged, (place, truth.faults)
        if len(seen) == 1:
            code, key = SHOWN[seen[0]]
            assert code in flagged or (code == "points" and "horse" in flagged), (place, seen, flagged)
            assert key is None or all(key in problem["explained_by"] for problem in flagged.values()), (place, flagged)
    assert not found


def eval_points(result: str) -> list[int]:
    return [int(score) for score in result.strip("[]").split(",")][:3]


def test_the_recordings_hold_every_fault() -> None:
    assert {fault for name in NAMES for truth in truths(name) for fault in truth.faults} >= SHOWN.keys() - {"dealer"}


@pytest.mark.parametrize("name", NAMES)
def test_recomputed_points_are_the_right_ones(name: str) -> None:
    points = defaultdict(list)
    for seat in replayed(name)["seats"]:
        points[seat["round_id"]].append(seat["points"])
    for entry, truth in zip(replayed(name)["rounds"], truths(name), strict=True):
        if "swap" not in truth.faults and entry["piao_from"] != "ambiguous":
            assert points[entry["round_id"]] == truth.points, (entry["game"], entry["round"])


@pytest.mark.parametrize("name", NAMES)
def test_solved_piao_is_the_one_in_force(name: str) -> None:
    piao = defaultdict(list)
    for seat in replayed(name)["seats"]:
        piao[seat["round_id"]].append(seat["piao"])
    words = set()
    for entry, truth in zip(replayed(name)["rounds"], truths(name), strict=True):
        words.add(entry["piao_from"])
        if entry["piao_from"] != "ambiguous":
            assert piao[entry["round_id"]] == truth.piao
        else:
            assert piao[entry["round_id"]] == [None] * 3
    assert words <= ({"inferred", "ambiguous"} if "piao" in name else {"config"})


def test_a_kong_after_a_reveal_tells_a_hidden_triplet() -> None:
    told = [reveal for name in NAMES for reveal in replayed(name)["reveals"] if reveal["hidden"]]
    words = [entry["hidden_from"] for name in NAMES for entry in replayed(name)["rounds"]]
    assert told
    assert set(words) == {None, "inferred"}
    assert words.count("inferred") == len({reveal["round_id"] for reveal in told})


def robbed_twice(number: int, clicks: tuple[int, int]) -> dict[str, Any]:
    """A row in which seats 0 and 1 rob seat 2's added kong of 5p, in the order of `clicks`; dealer 0."""
    both = [3, 5, 0, 1, 2, 9, 10, 11, 12, 13, 14]
    hands = [[4, *both, 27, 27], [*both, 28, 28], [4, 4, 6, 7, 8, 8, 15, 16, 17, 29, 29, 6, 7]]
    left = [code for code in (*range(18), 27, 28, 29) for _ in range(4)]
    for code in (*hands[0], *hands[1], *hands[2], 29, 29, 4):
        left.remove(code)
    dealt = [hands[0][1:], hands[1], hands[2]]
    order = [dealt[seat][place] for place in range(13) for seat in range(3)] + [4, 29, 29, 4, *left]
    hands[0] = [*hands[0][1:], 4]
    actions = [0, 1, 4, 2, 3, 4, 2, 1, 29, 0, 2, 29, 0, 1, 29, 1, 2, 29, 1, 1, 29, 2, 2, 4]
    for seat in clicks:
        actions += [seat, 5, 4]
    conf = {"type": "xykwx", "baseScore": 1, "maxFan": 4, "maxGames": 8, "dingpiao": 0, "maima": 0, "pindao": 1}
    conf["people"] = 3
    base_info = {"type": "xykwx", "button": 0, "index": number, "mahjongs": order, "game_seats": hands, "conf": conf}
    return {
        "room_uuid": "1", "game_index": number, "base_info": json.dumps(base_info), "create_time": 0,
        "snapshots": None, "action_records": json.dumps(actions), "result": "[4,4,-8,0]",
    }  # fmt: skip


@pytest.mark.parametrize("clicks", [(0, 1), (1, 0)])
def test_after_a_double_rob_the_robbed_seat_deals(tmp_path: Path, clicks: tuple[int, int]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(robbed_twice(number, clicks)) + "\n" for number in (0, 1)), encoding="utf-8")
    replayer = Replayer()
    parts = [replayer.feed(batch.rounds) for batch in Reader([str(path)], check_rules=ruleset.check)]
    rounds = pa.concat_tables([part["rounds"] for part in parts])
    assert rounds["verdict"].to_pylist() == ["clean", "clean"]
    assert rounds["next_dealer"].to_pylist() == [2, 2]
    (found,) = check_games(rounds).to_pylist()
    assert (found["code"], found["round"]) == ("wrong_dealer", 1)
    assert found["explained_by"] == ["dealer.after_double_rob=first_winner"]
