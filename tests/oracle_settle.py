"""A second, literal settlement: who pays what to whom, from the sheets alone.

Ledger entries are (cause, from seat, to seat, points).  A `Table` is what settlement may look at: see oracle.py.
"""

import math

from oracle_hand import DRAGONS, Hand, multiple_of, score, waits

GROUPS = {tile: group for group in ("147", "258", "369") for tile in group}
DRAGON_GROUP = {"7z": "147", "6z": "258", "5z": "369"}  # 中 发 白


def others(seat):
    return [(seat + 1) % 3, (seat + 2) % 3]


def scale(table, key):
    """base x 2^raise, base, or 1, as a scale key says."""
    return {"raised": table.base * 2**table.raised, "base": table.base, "one": 1}[table.rules[key]]


def stake(table):
    return table.base * 2**table.raised


def shares(table, win):
    """[(payer, the seat whose share it is)] of one win, before any side points."""
    rules, seat, payer = table.rules, win["seat"], win["from"]
    if payer is None:
        return [(other, other) for other in others(seat)]
    third = 3 - seat - payer
    if seat in table.revealed:
        key = "deal_in.revealed_to_revealed" if payer in table.revealed else "deal_in.to_revealed"
        if win.get("only_first_revealed") or rules[key] == "pays_for_all":
            return [(payer, payer), (payer, third)]
        if rules[key] == "as_self_draw":
            return [(payer, payer), (third, third)]
    return [(payer, payer)]


def horse_points(table, win):
    """Points of the turned wall tiles for one payer."""
    rules, mode = table.rules, table.rules["side.horse"]
    if mode == "none" or win["from"] is not None or table.wall is None:  # a wall that isn't logged turns nothing
        return 0
    if rules["side.horse_reveal_only"] and win["seat"] not in table.revealed:
        return 0
    left = list(table.wall) if rules["side.horse_end"] == "front" else list(reversed(table.wall))
    if not left:
        return 0
    if mode == "last_tile":
        if left[0] in DRAGONS:
            return 10
        if left[0] == "1p" and not rules["side.horse_one_dot"]:
            return 0
        return int(left[0][0])
    turned = left[:6]
    tile = win["tile"]
    group = DRAGON_GROUP[tile] if tile in DRAGONS else GROUPS[tile[0]]
    hits = sum(1 for tile in turned if tile in DRAGONS or tile[0] in group)
    return 6 if hits == 0 and len(turned) == 6 else hits


def run_touch_eight(table, win):
    """1 + kans + 1 on a self-draw + tiles above seven of the longest concealed suit (dragons are one)."""
    tiles = [*table.hands[win["seat"]], win["tile"]]
    longest = max(sum(1 for tile in tiles if tile[1] == suit) for suit in "mpsz")
    return 1 + win["kan"] + (win["from"] is None) + max(0, longest - 7)


def settle_win(table, win):
    """Ledger entries of one win."""
    rules, seat = table.rules, win["seat"]
    out = []
    paid = shares(table, win)
    for payer, owner in paid:
        points = stake(table) * multiple_of(win["fans"], rules, owner in table.revealed)
        out.append(("win", payer, seat, points))
    for payer, owner in paid:  # who pays another seat's share pays that seat's side points too
        skipped = (
            win["from"] is None
            and not rules["side.addon_revealed_payer"]
            and payer in table.revealed
            and seat not in table.revealed
        )
        out.append(("piao", payer, seat, (table.piao[seat] + table.piao[owner]) * scale(table, "side.piao_scale")))
        out.append(("horse", payer, seat, horse_points(table, win) * scale(table, "side.horse_scale")))
        if rules["side.kan"] and not skipped:
            out.append(("kan", payer, seat, win["kan"] * scale(table, "side.kan_scale")))
        if rules["side.run_touch_eight"] and not skipped:
            out.append(("run_touch_eight", payer, seat, run_touch_eight(table, win)))
    return out


def settle_kong(table, kong):
    """Ledger entries of one counted kong; its place in the chain is in it."""
    rules = table.rules
    points = stake(table) * rules[f"kong.{kong['kind']}_points"]
    if rules["kong.chain"] == "double":
        points *= 2 ** (kong["chain"] - 1)
    payers = [kong["from"]] if kong["kind"] == "exposed" else others(kong["seat"])
    return [(f"kong_{kong['kind']}", payer, kong["seat"], points) for payer in payers]


def highest(table, seat, tiles=None, after_kong=False):
    """The highest multiple that the waits of a seat (or those among `tiles`) give as a discard win; None without."""
    melds = [(meld["kind"], meld["tile"]) for meld in table.melds[seat]]
    best = None
    for tile in waits(table.hands[seat], melds, table.hidden[seat], table.rules["win.wait_held_four"]):
        if tiles is not None and tile not in tiles:
            continue
        revealed = seat in table.revealed and (tiles is not None or table.rules["draw.best_with_reveal"])
        hand = Hand(table.hands[seat], melds, tile, "discard", revealed, after_kong, hidden=table.hidden[seat])
        multiple = score(hand, table.rules).multiple
        best = multiple if best is None else max(best, multiple)
    return best


def settle_draw(table):
    """Ledger entries of an exhaustive draw, without the kongs."""
    rules, mode, revealed = table.rules, table.rules["draw.settle"], table.revealed
    amount = rules["draw.amount"] * scale(table, "draw.scale")
    hidden = [seat for seat in range(3) if seat not in revealed]
    if mode == "first_revealed":
        return [("draw", revealed[0], seat, amount) for seat in others(revealed[0])] if revealed else []
    if mode == "revealed_to_unrevealed":
        return [("draw", payer, seat, amount) for payer in revealed for seat in hidden]
    if mode == "revealed_to_all":
        return [("draw", payer, seat, amount) for payer in revealed for seat in others(payer)]
    if mode in ("ready", "ready_flat"):
        best = [highest(table, seat) for seat in range(3)]
        ready = [seat for seat in range(3) if best[seat] is not None]
        if len(ready) == 3:
            if mode == "ready_flat":
                return [("draw", revealed[0], seat, amount) for seat in others(revealed[0])] if revealed else []
            factor, cap = rules["draw.all_ready_factor"], rules["score.cap"] or math.inf
            pay = {seat: min(best[seat] * factor, cap) * stake(table) for seat in hidden}
            return [("draw", p, seat, pay[seat]) for p in revealed for seat in hidden]
        pay = {seat: amount if mode == "ready_flat" else best[seat] * stake(table) for seat in ready}
        return [("draw", p, seat, pay[seat]) for p in range(3) if p not in ready for seat in ready]
    return []


def settle_no_safe_tile(table, payer):
    """The seat without a safe tile pays every revealed seat the highest multiple that a tile it holds would give."""
    out = []
    for seat in table.revealed:
        multiple = highest(table, seat, table.hands[payer], table.after_kong)
        if multiple is not None:  # none of the tiles is this seat's
            out.append(("no_safe_tile", payer, seat, stake(table) * multiple))
    return out


def settle(table):
    """The whole ledger of a round that ended: kongs, then wins or the draw, then fees; entries of 0 left out."""
    out = []
    draw = settle_draw(table) if table.end == "draw" else []
    ready = [seat for seat in range(3) if highest(table, seat) is not None]
    kept = {"kept": True, "void": False, "void_unless_mixed": 0 < len(ready) < 3}
    if table.end != "draw" or kept[table.rules["kong.on_draw"]]:
        out += [entry for kong in table.kongs for entry in settle_kong(table, kong)]
    for win in table.wins:
        out += settle_win(table, win)
    out += draw
    if table.end == "no_safe_tile":
        out += settle_no_safe_tile(table, table.turn)
    if table.end != "aborted":
        out += [("fee", seat, None, table.rules["stake.fee"] * table.base) for seat in range(3)]
    return [entry for entry in out if entry[3]]


def next_dealer(table):
    """The dealer of the game's next round; None after an aborted one."""
    rules = table.rules
    if table.end == "win":
        if len(table.wins) == 1:
            return table.wins[0]["seat"]
        key = "dealer.after_double_rob" if table.wins[0]["by"] == "rob_kong" else "dealer.after_double"
        return table.wins[0]["seat"] if rules[key] == "first_winner" else table.wins[0]["from"]
    if table.end == "draw":
        if rules["dealer.after_draw"] == "last_drawer":
            return table.last_drawer
        if rules["dealer.after_draw"] == "payer":
            payers = {payer for _, payer, _, _ in settle_draw(table)}
            return payers.pop() if len(payers) == 1 else table.dealer
    return table.dealer


def next_raise(table):
    """Doublings that the next round starts with, before its own dice."""
    rules = table.rules
    if not rules["side.raise"]:
        return 0
    double = len(table.wins) > 1 and (table.wins[0]["by"] != "rob_kong" or rules["side.raise_on_double_rob"])
    if not (table.end == "draw" or double):
        return 0
    return table.raised + 1 if rules["side.raise_accumulates"] else 1
