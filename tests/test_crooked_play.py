"""Cheats of play, seating and timing, look-alikes, and the population: of the size they claim, and labelled right."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from crooked_corpus import DISCARDS, KIND, Corpus, made, moves, within

from ingest import events
from replay import crooked
from replay.cheat_record import CROOK
from replay.cheats import parse
from replay.corpus import Population
from replay.jit import jit, record
from replay.seating import Pair
from replay.simulate import SimulationError
from replay.think_times import curves, person_time

CALLS = (events.PUNG, events.KONG, events.CONCEALED_KONG, events.ADDED_KONG)


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


def share_of(corpus: Corpus, who: str, what: str) -> tuple[int, int]:
    """(rounds in which an account "won" or "dealt in", rounds that it played)."""
    rows = [row for row in corpus.rounds if who in row["players"]]
    seats = {"won": "seat", "dealt in": "from"}
    hits = [row for row in rows if any(win[seats[what]] == row["players"].index(who) for win in row["result_wins"])]
    return len(hits), len(rows)


def test_a_partner_gets_the_tile_it_needs():
    corpus = made("signal:account=u8,partner=u9,q=1", "queue_pair:account=u8,partner=u9,q=1", rounds=2000)
    acts = [pair for pair in corpus.acted() if pair[0]["name"] == "signal"]
    taken = 0
    for act, row in acts:
        now, then = moves(row)[act["event"] : act["event"] + 2]
        assert row["players"][now[0]] == "u8" and now[1] in DISCARDS and now[2] == KIND[act["now"]]
        taken += then[1] in (events.PUNG, events.KONG) and row["players"][then[0]] == "u9"
    assert len(acts) > 50 and taken / len(acts) > 0.7
    assert max(Counter((act["game"], act["round"]) for act, _ in acts).values()) == 1


def test_who_sees_hands_deals_in_less_and_who_sees_all_wins_more():
    honest = made(rounds=3000)
    dealt, rounds = share_of(honest, "u7", "dealt in")
    for cheat in ("peek:account=u7,q=1", "superuser:account=u7"):
        less, of = share_of(made(cheat, rounds=3000), "u7", "dealt in")
        assert less / of < 0.7 * dealt / rounds, cheat
    won, of = share_of(made("superuser:account=u7", rounds=3000), "u7", "won")
    assert won / of > 1.1 * share_of(honest, "u7", "won")[0] / rounds


def test_who_sees_the_next_tile_lets_calls_be():
    corpus = made("next_tile:account=u7", rounds=2500)
    assert len(corpus.acts) > 20
    times = Counter((act["game"], act["round"], act["event"]) for act in corpus.acts)
    for act, row in corpus.acted():
        seat, verb, tile, _ = moves(row)[act["event"]]
        if seat == act["seat"] and verb in CALLS and tile == KIND[act["was"]]:  # a kong let be may still be a pung
            assert verb == events.PUNG and times[act["game"], act["round"], act["event"]] == 1
        drawn = Counter(verb for _, verb, *_ in moves(row)[: act["event"]])
        next_tiles = row["wall"][drawn[events.DRAW]], row["wall"][43 - drawn[events.REPLACEMENT]]  # pung, kong
        assert KIND[act["now"]] in next_tiles


@pytest.mark.parametrize("accounts", [None, 60])
def test_pairs_meet(accounts):
    for name in ("queue_pair", "friends"):
        corpus = made(f"{name}:account=u8,partner=u9,q=1", accounts=accounts)
        games = {row["game"]: row["players"] for row in corpus.rounds}
        one, both = (sum(who <= set(players) for players in games.values()) for who in ({"u8"}, {"u8", "u9"}))
        assert both > 5 and both >= 0.9 * one
        assert corpus.planted[0]["label"] == ("cheat" if name == "queue_pair" else "honest")
        seats = Counter((players.index("u9") - players.index("u8")) % 3 for players in games.values()
                        if {"u8", "u9"} <= set(players))  # fmt: skip
        assert set(seats) == {1, 2}


def test_a_pair_and_its_third_sit_in_any_order():
    house = Population(3, 60)
    pair = Pair(12, 20, 1.0, parse("friends:account=u13,partner=u21"))
    chairs = Counter()
    for slot in range(1200):
        for table, _ in house.queue(slot, [pair], set()):
            if {12, 20} <= set(table):
                chairs[table.index(12), table.index(20)] += 1
    total = sum(chairs.values())
    assert len(chairs) == 6 and total > 150 and all(within(count, total, 1 / 6, 3.5) for count in chairs.values())


def decision_times(corpus: Corpus, who: str) -> list[int]:
    return [ms for row in corpus.rounds if who in row["players"]
            for ms, (seat, verb, *_) in zip(row["times"], moves(row), strict=True)
            if seat == row["players"].index(who) and events.DISCARD <= verb <= events.WIN]  # fmt: skip


def test_programs_and_people_take_their_time():
    bots = ("bot:account=u11,ms=700", "bot:account=u3,ms=900,shape=jittered", "bot:account=u13,ms=900,shape=blind")
    corpus = made(*bots, accounts=30)
    assert set(decision_times(corpus, "u11")) == {700}
    jittered = decision_times(corpus, "u3")
    assert min(jittered) < 640 and max(jittered) > 1160 and 600 <= min(jittered) and max(jittered) <= 1200
    blind = decision_times(corpus, "u13")
    assert abs(np.log(np.median(blind) / 900)) < 0.1 and 0.4 < np.log(blind).std() < 0.65
    people = [decision_times(corpus, f"u{number}") for number in range(14, 31)]
    medians = [np.median(times) for times in people if len(times) > 200]
    assert max(medians) > 1.5 * min(medians)
    # Once revealed there is nothing to decide.
    forced, free = [], []
    for row in corpus.rounds:
        open_seats, pending = set(), -1
        for ms, (seat, verb, *_) in zip(row["times"], moves(row), strict=True):
            if verb in DISCARDS and row["players"][seat] not in ("u3", "u11", "u13"):
                (forced if seat in open_seats else free).append(ms)
            if verb in DISCARDS and pending == seat:
                open_seats.add(seat)
            pending = seat if verb == events.REVEAL else -1
    assert np.median(forced) < 0.5 * np.median(free)


@jit
def timed(ch, choices, times):
    """Fill in a person's times of discards between so many choices."""
    ch.choices = choices
    for at in range(len(times)):
        times[at] = person_time(ch, 0, events.DISCARD, False)


def test_a_hard_choice_takes_longer():
    ch, times = record(CROOK), np.zeros(4001, np.int64)
    ch.curve[:] = curves()
    ch.pace_ms[0], ch.slope[0], ch.spread[0] = 1000, 512, 3
    with np.errstate(over="ignore"):
        medians = []
        for choices in (1, 2, 8):
            timed(ch, choices, times)
            medians.append(np.median(times))
            assert abs(np.log(times).std() - 0.53) < 0.04
    assert np.allclose(medians, [1000, 1500, 2500], rtol=0.05)


def test_two_clones_choose_alike():
    """Eight decks over and over: as dealers, before the same fourteen tiles, both always throw the same one."""
    chosen = defaultdict(lambda: defaultdict(set))
    for row in made("clone:account=u8,partner=u9", "lcg:bits=3", rounds=2000).rounds:
        seat, verb, tile, _ = moves(row)[0]
        if verb in DISCARDS:
            chosen[row["players"][row["dealer"]] in ("u8", "u9")][row["proof_order"]].add(tile)
    assert {len(tiles) for tiles in chosen[True].values()} == {1} and len(chosen[True]) == 8
    assert np.mean([len(tiles) for tiles in chosen[False].values()]) > 3


def test_look_alikes_look_alike():
    corpus = made("always_reveals:account=u7", "strong_defender:account=u8", "dealer_streak:account=u5,n=8",
                  "whale:account=u9", rounds=2500)  # fmt: skip
    assert {row["label"] for row in corpus.planted} == {"honest"}
    assert {row["base"] for row in corpus.rounds if "u9" in row["players"]} == {10}
    (act,) = corpus.acts
    game = [row for row in corpus.rounds if row["game"] == act["game"]]
    run = best = 0
    for row in game:
        seat = row["players"].index("u5")
        run = run + 1 if row["dealer"] == seat and any(win["seat"] == seat for win in row["result_wins"]) else 0
        best = max(best, run)
    assert best >= 8 == act["now"]

    def reveals(who):
        rows = [row for row in corpus.rounds if who in row["players"]]
        return np.mean([any(verb == events.REVEAL and row["players"][seat] == who
                            for seat, verb, *_ in moves(row) if seat < 3) for row in rows])  # fmt: skip

    assert reveals("u7") > 1.5 * np.mean([reveals(f"u{number}") for number in range(10, 20)])


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
    busiest = Population(11, 90).busiest()
    assert np.mean([len(busy[who]) for who in busiest[:10]]) > 3 * np.mean([len(busy[who]) for who in busiest[-30:]])


def test_what_never_comes_up_ends_with_an_error() -> None:
    with pytest.raises(SimulationError, match="3 accounts"):
        list(crooked.play("hubei", 50, 1, {}, cheats=[], accounts=3))
