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
    """Checks every row that logs a proof; one hash a row."""
    grades = np.where(prepared.has_wall, 2, 1).astype(np.int8)
    notes: list[Note] = []
    orders = rounds["proof_order"]
    if orders.null_count == len(orders) and rounds["proof_commit"].null_count == len(orders):
        return Notes(notes, grades)
    wanted = ("proof_commit", "proof_salt", "proof_order", "proof_deal", "suits")
    rows = rounds.select(list(wanted)).to_pylist()
    for n, row in enumerate(rows):
        if row["proof_order"] is None:
            continue
        opened = False
        if row["proof_commit"] is not None:
            text = (row["proof_salt"] or "") + row["proof_order"]
            computed = hashlib.sha256(text.encode()).hexdigest()
            opened = computed == row["proof_commit"].lower()
            if not opened:
                notes.append(Note(n, COMMIT_MISMATCH, row["proof_commit"], computed))
        wrong = differs(row["proof_order"], row["proof_deal"] or "one", row["suits"], prepared[n])
        if wrong is not None:
            notes.append(Note(n, DEAL_NOT_FROM_ORDER, *wrong))
        elif opened:
            grades[n] = 3
    return Notes(notes, grades)


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
