"""The literal engine's table: what is known at one moment, who waits for what, who may win the tile on the table."""

from collections import Counter
from dataclasses import dataclass, field

from oracle_hand import Hand, multiple_of, score, waits


class Illegal(Exception):
    """An event that breaks a rule; the message is the violation's code."""


@dataclass
class Table:
    """Everything that is known about a round at one moment."""

    rules: dict
    dealer: int
    base: int
    raised: int
    piao: list
    hands: list  # concealed tiles of each seat
    wall: list  # tiles left, front first; None: not logged
    wall_left: int = 44
    melds: list = field(default_factory=lambda: [[], [], []])
    hidden: list = field(default_factory=lambda: [(), (), ()])
    revealed: list = field(default_factory=list)  # seats in the order they revealed
    turn: int = 0
    phase: str = "turn"  # turn | punged | konged | discarded | added | won | ended
    drawn: str | None = None  # the tile just drawn by the seat in turn
    last: str | None = None  # the tile that others may claim
    revealing: bool = False  # the seat in turn has revealed in this turn and not discarded yet
    after_kong: bool = False  # the seat in turn has konged in this turn
    chain: int = 0  # kongs so far in the running chain
    held: set = field(default_factory=set)  # kinds held four times when this turn's kongs were made
    declined: set = field(default_factory=set)  # seats that declined the present tile
    locked: list = field(default_factory=lambda: [None, None, None])  # missed win: None or the multiple missed
    locked_tile: list = field(default_factory=lambda: [None, None, None])
    dead: set = field(default_factory=set)
    kongs: list = field(default_factory=list)
    wins: list = field(default_factory=list)
    end: str | None = None
    last_drawer: int | None = None
    seen: Counter = field(default_factory=Counter)  # copies of each kind that have appeared
    kongs_void: bool = False  # the kong just made is not counted
    pending: dict = field(default_factory=dict)  # the added kong that may still be robbed
    just_revealed: bool = False  # the tile on the table is the discard that came with a reveal
    redrawn: bool = False  # the revealing seat has drawn a replacement since its reveal
    revealing_untouched: bool = False  # it has drawn nothing since: a discard or a kong is due


def need(condition, code):
    if not condition:
        raise Illegal(code)


def pairs(table, seat):
    """Melds as the scorer takes them."""
    return [(meld["kind"], meld["tile"]) for meld in table.melds[seat]]


def waits_with(table, seat, hand):
    """The waits of a hand of the seat's, as the table counts them."""
    return waits(hand, pairs(table, seat), table.hidden[seat], table.rules["win.wait_held_four"])


def waits_now(table, seat):
    return () if seat in table.dead else waits_with(table, seat, table.hands[seat])


def ready_after_a_discard(table, seat):
    """Whether some discard leaves the seat ready."""
    return any(ready_without(table, seat, tile) for tile in table.hands[seat])


def ready_without(table, seat, tile):
    rest = list(table.hands[seat])
    rest.remove(tile)
    if rest.count(tile) < 3 and tile in table.hidden[seat]:
        return False  # a triplet that lies face down is kept
    return bool(waits_with(table, seat, rest))


def safe(table, seat, tile):
    """Whether no revealed other seat wins on the tile by shape."""
    return not any(tile in waits_now(table, other) for other in table.revealed if other != seat)


def must_not_feed(table, seat):
    return table.rules["reveal.no_feeding"] and seat not in table.revealed


def scored(table, seat, by, tile):
    """The Score of a win of `tile`, or None when the hand is not complete."""
    concealed = list(table.hands[seat])
    if by == "self_draw":
        concealed.remove(tile)
    if len(concealed) != 13 - 3 * len(table.melds[seat]):
        return None
    after_kong = table.after_kong and by != "rob_kong"
    last_tile = table.wall_left == 0
    hand = Hand(concealed, pairs(table, seat), tile, by, seat in table.revealed, after_kong, last_tile)
    hand.hidden = table.hidden[seat]
    hand.kong_on_kong = after_kong and table.chain > 1
    return score(hand, table.rules)


def enough(table, seat, by, result):
    """Whether a win reaches the table's minimum."""
    rules = table.rules
    payers = [other for other in range(3) if other != seat] if by == "self_draw" else [table.turn]
    revealed = list(table.revealed)
    if table.just_revealed and rules["reveal.discard_judged"] == "before" and table.turn in revealed:
        revealed.remove(table.turn)  # the discard that came with the reveal is judged as if without it
    if rules["win.min_exempt_revealed"] and any(one in revealed for one in [seat, *payers]):
        return True
    least = rules["win.self_draw_min" if by == "self_draw" else "win.discard_min"]
    fans = result.fans
    if by == "self_draw" and rules["win.self_draw_min_hand"]:
        chance = ("after_kong_draw", "kong_on_kong", "last_tile_draw")
        return multiple_of([fan for fan in fans if fan not in chance], rules) >= least
    return max(multiple_of(fans, rules, payer in revealed) for payer in payers) >= least


def can_win(table, seat, by, tile):
    """None when the seat may win the tile from another now, else the code of what forbids it."""
    result = scored(table, seat, by, tile)
    if result is None:
        return "dead_hand" if seat in table.dead else "not_a_win"
    if seat in table.dead:
        return "dead_hand"
    if not enough(table, seat, by, result):
        return "below_minimum"
    mode, missed = table.rules["win.missed"], table.locked[seat]
    if missed is None or mode == "off":
        return None
    if mode == "same_tile" and table.locked_tile[seat] != tile:
        return None
    if mode == "larger_only" and result.multiple > missed:
        return None
    return "missed_win_lock"


def by_now(table):
    return "rob_kong" if table.phase == "added" else "discard"


def offered_win(table, seat):
    """Whether the tile on the table is one that the seat may win."""
    if table.phase not in ("discarded", "added") or seat == table.turn:
        return False
    if table.phase == "added" and not table.rules["kong.robbable"]:
        return False
    return can_win(table, seat, by_now(table), table.last) is None


def note_missed(table):
    """Called when the claims on a tile are over: who could have won it and did not is locked."""
    missed = {}
    for seat in range(3):
        if seat not in [win["seat"] for win in table.wins] and offered_win(table, seat):
            missed[seat] = scored(table, seat, by_now(table), table.last).multiple
    for seat, multiple in missed.items():
        table.locked[seat] = multiple
        table.locked_tile[seat] = table.last


def unlock(table, seat):
    table.locked[seat] = None
    table.locked_tile[seat] = None
