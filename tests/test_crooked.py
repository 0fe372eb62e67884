"""Planted cheats: legal where they are meant to be, of the size they claim, labelled where they happened, and nowhere
else: who doesn't cheat plays as ever."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from ingest import events
from ingest.read import Reader
from ingest.tiles import names
from replay import crooked, ruleset, simulate
from replay.batch import Replayer
from replay.cheats import KINDS, CheatError
from replay.check import problems
from replay.games import check_games
from replay.labels import Labels

ROOT = Path(__file__).parent.parent
KIND = {name: kind for kind, name in enumerate(names())}
COLUMNS = ["game", "round", "players", "dealer", "dice", "base", "raise", "deal", "wall", "proof_order", "events",
           "times", "time_ms", "result_points", "result_wins"]  # fmt: skip
DISCARDS = (events.DISCARD, events.DISCARD_DRAWN)
DRAWS = (events.DRAW, events.REPLACEMENT)


class Corpus(NamedTuple):
    """Simulated rounds as dicts, what was planted, and what the cheats did."""

    rounds: list[dict]
    planted: list[dict]
    acts: list[dict]
    sums: list[dict]

    def acted(self) -> list[tuple[dict, dict]]:
        """Every act with its round."""
        at = {(row["game"], row["round"]): row for row in self.rounds}
        return [(act, at[act["game"], act["round"]]) for act in self.acts]


@cache
def made(*cheats: str, rules: str = "hubei", rounds: int = 1500, seed: int = 11, accounts: int | None = None,
         options: str = "{}") -> Corpus:  # fmt: skip
    labels, rows = Labels(), []
    for batch in crooked.play(
        rules, rounds, seed, json.loads(options), cheats=cheats, accounts=accounts, labels=labels
    ):
        rows += batch.select(COLUMNS).to_pylist()
    by = defaultdict(list)
    for label in labels.rows:
        by[label["label"]].append(label)
    return Corpus(rows, by["cheat"] + by["honest"], by["act"], by["sum"])


def moves(row: dict) -> list[tuple[int, int, int, int]]:
    """(seat, verb, tile, seat claimed from) of each event."""
    return [(one & 3, one >> 2 & 15, one >> 6 & 31, one >> 11 & 3) for one in row["events"]]


def order(row: dict) -> list[int]:
    text = row["proof_order"]
    return [KIND[text[at : at + 2]] for at in range(0, 168, 2)]


def chi_squared(rows: list[dict]) -> float:
    """Kind × position over all orders, in standard deviations of its null (df 20·83, both margins fixed)."""
    counts = np.zeros((21, 84))
    for row in rows:
        counts[order(row), np.arange(84)] += 1
    expected = len(rows) / 21
    return ((counts - expected) ** 2 / expected).sum() * 83 / 84 / 1660 ** 0.5 / 2**0.5 - (1660 / 2) ** 0.5


def within(count: float, of: int, share: float, deviations: float = 4.5) -> bool:
    """Whether a count is what this share of so many trials gives."""
    return abs(count - of * share) <= deviations * (of * share * (1 - share)) ** 0.5 + 1e-9


# Honest rounds stay as they are


@pytest.mark.parametrize("rules", ["hubei", "3d_xiaogan", "qichun"])
def test_without_a_cheat_the_rounds_are_the_simulators(rules):
    honest = [raw for batch in simulate.simulate(rules, 150, 4, lines=True) for raw in batch["raw"].to_pylist()]
    assert [raw for batch in crooked.play(rules, 150, 4, lines=True) for raw in batch["raw"].to_pylist()] == honest


def test_until_a_cheat_acts_a_game_is_the_honest_one():
    """Deals, draws, decisions and times of everybody: cheats use no stream of anybody else."""
    corpus = made("upgrade:account=u1", "dump:account=u2,partner=u3", "soft:account=u4,partner=u5",
                  "sorted_wall:q=0.01", "best_deal:account=u6", "comeback:q=0.02", "peek:account=u7",
                  "next_tile:account=u9")  # fmt: skip
    honest = {(row["game"], row["round"]): row for row in made().rounds}
    first: dict[str, int] = {}
    for act in corpus.acts:
        first[act["game"]] = min(first.get(act["game"], 99), act["round"])
    same = touched = 0
    for row in corpus.rounds:
        if row["round"] < first.get(row["game"], 99):
            if (row["game"], row["round"]) in honest:  # the last game is cut where the rounds asked for are played
                assert row == honest[row["game"], row["round"]]
                same += 1
        elif row["round"] == first[row["game"]]:
            touched += row != honest.get((row["game"], row["round"]))
    assert same > 600 and touched == len(first)


def test_the_same_seed_gives_the_same_rounds_and_labels():
    cheats = ("upgrade:account=u1", "comeback:", "lcg:q=0.1", "queue_pair:account=u2,partner=u3",
              "drop_lost:account=u4")  # fmt: skip
    for accounts in (None, 60):
        runs = []
        for size in (2048, 37):
            labels, raws = Labels(), []
            for batch in crooked.play("hubei", 200, 5, cheats=cheats, accounts=accounts, labels=labels, lines=True,
                                      batch_rounds=size):  # fmt: skip
                raws += batch["raw"].to_pylist()
            runs.append((raws, labels.rows))
        assert runs[0] == runs[1]


def test_uncompiled_play_is_the_same():
    cheats = [f"{name}:{','.join(f'{key}=u{at}' for at, key in enumerate(kind.given, 1) if kind.given[key] is None)}"
              for name, kind in KINDS.items()]  # fmt: skip
    code = (
        "import sys, json\nfrom hashlib import sha256\nfrom replay import crooked\nfrom replay.labels import Labels\n"
        "labels = Labels()\n"
        "raws = [raw for accounts in (None, 12) for batch in crooked.play('xiangyang', 5, 3, cheats=json.loads("
        "sys.argv[1])[:20], accounts=accounts, labels=labels, lines=True) for raw in batch['raw'].to_pylist()]\n"
        "print(sha256(json.dumps([raws, labels.rows]).encode()).hexdigest())"
    )
    found = []
    for compiled in ("0", "1"):
        environment = os.environ | {"KWX_JIT": compiled, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        run = subprocess.run([sys.executable, "-c", code, json.dumps(cheats)], capture_output=True, text=True, cwd=ROOT,
                             env=environment)  # fmt: skip
        assert run.returncode == 0, run.stderr
        found.append(run.stdout)
    assert found[0] == found[1]


# Legal, except where they are meant not to be


def planted_at(*cheats: str) -> list[str]:
    """Each cheat, accounts filled in, those of one cheat apart from those of another."""
    out = []
    for number, name in enumerate(cheats):
        wanted = [key for key, usual in KINDS[name].given.items() if usual is None]
        share = ",q=0.5" if "q" in KINDS[name].given and KINDS[name].family != "deck" else ""
        share = ",q=0.1" if KINDS[name].family == "deck" else share
        filled = ",".join(f"{key}=u{2 * number + at + 1}" for at, key in enumerate(wanted))
        out.append(f"{name}:{filled}{share}".replace(":,", ":"))
    return out


LEGAL = [name for name, kind in KINDS.items() if not kind.breaks]


@pytest.mark.parametrize("rules", ["hubei", "parlour", "3d_shiyan", "node-kwx_xiangyang", "xiangyang_unlimited"])
def test_a_cheated_log_is_legal_and_proved(rules):
    replayer, kept = Replayer(explain=False), []
    options = {"side.horse": "last_tile"} if rules == "hubei" else {}
    for seed, part in enumerate((LEGAL[::2], LEGAL[1::2])):
        for batch in crooked.play(rules, 300, seed, options, cheats=planted_at(*part), lines=True, accounts=None):
            out = replayer.feed(batch)
            assert out["problems"].to_pylist() == []
            assert set(out["rounds"]["proof"].to_pylist()) == {"commitment"}
            kept.append(out["rounds"])
    assert check_games(pa.concat_tables(kept)).to_pylist() == []


def found_in(corpus_lines: list[str], folder: Path) -> Counter:
    """(code, game, round) of every problem that `kwx check` finds."""
    path = folder / "log.jsonl"
    path.write_text("\n".join(corpus_lines) + "\n", encoding="utf-8")
    rows = problems(Reader([str(path)], check_rules=ruleset.check))
    return Counter((row["code"], row["game"], row["round"]) for row in rows if row["kind"] != "summary")


@pytest.mark.parametrize(
    ("cheat", "code"),
    [
        ("swapped_draw:account=u1,q=0.3", "deal_not_from_order"),
        ("upgrade:account=u1,q=0.3,log=wall", "draw_not_from_wall"),
        ("wrong_payout:account=u1,q=0.3,points=2", "points"),
        ("drop_lost:account=u1,q=0.5", "lost_round"),
    ],
)
def test_what_breaks_the_log_shows_exactly_there(tmp_path, cheat, code):
    labels = Labels()
    lines = [raw for batch in crooked.play("hubei", 400, 6, cheats=[cheat], labels=labels, lines=True)
             for raw in batch["raw"].to_pylist()]  # fmt: skip
    found = found_in(lines, tmp_path)
    places = {(act["game"], act["round"]) for act in labels.rows if act["label"] == "act"}
    assert len(places) > 5
    if code == "lost_round":
        there = {(json.loads(line)["game"], json.loads(line)["round"]) for line in lines}
        assert not places & there and len(there) + len(places) == 400
        # A gap shows at the round after it; one that ends a game shows nowhere.
        after = {(game, min(n for g, n in there if g == game and n > number)) for game, number in places
                 if any(g == game and n > number for g, n in there)}  # fmt: skip
        assert {(game, number) for _, game, number in found} == after
        assert {name for name, *_ in found} == {code}
    else:
        assert {(game, number) for name, game, number in found if name == code} == places
        assert {(game, number) for _, game, number in found} == places


# Of the size they claim


def test_shuffles_are_as_crooked_as_they_claim():
    assert abs(chi_squared(made().rounds)) < 4
    for cheat in ("swap_any", "off_by_one", "off_by_one:kind=first_fixed", "modulo:bits=8", "riffle:k=4"):
        assert chi_squared(made(cheat).rounds) > 5, cheat
    assert {order(row)[0] for row in made("off_by_one:kind=first_fixed", rounds=100).rounds} == {0}
    stays = [order(row)[0] == 0 for row in made("off_by_one").rounds]  # Sattolo's: 3 of the 83 other tiles are equal
    assert within(sum(stays), len(stays), 3 / 83)


def test_a_deck_that_is_carried_over_matches_the_one_before():
    def matches(rows):
        pairs = [(one, two) for one, two in zip(rows, rows[1:], strict=False) if one["game"] == two["game"]]
        return np.mean([sum(a == b for a, b in zip(order(one), order(two), strict=True)) for one, two in pairs])

    assert abs(matches(made().rounds) - 4) < 4.5 * (320 / 83 / 1300) ** 0.5
    # A place is left alone by 100 exchanges with probability (1 - 1/84)^200; 4 of the 84 others match by chance.
    stays = (83 / 84) ** 200
    assert abs(matches(made("carry_over:n=100").rounds) - (84 * stays + 4 * (1 - stays))) < 0.4


def test_few_seeds_repeat_walls_and_the_clock_makes_them():
    walls = Counter(row["proof_order"] for row in made("lcg:bits=8").rounds)
    assert 200 < len(walls) <= 256
    assert len({row["proof_order"] for row in made().rounds}) == 1500

    def from_seed(state):
        deck = [place // 4 for place in range(84)]
        for last in range(83, 0, -1):
            state = (state * 1664525 + 1013904223) % 2**32
            at = state * (last + 1) >> 32
            deck[last], deck[at] = deck[at], deck[last]
        return deck

    for row in made("clock_seed", accounts=60, rounds=60).rounds:
        assert order(row) == from_seed(row["time_ms"] % 86_400_000)


def test_draws_are_upgraded_as_often_as_claimed():
    corpus = made("upgrade:account=u1,q=0.25", rounds=4000)
    mine = [(row, row["players"].index("u1")) for row in corpus.rounds if "u1" in row["players"]]
    draws = sum(verb in DRAWS and seat == own for row, own in mine for seat, verb, *_ in moves(row))
    for act, row in corpus.acted():
        assert act["account"] == "u1" and row["players"][act["seat"]] == "u1"
        seat, verb, tile, _ = moves(row)[act["event"]]
        assert (seat, verb in DRAWS, tile) == (act["seat"], True, KIND[act["now"]]) and act["was"] != act["now"]
    # Where the draw was useful anyway (about one in four) or nothing useful is left, nothing is done.
    assert 0.6 * 0.25 < len(corpus.acts) / draws < 0.95 * 0.25
    assert corpus.sums[0]["acts"] == len(corpus.acts)
    assert corpus.sums[0]["rounds"] == len({(act["game"], act["round"]) for act in corpus.acts})


def test_the_better_of_two_deals_is_nearer():
    corpus = made("best_deal_seat:seat=1,q=1")
    assert all(act["now"] < act["was"] and act["seat"] == 1 for act in corpus.acts)
    # P(second < first) of two equal hands with the known spread of starting shanten is 0.31-0.33.
    assert 0.25 < len(corpus.acts) / len(corpus.rounds) < 0.4


def test_who_dumps_feeds_its_partner():
    corpus = made("dump:account=u2,partner=u3,q=1", "queue_pair:account=u2,partner=u3,q=1")
    acts = [pair for pair in corpus.acted() if pair[0]["name"] == "dump"]
    won = 0
    for act, row in acts:
        seat, verb, tile, _ = moves(row)[act["event"]]
        assert (row["players"][seat], verb in DISCARDS, tile) == ("u2", True, KIND[act["now"]])
        mate = row["players"].index("u3")
        won += any(win["seat"] == mate and win["from"] == seat for win in row["result_wins"])
    assert len(acts) > 40 and won / len(acts) > 0.9
    honest = made("queue_pair:account=u2,partner=u3,q=1")
    fed = [sum(any(row["players"][win["seat"]] == "u3" and win["from"] is not None
                   and row["players"][win["from"]] == "u2" for win in row["result_wins"]) for row in one.rounds)
           for one in (corpus, honest)]  # fmt: skip
    assert fed[0] > 2 * fed[1] > 0


def test_who_plays_softly_never_wins_on_the_partner():
    pair = "queue_pair:account=u4,partner=u5,q=1"
    won = []
    for corpus in (made(pair), made("soft:account=u4,partner=u5", pair)):
        won.append(0)
        for row in corpus.rounds:
            for win in row["result_wins"]:
                if win["from"] is not None:
                    won[-1] += {row["players"][win["seat"]], row["players"][win["from"]]} == {"u4", "u5"}
    assert won[0] > 20 and won[1] == 0
    acts = [act for act in corpus.acts if act["name"] == "soft"]
    assert {act["account"] for act in acts} == {"u4", "u5"} and len(acts) > 20


def test_an_account_that_is_not_there_is_said():
    with pytest.raises(CheatError, match="no account 'u49'; there are u1 to u48"):
        made("upgrade:account=u49")


# Accounts that meet


def test_a_population_differs_and_nobody_sits_twice():
    corpus = made(accounts=90, rounds=4000)
    busy, hours, stakes = defaultdict(list), defaultdict(Counter), defaultdict(Counter)
    for row in corpus.rounds:
        for player in row["players"]:
            busy[player].append((row["time_ms"], row["time_ms"] + sum(row["times"]), row["game"]))
            hours[player][row["time_ms"] // 3_600_000 % 24] += 1
            stakes[player][row["base"]] += 1
    for spans in busy.values():
        assert all(end <= begin for (_, end, _), (begin, _, _) in zip(spans, spans[1:], strict=False))
    played = sorted(map(len, busy.values()))
    assert played[-1] > 5 * played[len(played) // 4] and len(busy) > 70
    assert len({max(one, key=one.get) for one in hours.values()}) > 10
    assert len({max(one, key=one.get) for one in stakes.values()}) >= 3
