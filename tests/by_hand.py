"""Short rounds written by hand: deal, events and what the engine makes of them.

`deal` completes hands that a test states only in part, `exhausted` plays a round to its last tile, `play` sends one
kwx log line through reader and replay.  Tiles are MPSZ; a draw is free where the line states no wall.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ingest.read import Reader
from ingest.tiles import NAMES, parse
from replay import ruleset
from replay.batch import Replayer

KINDS = NAMES["ps"]
SPREAD = [KINDS[place] for place in (0, 10, 3, 13, 6, 16, 18, 1, 11, 4, 14, 7, 17, 19, 2, 12, 5, 15, 8, 9, 20)]

DRAW = re.compile("[012][dr][1-9]")
IDLE = [KINDS[place] for place in (16, 13, 10, 7, 3, 14, 12, 9, 17, 8, 0)]  # what idle draws take first


@dataclass(frozen=True)
class Outcome:
    """What came out of one round: payments are summed by (cause, from, to), wins (seat, from, multiple, fans)."""

    paid: dict[tuple[str, int, int | None], int]
    wins: list[tuple[int, int | None, int, list[str]]]
    codes: list[str]
    points: list[int]
    ready: list[bool]
    round: dict
    kongs: list[tuple[str, int, bool]]  # kind, points, robbed


def tiles(text: str) -> list[str]:
    """ "12p5z" as ["1p", "2p", "5z"]."""
    return [KINDS[kind] for kind in parse(text)]


def deal(*hands: str, dealer: int = 0, keep: str = "") -> list[str]:
    """Three hands, each completed with scattered tiles; none of `keep`, which stays in the wall."""
    held = [tiles(hand) for hand in (*hands, "", "")[:3]]
    left = Counter(dict.fromkeys(KINDS, 4))
    left.subtract(Counter(tile for hand in held for tile in hand))
    spare = set(tiles(keep))
    for seat, hand in enumerate(held):
        size = 14 if seat == dealer else 13
        while len(hand) < size:
            free = [kind for kind in SPREAD if left[kind] > 0 and kind not in spare]
            kind = min(free, key=hand.count)
            hand.append(kind)
            left[kind] -= 1
    return ["".join(sorted(hand, key=KINDS.index)) for hand in held]


def undealt(hands: list[str]) -> list[str]:
    """The 44 tiles that the hands leave."""
    left = Counter(dict.fromkeys(KINDS, 4))
    left.subtract(Counter(tile for hand in hands for tile in tiles(hand)))
    return sorted(left.elements(), key=KINDS.index)


def wall(hands: list[str], front: str = "", back: str = "") -> str:
    """A wall that starts and ends with the stated tiles."""
    middle = undealt(hands)
    for tile in tiles(front) + tiles(back):
        middle.remove(tile)
    return "".join([*tiles(front), *middle, *tiles(back)])


def moves(hands: list[str], events: str) -> str:
    """Events with the idle ones filled in: "1." draws a spare tile and discards it, "1r." a replacement."""
    tokens = events.split()
    if not any(token.endswith(".") for token in tokens):
        return events
    left = undealt(hands)
    for token in tokens:
        if DRAW.match(token):
            left.remove(token[2:4])
    out = []
    for token in tokens:
        if token.endswith("."):
            spare = next(kind for kind in IDLE if kind in left)
            left.remove(spare)
            out += [f"{token[0]}{token[1:-1] or 'd'}{spare}", f"{token[0]}y{spare}"]
        else:
            out.append(token)
    return " ".join(out)


def exhausted(hands: list[str], events: str, last: str | None = None) -> str:
    """`events` and then each seat in turn draws and discards what it drew until the wall is empty.

    The round ends with "e", or, where `last` names the last tile, with its draw and no more.
    """
    tokens = moves(hands, events).split()
    left = undealt(hands)
    for token in tokens:
        if DRAW.match(token):
            left.remove(token[2:4])
    if last:
        left.remove(last)
        left.append(last)
    seat = int(tokens[-1][0])
    for tile in left:
        seat = (seat + 1) % 3
        tokens += [f"{seat}d{tile}", f"{seat}y{tile}"]
    return " ".join(tokens[:-1] if last else [*tokens, "e"])


def play(folder: Path, rules: str, hands: list[str], events: str, **more: object) -> Outcome:
    """One round of `rules` through reader and replay; `more` are keys of its line."""
    line = {"kwx": 1, "game": "g", "round": 0, "rules": rules, "players": ["a", "b", "c"], "dealer": 0, "deal": hands,
            "events": moves(hands, events)} | more  # fmt: skip
    path = folder / "round.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    (batch,) = list(Reader([str(path)], check_rules=ruleset.check))
    assert batch.rejects.num_rows == 0, batch.rejects.to_pylist()
    out = {name: table.to_pylist() for name, table in Replayer(explain=False).feed(batch.rounds).items()}
    paid: Counter = Counter()
    for row in out["ledger"]:
        paid[row["cause"], row["from_seat"], row["to_seat"]] += row["points"]
    return Outcome(
        dict(paid),
        [(row["seat"], row["from_seat"], row["multiple"], row["fans"]) for row in out["wins"]],
        [row["code"] for row in out["problems"]],
        [row["points"] for row in out["seats"]],
        [row["ready_at_end"] for row in out["seats"]],
        out["rounds"][0],
        [(row["kind"], row["points"], row["robbed"]) for row in out["kongs"]],
    )
