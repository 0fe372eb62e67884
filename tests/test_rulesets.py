"""Rulesets: strict loading, what a log may claim, the records kernels read, worked examples, the generated page."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import oracle_hand
import oracle_rules
import pytest

from ingest.events import FANS
from replay import rulefile, rules_text, ruleset
from replay.ruleset import BASE, DTYPE, RulesetError

ROOT = Path(__file__).parent.parent
HEAD = """
id = "town"
name = { zh = "镇", en = "Town" }
sources = [{ file = "sheet.txt", title = "a sheet" }]
"""
YINGCHENG = """
id = "yingcheng"
name = { zh = "应城卡五星", en = "Yingcheng" }
extends = "xiangyang"
sources = [{ file = "house rules", title = "点炮、自摸都要两番起胡" }]

[rules]
"win.discard_min" = 2 # 点炮两番起胡
"win.self_draw_min" = 2
"""
SHEETS = [
    "3d_shiyan", "3d_xiangyang", "3d_xiaogan", "hubei", "parlour", "qichun", "suizhou", "xiangyang",
    "xiangyang_table", "xiangyang_unlimited",
]  # fmt: skip


def write(folder: Path, text: str, name: str = "town") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A copy of replay/rulesets to add files to."""
    folder = tmp_path / "rulesets"
    shutil.copytree(ruleset.FOLDER, folder)
    caches = (ruleset.paths, ruleset.family, ruleset.ids, ruleset._load)
    for module in (ruleset, rulefile):
        monkeypatch.setattr(module, "FOLDER", folder)
    for cache in caches:
        cache.cache_clear()
    yield folder
    for cache in caches:
        cache.cache_clear()


def test_the_sheets_rulesets_are_there_and_the_parent_is_not_playable() -> None:
    assert [ident for ident in ruleset.ids() if ruleset.family(ident).file.path.parent.name != "sites"] == SHEETS
    assert not ruleset.load("3d").playable
    assert ruleset.load("3d_shiyan").values["win.discard_min"] == 2


@pytest.mark.parametrize("ident", SHEETS)
def test_a_second_writing_of_the_sheets_agrees(ident: str) -> None:
    assert ruleset.load(ident).values == oracle_rules.values(ident)


def test_a_record_has_one_field_a_key_and_the_fans_in_table_order() -> None:
    assert set(DTYPE.names) == {key.replace(".", "_") for key in BASE if not key.startswith("fan.")} | {"fan"}
    assert all(DTYPE[name].base == np.int64 for name in DTYPE.names)
    rules = ruleset.load("qichun", {"score.cap": 16, "side.horse": "six"})
    assert rules.record["score_cap"] == 16
    assert rules.record["side_horse"] == ruleset.mode("side.horse", "six") == 2
    assert rules.record["side_kan"] == 1
    assert rules.record["fan"].tolist() == [rules.values[f"fan.{fan}"] for fan in FANS]


def test_equal_play_has_an_equal_digest() -> None:
    one = ruleset.load("hubei", {"score.cap": 8, "side.piao_max": 2})
    two = ruleset.load("hubei", {"side.piao_max": 2, "score.cap": 8})
    assert one is two
    assert list(one.options) == ["score.cap", "side.piao_max"]
    assert re.fullmatch("[0-9a-f]{16}", one.digest)
    assert one.digest != ruleset.load("hubei").digest
    assert ruleset.load("hubei", {"score.cap": 0}).digest == ruleset.load("hubei").digest


def test_mode_knows_every_word_and_nothing_else() -> None:
    assert [ruleset.mode("draw.settle", word) for word in BASE["draw.settle"].values] == list(range(6))
    assert ruleset.mode("side.kan", True) == 1
    with pytest.raises(RulesetError, match=r"unknown key 'draw.setle', did you mean 'draw.settle'\?"):
        ruleset.mode("draw.setle", "ready")
    with pytest.raises(RulesetError, match="'draw.settle': 'redy', expected one of first_revealed"):
        ruleset.mode("draw.settle", "redy")


BROKEN = {
    "not TOML": ("id = ", "not TOML"),
    "unknown key": (HEAD + '[rules]\n"scor.cap" = 8', r"\[rules\]: unknown key 'scor.cap', did you mean 'score.cap'"),
    "unknown fan": (HEAD + '[rules]\n"fan.all_pongs" = 2', "did you mean 'fan.all_pungs'"),
    "not a bool": (HEAD + '[rules]\n"side.kan" = 1', r"'side.kan': 1, expected true or false"),
    "not an integer": (HEAD + '[rules]\n"score.cap" = true', "'score.cap': True, expected an integer 0 to 4096"),
    "a fraction": (HEAD + '[rules]\n"score.cap" = 8.0', "'score.cap': 8.0, expected an integer"),
    "out of range": (HEAD + '[rules]\n"win.discard_min" = 0', "expected an integer 1 to 64"),
    "unknown word": (HEAD + '[rules]\n"draw.settle" = "all"', "'draw.settle': 'all', expected one of first_revealed"),
    "key twice": (HEAD + '[rules]\n"score.cap" = 8\nscore.cap = 4', "'score.cap' stands twice"),
    "no safe tile without no feeding": (
        HEAD + '[rules]\n"reveal.no_safe_tile" = "end_and_pay"',
        "'reveal.no_safe_tile' = end_and_pay needs 'reveal.no_feeding' = true",
    ),
    "horse without a horse": (HEAD + '[rules]\n"side.horse_reveal_only" = true', "needs 'side.horse' = last_tile or"),
    "stakes": (HEAD + '[rules]\n"stake.min" = 9\n"stake.max" = 8', "'stake.max' = 8 is below 'stake.min' = 9"),
    "payer's reveal without a value": (
        HEAD + '[rules]\n"reveal.payer" = "both"\n"fan.reveal" = 0',
        "'reveal.payer' = both needs a value of 'fan.reveal'",
    ),
    "no id": (HEAD.replace('id = "town"', ""), "id: missing"),
    "other id": (HEAD.replace('"town"', '"city"'), "id: 'city', expected the file's name 'town'"),
    "no name": (HEAD.replace("name", "nam"), "name: missing"),
    "half a name": (HEAD.replace(', en = "Town"', ""), "name: .*expected"),
    "no sources": (HEAD.replace("sources", "source"), "sources: missing"),
    "empty sources": (HEAD.split("sources")[0] + "sources = []", "sources: missing"),
    "source without title": (HEAD.replace(', title = "a sheet"', ""), "sources: 'title' is missing"),
    "source of a wrong type": (HEAD.replace('"a sheet"', "3"), "sources: .*expected texts"),
    "unknown part": (HEAD + "[rulez]\n", "rulez: unknown key, did you mean 'rules'"),
    "rules of a wrong type": (HEAD + "rules = 3", "rules: 3, expected a table"),
    "option of an unknown key": (HEAD + '[options]\n"score.cup" = [8]', r"\[options\]: unknown key 'score.cup'"),
    "option without a list": (HEAD + '[options]\n"score.cap" = 8', "expected the list of allowed values"),
    "option of a wrong value": (HEAD + '[options]\n"score.cap" = ["8"]', "'score.cap': '8', expected an integer"),
    "unknown parent": (HEAD + 'extends = "hubai"', "unknown ruleset 'hubai', did you mean 'hubei'"),
    "its own parent": (HEAD + 'extends = "town"', "'town' extends this file in turn"),
    "reading of another value": (
        HEAD + '[[reading]]\nkey = "score.cap"\nchosen = 8\nalternatives = [0]\nwords = "…"',
        "'score.cap': chosen 8, played 0",
    ),
    "reading of an unknown key": (
        HEAD + '[[reading]]\nkey = "cap"\nchosen = 8\nalternatives = [0]\nwords = "…"',
        "unknown key 'cap'",
    ),
    "reading without alternatives": (
        HEAD + '[[reading]]\nkey = "score.cap"\nchosen = 0\nalternatives = []\nwords = "…"',
        "alternatives: expected a list",
    ),
    "example without a hand": (HEAD + '[[example]]\nwin = "5p"', "example: 'concealed' is missing"),
    "example of an unknown fan": (
        HEAD + '[[example]]\nconcealed = "5p"\nwin = "5p"\nby = "discard"\nexpect = { multiple = 1, fans = ["pongs"] }',
        "unknown fan 'pongs'",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_an_error_that_names_file_and_key(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    with pytest.raises(RulesetError, match=message) as error:
        ruleset.load_file(write(tmp_path, text))
    assert "town.toml" in str(error.value)


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(RulesetError, match="cannot be read"):
        ruleset.load_file("nowhere.toml")


def test_a_cycle_is_an_error(own_folder: Path) -> None:
    write(own_folder, HEAD.replace("town", "one") + 'extends = "two"', "one")
    write(own_folder, HEAD.replace("town", "two") + 'extends = "one"', "two")
    with pytest.raises(RulesetError, match="two.toml: extends: 'one' extends this file in turn"):
        ruleset.family("one")


def test_dotted_keys_may_be_unquoted_and_an_empty_list_takes_an_option_back(tmp_path: Path) -> None:
    text = HEAD + 'extends = "suizhou"\n[rules]\nscore.cap = 8\n[options]\nfan.last_tile_draw = []\n'
    town = ruleset.load_file(write(tmp_path, text))
    assert town.values["score.cap"] == 8
    assert "fan.last_tile_draw" not in town.options_allowed
    assert town.options_allowed["score.cap"] == (8, 0, 4, 16, 32)


def test_a_region_is_one_data_file(own_folder: Path) -> None:
    write(own_folder, YINGCHENG, "yingcheng")
    assert ruleset.check("yingcheng", {"score.cap": 8}) is None
    rules = ruleset.load("yingcheng", {"score.cap": 8})
    assert (rules.record["win_discard_min"], rules.record["win_self_draw_min"]) == (2, 2)
    assert rules.values | {"win.discard_min": 1, "win.self_draw_min": 1, "score.cap": 0} == (
        ruleset.load("xiangyang").values
    )
    assert rules_text.words(ruleset.family("yingcheng"), "win.discard_min") == "点炮两番起胡"
    assert {row["key"] for row in rules_text.difference("yingcheng", "xiangyang")} == {
        "win.discard_min",
        "win.self_draw_min",
    }


@pytest.mark.parametrize(
    ("ident", "options", "code", "field", "message"),
    [
        ("hubai", {}, "unknown_rules", "rules", "did you mean 'hubei'"),
        ("3d", {}, "unknown_rules", "rules", "no ruleset '3d'"),
        ("base", {}, "unknown_rules", "rules", "no ruleset 'base'"),
        ("../base", {}, "unknown_rules", "rules", "no ruleset"),
        ("hubei", {"score.cup": 8}, "unknown_option", "options.score.cup", "did you mean 'score.cap'"),
        ("hubei", {"four.scope": "any"}, "unknown_option", "options.four.scope", "it lists score.cap, side.horse"),
        ("hubei", {"score.cap": 9}, "bad_option_value", "options.score.cap", "expected one of 0, 4, 8, 16, 32"),
        ("hubei", {"score.cap": "8"}, "bad_option_value", "options.score.cap", "'8', expected"),
        ("hubei", {"score.cap": 8.0}, "bad_option_value", "options.score.cap", "8.0, expected"),
        ("hubei", {"score.cap": False}, "bad_option_value", "options.score.cap", "False, expected"),
        ("hubei", {"score.cap": [8]}, "bad_option_value", "options.score.cap", "expected"),
        ("hubei", {"side.horse": "six"}, "bad_option_value", "options.side.horse", "none, last_tile"),
        ("3d_shiyan", {"stake.min": 40000, "stake.max": 20000}, "bad_option_value", "options.stake.max", "is below"),
    ],
)
def test_a_wrong_claim_is_told_by_code_and_field(ident, options, code, field, message) -> None:
    found = ruleset.check(ident, options)
    assert found is not None
    assert found[:2] == (code, field)
    assert message in found[2]
    if code != "unknown_rules":
        with pytest.raises(RulesetError, match=re.escape(field)):
            ruleset.load(ident, options)


def test_every_listed_option_can_be_chosen() -> None:
    for ident in ruleset.ids():
        known = ruleset.load(ident)
        assert ruleset.check(ident, {}) is None and ruleset.check(ident) is None
        assert "score.cap" in known.options_allowed
        for key, values in known.options_allowed.items():
            for value in values:
                assert ruleset.check(ident, {key: value}) is None
                assert ruleset.load(ident, {key: value}).values[key] == value


def test_variants_change_one_key_each_in_the_order_of_their_text() -> None:
    rules = ruleset.load("suizhou", {"score.cap": 8})
    found = ruleset.variants(rules)
    texts = [f"{key}={ruleset.text(value)}" for key, value, _ in found]
    assert texts == sorted(set(texts))
    assert {"score.cap=16", "fan.last_tile_draw=2", "side.kan=true", "draw.settle=ready", "win.discard_min=2"} <= set(
        texts
    )
    assert not {"score.cap=8", "wall.suits=any_two"} & set(texts)
    assert not any(key in ("side.piao_max", "stake.base") for key, _, _ in found)  # inputs explain nothing
    for key, value, record in found:
        changed = [name for name in DTYPE.names if not np.array_equal(record[name], rules.record[name])]
        assert changed == ["fan" if key.startswith("fan.") else key.replace(".", "_")]
        assert record == ruleset.record_of(rules.values | {key: value})


EXAMPLES = [
    pytest.param(ident, example, id=f"{ident}-{number}")
    for ident in sorted(ruleset.paths())
    for number, example in enumerate(ruleset.family(ident).file.examples)
]


@pytest.mark.parametrize(("ident", "example"), EXAMPLES)
def test_worked_examples_hold_in_the_engine_and_in_the_literal_scorer(ident: str, example: dict) -> None:
    assert rules_text.run_example(ruleset.family(ident), example) == example["expect"]
    hand = oracle_hand.Hand(
        oracle_hand.parse(example["concealed"]),
        [tuple(meld.split()) for meld in example.get("melds", [])],
        example["win"],
        example["by"],
        *(example.get(flag, False) for flag in ("revealed", "after_kong", "last_tile")),
        kong_on_kong=example.get("after_kong", 0) > 1,
    )
    score = oracle_hand.score(hand, ruleset.load(ident, example.get("options")).values)
    assert {"multiple": score.multiple, "fans": list(score.fans)} == example["expect"]


def test_every_sheet_ruleset_has_an_example() -> None:
    assert {param.values[0] for param in EXAMPLES} >= set(SHEETS)


def test_a_file_is_checked_with_its_examples(tmp_path: Path) -> None:
    hand = '[[example]]\nconcealed = "4688p123789s"\nmelds = ["pung 9p"]\nwin = "5p"\nby = "discard"\n'
    good = HEAD + hand + 'expect = { multiple = 2, fans = ["ka_wu_xing"] }\n'
    assert rules_text.check_file(write(tmp_path, good)) == 1
    with pytest.raises(RulesetError, match=r"example 1.*expected 4 .*found 2 \[ka_wu_xing\]"):
        rules_text.check_file(write(tmp_path, good.replace("multiple = 2", "multiple = 4")))
    with pytest.raises(RulesetError, match="example 1: .*options.score.cap: town has no option .*it lists none"):
        rules_text.check_file(write(tmp_path, good.replace("win =", 'options = { "score.cap" = 8 }\nwin =')))
    with pytest.raises(RulesetError, match="example 1: "):
        rules_text.check_file(write(tmp_path, good.replace("4688p", "468p")))


def test_the_words_of_kwx_rules() -> None:
    listed = rules_text.listing_text()
    assert re.search(r"(?m)^hubei +湖北卡五星 · Hubei$", listed)
    told = rules_text.explanation_text("3d_shiyan", {"score.cap": 8})
    assert "* win.discard_min = 2  [3d: 2番起胡]\n    base: 1\n" in told
    assert "* score.cap = 8  [option]" in told
    assert "* side.raise = true  [3d_shiyan: 当出现一炮双响" in told
    assert "read as 2, could be 1" in told
    assert "source: 3D卡五星游戏规则 (002_cf65fa11865da77d.txt)" in told
    assert "deal_in.to_revealed" in rules_text.difference_text("hubei", "qichun")
    assert rules_text.difference_text("hubei", "hubei") == "hubei and hubei play the same\n"
    json.dumps([rules_text.listing(), rules_text.explanation("qichun"), rules_text.difference("hubei", "parlour")])


def test_the_rules_page_is_current() -> None:
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert page == rules_text.markdown(), "run: python -m replay.rules_text docs/rules.md"


def test_every_key_is_read_by_the_engine() -> None:
    """The kernel reads `rules.<field>`; what only loading looks at (the limits of a coin table) is read by key."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "replay").glob("*.py")))
    unread = [
        key
        for key, entry in BASE.items()
        if not key.startswith("fan.") and not re.search(rf'\brules\.{entry.field}\b|values\["{re.escape(key)}"\]', code)
    ]
    assert unread == []


def test_every_rule_that_the_kernel_reads_is_a_key() -> None:
    read = set()
    for path in sorted((ROOT / "replay").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        if "@jit\n" in code:
            read |= set(re.findall(r"\brules\.([a-z_]+)\b(?!\()", re.sub(r'""".*?"""', "", code, flags=re.S)))
    assert read <= set(DTYPE.names)
