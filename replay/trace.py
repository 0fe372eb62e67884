"""One round step by step, for people: what lies where after each event, and what each hand waits for.

Only moves tiles about as the log says, legal or not; what is legal or worth what is the engine's business and
stands in its tables.  Frame 0 is the deal; frame i is the table after event i - 1.  Where the log names no drawn
tiles, they lie face down ("back") until the end tells the hands.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.events import (
    ADDED_KONG,
    CONCEALED_KONG,
    DECLINE,
    DISCARD,
    DISCARD_DRAWN,
    DRAW,
    EXHAUSTED,
    KONG,
    NO_SEAT,
    PUNG,
    REPLACEMENT,
    REVEAL,
    VERBS,
    WIN,
)
from ingest.tiles import COPIES, KINDS, NAMES, NO_TILE, PAD, WALL_TILES, text
from replay.hand import add_tile, tables, waits_of
from replay.jit import record
from replay.state import STATE

UNKNOWN = KINDS  # a tile that the log does not tell
_MELDS = {PUNG: ("pung", 2), KONG: ("exposed", 3), CONCEALED_KONG: ("concealed", 4)}


def frames(row: Mapping[str, Any], replacement: str) -> list[dict[str, Any]]:
    """Frames of a row of `rounds` (deal, wall, events, event_no, suits); `replacement` "front" or "back" of the wall.

    row["hands"], where the log names no draws: the concealed kinds of each seat at the end.

    A frame: no, seat, verb, tile, source (of its event; None in frame 0), wall_left, gone and next (places of the
    wall), seats: hand (sorted names), drawn, melds (kind, tile, from, robbed), river (tile, drawn, taken, reveal),
    revealed, hidden (names), waits (tile, live: copies that lie neither in this hand nor open on the table; empty
    while the hand holds a tile more or isn't ready).
    """
    return _Table(row, replacement).play(row["events"] or [], row["event_no"])


def picture(row: Mapping[str, Any], event: int) -> str:
    """The table before event `event` (-1: at the end) in one line: hands, melds, a star for a reveal, the last tile.

    row: deal, events, suits, hands as in `frames`.
    """
    table = _Table(row, "back")
    events = row["events"]
    for packed in events if event < 0 else events[:event]:
        table.apply(int(packed))
    if event >= 0 and event < len(events):
        table.show_final(int(events[event]))
    parts = []
    for seat in range(3):
        drawn = table.drawn[seat]
        tiles = sorted([*table.hands[seat], *([] if drawn is None else [drawn])])
        known = [kind for kind in tiles if kind != UNKNOWN]
        hand = text(known, row["suits"] or "ps") + "?" * (len(tiles) - len(known))
        melds = [
            f"{meld['kind']} {table.names[meld['tile']]}" + ("" if meld["from"] is None else f"<{meld['from']}")
            for meld in table.melds[seat]
        ]
        parts.append(" ".join([f"{seat}{'*' if table.revealed[seat] else ''}", hand, *melds]))
    if table.last is not None:
        parts.append(f"{table.last[0]} puts {table.names[table.last[1]]}")
    return " | ".join(parts)


def melds(row: Mapping[str, Any]) -> list[list[list[str]]]:
    """The melds each seat has on the table at the end, as lists of tile names; concealed kongs show two backs."""
    table = _Table(row, "back")
    for event in row["events"] or []:
        table.apply(int(event))
    return [[drawn_meld(meld["kind"], table.names[meld["tile"]]) for meld in melds] for melds in table.melds]


def drawn_meld(kind: str, name: str) -> list[str]:
    """The tiles of a meld as they lie: a concealed kong shows two backs."""
    return ["back", name, name, "back"] if kind == "concealed" else [name] * (3 if kind == "pung" else 4)


class _Table:
    def __init__(self, row: Mapping[str, Any], replacement: str) -> None:
        self.names = (*NAMES[row["suits"] or "ps"], "back")
        self.final: Sequence[Sequence[int]] | None = row.get("hands")
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
        self.last: tuple[int, int] | None = None  # who put which tile into the claim window
        self.shown = [0] * KINDS  # copies in rivers and melds
        self.state = record(STATE)
        self.found: list[tuple[tuple, int]] = [((), 0)] * 3  # per seat a hand with its melds, and what completes it

    def play(self, events: Sequence[int], numbers: Sequence[int] | None) -> list[dict[str, Any]]:
        out = [self.frame(None, None)]
        for index, event in enumerate(events):
            self.apply(int(event))
            out.append(self.frame(int(event), index if numbers is None else numbers[index]))
        return out

    def apply(self, event: int) -> None:
        seat, verb, tile, source = event & 3, event >> 2 & 15, event >> 6 & 31, event >> 11 & 3
        self.show_final(event)
        if seat == NO_SEAT or (verb not in (REVEAL, DECLINE, DRAW, REPLACEMENT) and tile >= KINDS):
            return
        if verb in (DRAW, REPLACEMENT):
            self.settle(seat)
            self.drawn[seat] = min(tile, UNKNOWN)
            front = verb == DRAW or self.replacement == "front"
            self.from_front += front
            self.from_back += not front
        elif verb in (DISCARD, DISCARD_DRAWN):
            self.take(seat, tile, 1, drawn_first=verb == DISCARD_DRAWN)
            reveal = self.declaring == seat
            self.declaring = None
            self.last = seat, tile
            self.shown[tile] += 1
            self.river[seat].append({"tile": tile, "drawn": verb == DISCARD_DRAWN, "taken": None, "reveal": reveal})
        elif verb in _MELDS:
            kind, held = _MELDS[verb]
            self.take(seat, tile, held)
            self.shown[tile] += held
            self.claim(source, tile, seat)
            meld = {"kind": kind, "tile": tile, "from": None if source == NO_SEAT else source, "robbed": False}
            self.melds[seat].append(meld)
        elif verb == ADDED_KONG:
            self.take(seat, tile, 1, drawn_first=True)
            self.last = seat, tile
            self.shown[tile] += 1
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

    def show_final(self, event: int) -> None:
        """With a win or the exhausted wall the hands of a log without draws come to light."""
        seat, verb, tile, source = event & 3, event >> 2 & 15, event >> 6 & 31, event >> 11 & 3
        if self.final is None or verb not in (WIN, EXHAUSTED):
            return
        self.hands, self.drawn = [sorted(hand) for hand in self.final], [None, None, None]
        if verb == WIN and source == NO_SEAT and seat != NO_SEAT:
            self.take(seat, tile, 1)
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
            hand = self.hands[seat]
            if tile in hand or UNKNOWN in hand:
                hand.remove(tile if tile in hand else UNKNOWN)

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
                    "waits": [{"tile": name[kind], "live": live} for kind, live in self.waits(s)],
                }
                for s in range(3)
            ],
        }

    def waits(self, seat: int) -> list[tuple[int, int]]:
        """(kind, live copies) of what completes a hand of 13 less three a meld; live as this seat can see it."""
        hand = self.hands[seat]
        if self.drawn[seat] is not None or UNKNOWN in hand or len(hand) != 13 - 3 * len(self.melds[seat]):
            return []
        if any(hand.count(kind) > COPIES for kind in set(hand)):
            return []
        bits = self.completing(seat)
        others = [other for other in range(3) if other != seat and self.revealed[other]]
        out = []
        for kind in range(KINDS):
            if bits >> kind & 1:
                seen = hand.count(kind) + self.shown[kind] + sum(self.open_copies(other, kind) for other in others)
                out.append((kind, max(COPIES - seen, 0)))
        return out

    def open_copies(self, seat: int, kind: int) -> int:
        """Copies that lie open in a revealed hand: a triplet kept face down does not."""
        return self.hands[seat].count(kind) - (3 if self.hidden[seat] >> kind & 1 else 0)

    def completing(self, seat: int) -> int:
        """The kinds that complete a hand, as a bit set; found anew only when the hand has changed."""
        hand, melds = self.hands[seat], self.melds[seat]
        held = (*hand, -1, *(part for meld in melds for part in (meld["kind"], meld["tile"])), self.hidden[seat])
        if self.found[seat][0] == held:
            return self.found[seat][1]
        st = self.state
        for name in ("hand", "tiles", "key", "odd", "pung", "exposed", "added", "concealed"):
            st[name][seat] = 0
        st.hidden[seat] = self.hidden[seat]
        for kind in hand:
            add_tile(st, tables(), seat, kind, 1)
        for meld in melds:
            st[meld["kind"]][seat] |= 1 << meld["tile"]
        bits = int(waits_of(st, tables(), seat))
        self.found[seat] = held, bits
        return bits
