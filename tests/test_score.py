"""`kwx score` and `kwx waits`: the cases, random hands against the literal scorer, and what is no hand at all."""

import gzip
import json
import random
from pathlib import Path

import oracle_hand
import pytest

from replay import ruleset
from replay.score import score, score_line, waits, waits_line

CASES = Path(__file__).parent / "data" / "cases"
KINDS = [f"{rank}{suit}" for suit in "ps" for rank in range(1, 10)] + ["5z", "6z", "7z"]
MELDS = ("pung", "exposed_kong", "added_kong", "concealed_kong")
HAND = {"id": "h", "rules": "hubei", "concealed": "4688p123789s", "melds": ["pung 9p"], "win": "5p", "by": "discard"}


def cases(name: str) -> list[dict]:
    with gzip.open(CASES / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_scored_case_agrees() -> None:
    for case in cases("score"):
        expect = case["expect"] or {"multiple": None, "fans": None}
        assert score_line(case) == {"id": case["id"], **expect}


def test_every_case_of_waits_agrees() -> None:
    for case in cases("waits"):
        assert waits_line(case) == {"id": case["id"], "waits": case["expect"]}


def random_hand(rng: random.Random) -> dict:
    """A complete hand most of the time: sets and a pair, or seven pairs, often of one suit or of triplets."""
    while True:
        suit = rng.choice(["p", "s", None, None])
        kinds = [kind for kind in KINDS if suit is None or kind[1] == suit]
        if rng.random() < 0.25:
            tiles, melds = [kind for kind in rng.choices(kinds, k=7) for _ in range(2)], []
        else:
            triplets, tiles, melds = rng.random(), [], []
            for _ in range(4):
                kind = rng.choice(kinds)
                if rng.random() < triplets or kind[1] == "z" or int(kind[0]) > 7:
                    if rng.random() < 0.5:
                        melds.append(f"{rng.choice(MELDS)} {kind}")
                    else:
                        tiles += [kind] * 3
                else:
                    tiles += [f"{int(kind[0]) + step}{kind[1]}" for step in range(3)]
            tiles += [rng.choice(kinds)] * 2
        if rng.random() < 0.1:
            tiles[rng.randrange(len(tiles))] = rng.choice(KINDS)
        held = list(tiles)
        for meld in melds:
            held += [meld[-2:]] * (3 if meld.startswith("pung") else 4)
        if max(held.count(kind) for kind in held) <= 4:
            win = rng.choice([tile for tile in tiles if tile[0] == "5"] or tiles)
            tiles.remove(win)
            hand = {"concealed": "".join(tiles), "melds": melds, "win": win}
            hand["by"] = rng.choice(["self_draw", "discard", "rob_kong"])
            return hand | {flag: rng.random() < 0.3 for flag in ("revealed", "after_kong", "last_tile")}


@pytest.mark.parametrize("ident", ruleset.ids())
def test_random_hands_agree_with_the_literal_scorer(ident: str) -> None:
    rng = random.Random(ident)
    allowed = ruleset.load(ident).options_allowed
    complete = 0
    for _ in range(150):
        options = {key: rng.choice(values) for key, values in allowed.items() if not key.startswith("stake.")}
        rules = ruleset.load(ident, options)
        hand = random_hand(rng)
        flags = [hand[flag] for flag in ("revealed", "after_kong", "last_tile")]
        melds = [tuple(meld.split()) for meld in hand["melds"]]
        other = oracle_hand.Hand(oracle_hand.parse(hand["concealed"]), melds, hand["win"], hand["by"], *flags)
        expected = oracle_hand.score(other, rules.values)
        found = score(hand, rules)
        complete += found is not None
        assert found == (expected and (expected.multiple, list(expected.fans))), (hand, options)
    assert complete > 100


def test_waits_of_random_hands_agree_with_the_literal_scorer() -> None:
    rng = random.Random("waits")
    for _ in range(300):
        hand = random_hand(rng)
        melds = [tuple(meld.split()) for meld in hand["melds"]]
        found = waits({key: hand[key] for key in ("concealed", "melds")})
        assert sorted(found) == sorted(oracle_hand.waits(oracle_hand.parse(hand["concealed"]), melds))


def test_a_line_wins_over_the_flags_and_suits_are_the_hand_s_own() -> None:
    revealed = HAND | {"revealed": True}
    assert score_line(revealed)["multiple"] == 4
    assert score_line(revealed, "qichun", {"score.cap": 0}) == score_line(revealed)
    assert score_line({**revealed, "options": {"score.cap": 0}}, "hubei", {"score.cap": 8})["multiple"] == 4
    del revealed["rules"]
    assert score_line(revealed, "qichun") == {"id": "h", "multiple": 8, "fans": ["ka_wu_xing", "reveal"]}
    assert waits_line({"id": 1, "concealed": "19m", "melds": ["pung 2m"]}) == {
        "id": 1,
        "error": "concealed: 2 tiles, expected 10 beside 1 melds",
    }
    assert waits_line({"concealed": "1m", "melds": ["pung 9m", "pung 2m", "pung 3s", "pung 4s"]})["waits"] == ["1m"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"rules": "hubai"}, "rules: no ruleset 'hubai', did you mean 'hubei'?"),
        ({"rules": 3}, "rules: 3, expected a text"),
        (
            {"options": {"score.cup": 8}},
            "options.score.cup: hubei has no option 'score.cup', did you mean 'score.cap'?",
        ),
        ({"options": [8]}, "options: [8], expected an object"),
        ({"concealed": None}, "concealed: None, expected a text"),
        ({"concealed": "468p123789s"}, "concealed: 9 tiles, expected 10 beside 1 melds"),
        ({"concealed": "4689p123789s"}, None),
        ({"concealed": "4888p123789s", "win": "9p"}, None),
        ({"concealed": "4699p123789s"}, "5 copies of 9p, expected at most 4"),
        ({"concealed": "4688p123789m", "win": "5s"}, "tiles of three suits"),
        ({"concealed": "46x8p123789s"}, "concealed: '4x' is not a tile"),
        ({"melds": "pung 9p"}, "melds: 'pung 9p', expected a list"),
        ({"melds": ["chow 9p"]}, "melds: 'chow 9p', expected one of pung, exposed_kong"),
        ({"melds": [9]}, "melds: 9, expected a text"),
        ({"win": "5p6p"}, "win: '5p6p', expected one tile"),
        ({"win": "9z"}, "win: '9z' is not a tile"),
        ({"melds": ["pung p9"]}, "melds: 'p' without a digit before it"),
        ({"by": "luck"}, "by: 'luck', expected one of self_draw, discard, rob_kong"),
        ({"revealed": 1}, "revealed: 1, expected true or false"),
        ({"after_kong": -1}, "after_kong: -1, expected"),
        ({"reveald": True}, "unknown key 'reveald', did you mean 'revealed'?"),
        ({"_source": "x"}, None),
    ],
)
def test_what_is_no_hand_is_an_error_that_names_the_field(change: dict, error: str | None) -> None:
    found = score_line(HAND | change)
    assert found["id"] == "h"
    if error is None:
        assert "error" not in found
    else:
        assert error in found["error"]
