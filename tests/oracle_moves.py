"""The literal engine's moves: one function an event, each checking its rules word by word and moving the tiles."""

from collections import Counter

from oracle_hand import readings, waits
from oracle_table import (
    Illegal,
    by_now,
    can_win,
    enough,
    must_not_feed,
    need,
    note_missed,
    offered_win,
    pairs,
    ready_after_a_discard,
    ready_without,
    safe,
    scored,
    unlock,
    waits_now,
)


def parse_pairs(text):
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def see(table, tile):
    table.seen[tile] += 1
    need(table.seen[tile] <= 4, "fifth_tile")


def out_of_turn(table, seat):
    """The code for an act that this moment doesn't offer: the seat that is to act has left something out."""
    due = (table.turn + 1) % 3 if table.phase == "discarded" else table.turn
    return "missing_event" if seat == due else "not_your_turn"


def draw(table, seat, tile, replacement):
    if replacement:
        need(table.phase in ("konged", "added") and seat == table.turn, out_of_turn(table, seat))
        code = "wrong_replacement"
        at_front = table.rules["wall.replacement"] == "front"
    else:
        need(table.phase == "discarded" and seat == (table.turn + 1) % 3, out_of_turn(table, seat))
        code = "draw_not_from_wall"
        at_front = True
    need(table.wall_left > 0, code)
    if table.wall is None:
        see(table, tile)
    else:
        need(table.wall[0 if at_front else -1] == tile, "draw_not_from_wall" if at_front else code)
        table.wall.pop(0 if at_front else -1)
    note_missed(table)
    if replacement:
        finish_added_kong(table)
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
    after_kong = table.phase in ("konged", "added") and seat == table.turn
    need(not (drawn and after_kong), "missing_event")  # the tile just drawn would be a replacement
    own_turn(table, seat, table.kongs_void)
    need(tile in table.hands[seat], "tile_not_held")
    if seat in table.revealed and not table.revealing:
        need(drawn, "changed_after_reveal")
    if drawn:
        need(table.drawn == tile, "wrong_discard")
    else:
        need(not (table.drawn == tile and table.hands[seat].count(tile) == 1), "wrong_discard")
    if rules["wall.last_discard"] == "drawn" and table.wall_left == 0 and table.drawn is not None:
        need(drawn, "must_discard_drawn")
    if table.revealing:
        need(tile not in table.hidden[seat] or table.hands[seat].count(tile) > 3, "bad_hidden")
        need(ready_without(table, seat, tile), "not_ready")
    if must_not_feed(table, seat) and not safe(table, seat, tile):
        has_safe = any(safe(table, seat, other) for other in table.hands[seat])
        need(not has_safe and rules["reveal.no_safe_tile"] == "any", "fed_revealed")
    table.hands[seat].remove(tile)
    if rules["win.missed"] == "until_discard":
        unlock(table, seat)
    if table.revealing and not rules["kong.flag_survives_reveal"]:
        table.after_kong = False
    table.just_revealed = table.revealing
    table.phase, table.last, table.drawn, table.revealing = "discarded", tile, None, False
    table.declined = set()


def claim(table, seat, tile, source, count):
    """What a pung (count 2) and an exposed kong (count 3) have in common."""
    need(table.phase == "discarded", out_of_turn(table, seat))
    need(seat != table.turn, "bad_claim")
    need(tile == table.last and source == table.turn, "bad_claim")
    need(seat not in table.declined, "bad_claim")
    need(table.hands[seat].count(tile) >= count, "bad_claim")


def pung(table, seat, tile, source):
    claim(table, seat, tile, source, 2)
    need(seat not in table.revealed, "changed_after_reveal")
    need(table.wall_left > 0 or table.rules["wall.last_pung"], "bad_claim")
    note_missed(table)
    for _ in range(2):
        table.hands[seat].remove(tile)
    table.melds[seat].append({"kind": "pung", "tile": tile, "third_held": tile in table.hands[seat]})
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
    held_four = table.rules["win.wait_held_four"]
    old = waits(before, melds, hidden, held_four)
    after = [other for other in before if other != tile]
    new_hidden = tuple(other for other in hidden if other != tile)
    if not old or old != waits(after, [*melds, ("concealed_kong", tile)], new_hidden, held_four):
        return False
    if table.rules["reveal.kong_after"] == "same_waits":
        return True
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
    table.held = set()
    if not table.rules["kong.chain_across"]:
        table.chain = 0
    add_kong(table, seat, tile, "exposed", source, 3, void)
    table.turn, table.last, table.declined = seat, None, set()


def own_turn(table, seat, without_replacement=False):
    """Checks that the seat may act in its turn; after a kong it may only where a hand may stay short."""
    if table.phase in ("konged", "added") and seat == table.turn:
        need(without_replacement or table.rules["dead_hand"] == "dead", "missing_event")
        if table.phase == "added":
            note_missed(table)
            finish_added_kong(table)
        table.dead.add(seat)
        table.phase, table.drawn = "turn", None
    need(seat == table.turn and table.phase in ("turn", "punged"), out_of_turn(table, seat))


def concealed_kong(table, seat, tile):
    rules = table.rules
    own_turn(table, seat)
    need(table.hands[seat].count(tile) == 4, "tile_not_held")
    need(table.phase == "turn" or rules["kong.after_pung"], "bad_claim")
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
    need(tile in table.hands[seat], "tile_not_held")
    pungs = [meld for meld in table.melds[seat] if meld["kind"] == "pung" and meld["tile"] == tile]
    need(pungs, "bad_claim")
    void = wall_for_kong(table)
    if rules["kong.added_only_when_drawn"]:
        need(table.drawn == tile, "kong_too_late")
    need(rules["kong.added_after_three"] or not pungs[0]["third_held"], "kong_too_late")
    need(rules["reveal.added_kong"] or seat not in table.revealed, "changed_after_reveal")
    need(table.phase == "turn" or rules["kong.after_pung"], "bad_claim")
    table.pending = {"void": void, "tile": tile, "seat": seat}
    table.phase, table.last, table.declined = "added", tile, set()
    table.kongs_void = void


def finish_added_kong(table):
    """The added kong that nobody robbed is made."""
    if table.phase != "added":
        return
    seat, tile = table.pending["seat"], table.pending["tile"]
    table.melds[seat] = [meld for meld in table.melds[seat] if (meld["kind"], meld["tile"]) != ("pung", tile)]
    add_kong(table, seat, tile, "added", None, 1, table.pending["void"])


def add_kong(table, seat, tile, kind, source, taken, void):
    for _ in range(taken):
        table.hands[seat].remove(tile)
    table.melds[seat].append({"kind": kind + "_kong", "tile": tile})
    table.hidden[seat] = tuple(other for other in table.hidden[seat] if other != tile)
    table.held |= {kind for kind, count in Counter(table.hands[seat]).items() if count == 4}
    table.phase, table.kongs_void = "konged", void
    if not void:
        table.chain += 1
        table.kongs.append({"seat": seat, "kind": kind, "tile": tile, "from": source, "chain": table.chain})
        table.after_kong = True


def reveal(table, seat, hidden):
    rules = table.rules
    mine = seat == table.turn and table.phase in ("turn", "punged")
    need(mine or rules["reveal.when"] == "any_time", out_of_turn(table, seat))
    need(not (seat == table.turn and table.phase in ("konged", "added")), "missing_event")
    need(seat not in table.revealed, "changed_after_reveal")
    need(table.wall_left >= rules["reveal.min_wall"], "reveal_not_allowed")
    need(seat not in table.dead, "dead_hand")
    need(not hidden or rules["reveal.hide_triplets"], "bad_hidden")
    need(list(hidden) == sorted(set(hidden), key=hidden.index), "bad_hidden")
    need(all(table.hands[seat].count(tile) >= 3 for tile in hidden), "bad_hidden")
    table.hidden[seat] = tuple(hidden)
    if mine:
        need(len(table.hands[seat]) >= rules["reveal.min_hand"], "reveal_not_allowed")
        need(ready_after_a_discard(table, seat), "not_ready")
        table.revealing = True
    else:
        need(not offered_win(table, seat) and table.locked[seat] is None, "reveal_not_allowed")
        need(waits_now(table, seat), "not_ready")
    table.revealed.append(seat)


def win(table, seat, tile, source):
    rules = table.rules
    if source is None:
        need(not table.wins, "event_after_end")
        need(seat == table.turn and table.phase in ("turn", "punged"), out_of_turn(table, seat))
        need(table.phase == "turn" and not table.revealing_untouched, "bad_claim")
        need(tile in table.hands[seat], "tile_not_held")
        need(table.drawn in (None, tile), "bad_claim")
        result = scored(table, seat, "self_draw", tile)
        need(seat not in table.dead, "dead_hand")
        need(result is not None, "not_a_win")
        need(enough(table, seat, "self_draw", result), "below_minimum")
        add_win(table, seat, None, tile, "self_draw", result)
        table.hands[seat].remove(tile)
        table.phase = "won"
        return
    need(table.phase in ("discarded", "added"), out_of_turn(table, seat))
    already = [one["seat"] for one in table.wins]
    need(seat not in already, "claim_order")
    need(source == table.turn and seat != table.turn and tile == table.last, "bad_claim")
    need(table.phase == "discarded" or rules["kong.robbable"], "bad_claim")
    need(seat not in table.declined, "bad_claim")
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
    need(offered_win(table, seat) or pungs or kongs, "bad_claim")
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
            finish_added_kong(table)  # nobody robbed it
            table.end = "aborted"
        return
    seat, verb, rest = int(token[0]), token[1], token[2:]
    tile = rest[:2] or None
    source = int(rest[2]) if verb in "pkw" and len(rest) > 2 else None
    if table.wins:
        need(verb in "wn" and table.phase != "won", "event_after_end")
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
