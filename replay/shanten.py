"""How far a hand is from complete, by table look-up: shanten and useful tiles.

What matters of a part of the hand (a suit, the dragons) is its distance row: the tiles it lacks for 0 to 4 melds,
without and with a pair.  Of the 1,953,125 suit keys there are only 126 different rows, of the dragon keys 20.  So a
key has a class, and one table gives shanten for each pair of suit classes, dragon class and number of melds on the
table: five look-ups a hand.  The classes come from an automaton that reads a key rank by rank and merges equal states
(0.3 s).  Shanten counts tiles: -1 complete, 0 ready.  Source: rules.md section 3.
"""

import numpy as np

from replay.hand import DRAGON_KEYS, SUIT_KEYS, popcount
from replay.jit import inner

SUIT_CLASSES, DRAGON_CLASSES = 126, 20
DISTANCES = np.dtype(
    [
        ("suit", np.uint8, (SUIT_KEYS,)),  # class of a suit key
        ("dragon", np.uint8, (DRAGON_KEYS,)),
        ("standard", np.int8, (SUIT_CLASSES, SUIT_CLASSES, DRAGON_CLASSES, 5)),  # by classes and melds on the table
    ]
)
_FAR = 20  # more tiles than any hand lacks
# One digit of every state's fingerprint: fixed odd 64-bit numbers, so that equal states are found by sorting numbers.
_WEIGHTS = (np.arange(1, 91, dtype=np.int64) * -7046029254386353131 ^ 0x2545F4914F6CDD1D) | 1


def _classes(places: int, runs: bool) -> tuple[np.ndarray, np.ndarray]:
    """(class of every base-5 key of `places` counts, distance rows int8 (classes, 5 melds, 2 pair)).

    A state of the automaton holds, for 0-4 melds, 0-1 pair and 0-2 runs begun at each of the two ranks before, the
    tiles lacking so far.  Three equal runs are three triplets, so two suffice.
    """
    states = np.full((1, 5, 2, 3, 3), _FAR, np.int8)
    states[0, 0, 0, 0, 0] = 0
    classes = np.zeros(1, np.int64)
    for rank in range(places):
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
    return classes, states[:, :, :, 0, 0]


def _standard(suits: np.ndarray, dragons: np.ndarray) -> np.ndarray:
    """Shanten of melds and a pair by (suit class, suit class, dragon class, melds on the table)."""
    out = np.full((len(suits), len(suits), len(dragons), 5), _FAR, np.int8)
    two = np.full((len(suits), len(suits), 5, 2), _FAR, np.int8)
    for a in range(5):
        for b in range(5 - a):
            for pair_a, pair_b in ((0, 0), (0, 1), (1, 0)):
                there = two[:, :, a + b, pair_a + pair_b]
                np.minimum(there, suits[:, None, a, pair_a] + suits[None, :, b, pair_b], out=there)
    for fixed in range(5):
        for third in range(5 - fixed):
            for pair in range(2):
                lacking = two[:, :, None, 4 - fixed - third, 1 - pair] + dragons[None, None, :, third, pair]
                np.minimum(out[..., fixed], lacking - 1, out=out[..., fixed])
    return out


_DISTANCES: np.recarray | None = None


def distances() -> np.record:
    """The look-up tables as one record (about 4 MB), built once a process."""
    global _DISTANCES
    if _DISTANCES is None:
        array = np.zeros(1, DISTANCES).view(np.recarray)
        suit, suit_rows = _classes(9, runs=True)
        dragon, dragon_rows = _classes(3, runs=False)
        array.suit[0] = suit
        array.dragon[0] = dragon
        array.standard[0] = _standard(suit_rows, dragon_rows)
        _DISTANCES = array
    return _DISTANCES[0]


@inner
def shanten(st, sh, seat):
    """Tiles that the concealed hand lacks to be ready: -1 complete, 0 ready, at any number of tiles.

    Seven pairs counts where nothing is on the table.  Copies seen elsewhere don't matter.
    """
    away = np.int64(
        sh.standard[
            sh.suit[st.key[seat, 0]], sh.suit[st.key[seat, 1]], sh.dragon[st.key[seat, 2]], min(st.melds[seat], 4)
        ]
    )
    if st.melds[seat] == 0:
        away = min(away, 6 - (st.tiles[seat] - popcount(st.odd[seat])) // 2)
    return away


@inner
def useful_kinds(st, tb, sh, seat, live):
    """The kinds, of those with copies in `live` (int64[21]), that bring the hand nearer: (bit set, their copies).

    Standard hands and seven pairs alike, at a hand of 13 tiles less three a meld.
    """
    melds = min(st.melds[seat], 4)
    in_d = sh.dragon[st.key[seat, 2]]
    away = shanten(st, sh, seat)
    by_pairs = 0  # single tiles of a hand that is as near to seven pairs
    if melds == 0 and 6 - (st.tiles[seat] - popcount(st.odd[seat])) // 2 == away:
        by_pairs = st.odd[seat]
    useful = 0
    tiles = 0
    for kind in range(21):
        if live[kind] <= 0 or st.hand[seat, kind] >= 4:
            continue
        nearer = by_pairs >> kind & 1 != 0
        if kind < 18:
            part = kind // 9
            now = sh.suit[st.key[seat, part]]
            then = sh.suit[st.key[seat, part] + tb.pow5[kind]]
            if then != now:  # by suit the table is the same both ways round; so its rows here lie together
                nearer = nearer or sh.standard[sh.suit[st.key[seat, 1 - part]], then, in_d, melds] < away
        else:
            then = sh.dragon[st.key[seat, 2] + tb.pow5[kind]]
            nearer = nearer or sh.standard[sh.suit[st.key[seat, 0]], sh.suit[st.key[seat, 1]], then, melds] < away
        if nearer:
            useful |= 1 << kind
            tiles += live[kind]
    return useful, tiles


@inner
def useful_tiles(st, tb, sh, seat, live):
    """Tiles of `live` (int64[21], copies of each kind) that bring the hand nearer."""
    return useful_kinds(st, tb, sh, seat, live)[1]
