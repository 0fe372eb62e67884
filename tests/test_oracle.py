"""The oracle agrees with every case: hands, waits and whole rounds of all ten rulesets.

The cases come from an independent scorer and player (tests/data/cases, gzip-compressed JSON lines).
"""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest
from oracle import play
from oracle_hand import Hand, parse, score, waits
from oracle_rules import DIFFERENCES, values

from replay import ruleset

CASES = Path(__file__).parent / "data" / "cases"


def cases(name):
    with gzip.open(CASES / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def hand_of(case):
    melds = [tuple(meld.split()) for meld in case["melds"]]
    how = case["by"], case["revealed"], case["after_kong"], case["last_tile"]
    return Hand(parse(case["concealed"]), melds, case["win"], *how)


def net_by_cause(ledger):
    """Net points per seat of each cause that moves points between seats."""
    nets = defaultdict(lambda: [0, 0, 0])
    for cause, payer, payee, points in ledger:
        if payee is not None:
            nets[cause][payer] -= points
            nets[cause][payee] += points
    return {cause: net for cause, net in nets.items() if any(net)}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_ruleset_files_say_what_the_sheets_say(name):
    assert ruleset.load(name).values == values(name)


def test_every_ruleset_has_a_second_writing():
    sheets = {path.stem for path in (Path(ruleset.__file__).parent / "rulesets").glob("*.toml")}
    assert sheets & set(ruleset.ids()) == set(DIFFERENCES)


def test_scores():
    found = [score(hand_of(case), values(case["rules"], case["options"])) for case in cases("score")]
    got = [one and {"multiple": one.multiple, "fans": one.fans} for one in found]
    assert got == [case["expect"] for case in cases("score")]
    assert len(got) == 520


def test_waits():
    for case in cases("waits"):
        melds = [tuple(meld.split()) for meld in case["melds"]]
        assert list(waits(parse(case["concealed"]), melds)) == case["expect"], case["id"]


def test_whole_rounds():
    before, next_raise = None, 0
    for record in cases("rounds"):
        where = record["game"], record["round"]
        rules = values(record["rules"], record.get("options"))
        got = play(record, rules)
        assert got["violations"] == [], where
        assert net_by_cause(got["ledger"]) == {
            cause: net for cause, net in record["_expect"]["ledger"].items() if any(net)
        }, where
        assert got["next_dealer"] == record["_expect"]["next_dealer"], where
        result = record["result"]
        assert (got["end"], got["points"], got["kongs"]) == (result["end"], result["points"], result["kongs"]), where
        for win, logged in zip(got["wins"], result["wins"], strict=True):
            assert {"from": None} | logged == {key: win[key] for key in ("seat", "from", "tile", "fans", "multiple")}
        if before == record["game"]:
            dice = rules["side.raise_on_dice"] and record["dice"][0] == record["dice"][1]
            assert record["raise"] == next_raise + dice, where
        before, next_raise = record["game"], got["next_raise"]
