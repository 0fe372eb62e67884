"""The kernel's records as the Arrow tables of replay.problems."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.events import ENDS, FANS, unpack_fans
from ingest.tiles import KINDS, SUITS
from replay import messages, problems
from replay.proof import GRADES, Notes
from replay.ruleset import Ruleset, canonical
from replay.trace import picture

if TYPE_CHECKING:
    from replay.batch import Played

VIOLATION, MISMATCH, UNPAID, CLEAN = range(4)  # as in problems.VERDICTS


def word(codes: np.ndarray, words: tuple[str, ...] | list[str]) -> pa.DictionaryArray:
    """Codes to a dictionary column; a negative code is null."""
    indices = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))


def numbers(values: np.ndarray, kind: pa.DataType, missing: np.ndarray | None = None) -> pa.Array:
    """Numbers of any width as a column of `kind`; `missing` rows are null."""
    return pa.array(values, mask=missing).cast(kind)


def per_item(counts: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and places of the items that variable-length records of at most `width` hold."""
    used = np.arange(width)[None, :] < counts[:, None]
    return np.nonzero(used)


def build(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    """A table of exactly the schema's columns, each cast to its type."""
    arrays = []
    for field in schema:
        column = columns[field.name]
        if not isinstance(column, (pa.Array, pa.ChunkedArray)):
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
    out = played.results
    found = problem_table(rounds, played, notes, why)
    verdicts = verdict_codes(rounds, played, notes)
    return {
        "rounds": round_table(rounds, played, loaded, origins, notes, verdicts),
        "seats": seat_table(rounds, played, ids),
        "wins": win_table(played, ids),
        "win_fans": fan_table(played, ids),
        "kongs": kong_table(out, ids),
        "reveals": reveal_table(out, ids),
        "ledger": ledger_table(out, ids),
        "problems": found,
    }


def verdict_codes(rounds: pa.RecordBatch, played: "Played", notes: Notes) -> np.ndarray:
    """The verdict of each round as an index in problems.VERDICTS, int64[n]."""
    verdicts = np.where(played.rounds.compare == 0, UNPAID, CLEAN)
    codes, rows = played.problems.code, played.problems.row
    verdicts[rows[codes >= problems.FIRST_MISMATCH]] = MISMATCH
    verdicts[rows[codes < problems.FIRST_MISMATCH]] = VIOLATION
    verdicts[[note.row for note in notes.problems]] = VIOLATION
    return verdicts


def round_table(
    rounds: pa.RecordBatch,
    played: "Played",
    loaded: list[Ruleset],
    origins: dict[str, pa.Array],
    notes: Notes,
    verdicts: np.ndarray,
) -> pa.Table:
    """One row a round."""
    out, rin = played.results, played.rounds
    kept = {name: rounds[name] for name in problems.ROUNDS.names if name in rounds.schema.names}
    unknown = rin.compare & 2 == 0
    differ = np.abs(rin.points - out.points).sum(axis=1) // 2
    incomplete = out.end < 0
    best = np.where(out.wins > 0, out.win_multiple[:, 0], 0)
    best = np.where(out.wins > 1, np.maximum(best, out.win_multiple[:, 1]), best)
    made = {
        "ruleset": word(rin.rules, [one.id for one in loaded]),
        "options": word(rin.rules, [canonical(one.options) for one in loaded]),
        "ruleset_digest": word(rin.rules, [one.digest for one in loaded]),
        "raise": numbers(rin.raise_, pa.int32()),
        "verdict": word(verdicts, problems.VERDICTS),
        "proof": word(notes.grades.astype(np.int64), GRADES),
        "end": word(out.end, ENDS),
        "winners": numbers(out.wins, pa.int8()),
        "multiple": numbers(best, pa.int64(), out.wins == 0),
        "draws": numbers(out.draws, pa.int16()),
        "wall_left": numbers(out.wall_left, pa.int16()),
        "next_dealer": numbers(out.next_dealer, pa.int8(), out.next_dealer < 0),
        "raise_next": numbers(out.raise_next, pa.int32(), out.raise_next < 0),
        "next_dealer_if": dealer_alternatives(out, loaded, rin.rules),
        "events_count": numbers(rin.stop - rin.start, pa.int32()),
        "mispaid": numbers(differ, pa.int64(), unknown | incomplete),
        "state_digest": pa.array(out.digest.view(np.uint64)),
    }
    return build(problems.ROUNDS, kept | made | origins)


def dealer_alternatives(out: np.recarray, loaded: list[Ruleset], rules: np.ndarray) -> pa.Array:
    """For rounds whose next dealer hangs on a key: the "key=value:seat" of each value that names another seat."""
    lists: list[list[str] | None] = [None] * len(out)
    hang = np.nonzero((out.wins == 2) | (out.end == 1))[0]
    for row in hang.tolist():
        one = out[row]
        values = loaded[rules[row]].values
        seats: dict[str, dict[str, int]] = {}
        if one.wins == 2 and one.win_by[0] == 2:
            seats["dealer.after_double_rob"] = {"payer": one.win_from[0], "first_winner": one.win_seat[0]}
        elif one.wins == 2:
            seats["dealer.after_double"] = {"discarder": one.win_from[0], "first_winner": one.win_seat[0]}
        else:
            seats["dealer.after_draw"] = {"last_drawer": one.last_drawer}
        lists[row] = [
            f"{key}={value}:{int(seat)}"
            for key, choices in seats.items()
            for value, seat in choices.items()
            if value != values[key] and seat != one.next_dealer
        ] or None
    return pa.array(lists, pa.list_(pa.string()))


def seat_table(rounds: pa.RecordBatch, played: "Played", ids: np.ndarray) -> pa.Table:
    """Three rows a round."""
    out, rin = played.results, played.rounds
    n = len(out)
    seat = np.tile(np.arange(3), n)
    row = np.repeat(np.arange(n), 3)
    won = np.zeros((n, 3), bool)
    drew = np.zeros((n, 3), bool)
    dealt = np.zeros((n, 3), bool)
    for place in range(2):
        rows = np.nonzero(out.wins > place)[0]
        won[rows, out.win_seat[rows, place]] = True
        own = rows[out.win_from[rows, place] < 0]
        drew[own, out.win_seat[own, place]] = True
        fed = rows[out.win_from[rows, place] >= 0]
        dealt[fed, out.win_from[fed, place]] = True
    kongs = np.zeros((n, 3), np.int64)
    rows, places = per_item(out.kongs, out.kong_seat.shape[1])
    stands = out.kong_robbed[rows, places] == 0
    np.add.at(kongs, (rows[stands], out.kong_seat[rows, places][stands]), 1)
    known = np.repeat(rin.compare & 2 != 0, 3)
    deals = rin.deal.reshape(n * 3, 14)
    hands = np.repeat(np.tile(np.arange(21, dtype=np.uint8), n * 3), out.hand.reshape(-1))
    return build(
        problems.SEATS,
        {
            "round_id": pa.array(ids[row]), "seat": seat, "player": rounds["players"].flatten(),
            "is_dealer": rin.dealer[row] == seat,
            "piao": rounds_piao(rounds, rin), "points": out.points.reshape(-1),
            "recorded_points": numbers(rin.points.reshape(-1), pa.int64(), ~known),
            "kong_points": out.kong_net.reshape(-1), "won": won.reshape(-1), "self_drew": drew.reshape(-1),
            "dealt_in": dealt.reshape(-1), "revealed": out.revealed.reshape(-1) > 0,
            "pungs": out.pungs.reshape(-1), "kongs": kongs.reshape(-1), "ready_at_end": out.ready.reshape(-1) > 0,
            "deal": binaries(deals[deals < 21], (deals < 21).sum(axis=1)),
            "hand": binaries(hands, out.hand.reshape(n * 3, 21).sum(axis=1)),
        },
    )  # fmt: skip


def rounds_piao(rounds: pa.RecordBatch, rin: np.recarray) -> pa.Array:
    """Piao per seat, null where it could not be told."""
    unknown = np.repeat(rin.piao_unknown != 0, 3)
    return numbers(rin.piao.reshape(-1), pa.int32(), unknown)


def binaries(values: np.ndarray, lengths: np.ndarray) -> pa.Array:
    """Byte strings cut from one run of bytes."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    data = np.ascontiguousarray(values, np.uint8)
    return pa.Array.from_buffers(pa.binary(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def fan_lists(packed: np.ndarray) -> pa.Array:
    """Packed fans to lists of ids; -1 is null."""
    kinds, inverse = np.unique(packed, return_inverse=True)
    lists = pa.array([None if one < 0 else unpack_fans(one) for one in kinds.tolist()], pa.list_(pa.string()))
    return lists.take(pa.array(inverse))


def win_table(played: "Played", ids: np.ndarray) -> pa.Table:
    """One row a win, with the recorded fans and multiple of the same winner beside it."""
    out, rin = played.results, played.rounds
    row, place = per_item(out.wins, 2)
    seat = out.win_seat[row, place]
    source = out.win_from[row, place]
    fans = np.full(len(row), -1)
    multiple = np.full(len(row), -1)
    for other in range(2):
        same = (rin.wins[row] > other) & (rin.win_seat[row, other] == seat)
        fans = np.where(same, rin.win_fans[row, other], fans)
        multiple = np.where(same, rin.win_multiple[row, other], multiple)
    return build(
        problems.WINS,
        {
            "round_id": pa.array(ids[row]), "win_no": place, "seat": seat,
            "from_seat": numbers(source, pa.int8(), source < 0), "tile": out.win_tile[row, place],
            "by": word(out.win_by[row, place], problems.BY), "event": out.win_event[row, place],
            "turn": out.win_turn[row, place], "multiple": out.win_multiple[row, place],
            "fans": fan_lists(out.win_fans[row, place]), "revealed": out.revealed[row, seat] > 0,
            "points": out.win_points[row, place],
            "recorded_multiple": numbers(multiple, pa.int64(), multiple < 0), "recorded_fans": fan_lists(fans),
        },
    )  # fmt: skip


def fan_table(played: "Played", ids: np.ndarray) -> pa.Table:
    """One row a fan of a win."""
    out = played.results
    row, place = per_item(out.wins, 2)
    packed = out.win_fans[row, place]
    counts = packed[:, None] >> (3 * np.arange(len(FANS)))[None, :] & 7
    win, fan = np.nonzero(counts)
    values = played.fan_values[played.rounds.rules[row[win]], fan]
    return build(
        problems.WIN_FANS,
        {
            "round_id": pa.array(ids[row[win]]), "win_no": place[win], "fan": word(fan, FANS),
            "count": counts[win, fan], "value": values,
        },
    )  # fmt: skip


def kong_table(out: np.recarray, ids: np.ndarray) -> pa.Table:
    """One row a kong, robbed ones included."""
    row, place = per_item(out.kongs, out.kong_seat.shape[1])
    source = out.kong_from[row, place]
    return build(
        problems.KONG_ROWS,
        {
            "round_id": pa.array(ids[row]), "kong_no": place, "event": out.kong_event[row, place],
            "seat": out.kong_seat[row, place], "kind": word(out.kong_kind[row, place], problems.KONGS),
            "tile": out.kong_tile[row, place], "from_seat": numbers(source, pa.int8(), source < 0),
            "chain": out.kong_chain[row, place], "points": out.kong_points[row, place],
            "robbed": out.kong_robbed[row, place] > 0,
        },
    )  # fmt: skip


def reveal_table(out: np.recarray, ids: np.ndarray) -> pa.Table:
    """One row a reveal."""
    row, place = per_item(out.reveals, 3)
    return build(
        problems.REVEALS,
        {
            "round_id": pa.array(ids[row]), "seat": out.reveal_seat[row, place], "order": place + 1,
            "event": out.reveal_event[row, place], "turn": out.reveal_turn[row, place],
            "wall_left": out.reveal_left[row, place], "waits": out.reveal_waits[row, place],
            "live": out.reveal_live[row, place], "hidden": out.reveal_hidden[row, place],
        },
    )  # fmt: skip


def ledger_table(out: np.recarray, ids: np.ndarray) -> pa.Table:
    """One row a payment, in the order they fell due."""
    row, place = per_item(out.ledger, out.ledger_cause.shape[1])
    to = out.ledger_to[row, place]
    return build(
        problems.LEDGER,
        {
            "round_id": pa.array(ids[row]), "n": place, "cause": word(out.ledger_cause[row, place], problems.CAUSES),
            "from_seat": out.ledger_from[row, place], "to_seat": numbers(to, pa.int8(), to < 0),
            "points": out.ledger_points[row, place],
        },
    )  # fmt: skip


def problem_table(rounds: pa.RecordBatch, played: "Played", notes: Notes, why: dict[int, list[str]]) -> pa.Table:
    """One row a problem: those of a round by event, the ones of the whole round last."""
    listed: list[tuple[int, int, dict[str, Any]]] = []
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
    if not listed:
        return problems.PROBLEMS.empty_table()
    rows = pa.array([row for row, _, _ in listed], pa.int64())
    numbered = rounds["event_no"].take(rows).to_pylist()
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
        name: rounds[name].take(rows) for name in ("round_id", "source", "record", "line", "site", "game", "round")
    }
    return build(problems.PROBLEMS, taken | made)
