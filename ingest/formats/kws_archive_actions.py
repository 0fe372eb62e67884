"""The prose of a history record's actions as packed events: who, what, which tile; draws name none.

Every line starts with the player's name.  An archive tells who sits where; a record file does not, so that the names
are put to the seats that fit best what the record says of each seat (river, melds, reveal) and the order of turns.
What then still differs contradicts the record itself and is a reject; an illegal order is passed on as it stands, for
the replay to flag.  Source: recorded/README.md section 7.
"""

import re
import tomllib
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from ingest import events as ev
from ingest.rejects import Reject

SEATS = 3
with (Path(__file__).parent / "kws_archive.toml").open("rb") as _file:
    MAPPING = tomllib.load(_file)
WORDS, MELDS = MAPPING["words"], MAPPING["words"]["melds"]
PUNG, EXPOSED, CONCEALED, ADDED = MELDS.values()

# The prose's name of every kind: suits of nine ranks, then the dragons.
SPOKEN = [f"{rank}{suit}" for suit in WORDS["suits"] for rank in range(1, 10)] + WORDS["dragons"]
_KIND = {word: kind for kind, word in enumerate(SPOKEN)}
_TILE = "|".join(SPOKEN)
_ACTION = re.compile(
    rf"(.+?)(?:{WORDS['draw']}|{WORDS['discard']}({_TILE})({WORDS['reveal']})?(?:{WORDS['after_kong']})?"
    rf"|({'|'.join(MELDS)})({_TILE}))",
    re.DOTALL,
)
_OPENING, _DICE = re.compile(WORDS["opening"], re.DOTALL), re.compile(WORDS["dice"])
_VERBS = {CONCEALED: ev.CONCEALED_KONG, ADDED: ev.ADDED_KONG}


class Action(NamedTuple):
    """One line: its number in the list, who, the tile discarded or melded (-1: a draw), the meld's kind or None."""

    number: int
    name: str
    kind: int
    meld: str | None
    reveal: bool


class Seen(NamedTuple):
    """What lies at one seat at the end: unclaimed discards in order, meld kinds by tile, whether it has revealed."""

    river: list[int]
    melds: dict[int, str]
    revealed: bool


def parse(lines: Sequence[str]) -> tuple[list[Action], tuple[int, int] | None]:
    """(actions, opening dice if told) of a list of texts; Reject (bad_token) on one that is no action."""
    actions: list[Action] = []
    dice = None
    for number, line in enumerate(lines):
        found = _ACTION.fullmatch(line)
        if found is None:
            if actions or not _OPENING.fullmatch(line):
                raise Reject("bad_token", f"actions.{number}", f"{line[:60]!r} is no action that is known")
            thrown = _DICE.search(line)
            dice = (int(thrown[1]), int(thrown[2])) if thrown else dice
            continue
        name, discarded, reveal, meld, melded = found.groups()
        tile = discarded or melded
        kind = -1 if tile is None else _KIND[tile]
        actions.append(Action(number, name, kind, meld and MELDS[meld], reveal is not None))
    return actions, dice


def seen(actions: Sequence[Action]) -> dict[str, Seen]:
    """What the actions leave on the table, by name, in the order in which the names turn up."""
    out: dict[str, Seen] = {}
    last: Action | None = None  # the discard that lies open
    for action in actions:
        own = out.setdefault(action.name, Seen([], {}, False))
        if action.meld is not None:
            own.melds[action.kind] = action.meld
            if action.meld in (PUNG, EXPOSED) and last is not None and last.kind == action.kind:
                out[last.name].river.pop()
            last = None
        elif action.kind >= 0:
            own.river.append(action.kind)
            last = action
        else:
            last = None
        if action.reveal:
            out[action.name] = own._replace(revealed=True)
    return out


def _in_turn(actions: Sequence[Action], seats: dict[str, int]) -> int:
    """How many draws come from the seat after the last discard's."""
    pairs = zip(actions, actions[1:], strict=False)
    return sum(
        a.kind >= 0 and a.meld is None and b.kind < 0 and seats[b.name] == (seats[a.name] + 1) % SEATS for a, b in pairs
    )


def seats_of(
    actions: Sequence[Action], told: Sequence[str] | None, recorded: Sequence[Seen], dealer: int
) -> dict[str, int]:
    """The seat of each name.  told: the names by seat where an archive has them; recorded: what each seat left.

    Reject where the actions contradict the record.
    """
    left = seen(actions)
    names = list(left)
    if len(names) > SEATS:
        raise Reject("bad_count", "actions", f"{len(names)} players act, expected at most {SEATS}")
    if told is not None:
        if len(set(told)) < SEATS:
            raise Reject("bad_value", "names", "two players share a name: their actions can't be told apart")
        seats = {name: seat for seat, name in enumerate(told)}
        if stranger := [name for name in names if name not in seats]:
            raise Reject("bad_value", "actions", f"{stranger[0][:60]!r} acts, who does not sit at the table")
    else:

        def fit(order: tuple[int, ...]) -> tuple[int, int]:
            trial = dict(zip(names, order, strict=True))
            same = sum(a == b for name, seat in trial.items() for a, b in zip(left[name], recorded[seat], strict=True))
            return same + (bool(names) and trial[names[0]] == dealer), _in_turn(actions, trial)

        seats = dict(zip(names, max(permutations(range(SEATS), len(names)), key=fit), strict=True))
    by_seat = {seat: left[name] for name, seat in seats.items() if name in left}
    for seat, own in enumerate(recorded):
        for field, a, b in zip(("river", "melds", "liang"), own, by_seat.get(seat, Seen([], {}, False)), strict=True):
            if a != b:
                raise Reject("bad_value", f"players.{seat}.{field}", "differs from what the actions leave there")
    return seats


def translate(actions: Sequence[Action], seats: dict[str, int]) -> tuple[list[int], list[int]]:
    """(packed events, number of the action that each stems from); a reveal stands before its discard.

    The round's end is not among the actions.
    """
    events: list[int] = []
    numbers: list[int] = []
    discard: tuple[int, int] | None = None  # (seat, kind) while it can be claimed
    konger = -1  # the seat that a replacement is due to
    for action in actions:
        seat = seats[action.name]
        if action.reveal:
            events.append(ev.pack_reveal(seat))
            numbers.append(action.number)
        if action.kind < 0:
            events.append(ev.pack(seat, ev.REPLACEMENT if konger == seat else ev.DRAW))
        elif action.meld is None:
            events.append(ev.pack(seat, ev.DISCARD, action.kind))
        elif action.meld in _VERBS:
            events.append(ev.pack(seat, _VERBS[action.meld], action.kind))
        else:
            source = discard[0] if discard else ev.NO_SEAT
            events.append(ev.pack(seat, ev.PUNG if action.meld == PUNG else ev.KONG, action.kind, source))
        numbers.append(action.number)
        discard = (seat, action.kind) if action.kind >= 0 and action.meld is None else None
        konger = seat if action.meld in (EXPOSED, CONCEALED, ADDED) else -1
    return events, numbers
