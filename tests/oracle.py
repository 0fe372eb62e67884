"""A second, literal engine: plays one kwx round and says what was illegal, who won what and who pays.

`play(record, rules)` takes a kwx log line as a dictionary and a ruleset's values (`oracle_rules.values`).  It stops at
the first event that breaks a rule.  Slow and obvious on purpose; it shares nothing with the engine.
"""

from collections import Counter
from dataclasses import dataclass, field

from oracle_hand import Hand, multiple_of, parse, readings, score, waits
from oracle_settle import next_dealer, next_raise, settle

KONGS = {"k": "exposed", "c": "concealed", "a": "added"}


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
    held: set = field(default_factory=set)  # kinds that could have been konged before the last replacement
    declined: set = field(default_factory=set)  # seats that declined the present tile
    locked: list = field(default_factory=lambda: [None, None, None])  # missed win: None or the multiple missed
    locked_tile: list = field(default_factory=lambda: [None, None, None])
    dead: set = field(default_factory=set)
    kongs: list = field(default_factory=list)
    wins: list = field(default_factory=list)
    end: str | None = None
    last_drawer: int | None = None
    seen: Counter = field(default_factory=Counter)  # copies of each kind that have appeared


def need(condition, code):
    if not condition:
        raise Illegal(code)


def pairs(table, seat):
    """Melds as the scorer takes them."""
    return [(meld["kind"], meld["tile"]) for meld in table.melds[seat]]


def waits_now(table, seat):
    return () if seat in table.dead else waits(table.hands[seat], pairs(table, seat), table.hidden[seat])


def ready_after_a_discard(table, seat):
    """Whether some discard leaves the seat ready."""
    return any(ready_without(table, seat, tile) for tile in set(table.hands[seat]))


def ready_without(table, seat, tile):
    rest = list(table.hands[seat])
    rest.remove(tile)
    return bool(waits(rest, pairs(table, seat), table.hidden[seat]))


def safe(table, seat, tile):
    """Whether no revealed other seat wins on the tile by shape."""
    return not any(tile in waits_now(table, other) for other in table.revealed if other != seat)


def must_not_feed(table, seat):
    return table.rules["reveal.no_feeding"] and seat not in table.revealed


# ---------------------------------------------------------------- wins


def scored(table, seat, by, tile):
    """The Score of a win of `tile`, or None when the hand is not complete."""
    concealed = list(table.hands[seat])
    if by == "self_draw":
        concealed.remove(tile)
    if len(concealed) != 13 - 3 * len(table.melds[seat]):
        return None
    after_kong = table.after_kong and by != "rob_kong"
    last_tile = table.wall_left == 0
    melds = pairs(table, seat)
    revealed = seat in table.revealed
    return score(Hand(concealed, melds, tile, by, revealed, after_kong, last_tile, table.hidden[seat]), table.rules)


def enough(table, seat, by, result):
    """Whether a win reaches the table's minimum."""
    rules = table.rules
    payers = [other for other in range(3) if other != seat] if by == "self_draw" else [table.turn]
    if rules["win.min_exempt_revealed"] and any(one in table.revealed for one in [seat, *payers]):
        return True
    least = rules["win.self_draw_min" if by == "self_draw" else "win.discard_min"]
    return max(multiple_of(result.fans, rules, payer in table.revealed) for payer in payers) >= least


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


# ---------------------------------------------------------------- events


def see(table, tile):
    table.seen[tile] += 1
    need(table.seen[tile] <= 4, "fifth_tile")


def draw(table, seat, tile, replacement):
    if replacement:
        need(table.phase in ("konged", "added") or seat != table.turn, "wrong_replacement")
        need(table.phase in ("konged", "added"), "not_your_turn")
        need(seat == table.turn, "not_your_turn")
        code = "wrong_replacement"
        at_front = table.rules["wall.replacement"] == "front"
    else:
        need(table.phase == "discarded", "missing_event" if seat == table.turn else "not_your_turn")
        need(seat == (table.turn + 1) % 3, "not_your_turn")
        code = "draw_not_from_wall"
        at_front = True
    need(table.wall_left > 0, code)
    if table.wall is None:
        see(table, tile)
    else:
        need(table.wall[0 if at_front else -1] == tile, code)
        table.wall.pop(0 if at_front else -1)
    note_missed(table)
    if replacement:
        finish_added_kong(table)
        table.held |= {kind for kind, count in Counter(table.hands[seat]).items() if count == 4}
    else:
        table.after_kong = False
        table.chain = 0
        table.held = set()
    table.wall_left -= 1
    table.hands[seat].append(tile)
    table.turn, table.phase, table.drawn, table.last = seat, "turn", tile, None
    table.declined = set()
    table.last_drawer = seat
    unlock(table, seat)


def discard(table, seat, tile, drawn):
    rules = table.rules
    if table.phase in ("konged", "added") and seat == table.turn:
        void = table.phase == "konged" and table.kongs_void
        need(void or rules["dead_hand"] == "dead", "missing_event")
        if table.phase == "added":
            note_missed(table)
            finish_added_kong(table)
        table.dead.add(seat)
        table.drawn = None
        table.phase = "turn"
    need(seat == table.turn, "not_your_turn")
    need(table.phase in ("turn", "punged"), "missing_event")
    need(tile in table.hands[seat], "tile_not_held")
    if drawn:
        need(table.drawn == tile, "wrong_discard")
    else:
        need(not (table.drawn == tile and table.hands[seat].count(tile) == 1), "wrong_discard")
    if seat in table.revealed and not table.revealing:
        need(drawn, "changed_after_reveal")
    if rules["wall.last_discard"] == "drawn" and table.wall_left == 0 and table.drawn is not None:
        need(drawn, "must_discard_drawn")
    if table.revealing:
        need(ready_without(table, seat, tile), "not_ready")
    if must_not_feed(table, seat) and not safe(table, seat, tile):
        has_safe = any(safe(table, seat, other) for other in table.hands[seat])
        need(not has_safe and rules["reveal.no_safe_tile"] == "any", "fed_revealed")
    table.hands[seat].remove(tile)
    if rules["win.missed"] == "until_discard":
        unlock(table, seat)
    if table.revealing and not rules["kong.flag_survives_reveal"]:
        table.after_kong = False
    table.phase, table.last, table.drawn, table.revealing = "discarded", tile, None, False
    table.declined = set()


def claim(table, seat, tile, source, count):
    """What a pung (count 2) and an exposed kong (count 3) have in common."""
    need(table.phase == "discarded" and seat != table.turn, "bad_claim")
    need(tile == table.last and source == table.turn, "bad_claim")
    need(seat not in table.declined, "bad_claim")
    need(table.hands[seat].count(tile) >= count, "tile_not_held")


def pung(table, seat, tile, source):
    claim(table, seat, tile, source, 2)
    need(seat not in table.revealed, "changed_after_reveal")
    need(table.wall_left > 0 or table.rules["wall.last_pung"], "bad_claim")
    note_missed(table)
    for _ in range(2):
        table.hands[seat].remove(tile)
    table.melds[seat].append({"kind": "pung", "tile": tile})
    table.turn, table.phase, table.drawn, table.last = seat, "punged", None, None
    table.after_kong, table.chain, table.held, table.declined = False, 0, set(), set()


def wall_for_kong(table):
    """Checks that a kong may be made; True when it is made but void."""
    if table.wall_left > 0:
        return False
    need(table.rules["kong.empty_wall"] == "void", "kong_on_empty_wall")
    return True


def keeps_waits(table, seat, tile, before):
    """Whether a kong of three `tile` in the revealed hand `before` leaves its waits, and each reading has them as a
    triplet."""
    melds, hidden = pairs(table, seat), table.hidden[seat]
    old = waits(before, melds, hidden)
    after = [other for other in before if other != tile]
    new_hidden = tuple(other for other in hidden if other != tile)
    if not old or old != waits(after, [*melds, ("concealed_kong", tile)], new_hidden):
        return False
    for wait in old:
        for reading in readings([*before, wait], hidden):
            if reading[0] != "standard" or ("triplet", tile) not in reading[2]:
                return False
    return True


def revealed_kong(table, seat, tile, before):
    """Checks a concealed or exposed kong of a seat that has revealed; `before`: its hand of 13 less 3 a meld."""
    mode = table.rules["reveal.kong_after"]
    if seat not in table.revealed or mode == "any":
        return
    if mode == "none":
        raise Illegal("changed_after_reveal")
    if mode == "hidden_only":
        need(tile in table.hidden[seat], "changed_after_reveal")
    else:
        need(before.count(tile) == 3 and keeps_waits(table, seat, tile, before), "changed_after_reveal")


def exposed_kong(table, seat, tile, source):
    claim(table, seat, tile, source, 3)
    void = wall_for_kong(table)
    revealed_kong(table, seat, tile, table.hands[seat])
    note_missed(table)
    add_kong(table, seat, tile, "exposed", source, 3, void)
    table.turn, table.last, table.held, table.declined = seat, None, set(), set()


def own_turn(table, seat):
    need(seat == table.turn, "not_your_turn")
    if table.phase in ("konged", "added"):
        need(table.rules["dead_hand"] == "dead" and not table.kongs_void, "missing_event")
        if table.phase == "added":
            note_missed(table)
            finish_added_kong(table)
        table.dead.add(seat)
        table.drawn = None
        table.phase = "turn"
    need(table.phase in ("turn", "punged"), "missing_event")


def concealed_kong(table, seat, tile):
    rules = table.rules
    own_turn(table, seat)
    need(table.phase == "turn" or rules["kong.after_pung"], "bad_claim")
    need(table.hands[seat].count(tile) == 4, "tile_not_held")
    void = wall_for_kong(table)
    need(rules["kong.concealed_any_time"] or table.drawn == tile, "kong_too_late")
    if rules["kong.one_held_per_turn"]:
        need(tile not in table.held, "kong_held")
    before = list(table.hands[seat])
    taken = tile if table.revealing else table.drawn
    if taken is not None:
        before.remove(taken)
    revealed_kong(table, seat, tile, before)
    add_kong(table, seat, tile, "concealed", None, 4, void)


def added_kong(table, seat, tile):
    rules = table.rules
    own_turn(table, seat)
    need(any(meld == {"kind": "pung", "tile": tile} for meld in table.melds[seat]), "tile_not_held")
    need(tile in table.hands[seat], "tile_not_held")
    void = wall_for_kong(table)
    if rules["kong.added_only_when_drawn"]:
        need(table.drawn == tile, "kong_too_late")
    need(table.phase == "turn" or rules["kong.after_pung"], "bad_claim")
    table.pending = {"void": void, "tile": tile, "seat": seat}
    table.phase, table.last, table.declined = "added", tile, set()
    table.kongs_void = void


def finish_added_kong(table):
    """The added kong that nobody robbed is made."""
    if table.phase != "added":
        return
    seat, tile = table.pending["seat"], table.pending["tile"]
    table.melds[seat] = [meld for meld in table.melds[seat] if meld != {"kind": "pung", "tile": tile}]
    add_kong(table, seat, tile, "added", None, 1, table.pending["void"])


def add_kong(table, seat, tile, kind, source, taken, void):
    for _ in range(taken):
        table.hands[seat].remove(tile)
    table.melds[seat].append({"kind": kind + "_kong", "tile": tile})
    table.hidden[seat] = tuple(other for other in table.hidden[seat] if other != tile)
    table.phase, table.kongs_void = "konged", void
    if not void:
        table.chain += 1
        table.kongs.append({"seat": seat, "kind": kind, "tile": tile, "from": source, "chain": table.chain})
        table.after_kong = True


def reveal(table, seat, hidden):
    rules = table.rules
    need(seat not in table.revealed, "changed_after_reveal")
    need(table.wall_left >= rules["reveal.min_wall"], "reveal_not_allowed")
    need(seat not in table.dead, "dead_hand")
    need(not hidden or rules["reveal.hide_triplets"], "bad_hidden")
    need(list(hidden) == sorted(set(hidden), key=hidden.index), "bad_hidden")
    need(all(table.hands[seat].count(tile) >= 3 for tile in hidden), "bad_hidden")
    mine = seat == table.turn and table.phase in ("turn", "punged")
    table.hidden[seat] = tuple(hidden)
    if mine:
        need(ready_after_a_discard(table, seat), "not_ready")
        table.revealing = True
    else:
        need(rules["reveal.when"] == "any_time", "reveal_not_allowed")
        need(not (seat == table.turn and table.phase in ("konged", "added")), "missing_event")
        need(not offered_win(table, seat) and table.locked[seat] is None, "reveal_not_allowed")
        need(waits_now(table, seat), "not_ready")
    table.revealed.append(seat)


def win(table, seat, tile, source):
    rules = table.rules
    if source is None:
        need(not table.wins, "event_after_end")
        need(seat == table.turn, "not_your_turn")
        need(table.phase == "turn" and not table.revealing_untouched, "bad_claim")
        need(tile in table.hands[seat] if table.drawn is None else tile == table.drawn, "bad_claim")
        result = scored(table, seat, "self_draw", tile)
        need(seat not in table.dead, "dead_hand")
        need(result is not None, "not_a_win")
        need(enough(table, seat, "self_draw", result), "below_minimum")
        add_win(table, seat, None, tile, "self_draw", result)
        table.hands[seat].remove(tile)
        table.phase = "won"
        return
    need(table.phase in ("discarded", "added"), "bad_claim")
    need(source == table.turn and seat != table.turn and tile == table.last, "bad_claim")
    need(table.phase == "discarded" or rules["kong.robbable"], "bad_claim")
    need(seat not in table.declined, "bad_claim")
    already = [one["seat"] for one in table.wins]
    need(seat not in already, "claim_order")
    need(not already or (already[-1] - source) % 3 < (seat - source) % 3, "claim_order")
    code = can_win(table, seat, by_now(table), tile)
    need(code is None, code)
    add_win(table, seat, source, tile, by_now(table), scored(table, seat, by_now(table), tile))


def add_win(table, seat, source, tile, by, result):
    table.wins.append(
        {
            "seat": seat,
            "from": source,
            "tile": tile,
            "by": by,
            "fans": result.fans,
            "multiple": result.multiple,
            "kan": result.kan,
        }
    )
    table.end = "win"


def decline(table, seat):
    need(table.phase in ("discarded", "added") and seat != table.turn, "bad_claim")
    need(seat not in table.declined and seat not in [one["seat"] for one in table.wins], "bad_claim")
    held = table.hands[seat].count(table.last) if table.phase == "discarded" else 0
    pungs = held >= 2 and seat not in table.revealed and (table.wall_left > 0 or table.rules["wall.last_pung"])
    kongs = held >= 3 and (table.wall_left > 0 or table.rules["kong.empty_wall"] == "void")
    if kongs:
        try:
            revealed_kong(table, seat, table.last, table.hands[seat])
        except Illegal:
            kongs = False
    need(offered_win(table, seat) or (not table.wins and (pungs or kongs)), "bad_claim")
    table.declined.add(seat)


def exhausted(table):
    rules = table.rules
    if table.phase == "discarded" and table.wall_left == 0:
        note_missed(table)
        table.end = "draw"
        return
    need(table.phase in ("turn", "punged") and rules["reveal.no_safe_tile"] == "end_and_pay", "missing_event")
    need(must_not_feed(table, table.turn) and table.revealed, "missing_event")
    hand = table.hands[table.turn]
    need(not any(safe(table, table.turn, tile) for tile in hand), "safe_tile_held")
    table.end = "no_safe_tile"


def apply(table, token):
    """Plays one token; raises Illegal."""
    need(table.end in (None, "win"), "event_after_end")
    if token in ("e", "z"):
        need(not table.wins, "event_after_end")
        if token == "e":
            exhausted(table)
        else:
            table.end = "aborted"
        return
    seat, verb, rest = int(token[0]), token[1], token[2:]
    tile = rest[:2] or None
    source = int(rest[2]) if verb in "pkw" and len(rest) > 2 else None
    if table.wins:
        need(verb in "wn", "event_after_end")
    table.revealing_untouched = table.revealing and not table.redrawn
    if verb in "dr":
        draw(table, seat, tile, verb == "r")
    elif verb in "xy":
        discard(table, seat, tile, verb == "y")
    elif verb == "p":
        pung(table, seat, tile, source)
    elif verb == "k":
        exposed_kong(table, seat, tile, source)
    elif verb == "c":
        concealed_kong(table, seat, tile)
    elif verb == "a":
        added_kong(table, seat, tile)
    elif verb == "l":
        reveal(table, seat, parse_pairs(rest))
    elif verb == "w":
        win(table, seat, tile, source)
    elif verb == "n":
        decline(table, seat)
    table.redrawn = table.revealing and (verb == "r" or table.redrawn)


def parse_pairs(text):
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def only_first_revealed(table):
    """Where two win and a winner has revealed, the first to have revealed is the only winner (a table's choice)."""
    if len(table.wins) < 2 or table.rules["deal_in.double"] != "first_revealed_only":
        return
    for seat in table.revealed:
        for one in table.wins:
            if one["seat"] == seat:
                table.wins = [one | {"only_first_revealed": True}]
                return


def start(record, rules):
    """The Table before the first event."""
    hands = [parse(text) for text in record["deal"]]
    wall = record.get("wall")
    table = Table(
        rules=rules,
        dealer=record["dealer"],
        base=record.get("base", 1),
        raised=record.get("raise", 0),
        piao=record.get("piao", [0, 0, 0]),
        hands=hands,
        wall=None if wall is None else parse_pairs(wall),
        turn=record["dealer"],
    )
    table.kongs_void = table.redrawn = table.revealing_untouched = False
    for hand in hands:
        table.seen.update(hand)
    return table


def play(record, rules):
    """Plays a round: {"violations": [(event index, code)], …} and, when there are none, its outcome.

    The outcome: "ledger" [(cause, from, to, points)], "wins", "kongs" (net points a seat), "end", "next_dealer",
    "next_raise", "points" (net of the whole ledger), "table" (the final Table).
    """
    table = start(record, rules)
    events = record["events"].split()
    violations = []
    for index, token in enumerate(events):
        try:
            apply(table, token)
        except Illegal as illegal:
            violations.append((index, str(illegal)))
            return {"violations": violations, "table": table}
    if table.end is None:
        return {"violations": [(len(events), "missing_event")], "table": table}
    only_first_revealed(table)
    ledger = settle(table)
    points, kongs = [0, 0, 0], [0, 0, 0]
    for cause, payer, payee, amount in ledger:
        points[payer] -= amount
        if payee is not None:
            points[payee] += amount
        if cause.startswith("kong"):
            kongs[payer] -= amount
            kongs[payee] += amount
    return {
        "violations": [],
        "ledger": ledger,
        "wins": table.wins,
        "kongs": kongs,
        "end": table.end,
        "next_dealer": next_dealer(table),
        "next_raise": next_raise(table),
        "points": points,
        "table": table,
    }
