"""A second, literal judgement of a game's log lines: every record against itself, and against the round before it.

`judge(lines)` takes the lines of a game, all readable, and gives [(place in `lines`, event, code)]: what `oracle.play`
finds illegal, what the record claims otherwise than the oracle settles it, and what the rounds of the game say of one
another.  Codes of a whole round have event None.  Where a round holds an illegal event nothing after it is judged.
"""

import json
from functools import lru_cache
from hashlib import sha256

from oracle import play
from oracle_rules import values


def compare(record, paid):
    """[(event, code)] of what `result` claims otherwise than the oracle; a key that isn't there claims nothing."""
    result = record.get("result")
    if result is None:
        return []
    found = []
    if "end" in result and result["end"] != paid["end"]:
        found.append((None, "end"))
    if "wins" in result:
        claimed, seats = result["wins"], [win["seat"] for win in paid["wins"]]
        for win in paid["wins"]:
            same = [one for one in claimed if one["seat"] == win["seat"]]
            if not same:
                found.append((win["event"], "winner"))
            for one in same[:1]:  # one listed again is a wrong winner, below
                for key, code in (("from", "payer"), ("tile", "tile"), ("fans", "fans"), ("multiple", "multiple")):
                    if (key in one or key == "from") and one.get(key) != win[key]:
                        found.append((win["event"], code))
        if any(one["seat"] not in seats for one in claimed) or len({one["seat"] for one in claimed}) < len(claimed):
            found.append((None, "winner"))
    if "kongs" in result and result["kongs"] != paid["kongs"]:
        found.append((None, "kongs"))
    fee = 0 if paid["end"] == "aborted" else paid["table"].rules["stake.fee"] * paid["table"].base
    if "fee" in result and result["fee"] != fee:
        found.append((None, "fee"))
    if result["points"] != paid["points"]:
        found.append((None, "points"))
    return found


def sheets(record):
    """The values of a record's ruleset, as the sheets have them."""
    return values(record["rules"], record.get("options"))


@lru_cache(maxsize=4096)
def alone(text, rules_of):
    """([(event, code)], the outcome or None where the round has no legal end) of a record, as JSON."""
    record = json.loads(text)
    paid = play(record, rules_of(record))
    found = list(paid["violations"])
    whole = "points" in paid
    if whole:
        found += compare(record, paid)
    return found, {key: paid[key] for key in ("points", "next_dealer", "next_raise", "end")} if whole else None


def outcome(record, rules_of=sheets):
    """`alone` of a record, whatever its game, number and place in a chain."""
    kept = {key: value for key, value in record.items() if key not in ("game", "round", "prev", "site", "times")}
    return alone(json.dumps(kept), rules_of)


def raise_fits(record, rules, left):
    """Whether the logged raise is what the round before left (None: not known) with the doubling of equal dice."""
    raised = record.get("raise", 0)
    if not rules["side.raise"]:
        return raised == 0
    if left is None and rules["side.raise_accumulates"]:
        return raised >= 0
    before = [0, 1] if left is None else [left]
    own = [0]
    if rules["side.raise_on_dice"]:
        own = [int(record["dice"][0] == record["dice"][1])] if "dice" in record else [0, 1]
    return raised in [one + two for one in before for two in own]


def table_of(record):
    """What a game keeps from round to round: rules, options, suits and base."""
    suits = {sign for hand in record["deal"] for sign in hand if sign in "mps"}
    return record["rules"], record.get("options", {}), suits, record.get("base", 1)


def judge(lines, rules_of=sheets):
    """Everything wrong with a game: [(place, event, code)] in the order of its rounds.  An equal line is skipped.

    rules_of(record): the values of its ruleset.
    """
    rows, known = [], set()
    for place, line in enumerate(lines):
        if line not in known:
            rows.append((place, json.loads(line), sha256(line.encode()).hexdigest()))
        known.add(line)
    rows.sort(key=lambda row: (row[1].get("site", ""), row[1]["game"], row[1]["round"]))
    chained = {row[1]["game"] for row in rows if "prev" in row[1]}
    found, before, key_of = [], None, ("site", "game")
    for place, record, digest in rows:
        rules = rules_of(record)
        faults, paid = outcome(record, rules_of)
        found += [(place, event, code) for event, code in faults]
        follows = before is not None and [before[1].get(key) for key in key_of] == [record.get(key) for key in key_of]
        number, left, codes = record["round"], None, []
        if not follows and number == 0:
            left = 0
            if rules["dealer.first"] == "seat_0" and record["dealer"] != 0:
                codes.append("wrong_dealer")
        if follows:
            if record["game"] in chained and record.get("prev", "").lower() != before[2]:
                if number == before[1]["round"] + 1 or "prev" not in record:
                    codes.append("chain_broken")
            if table_of(record) != table_of(before[1]):
                codes.append("changed_table")
            if number != before[1]["round"] + 1:
                codes.append("lost_round")
            elif before[3] is not None:
                left = before[3]["next_raise"]
                if record["dealer"] != before[3]["next_dealer"]:
                    codes.append("wrong_dealer")
        if not raise_fits(record, rules, left):
            codes.append("wrong_raise")
        found += [(place, None, code) for code in codes]
        before = (place, record, digest, paid)
    return found
