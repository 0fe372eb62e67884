"""Exact chances of dealt hands: how a hand of 13 or 14 tiles starts when all 84 are shuffled fairly.

Every hand is counted, none is drawn (those of 13 and 14 tiles once for all: DEALT): suits, dragons and pairs are
combined from their own counts, with whole numbers throughout.  What a hand starts with depends on its number of tiles
first of all: never compare 13 with 14.
"""

from functools import cache
from math import comb

import numpy as np

from replay.shanten import LOW_KEYS, distances

COPIES = np.array([comb(4, held) for held in range(5)], np.int64)  # ways to hold so many of a kind's four copies
FEATURES = ("shanten", "pairs", "triplets", "dragons", "suit_tiles")
TILES = 84
MOST = 14  # tiles that a hand is dealt
# Of the two hands that are dealt, what `counted` gives; it takes seconds of an audit, so it stands here.
DEALT = {
    13: {
        0: 1_781_034_063_888, 1: 56_527_697_414_272, 2: 278_262_982_409_216, 3: 250_346_700_963_840,
        4: 38_323_654_754_304, 5: 564_721_090_560,
    },
    14: {
        -1: 611_661_187_912, 0: 62_513_233_194_240, 1: 750_993_360_163_840, 2: 1_689_264_767_229_952,
        3: 639_816_417_017_856, 4: 30_534_999_736_320,
    },
}  # fmt: skip


def _grouped(classes: np.ndarray, tiles: np.ndarray, pairs: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Ways by (class, tiles, pairs), rows of int64[4] with ways > 0; more than MOST tiles are left out."""
    keep = (tiles <= MOST) & (ways > 0)
    codes = (classes[keep].astype(np.int64) * (MOST + 1) + tiles[keep]) * 8 + np.minimum(pairs[keep], 7)
    found, of = np.unique(codes, return_inverse=True)
    total = np.zeros(len(found), np.int64)
    np.add.at(total, of, ways[keep])
    return np.stack([found // 8 // (MOST + 1), found // 8 % (MOST + 1), found % 8, total], axis=1)


def _part(kinds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all keys of a part of the hand: tiles, pairs (fours count twice), ways to hold them."""
    counts = np.arange(5**kinds)[:, None] // 5 ** np.arange(kinds)[None, :] % 5
    return counts.sum(axis=1), (counts // 2).sum(axis=1), COPIES[counts].prod(axis=1)


def ways(tiles: int) -> dict[int, int]:
    """In how many of the C(84, tiles) hands each shanten stands: {shanten: hands}, melds and a pair or seven pairs."""
    return DEALT[tiles] if tiles in DEALT else counted(tiles)


@cache
def counted(tiles: int) -> dict[int, int]:
    """`ways`, counted."""
    table = distances()
    keys = np.arange(5**9)
    suit = _grouped(table.suit[table.low[keys % LOW_KEYS], keys // LOW_KEYS], *_part(9))
    dragon = _grouped(np.asarray(table.dragon), *_part(3))
    a, b = (one.ravel() for one in np.meshgrid(np.arange(len(suit)), np.arange(len(suit)), indexing="ij"))
    small = suit[a, 1] + suit[b, 1] <= tiles
    a, b = a[small], b[small]
    two = _grouped(
        table.suits[suit[a, 0], suit[b, 0]], suit[a, 1] + suit[b, 1], suit[a, 2] + suit[b, 2], suit[a, 3] * suit[b, 3]
    )
    out: dict[int, int] = {}
    for kind, held, pairs, count in dragon.tolist():
        rows = two[two[:, 1] == tiles - held]
        away = np.minimum(table.standard[rows[:, 0], kind, 0], 6 - np.minimum(rows[:, 2] + pairs, 7))
        for shanten in np.unique(away).tolist():
            out[shanten] = out.get(shanten, 0) + count * int(rows[away == shanten, 3].sum())
    return dict(sorted(out.items()))


def _by_kind(tiles: int, least: int) -> dict[int, int]:
    """Hands by their number of kinds held at least `least` times."""
    table = np.zeros((tiles + 1, 22), object)
    table[0, 0] = 1
    for _ in range(21):
        after = np.zeros_like(table)
        for held in range(5):
            step = int(held >= least)
            after[held:, step:] += int(COPIES[held]) * table[: tiles + 1 - held, : 22 - step]
        table = after
    return {count: int(table[tiles, count]) for count in range(22) if table[tiles, count]}


def _dragons(tiles: int) -> dict[int, int]:
    return {held: comb(12, held) * comb(72, tiles - held) for held in range(min(12, tiles) + 1)}


def _suit_tiles(tiles: int) -> dict[int, int]:
    """Hands by the tiles of the suit of which there are more."""
    out: dict[int, int] = {}
    for first in range(tiles + 1):
        for second in range(tiles + 1 - first):
            more = max(first, second)
            hands = comb(36, first) * comb(36, second) * comb(12, tiles - first - second)
            out[more] = out.get(more, 0) + hands
    return {held: hands for held, hands in sorted(out.items()) if hands}


@cache
def chances(feature: str, tiles: int) -> dict[int, float]:
    """The exact distribution of a feature of FEATURES among hands of `tiles` tiles, {value: chance}; values ascend."""
    counted = {
        "shanten": ways, "pairs": lambda n: _by_kind(n, 2), "triplets": lambda n: _by_kind(n, 3),
        "dragons": _dragons, "suit_tiles": _suit_tiles,
    }[feature](tiles)  # fmt: skip
    total = comb(TILES, tiles)
    assert sum(counted.values()) == total, (feature, tiles)
    return {value: hands / total for value, hands in counted.items()}


@cache
def moments(feature: str, tiles: int) -> tuple[float, float]:
    """Mean and variance of a feature."""
    found = chances(feature, tiles)
    mean = sum(value * chance for value, chance in found.items())
    return mean, sum((value - mean) ** 2 * chance for value, chance in found.items())
