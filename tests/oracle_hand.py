"""A second, literal scorer of hands: every way to split a hand, every fan, the best reading, the waits.

Written from the sheets and the rules page alone, slow on purpose, sharing nothing with the engine.  A tile is its
two-character name ("5p"); a hand is a list of them; rules are a dictionary key -> value (`oracle_rules.values`).
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

FANS = (
    "all_pungs",
    "full_flush",
    "seven_pairs",
    "dragon_seven_pairs",
    "double_dragon_seven_pairs",
    "triple_dragon_seven_pairs",
    "three_dragons_seven_pairs",
    "little_three_dragons",
    "big_three_dragons",
    "ka_wu_xing",
    "ming_si_gui",
    "an_si_gui",
    "shou_zhua_yi",
    "after_kong_draw",
    "after_kong_discard",
    "kong_on_kong",
    "rob_kong",
    "last_tile_draw",
    "last_tile_discard",
    "reveal",
)
DRAGONS = ("5z", "6z", "7z")
SUITS = "mps"
ALL_KINDS = tuple(f"{rank}{suit}" for suit in SUITS for rank in range(1, 10)) + DRAGONS


def parse(text):
    """ "123p5z" -> ["1p", "2p", "3p", "5z"]."""
    tiles, digits = [], ""
    for char in text:
        if char.isdigit():
            digits += char
        else:
            tiles += [digit + char for digit in digits]
            digits = ""
    return tiles


PLACE = {tile: place for place, tile in enumerate(ALL_KINDS)}


def order(tile):
    return PLACE[tile]


def splits(tiles):
    """All ways to split tiles (sorted) into triplets and runs, each a list of ("triplet" | "run", its first tile)."""
    if not tiles:
        return [[]]
    ways = []
    first = tiles[0]
    if tiles.count(first) >= 3:
        rest = list(tiles)
        for _ in range(3):
            rest.remove(first)
        ways += [[("triplet", first), *way] for way in splits(rest)]
    if first[1] != "z" and int(first[0]) <= 7:
        run = [f"{int(first[0]) + step}{first[1]}" for step in range(3)]
        if all(tile in tiles for tile in run):
            rest = list(tiles)
            for tile in run:
                rest.remove(tile)
            ways += [[("run", first), *way] for way in splits(rest)]
    return ways


@lru_cache(maxsize=200_000)
def readings_of(tiles):
    """All readings of the concealed tiles of a complete hand (a sorted tuple, the winning tile in).

    A reading is ("standard", pair, melds) or ("pairs",).
    """
    out = []
    for pair in sorted(set(tiles), key=order):
        if tiles.count(pair) >= 2:
            rest = list(tiles)
            rest.remove(pair)
            rest.remove(pair)
            out += [("standard", pair, tuple(way)) for way in splits(rest)]
    if len(tiles) == 14 and all(count % 2 == 0 for count in Counter(tiles).values()):
        out.append(("pairs",))
    return tuple(out)


def readings(concealed, hidden=()):
    """All readings; triplets kept face down are set aside first, and stand in every reading."""
    rest = list(concealed)
    for tile in hidden:
        for _ in range(3):
            rest.remove(tile)
    found = readings_of(tuple(sorted(rest, key=order)))
    if not hidden:
        return list(found)
    return [
        ("standard", pair, (*melds, *(("triplet", tile) for tile in hidden)))
        for kind, pair, melds in (reading for reading in found if reading[0] == "standard")
    ]


@lru_cache(maxsize=200_000)
def waits_of(concealed, melds, hidden, held_four):
    own = Counter(concealed)
    for kind, tile in melds:
        own[tile] += 3 if kind == "pung" else 4
    near = set(concealed)  # a tile that touches nothing in the hand completes nothing
    for tile in concealed:
        if tile[1] != "z":
            near |= {f"{int(tile[0]) + step}{tile[1]}" for step in (-2, -1, 1, 2)}
    open_tiles = Counter(concealed) - Counter(dict.fromkeys(hidden, 3))
    near = [tile for tile in ALL_KINDS if tile in near and (own[tile] < 4 or (held_four and open_tiles[tile] < 4))]
    return tuple(tile for tile in near if readings((*concealed, tile), hidden))


def waits(concealed, melds, hidden=(), held_four=False):
    """The tiles that complete a hand of 13 tiles less 3 a meld, in order; a kind held four times is none.

    (`held_four`: it is one all the same, as some servers have it, unless all four stand open in the hand.)

    `melds` are (kind, tile) with kind "pung", "exposed_kong", "added_kong" or "concealed_kong".
    """
    if len(concealed) != 13 - 3 * len(melds):
        return ()
    return waits_of(tuple(sorted(concealed, key=order)), tuple(melds), tuple(hidden), held_four)


@dataclass
class Hand:
    """A hand that wins: concealed tiles without the winning one, melds, and how it was won."""

    concealed: list
    melds: list
    win: str
    by: str  # self_draw | discard | rob_kong
    revealed: bool = False
    after_kong: bool = False
    last_tile: bool = False
    hidden: tuple = ()
    kong_on_kong: bool = False


@dataclass
class Score:
    """What a hand is worth: fans in table order, the winner's own multiple (reveal and cap in), its kans."""

    fans: list
    multiple: int
    kan: int


def seven_pairs_fan(tiles, rules):
    """The one seven-pairs fan that counts: the highest, the earlier of equal ones."""
    quads = sum(1 for count in Counter(tiles).values() if count == 4)
    names = ["seven_pairs", "dragon_seven_pairs", "double_dragon_seven_pairs", "triple_dragon_seven_pairs"]
    fans = names[: quads + 1]  # a fan that a ruleset doesn't play falls back to the next lower of the family
    fans = [next((name for name in reversed(fans) if rules["fan." + name]), None)]
    if all(tile in tiles for tile in DRAGONS) and rules["fan.three_dragons_seven_pairs"]:
        fans.append("three_dragons_seven_pairs")
    fans = [fan for fan in fans if fan]
    return max(fans, key=lambda fan: (rules["fan." + fan], -FANS.index(fan)), default=None)


def four_fans(hand, reading, rules, flush):
    """The si gui fans of a reading, as a list."""
    if flush and not rules["four.with_full_flush"]:
        return []
    held = Counter([*hand.concealed, hand.win])
    pungs = [tile for kind, tile in hand.melds if kind == "pung"]
    scope = rules["four.scope"]
    concealed_scope = scope if rules["four.concealed_scope"] == "same" else rules["four.concealed_scope"]
    if scope == "any":
        ming = ["ming_si_gui"] * sum(1 for tile in pungs if held[tile] == 1)
    else:
        ming = ["ming_si_gui"] * (hand.win in pungs)
    if reading[0] == "pairs":
        an = []
    elif concealed_scope == "any":
        an = ["an_si_gui"] * sum(1 for count in held.values() if count == 4)
    else:
        an = ["an_si_gui"] * (held[hand.win] == 4)
    ming = [fan for fan in ming if rules["fan." + fan]]
    an = [fan for fan in an if rules["fan." + fan]]
    if ming and rules["four.ming_excludes_an"]:
        an = []
    fans = ming + an
    if len(fans) > 1 and rules["four.count"] == "one":
        fans = [max(fans, key=lambda fan: (rules["fan." + fan], -FANS.index(fan)))]
    if rules["four.count"] == "one_of_each":
        fans = ming[:1] + an[:1]
    return fans


def fans_of(hand, reading, all_readings, rules):
    """The fans of one reading of a hand, in table order."""
    tiles = [*hand.concealed, hand.win]
    everything = tiles + [tile for _, tile in hand.melds]
    fans = []
    flush = len({tile[1] for tile in everything}) == 1 and everything[0][1] != "z"
    if flush:
        fans.append("full_flush")
    if reading[0] == "pairs":
        fans.append(seven_pairs_fan(tiles, rules))
    else:
        _, pair, melds = reading
        triplets = [tile for kind, tile in melds if kind == "triplet"] + [tile for _, tile in hand.melds]
        all_pungs = len(triplets) == 4
        middle = [("run", "4" + hand.win[1])] if hand.win[0] == "5" and hand.win[1] != "z" else []
        ka = any(run in melds for run in middle)
        if all_pungs and rules["ka_wu_xing.with_all_pungs"]:
            ka = any(run in other[2] for run in middle for other in all_readings if other[0] == "standard")
        if ka and rules["ka_wu_xing.single_wait"]:
            ka = waits(hand.concealed, hand.melds, hand.hidden) == (hand.win,)
        four_melds = len(hand.melds) == 4
        if not rules["shou_zhua_yi.concealed_kong"]:
            four_melds = four_melds and all(kind != "concealed_kong" for kind, _ in hand.melds)
        if all_pungs and not (hand.hidden and not rules["reveal.hidden_all_pungs"]):
            if not (four_melds and rules["fan.shou_zhua_yi"] and rules["shou_zhua_yi.replaces_all_pungs"]):
                fans.append("all_pungs")
        if four_melds:
            fans.append("shou_zhua_yi")
        if ka:
            fans.append("ka_wu_xing")
        dragons = [tile for tile in DRAGONS if tile in triplets]
        if len(dragons) == 3:
            fans.append("big_three_dragons")
        if len(dragons) == 2 and pair in DRAGONS:
            fans.append("little_three_dragons")
    fans += four_fans(hand, reading, rules, flush)
    if hand.after_kong:
        fans += {"self_draw": ["after_kong_draw"], "discard": ["after_kong_discard"], "rob_kong": []}[hand.by]
    if hand.kong_on_kong and hand.by == "self_draw":
        fans.append("kong_on_kong")
    if hand.by == "rob_kong":
        fans.append("rob_kong")
    if hand.last_tile:
        fans += {"self_draw": ["last_tile_draw"], "discard": ["last_tile_discard"], "rob_kong": []}[hand.by]
    if hand.revealed:
        fans.append("reveal")
    return sorted((fan for fan in fans if fan and rules["fan." + fan]), key=FANS.index)


def kan_of(hand, reading, rules):
    """Kongs, and kinds of which three or four are concealed; the tile of a discard win completes none."""
    if reading[0] == "pairs" and not rules["side.kan_seven_pairs"]:
        return 0
    held = Counter(hand.concealed + ([hand.win] if hand.by == "self_draw" or rules["side.kan_with_win"] else []))
    return sum(1 for kind, _ in hand.melds if kind != "pung") + sum(1 for count in held.values() if count >= 3)


def multiple_of(fans, rules, payer_revealed=False):
    """The multiple of a list of fans for a payer: combined, times the reveal factors of both, capped."""
    combined = 1
    values = [rules["fan." + fan] for fan in fans if fan != "reveal"]
    if rules["score.combine"] == "add":
        combined = sum(values) if values else 1
    else:
        for value in values:
            combined *= value
    factor = rules["fan.reveal"] if "reveal" in fans else 1
    if payer_revealed and rules["fan.reveal"]:
        if rules["reveal.payer"] == "both" or (rules["reveal.payer"] == "either" and "reveal" not in fans):
            factor = min(factor * rules["fan.reveal"], max(factor, rules["reveal.factor_cap"]))
    cap = rules["score.cap"]
    if cap == 0:
        return combined * factor
    if rules["score.cap_covers_reveal"]:
        return min(combined * factor, cap)
    return min(combined, cap) * factor


def score(hand, rules):
    """The Score of a hand's best reading, or None when it is not complete."""
    found = readings([*hand.concealed, hand.win], hand.hidden)
    if rules["seven_pairs.first"] and ("pairs",) in found:
        found = [("pairs",)]
    best, best_key = None, None
    for reading in found:
        fans = fans_of(hand, reading, found, rules)
        kan = kan_of(hand, reading, rules)
        multiple = multiple_of(fans, rules)
        combined = multiple_of(fans, rules | {"score.cap": 0})  # the cap limits what is paid, it picks no reading
        key = (-combined, [FANS.index(fan) for fan in fans], -kan)
        if best is None or key < best_key:
            best, best_key = Score(fans, multiple, kan), key
    return best
