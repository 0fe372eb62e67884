"""Ways to falsify a kwx log: named operators that each change one thing, in a record or in the lines of its game.

`operators()` gives two tables: operators on one record (a dictionary, changed in place) and on the lines of a game.  An
operator takes the `random.Random` and gives False where it finds nothing to change.  What it makes may be legal by
chance, or a record that can't be read.
"""

import json
from collections.abc import Callable
from importlib import import_module

KINDS = [f"{number}{suit}" for suit in "ps" for number in range(1, 10)] + ["5z", "6z", "7z"]
RECORD: dict[str, Callable] = {}
GAME: dict[str, Callable] = {}


def operator(table):
    """Registers a function by its name."""

    def register(function):
        table[function.__name__] = function
        return function

    return register


def other_tile(rng, tile):
    return rng.choice([kind for kind in KINDS if kind != tile])


def split(hand):
    """Grouped tiles, "123p5z", one by one."""
    tiles, suit = [], ""
    for sign in reversed(hand):
        if sign.isdigit():
            tiles.append(sign + suit)
        else:
            suit = sign
    return tiles[::-1]


def join(tiles):
    """Tiles one by one as a grouped hand, in order."""
    out = ""
    for suit in "mpsz":
        numbers = sorted(tile[0] for tile in tiles if tile[1] == suit)
        out += "".join(numbers) + suit if numbers else ""
    return out


def pairs(wall):
    return [wall[at : at + 2] for at in range(0, len(wall), 2)]


KEYS = ("kwx", "site", "game", "round", "prev", "time", "rules", "options", "players", "dealer", "dice", "piao", "base",
        "raise", "deal", "wall", "proof", "events", "times", "result")  # fmt: skip


def written(record):
    """A record as a line, its keys in the format's order."""
    known = {key: record[key] for key in KEYS if key in record}
    rest = {key: value for key, value in record.items() if key not in known}
    return json.dumps(known | rest, separators=(",", ":"), ensure_ascii=False)


def operators():
    """(RECORD, GAME), filled by the three files that define the operators."""
    for name in ("mutants_events", "mutants_claims", "mutants_deal"):
        import_module(name)
    return RECORD, GAME
