"""Rollouts: hidden tiles laid anew and never read, values equal to exact expectations, standard errors that hold."""

import json
import math
from collections import Counter
from functools import cache
from itertools import chain

import numpy as np
import pytest
from oracle import only_first_revealed, start
from oracle_moves import apply as play_token
from oracle_player import tried
from oracle_settle import settle
from test_simulate import OPEN

from ingest.events import DISCARD, REVEAL, WIN, pack
from ingest.tiles import names
from replay import ruleset
from replay.batch import Replayer
from replay.hand import tables as hand_tables
from replay.hand import waits_of
from replay.jit import record
from replay.options import OPTION
from replay.policy import SIM, Policy
from replay.review import Reviewer, ReviewError, describe, estimate, prepare, review
from replay.rollout import POSITION, roll, stand
from replay.shanten import distances
from replay.simulate import simulate
from replay.state import DISCARDED, TURN

PASSING = Policy(win=0, self_draw=0, reveal=0, noise=0, pung_idle=0, kong=0)  # walls run out


@cache
def played(ident, rounds, seed, policy, options="{}"):
    """[(record, row of `rounds`, piao)] of simulated rounds; policy: one for all, or a tuple for u1, u2 and u3."""
    taste = dict(zip(("u1", "u2", "u3"), policy, strict=True)) if isinstance(policy, tuple) else policy
    replayer, out = Replayer(explain=False), []
    for batch in simulate(ident, rounds, seed, json.loads(options), policy=taste, accounts=3, lines=True):
        rows = replayer.feed(batch)["rounds"].to_pylist()
        for raw, row in zip(batch["raw"].to_pylist(), rows, strict=True):
            out.append((json.loads(raw), row, json.loads(raw)["piao"]))
    return out


def tables_of(row, piao):
    """A round as `review` takes it."""
    return {"rounds": [row], "seats": [{"piao": one} for one in piao]}


# What is laid anew


def relaid(one, sim, pos, seat, seed):
    """One sample of the tiles that the seat cannot see, in sim.st: rollouts of no options at all."""
    nothing = np.zeros(0, OPTION).view(np.recarray)
    roll(
        sim, pos, one.rules.record, hand_tables(), distances(), one.rin, seat, np.uint64(seed), 0, nothing,
        np.zeros(0, np.uint8), 0, np.zeros((1, 0), np.int64),
    )  # fmt: skip
    return sim.st


def positions(ident, rounds, seed, every):
    """(Round, sim, pos, seat) at every so many events of simulated rounds in which much is laid open."""
    for _, row, piao in played(ident, rounds, seed, OPEN):
        one, sim, pos = prepare(row, piao), record(SIM), record(POSITION)
        for event in range(3, len(row["events"]) - 2, every):
            assert stand(sim, pos, one.rules.record, hand_tables(), one.rin, one.log, event)
            if pos.st.phase in (TURN, DISCARDED):
                yield one, sim, pos, int(pos.st.turn if pos.st.phase == TURN else pos.st.from_ + 1 + event % 2) % 3


def test_tiles_laid_anew_are_all_there_and_what_is_open_stays():
    hidden = 0
    for one, sim, pos, seat in chain(positions("node-kwx_xiangyang", 6, 1, 7), positions("3d_xiaogan", 6, 2, 9)):
        true = pos.st
        st = relaid(one, sim, pos, seat, one.id)
        wall = Counter(st.wall[st.front : 44 - st.back].tolist())
        for kind in range(21):
            assert st.hand[:, kind].sum() + st.shown[kind] + wall[kind] == 4
            assert st.unseen[kind] == wall[kind]
        assert st.tiles.tolist() == true.tiles.tolist() == st.hand.sum(axis=1).tolist()
        for name in ("pung", "exposed", "added", "concealed", "melds", "revealed", "shown", "dead"):
            assert st[name].tolist() == true[name].tolist()
        for other in range(3):
            counts = st.hand[other]
            assert st.odd[other] == sum((int(count) & 1) << kind for kind, count in enumerate(counts))
            for part in range(3):
                held = counts[9 * part : 9 * part + 9]
                assert st.key[other, part] == sum(int(count) * 5**rank for rank, count in enumerate(held))
            if other == seat:
                assert counts.tolist() == true.hand[other].tolist()
            elif st.revealed[other]:
                shown = [[int(one.hand[other, kind]) - 3 * (int(one.hidden[other]) >> kind & 1) for kind in range(21)]
                         for one in (st, true)]  # fmt: skip
                assert shown[0] == shown[1]
                assert int(st.hidden[other]).bit_count() == int(true.hidden[other]).bit_count()
                assert st.waits[other] == true.waits[other] == waits_of(st, hand_tables(), other)
                hidden += true.hidden[other] > 0
            else:
                assert st.waits[other] == waits_of(st, hand_tables(), other)
    assert hidden > 5


def test_every_unseen_tile_is_as_likely_in_the_wall():
    one, sim, pos, seat = next(iter(positions("hubei", 1, 4, 20)))
    live = 4 - pos.st.hand[seat] - pos.st.shown
    for other in {0, 1, 2} - {seat}:
        live = live - (pos.st.hand[other] if pos.st.revealed[other] else 0)
    places = 44 - pos.st.front - pos.st.back
    share = places / live.sum()
    found = np.zeros(21)
    for seed in range(1500):
        st = relaid(one, sim, pos, seat, seed)
        found += np.bincount(st.wall[st.front : 44 - st.back], minlength=21)
    error = np.sqrt(1500 * live * share * (1 - share)) + 1e-9
    assert np.abs((found - 1500 * live * share) / error).max() < 4
    assert found.sum() == 1500 * places


def exchanged(row, one, seat, event, kind_from, kind_to, other):
    """The row with one dealt tile of another seat's hand for one that is not in anybody's sight, or None."""
    deal = bytearray(row["deal"])
    part = deal[14 * other : 14 * other + 14]
    if kind_from not in part:
        return None
    part[part.index(kind_from)] = kind_to
    deal[14 * other : 14 * other + 14] = part
    changed = row | {"deal": bytes(deal)}
    sim, pos = record(SIM), record(POSITION)
    again = prepare(changed, one.rin.piao.tolist())
    return changed if stand(sim, pos, again.rules.record, hand_tables(), again.rin, again.log, event) else None


def test_what_the_seat_cannot_see_changes_nothing():
    """Another seat's hidden tile exchanged for one of the wall: the very same review of what came until then."""
    checked = Counter()
    for record_, row, piao in [*played("node-kwx_xiangyang", 4, 22, OPEN), *played("hubei", 4, 21, OPEN)]:
        one, sim, pos = prepare(row, piao), record(SIM), record(POSITION)
        for decision, _ in Reviewer().find(one, 7):
            event, seat = int(decision.event), int(decision.seat)
            if event < 12 or event % 5 or sum(checked.values()) > 24:
                continue
            stand(sim, pos, one.rules.record, hand_tables(), one.rin, one.log, event)
            wall = Counter(record_["wall"][2 * at : 2 * at + 2] for at in range(pos.st.front, 44 - pos.st.back))
            for other in {0, 1, 2} - {seat}:
                if pos.st.revealed[other]:
                    continue
                swaps = [
                    (held, kind) for kind, name in enumerate(names()) if wall[name] for held in range(21)
                    if pos.st.hand[other, held] and held != kind
                ]  # fmt: skip
                for held, kind in swaps[event % 7 :: 60]:
                    changed = exchanged(row, one, seat, event, held, kind, other)
                    if changed is None:
                        continue
                    before, after = (
                        review(tables_of(version, piao), seat, 40, event) for version in (row, changed)
                    )
                    assert before == after and len(before) == 1
                    checked["claim" if decision.claim else "turn"] += 1
    assert checked["turn"] > 8 and checked["claim"] > 1, checked


# What it is worth


class Unforeseen(Exception):
    """The play would go on with a choice that is not a win."""


def end_of(table, seat):
    """Points of the seat when everybody takes every win and nobody has another choice left; Unforeseen if one has."""
    while table.end is None:
        if table.phase in ("discarded", "added"):
            others = [(table.turn + 1) % 3, (table.turn + 2) % 3]
            winners = [one for one in others if tried(table, f"{one}w{table.last}{table.turn}")[0]]
            for one in winners:
                play_token(table, f"{one}w{table.last}{table.turn}")
            if winners:
                break
            if any(tried(table, f"{one}{verb}{table.last}{table.turn}")[0] for one in others for verb in "pk"):
                raise Unforeseen
            play_token(table, f"{others[0]}d{table.wall[0]}" if table.wall else "e")
        else:
            mover, drawn = table.turn, table.drawn
            if drawn and tried(table, f"{mover}w{drawn}")[0]:
                play_token(table, f"{mover}w{drawn}")
            elif mover in table.revealed and not any(
                tried(table, f"{mover}{verb}{tile}")[0] for verb in "ca" for tile in set(table.hands[mover])
            ):
                play_token(table, f"{mover}y{drawn}")
            else:
                raise Unforeseen
    only_first_revealed(table)
    return sum(
        amount * ((payee == seat) - (payer == seat)) for _, payer, payee, amount in settle(table)
    )  # fmt: skip


def exactly(record_, rules, event, seat, tokens, unrevealed):
    """The exact expectation of a seat's points after these tokens: every tile that may be the wall's in turn.

    The wall holds one tile, or two where both others have revealed; `unrevealed`: a seat whose hand is the rest.
    """
    table = start(record_, rules)
    for token in record_["events"].split()[:event]:
        play_token(table, token)
    pool = list(table.wall) + [tile for other in unrevealed for tile in table.hands[other]]
    total = weight = 0
    for tile, copies in Counter(pool).items() if table.wall else [(None, 1)]:
        rest = list(pool)
        if tile:
            rest.remove(tile)
        else:
            rest = rest[len(table.wall) :]
        later = tried(table, tokens[0])[0]
        later.wall = [tile, *rest[: len(table.wall) - 1]] if tile else []
        if unrevealed:
            later.hands[unrevealed[0]] = rest[len(table.wall) - 1 :] if tile else rest
        for token in tokens[1:]:
            play_token(later, token)
        total += copies * end_of(later, seat)
        weight += copies
    return total / weight


def test_values_at_the_end_of_the_wall_are_the_exact_expectations():
    reviewer, compared, spread = Reviewer(), 0, 0
    for ident, options in (("hubei", "{}"), ("xiangyang_unlimited", "{}")):
        shown = Policy(win=0, self_draw=0, reveal=1, noise=0, kong=0, pung=0.5)
        for record_, row, piao in played(ident, 22, 5, (shown, shown, PASSING), options):
            one = prepare(row, piao)
            rules = ruleset.load(ident, record_.get("options")).values
            for decision, choices in reviewer.find(one, 7):
                seat, left = int(decision.seat), int(decision.wall_left)
                if decision.claim or left > 2:
                    continue
                sim, pos = record(SIM), record(POSITION)
                stand(sim, pos, one.rules.record, hand_tables(), one.rin, one.log, int(decision.event))
                hidden = [other for other in range(3) if other != seat and not pos.st.revealed[other]]
                if hidden and (left == 2 or hidden != [(seat + 2) % 3]):
                    continue
                results = reviewer.results(one, decision, choices, 0, 800, np.ones(len(choices), bool))
                for at, option in enumerate(describe(one, decision, choices, None)["options"]):
                    verb = {"win": "w", "discard": "x"}.get(option["action"])
                    if verb is None:
                        continue
                    drawn = pos.st.drawn >= 0 and option["tile"] == one.names[pos.st.drawn]
                    tokens = [f"{seat}l"] * option["reveal"]
                    tokens.append(f"{seat}{'y' if verb == 'x' and drawn else verb}{option['tile']}")
                    try:
                        exact = exactly(record_, rules, int(decision.event), seat, tokens, hidden)
                    except Unforeseen:
                        continue
                    found = estimate(results[:, at])
                    assert abs(found.mean - exact) <= 4.5 * found.error + 1e-9, (row["game"], row["round"], tokens)
                    compared += 1
                    spread += found.error > 0
    assert compared > 15 and spread > 2, (compared, spread)


def blundered(row, decision, option):
    """The row cut off after another option than the one played."""
    kept = row["events"][: int(decision.event)]
    if option.reveal:
        kept = [*kept, int(decision.seat) | REVEAL << 2]
    return row | {"events": [*kept, pack(int(decision.seat), DISCARD, int(option.tile))]}


def test_planted_blunders_come_out():
    """Feeding a revealed hand with safe tiles held, breaking a ready hand that many tiles complete: flagged, on top."""
    reviewer, found = Reviewer(), Counter()
    careful = Policy(noise=0, defend=1, win=1, self_draw=1, reveal=0.4)
    for _, row, piao in played("hubei", 14, 8, careful):
        one = prepare(row, piao)
        for decision, options in reviewer.find(one, 7):
            own, event = options[decision.played], int(decision.event)
            if decision.claim or own.verb != DISCARD or own.reveal or not event:
                continue
            feeds = options[(options.danger > 0) & (options.reveal == 0)]
            breaks = options[(options.verb == DISCARD) & (options.shanten == 1) & (options.reveal == 0)]
            ready = own.shanten == 0 and own.waits_live >= 7 and decision.wall_left >= 25
            for kind, bad in (("fed", feeds if not own.danger else []), ("broken", breaks if ready else [])):
                other = [option for option in bad if option.tile != row["events"][event - 1] >> 6 & 31]
                if not other or found[kind] == 2:
                    continue
                worst = min(other, key=lambda option: option.useful_live)
                rows = review(tables_of(blundered(row, decision, worst), piao), int(decision.seat), 500)
                planted = rows[-1]
                assert planted["event"] == event and max(rows, key=lambda one: one["loss"]) is planted
                assert planted["flagged"] and planted["loss"] > 3 * planted["loss_error"]
                assert ("into_revealed" if kind == "fed" else "further") in planted["notes"]
                found[kind] += 1
    assert found == {"fed": 2, "broken": 2}


def test_a_large_win_passed_is_flagged():
    """Where it is worth eight times the stake; a small one may well be passed for more."""
    shy = Policy(noise=0, win=0, self_draw=0, reveal=0)
    found = Counter()
    for _, row, piao in played("hubei", 60, 9, shy):
        one = prepare(row, piao)
        for decision, options in Reviewer().find(one, 7):
            if options[0].verb == WIN and found["passed"] < 4:
                wins = np.arange(len(options)) == 0
                points = Reviewer().results(one, decision, options, 0, 32, wins)[:, 0]
                if points.min() < 8 * one.rin.base_:
                    continue
                event, seat = int(decision.event), int(decision.seat)
                valued = review(tables_of(row, piao), seat, 800, event)[0]
                found["passed"] += 1
                found["flagged"] += valued["flagged"] and valued["options"][valued["best"]]["action"] == "win"
                assert "win_passed" in valued["notes"]
    assert found == {"passed": 4, "flagged": 4}


# How sure it is


def test_standard_errors_hold():
    """The same decisions with other seeds: differences scatter as their standard errors say, around one mean."""
    reviewer = Reviewer()
    scores = []
    for _, row, piao in played("hubei", 3, 12, Policy()):
        one = prepare(row, piao)
        decision, options = next(found for found in reviewer.find(one, 7) if 15 < found[0].event and len(found[1]) > 4)
        two = np.zeros(len(options), bool)
        two[[0, len(options) - 1]] = True
        repeats = []
        for seed in range(40):
            results = reviewer.results(one._replace(id=seed), decision, options, 0, 120, two)
            repeats.append(estimate(results[:, 0] - results[:, -1]))
        mean = sum(one.mean for one in repeats) / len(repeats)
        scores += [(one.mean - mean) / one.error for one in repeats]
    spread = math.sqrt(sum(score * score for score in scores) / (len(scores) - 3))
    assert 0.8 < spread < 1.25, spread


def test_a_sample_is_the_same_whatever_else_is_asked():
    reviewer = Reviewer()
    _, row, piao = played("hubei", 3, 12, Policy())[0]
    one = prepare(row, piao)
    decision, options = reviewer.find(one, 7)[5]
    every = np.ones(len(options), bool)
    whole = reviewer.results(one, decision, options, 0, 60, every)
    assert (Reviewer().results(one, decision, options, 20, 40, every) == whole[20:]).all()
    some = every.copy()
    some[1::2] = False
    assert (reviewer.results(one, decision, options, 0, 60, some)[:, ::2] == whole[:, ::2]).all()
    assert (reviewer.results(one._replace(id=one.id ^ 1), decision, options, 0, 60, every) != whole).any()


def test_a_single_rollout_is_refused():
    (batch,) = simulate("hubei", 1, 3)
    tables = {name: rows.to_pylist() for name, rows in Replayer().feed(batch).items()}
    with pytest.raises(ReviewError, match="at least 2"):
        review(tables, 0, 1)
    assert review(tables, 0, 0)
