"""Planted cheats: legal where they are meant to be, of the size they claim, labelled where they happened, and nowhere
else: who doesn't cheat plays as ever."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from crooked_corpus import DRAWS, KIND, made, moves, order, within

from ingest import events
from ingest.read import Reader
from replay import crooked, ruleset, simulate
from replay.batch import Replayer
from replay.cheats import KINDS, CheatError
from replay.check import problems
from replay.games import check_games
from replay.labels import Labels
from replay.seating import DAY_MS

ROOT = Path(__file__).parent.parent


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


def chi_squared(rows: list[dict]) -> float:
    """Kind × position over all orders, in standard deviations of its null (df 20·83, both margins fixed)."""
    counts = np.zeros((21, 84))
    for row in rows:
        counts[order(row), np.arange(84)] += 1
    expected = len(rows) / 21
    return ((counts - expected) ** 2 / expected).sum() * 83 / 84 / 1660 ** 0.5 / 2**0.5 - (1660 / 2) ** 0.5


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


def test_a_dragon_comes_for_another_tile():
    corpus = made("dragon_swap:account=u6,q=0.5", "dragon_swap_seat:seat=2,q=0.3")
    dealt = sum("u6" in row["players"] for row in corpus.rounds)
    acts = Counter(act["name"] for act in corpus.acts)
    assert within(acts["dragon_swap"], dealt, 0.5) and within(acts["dragon_swap_seat"], len(corpus.rounds), 0.3)
    for act, row in corpus.acted():
        hand = row["deal"][14 * act["seat"] : 14 * act["seat"] + 14]
        assert act["was"][1] != "z" and act["now"][1] == "z" and KIND[act["now"]] in hand
        assert KIND[act["was"]] in row["wall"]


def test_a_sorted_wall_is_sorted():
    for _, row in made("sorted_wall:q=0.2", rounds=300).acted():
        assert sorted(row["wall"]) == list(row["wall"])


@pytest.mark.parametrize("rules", ["hubei", "3d_xiaogan"])  # the first dealer by lot, and seat 0
def test_dealer_and_dice_are_loaded(rules):
    corpus = made("loaded_dealer:account=u6,q=0.8", "loaded_dice:q=0.4,face=2", rules=rules, rounds=2000)
    first = [row for row in corpus.rounds if row["round"] == 0 and "u6" in row["players"]]
    dealt = sum(row["players"][row["dealer"]] == "u6" for row in first)
    assert len(first) >= 10 and within(dealt, len(first), 0.8 + 0.2 / 3, 3)
    assert sum(act["name"] == "loaded_dealer" for act in corpus.acts) <= dealt
    shown = sum(row["dice"].count(2) for row in corpus.rounds)
    assert within(shown, 2 * len(corpus.rounds), 0.4 + 0.6 / 6)


def test_good_draws_come_when_they_are_meant_to():
    """After k losses in a row, in the first n rounds, once revealed, after a kong; never else."""
    corpus = made("comeback:k=2,q=0.5", rounds=1200)
    acted = {(act["game"], act["round"], act["account"]) for act in corpus.acts}
    losses: Counter = Counter()
    chances = 0
    for row in corpus.rounds:
        for seat, player in enumerate(row["players"]):
            assert losses[player] >= 2 or (row["game"], row["round"], player) not in acted
            chances += losses[player] >= 2
            losses[player] = losses[player] + 1 if row["result_points"][seat] < 0 else 0
    assert 0.5 * chances < len(acted) < chances

    corpus = made("honeymoon:n=5,q=1", rounds=1200)
    played: Counter = Counter()
    acted = {(act["game"], act["round"], act["account"]) for act in corpus.acts}
    for row in corpus.rounds:
        for player in row["players"]:
            assert played[player] < 5 or (row["game"], row["round"], player) not in acted
            played[player] += 1
    assert len(acted) > 0.8 * 5 * len(played)

    corpus = made("upgrade_revealed:account=u7,q=1", "best_replacement:account=u8", rounds=3000)
    for act, row in corpus.acted():
        before = moves(row)[: act["event"]]
        if act["name"] == "best_replacement":
            assert moves(row)[act["event"]][1] == events.REPLACEMENT
        else:
            assert any(seat == act["seat"] and verb == events.REVEAL for seat, verb, *_ in before)
            # The tile completes the hand, so the win or (passed, or no win by the rules) a discard follows.
            assert moves(row)[act["event"] + 1][:2] != (act["seat"], events.CONCEALED_KONG)
    wins = sum(moves(row)[act["event"] + 1][1] == events.WIN for act, row in corpus.acted())
    assert wins > 0.8 * len(corpus.acts) > 20


def test_the_better_horse_is_turned():
    corpus = made("best_horse:account=u7", rounds=2500, options='{"side.horse": "last_tile"}')
    for act, row in corpus.acted():
        seat, verb, _, source = moves(row)[act["event"]]
        assert (row["players"][seat], verb, source) == ("u7", events.WIN, events.NO_SEAT)

        def pips(tile):
            return 10 if tile[1] == "z" else 0 if tile == "1p" else int(tile[0])

        assert pips(act["now"]) > pips(act["was"])
    assert corpus.acts


def test_an_account_that_is_not_there_is_said():
    with pytest.raises(CheatError, match="no account 'u49'; there are u1 to u48"):
        made("upgrade:account=u49")


def test_a_cheat_keeps_to_its_days():
    corpus = made("upgrade:account=u1,q=1,from=1,until=2", "swap_any:from=1,until=2,q=0.5", rounds=6000)
    days = {row["time_ms"] // DAY_MS for _, row in corpus.acted()}
    assert days == {simulate.EPOCH_MS // DAY_MS + 1}
    assert {act["name"] for act in corpus.acts} == {"upgrade", "swap_any"}
