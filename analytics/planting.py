"""Faults for the demo: takes clean simulated games and breaks a few rounds in them, each in one known way.

Works on the text of a kwx log.  After an edit the `prev` of the lines below is computed anew, as somebody who alters
a log would do, so that the fault itself shows and not only the broken chain.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Round = dict[str, Any]


@dataclass(frozen=True)
class Planted:
    """One fault: what was done in words, the code that must show, and where."""

    what: str
    code: str
    source: str
    line: int  # 1-based


def dump(row: Round) -> str:
    """A round as its log line, without the line ending."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _shift_points(row: Round) -> Round | None:
    points = row["result"]["points"]
    high, low = points.index(max(points)), points.index(min(points))
    if high == low:
        return None
    points[high] += row.get("base", 1)
    points[low] -= row.get("base", 1)
    return row


def _other_fan(row: Round) -> Round | None:
    """Drops a fan from the announced list of the first win."""
    for win in row["result"].get("wins", ()):
        if win.get("fans"):
            del win["fans"][0]
            return row
    return None


def _altered_commitment(row: Round) -> Round | None:
    commit = row.get("proof", {}).get("commit")
    if not commit:
        return None
    row["proof"]["commit"] = ("1" if commit[0] == "0" else "0") + commit[1:]
    return row


def _unheld_discard(row: Round) -> Round | None:
    """The dealer's first discard becomes a tile that it was not dealt; only where the next event is a draw."""
    tokens = row["events"].split(" ")
    dealer = row["dealer"]
    if len(tokens) < 2 or tokens[0][:2] != f"{dealer}x" or tokens[1][1] != "d":
        return None
    held = set(_tiles(row["deal"][dealer]))
    unheld = [tile for tile in _tiles(row.get("wall", "")) if tile not in held]
    if not unheld:
        return None
    row["events"] = " ".join([tokens[0][:2] + unheld[-1], *tokens[1:]])
    return row


def _swapped_draw(row: Round) -> Round | None:
    """The last draw becomes a tile still in the wall; only where it stays in a hand that does not win."""
    tokens = row["events"].split(" ")
    draws = [at for at, token in enumerate(tokens) if token[1:2] == "d"]
    wall = _tiles(row.get("wall", ""))
    if not draws or len(draws) >= len(wall) or any(token[1:2] in ("r", "c", "a", "k") for token in tokens):
        return None
    at, after = draws[-1], tokens[draws[-1] + 1 :]
    if not after or after[0][1] != "x" or any(token[0] == tokens[at][0] for token in after[1:]):
        return None
    if after[0][2:4] == tokens[at][2:4] or wall[-1] == tokens[at][2:4]:
        return None
    tokens[at] = tokens[at][:2] + wall[-1]
    row["events"] = " ".join(tokens)
    return row


def _unknown_rules(row: Round) -> Round:
    row["rules"] += "x"
    return row


def _bad_tile(row: Round) -> Round | None:
    tokens = row["events"].split(" ")
    if tokens[0][1:2] != "x":
        return None
    row["events"] = " ".join([tokens[0][:2] + "8z", *tokens[1:]])
    return row


# What is done to a round in place; None when the round is not one of those where it can be done.
EDITS: tuple[tuple[str, str, Callable[[Round], Round | None]], ...] = (
    ("a stake moved from the loser to the winner", "points", _shift_points),
    ("a fan left out of the announcement", "fans", _other_fan),
    ("a discard of a tile that was not in the hand", "tile_not_held", _unheld_discard),
    ("a draw swapped for another tile of the wall", "draw_not_from_wall", _swapped_draw),
    ("the commitment to the wall altered", "commit_mismatch", _altered_commitment),
    ("a ruleset that does not exist", "unknown_rules", _unknown_rules),
    ("a tile that does not exist", "bad_tile", _bad_tile),
)
REJECTED = ("unknown_rules", "bad_tile")


def _tiles(text: str) -> list[str]:
    """MPSZ text, grouped or not, as two-character tiles."""
    out: list[str] = []
    digits = ""
    for char in text:
        if char.isdigit():
            digits += char
        else:
            out += [digit + char for digit in digits]
            digits = ""
    return out


def games(lines: list[str]) -> Iterator[tuple[int, int]]:
    """The half-open line ranges of the games of a log that holds them one after another."""
    first = 0
    keys = [json.loads(line)["game"] for line in lines]
    for at in range(1, len(keys) + 1):
        if at == len(keys) or keys[at] != keys[first]:
            yield first, at
            first = at


def relink(lines: list[str], first: int, last: int) -> None:
    """Computes the `prev` of lines first+1 … last-1 anew, where they have one."""
    for at in range(first + 1, last):
        row = json.loads(lines[at])
        if "prev" in row:
            row["prev"] = sha256(lines[at - 1].encode()).hexdigest()
            lines[at] = dump(row)


def plant(log: str, source: str, turn: int) -> tuple[str, list[Planted]]:
    """Breaks some rounds of a clean log; gives the log and what was done to it.

    log: games one after another; source: its name, for the reports; turn: which edits come first, so that several
    logs show different ones.  An edit whose round this log does not have is left out: four games have most.
    """
    lines = log.splitlines()
    ranges = list(games(lines))
    planted: list[Planted] = []
    for number, (first, last) in enumerate(ranges[:3]):
        what, code, edit = EDITS[(3 * turn + number) % len(EDITS)]
        # A round that becomes unreadable is the last of its game: no other round misses it.
        for at in [last - 1] if code in REJECTED else range(first + 1, last - 1):
            row = edit(json.loads(lines[at]))
            if row is not None:
                lines[at] = dump(row)
                relink(lines, first, last)
                planted.append(Planted(what, code, source, at + 1))
                break

    if len(ranges) < 4 or ranges[3][1] - ranges[3][0] < 4:
        return "\n".join(lines) + "\n", planted
    first = ranges[3][0]
    if turn % 3 == 0:
        del lines[first + 2]  # `prev` of the next line is left as it was: the broken chain shows too
        planted.append(Planted("a round taken out of its game", "lost_round", source, first + 3))
    elif turn % 3 == 1:
        forged = _shift_points(json.loads(lines[first])) or {}
        lines += [dump(forged), lines[first]]  # the second is a repeat, which is no fault
        planted.append(Planted("a round recorded twice, differently", "duplicate_round", source, len(lines) - 1))
    else:
        lines.append(lines[first][: len(lines[first]) // 2])
        planted.append(Planted("a line cut in the middle", "truncated", source, len(lines)))
        return "\n".join(lines), planted
    return "\n".join(lines) + "\n", planted
