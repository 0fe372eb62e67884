"""How far a hand is from complete, by table look-up: shanten and useful tiles.

What matters of a part of the hand (a suit, the dragons) is its distance row: the tiles it lacks for 0 to 4 melds,
without and with a pair.  Of the 1,953,125 suit keys there are only 126 different rows, of the dragon keys 20, and two
suits together have 180.  So a part has a class, two suits have one, and a last small table gives shanten.  The class
of a suit is looked up in two steps, its six low ranks and then its three high ones, so that all tables together stay
below 250 kB and in the processor's own cache.  They come from an automaton that reads a key rank by rank and merges
equal states (a third of a second).  Shanten counts tiles: -1 complete, 0 ready.  Source: rules.md section 3.
"""

import numpy as np

from replay.hand import DRAGON_KEYS, popcount
from replay.jit import inner

SUIT_CLASSES, PAIR_CLASSES, DRAGON_CLASSES = 126, 180, 20
LOW_RANKS, LOW_KEYS, HIGH_KEYS = 6, 5**6, 5**3
LOW_CLASSES = 1113
DISTANCES = np.dtype(
    [
        ("low", np.uint16, (LOW_KEYS,)),  # class of the low six ranks of a suit key
        ("suit", np.uint8, (LOW_CLASSES, HIGH_KEYS)),  # class of a suit
        ("dragon", np.uint8, (DRAGON_KEYS,)),
        ("suits", np.uint8, (SUIT_CLASSES, SUIT_CLASSES)),  # class of two suits
        ("rows", np.int8, (SUIT_CLASSES, 5, 2)),  # tiles that a suit lacks by melds and pair
        ("two_rows", np.int8, (PAIR_CLASSES, 5, 2)),  # that two suits lack
        ("bare", np.int8, (PAIR_CLASSES, DRAGON_CLASSES, 5)),  # tiles lacking to the melds without the pair
        ("standard", np.int8, (PAIR_CLASSES, DRAGON_CLASSES, 5)),  # shanten, by classes and melds on the table
    ]
)
_FAR = 20  # more tiles than any hand lacks
# One digit of every state's fingerprint: fixed odd 64-bit numbers, so that equal states are found by sorting numbers.
_WEIGHTS = (np.arange(1, 91, dtype=np.int64) * -7046029254386353131 ^ 0x2545F4914F6CDD1D) | 1


def _classes(places: int, runs: bool, cut: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(class of the base-5 keys of the first `cut` counts, class of (that, key of the rest), distance rows).

    Shapes (5**cut,), (low classes, 5**(places - cut)) and int8 (classes, 5 melds, 2 pair).  A state of the automaton
    holds, for 0-4 melds, 0-1 pair and 0-2 runs begun at each of the two ranks before, the tiles lacking so far.  Three
    equal runs are three triplets, so two suffice.
    """
    states = np.full((1, 5, 2, 3, 3), _FAR, np.int8)
    states[0, 0, 0, 0, 0] = 0
    classes = low = np.zeros(1, np.int64)
    for rank in range(places):
        if rank == cut:
            low, classes = classes, np.arange(len(states))
        after = np.full((len(states), 5, 5, 2, 3, 3), _FAR, np.int8)  # by the digit read
        for older in range(3):
            for old in range(3):
                for new in range(3 if runs and rank < places - 2 else 1):
                    for triplet, pair in ((0, 0), (1, 0), (0, 1)):
                        need = older + old + new + 3 * triplet + 2 * pair
                        if need > 4:
                            continue
                        melds = new + triplet
                        before = states[:, : 5 - melds, : 2 - pair, older, old]
                        for digit in range(5):
                            out = after[:, digit, melds:, pair:, old, new]
                            np.minimum(out, before + max(0, need - digit), out=out)
        if rank == places - 1:
            after = after[:, :, :, :, :1, :1]
        flat = after.reshape(len(states) * 5, -1)
        marks = flat.astype(np.int64) @ _WEIGHTS[: flat.shape[1]]
        _, first, of = np.unique(marks, return_index=True, return_inverse=True)
        states = flat[first].reshape(-1, *after.shape[2:])
        classes = of.reshape(-1, 5)[classes].T.reshape(-1)
    joined, of = np.unique(classes.reshape(5 ** (places - cut), -1).T, axis=0, return_inverse=True)
    return of[low], joined, states[:, :, :, 0, 0]


def _two_suits(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(class of each two suit classes, distance rows of those classes)."""
    two = np.full((len(rows), len(rows), 5, 2), _FAR, np.int8)
    for a in range(5):
        for b in range(5 - a):
            for pair_a, pair_b in ((0, 0), (0, 1), (1, 0)):
                there = two[:, :, a + b, pair_a + pair_b]
                np.minimum(there, rows[:, None, a, pair_a] + rows[None, :, b, pair_b], out=there)
    found, of = np.unique(two.reshape(-1, 10), axis=0, return_inverse=True)
    return of.reshape(len(rows), -1), found.reshape(-1, 5, 2)


def _lacking(suits: np.ndarray, dragons: np.ndarray, pairs: int) -> np.ndarray:
    """Tiles lacking to melds and `pairs` pairs by (class of two suits, dragon class, melds on the table)."""
    out = np.full((len(suits), len(dragons), 5), _FAR, np.int8)
    for fixed in range(5):
        for third in range(5 - fixed):
            for pair in range(pairs + 1):
                lacking = suits[:, None, 4 - fixed - third, pairs - pair] + dragons[None, :, third, pair]
                np.minimum(out[..., fixed], lacking, out=out[..., fixed])
    return out


_DISTANCES: np.recarray | None = None


def distances() -> np.record:
    """The look-up tables as one record, built once a process."""
    global _DISTANCES
    if _DISTANCES is None:
        array = np.zeros(1, DISTANCES).view(np.recarray)
        array.low[0], array.suit[0], array.rows[0] = _classes(9, runs=True, cut=LOW_RANKS)
        _, dragons, dragon_rows = _classes(3, runs=False, cut=0)
        array.dragon[0] = dragons[0]
        array.suits[0], array.two_rows[0] = _two_suits(array.rows[0])
        array.bare[0] = _lacking(array.two_rows[0], dragon_rows, 0)
        array.standard[0] = _lacking(array.two_rows[0], dragon_rows, 1) - 1
        _DISTANCES = array
    return _DISTANCES[0]


@inner
def suit_class(sh, key):
    """The class of a suit key."""
    high = key // LOW_KEYS
    return sh.suit[sh.low[key - high * LOW_KEYS], high]


@inner
def pairs_away(st, seat):
    """Shanten for seven pairs, at 13 or 14 tiles; 99 with a meld on the table."""
    return 99 if st.melds[seat] else 6 - (st.tiles[seat] - popcount(st.odd[seat])) // 2


@inner
def shanten(st, sh, seat):
    """Tiles that the concealed hand lacks to be ready: -1 complete, 0 ready, at any number of tiles.

    Seven pairs counts where nothing is on the table.  Copies seen elsewhere don't matter.
    """
    two = sh.suits[suit_class(sh, st.key[seat, 0]), suit_class(sh, st.key[seat, 1])]
    away = np.int64(sh.standard[two, sh.dragon[st.key[seat, 2]], min(st.melds[seat], 4)])
    return min(away, pairs_away(st, seat))


@inner
def useful_kinds(st, tb, sh, seat, live):
    """The kinds, of those with copies in `live` (int64[21]), that bring the hand nearer: (bit set, their copies).

    Standard hands and seven pairs alike, at a hand of 13 tiles less three a meld.
    """
    melds = min(st.melds[seat], 4)
    of_dragons = sh.dragon[st.key[seat, 2]]
    a = suit_class(sh, st.key[seat, 0])
    b = suit_class(sh, st.key[seat, 1])
    away = np.int64(sh.standard[sh.suits[a, b], of_dragons, melds])
    by_pairs = pairs_away(st, seat)
    single = st.odd[seat] if by_pairs <= away else 0  # a second of these is a step to seven pairs
    away = min(away, by_pairs)
    useful = 0
    for part in range(2):
        key = st.key[seat, part]
        other = b if part == 0 else a
        high = key // LOW_KEYS
        low = key - high * LOW_KEYS
        of_low = sh.low[low]
        for rank in range(9):
            kind = 9 * part + rank
            if live[kind] <= 0 or st.hand[seat, kind] >= 4:
                continue
            if rank < LOW_RANKS:
                then = sh.suit[sh.low[low + tb.pow5[rank]], high]
            else:
                then = sh.suit[of_low, high + tb.pow5[rank - LOW_RANKS]]
            if single >> kind & 1 or sh.standard[sh.suits[then, other], of_dragons, melds] < away:
                useful |= 1 << kind
    for kind in range(18, 21):
        if live[kind] > 0 and st.hand[seat, kind] < 4:
            then = sh.dragon[st.key[seat, 2] + tb.pow5[kind]]
            if single >> kind & 1 or sh.standard[sh.suits[a, b], then, melds] < away:
                useful |= 1 << kind
    tiles = 0
    for kind in range(21):
        if useful >> kind & 1:
            tiles += live[kind]
    return useful, tiles


@inner
def useful_tiles(st, tb, sh, seat, live):
    """Tiles of `live` (int64[21], copies of each kind) that bring the hand nearer."""
    return useful_kinds(st, tb, sh, seat, live)[1]


@inner
def nearest_discards(st, tb, sh, seat, kinds):
    """Those of some kinds (bit set, held all) whose discard leaves the hand as near to ready as any of them."""
    melds = min(st.melds[seat], 4)
    of_dragons = sh.dragon[st.key[seat, 2]]
    a = suit_class(sh, st.key[seat, 0])
    b = suit_class(sh, st.key[seat, 1])
    pairs = 0
    for kind in range(21):
        pairs += st.hand[seat, kind] // 2
    best = 99
    nearest = 0
    for kind in range(21):
        if not kinds >> kind & 1:
            continue
        if kind < 9:
            two = sh.suits[suit_class(sh, st.key[seat, 0] - tb.pow5[kind]), b]
            away = np.int64(sh.standard[two, of_dragons, melds])
        elif kind < 18:
            two = sh.suits[a, suit_class(sh, st.key[seat, 1] - tb.pow5[kind])]
            away = np.int64(sh.standard[two, of_dragons, melds])
        else:
            away = np.int64(sh.standard[sh.suits[a, b], sh.dragon[st.key[seat, 2] - tb.pow5[kind]], melds])
        if st.melds[seat] == 0:
            away = min(away, 6 - pairs + (1 if st.hand[seat, kind] % 2 == 0 else 0))
        if away < best:
            best = away
            nearest = 0
        if away == best:
            nearest |= 1 << kind
    return nearest
