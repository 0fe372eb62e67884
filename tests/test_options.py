"""Decisions and their options: what the literal engine allows, no more and no less, and facts found by trying."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from oracle import start
from oracle_hand import waits
from oracle_moves import apply
from oracle_player import random_round, tried
from oracle_table import pairs, waits_now
from test_simulate import OPEN, SLOW, slow_shanten

from ingest.events import VERBS
from ingest.read import Reader
from ingest.tiles import NAMES
from replay import ruleset
from replay.batch import Replayer
from replay.review import ACTIONS, Reviewer, describe, prepare
from replay.simulate import simulate

LETTER = {word: VERBS[verb] for verb, word in ACTIONS.items()}


def room(rng, ident):
    """Room options of a ruleset, some of them drawn."""
    while True:
        listed = ruleset.family(ident).options
        options = {key: rng.choice(values) for key, values in listed.items() if rng.random() < 0.4}
        if ruleset.check(ident, options) is None:
            return options


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """[(record, its row of `rounds`, piao)]: legal random rounds of every ruleset, and simulated ones."""
    rng, records = random.Random(31), []
    for ident in ruleset.ids():
        options = room(rng, ident)
        records.append(random_round(rng, ident, options, ruleset.load(ident, options).values, len(records)))
        policy = (SLOW, OPEN)[len(records) // 2 % 2]
        for batch in simulate(ident, 1, rng.randrange(1000), room(rng, ident), policy=policy, lines=True):
            records += map(json.loads, batch["raw"].to_pylist())
    path = tmp_path_factory.mktemp("options") / "rounds.jsonl"
    lines = [json.dumps(record | {"game": f"g{n}", "round": 0}) for n, record in enumerate(records)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    replayer, rows = Replayer(explain=False), {}
    for batch in Reader([str(path)], check_rules=ruleset.check):
        for row in replayer.feed(batch.rounds)["rounds"].to_pylist():
            rows[row["game"]] = row
    return [(one, rows[f"g{n}"], one.get("piao", [0, 0, 0])) for n, one in enumerate(records)]


def hidden_of(row):
    """The triplets that the row's options would keep face down, "" where none has a reveal."""
    return next(("".join(option["hidden"]) for option in row["options"] if option["reveal"]), "")


def turn_moves(table, hidden):
    """The literal engine's moves of the seat in turn: {(action letter, tile or None, with a reveal)}.

    Without kongs after a reveal that may leave no legal discard.
    """
    seat = table.turn
    held = sorted(set(table.hands[seat]))
    found = set()
    shown = tried(table, f"{seat}l{hidden}")[0]
    for reveal, at in ((False, table), (True, shown)):
        if at is None:
            continue
        for letter, tile in [(letter, tile) for letter in "xyca" for tile in held]:
            later = tried(at, f"{seat}{letter}{tile}")[0]
            if later and not (letter in "ca" and at.revealing and not set(waits_now(later, seat)) - {tile}):
                found.add((letter.replace("y", "x"), tile, reveal))
        if not reveal:
            tiles = [table.drawn] if table.drawn else held
            found |= {("w", None, False) for tile in tiles if tried(at, f"{seat}w{tile}")[0]}
            found |= {("e", None, False)} if tried(at, "e")[0] else set()
    return found


def claim_moves(table, seat):
    """The same at another seat's open tile; a pass where there is something to pass."""
    claims = {letter for letter in "wkp" if tried(table, f"{seat}{letter}{table.last}{table.turn}")[0]}
    return {(letter, None, False) for letter in claims | ({"n"} if claims else set())}


def done(rest, seat, moves):
    """The letter of what a seat did about an open tile, `rest` the tokens after it; None where it was cut off: others
    won before it could claim, or the platform broke off."""
    for token in rest:
        if token[0] == str(seat) and token[1] in "wnpk":
            return token[1]
        if token[1:2] not in ("w", "n", "l"):
            return None if token == "z" else "n"
    return "n" if ("w", None, False) in moves else None


def offered(row):
    """The options of a decision in the same terms."""
    own = [(LETTER[option["action"]], option) for option in row["options"]]
    plain = "wkpne" if row["claim"] else "we"
    return {(letter, None if letter in plain else option["tile"], option["reveal"]) for letter, option in own}


def test_options_are_the_legal_moves_of_the_literal_engine(rounds):
    reviewer, seen = Reviewer(), Counter()
    for number, (record, row, piao) in enumerate(rounds):
        one = prepare(row, piao)
        rows = [describe(one, *found, None) for found in reviewer.find(one, 7)]
        decisions = {(one["event"], one["seat"]): one for one in rows}
        assert len(decisions) == len(rows)
        table = start(record, ruleset.load(record["rules"], record.get("options", {})).values)
        tokens, after_reveal = record["events"].split(), False
        for event, token in enumerate(tokens):
            where = record["rules"], record.get("options"), event, record["events"]
            actor = table.turn if token == "e" else int(token[0]) if token != "z" else None
            looked_at = (event + number) % 4 == 0
            if table.phase in ("turn", "punged") and actor == table.turn and not after_reveal and looked_at:
                found = decisions.pop((event, actor), None)
                moves = turn_moves(table, hidden_of(found) if found else "")
                assert found is None and len(moves) < 2 or offered(found) == moves, where
                if found:
                    played = found["options"][found["played"]]
                    seen[played["action"], played["reveal"]] += 1
                    assert played["reveal"] == (token[1:2] == "l"), where
                    assert played["reveal"] or LETTER[played["action"]] == (token[1:2] or token).replace("y", "x")
                    assert played["action"] != "discard" or played["reveal"] or played["tile"] == token[2:4], where
            after_reveal = token[1:2] == "l" and table.phase in ("turn", "punged") and actor == table.turn
            before = table.phase
            apply(table, token)
            if table.phase in ("discarded", "added") and before not in ("discarded", "added"):
                for seat in {0, 1, 2} - {table.turn}:
                    moves, found = claim_moves(table, seat), decisions.pop((event + 1, seat), None)
                    did = done(tokens[event + 1 :], seat, moves)
                    assert (offered(found) if found else set()) == (moves if did else set()), where
                    if found:
                        played = found["options"][found["played"]]
                        seen[played["action"], False] += 1
                        assert LETTER[played["action"]] == did, where
                    seen["cut off"] += bool(moves) and not did
        left = [one for one, row in decisions.items() if row["claim"] or (one[0] + number) % 4 == 0]
        assert not left, record["events"]
    assert seen["cut off"]  # by others' wins, or by the platform
    assert set(seen) >= {
        ("win", False), ("pass", False), ("pung", False), ("kong_exposed", False), ("kong_added", False),
        ("kong_concealed", False), ("discard", False), ("discard", True),
    }, seen  # fmt: skip


def test_facts_of_discards_are_those_of_trying_every_tile(rounds):
    """Shanten and useful tiles by search, waits by the literal engine, live copies by counting what lies open."""
    reviewer, checked = Reviewer(), 0
    for record, row, piao in rounds[::17]:
        one, rules = prepare(row, piao), ruleset.load(record["rules"], record.get("options", {})).values
        names = NAMES[row["suits"]]
        decisions = {}
        for found in reviewer.find(one, 7):
            shown = describe(one, *found, None)
            if not shown["claim"]:
                decisions[shown["event"]] = shown
        table = start(record, rules)
        river = Counter()
        for event, token in enumerate(record["events"].split()):
            if event in decisions and event % 4 == 0:
                seat = table.turn
                mine, melds = table.hands[seat], table.melds[seat]
                lying = Counter(river)
                for other in range(3):
                    for meld in table.melds[other]:  # a claimed tile has left the river for its meld
                        lying[meld["tile"]] += 3 if meld["kind"] == "pung" else 4
                    if other != seat and other in table.revealed:
                        for tile, count in Counter(table.hands[other]).items():
                            lying[tile] += count - 3 * (tile in table.hidden[other])
                for option in decisions[event]["options"]:
                    if option["action"] != "discard" or option["reveal"]:
                        continue
                    rest = list(mine)
                    rest.remove(option["tile"])
                    counts = [rest.count(name) for name in names]
                    away = slow_shanten(counts, len(melds))
                    useful = []
                    for kind, name in enumerate(names):
                        own = sum((3 if meld["kind"] == "pung" else 4) for meld in melds if meld["tile"] == name)
                        if counts[kind] + own < 4:
                            counts[kind] += 1
                            if slow_shanten(counts, len(melds)) < away:
                                useful.append([name, 4 - mine.count(name) - lying[name]])
                            counts[kind] -= 1
                    assert option["shanten"] == away
                    assert option["useful"] == useful
                    assert option["useful_live"] == sum(live for _, live in useful)
                    if seat not in table.dead:
                        held_four = rules["win.wait_held_four"]
                        expected = waits(rest, pairs(table, seat), table.hidden[seat], held_four)
                        assert {name for name, _ in option["waits"]} == set(expected)
                    feeds = [
                        other for other in table.revealed
                        if other != seat and option["tile"] in waits(
                            table.hands[other], pairs(table, other), table.hidden[other], rules["win.wait_held_four"])
                    ]  # fmt: skip
                    assert option["danger"] == sorted(feeds)
                    checked += 1
            if token[1:2] in ("x", "y"):
                river[token[2:4]] += 1
            if token[1:2] in ("p", "k"):
                river[token[2:4]] -= 1
            apply(table, token)
    assert checked > 80


def test_every_option_can_be_played_to_an_end(rounds):
    """Under every ruleset, and where the log does not say which triplets a reveal hides."""
    reviewer, count = Reviewer(), 0
    for _, row, piao in rounds:
        for version in (row, row | {"hidden_from": None}):
            one = prepare(version, piao)
            for decision, options in reviewer.find(one, 7):
                count += reviewer.results(one, decision, options, 0, 1, np.ones(len(options), bool)).size
    assert count > 10_000
