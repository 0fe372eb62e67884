"""What a log proves of its tiles, and where it contradicts its own proof (log-format.md section 1, `proof`).

The commitment is the hex SHA-256 of the ASCII salt followed by the 84-tile order as written.  The order is dealt one
tile at a time from the dealer ("one") or 4-4-4-1 ("four"), then the dealer's 14th; the rest is the wall.  Each round
gets the highest grade that the replay has verified, every grade includes the ones before it:

| grade | verified |
| --- | --- |
| none | nothing: draws that the log does not show, a replay that reached no end, a fifth copy, a tile from nowhere |
| tiles | deal and draws never hold more than four copies of a kind, nobody discards or melds what it does not hold |
| wall | every draw and replacement is the one that the recorded wall, or else the order, gives |
| commitment | deal and wall follow from an order that the commitment opens to |
| seed | `scheme` names a shuffle that makes that order from the salt (replay.shuffles) |
"""

import hashlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ingest import tiles
from ingest.events import VERBS
from ingest.notation import decode_wall
from replay import shuffles
from replay.problems import CODE

GRADES = ("none", "tiles", "wall", "commitment", "seed")
NONE, TILES, WALL, COMMITMENT, SEED = range(len(GRADES))
COMMIT_MISMATCH, DEAL_NOT_FROM_ORDER = CODE["commit_mismatch"], CODE["deal_not_from_order"]
SEED_MISMATCH = CODE["seed_mismatch"]
UNBACKED = tuple(CODE[word] for word in ("fifth_tile", "tile_not_held"))
FOREIGN = tuple(CODE[word] for word in ("draw_not_from_wall", "wrong_replacement"))
DRAWS = tuple(VERBS.index(letter) for letter in "dr")


class Note(NamedTuple):
    """A problem of a whole round that its proof shows."""

    row: int
    code: int
    logged: str
    expected: str


class Notes(NamedTuple):
    """Problems by row, and each row's grade (index in GRADES), int8[n]."""

    problems: list[Note]
    grades: np.ndarray


def seats_of_deal(how: str, dealer: int) -> list[int]:
    """The seat that gets each of the first 40 tiles of an order."""
    order = [(dealer + step) % 3 for step in range(3)]
    if how == "four":
        rounds = [seat for count in (4, 4, 4, 1) for seat in order for _ in range(count)]
    else:
        rounds = order * 13
    return [*rounds, dealer]


def fill_walls(rounds: pa.RecordBatch, prepared: np.recarray) -> None:
    """Gives rounds that log an order and no wall the wall that the order leaves, where the deal follows from it."""
    if rounds["proof_order"].null_count == rounds.num_rows:
        return
    logged = rounds["proof_order"].is_valid().to_numpy(zero_copy_only=False)
    rows = np.nonzero(logged & (prepared.has_wall == 0) & (prepared.settled == 0))[0]
    if len(rows):
        part = rounds.take(pa.array(rows))
        follows, kinds = follow(part["proof_order"].to_pylist(), dealt(part), prepared[rows])
        prepared.wall[rows[follows]] = kinds[follows, 40:]
        prepared.has_wall[rows[follows]] = 1


def check(
    rounds: pa.RecordBatch, prepared: np.recarray, events: np.ndarray, results: np.recarray, found: np.recarray
) -> Notes:
    """Checks every row that logs a proof, and grades all; one hash a row, deals and walls column by column.

    prepared, events, results, found: what was played, as in replay.batch.Played.
    """
    grades = grade_draws(prepared, events, results, found)
    notes: list[Note] = []
    if rounds["proof_order"].null_count == rounds.num_rows:
        return Notes(notes, grades)
    logged = rounds["proof_order"].is_valid().to_numpy(zero_copy_only=False)
    rows = np.nonzero(logged)[0]
    part = rounds.take(pa.array(rows)) if len(rows) < rounds.num_rows else rounds
    orders, suits, how = part["proof_order"].to_pylist(), part["suits"].to_pylist(), dealt(part)
    commits, salts = part["proof_commit"].to_pylist(), part["proof_salt"].to_pylist()
    opened = np.zeros(len(rows), bool)
    for n, commit in enumerate(commits):
        if commit is not None:
            computed = hashlib.sha256(((salts[n] or "") + orders[n]).encode()).hexdigest()
            opened[n] = computed == commit.lower()
            if not opened[n]:
                notes.append(Note(int(rows[n]), COMMIT_MISMATCH, commit, computed))
    follows, _ = follow(orders, how, prepared[rows])
    for n in np.nonzero(~follows)[0].tolist():
        wrong = differs(orders[n], how[n], suits[n], prepared[rows[n]])
        if wrong is not None:
            notes.append(Note(int(rows[n]), DEAL_NOT_FROM_ORDER, *wrong))
        else:
            follows[n] = True
    grades[rows[opened & follows & (grades[rows] == WALL)]] = COMMITMENT
    for n, scheme in enumerate(part["proof_scheme"].to_pylist()):
        if (name := shuffles.named(scheme)) is not None:
            made = shuffles.order(name, salts[n] or "", suits[n])
            if made != orders[n]:
                notes.append(Note(int(rows[n]), SEED_MISMATCH, *first_difference(orders[n], made)))
            elif grades[rows[n]] == COMMITMENT:
                grades[rows[n]] = SEED
    return Notes(notes, grades)


def grade_draws(prepared: np.recarray, events: np.ndarray, results: np.recarray, found: np.recarray) -> np.ndarray:
    """The grade that the draws alone give: NONE, TILES or WALL, int8[n]."""
    grades = np.where(prepared["has_wall"] > 0, np.int8(WALL), np.int8(TILES))
    for row in np.unique(found.row[np.isin(found.code, FOREIGN)]).tolist() if len(found) else ():
        one = prepared[row]
        mine = events[one.start : one.stop]
        drawn = (mine >> 6 & 31)[np.isin(mine >> 2 & 15, DRAWS)]
        held = np.concatenate([one.deal[one.deal < tiles.KINDS], drawn[drawn < tiles.KINDS]])
        grades[row] = TILES if np.bincount(held).max() <= 4 else NONE
    if len(found):
        grades[found.row[np.isin(found.code, UNBACKED)]] = NONE
    grades[(prepared["settled"] > 0) | (results["end"] < 0)] = NONE
    return grades


def dealt(rounds: pa.RecordBatch) -> list[str]:
    """How each round's order is dealt, "one" or "four"."""
    return [one or "one" for one in rounds["proof_deal"].to_pylist()]


def follow(orders: list[str], how: list[str], prepared: np.recarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows' deal and wall surely follow from their order, bool[n], and the orders' kinds, uint8[n, 84].

    False also where it takes a closer look.
    """
    kinds, fine = decode_wall(orders, prepared.suits.astype(np.uint8), tiles.ALL_TILES)
    certain = np.zeros(len(orders), bool)
    groups: dict[tuple[str, int], list[int]] = {}
    dealers = prepared.dealer.tolist()
    for row in np.nonzero(fine)[0].tolist():
        groups.setdefault((how[row], dealers[row]), []).append(row)
    for (dealing, dealer), row in groups.items():
        order = kinds[row]
        seats = np.array(seats_of_deal(dealing, dealer))
        same = (order[:, 40:] == prepared.wall[row]).all(axis=1) | (prepared.has_wall[row] == 0)
        for seat in range(3):
            count = 14 if seat == dealer else 13
            hand = np.sort(order[:, :40][:, seats == seat], axis=1)
            same &= (np.sort(prepared.deal[row, seat], axis=1)[:, :count] == hand).all(axis=1)
        certain[row] = same
    return certain, kinds


def differs(order: str, how: str, suits: str, row: np.record) -> tuple[str, str] | None:
    """(logged, expected) of the first hand, or the wall, that does not follow from the order."""
    kinds = tiles.parse(order, suits)
    seats = seats_of_deal(how, int(row.dealer))
    for seat in range(3):
        expected = sorted(kind for kind, owner in zip(kinds, seats, strict=False) if owner == seat)
        logged = sorted(int(kind) for kind in row.deal[seat] if kind < tiles.KINDS)
        if logged != expected:
            return f"seat {seat}: {tiles.text(logged, suits)}", f"seat {seat}: {tiles.text(expected, suits)}"
    if row.has_wall and kinds[40:] != row.wall.tolist():
        place = next(i for i, (a, b) in enumerate(zip(kinds[40:], row.wall.tolist(), strict=False)) if a != b)
        names = tiles.NAMES[suits]
        return f"wall place {place}: {names[row.wall[place]]}", f"wall place {place}: {names[kinds[40 + place]]}"
    return None


def first_difference(order: str, made: str) -> tuple[str, str]:
    """(logged, expected) of the first tile in which two orders differ."""
    place = next((at for at in range(0, len(made), 2) if order[at : at + 2] != made[at : at + 2]), len(made))
    return f"place {place // 2}: {order[place : place + 2]}", f"place {place // 2}: {made[place : place + 2]}"
