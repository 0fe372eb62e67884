"""Random rounds that the literal engine calls legal, and broken copies of them.

A seat tries everything that its turn could offer and keeps what the oracle allows, so that rare play (kongs without a
replacement, reveals between turns, passed wins, robbed kongs) occurs as often as asked.  Deals are rich in sets.
Everything follows from the `random.Random` given.
"""

import copy
from collections import Counter

from oracle import play, start
from oracle_hand import ALL_KINDS, order, waits
from oracle_moves import apply
from oracle_table import Illegal, offered_win, pairs

MELDS = ("pung", "pung", "exposed_kong", "added_kong", "concealed_kong")
KINDS = [tile for tile in ALL_KINDS if tile[1] != "m"]


def text(tiles):
    """Tiles to grouped MPSZ."""
    out = ""
    for tile in tiles:
        out = out[:-1] + tile if out and out[-1] == tile[1] else out + tile
    return out


def rich_hand(rng, left, size, sets):
    """`size` tiles out of the Counter `left`: up to `sets` triplets, fours, runs and pairs, then single tiles."""
    hand = []
    for _ in range(sets):
        tile = rng.choice(KINDS)
        wanted = [tile] * rng.choice((2, 2, 3, 3, 4))
        if rng.random() < 0.4 and tile[1] != "z" and tile[0] <= "7":
            wanted = [f"{int(tile[0]) + step}{tile[1]}" for step in range(3)]
        if len(hand) + len(wanted) <= size and all(left[t] >= n for t, n in Counter(wanted).items()):
            hand += wanted
            left.subtract(wanted)
    while len(hand) < size:
        tile = rng.choice([tile for tile in KINDS if left[tile] > 0])
        hand.append(tile)
        left[tile] -= 1
    return sorted(hand, key=order)


def tried(table, token):
    """(the table after a token, None), or (None, code) of the rule that forbids it; `table` stays as it is."""
    other = copy.copy(table)
    for name, value in vars(table).items():
        if isinstance(value, list):
            value = [list(one) if isinstance(one, list) else one for one in value]
        if isinstance(value, (list, set, Counter)) or name == "pending":
            setattr(other, name, copy.copy(value))
    try:
        apply(other, token)
    except Illegal as illegal:
        return None, str(illegal)
    return other, None


def after(table, token):
    """The table after a token, or None where the oracle forbids it."""
    return tried(table, token)[0]


def lonely(table, seat, tile):
    """How little a tile is worth to its hand: a higher number goes first."""
    hand = table.hands[seat]
    worth = 4 * hand.count(tile)
    if tile[1] != "z":
        worth += sum(3 - abs(step) for step in (-2, -1, 1, 2) if f"{int(tile[0]) + step}{tile[1]}" in hand)
    return -worth


def discards(rng, table, seat, generous=0.0):
    """All discards, the likeliest first; `generous` is how often one that the others want goes first."""
    hand, drawn = table.hands[seat], table.drawn
    tokens = [(f"{seat}x{tile}", tile) for tile in sorted(set(hand), key=order)]
    if drawn in hand:
        tokens.append((f"{seat}y{drawn}", drawn))

    others = [other for other in range(3) if other != seat]
    wanted = {tile: sum(table.hands[other].count(tile) >= 2 for other in others) for tile in hand}
    for other in others:
        for tile in waits(table.hands[other], pairs(table, other)):
            wanted[tile] = wanted.get(tile, 0) + 2
    if rng.random() >= generous:
        wanted = dict.fromkeys(hand, 0)

    def worth(entry):
        rest = list(hand)
        rest.remove(entry[1])
        ready = bool(waits(rest, pairs(table, seat)))
        return (wanted[entry[1]], ready, lonely(table, seat, entry[1]), rng.random())

    return [token for token, _ in sorted(tokens, key=worth, reverse=True)]


def reveals(rng, table, seat):
    """A reveal with some triplets face down where the table allows it, and one that lays everything open."""
    triplets = [tile for tile in sorted(set(table.hands[seat]), key=order) if table.hands[seat].count(tile) >= 3]
    hidden = [tile for tile in triplets if rng.random() < 0.7]
    return [f"{seat}l" + "".join(hidden), f"{seat}l"] if table.rules["reveal.hide_triplets"] else [f"{seat}l"]


def choices(rng, table, taste):
    """Tokens to try in order; each group only as often as the taste says."""
    seat, out = table.turn, []

    def sometimes(what, tokens):
        if rng.random() < taste[what]:
            out.extend(rng.sample(tokens, len(tokens)))

    sometimes("abort", ["z"])
    if table.phase in ("turn", "punged"):
        held = sorted(set(table.hands[seat]), key=order)
        sometimes("win", [f"{seat}w{tile}" for tile in ([table.drawn] if table.drawn else held)])
        sometimes("kong", [f"{seat}{verb}{tile}" for verb in "ca" for tile in held])
        sometimes("reveal", reveals(rng, table, seat))
        sometimes("between", [f"{other}l" for other in range(3) if other != seat])
        out += ["e", *discards(rng, table, seat, taste["generous"])]
    elif table.phase in ("konged", "added"):
        if table.phase == "added":
            sometimes("rob", [f"{(seat + step) % 3}w{table.last}{seat}" for step in (1, 2)])
            sometimes("decline", [f"{(seat + step) % 3}n" for step in (1, 2)])
        sometimes("short", discards(rng, table, seat))
        if table.wall:
            out.append(f"{seat}r{table.wall[0 if table.rules['wall.replacement'] == 'front' else -1]}")
        out += discards(rng, table, seat)
    else:
        others, tile = [(seat + 1) % 3, (seat + 2) % 3], table.last
        if any(offered_win(table, other) for other in others):
            sometimes("win", [f"{other}w{tile}{seat}" for other in others])
        sometimes("decline", [f"{other}n" for other in others])
        sometimes("between", [f"{other}l" for other in range(3)])
        sometimes("kong", [f"{other}k{tile}{seat}" for other in others])
        sometimes("pung", [f"{other}p{tile}{seat}" for other in others])
        out.append(f"{others[0]}d{table.wall[0]}" if table.wall else "e")
    return out


def favour(rng, table, wall, taken):
    """Moves a tile that somebody wants to where the next draw takes it; `wall` is the whole wall as it will be logged.
    `taken`: tiles drawn from its front so far.

    Wanted are the fourth of the drawer's pungs and triplets, and tiles that any seat waits for.
    """
    replaced = table.phase in ("konged", "added")
    seat = table.turn if replaced else (table.turn + 1) % 3
    wanted = [tile for kind, tile in pairs(table, seat) if kind == "pung"] * 3
    wanted += [tile for tile, count in Counter(table.hands[seat]).items() if count == 3]
    for other in range(3):
        wanted += waits(table.hands[other], pairs(table, other))
    wanted = [tile for tile in wanted if tile in table.wall]
    if not wanted:
        return
    here = len(table.wall) - 1 if replaced and table.rules["wall.replacement"] == "back" else 0
    there = table.wall.index(rng.choice(wanted))
    for tiles, offset in ((table.wall, 0), (wall, taken)):
        tiles[offset + here], tiles[offset + there] = tiles[offset + there], tiles[offset + here]


def random_round(rng, ruleset, options, rules, number=0):
    """A kwx record of a legal round, its result as the oracle pays it."""
    left = Counter(dict.fromkeys(KINDS, 4))
    dealer, sets = rng.randrange(3), rng.choice((2, 3, 5, 7))
    hands = [rich_hand(rng, left, 13 + (seat == dealer), sets) for seat in range(3)]
    wall = [tile for tile in KINDS for _ in range(left[tile])]
    rng.shuffle(wall)
    record = {
        "kwx": 1,
        "site": "random",
        "game": f"{ruleset}-{number}",
        "round": 0,
        "rules": ruleset,
        "options": options,
        "players": ["a", "b", "c"],
        "dealer": dealer,
        "dice": [rng.randint(1, 6), rng.randint(1, 6)],
        "piao": [rng.randint(0, rules["side.piao_max"]) for _ in range(3)],
        "base": rules["stake.base"] or rng.choice((1, 5, 100)),
        "raise": 0,
        "deal": [text(hand) for hand in hands],
        "wall": "".join(wall),  # as it ends up below
    }
    if rules["side.raise"]:
        record["raise"] = rng.choice((0, 1)) + (record["dice"][0] == record["dice"][1])
    taste = {
        "win": rng.choice((0.3, 0.9, 1)),
        "second": rng.choice((0.3, 1)),
        "kong": rng.choice((0.3, 0.9)),
        "reveal": rng.choice((0, 0.5, 0.9)),
        "between": rng.choice((0, 0.3)),
        "pung": rng.choice((0, 0.6, 0.9)),
        "rob": 0.7,
        "decline": rng.choice((0, 0.2)),
        "short": rng.choice((0, 0.3)),
        "abort": rng.choice((0, 0, 0, 0, 0.01)),
        "generous": rng.choice((0, 0.3, 0.8)),
        "favour": rng.choice((0, 0.2, 0.5)),
    }
    table, events = start(record, rules), []
    while table.end is None or (table.wins and table.wins[0]["from"] is not None):
        if table.wins:
            seats = [(table.turn + step) % 3 for step in (1, 2)]
            tokens = [f"{seat}w{table.last}{table.turn}" for seat in seats] if rng.random() < taste["second"] else []
        else:
            if table.wall and table.phase not in ("turn", "punged") and rng.random() < taste["favour"]:
                back = sum(event[1:2] == "r" for event in events) if rules["wall.replacement"] == "back" else 0
                favour(rng, table, wall, 44 - len(table.wall) - back)
            tokens = choices(rng, table, taste)
        for token in tokens:
            later = after(table, token)
            if later is not None:
                table = later
                events.append(token)
                break
        else:
            if table.wins:
                break  # no second winner
            table = after(table, "z")  # nothing is legal any more: a reveal that the forced discard undoes
            events.append("z")
    record["events"], record["wall"] = " ".join(events), "".join(wall)
    paid = play(record, rules)
    wins = [
        {key: win[key] for key in ("seat", "from", "tile", "fans", "multiple") if win[key] is not None}
        for win in paid["wins"]
    ]
    fee = rules["stake.fee"] * record["base"] if paid["end"] != "aborted" else 0
    record["result"] = {"end": paid["end"], "points": paid["points"], "wins": wins, "kongs": paid["kongs"], "fee": fee}
    return record


def broken(rng, record):
    """A copy of a record with one to three small changes of its events or wall; still readable, perhaps still legal."""
    out = copy.deepcopy(record)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        events = out["events"].split()
        at = rng.randrange(len(events))
        token = events[at]
        kind = rng.randrange(11)
        if kind == 0:
            del events[at]
        elif kind == 1:
            events.insert(at, token)
        elif kind == 2 and at:
            events[at - 1 : at + 1] = [token, events[at - 1]]
        elif kind == 3:
            events = events[: at + 1]
        elif kind == 4:
            events.insert(at, rng.choice(("0l", "1l", "2l", "0n", "1n", "2n", "e", "z")))
        elif kind == 5:
            events.append(rng.choice(events))
        elif kind == 6 and "wall" in out:
            wall = [out["wall"][n : n + 2] for n in range(0, 88, 2)]
            one, two = rng.randrange(44), rng.randrange(44)
            wall[one], wall[two] = wall[two], wall[one]
            out["wall"] = "".join(wall)
        elif kind == 7 and rng.random() < 0.2:
            out.pop("wall", None)
        elif len(token) >= 4:
            seat, verb, tile, source = token[0], token[1], token[2:4], token[4:]
            what = rng.randrange(4)
            if what == 0:
                tile = rng.choice(KINDS)
            elif what == 1:
                seat = rng.choice("012")
            elif what == 2:
                verb = rng.choice({"x": "yca", "y": "xca", "d": "r", "r": "d"}.get(verb, "xyca"))
                source = ""
            else:
                other = rng.choice([one for one in "012" if one != seat])
                verb, source = rng.choice("pkw"), other
            if source == seat:
                source = rng.choice([one for one in "012" if one != seat])
            events[at] = seat + verb + tile + source
        if events:
            out["events"] = " ".join(events)
    return out


def random_hand(rng):
    """A hand in the shape of cases/score.jsonl: nine in ten complete, rich in fives, fours and won fourths."""
    left = Counter(dict.fromkeys(KINDS, 4))
    kinds = rng.choice(
        (
            KINDS,
            [tile for tile in KINDS if tile[1] == "p"],
            [tile for tile in KINDS if tile[1] == "z" or tile[0] in "456"],
        )
    )

    def take(tiles):
        if any(left[tile] < count for tile, count in Counter(tiles).items()):
            return []
        left.subtract(tiles)
        return tiles

    concealed, melds = [], []
    if rng.random() < 0.25:
        if rng.random() < 0.2:
            concealed = [tile for dragon in ("5z", "6z", "7z") for tile in take([dragon] * 2)]
        while len(concealed) < 14:
            concealed += take([rng.choice(concealed if concealed and rng.random() < 0.4 else kinds)] * 2)
    else:
        wanted = rng.choice((0, 0, 0, 1, 2, 3, 4))
        while len(melds) < wanted:
            kind, tile = rng.choice(MELDS), rng.choice(kinds if rng.random() < 0.9 else KINDS)
            if take([tile] * (3 if kind == "pung" else 4)):
                melds.append((kind, tile))
        while len(concealed) < 12 - 3 * len(melds):
            tile = rng.choice(kinds if rng.random() < 0.95 else KINDS)
            run = tile[1] != "z" and tile[0] <= "7" and rng.random() < 0.6
            concealed += take([f"{int(tile[0]) + step}{tile[1]}" for step in range(3)] if run else [tile] * 3)
        while len(concealed) < 14 - 3 * len(melds):
            concealed += take([rng.choice(kinds if rng.random() < 0.9 else KINDS)] * 2)
    fourths = [tile for tile in concealed if concealed.count(tile) == 4 or ("pung", tile) in melds]
    fives = [tile for tile in concealed if tile[0] == "5"]
    win = rng.choice(rng.choice([tiles for tiles in (concealed, fourths, fives) if tiles]))
    concealed.remove(win)
    if rng.random() < 0.1:
        concealed[0] = rng.choice([tile for tile in KINDS if left[tile]])
    by = rng.choice(("self_draw", "discard", "rob_kong"))
    return {
        "concealed": text(sorted(concealed, key=order)),
        "melds": [f"{kind} {tile}" for kind, tile in melds],
        "win": win,
        "by": by,
        "revealed": rng.random() < 0.4,
        "after_kong": by != "rob_kong" and rng.random() < 0.3,
        "last_tile": by != "rob_kong" and rng.random() < 0.3,
    }


def probes(rng, table):
    """Tokens worth trying at a table: nearly everything that could stand next in a log, most of it illegal."""
    tokens = ["e", "z"]
    ends = [table.wall[0], table.wall[-1]] if table.wall else [rng.choice(KINDS)]
    for seat in range(3):
        own = [*sorted(set(table.hands[seat]), key=order), rng.choice(KINDS)]
        tokens += [f"{seat}{verb}{tile}" for verb in "xyca" for tile in own]
        tokens += [f"{seat}{verb}{tile}" for verb in "dr" for tile in ends]
        tokens += [f"{seat}w{tile}" for tile in ([table.drawn] if table.drawn else own)]
        tokens += [*reveals(rng, table, seat), f"{seat}n"]
        for other in range(3):
            if other != seat:
                tokens += [f"{seat}{verb}{table.last or rng.choice(KINDS)}{other}" for verb in "pkw"]
    return list(dict.fromkeys(tokens))
