"""Shuffles that a log can name, so that anybody can make the committed order of tiles from its salt.

`proof.scheme` "sha256+NAME" says: the order is what the shuffle NAME makes of the salt.  All do the same but for the
generator of numbers:

1. The tiles stand sorted: the round's suits, each 1-9, then 5z, 6z, 7z, each kind four times in a row: 84 tiles.  The
   two suits stand in the order that the column `suits` spells: dots before bamboo, characters before either.
2. The seed is SHA-256 of the salt's ASCII bytes: 32 bytes.
3. The generator, seeded as told below, gives words of 32 or 64 bits.
4. Fisher-Yates from the end: for place = 83, 82, …, 1 take a number j from 0 to place and swap the tiles at j and
   place.  A number below n (here n = place + 1) is the next word w, where words of at least 2^bits - 2^bits mod n are
   passed over, modulo n: every number is exactly as likely.

| name | generator | seeded with the 32 bytes | words | test vectors |
| --- | --- | --- | --- | --- |
| `chacha20` | ChaCha20 block function, RFC 8439 section 2.3 | as the key; nonce 0; counter 0, 1, … | 32 bits, little-endian | RFC 8439, 2.3.2 and A.1 |
| `mt19937` | Mersenne Twister, Matsumoto and Nishimura 2002 | `init_by_array` of eight 32-bit little-endian numbers | 32 bits, tempered | mt19937ar.out of its authors |
| `philox4x64-10` | Philox, Salmon and others 2011 | the first 16 bytes as the key, two 64-bit little-endian numbers; counter 0, 1, … | 64 bits, four a block | kat_vectors of Random123 |

A name that is not in this table is no error: the log is read, and its proof stops at the commitment.
"""  # noqa: E501

import struct
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count

import numpy as np

from ingest.tiles import NAMES

WORD = 0xFFFFFFFF
PREFIX = "sha256+"


def chacha20_block(key: bytes, counter: int, nonce: bytes) -> bytes:
    """64 bytes of key stream; key of 32 bytes, nonce of 12 (RFC 8439 section 2.3)."""
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), counter & WORD,
             *struct.unpack("<3I", nonce)]  # fmt: skip
    state = list(start)

    def add(a: int, b: int, d: int, bits: int) -> None:
        state[a] = (state[a] + state[b]) & WORD
        mixed = state[d] ^ state[a]
        state[d] = (mixed << bits | mixed >> (32 - bits)) & WORD

    for _ in range(10):
        for a, b, c, d in (
            (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
        ):  # fmt: skip
            add(a, b, d, 16)
            add(c, d, b, 12)
            add(a, b, d, 8)
            add(c, d, b, 7)
    return struct.pack("<16I", *((one + other) & WORD for one, other in zip(state, start, strict=True)))


def chacha20(seed: bytes) -> Iterator[int]:
    """Words of 32 bits."""
    for block in count():
        yield from struct.unpack("<16I", chacha20_block(seed, block, bytes(12)))


def mt19937_words(key: list[int]) -> Iterator[int]:
    """Words of 32 bits after `init_by_array(key)`."""
    generator = np.random.RandomState(np.array(key, np.uint32))
    while True:
        yield from generator.randint(0, 1 << 32, 128, np.uint32).tolist()


def mt19937(seed: bytes) -> Iterator[int]:
    """Words of 32 bits."""
    return mt19937_words(list(struct.unpack("<8I", seed)))


def philox_words(key: tuple[int, int], counter: int = 0) -> Iterator[int]:
    """Words of 64 bits: the four of block `counter`, of the next block, …"""
    # NumPy counts up before it makes a block.
    generator = np.random.Philox(key=key[0] | key[1] << 64, counter=(counter - 1) % (1 << 256))
    while True:
        yield from generator.random_raw(64).tolist()


def philox(seed: bytes) -> Iterator[int]:
    """Words of 64 bits."""
    return philox_words(struct.unpack("<2Q", seed[:16]))


# name: (words from 32 bytes, bits of a word)
GENERATORS: dict[str, tuple[Callable[[bytes], Iterator[int]], int]] = {
    "chacha20": (chacha20, 32),
    "mt19937": (mt19937, 32),
    "philox4x64-10": (philox, 64),
}


def named(scheme: str | None) -> str | None:
    """The shuffle of this table that a `proof.scheme` names, None if it names none."""
    name = (scheme or "").removeprefix(PREFIX)
    return name if name in GENERATORS and scheme != name else None


def below(words: Iterator[int], bits: int, n: int) -> int:
    """The next number from 0 to n - 1, every one as likely."""
    limit = (1 << bits) - (1 << bits) % n
    while (word := next(words)) >= limit:
        pass
    return word % n


def order(name: str, salt: str, suits: str) -> str:
    """The 84 tiles, two characters each, that shuffle `name` makes of an ASCII salt for a game of `suits`."""
    make, bits = GENERATORS[name]
    words = make(sha256(salt.encode("ascii")).digest())
    tiles = [tile for tile in NAMES[suits] for _ in range(4)]
    for place in range(len(tiles) - 1, 0, -1):
        other = below(words, bits, place + 1)
        tiles[place], tiles[other] = tiles[other], tiles[place]
    return "".join(tiles)
