"""The mutation gate: falsified logs through reader, replay and game level, each judged by the oracle as well.

`mutants` makes games with one falsification each, `run` lets the engine and the oracle judge them and gives a Verdict
for every one.  Nothing may be "missed", "elsewhere" or "false alarm".
"""

import json
import random
import tempfile
from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from mutants import operators, pairs, split, written
from oracle_game import judge, outcome
from oracle_player import random_round
from oracle_rules import DIFFERENCES, values

from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer
from replay.games import check_games
from replay.problems import VIOLATIONS

RECORD, GAME = operators()
BEFORE_PLAY = {"fifth_tile", "wrong_suits", "wrong_piao", "wrong_base", "deal_not_from_order", "commit_mismatch"}
BETWEEN = {"wrong_dealer", "wrong_raise", "lost_round", "chain_broken", "changed_table"}
TWO = "two_changes"  # of one record
CHUNK = 1000  # games of one file
VERDICTS = ("caught", "refused", "legal", "unbound", "missed", "elsewhere", "false alarm")


class Tier(NamedTuple):
    """What a log tells beside its deals and events."""

    wall: bool
    result: bool
    proof: bool
    chain: bool
    game: bool  # all rounds of the game, or one alone


TIERS = {
    "wall, result, commitment, chained game": Tier(True, True, True, True, True),
    "wall, result, game": Tier(True, True, False, False, True),
    "wall, result": Tier(True, True, False, False, False),
    "wall, commitment": Tier(True, False, True, False, False),
    "wall, game": Tier(True, False, False, False, True),
    "result, commitment, game": Tier(False, True, True, False, True),
    "result, game": Tier(False, True, False, False, True),
    "result": Tier(False, True, False, False, False),
    "events alone": Tier(False, False, False, False, False),
}


class Mutant(NamedTuple):
    """A falsified game: its lines, what they were before (`place` is the falsified one), and how it was made."""

    operator: str
    tier: str
    rules: str
    lines: list
    original: list
    place: int


class Verdict(NamedTuple):
    """`verdict` is one of VERDICTS; `engine` and `oracle` [(place, event, code)], `oracle` None where it wasn't asked.

    caught: engine and oracle name the same first event; or the engine names one and the oracle was not asked.
    refused: the reader refuses a line.  legal: both find nothing, and the round pays as it did.  unbound: both find
    nothing, and the log records no result that the other payments would contradict.
    """

    mutant: Mutant
    verdict: str
    engine: list
    oracle: list | None


def committed(record, salt):
    """The commitment to a record's deal and wall, dealt one tile at a time."""
    hands, dealer = [split(hand) for hand in record["deal"]], record["dealer"]
    last = hands[dealer].pop()
    order = [hands[(dealer + step) % 3][place] for place in range(13) for step in range(3)]
    text = "".join([*order, last, *pairs(record["wall"])])
    commit = sha256((salt + text).encode()).hexdigest()
    return {"scheme": "sha256", "commit": commit, "salt": salt, "order": text, "deal": "one"}


def game_lines(records, tier, name):
    """The lines of a game in a tier, under another name, chained where the tier is."""
    lines = []
    for record in records:
        record = {key: value for key, value in record.items() if key not in ("prev", "proof") and key[0] != "_"}
        record["game"] = name
        if tier.proof:
            record["proof"] = committed(record, f"salt {record['round']}")
        if tier.chain and lines:
            record["prev"] = sha256(lines[-1].encode()).hexdigest()
        if not tier.wall:
            del record["wall"]
        if not tier.result:
            record.pop("result", None)
        lines.append(written(record))
    return lines


def random_games(rng, rounds):
    """Games of one random legal round each, of all rulesets with random options."""
    games = []
    names = sorted(DIFFERENCES)
    while len(games) < rounds:
        name = names[len(games) % len(names)]
        allowed = ruleset.load(name).options_allowed
        options = {key: rng.choice(few) for key, few in allowed.items() if rng.random() < 0.4}
        if ruleset.check(name, options) is None:
            record = random_round(rng, name, options, values(name, options))
            games.append([record | {"round": 3}])  # not a game's first round, of which rulesets ask more
    return games


def sound(games):
    """The (game, tier name) pairs that engine and oracle find nothing wrong with; {tier: how many are left out}.

    Left out are rounds whose payments hang on a wall that the tier takes away.
    """
    asked = []
    for records in games:
        for name, tier in TIERS.items():
            for place in [None] if tier.game else range(len(records)):
                part = records if place is None else [records[place]]
                if tier.game and len(records) == 1:
                    continue
                asked.append((part, name, game_lines(part, tier, f"b{len(asked)}")))
    fine, left_out = [], Counter()
    for start in range(0, len(asked), CHUNK):
        some = asked[start : start + CHUNK]
        for (part, name, lines), found in zip(some, engine([lines for *_, lines in some]), strict=True):
            if found or judge(lines):
                left_out[name] += 1
            else:
                fine.append((part, name))
    return fine, left_out


def mutants(rng, pool, count):
    """`count` mutants: every operator equally often on each tier where it finds something to change."""
    by_tier = defaultdict(list)
    for part, name in pool:
        by_tier[name].append(part)
    made, turn = 0, 0
    names = [(tier, name) for tier in by_tier for name in [*RECORD, *GAME, TWO]]
    while made < count:
        tier, name = names[turn % len(names)]
        turn += 1
        for _ in range(12):  # places to try
            records = rng.choice(by_tier[tier])
            original = game_lines(records, TIERS[tier], f"m{made}")
            place = rng.randrange(len(original))
            lines = falsified(rng, name, original, place)
            if lines and lines != original:
                yield Mutant(name, tier, records[0]["rules"], lines, original, place)
                made += 1
                break


def falsified(rng, name, original, place):
    """The lines with one falsification, or False."""
    if name == TWO:
        names = rng.sample(sorted(RECORD), 2)
        record = json.loads(original[place])
        try:
            changed = [RECORD[one](rng, record) for one in names]
        except (IndexError, KeyError, TypeError, ValueError):  # the first change left the second nothing to work on
            return False
        return False if False in changed else [*original[:place], written(record), *original[place + 1 :]]
    if name in GAME:
        return GAME[name](rng, list(original), place)
    record = json.loads(original[place])
    if RECORD[name](rng, record) is False:
        return False
    return [*original[:place], written(record), *original[place + 1 :]]


def engine(games, see=None):
    """What ingest and replay find in games of lines: for each [(place, event, code)], rejects as "reject:code".

    see(rounds, tables): called with each batch and what replay made of it.
    """
    owner = [(game, place) for game, lines in enumerate(games) for place in range(len(lines))]
    found = [[] for _ in games]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutants.jsonl"
        path.write_text("".join(line + "\n" for lines in games for line in lines), encoding="utf-8")
        replayer, rounds = Replayer(explain=False), []
        for batch in Reader([str(path)], check_rules=ruleset.check):
            for row in batch.rejects.select(["line", "code"]).to_pylist():
                game, place = owner[row["line"] - 1]
                found[game].append((place, None, "reject:" + row["code"]))
            tables = replayer.feed(batch.rounds)
            note(found, owner, tables["problems"])
            if see:
                see(batch.rounds, tables)
            rounds.append(tables["rounds"].drop_columns(["events", "deal", "wall", "times", "event_no"]))
        note(found, owner, check_games(pa.concat_tables(rounds)))
    return found


def note(found, owner, problems):
    for row in problems.select(["line", "event", "code"]).to_pylist():
        game, place = owner[row["line"] - 1]
        found[game].append((place, row["event"], row["code"]))


def first_events(found):
    """{place: (codes before play, the first illegal event, mismatches)} of the findings of one side."""
    out = {}
    for place in {place for place, *_ in found}:
        here = {(event, code) for at, event, code in found if at == place and code not in BETWEEN}
        before = {code for event, code in here if event is None and code in BEFORE_PLAY}
        events = [event for event, code in here if event is not None and code in VIOLATIONS]
        rest = {(None, "points") if code == "horse" else (event, code) for event, code in here}
        rest = {(event, code) for event, code in rest if not (event is None and code in BEFORE_PLAY)}
        if "fifth_tile" in before:
            events = []
        if before:  # the first fault stands there; what it costs is another question
            rest = set()
        if before or events or rest:
            out[place] = (before, min(events, default=None), set() if events else rest)
    return out


def agree(mine, theirs):
    """Whether the findings of engine and oracle name the same first events, and the same faults between rounds."""
    one, two = first_events(mine), first_events(theirs)
    if one != two:
        return False
    # After an illegal event the sides need not agree on how a round ended, so not on what the next one should be.
    if any(event is not None or "fifth_tile" in before or (None, "missing_event") in rest
           for before, event, rest in one.values()):  # fmt: skip
        return True
    both = [{(place, code) for place, _, code in found if code in BETWEEN} for found in (mine, theirs)]
    return both[0] == both[1]


def verdict(mutant, found, theirs, points):
    """The Verdict on one mutant.

    found, theirs: what engine and oracle find, `theirs` None where the oracle wasn't asked; points: of all rounds, now
    and before the falsification.
    """
    if any(code.startswith("reject:") for *_, code in found):
        return Verdict(mutant, "refused", found, None)
    if found and theirs is None:
        return Verdict(mutant, "caught", found, None)
    if found and theirs:
        return Verdict(mutant, "caught" if agree(found, theirs) else "elsewhere", found, theirs)
    if found or theirs:
        return Verdict(mutant, "false alarm" if found else "missed", found, theirs)
    now, then = points
    return Verdict(mutant, "legal" if now == then or len(now) != len(then) else "unbound", found, theirs)


def pay(lines):
    return sorted(outcome(json.loads(line))[1]["points"] for line in set(lines))


def run(rng, pool, count, share=1.0):
    """Verdicts on `count` mutants, one by one; the oracle judges a `share` of those that the engine catches."""
    waiting = []
    made = mutants(rng, pool, count)
    picks = random.Random(7)
    while True:
        waiting = [mutant for _, mutant in zip(range(CHUNK), made, strict=False)]
        if not waiting:
            return
        for mutant, found in zip(waiting, engine([mutant.lines for mutant in waiting]), strict=True):
            asked = not found or picks.random() < share
            refused = any(code.startswith("reject:") for *_, code in found)
            theirs = judge(mutant.lines) if asked and not refused else None
            points = ([], []) if found or theirs else (pay(mutant.lines), pay(mutant.original))
            yield verdict(mutant, found, theirs, points)
