"""The report on one account: planted play shows, the same bytes twice, names are text."""

import json
import os

import polars as pl
import pytest

from analytics import player, save, warehouse
from ingest.mask import Mask
from ingest.read import Reader
from replay import ruleset
from replay.policy import Policy
from replay.review import PLAYER, review
from replay.simulate import simulate

WILD = "[bold]u2[/bold]\x1b[31m<script>"
CARELESS = Policy(noise=0.8, pung=0.3, reveal=0)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """A data set of 40 rounds of three accounts: u1 plays as the rollouts do, u2 (oddly named) mostly at random."""
    folder = tmp_path_factory.mktemp("player")
    policies = {"u1": PLAYER, "u2": CARELESS, "u3": PLAYER}
    lines = []
    for batch in simulate("hubei", 40, 2, policy=policies, accounts=3, lines=True):
        for raw in batch["raw"].to_pylist():
            record = json.loads(raw)
            record["players"] = [WILD if name == "u2" else name for name in record["players"]]
            record.pop("prev", None)
            lines.append(json.dumps(record, separators=(",", ":")))
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    warehouse.load(Reader([str(folder / "a.jsonl")], check_rules=ruleset.check), folder / "a.duckdb")
    return folder / "a.duckdb"


def test_careless_play_shows(db):
    careful, careless = (player.report(db, name, rounds=10, rollouts=200, worst=4) for name in ("u1", WILD))
    one, two = careful["review"], careless["review"]
    assert one["rounds"] == two["rounds"] == 10 and one["decisions"] > 40 < two["decisions"]
    assert two["notes"]["further"] > 10 and one["notes"].get("further", 0) < 4
    assert two["loss_per_round"] - one["loss_per_round"] > 2 * (
        two["loss_per_round_error"] ** 2 + one["loss_per_round_error"] ** 2
    ) ** 0.5  # fmt: skip
    assert two["flagged"] > one["flagged"]
    losses = [row["loss_stakes"] for row in careless["worst"]]
    assert losses == sorted(losses, reverse=True) and len(losses) == 4 and losses[0] > 0
    for row in careless["worst"]:
        assert row["n"] == 200 and row["loss"] > 0
        assert row["options"][row["best"]]["value"] > row["options"][row["played"]]["value"]
        assert abs(row["loss"] - row["loss_stakes"] * row["stake"]) < 0.001 * row["stake"] + 0.001
    net = {one["metric"]: one for one in careless["statistics"]}["net"]
    assert net["n"] == 40 and net["low"] < net["value"] < net["high"]
    assert sorted(one["opponent"] for one in careless["opponents"]) == ["u1", "u3"]
    tiles = careless["luck"]
    assert tiles["n"] == 40 and abs(tiles["adjusted"] - (tiles["net"] - tiles["luck"])) < 1e-5
    assert abs(tiles["net"] - net["value"]) < 1e-5


def test_the_report_is_the_same_on_one_core(db, monkeypatch):
    told = []
    first = player.report(db, WILD, rounds=4, rollouts=64, worst=3, progress=lambda done, total: told.append(done))
    assert told == list(range(1, len(told) + 1))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert player.report(db, WILD, rounds=4, rollouts=64, worst=3) == first


def test_the_costliest_decisions_are_those_of_the_round_itself(db):
    """What the report lists is what `review` finds at that frame, played option and facts alike."""
    from analytics.one_round import from_data_set

    for row in player.report(db, WILD, rounds=3, rollouts=64, worst=3)["worst"]:
        (found,) = review(from_data_set(db, row["id"]), row["seat"], 0, row["event"])
        assert found["played"] == row["played"] and found["notes"] == row["notes"]
        assert [one["useful"] for one in found["options"]] == [one["useful"] for one in row["options"]]


def test_the_command_prints_names_as_text(cli, db):
    ran = cli("player", WILD, "--db", db, "--rounds", 2, "--rollouts", 32, "--worst", 2)
    assert ran.code == 0 and ran.out.startswith("[bold]u2[/bold]\\u{1b}[31m<script> at simulated\n")
    assert "luck-adjusted result" in ran.out
    assert "reviewing: 1 of at least 2 pieces of work done" in ran.err
    assert "\x1b" not in ran.out and "kwx's own policy plays all three seats on" in ran.out


def test_the_command_masks(cli, db):
    key = "a key that is long"
    arguments = ("--db", db, "--rounds", 2, "--rollouts", 32, "--worst", 2, "--json", "--mask", key)
    ran, by_pseudonym = (cli("player", name, *arguments) for name in (WILD, Mask(key).name(WILD)))
    assert ran.out == by_pseudonym.out and "u2" not in ran.out
    head, *rest = map(json.loads, ran.out.splitlines())
    assert head["kind"] == "account" and head["account"] == Mask(key).name(WILD)
    assert {one["kind"] for one in rest} == {"statistic", "opponent", "decision"}
    others = {one["opponent"] for one in rest if one["kind"] == "opponent"}
    assert others == {Mask(key).name("u1"), Mask(key).name("u3")}
    assert head["review"]["policy"]["hubei"]["reveal"] == 1.0


def test_the_command_saves_every_table(cli, db, tmp_path):
    key = "a key that is long"
    arguments = ("--db", db, "--rounds", 2, "--rollouts", 32, "--worst", 2)
    kinds = ("--as", "parquet", "--as", "json", "--as", "csv")
    ran = cli("player", WILD, *arguments, "--save", tmp_path / "a", *kinds)
    assert ran.code == 0 and ran.err.endswith(f"\n21 files in {tmp_path / 'a'}\n")
    names = ("statistics", "opponents", "rounds", "fans", "pursuit", "decisions", "options")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(
        f"{name}.{kind}" for name in names for kind in save.KINDS
    )
    table = {name: pl.read_parquet(tmp_path / "a" / f"{name}.parquet") for name in names}
    for name in names:
        assert len(json.loads((tmp_path / "a" / f"{name}.json").read_text())) == table[name].height
        assert table[name].height > 0 or name == "fans"  # who plays at random wins nothing
        assert pl.read_csv(tmp_path / "a" / f"{name}.csv").columns == table[name].columns
    assert table["rounds"]["total"][-1] == pytest.approx(
        40 * table["statistics"].row(by_predicate=pl.col("metric") == "net", named=True)["value"]
    )
    assert sorted(table["opponents"]["opponent"]) == ["u1", "u3"] and table["decisions"].height == 2
    assert table["options"].height > 4
    first = table["decisions"].row(0, named=True)
    option = table["options"].row(by_predicate=(pl.col("id") == first["id"]) & (pl.col("event") == first["event"])
                                  & (pl.col("option") == first["best"]), named=True)  # fmt: skip
    assert option["value"] is not None and all(set(one) == {"tile", "live"} for one in option["useful"])
    ran = cli("player", Mask(key).name(WILD), *arguments, "--mask", key, "--save", tmp_path / "b")
    assert ran.code == 0 and len(list((tmp_path / "b").iterdir())) == 7
    others = pl.read_csv(tmp_path / "b" / "opponents.csv")["opponent"]
    assert sorted(others) == sorted(Mask(key).name(name) for name in ("u1", "u3"))
    for path in (tmp_path / "b").iterdir():
        assert "u1" not in path.read_text() and "u2" not in path.read_text()


def test_wrong_ways_to_save_are_told(cli, db, tmp_path):
    ran = cli("player", "u1", "--db", db, "--as", "csv")
    assert ran.code == 2 and "--as goes with --save" in ran.err
    ran = cli("player", "u1", "--db", db, "--save", tmp_path, "--as", "xlsx")
    assert ran.code == 2 and "expected one of csv, parquet, json" in ran.err
    (tmp_path / "file").write_text("")
    few = ("--rounds", 1, "--rollouts", 32)
    ran = cli("player", "u1", "--db", db, *few, "--save", tmp_path / "file")
    assert ran.code == 2 and f"{tmp_path / 'file'}: " in ran.err


def test_an_unknown_account_is_told(cli, db):
    ran = cli("player", "nobody", "--db", db)
    assert ran.code == 2 and "no account 'nobody' in this data set" in ran.err
    ran = cli("player", "u1", "--db", db, "--site", "elsewhere")
    assert ran.code == 2 and "no account 'u1' of site 'elsewhere'" in ran.err
