"""A small plausible data set made of recorded rounds without the engine: for tests of storage and of the dashboard.

Deals, walls, events and results are those of tests/data/cases/rounds.jsonl.gz; the outputs that the engine would add
are taken from the log and its expectations.  Some rounds are given a planted problem, and a few records are rejects.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from analytics import export, schema, warehouse
from ingest import events, rejects, tiles
from ingest.events import digest64
from replay import problems
from replay.games import NAMES

CASES = Path(__file__).parent / "data" / "cases" / "rounds.jsonl.gz"
START_MS = 1_777_593_600_000  # 2026-05-01T00:00Z


def logs() -> list[dict]:
    """The rounds of the sample as kwx log objects; planted faults stand under "_fault"."""
    out = []
    for record, line in enumerate(gzip.decompress(CASES.read_bytes()).decode().splitlines()):
        log = json.loads(line)
        log["players"] = [f"{log['game'][:4]}-{name}{record // 16 % 4}" for name in log["players"]]
        fault = {5: "points", 8: "tile_not_held", 10: "unpaid"}.get(record % 12)
        if fault:
            log["_fault"] = fault
        if record % 9:
            log["_ms"] = START_MS + record * 600_000
        out.append(log)
    return out


def build(path: str | Path) -> Path:
    """Makes a data set of three sources with rejects at `path` and returns `path`."""
    found = logs()
    third = len(found) // 3
    sources = {
        "may/01.jsonl": [*found[:third], '{"kwx":1,"site":"oracle"', *found[10:14]],
        "may/02.jsonl": [*found[third : 2 * third], {**found[3], "base": 7}],
        "may/03.jsonl": [*found[2 * third : -40], *found[-38:], "not a round"],
    }
    warehouse.load(FakeReader(sources), path, replayer=FakeReplayer(), check_games=lost_rounds)
    return Path(path)


def dump(path: Path) -> dict[str, list[tuple]]:
    """All rows of all tables in key order."""
    orders = {name: export.KEYS[name] for name in schema.table_names()} | dict.fromkeys(schema.DERIVED, "ALL")
    with warehouse.connect(path) as connection:
        return {name: schema.rows(connection, f"SELECT * FROM {name} ORDER BY {by}") for name, by in orders.items()}


class FakeReader:
    """An ingest.read.Reader of log objects: `sources` is name → records, a text being a record that is no round."""

    def __init__(self, sources: dict[str, list], batch_rounds: int = 50) -> None:
        self.given, self.batch_rounds, self.known = sources, batch_rounds, {}

    def know(self, ids: np.ndarray, contents: np.ndarray) -> None:
        self.known.update(zip(ids.tolist(), contents.tolist(), strict=True))

    def __iter__(self) -> Iterator[SimpleNamespace]:
        self.counts, seen = [], dict(self.known)
        for name, records in self.given.items():
            rounds, bad, repeats = [], [], 0
            for record, log in enumerate(records):
                where = {"source": name, "record": record, "line": record + 1, "byte": record * 100}
                row = (
                    None
                    if isinstance(log, str)
                    else {**_ids(log), **where, "raw": json.dumps(log), "game": log["game"], "round": log["round"]}
                )
                if row is None:
                    bad.append({**where, "code": "bad_json", "message": "not a JSON object", "raw": log})
                elif row["round_id"] not in seen:
                    seen[row["round_id"]] = row["content"]
                    rounds.append(row)
                elif seen[row["round_id"]] == row["content"]:
                    repeats += 1
                else:
                    bad.append(
                        {
                            **where,
                            "code": "duplicate_round",
                            "message": "another record stands before",
                            "raw": row["raw"],
                        }
                    )
            for start in range(0, max(len(rounds), 1), self.batch_rounds):
                yield SimpleNamespace(
                    rounds=_batch(rounds[start : start + self.batch_rounds], events.ROUNDS),
                    rejects=_batch(bad if start == 0 else [], rejects.REJECTS),
                )
            self.counts.append(
                {"source": name, "format": "kwx", "bytes": len(json.dumps(records)), "records": len(records),
                 "sha256": sha256(json.dumps(records).encode()).hexdigest(),
                 "rounds": len(rounds), "repeats": repeats, "rejects": len(bad)}
            )  # fmt: skip

    def sources(self) -> pa.Table:
        return pa.Table.from_pylist(self.counts, schema=rejects.SOURCES)


class FakeReplayer:
    """A replay.batch.Replayer that takes the logs' word for what happened, and finds no facts."""

    facts = False

    def feed(self, rounds: pa.RecordBatch) -> dict[str, pa.Table]:
        out: dict[str, list[dict]] = {name: [] for name in problems.TABLES}
        for row in rounds.select(["raw", "source", "record", "line"]).to_pylist():
            log = json.loads(row.pop("raw"))
            _round(log, {**row, **_ids(log)}, out)
        return {name: pa.Table.from_pylist(out[name], schema=schema) for name, schema in problems.TABLES.items()}


def lost_rounds(rounds: pa.Table) -> pa.Table:
    """A replay.games.check_games that knows of gaps only."""
    seen: dict[int, int] = {}
    found = []
    for row in rounds.sort_by([("game_key", "ascending"), ("round", "ascending")]).to_pylist():
        last = seen.get(row["game_key"], row["round"] - 1)
        seen[row["game_key"]] = row["round"]
        if row["round"] != last + 1:
            where = {name: row[name] for name in NAMES if name in row}
            found.append(
                {**where, "kind": "violation", "code": "lost_round", "logged": str(row["round"]),
                 "expected": str(last + 1), "message": f"round {row['round']} follows round {last}", "explained_by": []}
            )  # fmt: skip
    return pa.Table.from_pylist(found, schema=problems.PROBLEMS)


def _ids(log: dict) -> dict[str, int]:
    return {
        "round_id": digest64(log["site"], log["game"], log["round"]),
        "game_key": digest64(log["site"], log["game"]),
        "content": digest64(json.dumps(log)),
    }


def _batch(rows: list[dict], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def _round(log: dict, ids: dict, out: dict[str, list[dict]]) -> None:
    suits = tiles.suits_of("".join(log["deal"]) + log["wall"])
    kinds = tiles.KIND_OF[suits]
    round_id = ids["round_id"]
    deal = [tiles.parse(text, suits) for text in log["deal"]]
    packed, play = [], _Play(deal, kinds)
    for token in log["events"].split():
        packed.append(play.apply(token))
    result = log["result"]
    points, base = result["points"], log["base"]
    accounts, fault = log["players"], log.get("_fault")
    recorded = list(points)
    verdict = "clean"
    where = {
        **{name: ids[name] for name in ("round_id", "source", "record", "line")},
        "site": log["site"], "game": log["game"], "round": log["round"],
    }  # fmt: skip
    if fault == "points" and result["wins"]:
        verdict = "mismatch"
        recorded[play.wins[0][0]] += base
        recorded[(play.wins[0][0] + 1) % 3] -= base
        out["problems"].append(
            {**where, "kind": "mismatch", "code": "points", "seat": play.wins[0][0], "logged": json.dumps(recorded),
             "expected": json.dumps(points), "message": f"points are {recorded}, expected {points}",
             "explained_by": ["score.cap=4"] if log["round"] % 2 else []}
        )  # fmt: skip
    elif fault == "tile_not_held":
        verdict = "violation"
        out["problems"].append(
            {**where, "kind": "violation", "code": "tile_not_held", "event": len(packed) // 2,
             "seat": packed[len(packed) // 2] & 3,
             "logged": log["events"].split()[len(packed) // 2], "expected": "a tile of the hand",
             "message": "the tile is not in the hand", "table": "0: " + log["deal"][0], "explained_by": []}
        )  # fmt: skip
    elif fault == "unpaid":
        verdict, recorded = "unpaid", None
    winners = [seat for seat, *_ in play.wins]
    out["rounds"].append(
        {
            **where, "game_key": ids["game_key"], "content": ids["content"],
            "time_ms": log.get("_ms"), "ruleset": log["rules"],
            "options": json.dumps(log.get("options", {})), "ruleset_digest": f"{digest64(log['rules']):016x}",
            "suits": suits,
            "dealer": log["dealer"], "dice": log["dice"], "base": base, "raise": log["raise"],
            "raise_from": "logged", "piao_from": "logged", "hidden_from": "logged", "coverage": "full",
            "verdict": verdict, "proof": "wall", "end": result["end"], "winners": len(winners),
            "multiple": max((win["multiple"] for win in result["wins"]), default=None),
            "draws": play.draws, "wall_left": tiles.WALL_TILES - play.draws,
            "next_dealer": log["_expect"]["next_dealer"],
            "raise_next": 0, "events_count": len(packed),
            "mispaid": recorded and sum(abs(a - b) for a, b in zip(recorded, points, strict=True)) // 2,
            "state_digest": digest64(log["events"]),
            "deal": b"".join(bytes(hand).ljust(14, b"\xff") for hand in deal),
            "wall": bytes(tiles.parse(log["wall"], suits)), "events": packed,
        }
    )  # fmt: skip
    payers = {win.get("from") for win in result["wins"]} - {None}
    for seat in range(3):
        out["seats"].append(
            {
                "round_id": round_id, "seat": seat, "player": accounts[seat], "is_dealer": seat == log["dealer"],
                "piao": log["piao"][seat], "points": points[seat], "recorded_points": recorded and recorded[seat],
                "kong_points": result["kongs"][seat], "won": seat in winners,
                "self_drew": seat in winners and not payers, "dealt_in": seat in payers,
                "revealed": seat in play.revealed, "pungs": play.pungs[seat], "kongs": play.kongs[seat],
                "ready_at_end": seat in winners or seat in play.revealed, "deal": bytes(deal[seat]),
                "hand": bytes(sorted(play.hands[seat])),
            }
        )  # fmt: skip
    net = log["_expect"]["ledger"]
    for number, win in enumerate(result["wins"]):
        seat, payer, tile, event, turn = next(row for row in play.wins if row[0] == win["seat"])
        by = "self_draw" if payer is None else "rob_kong" if "rob_kong" in win["fans"] else "discard"
        out["wins"].append(
            {"round_id": round_id, "win_no": number, "seat": seat, "from_seat": payer, "tile": tile, "by": by,
             "event": event, "turn": turn, "multiple": win["multiple"], "fans": win["fans"],
             "revealed": seat in play.revealed, "points": net["win"][seat],
             "recorded_multiple": recorded and win["multiple"], "recorded_fans": recorded and win["fans"]}
        )  # fmt: skip
        for fan in sorted(set(win["fans"])):
            out["win_fans"].append(
                {"round_id": round_id, "win_no": number, "fan": fan, "count": win["fans"].count(fan), "value": 2}
            )
    for number, (event, seat, kind, tile, source) in enumerate(play.kong_rows):
        out["kongs"].append(
            {"round_id": round_id, "kong_no": number, "event": event, "seat": seat, "kind": kind, "tile": tile,
             "from_seat": source, "chain": 1,
             "points": base * {"exposed": 2, "added": 2, "concealed": 4}[kind], "robbed": False}
        )  # fmt: skip
    for order, (seat, (event, turn)) in enumerate(play.revealed.items()):
        out["reveals"].append(
            {"round_id": round_id, "seat": seat, "order": order, "event": event, "turn": turn,
             "wall_left": tiles.WALL_TILES - turn, "live": 2, "hidden": 0,
             "waits": 1 << play.wins[0][2] if play.wins else 0}
        )  # fmt: skip
    for cause, nets in net.items():
        give = {seat: -amount for seat, amount in enumerate(nets) if amount < 0}
        for to_seat, want in enumerate(nets):
            for from_seat in give:
                paid = min(max(want, 0), give[from_seat])
                if paid:
                    number = sum(row["round_id"] == round_id for row in out["ledger"][-16:])
                    out["ledger"].append(
                        {"round_id": round_id, "n": number, "cause": cause,
                         "from_seat": from_seat, "to_seat": to_seat, "points": paid}
                    )  # fmt: skip
                    want, give[from_seat] = want - paid, give[from_seat] - paid


class _Play:
    """Just enough of the rules to know the hands, melds and counts at the end of a legal round."""

    def __init__(self, deal: list[list[int]], kinds: dict[str, int]) -> None:
        self.hands = [list(hand) for hand in deal]
        self.kinds = kinds
        self.pungs, self.kongs, self.draws, self.count = [0] * 3, [0] * 3, 0, 0
        self.revealed: dict[int, tuple[int, int]] = {}
        self.wins: list[tuple] = []
        self.kong_rows: list[tuple] = []

    def apply(self, token: str) -> int:
        event, self.count = self.count, self.count + 1
        if token in "ez":
            return events.pack(events.NO_SEAT, events.VERBS.index(token))
        seat, verb = int(token[0]), token[1]
        if verb == "l":
            self.revealed[seat] = (event, self.draws)
            return events.pack_reveal(seat)
        tile = self.kinds[token[2:4]]
        source = int(token[4]) if len(token) > 4 else None
        hand = self.hands[seat]
        if verb in "dr":
            hand.append(tile)
            self.draws += 1
        for _ in range({"x": 1, "y": 1, "p": 2, "k": 3, "c": 4, "a": 1}.get(verb, 0)):
            hand.remove(tile)
        if verb == "p":
            self.pungs[seat] += 1
        if verb in "kca":
            self.kongs[seat] += 1
            self.pungs[seat] -= verb == "a"
            self.kong_rows.append((event, seat, {"k": "exposed", "c": "concealed", "a": "added"}[verb], tile, source))
        if verb == "w":
            self.wins.append((seat, source, tile, event, self.draws))
        return events.pack(seat, events.VERBS.index(verb), tile, events.NO_SEAT if source is None else source)


if __name__ == "__main__":
    build(sys.argv[1])
