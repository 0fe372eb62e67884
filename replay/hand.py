"""Complete hands, waits and readiness by table look-up.

A suit is a base-5 key of its nine counts, the dragons one of their three.  One 32-bit entry a key says: bit 0 it is
melds only, bit 1 melds and a pair, bits 2-10 the ranks that would make it melds only, bits 11-19 the ranks that
would make it melds and a pair.  A hand is three look-ups.  Melds in hand are runs and triplets (no runs of dragons);
seven pairs is judged apart from the parities of the counts.  Source: rules.md sections 2 and 3.

96 of 100 suit keys have entry 0, in long stretches: `row` tells where the 25 entries of keys 25k to 25k + 24 stand
among the different rows, 0 for the row of zeros.  So the tables take 440 KB instead of 8 MB, and stay in the cache.
"""

import numpy as np

from replay.jit import inner, jit

SUIT_KEYS = 5**9
DRAGON_KEYS = 5**3
ROW_KEYS = 25
ROWS = 2870
TABLES = np.dtype(
    [
        ("row", np.uint16, (SUIT_KEYS // ROW_KEYS,)),
        ("entry", np.uint32, (ROWS * ROW_KEYS,)),
        ("dragon", np.uint32, (DRAGON_KEYS,)),
        ("pow5", np.int64, (21,)),
    ]
)
MELDS, MELDS_AND_PAIR = 1, 2
SUIT_KINDS = 0x1FF


def _entries(places: int, runs: bool) -> np.ndarray:
    """The look-up entries of all base-5 keys of `places` counts; shape (5**places,), dtype uint32."""
    size = 5**places
    power = 5 ** np.arange(places, dtype=np.int64)
    shapes = [np.eye(places, dtype=np.int64)[i] * 3 for i in range(places)]
    if runs:
        shapes += [np.array([1 if i <= j < i + 3 else 0 for j in range(places)]) for i in range(places - 2)]
    level = np.zeros((1, places), np.int64)
    melds = [level]
    for _ in range(4):
        level = np.concatenate([level + shape for shape in shapes])
        level = np.unique(level[(level <= 4).all(axis=1)], axis=0)
        melds.append(level)
    only = np.unique(np.concatenate(melds), axis=0)
    paired = np.concatenate([only + 2 * np.eye(places, dtype=np.int64)[i] for i in range(places)])
    paired = np.unique(paired[(paired <= 4).all(axis=1)], axis=0)
    table = np.zeros(size, np.uint32)
    for counts, flag, shift in ((only, MELDS, 2), (paired, MELDS_AND_PAIR, 11)):
        keys = counts @ power
        table[keys] |= np.uint32(flag)
        for rank in range(places):
            has = counts[:, rank] > 0
            table[keys[has] - power[rank]] |= np.uint32(1 << (shift + rank))
    return table


def tables() -> np.record:
    """The look-up tables as one record, built once a process in well under a second."""
    global _TABLES
    if _TABLES is None:
        # recarray(1)[0] would copy the tables out of their array: keep the array and hand out its record.
        array = np.zeros(1, TABLES).view(np.recarray)
        entries = _entries(9, runs=True).reshape(-1, ROW_KEYS)
        used = entries.any(axis=1)  # the others are row 0
        rows, row = np.unique(entries[used].view(f"V{4 * ROW_KEYS}"), return_inverse=True)
        array.entry[0, ROW_KEYS:] = rows.view(np.uint32)
        array.row[0, used] = row.reshape(-1) + 1
        array.dragon[0] = _entries(3, runs=False)
        array.pow5[0] = [5**i for i in range(9)] * 2 + [1, 5, 25]
        _TABLES = array
    return _TABLES[0]


_TABLES: np.recarray | None = None


@jit
def add_tile(st, tb, seat, kind, count):
    """Change the concealed count of a kind by `count` (negative: take away) and keep the keys in step."""
    st.hand[seat, kind] += count
    st.tiles[seat] += count
    if count & 1:
        st.odd[seat] ^= 1 << kind
    part = 0 if kind < 9 else (1 if kind < 18 else 2)
    st.key[seat, part] += count * tb.pow5[kind]


@inner
def suit_entry(tb, key):
    """The entry of a suit key."""
    place = np.uint64(key)  # unsigned: it is never negative, and an index that could be costs a check
    high = place // np.uint64(ROW_KEYS)
    row = np.uint64(tb.row[high])
    return np.int64(tb.entry[row * np.uint64(ROW_KEYS) + place - high * np.uint64(ROW_KEYS)])


@inner
def popcount(bits):
    """Number of set bits."""
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@inner
def complete_keys(tb, a, b, d):
    """Whether suit keys a, b and dragon key d together are melds and exactly one pair."""
    x = suit_entry(tb, a)
    y = suit_entry(tb, b)
    z = np.int64(tb.dragon[d])
    if x & y & 1 and z & 2:
        return True
    return z & 1 != 0 and ((x & 1 != 0 and y & 2 != 0) or (x & 2 != 0 and y & 1 != 0))


@inner
def without_hidden(st, tb, seat, part):
    """The key of a part of the hand less its hidden triplets; -1 when the hand lacks one (a log may say so)."""
    key = st.key[seat, part]
    for kind in range(part * 9, min(part * 9 + 9, 21)):
        if st.hidden[seat] >> kind & 1:
            if st.hand[seat, kind] < 3:
                return -1
            key -= 3 * tb.pow5[kind]
    return key


@jit
def waits_of(st, tb, seat):
    """The kinds that complete a hand of 13 less three a meld, as a bit set; hidden triplets stay triplets.

    A kind whose four copies are all in the seat's own hand and melds is no wait (win.wait_held_four: it is one as
    far as a meld holds some of them).
    """
    if st.dead[seat]:
        return 0
    waits = 0
    if st.hidden[seat]:
        a = without_hidden(st, tb, seat, 0)
        b = without_hidden(st, tb, seat, 1)
        d = without_hidden(st, tb, seat, 2)
        if a < 0 or b < 0 or d < 0:
            return 0
    else:
        a = st.key[seat, 0]
        b = st.key[seat, 1]
        d = st.key[seat, 2]
        odd = st.odd[seat]
        if odd & (odd - 1) == 0 and st.tiles[seat] == 13:
            waits = odd
    # One part must end as melds and a pair, the other two as melds; the wait may fall in any part.  Without an entry
    # a part can be neither.  (One test for all three: which of them fails can't be foreseen.)
    x = suit_entry(tb, a)
    y = suit_entry(tb, b)
    z = np.int64(tb.dragon[d])
    if (x != 0) & (y != 0) & (z != 0):
        if (y & 1 and z & 2) or (y & 2 and z & 1):
            waits |= x >> 2 & SUIT_KINDS
        if y & z & 1:
            waits |= x >> 11 & SUIT_KINDS
        if (x & 1 and z & 2) or (x & 2 and z & 1):
            waits |= (y >> 2 & SUIT_KINDS) << 9
        if x & z & 1:
            waits |= (y >> 11 & SUIT_KINDS) << 9
        if (x & 1 and y & 2) or (x & 2 and y & 1):
            waits |= (z >> 2 & 7) << 18
        if x & y & 1:
            waits |= (z >> 11 & 7) << 18
    if waits and not st.held_four:
        waits &= ~(st.exposed[seat] | st.added[seat] | st.concealed[seat])
        full = waits & st.pung[seat]
        while full:
            low = full & -full
            kind = popcount(low - 1)
            if st.hand[seat, kind]:
                waits &= ~low
            full ^= low
    return waits


@inner
def ready_with_discard(st, tb, seat):
    """Whether some discard from a full hand leaves it ready; hidden triplets are not touched."""
    for kind in range(21):
        spare = st.hand[seat, kind] - (3 if st.hidden[seat] >> kind & 1 else 0)
        if spare > 0:
            add_tile(st, tb, seat, kind, -1)
            waits = waits_of(st, tb, seat)
            add_tile(st, tb, seat, kind, 1)
            if waits:
                return True
    return False


@inner
def splits_without_triplet(counts, kind, pairs):
    """Whether nine counts split into runs, triplets and `pairs` pairs (0 or 1) with no triplet of rank `kind`.

    Few calls: only for kongs after a reveal.  Tried out rather than by recursion: a function that calls itself
    crashes once numba loads it from its cache.
    """
    able = 0
    for rank in range(9):
        if counts[rank] >= 3 and rank != kind:
            able |= 1 << rank
    for pair in range(9 if pairs else 1):
        if pairs and counts[pair] < 2:
            continue
        triplets = able
        while triplets >= 0:
            if rest_are_runs(counts, pair if pairs else -1, triplets):
                return True
            triplets = (triplets - 1) & able if triplets else -1
    return False


@inner
def rest_are_runs(counts, pair, triplets):
    """Whether nine counts less a pair of rank `pair` (-1: none) and a set of triplets are runs and nothing else."""
    before, last = 0, 0  # runs that started two ranks and one rank lower
    for i in range(9):
        runs = counts[i] - before - last - 3 * (triplets >> i & 1) - 2 * (i == pair)
        if runs < 0:
            return False
        before, last = last, runs
    return before == 0 and last == 0
