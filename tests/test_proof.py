"""What a round's tiles are proved by: five grades, each of what the replay has verified."""

from hashlib import sha256

import pytest
from by_hand import deal, play, tiles, wall

from replay.proof import seats_of_deal
from replay.shuffles import GENERATORS, order


def seeded(name: str, salt: str, dealing: str = "one") -> dict:
    """A round of two turns whose tiles all come from a seed."""
    text = order(name, salt, "ps")
    dealt = [text[at : at + 2] for at in range(0, 168, 2)]
    hands = ["", "", ""]
    for seat, tile in zip(seats_of_deal(dealing, 0), dealt, strict=False):
        hands[seat] += tile
    proof = {"scheme": f"sha256+{name}", "commit": sha256((salt + text).encode()).hexdigest(), "salt": salt,
             "order": text, "deal": dealing}  # fmt: skip
    events = f"0x{dealt[39]} 1d{dealt[40]} 1y{dealt[40]} 2d{dealt[41]} 2y{dealt[41]} z"
    return {"rules": "hubei", "hands": hands, "events": events, "wall": text[80:], "proof": proof}


def grade(folder, **round) -> tuple[str, list[str]]:
    out = play(folder, **round)
    return out.round["proof"], out.codes


def test_without_a_wall_the_tiles_are_conserved(tmp_path) -> None:
    hands = deal("7z", "11p")
    assert grade(tmp_path, rules="hubei", hands=hands, events="0x7z 1. 2. z") == ("tiles", [])


def test_draws_that_match_the_wall(tmp_path) -> None:
    hands = deal("7z", keep="8s5p")
    row = {"rules": "hubei", "hands": hands, "wall": wall(hands, "8s5p")}
    assert grade(tmp_path, events="0x7z 1d8s 1y8s 2d5p 2y5p z", **row) == ("wall", [])
    swapped = "0x7z 1d5p 1y5p 2d8s 2y8s z"
    assert grade(tmp_path, events=swapped, **row) == ("tiles", ["draw_not_from_wall", "draw_not_from_wall"])


def test_a_draw_from_nowhere_proves_nothing(tmp_path) -> None:
    hands = deal("7z8888s", keep="5p")
    row = {"rules": "hubei", "hands": hands, "events": "0x7z 1d8s 1y8s z"}
    assert grade(tmp_path, **row) == ("none", ["fifth_tile"])
    assert grade(tmp_path, **row, wall=wall(hands, "5p")) == ("none", ["draw_not_from_wall"])


def test_a_discard_from_nowhere_and_a_log_without_an_end_prove_nothing(tmp_path) -> None:
    hands = deal("7z", "", keep="5p")
    spare = next(tile for tile in tiles("123456789p") if tile not in hands[1])
    assert grade(tmp_path, rules="hubei", hands=hands, events=f"0x7z 1d8s 1x{spare} z") == ("none", ["tile_not_held"])
    assert grade(tmp_path, rules="hubei", hands=hands, events="0x7z 1.") == ("none", ["missing_event"])


@pytest.mark.parametrize("dealing", ["one", "four"])
@pytest.mark.parametrize("name", GENERATORS)
def test_an_order_that_its_seed_reproduces(tmp_path, name: str, dealing: str) -> None:
    row = seeded(name, "a salt", dealing)
    assert grade(tmp_path, **row) == ("seed", [])
    plain = row | {"proof": row["proof"] | {"scheme": "sha256"}}
    assert grade(tmp_path, **plain) == ("commitment", [])
    unknown = row | {"proof": row["proof"] | {"scheme": "sha256+dice"}}
    assert grade(tmp_path, **unknown) == ("commitment", [])


def test_an_order_that_its_seed_does_not_reproduce(tmp_path) -> None:
    row = seeded("chacha20", "a salt")
    other = row | {"proof": row["proof"] | {"scheme": "sha256+mt19937"}}
    assert grade(tmp_path, **other) == ("commitment", ["seed_mismatch"])


def test_without_a_wall_the_draws_follow_from_the_order(tmp_path) -> None:
    row = seeded("chacha20", "a salt")
    del row["wall"]
    assert grade(tmp_path, **row) == ("seed", [])
    tokens = row["events"].split()
    first, second = tokens[1][2:], tokens[3][2:]
    assert first != second
    swapped = f"{tokens[0]} 1d{second} 1y{second} 2d{first} 2y{first} z"
    assert grade(tmp_path, **row | {"events": swapped}) == ("tiles", ["draw_not_from_wall", "draw_not_from_wall"])


def test_a_commitment_that_does_not_open_leaves_the_wall(tmp_path) -> None:
    row = seeded("chacha20", "a salt")
    row["proof"]["commit"] = "0" * 64
    assert grade(tmp_path, **row) == ("wall", ["commit_mismatch"])
