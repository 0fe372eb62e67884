"""A second, literal engine: plays one kwx round and says what was illegal, who won what and who pays.

`play(record, rules)` takes a kwx log line as a dictionary and a ruleset's values (`oracle_rules.values`).  It stops at
the first event that breaks a rule.  Slow and obvious on purpose; it shares nothing with the engine.
"""

from collections import Counter
from hashlib import sha256

from oracle_hand import parse
from oracle_moves import apply, parse_pairs
from oracle_settle import next_dealer, next_raise, settle
from oracle_table import Illegal, Table


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
    wall = wall_of(record)
    table = Table(
        rules=rules,
        dealer=record["dealer"],
        base=record.get("base", 1),
        raised=record.get("raise", 0),
        piao=record.get("piao", [0, 0, 0]),
        hands=hands,
        wall=wall,
        turn=record["dealer"],
    )
    for hand in hands:
        table.seen.update(hand)
    return table


def dealt(order, how, dealer):
    """(hands, wall) that an order of 84 tiles deals: one tile at a time, or 4-4-4-1; then the dealer's 14th."""
    hands, left = [[], [], []], parse_pairs(order)
    for count in [1] * 13 if how == "one" else [4, 4, 4, 1]:
        for step in range(3):
            hands[(dealer + step) % 3] += left[:count]
            left = left[count:]
    hands[dealer].append(left.pop(0))
    return hands, left


def wall_of(record):
    """The wall that a record logs, else the one that its order leaves if the deal follows from it, else None."""
    if "wall" in record:
        return parse_pairs(record["wall"])
    if "proof" not in record:
        return None
    hands, wall = dealt(record["proof"]["order"], record["proof"]["deal"], record["dealer"])
    same = all(sorted(parse(text)) == sorted(hand) for text, hand in zip(record["deal"], hands, strict=True))
    return wall if same else None


def before_play(record, rules):
    """Codes of what is wrong with a round before its first event."""
    codes = []
    tiles = [tile for text in record["deal"] for tile in parse(text)] + (wall_of(record) or [])
    if any(count > 4 for count in Counter(tiles).values()):
        codes.append("fifth_tile")
    if rules["wall.suits"] == "dots_bamboo" and any(tile[1] == "m" for tile in tiles):
        codes.append("wrong_suits")
    if any(not 0 <= piao <= rules["side.piao_max"] for piao in record.get("piao", [0, 0, 0])):
        codes.append("wrong_piao")
    if rules["stake.base"] and record.get("base", 1) != rules["stake.base"]:
        codes.append("wrong_base")
    proof = record.get("proof")
    if proof:
        hands, wall = dealt(proof["order"], proof["deal"], record["dealer"])
        same = all(sorted(parse(text)) == sorted(hand) for text, hand in zip(record["deal"], hands, strict=True))
        if not same or ("wall" in record and parse_pairs(record["wall"]) != wall):
            codes.append("deal_not_from_order")
        digest = sha256((proof["salt"] + proof["order"]).encode()).hexdigest()
        if digest != proof["commit"].lower():
            codes.append("commit_mismatch")
    return codes


def play(record, rules):
    """Plays a round: {"violations": [(event index, code)], …} and, when there are none, its outcome.

    Codes of the whole round have index None; those of the deal come first and don't stop the play, that of a missing
    end comes last.

    The outcome: "ledger" [(cause, from, to, points)], "wins", "kongs" (net points a seat), "end", "next_dealer",
    "next_raise", "points" (net of the whole ledger, the fee in), "table" (the final Table).
    """
    table = start(record, rules)
    events = record["events"].split()
    violations = [(None, code) for code in before_play(record, rules)]
    for index, token in enumerate(events):
        before = len(table.wins)
        try:
            apply(table, token)
        except Illegal as illegal:
            violations.append((index, str(illegal)))
            return {"violations": violations, "table": table}
        for win in table.wins[before:]:
            win["event"] = index
    if table.end is None:
        violations.append((None, "missing_event"))
        return {"violations": violations, "table": table}
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
        "violations": violations,
        "ledger": ledger,
        "wins": table.wins,
        "kongs": kongs,
        "end": table.end,
        "next_dealer": next_dealer(table),
        "next_raise": next_raise(table),
        "points": points,
        "table": table,
    }
