"""The engine and the literal oracle agree: on hands and waits, on whole rounds, and on what is illegal and where.

Everything is random with fixed seeds.  The oracle (tests/oracle*.py) was written from the sheets alone.
"""

import json
import random
from collections import Counter, defaultdict

import pytest
from oracle import play, start
from oracle_hand import Hand, parse, score, waits
from oracle_player import broken, probes, random_hand, random_round, text, tried
from oracle_rules import DIFFERENCES
from test_oracle import cases, net_by_cause

import replay.score as engine_score
from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer
from replay.problems import VIOLATIONS
from replay.simulate import simulate

SHEETS = sorted(DIFFERENCES)
RULES = ruleset.ids()  # the sheets' rulesets and the public servers' profiles

LOGGED = ("seat", "from", "tile", "fans", "multiple")  # what a log says of a win


def room(rng, name):
    """A ruleset with random options of its own list."""
    while True:
        allowed = ruleset.load(name).options_allowed
        options = {key: rng.choice(values) for key, values in allowed.items() if rng.random() < 0.4}
        try:
            return ruleset.load(name, options)
        except ruleset.RulesetError:  # options that contradict each other
            continue


def engine(records, folder):
    """What the engine makes of records: {row: (violations, mismatches, round, wins, ledger)}, rows as in `records`."""
    path = folder / "rounds.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for row, record in enumerate(records):
            out.write(json.dumps(record | {"round": row, "game": "g"}, separators=(",", ":")) + "\n")
    replayer, found = Replayer(explain=False), {}
    for batch in Reader([str(path)], check_rules=ruleset.check):
        assert batch.rejects.num_rows == 0, batch.rejects.to_pylist()[:3]
        tables = {name: table.to_pylist() for name, table in replayer.feed(batch.rounds).items()}
        rows = {one["round_id"]: one["round"] for one in tables["rounds"]}
        by_round = {name: defaultdict(list) for name in ("problems", "wins", "ledger")}
        for name, grouped in by_round.items():
            for one in tables[name]:
                grouped[rows[one["round_id"]]].append(one)
        for one in tables["rounds"]:
            row = one["round"]
            faults = [(fault["event"], fault["code"]) for fault in by_round["problems"][row]]
            found[row] = (
                [fault for fault in faults if fault[1] in VIOLATIONS],
                [fault for fault in faults if fault[1] not in VIOLATIONS],
                one,
                by_round["wins"][row],
                by_round["ledger"][row],
            )
    assert len(found) == len(records)
    return [found[row] for row in range(len(records))]


def sums(entries):
    total = Counter()
    for cause, payer, payee, points in entries:
        total[cause, payer, payee] += points
    return {key: points for key, points in total.items() if points}


def assert_same_outcome(record, paid, got):
    """The engine's round, wins and ledger are the oracle's."""
    _, _, one, wins, ledger = got
    where = record["rules"], record["options"], record["events"]
    assert (one["end"], one["next_dealer"]) == (paid["end"], paid["next_dealer"]), where
    rows = [(row["cause"], row["from_seat"], row["to_seat"], row["points"]) for row in ledger]
    assert sums(rows) == sums(paid["ledger"]), where
    assert [(win["seat"], win["from_seat"], win["by"], win["fans"], win["multiple"]) for win in wins] == [
        (win["seat"], win["from"], win["by"], win["fans"], win["multiple"]) for win in paid["wins"]
    ], where
    assert one["raise_next"] == paid["next_raise"], where


def test_cases(tmp_path):
    """The rounds of an independent player: clean, paid as it says, by cause."""
    records = cases("rounds")
    for record, (violations, mismatches, one, _, ledger) in zip(records, engine(records, tmp_path), strict=True):
        where = record["game"], record["round"]
        assert (violations, mismatches, one["verdict"]) == ([], [], "clean"), where
        nets = net_by_cause((row["cause"], row["from_seat"], row["to_seat"], row["points"]) for row in ledger)
        assert nets == {cause: net for cause, net in record["_expect"]["ledger"].items() if any(net)}, where
        assert one["next_dealer"] == record["_expect"]["next_dealer"], where


def test_simulated_rounds():
    """Self-play runs on the engine itself: the oracle finds it legal and pays it the same."""
    for name in RULES:
        rules, before = ruleset.load(name), None
        for batch in simulate(name, 24, 6, lines=True):
            for record in map(json.loads, batch["raw"].to_pylist()):
                paid, result = play(record, rules.values), record["result"]
                where = name, record["game"], record["round"]
                assert paid["violations"] == [], where
                assert (paid["end"], paid["points"]) == (result["end"], result["points"]), where
                assert paid["kongs"] == result["kongs"], where
                logged = [{"from": None} | win for win in result["wins"]]
                assert [{key: win[key] for key in LOGGED} for win in paid["wins"]] == logged, where
                if before and before[0] == record["game"]:
                    dice = rules.values["side.raise_on_dice"] and record["dice"][0] == record["dice"][1]
                    assert (record["dealer"], record["raise"]) == (before[1], before[2] + dice), where
                before = record["game"], paid["next_dealer"], paid["next_raise"]


def test_hands():
    rng = random.Random(1)
    fans, incomplete = Counter(), 0
    for _ in range(2000):
        rules, case = room(rng, rng.choice(SHEETS if rng.random() < 0.8 else RULES)), random_hand(rng)
        how = case["by"], case["revealed"], case["after_kong"], case["last_tile"]
        melds = [tuple(meld.split()) for meld in case["melds"]]
        best = score(Hand(parse(case["concealed"]), melds, case["win"], *how), rules.values)
        assert engine_score.score(case, rules) == (best and (best.multiple, best.fans)), (rules.id, rules.options, case)
        fans.update(best.fans if best else [])
        incomplete += best is None
    worth = [item for name in SHEETS for item in ruleset.load(name).values.items() if item[0].startswith("fan.")]
    played = {fan[4:] for fan, value in worth if value}
    assert set(fans) >= played
    assert incomplete > 100


def test_waits():
    rng = random.Random(2)
    some = 0
    for _ in range(1500):
        case = random_hand(rng)
        concealed, melds = parse(case["concealed"]), [tuple(meld.split()) for meld in case["melds"]]
        expected = list(waits(concealed, melds))
        assert engine_score.waits({"concealed": text(concealed), "melds": case["melds"]}) == expected, case
        some += len(expected) > 1
    assert some > 200


@pytest.fixture(scope="module")
def rounds():
    """Legal random rounds of every ruleset and profile."""
    rng = random.Random(3)
    out = []
    for name in SHEETS * 4 + list(RULES) * 2:
        rules = room(rng, name)
        out.append(random_round(rng, name, rules.options, rules.values))
    return out


def test_legal_rounds(rounds, tmp_path):
    ends, causes = Counter(), Counter()
    for record, got in zip(rounds, engine(rounds, tmp_path), strict=True):
        paid = play(record, ruleset.load(record["rules"], record["options"]).values)
        assert (paid["violations"], got[0], got[1]) == ([], [], []), (record["rules"], record["events"])
        assert_same_outcome(record, paid, got)
        ends[paid["end"]] += 1
        causes.update(cause for cause, *_ in paid["ledger"])
    assert set(ends) >= {"win", "draw"}
    assert set(causes) >= {"win", "kong_exposed", "kong_added", "kong_concealed", "piao", "horse", "kan", "draw"}


def test_broken_rounds(rounds, tmp_path):
    rng = random.Random(4)
    mutants = [broken(rng, record) for record in rounds for _ in range(10)]
    for record in mutants:
        record.pop("result")
    codes = Counter()
    for record, got in zip(mutants, engine(mutants, tmp_path), strict=True):
        paid = play(record, ruleset.load(record["rules"], record["options"]).values)
        where = record["rules"], record["options"], record["events"]
        if paid["violations"]:
            assert got[0], (where, paid["violations"])
            assert got[0][0][0] == paid["violations"][0][0], (where, paid["violations"], got[0])
            codes[paid["violations"][0][1]] += 1
        else:
            assert got[0] == [], where
            assert_same_outcome(record, paid, got)
    assert len(codes) >= 10


def test_every_next_event(rounds, tmp_path):
    """At random moments of legal rounds, nearly every event that could be logged next: same verdict, same code."""
    rng = random.Random(5)
    records, expected = [], []
    for record in rounds[::3]:
        events = record["events"].split()
        table = start(record, ruleset.load(record["rules"], record["options"]).values)
        moments = {rng.randrange(len(events)), rng.randrange(len(events)), len(events) - 1}
        for at, event in enumerate(events):
            if at in moments:
                for token in probes(rng, table):
                    records.append(record | {"events": " ".join([*events[:at], token])})
                    records[-1].pop("result")
                    expected.append((at, token, tried(table, token)[1]))
            table = tried(table, event)[0]
    codes = Counter()
    for record, (at, token, code), got in zip(records, expected, engine(records, tmp_path), strict=True):
        found = [one for event, one in got[0] if event is not None and event <= at]
        where = record["rules"], record["options"], record["events"], token
        assert (code in found) if code else (found == []), (where, code, found)
        codes[code] += 1
    assert len(codes) >= 12
