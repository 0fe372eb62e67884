"""Facts of seats and draws: those of a literal account on random and recorded rounds, and lawful luck on simulated."""

import gzip
import json
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracle import play
from oracle_facts import facts
from oracle_player import random_round

from analytics import backfill, schema, warehouse
from ingest.events import FANS
from ingest.formats.kwx_write import write as write_lines
from ingest.read import Reader
from ingest.tiles import NAMES
from replay import ruleset, watch
from replay.batch import Replayer
from replay.facts_tables import AIMS, DRAWS, FACTS
from replay.simulate import simulate

DATA = Path(__file__).parent / "data"
RECORDED = DATA / "node_kwx"
SUMS = [name for name in FACTS.names if name.endswith(("_expected", "_variance"))]


def compare(batch: pa.RecordBatch, records: list[dict]) -> tuple[list[dict], ...]:
    """Checks the facts of a batch against the literal ones; returns the tables' rows."""
    replayer = Replayer(explain=False, facts=True)
    found = replayer.feed(batch)
    ids = batch["round_id"].to_pylist()
    seats, draws, aims = (found[name].to_pylist() for name in ("facts", "draws", "aims"))
    assert [row["round_id"] for row in seats] == [one for one in ids for _ in range(3)]
    for place, (one, record, suits) in enumerate(zip(ids, records, batch["suits"].to_pylist(), strict=True)):
        where = record["rules"], record.get("options"), record["events"]
        rules = ruleset.load(record["rules"], record.get("options")).values
        expected, drawn, aimed = facts(record, rules, aims=place % 3 == 0)
        kind_of = {name: kind for kind, name in enumerate(NAMES[suits])}
        mine = [row for row in seats if row["round_id"] == one]
        for seat, (got, want) in enumerate(zip(mine, expected, strict=True)):
            for name in ("ready_waits", "final_waits"):
                want[name] = None if want[name] is None else sum(1 << kind_of[tile] for tile in want[name])
            assert set(want) == set(FACTS.names[2:]), set(want) ^ set(FACTS.names[2:])
            for name, value in want.items():
                if name == "tiles_worth":
                    assert got[name] == pytest.approx(value, abs=2), (seat, where)
                elif name in SUMS:
                    assert got[name] == pytest.approx(value, abs=1e-6), (seat, name, where)
                else:
                    assert got[name] == value, (seat, name, got[name], value, where)
        for row in drawn:
            row["tile"] = kind_of[row["tile"]]
        got = [{name: row[name] for name in DRAWS.names[1:]} for row in draws if row["round_id"] == one]
        assert got == drawn, where
        got = [{name: row[name] for name in AIMS.names[1:]} for row in aims if row["round_id"] == one]
        assert got == aimed or place % 3, where
    return seats, draws, aims


def read(path: Path) -> pa.RecordBatch:
    (batch,) = Reader([str(path)], check_rules=ruleset.check)
    return batch.rounds


def test_random_rounds_of_every_ruleset(tmp_path: Path) -> None:
    rng = random.Random(17)
    records = []
    for name in [*ruleset.ids(), "parlour", "qichun", "3d_xiaogan"]:
        rules = ruleset.load(name)
        options = {key: values[-1] for key, values in rules.options_allowed.items()} if rng.random() < 0.3 else {}
        rules = ruleset.load(name, options)
        records.append(random_round(rng, name, rules.options, rules.values) | {"round": len(records), "game": "g"})
    path = tmp_path / "rounds.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    seats, draws, aims = compare(read(path), records)
    for name in ("wins_missed", "kongs_declined", "pungs_declined", "replacement_hits", "careless_discards"):
        assert any(row[name] for row in seats), name  # the rounds are rich enough to tell
    for name in ("open_fed", "hidden_choices", "horses"):
        assert any(row[name] for row in seats), name
    assert any(row["dealt_in_ready"] for row in seats) and any(row["ready_turn"] == 0 for row in seats)
    assert any(row["behind"] and row["hit"] for row in draws)
    assert len({row["fan"] for row in aims}) >= 10


@pytest.mark.parametrize("name", ["hg_06_yc_pqmb_cap16_piao-choice", "sx_17_xy_half_cap8_passes"])
def test_recorded_rounds(name: str) -> None:
    batch = read(RECORDED / f"{name}.rows.jsonl.gz").slice(0, 6)
    records = [json.loads(line) for line in write_lines(batch).splitlines()]
    values = ruleset.load(records[0]["rules"], records[0].get("options")).values
    legal = [place for place, record in enumerate(records) if not play(record, values)["violations"]]
    assert len(legal) >= 4
    compare(batch.take(legal), [records[place] for place in legal])


def test_kongs_offered_after_a_reveal_are_those_that_the_server_offered() -> None:
    """Rows name no triplets face down, and a revealed hand may kong these alone: sidecars tell what was offered."""
    replayer, found, offered, made = Replayer(explain=False, facts=True), [], [], 0
    for name in ("sx_02_xy_half_cap8", "sx_04_xy_half_cap16_ma2_piao2_base2", "sx_09_sz_cap8", "sx_14_yc_pqmb_cap8"):
        tables = replayer.feed(read(RECORDED / f"{name}.rows.jsonl.gz"))
        by_seat = {(row["round_id"], row["seat"]): row for row in tables["facts"].to_pylist()}
        with gzip.open(RECORDED / f"{name}.sidecar.jsonl.gz", "rt", encoding="utf-8") as file:
            extras = [json.loads(line)["extra"] for line in file]
        for id, extra in zip(tables["rounds"]["round_id"].to_pylist(), extras, strict=True):
            for seat in {reveal["seat"] for reveal in extra["mings"]} if (id, 0) in by_seat else ():
                found.append(by_seat[id, seat]["kongs_offered"])
                made += found[-1] - by_seat[id, seat]["kongs_declined"]
                # [place, seat, what (1 win, 2 pung, 4 kong, 8 reveal), kinds to kong]; in own turns a kind counts once
                kongs = {(kind, place if what & 2 else "own") for place, one, what, *kinds in extra["offers"]
                         if one == seat and what & 4 for kind in kinds[0]}  # fmt: skip
                offered.append(len(kongs))
    assert len(found) > 80 and made > 15
    differ = [pair for pair in zip(found, offered, strict=True) if pair[0] != pair[1]]
    assert differ == [(0, 1)]  # one kong of a triplet face down that the seat let pass, which no row tells


@pytest.mark.parametrize("name", ["hubei", "qichun", "parlour"])
def test_simulated_rounds(name: str) -> None:
    (batch,) = simulate(name, 4, 23, lines=True)
    compare(batch, [json.loads(line) for line in batch["raw"].to_pylist()])


@pytest.fixture(scope="module")
def fair() -> dict[str, pa.Table]:
    """The facts of 20,000 simulated rounds of five rulesets, seeds of their own."""
    replayer = Replayer(explain=False, facts=True)
    parts = [
        replayer.facts_of(batch)
        for seed, name in enumerate(("xiangyang", "hubei", "3d_xiangyang", "qichun", "node-kwx_xiangyang"))
        for batch in simulate(name, 4000, 100 + seed)
    ]
    return {name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}


def test_dealt_hands_are_as_far_from_ready_as_chance_has_it(fair) -> None:
    for tiles, mean, sd in ((13, 2.4295, 0.755), (14, 1.945, 0.744)):
        dealt = fair["facts"].filter(pc.equal(fair["facts"]["start_tiles"], tiles))["start_shanten"].to_numpy()
        assert len(dealt) == 20_000 * (2 if tiles == 13 else 1)
        assert abs(dealt.mean() - mean) < 4 * sd / len(dealt) ** 0.5
        assert abs(dealt.std() - sd) < 0.012


def z_of(hits: int, expected: float, variance: float) -> float:
    return (hits - expected) / variance**0.5


def test_luck_has_mean_nothing_and_the_variance_it_says(fair) -> None:
    rows = {name: fair["facts"][name].to_numpy() for name in FACTS.names if name != "shanten"}
    for name, hits in (
        ("useful", "useful_draws"),
        ("ready", "ready_hits"),
        ("revealed", "revealed_hits"),
        ("replacement", "replacement_hits"),
    ):
        expected, variance = rows[f"{name}_expected"], rows[f"{name}_variance"]
        for seed in range(5):
            part = slice(12_000 * seed, 12_000 * (seed + 1))
            assert abs(z_of(rows[hits][part].sum(), expected[part].sum(), variance[part].sum())) < 3.5, (name, seed)
        residual = rows[hits] - expected
        assert 0.95 < (residual**2).sum() / variance.sum() < 1.05, name  # orthogonal: variances add up
        assert np.array_equal(expected / watch.UNIT, np.rint(expected / watch.UNIT))


def test_luck_is_lawful_whatever_is_known_before_the_draw(fair) -> None:
    draws = {name: fair["draws"][name].to_numpy(zero_copy_only=False) for name in DRAWS.names if name != "caller"}
    chance = draws["useful"] / draws["remaining"]
    residual = draws["hit"] - chance
    variance = chance * (1 - chance)
    known = {
        "after a call": draws["after_call"], "behind": draws["behind"], "late": draws["remaining"] <= 12,
        "far": draws["shanten"] >= 2, "ready": draws["ready"], "revealed": draws["revealed"],
    }  # fmt: skip
    for name, mask in known.items():
        assert mask.sum() > 1000, name
        assert abs(residual[mask].sum() / variance[mask].sum() ** 0.5) < 3.5, name
    first = np.concatenate([[True], draws["round_id"][1:] != draws["round_id"][:-1]])
    assert (draws["remaining"][first] == 44).all() and (draws["n"][first] == 0).all()
    assert (draws["remaining"] == 44 - draws["n"]).all()
    assert (draws["hit"] <= (draws["useful"] > 0)).all()
    assert draws["same"].min() >= 1  # the tile drawn was in the wall


def test_sums_of_the_draws_are_the_seats(fair) -> None:
    draws = fair["draws"].group_by(["round_id", "seat"]).aggregate([("hit", "sum"), ("n", "count")])
    seats = fair["facts"].select(["round_id", "seat", "draws", "useful_draws"])
    joined = seats.join(draws, ["round_id", "seat"])
    assert pc.all(pc.equal(pc.fill_null(joined["n_count"], 0), joined["draws"])).as_py()
    assert pc.all(pc.equal(pc.fill_null(joined["hit_sum"], 0), joined["useful_draws"])).as_py()


# In a data set


def load(path: Path, *logs: Path, **more) -> warehouse.Summary:
    return warehouse.load(Reader([str(one) for one in logs], check_rules=ruleset.check), path, **more)


def test_a_later_load_adds_the_facts_of_rounds_that_lack_them(tmp_path: Path) -> None:
    ours, servers = DATA / "hubei.jsonl", RECORDED / "sx_17_xy_half_cap8_passes.rows.jsonl.gz"
    load(tmp_path / "whole", ours, servers)
    first = load(tmp_path / "late", servers, facts=False)
    with warehouse.connect(tmp_path / "late") as connection:
        assert schema.rows(connection, "SELECT count(*) FROM facts") == [(0,)]
    summary = load(tmp_path / "late", ours)
    assert (summary["rounds"] > 0, summary["facts"], summary["without_facts"]) == (True, first["rounds"], 0)
    load(tmp_path / "late", servers)
    assert warehouse.digest(tmp_path / "late") == warehouse.digest(tmp_path / "whole")
    again = load(tmp_path / "late", ours, servers)
    assert (again["facts"], again["changed"]) == (0, False)


def test_rounds_of_a_changed_ruleset_stay_without(tmp_path: Path, monkeypatch, cli) -> None:
    load(tmp_path / "db", DATA / "hubei.jsonl", facts=False)
    monkeypatch.setattr(backfill, "_digest", lambda ident, options: "another")
    ran = cli("run", DATA / "hubei.jsonl", "--db", tmp_path / "db", "--json")
    summary = json.loads(ran.out)
    assert (summary["facts"], summary["changed"]) == (0, False)
    assert f"{summary['without_facts']:,} rounds stay without facts" in ran.err


def test_settlements_without_draws_have_no_facts() -> None:
    (archive,) = Reader([str(next((DATA / "kws_archive").glob("*.records.jsonl.gz")))], check_rules=ruleset.check)
    found = Replayer(explain=False, facts=True).feed(archive.rounds.slice(0, 5))
    assert found["rounds"].num_rows == 5
    assert (found["facts"].num_rows, found["draws"].num_rows) == (0, 0)


def test_whoever_won_with_a_fan_was_ready_for_it() -> None:
    replayer = Replayer(explain=False, facts=True)
    won = set()
    for seed, name in enumerate(["suizhou", "xiangyang_unlimited", "qichun", "3d_shiyan"]):
        for batch in simulate(name, 1500, 200 + seed):
            found = replayer.feed(batch)
            aims = {(row["round_id"], row["seat"], row["fan"]): row for row in found["aims"].to_pylist()}
            for win in found["wins"].to_pylist():
                for fan in set(win["fans"]) & set(FANS[: watch.SHAPES]):
                    row = aims[win["round_id"], win["seat"], fan]
                    assert row["won"] and row["ready_turn"] is not None and row["best"] <= 0
                    assert row["near_turn"] <= row["aimed_turn"] <= row["ready_turn"]
                    won.add(fan)
    assert len(won) >= 8


def test_live_tiles_of_a_reveal_are_those_of_the_facts() -> None:
    """Both leave out of sight what another seat keeps face down."""
    told = hidden = 0
    for rules in ("kwx-server_shiyan", "hubei"):
        for batch in simulate(rules, 400, 12):
            found = Replayer(explain=False, facts=True).feed(batch)
            own = {(row["round_id"], row["seat"]): row["reveal_live_own"] for row in found["facts"].to_pylist()}
            for row in found["reveals"].to_pylist():
                expected = own[row["round_id"], row["seat"]]
                if row["live"] is not None and expected is not None:
                    assert row["live"] == expected, row
                    told += 1
                hidden += bool(row["hidden"])
    assert told > 200 and hidden > 5
