"""The list of cheats, how they are written, the command, and the document made of the list."""

import json
from pathlib import Path

import pytest

from ingest.rejects import REJECT_CODES
from replay import cheats
from replay.problems import CODES

ROOT = Path(__file__).parent.parent


def test_the_document_is_the_list() -> None:
    """Written by: python -c "from replay.cheats import document; print(document(), end='')" > docs/cheats.md"""
    assert (ROOT / "docs" / "cheats.md").read_text(encoding="utf-8") == cheats.document()


def test_every_cheat_can_be_written_and_read_back() -> None:
    for name, kind in cheats.KINDS.items():
        given = ",".join(f"{key}=u{at}" for at, key in enumerate(kind.given, 1) if kind.given[key] is None)
        cheat = cheats.parse(f"{name}:{given}")
        assert cheats.parse(str(cheat)) == cheat
        assert set(cheat.values) <= set(cheats.ARGUMENTS)
        assert all(code in CODES or code in REJECT_CODES for code in kind.breaks)
        assert kind.honest == (kind.family == "honest") and (kind.checks or kind.honest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("upgrad:account=u1", "unknown cheat 'upgrad'; did you mean upgrade?"),
        ("xxx", "unknown cheat 'xxx'; --list-cheats lists them"),
        ("upgrade", "account is missing, whose cheat it is"),
        ("upgrade:account=", "account is empty, expected the name of an account"),
        ("upgrade:account=u1,k=2", "'k=2', expected one of account=…, q=…, log=…, from=…, until=…"),
        ("upgrade:account=u1,q", "'q', expected one of"),
        ("upgrade:account=u1,q=1.1", "q=1.1, expected a number from 0 to 1"),
        ("upgrade:account=u1,q=nan", "q=nan, expected a number from 0 to 1"),
        ("upgrade:account=u1,q=.1,q=.2", "q stands twice"),
        ("upgrade:account=u1,log=no", "log=no, expected clean or commitment or wall"),
        ("lcg:bits=16.5", "bits=16.5, expected a number from 1 to 32, whole"),
        ("dump:account=u1,partner=u1", "account and partner must differ"),
    ],
)
def test_what_cannot_be_planted_is_said(text: str, message: str) -> None:
    with pytest.raises(cheats.CheatError) as error:
        cheats.parse(text)
    assert message in str(error.value)


def test_the_command_lists_them(cli) -> None:
    done = cli("simulate", "--list-cheats")
    assert done.code == 0 and all(f"  {name}" in done.out for name in cheats.KINDS)


def test_the_command_plants_and_labels(cli, tmp_path) -> None:
    path = tmp_path / "log.jsonl.zst"
    asked = ("simulate", "--rules", "hubei", "--rounds", 150, "--seed", 2, "--accounts", 30, "-o", path)
    assert cli(*asked, "--cheat", "comeback:k=1,q=1", "--cheat", "whale:account=u7").code == 0
    labels = [json.loads(line) for line in Path(f"{path}.labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["label"] for row in labels[:2]] == ["cheat", "honest"] and labels[0]["arguments"]["q"] == 1
    acts = [row for row in labels if row["label"] == "act"]
    assert len(acts) > 100 and {row["name"] for row in acts} == {"comeback"} and labels[-2]["acts"] == len(acts)
    checked = cli("check", tmp_path)
    assert checked.code == 0 and "150 clean" in checked.out  # the labels are no log


def test_the_command_says_what_is_wrong_before_it_writes(cli, tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    asked = ("simulate", "--rules", "hubei", "--rounds", 5, "--seed", 2, "-o", path)
    done = cli(*asked, "--cheat", "upgrade:account=u99")
    assert done.code == 2 and "no account 'u99'; there are u1 to u48" in done.err
    assert list(tmp_path.iterdir()) == []
