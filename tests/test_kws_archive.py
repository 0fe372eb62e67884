"""Archives and history records without draws: read, settled from the final hands, compared with what was recorded.

tests/data/kws_archive/README.md says what the files are.  The server has no known fault: every record must settle, and
whatever is altered in one must show.
"""

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer
from replay.games import check_games

FOLDER = Path(__file__).parent / "data" / "kws_archive"
NAMES = sorted(path.name.removesuffix(".records.jsonl.gz") for path in FOLDER.glob("*.records.jsonl.gz"))
RULES = "kawuxing-server"
REPLAYER, EXPLAINING = Replayer(explain=False), Replayer()
Record = dict[str, Any]


def lines(name: str) -> list[Record]:
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def text(rows: list[Record]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def replayed(*paths: str | Path, replayer: Replayer = REPLAYER) -> tuple[dict[str, list[Record]], list[Record], Reader]:
    """All tables of the replay, the game level's problems among them; the rejects; the reader, done."""
    reader = Reader([str(path) for path in paths], check_rules=ruleset.check)
    parts, rejects = [], []
    for batch in reader:
        parts.append(replayer.feed(batch.rounds))
        rejects += batch.rejects.to_pylist()
    tables = {name: pa.concat_tables([part[name] for part in parts]) for name in parts[0]}
    tables["problems"] = pa.concat_tables([tables["problems"], check_games(tables["rounds"])])
    return {name: table.to_pylist() for name, table in tables.items()}, rejects, reader


@pytest.mark.parametrize("name", NAMES)
def test_every_record_settles(name: str) -> None:
    tables, rejects, _ = replayed(FOLDER / f"{name}.records.jsonl.gz")
    assert tables["problems"] == rejects == []
    rounds = tables["rounds"]
    assert len(rounds) == 32
    assert {row["verdict"] for row in rounds} == {"clean"}
    assert {row["coverage"] for row in rounds} == {"settlement_only"}
    assert [row["game"] for row in rounds] == [f"{name}.records#{run}" for run in (1, 2) for _ in range(16)]
    records = lines(f"{name}.records.jsonl.gz")
    assert [row["round"] for row in rounds] == [record["round"] for record in records]
    points = [seat["points"] for seat in tables["seats"]]
    assert points == [value for record in records for value in record["delta"]]
    paid = sum(line["points"] for line in tables["ledger"])
    assert paid == sum(line["amount"] for record in records for line in record["lines"])
    assert sum(len(record["winners"]) for record in records) == len(tables["wins"])
    assert all(win["fans"] == win["recorded_fans"] for win in tables["wins"])


def full_log(name: str) -> str:
    """The same rounds as a kwx log with wall and draws, from the sidecar."""

    def tiles(names: list[str]) -> str:
        return "".join(tile[1] + tile[0] for tile in names)

    out = []
    for record, side in zip(lines(f"{name}.records.jsonl.gz"), lines(f"{name}.sidecar.jsonl.gz"), strict=True):
        tokens = []
        drawn, last = None, -1
        for what, seat, *rest in side["events"]:
            if what == "draw":
                drawn = rest[0]
                tokens.append(f"{seat}{'r' if rest[1] else 'd'}{tiles([drawn])}")
            elif what == "discard":
                tokens += [f"{seat}l"] * rest[1] + [f"{seat}{'y' if rest[0] == drawn else 'x'}{tiles(rest[:1])}"]
                drawn, last = None, seat
            elif what == "claimed":
                tokens.append(f"{seat}{'p' if rest[0] == 'peng' else 'k'}{tiles(rest[1:])}{last}")
            elif what == "kong":
                tokens.append(f"{seat}{'c' if rest[0] == 'an' else 'a'}{tiles(rest[1:])}")
                drawn = None
        payer = record["source"]
        winners = sorted(record["winners"], key=lambda seat: (seat - (payer or 0)) % 3)
        tokens += [f"{seat}w{tiles([record['winTile']])}{'' if payer is None else payer}" for seat in winners] or ["e"]
        cap = record["config"]["cap"]
        out.append({
            "kwx": 1, "game": side["room"], "round": side["hand"], "rules": RULES,
            "options": {"score.cap": cap} if cap else {}, "players": ["a", "b", "c"], "dealer": side["dealer"],
            "deal": [tiles(player["dealHand"]) for player in record["players"]],
            "wall": tiles(side["wall_draw_end_last"][::-1]), "events": " ".join(tokens),
            "result": {"points": record["delta"]},
        })  # fmt: skip
    return text(out)


@pytest.mark.parametrize("name", NAMES)
def test_final_hands_settle_as_a_full_replay_does(name: str, tmp_path: Path) -> None:
    (tmp_path / "full.jsonl").write_text(full_log(name), encoding="utf-8")
    full = replayed(tmp_path / "full.jsonl")[0]
    assert full["problems"] == []
    settled = replayed(FOLDER / f"{name}.records.jsonl.gz")[0]
    compared = {
        "rounds": ("dealer", "end", "winners", "multiple", "draws", "wall_left", "next_dealer", "deal"),
        "seats": ("seat", "points", "kong_points", "won", "self_drew", "dealt_in", "revealed", "pungs", "kongs",
                  "ready_at_end", "hand"),
        "wins": ("win_no", "seat", "from_seat", "tile", "by", "turn", "multiple", "fans", "revealed", "points"),
        "win_fans": ("win_no", "fan", "count", "value"),
        "kongs": ("kong_no", "seat", "kind", "tile", "from_seat", "chain", "points", "robbed"),
        "reveals": ("seat", "order", "turn", "wall_left", "waits", "live", "hidden"),
        "ledger": ("n", "cause", "from_seat", "to_seat", "points"),
    }  # fmt: skip
    for table, columns in compared.items():
        a, b = ([tuple(row[name] for name in columns) for row in tables[table]] for tables in (full, settled))
        assert a == b, table


def test_an_archive_holds_the_rounds_of_its_records() -> None:
    for name in ("ky_01_three_cap32", "ky_04_rotate4_cap32"):
        archive, records = (FOLDER / f"{name}.{kind}.jsonl.gz" for kind in ("archives", "records"))
        for order in ((archive, records), (records, archive)):
            tables, rejects, reader = replayed(*order)
            assert tables["problems"] == rejects == []
            counts = [(row["records"], row["rounds"], row["repeats"]) for row in reader.sources().to_pylist()]
            assert counts == ([(16, 16, 0), (32, 16, 16)] if order[0] == archive else [(32, 32, 0), (16, 0, 16)])
        later = Reader([str(records)], check_rules=ruleset.check)
        rounds = replayed(archive)[0]["rounds"]
        later.know(*(np.array([row[key] for row in rounds], np.uint64) for key in ("round_id", "content")))
        assert sum(batch.rounds.num_rows for batch in later) == 16
        room = lines(f"{name}.archives.jsonl.gz")[0]
        assert {row["game"] for row in rounds} == {room["id"]}
        assert [row["round"] for row in rounds] == list(range(1, 17))
        # the names that the archive gives are those that the actions lead to
        alone = {(row["content"], seat["seat"]): seat["player"] for row, seat in by_seat(records)}
        for row, seat in by_seat(archive):
            assert alone[row["content"], seat["seat"]] == seat["player"]


def by_seat(path: Path) -> list[tuple[Record, Record]]:
    tables = replayed(path)[0]
    rounds = {row["round_id"]: row for row in tables["rounds"]}
    return [(rounds[seat["round_id"]], seat) for seat in tables["seats"]]


def test_runs_and_repeats_in_one_file(tmp_path: Path) -> None:
    records = lines(f"{NAMES[0]}.records.jsonl.gz")
    path = tmp_path / "a.b.ndjson"
    path.write_text(text([records[0], records[1], records[1], records[2], records[16], records[0]]), encoding="utf-8")
    tables, rejects, reader = replayed(path)
    assert rejects == []
    assert [(row["game"], row["round"], row["record"]) for row in tables["rounds"]] == [
        ("a.b#1", 1, 0), ("a.b#1", 2, 1), ("a.b#1", 3, 3), ("a.b#2", 1, 4),
    ]  # fmt: skip
    assert reader.sources().to_pylist()[0]["repeats"] == 2


# One alteration each of a record; the codes of which one at least must be flagged.
def points(record: Record) -> None:
    record["delta"][0] += 1
    record["delta"][1] -= 1


def amount(record: Record) -> None:
    record["lines"][-1]["amount"] += 1


def both(record: Record) -> None:
    line = record["lines"][0]
    line["amount"] += 2
    record["delta"][line["from"]] -= 2
    record["delta"][line["to"]] += 2


def payee(record: Record) -> None:
    line = record["lines"][0]
    line["from"], line["to"] = line["to"], line["from"]


def no_line(record: Record) -> None:
    record["lines"].pop()


def kong_amount(record: Record) -> None:
    record["kongs"][0]["amount"] += 1


def kept(record: Record) -> None:
    record["keepKongs"] = not record["keepKongs"]


def winner(record: Record) -> None:
    seat = record["winners"][0]
    other = 3 - seat - record["source"]
    record["winners"] = [other]
    record["scores"] = {str(other): {str(record["source"]): record["scores"][str(seat)][str(record["source"])]}}


def payer(record: Record) -> None:
    record["source"] = 3 - record["winners"][0] - record["source"]
    record["scores"][str(record["winners"][0])][str(record["source"])]["legal"] = True


def tile(record: Record) -> None:
    record["winTile"] = "z7" if record["winTile"] != "z7" else "p1"


def share(record: Record) -> Record:
    seat = str(record["winners"][0])
    payers = [payer for payer in record["scores"][seat] if record["source"] in (None, int(payer))]
    return record["scores"][seat][payers[-1]]


def factor_value(record: Record) -> None:
    share(record)["factors"][0]["n"] *= 2


def factor_and_raw(record: Record) -> None:
    factor_value(record)
    share(record)["raw"] *= 2


def factor_name(record: Record) -> None:
    share(record)["factors"][0]["name"] = "小三元"


def factor_gone(record: Record) -> None:
    share(record)["factors"].pop()


def raw(record: Record) -> None:
    share(record)["raw"] += 1


def dealer(record: Record) -> None:
    record["next"]["dealer"] = (record["next"]["dealer"] + 1) % 3


def waits(record: Record) -> None:
    record["ready"][0] = [*record["ready"][0], "z6"]


def hand(record: Record) -> None:
    tiles = record["players"][record["winners"][0]]["hand"]
    tiles[0] = "z7" if "z7" not in tiles else "z6"


def dealt(record: Record) -> None:
    player = next(player for player in record["players"] if player["river"])
    player["dealHand"][:] = [player["dealHand"][0]] * 4 + player["dealHand"][4:]


def base(record: Record) -> None:
    record["config"]["base"] = 2


ALTERATIONS: list[tuple[Callable[[Record], None], set[str]]] = [
    (points, {"points"}), (amount, {"ledger"}), (both, {"points", "ledger"}), (payee, {"ledger"}),
    (no_line, {"ledger"}), (kong_amount, {"kongs", "ledger"}), (kept, {"kongs"}), (winner, {"not_a_win"}),
    (payer, {"bad_claim"}), (tile, {"bad_claim", "bad_value"}), (factor_value, {"multiple"}),
    (factor_and_raw, {"multiple"}), (factor_name, {"fans"}), (factor_gone, {"fans"}), (raw, {"multiple"}),
    (dealer, {"next_dealer"}), (waits, {"waits"}), (hand, {"not_a_win", "tile_not_held", "fifth_tile", "fans"}),
    (dealt, {"tile_not_held", "fifth_tile"}), (base, {"points"}),
]  # fmt: skip
NEEDS: dict[Callable[[Record], None], Callable[[Record], object]] = {
    points: lambda record: True,
    kong_amount: lambda record: record["kongs"],
    kept: lambda record: not record["winners"] and any(sums(record["kongs"])),
    winner: lambda record: record["source"] is not None and len(record["winners"]) == 1,
    payer: lambda record: record["source"] is not None and len(record["winners"]) == 1,
    dealer: lambda record: True,
    waits: lambda record: not record["winners"] and "z6" not in record["ready"][0],
    amount: lambda record: record["lines"],
    both: lambda record: record["lines"],
    payee: lambda record: record["lines"],
    no_line: lambda record: record["lines"],
    base: lambda record: any(record["delta"]),
}


def sums(ledger: list[Record]) -> list[int]:
    return [
        sum(line["amount"] * ((line["to"] == seat) - (line["from"] == seat)) for line in ledger) for seat in range(3)
    ]


@pytest.mark.parametrize("alter", [alter for alter, _ in ALTERATIONS], ids=lambda alter: alter.__name__)
def test_an_altered_record_is_flagged(alter: Callable[[Record], None], tmp_path: Path) -> None:
    expected = dict(ALTERATIONS)[alter]
    can = NEEDS.get(alter, lambda record: record["winners"])
    records = [record for name in NAMES for record in lines(f"{name}.records.jsonl.gz") if can(record)]
    chosen = random.Random(alter.__name__).sample(records, min(len(records), 12))
    altered = copy.deepcopy(chosen)
    for number, record in enumerate(altered):
        alter(record)
        record["id"] = f"altered {number}"  # else the second record of a run that opens with it would be a repeat
        record["round"] = 1
    path = tmp_path / "altered.jsonl"
    path.write_text(text(altered), encoding="utf-8")
    tables, rejects, _ = replayed(path)
    records_of = {row["round_id"]: row["record"] for row in tables["rounds"]}
    found: dict[int, set[str]] = {row["record"]: {row["code"]} for row in rejects}
    for problem in tables["problems"]:
        found.setdefault(records_of[problem["round_id"]], set()).add(problem["code"])
    assert len(chosen) > 2
    for number in range(len(altered)):
        assert found.get(number, set()) & expected, (number, found.get(number))


def test_a_fault_names_the_key_that_explains_it(tmp_path: Path) -> None:
    """A record that pays 2 for an exposed kong, all through."""
    record = next(
        record
        for record in lines(f"{NAMES[0]}.records.jsonl.gz")
        if record["winners"] and [line["why"][:2] for line in record["kongs"]] == ["明杠"]
    )
    for line in (*record["kongs"], *record["lines"]):
        if line["why"].startswith("明杠"):
            line["amount"] = 2
    record["delta"] = sums(record["lines"])
    (tmp_path / "one.jsonl").write_text(text([record]), encoding="utf-8")
    problems = replayed(tmp_path / "one.jsonl", replayer=EXPLAINING)[0]["problems"]
    assert {problem["code"] for problem in problems} == {"points", "kongs", "ledger"}
    assert all(problem["explained_by"] == ["kong.exposed_points=2"] for problem in problems)


BROKEN = {
    "unknown_key": ("players.0.mood", lambda record: record["players"][0].update(mood=1)),
    "missing_key": ("delta", lambda record: record.pop("delta")),
    "bad_type": ("delta.1", lambda record: record["delta"].__setitem__(1, 1.5)),
    "bad_tile": ("players.2.hand.0", lambda record: record["players"][2]["hand"].__setitem__(0, "m1")),
    "bad_count": ("players.1.hand", lambda record: record["players"][1]["hand"].pop(0)),
    "bad_token": ("actions.3", lambda record: record["actions"].__setitem__(3, "u2想牌")),
    "unknown_option": ("config.cap", lambda record: record["config"].update(cap=64)),
    "bad_value": ("players.1.river", lambda record: record["players"][1]["river"].reverse()),
}


@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_record_of_an_archive_is_a_reject_and_the_others_are_read(code: str, tmp_path: Path) -> None:
    room = lines("ky_01_three_cap32.archives.jsonl.gz")[0]
    broken = room["history"][4]
    field, breaks = BROKEN[code]
    breaks(broken)
    path = tmp_path / "room.jsonl"
    path.write_text("\n" + text([room]), encoding="utf-8")
    tables, rejects, reader = replayed(path)
    (reject,) = rejects
    # The history is written with the newest first, and read in ascending round.
    assert (reject["code"], reject["field"], reject["record"], reject["line"]) == (code, field, 11, 2)
    assert json.loads(reject["raw"]) == broken
    assert path.read_bytes()[reject["byte"] :].startswith(reject["raw"].encode()[:200])
    assert [row["round"] for row in tables["rounds"]] == [number for number in range(1, 17) if number != 12]
    assert [problem["code"] for problem in tables["problems"]] == ["lost_round"]
    assert reader.sources().to_pylist()[0]["records"] == 16


def test_a_log_of_ours_with_such_keys_stays_one(tmp_path: Path) -> None:
    log = HEAD | {"events": "z", "_source": {"history": [], "winTile": "p1"}}
    log["deal"] = [HEAD["deal"][0], "111s2299s55z66z77z", HEAD["deal"][2]]
    (tmp_path / "one.jsonl").write_text(text([log]), encoding="utf-8")
    _, rejects, reader = replayed(tmp_path / "one.jsonl")
    assert (rejects, reader.sources().to_pylist()[0]["format"]) == ([], "kwx")


def test_cut_lines(tmp_path: Path) -> None:
    record = text(lines(f"{NAMES[0]}.records.jsonl.gz")[:1])
    room = text(lines("ky_01_three_cap32.archives.jsonl.gz"))
    for whole, cut in ((record, record[:900]), (room, room[:5000])):
        path = tmp_path / "cut.jsonl"
        path.write_text(whole + cut, encoding="utf-8")
        _, rejects, _ = replayed(path)
        assert [(row["code"], row["line"]) for row in rejects] == [("truncated", 2)]


HEAD = {
    "kwx": 1, "game": "g", "round": 0, "rules": RULES, "players": ["a", "b", "c"], "dealer": 0,
    "deal": ["123456789p12s567z", "", "123456789p3456s"],
}  # fmt: skip
# A hand of seat 1 (or the dealer's of 14 tiles) and the play; what is flagged, and the key that allows it.
FORBIDDEN = {
    "kong.added_after_three=true": (
        "111s2299s55z66z77z", "0x1s 1p1s0 1x9s 2d8s 2y8s 0d8s 0y8s 1d7s 1a1s 1r8s z", "kong_too_late",
    ),
    "reveal.added_kong=true": (
        "99p112345679s55z", "0x1s 1p1s0 1l 1x9s 2d8s 2y8s 0d8s 0y8s 1d1s 1a1s 1r8s z", "changed_after_reveal",
    ),
    "win.self_draw_min_hand=false": ("1111234567p34s99s", "0c1p 0r5s 0w5s", "below_minimum"),
}  # fmt: skip


@pytest.mark.parametrize("allows", FORBIDDEN)
def test_what_the_server_forbids(allows: str, tmp_path: Path) -> None:
    hand, events, code = FORBIDDEN[allows]
    first = events.startswith("0c")
    deal = [hand, "111s2299s55z66z7z8s"] if first else [HEAD["deal"][0], hand]
    log = HEAD | {"deal": [*deal, "345678999p5678s" if first else HEAD["deal"][2]], "events": events}
    (tmp_path / "one.jsonl").write_text(text([log]), encoding="utf-8")
    (problem,) = replayed(tmp_path / "one.jsonl", replayer=EXPLAINING)[0]["problems"]
    assert problem["code"] == code
    assert allows in problem["explained_by"]


def test_a_kong_of_the_discard_after_a_kong_starts_a_chain_of_its_own(tmp_path: Path) -> None:
    deal = ["1111234567p6789s", "22p555s11s99s5566z", "345678999p6788s"]
    log = HEAD | {"deal": deal, "events": "0c1p 0r5s 0x5s 1k5s0 1r7z z"}
    (tmp_path / "one.jsonl").write_text(text([log, log | {"round": 1, "rules": "hubei"}]), encoding="utf-8")
    chains = [row["chain"] for row in replayed(tmp_path / "one.jsonl")[0]["kongs"]]
    assert chains == [1, 1, 1, 2]


def test_fit_finds_the_ruleset(cli: Callable) -> None:
    found = cli("fit", FOLDER / f"{NAMES[0]}.archives.jsonl.gz", "--json").out.splitlines()
    first = json.loads(found[0])
    assert (first["ruleset"], first["explained"], first["rounds"]) == (RULES, 16, 16)


def test_shown_and_converted(cli: Callable, tmp_path: Path) -> None:
    path = FOLDER / "ky_04_rotate4_cap32.archives.jsonl.gz"
    tables = replayed(path)[0]
    game = tables["rounds"][0]["game"].replace("|", "%7C").replace("/", "%2F").replace(":", "%3A")
    shown = cli("show", f"{RULES}/{game}/1", path)
    assert shown.code == 0
    assert "settled from the hands at the end" in shown.out
    assert "?" in shown.out.split("wins")[0]
    end = shown.out.split("wins")[1].splitlines()[0]
    assert "?" not in end
    refused = cli("convert", path, "-o", tmp_path / "room.jsonl")
    assert (refused.code, list(tmp_path.iterdir())) == (2, [])
    assert "they fit into a .parquet file only" in refused.err
    assert cli("convert", path, "-o", tmp_path / "room.parquet").code == 0
    again = replayed(tmp_path / "room.parquet")[0]
    assert again["problems"] == []
    assert [row["state_digest"] for row in again["rounds"]] == [row["state_digest"] for row in tables["rounds"]]
    both = replayed(path, tmp_path / "room.parquet")[2].sources().to_pylist()
    assert [row["repeats"] for row in both] == [0, 16]
