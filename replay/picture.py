"""The table before an event, in one line, for problems in words."""

import numpy as np

from ingest import events as e
from ingest.tiles import KINDS, NAMES, SUITS, text


def picture(row: np.record, events: np.ndarray, event: int) -> str:
    """Hands, melds and the last discard before event `event` of a round (-1: as dealt or at its end).

    row: its state.ROUND; events: the batch's packed events.  Illegal events are applied as far as they can be.
    """
    suits = SUITS[int(row.suits)]
    names = NAMES[suits]
    hands = [[int(kind) for kind in hand if kind < KINDS] for hand in row.deal]
    melds: list[list[str]] = [[], [], []]
    revealed = [False] * 3
    last = ""
    stop = row.stop if event < 0 else min(row.start + event, row.stop)
    for packed in events[row.start : stop].tolist():
        seat, verb, tile, source = packed & 3, packed >> 2 & 15, packed >> 6 & 31, packed >> 11 & 3
        if seat > 2 or (tile >= KINDS and verb != e.REVEAL):
            continue
        if verb in (e.DRAW, e.REPLACEMENT):
            hands[seat].append(tile)
        elif verb in (e.DISCARD, e.DISCARD_DRAWN):
            take(hands[seat], tile, 1)
            last = f"{seat} discards {names[tile]}"
        elif verb == e.PUNG:
            take(hands[seat], tile, 2)
            melds[seat].append(f"pung {names[tile]}<{source}")
        elif verb == e.KONG:
            take(hands[seat], tile, 3)
            melds[seat].append(f"kong {names[tile]}<{source}")
        elif verb == e.CONCEALED_KONG:
            take(hands[seat], tile, 4)
            melds[seat].append(f"concealed kong {names[tile]}")
        elif verb == e.ADDED_KONG:
            take(hands[seat], tile, 1)
            melds[seat].append(f"added kong {names[tile]}")
            last = f"{seat} adds {names[tile]}"
        elif verb == e.REVEAL:
            revealed[seat] = True
    parts = []
    for seat in range(3):
        shown = " ".join([text(sorted(hands[seat]), suits), *melds[seat]])
        parts.append(f"{seat}{'*' if revealed[seat] else ''} {shown}")
    return " | ".join([*parts, last] if last else parts)


def take(hand: list[int], kind: int, count: int) -> None:
    """Remove up to `count` copies."""
    for _ in range(count):
        if kind in hand:
            hand.remove(kind)
