"""The digests behind round_id and game_key for a batch: what ingest.events.digest64 gives, BLAKE2b (RFC 7693).

The bytes of a site, a game and the digits of a round are each closed by a zero byte; 64 bits are kept.
"""

import numpy as np

from replay.jit import inner, jit
from replay.memory import load8, load32, load64, same, store8, unsigned64

BLOCK = 128
SIZE = 8  # bytes of the digest
IV = (
    np.uint64(0x6A09E667F3BCC908), np.uint64(0xBB67AE8584CAA73B), np.uint64(0x3C6EF372FE94F82B),
    np.uint64(0xA54FF53A5F1D36F1), np.uint64(0x510E527FADE682D1), np.uint64(0x9B05688C2B3E6C1F),
    np.uint64(0x1F83D9ABFB41BD6B), np.uint64(0x5BE0CD19137E2179),
)  # fmt: skip
# The order in which each of the twelve rounds takes the sixteen words of a block; the last two are the first two.
_ORDERS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)  # fmt: skip
SIGMA = 8 * np.array(_ORDERS + _ORDERS[:2])  # as offsets in the block
PARAMETERS = np.uint64(0x01010000 ^ SIZE)  # no key, no tree
ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
DIGITS = 20  # of a 64-bit number, and its zero byte


@inner
def mix(a, b, c, d, x, y):
    """The mixing function G."""
    a = a + b + x
    d ^= a
    d = d >> np.uint64(32) | d << np.uint64(32)
    c += d
    b ^= c
    b = b >> np.uint64(24) | b << np.uint64(40)
    a = a + b + y
    d ^= a
    d = d >> np.uint64(16) | d << np.uint64(48)
    c += d
    b ^= c
    b = b >> np.uint64(63) | b << np.uint64(1)
    return a, b, c, d


@inner
def word(m, place):
    """The word of the block at the address m whose offset stands at the address `place`."""
    return unsigned64(m + load64(place))


@inner
def compress(h, m, sigma, count, final):
    """The compression function F: the state h, uint64[8], takes in the block at the address m; `count` bytes so
    far; sigma: the address of SIGMA."""
    v0, v1, v2, v3, v4, v5, v6, v7 = h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]
    v8, v9, v10, v11, v12, v13, v14, v15 = IV
    v12 ^= np.uint64(count)
    v14 ^= final
    for turn in range(12):
        s = sigma + 128 * turn
        v0, v4, v8, v12 = mix(v0, v4, v8, v12, word(m, s + 0), word(m, s + 8))
        v1, v5, v9, v13 = mix(v1, v5, v9, v13, word(m, s + 16), word(m, s + 24))
        v2, v6, v10, v14 = mix(v2, v6, v10, v14, word(m, s + 32), word(m, s + 40))
        v3, v7, v11, v15 = mix(v3, v7, v11, v15, word(m, s + 48), word(m, s + 56))
        v0, v5, v10, v15 = mix(v0, v5, v10, v15, word(m, s + 64), word(m, s + 72))
        v1, v6, v11, v12 = mix(v1, v6, v11, v12, word(m, s + 80), word(m, s + 88))
        v2, v7, v8, v13 = mix(v2, v7, v8, v13, word(m, s + 96), word(m, s + 104))
        v3, v4, v9, v14 = mix(v3, v4, v9, v14, word(m, s + 112), word(m, s + 120))
    h[0] ^= v0 ^ v8
    h[1] ^= v1 ^ v9
    h[2] ^= v2 ^ v10
    h[3] ^= v3 ^ v11
    h[4] ^= v4 ^ v12
    h[5] ^= v5 ^ v13
    h[6] ^= v6 ^ v14
    h[7] ^= v7 ^ v15


@inner
def digest(h, message, sigma, length):
    """The digest of `length` bytes at the address `message`; what stands behind them up to a whole block is zeroed."""
    for place in range(8):
        h[place] = IV[place]
    h[0] ^= PARAMETERS
    blocks = max(1, (length + BLOCK - 1) // BLOCK)
    for place in range(length, blocks * BLOCK):
        store8(message + place, 0)
    for block in range(blocks - 1):
        compress(h, message + block * BLOCK, sigma, (block + 1) * BLOCK, np.uint64(0))
    compress(h, message + (blocks - 1) * BLOCK, sigma, length, ONES)
    return h[0]


@jit
def fill_digests(site_data, site_offsets, site_codes, game_data, game_offsets, numbers, message, sigma, keys, ids):
    """Fill keys and ids, uint64; the others are addresses.

    Of bytes, int64, int32, bytes, int32, int64; of room for the longest text there is; of SIGMA.
    """
    h = np.empty(8, np.uint64)
    length, site_before, start_before, size_before = 0, -1, 0, -1
    for row in range(len(keys)):
        site = load32(site_codes + 4 * row)
        start, stop = load32(game_offsets + 4 * row), load32(game_offsets + 4 * row + 4)
        again = site == site_before and stop - start == size_before
        again = again and same(game_data + start, game_data + start_before, stop - start)
        site_before, start_before, size_before = site, start, stop - start
        if again:
            keys[row] = keys[row - 1]
        else:
            length = 0
            for place in range(load64(site_offsets + 8 * site), load64(site_offsets + 8 * site + 8)):
                store8(message + length, load8(site_data + place))
                length += 1
            store8(message + length, 0)
            length += 1
            for place in range(start, stop):
                store8(message + length, load8(game_data + place))
                length += 1
            store8(message + length, 0)
            length += 1
            keys[row] = digest(h, message, sigma, length)
        number, digits = load64(numbers + 8 * row), 1
        power = 10
        while digits < 19 and number >= power:
            digits += 1
            power *= 10
        for place in range(digits):
            store8(message + length + digits - 1 - place, 48 + number % 10)
            number //= 10
        store8(message + length + digits, 0)
        ids[row] = digest(h, message, sigma, length + digits + 1)


def digests(
    sites: list[str], codes: np.ndarray, game_data: np.ndarray, game_offsets: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(game keys, round ids), uint64, of rounds.

    sites: distinct ones, codes: int32, of each round; game_data: uint8, game_offsets: int32 (rounds + 1); numbers:
    int64, never negative; all of them contiguous.
    """
    encoded = [site.encode() for site in sites]
    data = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    longest = max(map(len, encoded), default=0) + int(np.diff(game_offsets).max(initial=0)) + DIGITS + 2
    message = np.zeros(-(-longest // BLOCK) * BLOCK, np.uint8)
    keys, ids = np.empty(len(numbers), np.uint64), np.empty(len(numbers), np.uint64)
    with np.errstate(over="ignore"):
        arrays = data, offsets, codes, game_data, game_offsets, numbers, message, SIGMA
        fill_digests(*(array.ctypes.data for array in arrays), keys, ids)
    return keys, ids
