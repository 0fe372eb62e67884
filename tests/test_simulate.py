"""Simulated rounds: seeded, legal under every ruleset, agreed by the literal engine, and full of what can happen."""

import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from hashlib import sha256
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from oracle import play

from ingest import events
from ingest.read import Reader
from ingest.tiles import names
from replay import chance, ruleset, simulate
from replay.batch import Replayer
from replay.check import problems
from replay.games import check_games
from replay.hand import tables
from replay.jit import jit, record
from replay.policy import Policy
from replay.shanten import distances, shanten, useful_tiles
from replay.state import STATE

ROOT = Path(__file__).parent.parent
PLAIN = Policy()
# Nobody hurries to win: walls run out, wins are missed, kongs chain, dead hands and void kongs happen.
SLOW = Policy(win=0.3, self_draw=0.05, reveal=0.3, pung=0.9, pung_idle=0.4, kong=1, kong_idle=1, between=0.5, short=0.1,
              void_kong=1, defend=0.5)  # fmt: skip
# Everything on the table and open: few safe tiles, robbed kongs, double wins.
OPEN = Policy(win=0.5, self_draw=0.2, reveal=0.9, pung=1, pung_idle=0.8, kong=0.9, between=1, defend=0.1)


def chosen(ident: str, rng: random.Random) -> dict:
    """Room options of a ruleset, each left alone or drawn."""
    while True:
        listed = ruleset.family(ident).options
        options = {key: rng.choice(values) for key, values in listed.items() if rng.random() < 0.6}
        if ruleset.check(ident, options) is None:
            return options


def lines(*arguments, **more) -> list[str]:
    """The log lines of a simulation."""
    return [raw for batch in simulate.simulate(*arguments, lines=True, **more) for raw in batch["raw"].to_pylist()]


def digest(*arguments, **more) -> str:
    return sha256("\n".join(lines(*arguments, **more)).encode()).hexdigest()


# Random numbers


def test_splitmix64_gives_the_published_numbers():
    stream = record(chance.STREAM)
    stream.state = np.uint64(1234567)
    with np.errstate(over="ignore"):
        found = [int(chance.bits(stream)) for _ in range(5)]
    assert found == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


def test_every_order_of_a_shuffle_is_equally_likely():
    stream, counts = record(chance.STREAM), Counter()
    with np.errstate(over="ignore"):
        chance.start(stream, np.uint64(1), 2, 3, 4)
        for _ in range(2400):
            array = np.arange(4)
            chance.shuffle(stream, array)
            counts[tuple(array.tolist())] += 1
    assert set(counts) == set(permutations(range(4)))
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 49.7  # chi-squared, 23 degrees, p = 0.001


# Shanten


@jit
def counted(st, tb, sh, live):
    """(shanten, useful tiles) of seat 0."""
    return shanten(st, sh, 0), useful_tiles(st, tb, sh, 0, live)


def targets(places: int, runs: bool) -> dict[tuple[int, int], np.ndarray]:
    """All sets of tiles of one part that are (melds, pairs), as counts."""
    unit = np.eye(places, dtype=np.int64)
    shapes = [3 * unit[at] for at in range(places)]
    if runs:
        shapes += [unit[at] + unit[at + 1] + unit[at + 2] for at in range(places - 2)]
    found, melds = {}, np.zeros((1, places), np.int64)
    for count in range(5):
        paired = np.concatenate([melds + 2 * unit[at] for at in range(places)])
        found[count, 0], found[count, 1] = melds, paired[(paired <= 4).all(axis=1)]
        melds = np.unique(np.concatenate([melds + shape for shape in shapes]), axis=0)
        melds = melds[(melds <= 4).all(axis=1)]
    return found


SUIT, DRAGONS = targets(9, True), targets(3, False)


@cache
def lacking(part: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Tiles that a part lacks for (melds, pairs): the nearest of all targets."""
    goals = SUIT if len(part) == 9 else DRAGONS
    return {
        goal: int(np.maximum(counts - np.array(part), 0).sum(axis=1).min()) if len(counts) else 99
        for goal, counts in goals.items()
    }


def slow_shanten(counts: list[int], melds: int) -> int:
    parts = [lacking(tuple(counts[at : at + 9])) for at in (0, 9, 18)]
    away = 99
    for split in product(range(5 - melds), repeat=3):
        if sum(split) == 4 - melds:
            for eyes in range(3):
                away = min(away, sum(parts[n][split[n], int(n == eyes)] for n in range(3)) - 1)
    return min(away, 6 - sum(count // 2 for count in counts)) if melds == 0 else away


def test_shanten_and_useful_tiles_agree_with_trying():
    rng, tb, sh = random.Random(4), tables(), distances()
    for turn in range(60):
        melds = turn % 5
        kinds = [kind for kind in range(21) for _ in range(4) if turn % 3 or kind < 12]
        hand = rng.sample(kinds, 13 - 3 * melds)
        counts = [hand.count(kind) for kind in range(21)]
        st = record(STATE)
        st.melds[0], st.tiles[0] = melds, len(hand)
        for kind, count in enumerate(counts):
            st.hand[0, kind] = count
            st.key[0, kind // 9] += count * tb.pow5[kind]
            st.odd[0] ^= (count & 1) << kind
        live = np.array([rng.randrange(4) for _ in range(21)])
        away = slow_shanten(counts, melds)
        useful = 0
        for kind in range(21):
            if counts[kind] < 4:
                counts[kind] += 1
                useful += int(live[kind]) if slow_shanten(counts, melds) < away else 0
                counts[kind] -= 1
        assert counted(st, tb, sh, live) == (away, useful), (hand, melds)


# The same seed, the same bytes


def test_rounds_depend_on_the_seed_alone():
    """Not on the size of batches, nor on how many rounds are asked for, nor on what was simulated before."""
    whole = lines("hubei", 60, 7)
    assert lines("hubei", 60, 7, batch_rounds=1) == whole
    assert lines("hubei", 60, 7, batch_rounds=13) == whole
    assert lines("hubei", 31, 7) == whole[:31]
    assert lines("hubei", 60, 8) != whole
    assert len({json.loads(line)["proof"]["order"] for line in whole}) == 60


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet"])
def test_files_are_the_same_twice(tmp_path, suffix):
    told = []
    for name in "ab":
        simulate.write(tmp_path / f"{name}{suffix}", "qichun", {"score.cap": 8}, 30, 5, progress=told.append)
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    assert told == [30, 30]  # the rounds of each batch
    reader = Reader([str(tmp_path / f"a{suffix}")], check_rules=ruleset.check)
    assert list(problems(reader))[-1]["clean"] == 30


def test_uncompiled_play_is_the_same():
    """The compiled simulator against the same code as plain Python, in a process of its own."""
    code = (
        "from tests.test_simulate import *\n"
        "print([digest(ident, 4, 3, policy=SLOW) for ident in ('parlour', 'qichun', '3d_xiaogan')])"
    )
    environment = os.environ | {"KWX_JIT": "0", "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert run.stderr == ""
    found = [digest(ident, 4, 3, policy=SLOW) for ident in ("parlour", "qichun", "3d_xiaogan")]
    assert run.stdout.strip() == str(found)


def test_the_deck_does_not_depend_on_how_it_is_played():
    """Same seed, other policies: the first rounds of all games are dealt from the same orders."""
    orders = [
        [json.loads(line)["proof"]["order"] for line in lines("hubei", 40, 1, policy=policy) if '"round":0,' in line]
        for policy in (PLAIN, OPEN)
    ]
    least = min(map(len, orders))
    assert least >= 3 and orders[0][:least] == orders[1][:least]


# Legal, and paid as the rules say


@pytest.mark.parametrize("ident", ruleset.ids())
def test_nothing_is_found_in_simulated_rounds(ident):
    rng, replayer, kept = random.Random(ident), Replayer(explain=False), []
    for turn, policy in enumerate((None, SLOW, OPEN)):
        for batch in simulate.simulate(ident, 150, turn, chosen(ident, rng), policy=policy, lines=True):
            out = replayer.feed(batch)
            assert out["problems"].to_pylist() == []
            assert set(out["rounds"]["verdict"].to_pylist()) == {"clean"}
            assert set(out["rounds"]["proof"].to_pylist()) == {"commitment"}
            kept.append(out["rounds"])
    assert check_games(pa.concat_tables(kept)).to_pylist() == []


@pytest.mark.parametrize("ident", ruleset.ids())
def test_the_literal_engine_agrees(ident):
    rng = random.Random(f"oracle {ident}")
    for turn, policy in enumerate((None, SLOW, OPEN)):
        options = chosen(ident, rng)
        values = ruleset.load(ident, options).values
        for line in lines(ident, 8, 50 + turn, options, policy=policy):
            logged = json.loads(line)
            found = play(logged, values)
            result = logged["result"]
            assert found["violations"] == [], line
            assert (found["end"], found["points"], found["kongs"]) == (
                result["end"], result["points"], result["kongs"],
            ), line  # fmt: skip
            wins = [{key: win[key] for key in ("seat", "from", "tile", "fans", "multiple")} for win in found["wins"]]
            assert wins == [{"from": None} | win for win in result["wins"]], line


# What happens


HAPPENINGS = {
    "won on a discard", "drawn by oneself", "kong robbed", "two winners", "exposed kong", "added kong",
    "concealed kong", "kong of a chain", "wall exhausted", "no safe tile", "aborted", "revealed",
    "revealed between turns", "triplet hidden", "win passed", "dead hand", "void kong", "fed in spite of danger",
    "kong by a revealed seat", "last discard won", "dealer's first hand won", "piao", "raised", "refusal logged",
    "any two suits", "payer had revealed",
}  # fmt: skip


def happened(batch: pa.RecordBatch, out: dict[str, pa.Table], counts: Counter) -> None:
    """Count what happened in a batch of simulated rounds."""
    for row in out["kongs"].to_pylist():
        counts[f"{row['kind']} kong"] += 1
        counts["kong of a chain"] += row["chain"] > 1
        counts["kong robbed"] += row["robbed"]
    for row in out["rounds"].to_pylist():
        counts[{"draw": "wall exhausted", "no_safe_tile": "no safe tile"}.get(row["end"], row["end"])] += 1
        counts["two winners"] += row["winners"] == 2
        counts["raised"] += row["raise"] > 0
        counts["any two suits"] += row["suits"] != "ps"
    revealed = defaultdict(dict)
    for row in out["reveals"].to_pylist():
        counts["revealed"] += 1
        counts["triplet hidden"] += row["hidden"] > 0
        revealed[row["round_id"]][row["seat"]] = row["event"]
    for row in out["wins"].to_pylist():
        counts[{"self_draw": "drawn by oneself", "discard": "won on a discard", "rob_kong": "robbed"}[row["by"]]] += 1
        counts["dealer's first hand won"] += row["event"] == 0
        counts["payer had revealed"] += row["from_seat"] in revealed[row["round_id"]]
    for row in out["seats"].to_pylist():
        counts["piao"] += row["piao"] > 0
    for packed in batch["events"].to_pylist():
        tokens = [events.token(event, names()) for event in packed]
        open_seats, drawn = set(), 0
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token[1:2] == "l":
                mine = before is None or (before[0] == token[0] and before[1] in "drp")
                counts["revealed between turns"] += not mine
                open_seats.add(token[0])
            drawn += token[1:2] in ("d", "r")
            if token[1:2] in ("k", "a", "c"):
                counts["kong by a revealed seat"] += token[0] in open_seats
                counts["void kong"] += drawn == 44
            if token[1:2] in ("x", "c", "a") and before and before[0] == token[0] and before[1] in "kca":
                counts["dead hand"] += drawn < 44
            counts["refusal logged"] += token[1:2] == "n"
            counts["last discard won"] += token[1:2] == "w" and len(token) == 5 and drawn == 44
            counts["fed in spite of danger"] += token[1:2] == "w" and len(token) == 5 and token[0] in open_seats


def test_everything_happens():
    counts = Counter()
    replayer = Replayer(explain=False)
    for ident, rounds, policy in (
        ("parlour", 1200, SLOW), ("parlour", 1200, None), ("qichun", 300, OPEN), ("3d_shiyan", 1200, OPEN),
        ("suizhou", 600, SLOW), ("node-kwx_xiangyang", 300, SLOW), ("xiangyang_unlimited", 300, None),
    ):  # fmt: skip
        options = {"side.piao_max": 2} if 2 in ruleset.family(ident).options["side.piao_max"] else {}
        for batch in simulate.simulate(ident, rounds, 2, options, policy=policy):
            happened(batch, replayer.feed(batch), counts)
    # A win that was passed shows in a stream that takes all of them: the same deck ends sooner.
    taken, passed = (
        sum(len(json.loads(line)["events"]) for line in lines("hubei", 100, 3, policy=Policy(win=share)))
        for share in (1.0, 0.2)
    )
    counts["win passed"] += passed > taken
    assert [what for what in sorted(HAPPENINGS) if not counts[what]] == [], counts


def test_accounts_sit_at_one_table_at_a_time():
    busy = defaultdict(list)
    for batch in simulate.simulate("hubei", 800, 6):
        for row in batch.select(["players", "time_ms", "times", "game", "round"]).to_pylist():
            for player in row["players"]:
                busy[player].append((row["time_ms"], row["time_ms"] + sum(row["times"]), row["game"]))
    for spans in busy.values():
        spans.sort()
        assert all(end <= begin for (_, end, _), (begin, _, _) in zip(spans, spans[1:], strict=False))
    assert len(busy) == simulate.ACCOUNTS


def shares(policy: Policy, rounds: int = 1500) -> dict[str, float]:
    """How account u1 fares in one-table rooms where it has this taste and the two others play as usual."""
    replayer, counts = Replayer(explain=False), Counter()
    for batch in simulate.simulate("hubei", rounds, 9, policy={"u1": policy, "u2": PLAIN, "u3": PLAIN}, accounts=3):
        out = replayer.feed(batch)
        seats = [row for row in out["seats"].to_pylist() if row["player"] == "u1"]
        mine = {(row["round_id"], row["seat"]) for row in seats}
        counts["revealed"] += sum(row["revealed"] for row in seats)
        counts["won"] += sum(row["won"] for row in seats)
        counts["dealt in"] += sum(row["dealt_in"] for row in seats)
        for row in out["wins"].to_pylist():
            counts["flushes"] += (row["round_id"], row["seat"]) in mine and "full_flush" in row["fans"]
    return {what: counts[what] / rounds for what in ("revealed", "won", "dealt in", "flushes")}


def test_tastes_show():
    """A policy that always reveals, one that never defends, one that chases one suit, one that discards at random."""
    plain = shares(PLAIN)
    assert shares(Policy(reveal=1))["revealed"] > plain["revealed"] + 0.2
    assert shares(Policy(defend=0))["dealt in"] > shares(Policy(defend=1))["dealt in"] + 0.03
    assert shares(Policy(flush=1000))["flushes"] > 5 * plain["flushes"] + 0.02
    assert shares(Policy(noise=1))["won"] < plain["won"] / 2
    assert 0.25 < plain["won"] < 0.42


# The command


def test_the_command_writes_a_clean_log(cli, tmp_path):
    path = tmp_path / "log.jsonl.zst"
    done = cli("simulate", "--rules", "hubei", "--rounds", 40, "--seed", 1, "--option", "score.cap=16", "-o", path)
    assert (done.code, done.out) == (0, "")
    checked = cli("check", path)
    assert checked.code == 0 and "40 clean" in checked.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hubei", 5, 1 << 64), "seed 18446744073709551616: expected 0 to 2^64 - 1"),
        (("3d", 5, 1), "3d is a parent of rulesets"),
    ],
)
def test_what_cannot_be_simulated_is_said(arguments, message):
    with pytest.raises(simulate.SimulationError, match=message.replace("^", r"\^")):
        next(simulate.simulate(*arguments))


def test_an_unknown_account_is_said():
    with pytest.raises(simulate.SimulationError, match="policy of 'w1': expected accounts u1 to u48"):
        next(simulate.simulate("hubei", 5, 1, policy={"w1": PLAIN}))


def test_no_kong_of_a_hidden_triplet_leaves_a_revealed_hand_without_a_discard() -> None:
    """A hand laid open with four of a kind, three of them face down, the fourth in a run: a kong breaks the run."""
    rules = simulate.playable("kwx-server_shiyan", None)
    played = simulate.Played(100)
    played.add(record(simulate.SIM), rules, simulate.Room(2, simulate.ACCOUNTS, None), 238, 12)
    assert played.rounds > 6
