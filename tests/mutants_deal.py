"""Operators on deal, wall, commitment, and on the lines of a game: see mutants.py."""

import json
from hashlib import sha256

from mutants import GAME, KINDS, RECORD, join, operator, other_tile, pairs, split, written


@operator(RECORD)
def deal_exchanged(rng, record):
    """Two hands exchange a tile."""
    hands = [split(hand) for hand in record["deal"]]
    one, two = rng.sample(range(3), 2)
    a, b = rng.randrange(13), rng.randrange(13)
    if hands[one][a] == hands[two][b]:
        return False
    hands[one][a], hands[two][b] = hands[two][b], hands[one][a]
    record["deal"] = [join(hand) for hand in hands]


@operator(RECORD)
def deal_retiled(rng, record):
    hands = [split(hand) for hand in record["deal"]]
    seat, place = rng.randrange(3), rng.randrange(13)
    hands[seat][place] = other_tile(rng, hands[seat][place])
    record["deal"] = [join(hand) for hand in hands]


@operator(RECORD)
def deal_with_wall(rng, record):
    """A hand and the wall exchange a tile."""
    if "wall" not in record:
        return False
    hands, wall = [split(hand) for hand in record["deal"]], pairs(record["wall"])
    seat, place, at = rng.randrange(3), rng.randrange(13), rng.randrange(44)
    if hands[seat][place] == wall[at]:
        return False
    hands[seat][place], wall[at] = wall[at], hands[seat][place]
    record["deal"], record["wall"] = [join(hand) for hand in hands], "".join(wall)


@operator(RECORD)
def deal_respelt(rng, record):
    """A hand's tiles in another order."""
    seat = rng.randrange(3)
    record["deal"][seat] = "".join(rng.sample(split(record["deal"][seat]), len(split(record["deal"][seat]))))


@operator(RECORD)
def suit_renamed(rng, record):
    """Characters for bamboo throughout; the commitment stays that of the renamed order."""
    record["deal"] = [hand.replace("s", "m") for hand in record["deal"]]
    for key in ("wall", "events"):
        if key in record:
            record[key] = record[key].replace("s", "m")
    for win in record.get("result", {}).get("wins", ()):
        win["tile"] = win["tile"].replace("s", "m")
    if "proof" in record:
        proof = record["proof"]
        proof["order"] = proof["order"].replace("s", "m")
        proof["commit"] = sha256((proof["salt"] + proof["order"]).encode()).hexdigest()


@operator(RECORD)
def order_recommitted(rng, record):
    """Another order, with a commitment of its own."""
    if "proof" not in record:
        return False
    proof = record["proof"]
    order = pairs(proof["order"])
    one, two = rng.sample(range(84), 2)
    if order[one] == order[two]:
        return False
    order[one], order[two] = order[two], order[one]
    proof["order"] = "".join(order)
    proof["commit"] = sha256((proof["salt"] + proof["order"]).encode()).hexdigest()


@operator(RECORD)
def deal_short(rng, record):
    hand = split(record["deal"][0])
    hand.pop()
    record["deal"][0] = join(hand)


def drawn(record):
    """(tiles taken from the front, tiles taken from the back) of the wall by the events."""
    verbs = [token[1:2] for token in record["events"].split()]
    return verbs.count("d"), verbs.count("r")


@operator(RECORD)
def wall_drawn_exchanged(rng, record):
    """Two wall tiles change places, at least one of them drawn."""
    front, back = drawn(record)
    if "wall" not in record or not front:
        return False
    wall = pairs(record["wall"])
    one, two = rng.randrange(front), rng.randrange(44)
    if back and rng.random() < 0.3:
        one = 43 - rng.randrange(back)
    if wall[one] == wall[two]:
        return False
    wall[one], wall[two] = wall[two], wall[one]
    record["wall"] = "".join(wall)


@operator(RECORD)
def wall_undrawn_exchanged(rng, record):
    """Two wall tiles change places that nobody drew."""
    front, back = drawn(record)
    if "wall" not in record or 44 - front - back < 2:
        return False
    wall = pairs(record["wall"])
    one, two = rng.sample(range(front, 44 - back), 2)
    if wall[one] == wall[two]:
        return False
    wall[one], wall[two] = wall[two], wall[one]
    record["wall"] = "".join(wall)


@operator(RECORD)
def wall_retiled(rng, record):
    if "wall" not in record:
        return False
    wall = pairs(record["wall"])
    at = rng.randrange(44)
    wall[at] = other_tile(rng, wall[at])
    record["wall"] = "".join(wall)


@operator(RECORD)
def wall_undrawn_retiled(rng, record):
    """A tile that nobody drew becomes a fifth of its kind."""
    front, back = drawn(record)
    if "wall" not in record or 44 - front - back < 1:
        return False
    wall = pairs(record["wall"])
    at = rng.randrange(front, 44 - back)
    wall[at] = other_tile(rng, wall[at])
    record["wall"] = "".join(wall)


@operator(RECORD)
def wall_length(rng, record):
    if "wall" not in record:
        return False
    record["wall"] = record["wall"][:-2] if rng.random() < 0.5 else record["wall"] + rng.choice(KINDS)


@operator(RECORD)
def wall_dropped(rng, record):
    if "wall" not in record:
        return False
    del record["wall"]


@operator(RECORD)
def commit_changed(rng, record):
    if "proof" not in record:
        return False
    commit = record["proof"]["commit"]
    at = rng.randrange(64)
    sign = rng.choice([sign for sign in "0123456789abcdef" if sign != commit[at]])
    record["proof"]["commit"] = commit[:at] + sign + commit[at + 1 :]


@operator(RECORD)
def salt_changed(rng, record):
    if "proof" not in record:
        return False
    record["proof"]["salt"] += "0"


@operator(RECORD)
def order_exchanged(rng, record):
    if "proof" not in record:
        return False
    order = pairs(record["proof"]["order"])
    one, two = rng.sample(range(84), 2)
    if order[one] == order[two]:
        return False
    order[one], order[two] = order[two], order[one]
    record["proof"]["order"] = "".join(order)


@operator(RECORD)
def deal_order_changed(rng, record):
    """Dealt by fours rather than one by one, or the other way round."""
    if "proof" not in record:
        return False
    record["proof"]["deal"] = "four" if record["proof"]["deal"] == "one" else "one"


@operator(RECORD)
def proof_dropped(rng, record):
    if "proof" not in record:
        return False
    del record["proof"]


@operator(RECORD)
def prev_changed(rng, record):
    if "prev" not in record:
        return False
    record["prev"] = rng.choice("123") + record["prev"][1:-1] + "0"


@operator(RECORD)
def prev_dropped(rng, record):
    if "prev" not in record:
        return False
    del record["prev"]


# Lines of a game: (rng, lines, place) -> lines or False


@operator(GAME)
def line_dropped(rng, lines, place):
    return lines[:place] + lines[place + 1 :] if len(lines) > 1 else False


@operator(GAME)
def line_repeated(rng, lines, place):
    return [*lines, lines[place]]


@operator(GAME)
def line_spaced(rng, lines, place):
    """The same record, spelt otherwise."""
    return [*lines[:place], lines[place].replace(":", ": ", 1), *lines[place + 1 :]]


@operator(GAME)
def game_cut(rng, lines, place):
    return lines[:place] or False


@operator(GAME)
def lines_shuffled(rng, lines, place):
    """The same lines in another order."""
    return rng.sample(lines, len(lines)) if len(lines) > 1 else False


@operator(GAME)
def numbers_exchanged(rng, lines, place):
    """Two rounds exchange their numbers."""
    if len(lines) < 2:
        return False
    records = [json.loads(line) for line in lines]
    other = rng.choice([at for at in range(len(lines)) if at != place])
    records[place]["round"], records[other]["round"] = records[other]["round"], records[place]["round"]
    return [written(record) if at in (place, other) else lines[at] for at, record in enumerate(records)]


@operator(GAME)
def number_used_twice(rng, lines, place):
    """A round takes another's number."""
    if len(lines) < 2:
        return False
    record = json.loads(lines[place])
    record["round"] = rng.choice([number for number in range(len(lines)) if number != record["round"]])
    return [*lines[:place], written(record), *lines[place + 1 :]]


@operator(GAME)
def base_of_the_rest(rng, lines, place):
    """From here on the game is played, and paid, at twice the stake."""
    records = [json.loads(line) for line in lines]
    for record in records[place:]:
        record["base"] = 2 * record.get("base", 1)
        for key in ("points", "kongs"):
            if key in record.get("result", {}):
                record["result"][key] = [2 * points for points in record["result"][key]]
        if "fee" in record.get("result", {}):
            record["result"]["fee"] *= 2
    return [lines[at] if at < place else written(record) for at, record in enumerate(records)]
