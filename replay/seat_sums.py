"""The counters of statistics, summed over each account's rounds in a game while a batch is at hand.

What a column counts is defined by the view seat_rounds; a test compares the two.  Here the same is said in NumPy over
the tables of a batch, which costs a tenth of the view's joins over a whole data set.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.events import CAUSES
from replay.luck import MILLION
from replay.problems import TABLES

TABLE = "sittings"
KEYS = ("game_key", "site", "ruleset", "base", "day", "player", "seat", "position")
OF_ROUNDS = ("game_key", "site", "ruleset", "base")  # keys that are columns of the table rounds
OF_WINS = ("win", "piao", "horse", "kan", "run_touch_eight")  # causes of what wins pay
OF_KONGS = tuple(cause for cause in CAUSES if cause.startswith("kong_"))
OF_DRAWS = ("draw", "no_safe_tile")
DAY = 86_400_000  # milliseconds
NO_TIME = np.iinfo(np.int64).max
NO_DEALER = 3  # as a position
PLACES = 12  # of a run of rounds: seats and positions
ADDED = (  # columns of facts that are added up under their own names
    "wins_offered", "wins_missed", "kongs_offered", "kongs_declined", "pungs_offered", "pungs_declined",
    "discards_into_revealed", "dangerous_discards", "careless_discards", "dealt_in_ready", "draws", "useful_draws",
    "ready_draws", "ready_hits", "replacement_hits",
)  # fmt: skip
CHANCE = 1 << 26  # parts of a draw in which chances are whole numbers
Columns = dict[str, np.ndarray]


class Seats:
    """The rows of `seats` of a batch, three a round, and other tables' values laid beside them."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self.tables = tables
        self.count = tables["seats"].num_rows
        self._ids = tables["rounds"]["round_id"].combine_chunks()
        self._first: dict[str, np.ndarray] = {}  # by table, the row of seats at which the round of each row begins

    def rows(self, name: str, seat: str = "seat") -> np.ndarray:
        """int64[m]: the row of seats that each row of a table belongs to; `count` where it names no seat."""
        table = self.tables[name]
        if name not in self._first:
            self._first[name] = 3 * pc.index_in(table["round_id"], value_set=self._ids).to_numpy().astype(np.int64)
        place = values(table[seat], -1)
        return np.where(place < 0, self.count, self._first[name] + place)

    def of_round(self, column: np.ndarray) -> np.ndarray:
        """A value of each round, for each of its seats."""
        return np.repeat(column, 3)

    def all_of_round(self, column: np.ndarray) -> np.ndarray:
        """The sum of each round's three seats, for each round."""
        return column[::3] + column[1::3] + column[2::3]

    def laid(self, rows: np.ndarray, given: np.ndarray | int = 1) -> np.ndarray:
        """int64[count]: the value at each of the rows, 0 elsewhere; one row has one value."""
        out = np.zeros(self.count + 1, np.int64)
        out[rows] = given
        return out[:-1]

    def total(self, rows: np.ndarray, given: np.ndarray | int = 1) -> np.ndarray:
        """int64[count]: the sum of the values at each of the rows."""
        out = np.zeros(self.count + 1, np.int64)
        np.add.at(out, rows, given)
        return out[:-1]


def seat_sums(tables: Mapping[str, pa.Table]) -> pa.Table:
    """One row for each of KEYS with `time_ms` (of the first round) and counters: the rounds that reached an end.

    tables: those of problems.TABLES and, with facts, of facts_tables.TABLES, of the same rounds.
    """
    seats = Seats(tables)
    rounds, players = tables["rounds"], tables["seats"]
    ended = np.flatnonzero(seats.of_round(valid(rounds["end"])))
    key, first, group = np.unique(_places(seats, ended), return_index=True, return_inverse=True)
    first = ended[first]
    time = values(rounds["time_ms"], NO_TIME)
    started, position = np.full(len(key), NO_TIME), key % 4
    np.minimum.at(started, group, time[ended // 3])
    day = (time // DAY)[first // 3].astype(np.int32)
    out = {name: rounds[name].take(pa.array(first // 3)) for name in OF_ROUNDS}
    out["day"] = pa.array(day, pa.int32(), mask=time[first // 3] == NO_TIME).cast(pa.date32())
    out |= {name: players[name].take(pa.array(first)) for name in ("player", "seat")}
    out["position"] = pa.array(position, pa.int8(), mask=position == NO_DEALER)
    out["time_ms"] = pa.array(started, pa.int64(), mask=started == NO_TIME)
    nothing = pa.array(np.zeros(len(key), np.int64))
    for name, column in (_counted(seats) | _of_facts(seats)).items():
        if column.any():
            sums = np.zeros(len(key), np.int64)
            np.add.at(sums, group, column[ended].astype(np.int64, copy=False))
            out[name] = pa.array(sums)
        else:
            out[name] = nothing
    return pa.table(out)


def _places(seats: Seats, ended: np.ndarray) -> np.ndarray:
    """int64[ended]: of each row of seats with an end a number that stands for all KEYS; modulo PLACES it is the place.

    Rounds of a game mostly stand together: those that agree with the one before them are a run, and runs are compared.
    """
    rounds, table = seats.tables["rounds"], seats.tables["seats"]
    one = ended[::3] // 3
    day = values(rounds["time_ms"], NO_TIME) // DAY
    keys = [*(_codes(rounds[name]) for name in OF_ROUNDS), day, *_codes(table["player"]).reshape(-1, 3).T]
    changed = np.arange(len(one)) == 0
    for column in keys:
        changed[1:] |= column[one[1:]] != column[one[:-1]]
    runs = np.stack([column[one[np.flatnonzero(changed)]].view(np.int64) for column in keys], 1)
    same = np.unique(runs, axis=0, return_inverse=True)[1].reshape(-1)  # a game that others stand between is one
    run = np.repeat(same[np.cumsum(changed) - 1], 3)
    seat, dealer = values(table["seat"])[ended], np.repeat(values(rounds["dealer"], -1)[one], 3)
    position = np.where(dealer < 0, NO_DEALER, (seat - dealer + 3) % 3)
    return run * PLACES + seat * 4 + position


def _counted(seats: Seats) -> Columns:
    """Of each seat's round, what is known without facts; as the view's columns of the same names."""
    rounds, table, wins, kongs, reveals = (
        seats.tables[name] for name in ("rounds", "seats", "wins", "kongs", "reveals")
    )
    end, points = rounds["end"], values(table["points"])
    played = seats.of_round(~is_any(end, "aborted"))
    drawn = seats.of_round(is_any(end, "draw"))
    won, self_drew, dealt_in = (values(table[name]) != 0 for name in ("won", "self_drew", "dealt_in"))
    winner = seats.rows("wins")
    by_self = is_any(wins["by"], "self_draw")
    self_drawn = seats.of_round(seats.all_of_round(seats.laid(winner[by_self]))) > 0
    payer = seats.rows("wins", "from_seat")
    after = (winner - payer) % 3  # rows of one round differ as the seats do
    robbed = is_any(wins["by"], "rob_kong")
    revealed = values(wins["revealed"]) != 0
    money = _ledger(seats)
    loss = money.pop("win_loss")
    pungs = values(table["pungs"]) * played
    kong = seats.rows("kongs")
    made = (values(kongs["robbed"]) == 0) & played[kong]
    exposed, added, concealed = (
        seats.total(kong[made & is_any(kongs["kind"], kind)]) for kind in ("exposed", "added", "concealed")
    )
    revealer = seats.rows("reveals")
    shown = played[revealer]
    order = seats.laid(revealer, values(reveals["order"])) * played
    others = seats.of_round(seats.all_of_round(seats.total(revealer)))
    reveal = seats.laid(revealer[shown]) != 0
    first, chasing = reveal & (order == 1), reveal & (order > 1)
    chased, unrevealed = first & (others > 1), ~reveal & played
    return {
        "rounds": np.ones(seats.count, np.int64), "played": played, "exhausted": drawn,
        "ready_exhausted": drawn & (values(table["ready_at_end"]) != 0),
        "wins": won, "self_draws": self_drew, "rob_kong_wins": seats.laid(winner[robbed]),
        "double_wins": won & seats.of_round(values(rounds["winners"]) > 1),
        "win_multiples": seats.laid(winner, values(wins["multiple"])),
        "win_points": seats.laid(winner, values(wins["points"])),
        "deal_ins": dealt_in, "deal_ins_next": seats.laid(payer[after == 1]),
        "deal_ins_previous": seats.laid(payer[after == 2]), "robbed_kongs": seats.laid(payer[robbed]),
        "deal_ins_revealed": seats.laid(payer[revealed]), "paid_self_draws": self_drawn & ~self_drew,
        "deal_in_points": loss * dealt_in, "self_draw_loss": loss * self_drawn,
        "other_loss": loss * (~dealt_in & ~self_drawn), **money, "points": points,
        "called": pungs + exposed > 0, "pungs": pungs, "konged": seats.laid(kong[made]),
        "exposed_kongs": exposed, "added_kongs": added, "concealed_kongs": concealed,
        "reveals": reveal, "first_reveals": first, "chasing_reveals": chasing, "chased_reveals": chased,
        "reveal_turns": seats.laid(revealer, values(reveals["turn"])) * reveal,
        "reveal_live": seats.laid(revealer, values(reveals["live"])) * reveal,
        "reveal_wins": reveal & won, "reveal_self_draws": reveal & self_drew, "reveal_deal_ins": reveal & dealt_in,
        "reveal_exhausted": reveal & drawn, "reveal_points": reveal * points, "first_reveal_points": first * points,
        "chasing_reveal_points": chasing * points, "chased_reveal_points": chased * points,
        "reveal_draw_loss": (reveal & drawn) * money["draw_loss"], "unrevealed": unrevealed,
        "unrevealed_points": unrevealed * points,
    }  # fmt: skip


def _ledger(seats: Seats) -> Columns:
    """Of each seat's round, what it paid for wins, and what it got and paid for the rest."""
    ledger = seats.tables["ledger"]
    kinds = (*(is_any(ledger["cause"], *causes) for causes in (OF_WINS, OF_KONGS, OF_DRAWS, ("fee",))),)
    kind = np.select(kinds, range(len(kinds)), len(kinds))
    points = values(ledger["points"])
    moved = np.zeros(2 * (len(kinds) + 1) * (seats.count + 1), np.int64)  # by kind: paid, got
    for seat, amount in (("from_seat", -points), ("to_seat", points)):
        np.add.at(moved, (2 * kind + (amount > 0)) * (seats.count + 1) + seats.rows("ledger", seat), abs(amount))
    wins, kongs, draws, fee, _ = moved.reshape(-1, 2, seats.count + 1)[:, :, :-1]
    return {
        "win_loss": wins[0], "kong_gain": kongs[1], "kong_loss": kongs[0], "draw_gain": draws[1],
        "draw_loss": draws[0], "fee": fee[0] - fee[1],
    }  # fmt: skip


def _of_facts(seats: Seats) -> Columns:
    """Of each seat's round, what the table facts adds; nothing of an aborted round, or without facts."""
    facts, table = seats.tables.get("facts"), seats.tables["seats"]
    rows = np.zeros(0, np.int64) if facts is None else seats.rows("facts")
    kept = seats.of_round(~is_any(seats.tables["rounds"]["end"], "aborted"))[rows]
    rows = rows[kept]

    def fact(name: str) -> np.ndarray:
        return seats.laid(rows, 0 if facts is None else values(facts[name])[kept])

    def lucky(hits: str, chances: str) -> np.ndarray:
        expected = 0 if facts is None else facts[chances].to_numpy()[kept]
        return fact(hits) * CHANCE - seats.laid(rows, np.rint(expected * CHANCE).astype(np.int64))

    base = seats.of_round(values(seats.tables["rounds"]["base"]))
    won, dealt_in = (values(table[name]) != 0 for name in ("won", "dealt_in"))
    hands, tiles, shanten = seats.laid(rows) != 0, fact("start_tiles"), fact("start_shanten")
    ready = np.zeros(seats.count, bool) if facts is None else seats.laid(rows[valid(facts["ready_turn"])[kept]]) != 0
    lucked = hands & (base > 0)
    luck = fact("tiles_worth") * lucked
    net = rounded(MILLION * (values(table["points"]) / np.maximum(base, 1)))
    return {
        "hands": hands, "hands_of_13": tiles == 13, "start_shanten_of_13": shanten * (tiles == 13),
        "hands_of_14": tiles == 14, "start_shanten_of_14": shanten * (tiles == 14),
        "ready": ready, "ready_turns": fact("ready_turn"), "ready_live": fact("ready_live_own"),
        "ready_wins": ready & won, "hands_dealt_in": hands & dealt_in, **{name: fact(name) for name in ADDED},
        "useful_luck": lucky("useful_draws", "useful_expected"), "ready_luck": lucky("ready_hits", "ready_expected"),
        "replacements": fact("draws_behind"),
        "replacement_luck": lucky("replacement_hits", "replacement_expected"),
        "lucked": lucked, "luck": luck, "adjusted": net * lucked - luck,
    }  # fmt: skip


def values(column: pa.ChunkedArray, missing: int = 0) -> np.ndarray:
    """A column of whole numbers or booleans as int64, nulls as `missing`."""
    array = column.combine_chunks()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    if array.null_count:
        array = array.cast(pa.int64()).fill_null(missing)
    return array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def rounded(numbers: np.ndarray) -> np.ndarray:
    """Floats to the nearest whole number as int64, halves away from zero as SQL does."""
    whole = np.trunc(numbers)
    return (whole + np.sign(numbers) * (abs(numbers - whole) >= 0.5)).astype(np.int64)


def is_any(column: pa.ChunkedArray, *words: str) -> np.ndarray:
    """bool[n]: whether a dictionary column's word is one of these."""
    array = column.unify_dictionaries().combine_chunks()
    wanted = np.array([word in words for word in array.dictionary.to_pylist()] + [False])
    return wanted[array.indices.fill_null(len(array.dictionary)).to_numpy(zero_copy_only=False)]


def valid(column: pa.ChunkedArray) -> np.ndarray:
    """bool[n]: which values are not null."""
    return column.combine_chunks().is_valid().to_numpy(zero_copy_only=False)


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """A number for each row, equal where the values are; nulls too."""
    if pa.types.is_integer(column.type):
        return column.fill_null(0).to_numpy()
    array = column.unify_dictionaries().combine_chunks()
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    return array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def with_sums(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables of a batch, and its sums as one more."""
    return tables | {TABLE: seat_sums(tables)}


def counters() -> set[str]:
    """The names of the counters."""
    empty = {name: schema.empty_table() for name, schema in TABLES.items()}
    return set(seat_sums(empty).column_names) - {*KEYS, "time_ms"}
