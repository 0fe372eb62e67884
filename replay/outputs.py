"""The kernel's records as the Arrow tables of replay.problems."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.events import ENDS, FANS, unpack_fans
from ingest.tiles import KINDS, SUITS
from replay import messages, problems
from replay.proof import GRADES, Notes
from replay.rows import Rows, rows
from replay.ruleset import Ruleset, canonical
from replay.state import HAS_POINTS
from replay.trace import picture

if TYPE_CHECKING:
    from replay.batch import Played

VIOLATION, MISMATCH, UNPAID, CLEAN = range(4)  # as in problems.VERDICTS
NO_PROBLEMS = problems.PROBLEMS.empty_table()
DRAWN, ROB = ENDS.index("draw"), problems.BY.index("rob_kong")


@lru_cache(maxsize=1024)
def texts(words: tuple[str, ...]) -> pa.Array:
    """Words as a column."""
    return pa.array(words, pa.string())


def word(codes: np.ndarray, words: tuple[str, ...]) -> pa.DictionaryArray:
    """Codes to a dictionary column; a negative code is null."""
    return pa.DictionaryArray.from_arrays(numbers(codes, pa.int32(), codes < 0), texts(words))


def numbers(values: np.ndarray, kind: pa.DataType, missing: np.ndarray | None = None) -> pa.Array:
    """Numbers of any width, in the range of `kind`, as a column of it; `missing` rows are null."""
    data = np.ascontiguousarray(values, kind.to_pandas_dtype())
    known = None
    if missing is not None and missing.any():
        known = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(data), [known, pa.py_buffer(data)])


def build(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    """A table of exactly the schema's columns: NumPy numbers, and Arrow columns of any type that casts."""
    arrays = []
    for field in schema:
        column = columns[field.name]
        if isinstance(column, np.ndarray) and column.dtype != bool:
            column = numbers(column, field.type)
        elif not isinstance(column, (pa.Array, pa.ChunkedArray)):
            column = pa.array(column, field.type)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def tables(
    rounds: pa.RecordBatch,
    played: "Played",
    loaded: list[Ruleset],
    origins: dict[str, pa.Array],
    notes: Notes,
    why: dict[int, list[str]],
) -> dict[str, pa.Table]:
    """All tables of problems.TABLES for one batch."""
    ids = rounds["round_id"].to_numpy()
    dense = rows(played.rounds, played.results)
    verdicts = verdict_codes(rounds, played, notes)
    return {
        "rounds": round_table(rounds, played, dense, loaded, origins, notes, verdicts),
        "seats": seat_table(rounds, played, dense, ids),
        "wins": win_table(dense.wins, ids),
        "win_fans": fan_table(played, dense.fans, ids),
        "kongs": kong_table(dense.kongs, ids),
        "reveals": reveal_table(dense.reveals, ids),
        "ledger": ledger_table(dense.ledger, ids),
        "problems": problem_table(rounds, played, notes, why),
    }


def verdict_codes(rounds: pa.RecordBatch, played: "Played", notes: Notes) -> np.ndarray:
    """The verdict of each round as an index in problems.VERDICTS, int64[n]."""
    verdicts = np.where(played.rounds.compare == 0, UNPAID, CLEAN)
    if len(played.problems):
        codes, faulty = played.problems.code, played.problems.row
        verdicts[faulty[codes >= problems.FIRST_MISMATCH]] = MISMATCH
        verdicts[faulty[codes < problems.FIRST_MISMATCH]] = VIOLATION
    verdicts[[note.row for note in notes.problems]] = VIOLATION
    return verdicts


def round_table(
    rounds: pa.RecordBatch,
    played: "Played",
    dense: Rows,
    loaded: list[Ruleset],
    origins: dict[str, pa.Array],
    notes: Notes,
    verdicts: np.ndarray,
) -> pa.Table:
    """One row a round."""
    one, rin = dense.rounds, played.rounds.view(np.ndarray)
    kept = dict(zip(rounds.schema.names, rounds.columns, strict=True))
    unknown = rin["compare"] & HAS_POINTS == 0
    rules = np.ascontiguousarray(rin["rules"])
    made = {
        "ruleset": word(rules, tuple(ruleset.id for ruleset in loaded)),
        "options": word(rules, tuple(canonical(ruleset.options) for ruleset in loaded)),
        "ruleset_digest": word(rules, tuple(ruleset.digest for ruleset in loaded)),
        "raise": numbers(rin["raise_"], pa.int32()),
        "verdict": word(verdicts, problems.VERDICTS),
        "proof": word(notes.grades, GRADES),
        "end": word(one["end"], ENDS),
        "winners": one["winners"],
        "multiple": numbers(one["multiple"], pa.int64(), one["winners"] == 0),
        "draws": one["draws"],
        "wall_left": one["wall_left"],
        "next_dealer": numbers(one["next_dealer"], pa.int8(), one["next_dealer"] < 0),
        "raise_next": numbers(one["raise_next"], pa.int32(), one["raise_next"] < 0),
        "next_dealer_if": dealer_alternatives(played, one, loaded, rules),
        "events_count": rin["stop"] - rin["start"],
        "mispaid": numbers(one["mispaid"], pa.int64(), unknown | (one["end"] < 0)),
        "state_digest": one["digest"].view(np.uint64),
    }
    return build(problems.ROUNDS, kept | made | origins)


def dealer_alternatives(
    played: "Played", one: np.ndarray, loaded: list[Ruleset], rules: np.ndarray
) -> pa.Array:
    """For rounds whose next dealer hangs on a key: the "key=value:seat" of each value that names another seat."""
    lists: list[list[str] | None] = [None]
    codes = np.zeros(len(one), np.int32)  # which of them a round has
    own = np.array([ruleset.values["dealer.after_draw"] != "last_drawer" for ruleset in loaded], bool)
    drawn = (one["end"] == DRAWN) & (one["winners"] != 2) & (one["last_drawer"] != one["next_dealer"]) & own[rules]
    for seat in range(3):
        codes[drawn & (one["last_drawer"] == seat)] = len(lists)
        lists.append([f"dealer.after_draw=last_drawer:{seat}"])
    double = np.nonzero(one["winners"] == 2)[0]
    results = played.results.view(np.ndarray)
    columns = [results[name][double, 0] for name in ("win_by", "win_from", "win_seat")]
    for row, by, payer, first, taken in zip(
        *(column.tolist() for column in (double, *columns, one["next_dealer"][double])), strict=True
    ):
        key, loser = ("dealer.after_double_rob", "payer") if by == ROB else ("dealer.after_double", "discarder")
        played_as = loaded[rules[row]].values[key]
        seats = (loser, payer), ("first_winner", first)
        found = [f"{key}={value}:{seat}" for value, seat in seats if value != played_as and seat != taken]
        if found:
            codes[row] = len(lists)
            lists.append(found)
    return pa.array(lists, pa.list_(pa.string())).take(pa.array(codes))


def seat_table(rounds: pa.RecordBatch, played: "Played", dense: Rows, ids: np.ndarray) -> pa.Table:
    """Three rows a round."""
    one, rin = dense.seats, played.rounds.view(np.ndarray)
    seat = np.tile(np.arange(3, dtype=np.int8), len(ids))
    recorded = np.repeat(rin["compare"] & HAS_POINTS != 0, 3)
    return build(
        problems.SEATS,
        {
            "round_id": np.repeat(ids, 3), "seat": seat, "player": rounds["players"].flatten(),
            "is_dealer": np.repeat(rin["dealer"], 3) == seat,
            "piao": numbers(one["piao"], pa.int32(), np.repeat(rin["piao_unknown"] != 0, 3)), "points": one["points"],
            "recorded_points": numbers(one["recorded_points"], pa.int64(), ~recorded),
            "kong_points": one["kong_points"], "won": one["won"], "self_drew": one["self_drew"],
            "dealt_in": one["dealt_in"], "revealed": one["revealed"], "pungs": one["pungs"], "kongs": one["kongs"],
            "ready_at_end": one["ready"],
            "deal": binaries(dense.deals, one["deal_stop"]), "hand": binaries(dense.hands, one["hand_stop"]),
        },
    )  # fmt: skip


def binaries(data: np.ndarray, stops: np.ndarray) -> pa.Array:
    """Byte strings cut from one run of bytes, uint8, by where each ends."""
    offsets = np.zeros(len(stops) + 1, np.int32)
    offsets[1:] = stops
    return pa.Array.from_buffers(pa.binary(), len(stops), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def fan_lists(packed: np.ndarray) -> pa.Array:
    """Packed fans to lists of ids; -1 is null."""
    coded = numbers(packed, pa.int64()).dictionary_encode()
    lists = [None if one < 0 else unpack_fans(one) for one in coded.dictionary.to_pylist()]
    return pa.array(lists, pa.list_(pa.string())).take(coded.indices)


def win_table(one: np.ndarray, ids: np.ndarray) -> pa.Table:
    """One row a win, with the recorded fans and multiple of the same winner beside it."""
    fans = fan_lists(one["fans"])
    recorded = one["recorded_fans"]
    return build(
        problems.WINS,
        {
            "round_id": ids[one["row"]], "win_no": one["win_no"], "seat": one["seat"],
            "from_seat": numbers(one["from_seat"], pa.int8(), one["from_seat"] < 0), "tile": one["tile"],
            "by": word(one["by"], problems.BY), "event": one["event"], "turn": one["turn"],
            "multiple": one["multiple"], "fans": fans, "revealed": one["revealed"], "points": one["points"],
            "recorded_multiple": numbers(one["recorded_multiple"], pa.int64(), one["recorded_multiple"] < 0),
            "recorded_fans": fans if (recorded == one["fans"]).all() else fan_lists(recorded),
        },
    )  # fmt: skip


def fan_table(played: "Played", one: np.ndarray, ids: np.ndarray) -> pa.Table:
    """One row a fan of a win."""
    rules = played.rounds.view(np.ndarray)["rules"]
    return build(
        problems.WIN_FANS,
        {
            "round_id": ids[one["row"]], "win_no": one["win_no"], "fan": word(one["fan"], FANS),
            "count": one["count"], "value": played.fan_values[rules[one["row"]], one["fan"]],
        },
    )  # fmt: skip


def kong_table(one: np.ndarray, ids: np.ndarray) -> pa.Table:
    """One row a kong, robbed ones included."""
    return build(
        problems.KONG_ROWS,
        {
            "round_id": ids[one["row"]], "kong_no": one["kong_no"], "event": one["event"], "seat": one["seat"],
            "kind": word(one["kind"], problems.KONGS), "tile": one["tile"],
            "from_seat": numbers(one["from_seat"], pa.int8(), one["from_seat"] < 0), "chain": one["chain"],
            "points": one["points"], "robbed": one["robbed"],
        },
    )  # fmt: skip


def reveal_table(one: np.ndarray, ids: np.ndarray) -> pa.Table:
    """One row a reveal."""
    return build(problems.REVEALS, {name: one[name] for name in one.dtype.names} | {"round_id": ids[one["row"]]})


def ledger_table(one: np.ndarray, ids: np.ndarray) -> pa.Table:
    """One row a payment, in the order they fell due."""
    return build(
        problems.LEDGER,
        {
            "round_id": ids[one["row"]], "n": one["n"], "cause": word(one["cause"], problems.CAUSES),
            "from_seat": one["from_seat"],
            "to_seat": numbers(one["to_seat"], pa.int8(), one["to_seat"] < 0), "points": one["points"],
        },
    )  # fmt: skip


def problem_table(rounds: pa.RecordBatch, played: "Played", notes: Notes, why: dict[int, list[str]]) -> pa.Table:
    """One row a problem: those of a round by event, the ones of the whole round last."""
    listed: list[tuple[int, int, dict[str, Any]]] = []
    if not len(played.problems) and not notes.problems:
        return NO_PROBLEMS
    for problem in played.problems:
        row, event = int(problem.row), int(problem.event)
        logged, expected, message = messages.words(problem, played.rounds[row], played.results[row])
        found = {
            "code": problems.CODES[problem.code], "event": event,
            "seat": int(problem.seat) if problem.seat >= 0 else None,
            "logged": logged, "expected": expected, "message": message,
        }  # fmt: skip
        listed.append((row, event if event >= 0 else 1 << 31, found))
    for note in notes.problems:
        found = {
            "code": problems.CODES[note.code], "event": -1, "seat": None, "logged": note.logged,
            "expected": note.expected, "message": messages.WORDS[problems.CODES[note.code]][1],
        }  # fmt: skip
        listed.append((note.row, 1 << 31, found))
    listed.sort(key=lambda item: item[:2])
    faulty = pa.array([row for row, _, _ in listed], pa.int64())
    numbered = rounds["event_no"].take(faulty).to_pylist()
    for (row, _, found), numbers_of_source in zip(listed, numbered, strict=True):
        event = found["event"]
        one = played.rounds[row]
        shown = {"deal": one.deal.tobytes(), "events": played.events[one.start : one.stop], "suits": SUITS[one.suits]}
        if one.settled:
            shown["hands"] = [np.repeat(np.arange(KINDS), held).tolist() for held in played.results[row].hand]
        found["table"] = picture(shown, event)
        if event < 0:
            found["event"] = None
        elif numbers_of_source is not None:
            found["event"] = numbers_of_source[event] if event < len(numbers_of_source) else None
        found["kind"] = "mismatch" if problems.CODE[found["code"]] >= problems.FIRST_MISMATCH else "violation"
        found["explained_by"] = why.get(row, [])
    made = {
        name: pa.array([found[name] for _, _, found in listed], problems.PROBLEMS.field(name).type)
        for name in ("event", "seat", "logged", "expected", "message", "table", "explained_by")
    }
    for name in ("kind", "code"):
        made[name] = pa.array([found[name] for _, _, found in listed]).dictionary_encode()
    taken = {
        name: rounds[name].take(faulty) for name in ("round_id", "source", "record", "line", "site", "game", "round")
    }
    return build(problems.PROBLEMS, taken | made)
