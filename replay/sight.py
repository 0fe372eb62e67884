"""What a reader may have drawn over the frames of replay.trace: how far each hand is, and what its draws were worth.

Added to each seat of a frame, None where the log doesn't tell the hand or it can't be one:

shanten    tiles it lacks to be ready (0 ready, -1 won), also while it holds a tile more
useful     [tile, live copies] of the kinds that bring it nearer; [] while it holds a tile more or is ready
discards   while it holds a tile more: per tile it could discard the shanten after it and the useful kinds then
luck       draws that helped less their chance, summed since the deal; luck_sd: the square root of their variance

Live copies are those that lie neither in the own hand nor open on the table.  The chance of a draw is taken among the
tiles that are still in the wall, as in replay.facts; without all draws in the log luck is None.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ingest.tiles import COPIES, KINDS, NAMES
from replay.hand import add_tile, tables
from replay.jit import jit, record
from replay.options import useful_kinds
from replay.shanten import distances, shanten
from replay.state import STATE

MELDS = {"pung": 3, "exposed": 4, "added": 4, "concealed": 4}  # tiles of each
LOOK = np.dtype(
    [
        ("shanten", np.int64),
        ("useful", np.int64),  # kinds, bit set; 0 while a discard is due
        ("after", np.int64, (KINDS,)),  # shanten once the kind is discarded
        ("then", np.int64, (KINDS,)),  # useful kinds once it is discarded, bit set
    ]
)


@jit
def look(st, tb, sh, seat, out):
    """Shanten and useful kinds of a hand, and of what each discard leaves of it."""
    full = st.tiles[seat] % 3 == 2
    out.shanten = shanten(st, sh, seat)
    out.useful = 0 if full else useful_kinds(st, tb, sh, seat)
    for kind in range(KINDS):
        if full and st.hand[seat, kind] > 0:
            add_tile(st, tb, seat, kind, -1)
            out.after[kind] = shanten(st, sh, seat)
            out.then[kind] = useful_kinds(st, tb, sh, seat)
            add_tile(st, tb, seat, kind, 1)


def add_to(frames: Sequence[dict[str, Any]], suits: str | None) -> None:
    """Adds all of it to the frames of one round, in their order."""
    _Sight(NAMES[suits or "ps"]).over(frames)


class _Sight:
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.kinds = {name: kind for kind, name in enumerate(names)}
        self.state, self.out = record(STATE), record(LOOK)
        self.seen: dict[tuple, tuple] = {}
        self.luck, self.variance = [0.0] * 3, [0.0] * 3

    def over(self, frames: Sequence[dict[str, Any]]) -> None:
        known = not any("back" in seat["hand"] for seat in frames[0]["seats"])
        known = known and not any(frame["verb"] in ("d", "r") and frame["tile"] not in self.kinds for frame in frames)
        before = None
        for frame in frames:
            counts = [self.counts(seat) for seat in frame["seats"]]
            if known and before and frame["verb"] in ("d", "r") and frame["seat"] is not None:
                self.draw(before, frame)
            for at, seat in enumerate(frame["seats"]):
                self.hand(frame, at, seat, counts[at])
                seat["luck"] = round(self.luck[at], 3) if known else None
                seat["luck_sd"] = round(math.sqrt(self.variance[at]), 3) if known else None
            before = frame

    def counts(self, seat: dict[str, Any]) -> tuple[int, ...] | None:
        """Concealed tiles by kind; None for what is no hand."""
        held = [*seat["hand"], *([] if seat["drawn"] is None else [seat["drawn"]])]
        if "back" in held or len(held) + 3 * len(seat["melds"]) not in (13, 14) or len(seat["melds"]) > 4:
            return None
        out = [0] * KINDS
        for name in held:
            out[self.kinds[name]] += 1
        return tuple(out) if max(out) <= COPIES else None

    def looked(self, counts: tuple[int, ...], seat: dict[str, Any]) -> tuple[int, int, list[int], list[int]]:
        """The kernel's answer for a hand with its melds, asked once."""
        melds = tuple((meld["kind"], self.kinds[meld["tile"]]) for meld in seat["melds"])
        if (counts, melds) not in self.seen:
            st = self.state
            for name in ("hand", "tiles", "key", "odd", "melds", *MELDS):
                st[name][0] = 0
            for kind, held in enumerate(counts):
                if held:
                    add_tile(st, tables(), 0, kind, held)
            st.melds[0] = len(melds)
            for name, kind in melds:
                st[name][0] |= 1 << kind
            look(st, tables(), distances(), 0, self.out)
            out = self.out
            self.seen[counts, melds] = int(out.shanten), int(out.useful), out.after.tolist(), out.then.tolist()
        return self.seen[counts, melds]

    def hand(self, frame: dict[str, Any], at: int, seat: dict[str, Any], counts: tuple[int, ...] | None) -> None:
        seat["shanten"] = seat["useful"] = seat["discards"] = None
        if counts is None:
            return
        live = self.live(frame, at, counts)
        seat["shanten"], useful, after, then = self.looked(counts, seat)
        seat["useful"] = [] if seat["shanten"] <= 0 else [[self.names[kind], live[kind]] for kind in bits(useful)]
        if sum(counts) % 3 == 2 and seat["shanten"] >= 0:
            seat["discards"] = {
                self.names[kind]: {
                    "shanten": after[kind], "useful": [[self.names[one], live[one]] for one in bits(then[kind])]
                }
                for kind in range(KINDS) if counts[kind]
            }  # fmt: skip

    def live(self, frame: dict[str, Any], at: int, counts: tuple[int, ...]) -> list[int]:
        """Copies of each kind that a seat has not seen."""
        left = [COPIES - held for held in counts]
        for other, seat in enumerate(frame["seats"]):
            for name in shown(frame, other):
                left[self.kinds[name]] -= 1
            if other != at and seat["revealed"]:
                for name in laid_open(seat):
                    if name in self.kinds:
                        left[self.kinds[name]] -= 1
        return [max(one, 0) for one in left]

    def draw(self, before: dict[str, Any], frame: dict[str, Any]) -> None:
        """What a draw was worth: whether it helped, less the chance that a tile of the wall would."""
        at, left = frame["seat"], before["wall_left"]
        counts = self.counts(before["seats"][at])
        if counts is None or sum(counts) % 3 != 1 or left <= 0:
            return
        wall = [COPIES] * KINDS
        for other, seat in enumerate(before["seats"]):
            for name in [*shown(before, other), *seat["hand"], *([] if seat["drawn"] is None else [seat["drawn"]])]:
                wall[self.kinds[name]] -= 1
        away, useful, _, _ = self.looked(counts, before["seats"][at])
        helps = [self.kinds[wait["tile"]] for wait in before["seats"][at]["waits"]] if away <= 0 else bits(useful)
        chance = min(sum(max(wall[kind], 0) for kind in helps), left) / left
        frame["chance"], frame["hit"] = round(chance, 4), self.kinds[frame["tile"]] in helps
        self.luck[at] += frame["hit"] - chance
        self.variance[at] += chance * (1 - chance)


def bits(kinds: int) -> list[int]:
    """The kinds of a bit set."""
    return [kind for kind in range(KINDS) if kinds >> kind & 1]


def shown(frame: dict[str, Any], at: int) -> Iterator[str]:
    """Tile names in the river and the melds of a seat, each once: what was claimed lies in the claimer's meld."""
    for discard in frame["seats"][at]["river"]:
        taker = discard["taken"]
        melds = [] if taker is None else frame["seats"][taker]["melds"]
        if not any(meld["tile"] == discard["tile"] and meld["from"] == at for meld in melds):  # a win leaves it there
            yield discard["tile"]
    for meld in frame["seats"][at]["melds"]:
        yield from [meld["tile"]] * (MELDS[meld["kind"]] - meld["robbed"])


def laid_open(seat: dict[str, Any]) -> Iterator[str]:
    """Tile names of a revealed hand that are not kept face down; a tile just drawn is not laid open."""
    down = dict.fromkeys(seat["hidden"], 3)
    for name in seat["hand"]:
        if down.get(name, 0):
            down[name] -= 1
        else:
            yield name
