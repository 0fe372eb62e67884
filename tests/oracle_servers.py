"""What a server should have paid for each recorded round, from what it announced (the sidecars), without the engine.

A server's announcement itemises a win ("七对x4 明牌x2 数坎+2 买马+7"); the faults of the servers
(tests/data/node_kwx/README.md) are put right item by item, and the points are added up again.  A round whose points
then differ from the recorded ones is faulty, and the fault has a name.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "data" / "node_kwx"
NAMES = sorted(path.name.removesuffix(".rows.jsonl.gz") for path in FOLDER.glob("*.rows.jsonl.gz"))

DOUBLINGS = {
    "清一色x4": 2, "手抓一x2": 2, "超超豪华七对x128": 7, "超豪华七对x32": 5, "三元七对x32": 5, "豪华七对x8": 3,
    "七对x4": 2, "碰碰胡x2": 1, "大三元x8": 3, "小三元x4": 2, "卡五星x2": 1, "卡五星x4": 2, "明四归x2": 1,
    "暗四归x4": 2, "海底捞x2": 1, "海底炮x2": 1, "明牌x2": 1, "杠开x2": 1, "杠上炮x2": 1, "抢杠x2": 1,
}  # fmt: skip
DISCARD, DRAW, KONG, WIN, REVEAL = 1, 2, 4, 5, 7
WALL = 44


class Truth(NamedTuple):
    """One round: its row as stored, the names of its faults, the points it should have paid, the piao in force.

    Faults: "horse" (1筒 ignored), "addon" (kan or 跑恰摸八 not paid by a revealed payer), "all_pungs" (not counted),
    "pass" (杠上炮 lost), "raise" (not applied), "swap" (draws beside the wall), "other_horse" (the swapped wall ended
    with another tile), "dealer" (not the one that the round before makes).
    """

    row: dict[str, Any]
    faults: frozenset[str]
    points: list[int]
    piao: list[int]


def lines(name: str) -> list[dict[str, Any]]:
    """The objects of one file of the folder."""
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def truths(name: str) -> Iterator[Truth]:
    """The rounds of one recording, in file order."""
    raised: dict[str, int] = {}
    dealers: dict[str, int] = {}
    for row, side in zip(lines(f"{name}.rows.jsonl.gz"), lines(f"{name}.sidecar.jsonl.gz"), strict=True):
        room = row["room_uuid"]
        base_info = json.loads(row["base_info"])
        conf = base_info["conf"]
        ancestor = "numOfSeats" in conf
        settled, extra = side["server_settlement"], side["extra"]
        flat = json.loads(row["action_records"])
        triples = [tuple(flat[at : at + 3]) for at in range(0, len(flat), 3)]
        draws = [tile for _, code, tile in triples if code == DRAW]
        faults = set()
        if draws != base_info["mahjongs"][40:][: len(draws)]:
            faults.add("swap")
        if base_info["button"] != dealers.get(room, 0):
            faults.add("dealer")
        raise_ = raised.get(room, 0) if conf.get("up") else 0
        played = extra["nextUp_before"] if conf.get("up") and isinstance(extra["nextUp_before"], int) else 0
        if raise_ != played:
            faults.add("raise")
        stake = conf["baseScore"] << raise_
        piao = [max(value, 0) if conf["dingpiao"] else 0 for value in extra["dingpiao"]]
        revealed = {reveal["seat"] for reveal in extra["mings"]}

        points = [sum(kong["scores"][seat] for kong in extra["kongs"]) for seat in range(3)]
        points = [(value << raise_) >> played for value in points]
        wins = [
            (seat, entry)
            for seat, result in enumerate(settled["results"])
            for entry in result["huinfo"]
            if entry.get("ishupai")
        ]
        for seat, entry in wins:
            result = settled["results"][seat]
            labels = (result["detail"]["tips"] or "").split()
            doublings = sum(DOUBLINGS.get(label, 0) for label in labels)
            added = Counter({label.split("+")[0]: int(label.split("+")[1]) for label in labels if "+" in label})
            held = Counter(result["holds"])
            held[entry["pai"]] += 1
            if set(held.values()) <= {2, 3} and [*held.values()].count(2) == 1 and "碰碰胡x2" not in labels:
                doublings += 1
                faults.add("all_pungs")
            drawn = entry["iszimo"]
            if not drawn and not entry["isQiangGangHu"] and "杠上炮x2" not in labels and after_kong(triples):
                doublings += 1
                faults.add("pass")
            exponent = min(doublings, conf["maxFan"])
            kan = added["数坎"] + added["跑"] + added["恰"] + added["摸"] + added["八"]
            horse = 0
            if drawn and len(draws) < WALL and (conf["maima"] == 1 or (conf["maima"] == 2 and seat in revealed)):
                tile = base_info["mahjongs"][-1]
                horse = (tile % 9 + 1 if tile < 27 else 10) * (1 if ancestor else stake)
                if horse != added["买马"] << raise_ >> played:
                    faults.add("horse" if tile == 0 else "other_horse")
            for payer in [other for other in range(3) if other != seat] if drawn else [entry["target"]]:
                doubled = drawn and seat not in revealed and payer in revealed
                if doubled and kan:
                    faults.add("addon")
                share = stake << min(exponent + doubled, conf["maxFan"])
                share += kan + horse + (piao[seat] + piao[payer]) * (1 if ancestor else conf["baseScore"])
                points[seat] += share
                points[payer] -= share
        if not wins:
            for seat, result in enumerate(settled["results"]):
                points[seat] += result["detail"]["score"] - result["detail"]["gang"]
        yield Truth(row, frozenset(faults), points, piao)
        double = len(wins) == 2
        raised[room] = raise_ + 1 if not wins or (double and not wins[0][1]["isQiangGangHu"]) else 0
        dealers[room] = wins[0][1]["target"] if double else wins[0][0] if wins else base_info["button"]


def after_kong(triples: list[tuple[int, int, int]]) -> bool:
    """Whether the round's last discard follows a kong, without a reveal."""
    at = len(triples) - 1
    while triples[at][1] == WIN:
        at -= 1
    codes = [code for _, code, _ in triples[: at + 1]]
    return codes[-3:] == [KONG, DRAW, DISCARD]
