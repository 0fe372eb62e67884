"""How far a hand is from ready, and from ready for each fan of its shape: tried out literally.

Shanten tries every choice of melds and pair of a suit; a fan's distance counts what is lacking to the shapes that
replay/aims.py names.  Shares nothing with the engine.
"""

from collections import Counter
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from oracle_hand import DRAGONS


@cache
def targets(places, runs):
    """Every choice of up to four melds and at most one pair of one suit: (needs int8[places, n], groups' starts).

    Sorted by (melds, pairs); `starts` has the first column of each of the ten groups, which is out of reach.
    """
    shapes = [[3 * (at == one) for at in range(places)] for one in range(places)]
    if runs:
        shapes += [[int(at <= one < at + 3) for one in range(places)] for at in range(places - 2)]
    found, starts = [], []
    for melds in range(5):
        for pair in range(2):
            starts.append(len(found))
            found.append([12] * places)
            for chosen in combinations_with_replacement(shapes, melds):
                need = [sum(column) for column in zip([0] * places, *chosen, strict=True)]
                for eyes in range(places) if pair else [None]:
                    both = [count + 2 * (place == eyes) for place, count in enumerate(need)]
                    if max(both) <= 4:
                        found.append(both)
    return np.array(found, np.int8).T.copy(), starts


@cache
def lacking(counts, runs):
    """The fewest tiles that some tiles of one suit lack, by (melds, pairs): a list of ten."""
    needs, starts = targets(len(counts), runs)
    lack = np.zeros(needs.shape[1], np.int8)
    for need, held in zip(needs, counts, strict=True):
        lack += np.maximum(need - np.int8(held), 0)
    return np.minimum.reduceat(lack, starts).tolist()


@cache
def shanten(hand, melds):
    """Tiles that a concealed hand (a sorted tuple) lacks to be ready, with `melds` on the table; -1 when complete."""
    suits = sorted({tile[1] for tile in hand if tile[1] != "z"})
    parts = [lacking(tuple(hand.count(f"{rank}{suit}") for rank in range(1, 10)), True) for suit in suits]
    parts.append(lacking(tuple(hand.count(tile) for tile in DRAGONS), False))
    best = {(0, 0): 0}
    for part in [*parts, *[lacking((0,) * 9, True)] * (3 - len(parts))]:
        longer = {}
        for (have, eyes), lack in best.items():
            for more in range(5 - have):
                for pair in range(2 - eyes):
                    key = have + more, eyes + pair
                    longer[key] = min(longer.get(key, 99), lack + part[2 * more + pair])
        best = longer
    least = best[4 - melds, 1]
    if melds == 0:
        twos = sum(count // 2 for count in Counter(hand).values())
        ones = len(hand) - 2 * twos
        least = min(least, sum(1 if n < ones else 2 for n in range(7 - twos)))
    return least - 1


def cheapest(options, wanted):
    """The least cost of taking at most one option of each list so that they come to `wanted`; 99: there is no way."""
    return costs(options, wanted).get(tuple(wanted), 99)


def costs(options, wanted):
    """The least cost of every sum up to `wanted`; an option is (…counts, cost)."""
    best = {(0,) * len(wanted): 0}
    for choices in options:
        longer = dict(best)
        for sums, cost in best.items():
            for *counts, more in choices:
                key = tuple(a + b for a, b in zip(sums, counts, strict=True))
                if all(have <= want for have, want in zip(key, wanted, strict=True)):
                    longer[key] = min(longer.get(key, 99), cost + more)
        best = longer
    return best


def missing(held, tiles):
    """(tiles that are not held, what is left of the held ones)."""
    held, wanted = Counter(held), Counter(tiles)
    return sum((wanted - held).values()), list((held - wanted).elements())


def run_of(rank, suit):
    return [f"{rank + step}{suit}" for step in range(3)] if 1 <= rank <= 7 else None


def rest_away(hand, melds, pair=True):
    """Tiles lacking to the melds that are not on the table (`melds` are) and, if asked, a pair; seven pairs apart."""
    if melds > 4:
        return 99
    suits = sorted({tile[1] for tile in hand if tile[1] != "z"})
    parts = [lacking(tuple(hand.count(f"{rank}{suit}") for rank in range(1, 10)), True) for suit in suits]
    parts += [lacking((0,) * 9, True)] * (2 - len(suits))
    parts.append(lacking(tuple(hand.count(tile) for tile in DRAGONS), False))
    options = [[(m, p, part[2 * m + p]) for m in range(5) for p in range(2)] for part in parts]
    return cheapest(options, (4 - melds, int(pair)))


def distances(hand, melds, suits, rules):
    """{fan: tiles that the hand lacks to be ready for a win with it}, without fans that it can't have."""
    held = Counter(hand)
    kinds = [f"{rank}{suit}" for suit in suits for rank in range(1, 10)] + list(DRAGONS)
    melded = {tile for _, tile in melds}
    away = {}
    free = [kind for kind in kinds if kind not in melded]
    sets = [[(1, 0, max(0, 3 - held[kind])), (0, 1, max(0, 2 - held[kind]))] for kind in free]
    if len(melds) < 4 or not rules["shou_zhua_yi.replaces_all_pungs"]:
        away["all_pungs"] = cheapest(sets, (4 - len(melds), 1)) - 1
    if rules["shou_zhua_yi.concealed_kong"] or all(kind != "concealed_kong" for kind, _ in melds):
        claims = [[(1, 3 - min(held[kind], 2))] for kind in free]
        away["shou_zhua_yi"] = cheapest(claims, (4 - len(melds),))
    if not melds:
        twos = [[(1, 0, max(0, 2 - held[kind])), (2, 1, max(0, 4 - held[kind]))] for kind in kinds]
        twos_in = dict(zip(kinds, twos, strict=True))
        seven = costs(twos, (7, 3))
        any_fours = [seven.get((7, fours), 99) for fours in range(4)]
        names = ["seven_pairs", "dragon_seven_pairs", "double_dragon_seven_pairs", "triple_dragon_seven_pairs"]
        for least, name in enumerate(names):
            away[name] = min(any_fours[least:]) - 1
        must = sum(max(0, 2 - held[kind]) for kind in DRAGONS)
        more = [[(pairs, cost) for pairs, _, cost in twos_in[kind]] for kind in kinds if kind not in DRAGONS]
        more += [[(1, 4 - max(held[kind], 2))] for kind in DRAGONS]
        away["three_dragons_seven_pairs"] = must + cheapest(more, (4,)) - 1
    for suit in suits:
        if all(tile[1] == suit for tile in melded):
            counts = tuple(held[f"{rank}{suit}"] for rank in range(1, 10))
            lack = lacking(counts, True)[2 * (4 - len(melds)) + 1]
            if not melds:
                pairs_in = [[(1, max(0, 2 - count)), (2, max(0, 4 - count))] for count in counts]
                lack = min(lack, cheapest(pairs_in, (7,)))
            away["full_flush"] = min(away.get("full_flush", 99), lack - 1)
    in_suits = [tile for tile in hand if tile not in DRAGONS]
    others = sum(tile not in DRAGONS for _, tile in melds)
    triplets = {dragon: 0 if dragon in melded else max(0, 3 - held[dragon]) for dragon in DRAGONS}
    if others <= 1:
        away["big_three_dragons"] = sum(triplets.values()) + suits_away(in_suits, 1 - others, 1) - 1
    ways = [
        sum(lack for dragon, lack in triplets.items() if dragon != eyes) + max(0, 2 - held[eyes])
        for eyes in DRAGONS
        if eyes not in melded
    ]
    if others <= 2 and ways:
        away["little_three_dragons"] = min(ways) + suits_away(in_suits, 2 - others, 0) - 1
    if len(melds) < 4:
        away |= runs_away(hand, melds, suits, rules)
    return {fan: lack for fan, lack in away.items() if rules["fan." + fan] and lack < 40}


def suits_away(hand, melds, pairs):
    """Tiles lacking to so many melds and pairs of the suits alone."""
    suits = sorted({tile[1] for tile in hand})
    parts = [lacking(tuple(hand.count(f"{rank}{suit}") for rank in range(1, 10)), True) for suit in suits]
    parts += [lacking((0,) * 9, True)] * (2 - len(suits))
    return cheapest([[(m, p, part[2 * m + p]) for m in range(5) for p in range(2)] for part in parts], (melds, pairs))


def runs_away(hand, melds, suits, rules):
    """`distances` of the fans that lie in a run of their own."""
    away, count = {}, len(melds)
    own = Counter(hand)
    for kind, tile in melds:
        own[tile] += 3 if kind == "pung" else 4

    def shorter(fan, lack):
        away[fan] = min(away.get(fan, 99), lack)

    scope = rules["four.scope"]
    concealed_scope = scope if rules["four.concealed_scope"] == "same" else rules["four.concealed_scope"]
    for suit in suits:
        if own[f"5{suit}"] < 4:
            lack, rest = missing(hand, [f"4{suit}", f"6{suit}"])
            shorter("ka_wu_xing", lack + rest_away(rest, count + 1))
        for rank in range(1, 10):
            tile = f"{rank}{suit}"
            starts = [run_of(rank - step, suit) for step in range(3) if run_of(rank - step, suit)]
            if ("pung", tile) in melds and (tile not in hand or scope == "any"):
                for run in starts:
                    lack, rest = missing(hand, run)
                    shorter("ming_si_gui", lack + rest_away(rest, count + 1) - 1)
            if hand.count(tile) == 3 or (hand.count(tile) == 4 and concealed_scope == "any"):
                for kept in (3, 2, 0):
                    for runs in combinations_with_replacement(starts, 4 - kept):
                        tiles = [tile] * kept + [one for run in runs for one in run]
                        if count + len(runs) + (kept == 3) > 4:
                            continue
                        lack, rest = missing(hand, tiles)
                        more = rest_away(rest, count + len(runs) + (kept == 3), kept != 2)
                        shorter("an_si_gui", lack + more - 1)
    return away
