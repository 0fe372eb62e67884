"""Shuffles by name: the generators give their published numbers, the shuffles stay what they are and are fair."""

from collections import Counter
from itertools import islice

import pytest

from ingest.tiles import NAMES
from replay.shuffles import GENERATORS, below, chacha20_block, mt19937_words, named, order, philox_words


def test_chacha20_gives_the_blocks_of_rfc_8439() -> None:
    block = chacha20_block(bytes(range(32)), 1, bytes.fromhex("000000090000004a00000000"))  # section 2.3.2
    assert block.hex() == (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    block = chacha20_block(bytes(32), 0, bytes(12))  # appendix A.1, vector 1
    assert block.hex() == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )


def test_mt19937_gives_the_numbers_of_its_authors() -> None:
    words = mt19937_words([0x123, 0x234, 0x345, 0x456])  # mt19937ar.out
    assert list(islice(words, 5)) == [1067595299, 955945823, 477289528, 4107218783, 4228976476]


@pytest.mark.parametrize(
    ("counter", "key", "block"),
    [  # kat_vectors of Random123, "philox4x64 10"
        ((0, 0, 0, 0), (0, 0), "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
        ((2**64 - 1,) * 4, (2**64 - 1,) * 2, "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0"),
        (
            (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
            (0x452821E638D01377, 0xBE5466CF34E90C6C),
            "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
        ),
    ],
)
def test_philox_gives_the_blocks_of_random123(counter: tuple, key: tuple, block: str) -> None:
    number = sum(word << 64 * place for place, word in enumerate(counter))
    assert " ".join(f"{word:016x}" for word in islice(philox_words(key, number), 4)) == block


@pytest.mark.parametrize("name", GENERATORS)
def test_an_order_holds_every_tile_four_times_and_hangs_on_the_salt(name: str) -> None:
    orders = {order(name, f"salt {number}", "ps") for number in range(8)}
    assert len(orders) == 8 and order(name, "salt 0", "ps") in orders
    for text in orders:
        assert Counter(text[at : at + 2] for at in range(0, 168, 2)) == dict.fromkeys(NAMES["ps"], 4)


@pytest.mark.parametrize("name", GENERATORS)
def test_the_first_places_are_fair(name: str) -> None:
    seen = Counter(order(name, str(number), "ps")[:2] for number in range(420))
    assert len(seen) == 21
    assert sum((seen[kind] - 20) ** 2 / 20 for kind in seen) < 45.3  # chi-square of 20 degrees, one in a thousand


def test_words_that_would_favour_small_numbers_are_passed_over() -> None:
    assert below(iter([252, 255, 251]), 8, 84) == 251 % 84
    assert below(iter([0]), 8, 84) == 0


def test_which_schemes_name_a_shuffle() -> None:
    assert named("sha256+chacha20") == "chacha20"
    assert [named(scheme) for scheme in (None, "sha256", "chacha20", "sha256+dice")] == [None] * 4
