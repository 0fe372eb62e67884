"""What the viewer lays over its frames, against literal shanten, hand counting and the table of draws; log lines."""

from collections import Counter

import pytest
from oracle_shapes import shanten

from ingest import log_line
from ingest.read import Reader
from ingest.tiles import NAMES
from replay import ruleset, show_text, sight
from replay.batch import Replayer
from replay.simulate import simulate


@pytest.fixture(scope="module")
def rounds() -> list[dict]:
    """Tables of a few simulated rounds with their facts, each with its frames."""
    out = []
    for name, seed in (("hubei", 4), ("xiangyang", 9)):
        for batch in simulate(name, 4, seed):
            fed = {table: rows.to_pylist() for table, rows in Replayer(facts=True).feed(batch).items()}
            for row in fed["rounds"]:
                tables = {name: [one for one in rows if one.get("round_id") == row["round_id"]]
                          for name, rows in fed.items()}  # fmt: skip
                frames = show_text.frames(tables)
                sight.add_to(frames, row["suits"])
                out.append({"tables": tables, "frames": frames, "suits": row["suits"]})
    assert len(out) == 8
    return out


def held(seat: dict) -> list[str]:
    return [*seat["hand"], *([seat["drawn"]] if seat["drawn"] else [])]


def away(tiles: list[str], melds: int, order: list[str]) -> int:
    return shanten(tuple(sorted(tiles, key=order.index)), melds)


def live(frame: dict, at: int, name: str) -> int:
    """Copies that a seat has not seen, counted tile by tile."""
    seen = Counter(held(frame["seats"][at]))
    for other, seat in enumerate(frame["seats"]):
        seen.update(discard["tile"] for discard in seat["river"])
        for meld in seat["melds"]:
            seen[meld["tile"]] += (3 if meld["kind"] == "pung" else 4) - meld["robbed"] - (meld["from"] is not None)
        if other != at and seat["revealed"]:
            seen.update(seat["hand"])
            for hidden in seat["hidden"]:
                seen[hidden] -= 3
    return max(4 - seen[name], 0)


def useful(frame: dict, at: int, tiles: list[str], gone: list[str], order: list[str]) -> list[list]:
    """Kinds that bring a hand nearer, with live copies; gone: tiles just discarded, which the seat has seen."""
    seat, now = frame["seats"][at], away(tiles, len(frame["seats"][at]["melds"]), order)
    own = Counter(tiles)
    for meld in seat["melds"]:
        own[meld["tile"]] += 3 if meld["kind"] == "pung" else 4
    assert sorted([*tiles, *gone]) == sorted(held(seat))
    return [
        [kind, live(frame, at, kind)]
        for kind in order
        if own[kind] < 4 and away([*tiles, kind], len(seat["melds"]), order) < now
    ]


def test_shanten_and_useful_tiles_are_those_of_the_oracle(rounds: list[dict]) -> None:
    looked = discards = 0
    for one in rounds[::3]:
        order = list(NAMES[one["suits"]])
        for frame in one["frames"][::5]:
            for at, seat in enumerate(frame["seats"]):
                tiles, melds = held(seat), len(seat["melds"])
                assert seat["shanten"] == away(tiles, melds, order)
                looked += 1
                if len(tiles) % 3 == 1 and seat["shanten"] > 0:
                    assert seat["useful"] == useful(frame, at, tiles, [], order) and seat["discards"] is None
                elif len(tiles) % 3 == 2 and seat["shanten"] >= 0:
                    assert seat["useful"] == [] and list(seat["discards"]) == sorted(set(tiles), key=order.index)
                    expected = {"shanten": away(tiles[1:], melds, order)}
                    expected["useful"] = useful(frame, at, tiles[1:], tiles[:1], order)
                    assert seat["discards"][tiles[0]] == expected
                    discards += 1
    assert looked > 100 and discards > 10


def test_draw_luck_is_that_of_the_table_of_draws(rounds: list[dict]) -> None:
    for one in rounds:
        total, variance = [0.0] * 3, [0.0] * 3
        drawn = [frame for frame in one["frames"] if frame["verb"] in ("d", "r")]
        assert len(drawn) == len(one["tables"]["draws"]) > 0
        for frame, row in zip(drawn, one["tables"]["draws"], strict=True):
            chance = min(row["useful"], row["remaining"]) / row["remaining"]
            assert (frame["seat"], frame["hit"]) == (row["seat"], row["hit"])
            assert frame["chance"] == pytest.approx(chance, abs=1e-4)
            total[row["seat"]] += row["hit"] - chance
            variance[row["seat"]] += chance * (1 - chance)
        last = one["frames"][-1]["seats"]
        assert [seat["luck"] for seat in last] == pytest.approx(total, abs=1e-3)
        assert [seat["luck_sd"] ** 2 for seat in last] == pytest.approx(variance, abs=1e-2)


def test_live_waits_do_not_see_triplets_face_down(rounds: list[dict]) -> None:
    for one in rounds:
        for frame in one["frames"]:
            for at, seat in enumerate(frame["seats"]):
                for wait in seat["waits"]:
                    assert wait["live"] == live(frame, at, wait["tile"])


def test_hands_that_cannot_be_have_no_overlay(rounds: list[dict]) -> None:
    frames = [{"verb": None, "seat": None, "tile": None, "wall_left": 44, "seats": [
        {"hand": hand, "drawn": None, "melds": [], "river": [], "revealed": False, "hidden": [], "waits": []}
        for hand in (["1p"] * 13, ["back"] * 13, ["1p", "2p"])
    ]}]  # fmt: skip
    sight.add_to(frames, "ps")
    for seat in frames[0]["seats"]:
        assert (seat["shanten"], seat["useful"], seat["discards"], seat["luck"]) == (None, None, None, None)


def test_a_round_written_as_a_line_is_the_same_round(rounds: list[dict], tmp_path) -> None:
    lines = [log_line.line(one["tables"]) for one in rounds]
    path = tmp_path / "again.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    reader = Reader([str(path)], check_rules=ruleset.check)
    again = [row for batch in reader for row in Replayer().feed(batch.rounds)["rounds"].to_pylist()]
    same = ("round_id", "ruleset_digest", "verdict", "events", "deal", "wall", "state_digest", "time_ms", "mispaid")
    assert [[row[name] for name in same] for row in again] == [
        [one["tables"]["rounds"][0][name] for name in same] for one in rounds
    ]
    settled = {**rounds[0]["tables"], "rounds": [{**rounds[0]["tables"]["rounds"][0], "coverage": "settlement_only"}]}
    assert log_line.line(settled) is None
