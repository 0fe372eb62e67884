"""The tables `facts` (a round and seat) and `draws` (a tile drawn) of a replayed batch, as Arrow."""

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from ingest.events import FAN_BITS, FAN_CODE, FANS
from replay import facts, luck, watch
from replay.aims import FAR
from replay.hand import tables
from replay.jit import record
from replay.outputs import build, word
from replay.shanten import distances
from replay.state import RESULT, STATE

if TYPE_CHECKING:
    from replay.batch import Played, Rules

DICT = pa.dictionary(pa.int32(), pa.string())
SUMS = [(f"{name}_{sum_}", pa.float64()) for name in watch.LUCK for sum_ in ("expected", "variance")]
FACTS = pa.schema(
    [
        ("round_id", pa.uint64()), ("seat", pa.int8()),
        # the dealt hand
        ("start_tiles", pa.int8()), ("start_shanten", pa.int8()), ("start_pairs", pa.int8()),
        ("start_triplets", pa.int8()), ("start_dragons", pa.int8()), ("start_suit_tiles", pa.int8()),
        ("discards", pa.int16()), ("shanten", pa.list_(pa.int8())),  # after each own discard
        # ready for the first time
        ("ready_turn", pa.int8()), ("ready_event", pa.int16()), ("ready_left", pa.int8()),
        ("ready_waits", pa.uint32()), ("ready_live_own", pa.int8()), ("ready_live_true", pa.int8()),
        # revealed
        ("reveal_order", pa.int8()), ("reveal_live_own", pa.int8()), ("reveal_live_true", pa.int8()),
        # draws: how many, how many useful, how many expected
        ("draws", pa.int16()), ("draws_behind", pa.int16()),
        ("useful_draws", pa.int16()), *SUMS[:2],
        ("ready_draws", pa.int16()), ("ready_hits", pa.int16()), *SUMS[2:4],
        ("revealed_draws", pa.int16()), ("revealed_hits", pa.int16()), *SUMS[4:6],
        ("replacement_hits", pa.int16()), *SUMS[6:8],
        ("horses", pa.int8()), ("horse_points", pa.int16()), *SUMS[12:],
        ("tiles_worth", pa.int32()),  # replay.luck
        # offered and passed
        ("wins_offered", pa.int8()), ("wins_missed", pa.int8()),
        ("self_draws_offered", pa.int8()), ("self_draws_missed", pa.int8()), ("first_missed_event", pa.int16()),
        ("kongs_offered", pa.int8()), ("kongs_declined", pa.int8()),
        ("pungs_offered", pa.int8()), ("pungs_declined", pa.int8()),
        # defence
        ("dealt_in_ready", pa.bool_()), ("dealt_into_revealed", pa.bool_()),
        ("discards_into_revealed", pa.int8()), ("dangerous_discards", pa.int8()), ("careless_discards", pa.int8()),
        # what others wait for among the nearest discards
        ("choices", pa.list_(pa.int8())),  # before each own discard
        ("open_choices", pa.int8()), ("open_fed", pa.int8()), *SUMS[8:10],
        ("hidden_choices", pa.int8()), ("hidden_fed", pa.int8()), *SUMS[10:12],
        # the end
        ("final_shanten", pa.int8()), ("final_waits", pa.uint32()), ("final_live_true", pa.int8()),
    ]
)  # fmt: skip
DRAWS = pa.schema(
    [
        ("round_id", pa.uint64()), ("n", pa.int16()), ("event", pa.int16()), ("seat", pa.int8()),
        ("tile", pa.uint8()), ("place", pa.int8()), ("behind", pa.bool_()), ("remaining", pa.int8()),
        ("same", pa.int8()), ("shanten", pa.int8()), ("useful", pa.int8()), ("hit", pa.bool_()),
        ("ready", pa.bool_()), ("revealed", pa.bool_()), ("after_call", pa.bool_()), ("caller", pa.int8()),
    ]
)  # fmt: skip
AIMS = pa.schema(
    [
        ("round_id", pa.uint64()), ("seat", pa.int8()), ("fan", DICT),
        ("start", pa.int8()), ("best", pa.int8()),  # tiles from ready for the fan: the dealt hand, the nearest
        ("near_turn", pa.int8()), ("aimed_turn", pa.int8()), ("ready_turn", pa.int8()), ("won", pa.bool_()),
    ]
)  # fmt: skip
TABLES = {"facts": FACTS, "draws": DRAWS, "aims": AIMS}
LISTS = ("shanten", "choices")  # one number an own discard
# Columns that are empty where there is no such thing: column -> the column of watch.FACTS that is -1 or 0 there.
EMPTY_BELOW = {
    **dict.fromkeys(
        ("ready_turn", "ready_left", "ready_waits", "ready_live_own", "ready_live_true"), ("ready_turn", 0)
    ),
    "ready_event": ("ready_event", 0),  # dealt ready
    "reveal_order": ("reveal_order", 1),
    **{name: (name, 0) for name in ("reveal_live_own", "reveal_live_true", "first_missed_event")},
    "final_live_true": ("final_waits", 1),
}


# A fan that counts is a win with each of these: more fours than were aimed at are enough.
FAMILY = FANS[FAN_CODE["seven_pairs"] : FAN_CODE["three_dragons_seven_pairs"] + 1]
COUNTS_AS = np.eye(watch.SHAPES, dtype=bool)
for fours, fan_ in enumerate(FAMILY):
    for less in FAMILY[: fours if fours < 4 else 1]:
        COUNTS_AS[FAN_CODE[fan_], FAN_CODE[less]] = True


class Watcher:
    """Finds the facts of batch after batch."""

    def __init__(self) -> None:
        self._watch = record(watch.WATCH)
        self._out = record(RESULT)
        self._state = record(STATE)

    def tables(self, ids: np.ndarray, played: "Played", rules: "Rules") -> dict[str, pa.Table]:
        """The tables of TABLES for the rounds of a batch that have facts, in its order.

        ids: uint64[n], the rounds' ids; rules: the rulesets that `played` was played with.
        """
        chosen = np.nonzero((played.rounds.settled == 0) & (played.results.end >= 0))[0]
        found = np.zeros(len(chosen), watch.FACTS)
        drawn = np.zeros(int(played.results.draws[chosen].sum()), watch.DRAW)
        if len(chosen):
            rows = facts.run(
                played.rounds, played.events, chosen, rules.records, tables(), distances(), self._state, self._watch,
                self._out, found.view(np.recarray), drawn.view(np.recarray),
            )  # fmt: skip
            assert rows == len(drawn)
        worth = luck.worth(found, played.rounds.rules[chosen], [one.id for one in rules.loaded])
        return {
            "facts": fact_table(ids[chosen], found, worth),
            "draws": draw_table(ids[chosen], drawn),
            "aims": aim_table(ids[chosen], found, played.results[chosen]),
        }


def fact_table(ids: np.ndarray, found: np.ndarray, worth: np.ndarray) -> pa.Table:
    """Three rows a round.  found: watch.FACTS[n]; worth: int32[n, 3], of replay.luck."""
    columns = {"tiles_worth": worth.reshape(-1)}
    for field in FACTS:
        if field.name in found.dtype.names and field.name not in LISTS:
            missing = None
            if field.name in EMPTY_BELOW:
                by, least = EMPTY_BELOW[field.name]
                missing = found[by].reshape(-1) < least
            values = found[field.name].reshape(-1)
            columns[field.name] = pa.array(values != 0 if pa.types.is_boolean(field.type) else values, mask=missing)
    counts = found["discards"].reshape(-1).astype(np.int64)
    listed = np.arange(watch.MOST_DISCARDS)[None, :] < counts[:, None]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    for name in LISTS:
        values = found[name].reshape(-1, watch.MOST_DISCARDS)[listed]
        columns[name] = pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
    columns["round_id"] = pa.array(np.repeat(ids, 3))
    columns["seat"] = np.tile(np.arange(3, dtype=np.int8), len(ids))
    return build(FACTS, columns)


def draw_table(ids: np.ndarray, drawn: np.ndarray) -> pa.Table:
    """One row a draw.  drawn: watch.DRAW[m], whose `row` counts the ids."""
    columns = {name: pa.array(drawn[name]) for name in DRAWS.names if name in drawn.dtype.names}
    columns["round_id"] = pa.array(ids[drawn["row"]])
    caller = drawn["caller"]
    columns["after_call"] = pa.array(caller >= 0)
    columns["caller"] = pa.array(caller, mask=caller < 0)
    return build(DRAWS, columns)


def aim_table(ids: np.ndarray, found: np.ndarray, results: np.recarray) -> pa.Table:
    """One row a round, seat and fan that the hand came near to.  found: watch.FACTS[n]; results: state.RESULT[n]."""
    won = np.zeros((len(ids), 3, watch.SHAPES), bool)
    for place in range(results.win_seat.shape[1]):
        rows = np.nonzero(results.wins > place)[0]
        counts = results.win_fans[rows, place][:, None] >> FAN_BITS * np.arange(watch.SHAPES)[None, :] & 7
        won[rows, results.win_seat[rows, place]] |= (counts > 0) @ COUNTS_AS
    row, seat, fan = np.nonzero(found["aim_near"] >= 0)
    start = found["aim_start"][row, seat, fan]
    columns = {
        "round_id": ids[row], "seat": seat.astype(np.int8), "fan": word(fan, FANS[: watch.SHAPES]),
        "start": pa.array(start, mask=start >= FAR), "best": found["aim_best"][row, seat, fan],
        "near_turn": found["aim_near"][row, seat, fan], "won": won[row, seat, fan],
    }  # fmt: skip
    for name in ("turn", "ready"):
        turns = found[f"aim_{name}"][row, seat, fan]
        columns["aimed_turn" if name == "turn" else "ready_turn"] = pa.array(turns, mask=turns < 0)
    return build(AIMS, columns)
