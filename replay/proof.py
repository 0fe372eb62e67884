"""Whether a committed order opens, and whether deal and wall follow from it (log-format.md section 1, `proof`).

The commitment is the hex SHA-256 of the ASCII salt followed by the 84-tile order as written.  The order is dealt one
tile at a time from the dealer ("one") or 4-4-4-1 ("four"), then the dealer's 14th; the rest is the wall.
"""

import hashlib
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ingest import tiles
from replay.problems import CODE

GRADES = ("none", "tiles", "wall", "commitment")
COMMIT_MISMATCH, DEAL_NOT_FROM_ORDER = CODE["commit_mismatch"], CODE["deal_not_from_order"]


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


def check(rounds: pa.RecordBatch, prepared: np.recarray) -> Notes:
    """Checks every row that logs a proof; one hash a row, deals and walls column by column."""
    grades = np.where(prepared.has_wall, 2, 1).astype(np.int8)
    notes: list[Note] = []
    logged = rounds["proof_order"].is_valid().to_numpy(zero_copy_only=False)
    rows = np.nonzero(logged)[0]
    if len(rows) == 0:
        return Notes(notes, grades)
    part = rounds.take(pa.array(rows)) if len(rows) < rounds.num_rows else rounds
    orders, suits = part["proof_order"].to_pylist(), part["suits"].to_pylist()
    how = [one or "one" for one in part["proof_deal"].to_pylist()]
    opened = np.zeros(len(rows), bool)
    commits, salts = part["proof_commit"].to_pylist(), part["proof_salt"].to_pylist()
    for n, commit in enumerate(commits):
        if commit is not None:
            computed = hashlib.sha256(((salts[n] or "") + orders[n]).encode()).hexdigest()
            opened[n] = computed == commit.lower()
            if not opened[n]:
                notes.append(Note(int(rows[n]), COMMIT_MISMATCH, commit, computed))
    follows = follow(orders, suits, how, prepared[rows])
    for n in np.nonzero(~follows)[0].tolist():
        wrong = differs(orders[n], how[n], suits[n], prepared[rows[n]])
        if wrong is not None:
            notes.append(Note(int(rows[n]), DEAL_NOT_FROM_ORDER, *wrong))
        else:
            follows[n] = True
    grades[rows[opened & follows]] = 3
    return Notes(notes, grades)


def follow(orders: list[str], suits: list[str], how: list[str], prepared: np.recarray) -> np.ndarray:
    """Which rows' deal and wall surely follow from their order, bool[n]; False also where it takes a closer look."""
    fits = np.array([len(one) == 2 * tiles.ALL_TILES and one.isascii() for one in orders])
    certain = np.zeros(len(orders), bool)
    text = "".join(one for one, fit in zip(orders, fits, strict=True) if fit).encode()
    pairs = np.frombuffer(text, np.uint8).reshape(-1, tiles.ALL_TILES, 2)
    places = np.nonzero(fits)[0]
    groups: dict[tuple[str, str, int], list[int]] = {}
    for n, place in enumerate(places.tolist()):
        groups.setdefault((suits[place], how[place], int(prepared.dealer[place])), []).append(n)
    for (suit, dealt, dealer), members in groups.items():
        kind_of = np.full((256, 256), tiles.PAD, np.uint8)
        for name, kind in tiles.KIND_OF[suit].items():
            kind_of[ord(name[0]), ord(name[1])] = kind
        order = kind_of[pairs[members, :, 0], pairs[members, :, 1]]
        row = places[members]
        seats = np.array(seats_of_deal(dealt, dealer))
        same = (order[:, 40:] == prepared.wall[row]).all(axis=1) | (prepared.has_wall[row] == 0)
        for seat in range(3):
            count = 14 if seat == dealer else 13
            hand = np.sort(order[:, :40][:, seats == seat], axis=1)
            same &= (np.sort(prepared.deal[row, seat], axis=1)[:, :count] == hand).all(axis=1)
        certain[row] = same
    return certain


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
