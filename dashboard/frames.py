"""One round as a list of frames for the viewer: what lies where after each event.

Only moves tiles about as the log says; what is legal, ready or worth what is the replay's business and comes from
its tables.  Frame 0 is the deal; frame i is the table after event i - 1.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.events import (
    ADDED_KONG,
    CONCEALED_KONG,
    DISCARD,
    DISCARD_DRAWN,
    DRAW,
    KONG,
    NO_SEAT,
    PUNG,
    REPLACEMENT,
    REVEAL,
    VERBS,
    WIN,
)
from ingest.tiles import NAMES, NO_TILE, PAD, WALL_TILES

_MELDS = {PUNG: ("pung", 2), KONG: ("exposed", 3), CONCEALED_KONG: ("concealed", 4)}


def frames(row: Mapping[str, Any], replacement: str) -> list[dict[str, Any]]:
    """Frames of a row of `rounds` (deal, wall, events, event_no, suits); `replacement` "front" or "back" of the wall.

    A frame: no, seat, verb, tile, source (of its event; None in frame 0), wall_left, gone and next (places of the
    wall), seats: hand (sorted names), drawn, melds (kind, tile, from, robbed), river (tile, drawn, taken, reveal),
    revealed, hidden (names).
    """
    return _Table(row, replacement).play(row["events"] or [], row["event_no"])


def melds(row: Mapping[str, Any]) -> list[list[list[str]]]:
    """The melds each seat has on the table at the end, as lists of tile names; concealed kongs show two backs."""
    table = _Table(row, "back")
    for event in row["events"] or []:
        table.apply(int(event))
    return [[_drawn(meld["kind"], table.names[meld["tile"]]) for meld in melds] for melds in table.melds]


def _drawn(kind: str, name: str) -> list[str]:
    return ["back", name, name, "back"] if kind == "concealed" else [name] * (3 if kind == "pung" else 4)


class _Table:
    def __init__(self, row: Mapping[str, Any], replacement: str) -> None:
        self.names = NAMES[row["suits"] or "ps"]
        deal = bytes(row["deal"]) if row["deal"] is not None else bytes([PAD]) * 42
        self.hands = [sorted(kind for kind in deal[s * 14 : s * 14 + 14] if kind != PAD) for s in range(3)]
        self.drawn: list[int | None] = [None, None, None]
        self.melds: list[list[dict[str, Any]]] = [[], [], []]
        self.river: list[list[dict[str, Any]]] = [[], [], []]
        self.revealed: list[bool] = [False, False, False]
        self.hidden = [0, 0, 0]
        self.declaring: int | None = None
        self.from_front = self.from_back = 0
        self.replacement = replacement

    def play(self, events: Sequence[int], numbers: Sequence[int] | None) -> list[dict[str, Any]]:
        out = [self.frame(None, None)]
        for index, event in enumerate(events):
            self.apply(int(event))
            out.append(self.frame(int(event), index if numbers is None else numbers[index]))
        return out

    def apply(self, event: int) -> None:
        seat, verb, tile, source = event & 3, event >> 2 & 15, event >> 6 & 31, event >> 11 & 3
        if seat == NO_SEAT:
            return
        if verb in (DRAW, REPLACEMENT):
            self.settle(seat)
            self.drawn[seat] = tile
            front = verb == DRAW or self.replacement == "front"
            self.from_front += front
            self.from_back += not front
        elif verb in (DISCARD, DISCARD_DRAWN):
            self.take(seat, tile, 1, drawn_first=verb == DISCARD_DRAWN)
            reveal = self.declaring == seat
            self.declaring = None
            self.river[seat].append({"tile": tile, "drawn": verb == DISCARD_DRAWN, "taken": None, "reveal": reveal})
        elif verb in _MELDS:
            kind, held = _MELDS[verb]
            self.take(seat, tile, held)
            self.claim(source, tile, seat)
            meld = {"kind": kind, "tile": tile, "from": None if source == NO_SEAT else source, "robbed": False}
            self.melds[seat].append(meld)
        elif verb == ADDED_KONG:
            self.take(seat, tile, 1, drawn_first=True)
            for meld in self.melds[seat]:
                if meld["kind"] == "pung" and meld["tile"] == tile:
                    meld["kind"] = "added"
        elif verb == REVEAL:
            self.revealed[seat], self.hidden[seat] = True, event >> 6
            last = self.river[seat][-1] if self.river[seat] else None
            # Some logs put the reveal before its discard, some after: the hand that holds 14 tiles tells.
            if len(self.hands[seat]) % 3 == 2 or self.drawn[seat] is not None:
                self.declaring = seat
            elif last:
                last["reveal"] = True
        elif verb == WIN and source != NO_SEAT:
            if not self.claim(source, tile, seat):
                for meld in self.melds[source]:
                    if meld["kind"] == "added" and meld["tile"] == tile:
                        meld["robbed"] = True
            self.drawn[seat] = tile

    def settle(self, seat: int) -> None:
        """The drawn tile joins the hand."""
        if self.drawn[seat] is not None:
            self.hands[seat] = sorted([*self.hands[seat], self.drawn[seat]])
            self.drawn[seat] = None

    def take(self, seat: int, tile: int, count: int, drawn_first: bool = False) -> None:
        """Removes tiles from the hand as far as they are there: an illegal log is shown, not judged."""
        if drawn_first and self.drawn[seat] == tile:
            self.drawn[seat] = None
            count -= 1
        self.settle(seat)
        for _ in range(count):
            if tile in self.hands[seat]:
                self.hands[seat].remove(tile)

    def claim(self, source: int, tile: int, seat: int) -> bool:
        """Marks the source's last discard as taken; false when it is another tile (a robbed kong)."""
        if source == NO_SEAT or not self.river[source] or self.river[source][-1]["tile"] != tile:
            return False
        self.river[source][-1]["taken"] = seat
        return True

    def frame(self, event: int | None, number: int | None) -> dict[str, Any]:
        name = self.names
        verb = None if event is None else event >> 2 & 15
        tile = NO_TILE if event is None or verb == REVEAL else event >> 6 & 31
        seat = NO_SEAT if event is None else event & 3
        source = NO_SEAT if event is None or verb == REVEAL else event >> 11 & 3
        gone = [*range(self.from_front), *range(WALL_TILES - self.from_back, WALL_TILES)]
        return {
            "no": number,
            "seat": None if seat == NO_SEAT else seat,
            "verb": None if verb is None else VERBS[verb],
            "tile": None if tile >= len(name) else name[tile],
            "source": None if source == NO_SEAT else source,
            "wall_left": WALL_TILES - self.from_front - self.from_back,
            "gone": [place for place in gone if 0 <= place < WALL_TILES],
            "next": self.from_front,
            "seats": [
                {
                    "hand": [name[kind] for kind in self.hands[s]],
                    "drawn": None if self.drawn[s] is None else name[self.drawn[s]],
                    "melds": [{**meld, "tile": name[meld["tile"]]} for meld in self.melds[s]],
                    "river": [{**discard, "tile": name[discard["tile"]]} for discard in self.river[s]],
                    "revealed": self.revealed[s],
                    "hidden": [name[kind] for kind in range(len(name)) if self.hidden[s] >> kind & 1],
                }
                for s in range(3)
            ],
        }
