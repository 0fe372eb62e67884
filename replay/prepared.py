"""Arrow columns of rounds to the records that the kernel takes."""

from typing import Any

import numpy as np
import pyarrow as pa

from ingest.tiles import PAD, SUITS, WALL_TILES
from replay import proof, state
from replay.jit import jit
from replay.memory import load8, load64, store8, store64

DEALT = 42
RECORDED = {
    "result_end": state.HAS_END, "result_points": state.HAS_POINTS, "result_wins": state.HAS_WINS,
    "result_kongs": state.HAS_KONGS, "result_fee": state.HAS_FEE,
}  # fmt: skip
WIN_FIELDS = {"seat": 0, "from": 0, "tile": 0, "fans": -1, "multiple": -1}  # and what stands where there is no win
MISSING = np.array(list(WIN_FIELDS.values()))
# Where the fields of state.ROUND stand: in words of eight bytes, then in bytes.
WORD_AT = {name: state.ROUND.fields[name][1] // 8 for name in state.ROUND.names}  # type: ignore[union-attr, index]
DEAL_AT, WALL_AT = (state.ROUND.fields[name][1] for name in ("deal", "wall"))  # type: ignore[index]
SIZE, WIN_WORD, N_WIN_FIELDS = state.ROUND.itemsize, WORD_AT["win_seat"], len(WIN_FIELDS)


def coded(column: pa.Array) -> tuple[list[Any], np.ndarray]:
    """A dictionary column as its words and one code a row (null: the number of words)."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words, codes = column.dictionary.to_pylist(), column.indices
    if codes.null_count:
        codes = codes.fill_null(len(words))
    return words, codes.to_numpy(zero_copy_only=False).astype(np.int64)


def numbers_of(column: pa.Array, missing: int = -1) -> np.ndarray:
    """A number column as numbers[n], nulls as `missing`."""
    if column.null_count == 0:
        return column.to_numpy(zero_copy_only=False)
    return column.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False)


def given(column: pa.Array) -> np.ndarray:
    """Which values of a column are not null, bool[n]."""
    if column.null_count == 0:
        return np.ones(len(column), bool)
    if column.null_count == len(column):
        return np.zeros(len(column), bool)
    return column.is_valid().to_numpy(zero_copy_only=False)


def fixed(column: pa.Array, width: int, missing: int = 0) -> np.ndarray:
    """A fixed-width list or binary column as [n, width], null rows and elements as `missing`."""
    if len(column) == 0:
        return np.zeros((0, width), np.int64)
    valid = given(column)
    if pa.types.is_fixed_size_binary(column.type):
        if column.buffers()[1] is None:
            return np.full((len(column), width), missing, np.uint8)
        raw = np.frombuffer(column.buffers()[1], np.uint8, len(column) * width, column.offset * width)
        out = raw.reshape(-1, width)
    elif not valid.any():
        return np.full((len(column), width), missing, np.int64)
    else:
        values = column.values.slice(column.offset * width, len(column) * width)
        out = numbers_of(values, missing).reshape(-1, width)
    return out if valid.all() else np.where(valid[:, None], out, missing)


def flat_events(rounds: pa.RecordBatch) -> np.ndarray:
    """All events of a batch end to end, uint32."""
    return rounds["events"].flatten().to_numpy(zero_copy_only=False).astype(np.uint32, copy=False)


def columns(rounds: pa.RecordBatch, numbers: np.ndarray) -> np.recarray:
    """A batch as state.ROUND[n]; unknown piao and raise stand as 0 until replay.inputs has solved them."""
    n = rounds.num_rows
    words = np.zeros((WIN_WORD, n), np.int64)

    def put(name: str, values: np.ndarray) -> None:
        """One word a round, or the columns of [n, width]."""
        at = WORD_AT[name]
        words[at if values.ndim == 1 else slice(at, at + values.shape[1])] = values.T

    put("rules", numbers)
    if rounds["settlement"].null_count < n:
        settled = given(rounds["settlement"])
        put("settled", np.cumsum(settled) * settled)
    put("has_wall", given(rounds["wall"]))
    put("dealer", numbers_of(rounds["dealer"]))
    suits, codes = coded(rounds["suits"])
    put("suits", np.array([SUITS.index(word) for word in suits] + [0], np.int64)[codes])
    put("dice", fixed(rounds["dice"], 2))
    put("piao", fixed(rounds["piao"], 3))
    put("base_", numbers_of(rounds["base"], 1))
    put("raise_", numbers_of(rounds["raise"], 0))
    lengths = rounds["events"].value_lengths()
    lengths = numbers_of(lengths, 0).astype(np.int64, copy=False)
    stops = np.cumsum(lengths)
    put("stop", stops)
    put("start", stops - lengths)
    compare = np.zeros(n, np.int64)
    for name, bit in RECORDED.items():
        if rounds[name].null_count == 0:
            compare |= bit
        elif rounds[name].null_count < n:
            compare |= given(rounds[name]) * np.int64(bit)
    put("compare", compare)
    put("end", numbers_of(rounds["result_end"]))
    put("points", fixed(rounds["result_points"], 3))
    put("kongs", fixed(rounds["result_kongs"], 3))
    put("fee", numbers_of(rounds["result_fee"], 0))
    counts = numbers_of(rounds["result_wins"].value_lengths(), 0).astype(np.int64, copy=False)
    put("wins", np.minimum(counts, state.MAX_WINS))
    listed = rounds["result_wins"].flatten()
    wins = np.empty((N_WIN_FIELDS, len(listed)), np.int64)
    for field, name in enumerate(WIN_FIELDS):
        wins[field] = numbers_of(listed.field(name))
    out = np.empty(n, state.ROUND)
    deals = np.ascontiguousarray(fixed(rounds["deal"], DEALT, PAD), np.uint8)
    walls = np.ascontiguousarray(fixed(rounds["wall"], WALL_TILES, PAD), np.uint8)
    win_stops = np.cumsum(counts)
    lay(*(one.ctypes.data for one in (words, deals, walls, wins, win_stops, MISSING)), n, len(listed), out.ctypes.data)
    prepared = out.view(np.recarray)
    proof.fill_walls(rounds, prepared)
    return prepared


@jit
def lay(words, deals, walls, wins, win_stops, missing, n, n_wins, out):
    """Write n records of state.ROUND to the address `out`; the others are addresses of contiguous arrays.

    words: int64[WIN_WORD, n]; deals, walls: uint8[n, 42] and [n, 44]; wins: int64[N_WIN_FIELDS, n_wins], of each round
    those up to its win_stops: int64[n]; missing: int64[N_WIN_FIELDS].  Of a round's wins the first two are taken; how
    many there are says more, so that a third shows as a wrong winner.
    """
    first = np.int64(0)
    for row in range(n):
        for word in range(WIN_WORD):
            store64(out + 8 * word, load64(words + 8 * (word * n + row)))
        stop = load64(win_stops + 8 * row)
        for field in range(N_WIN_FIELDS):
            for place in range(state.MAX_WINS):
                value = load64(missing + 8 * field)
                if first + place < stop:
                    value = load64(wins + 8 * (field * n_wins + first + place))
                store64(out + 8 * (WIN_WORD + state.MAX_WINS * field + place), value)
        first = stop
        for at in range(DEALT):
            store8(out + DEAL_AT + at, load8(deals + at))
        for at in range(WALL_TILES):
            store8(out + WALL_AT + at, load8(walls + at))
        out += SIZE
        deals += DEALT
        walls += WALL_TILES
