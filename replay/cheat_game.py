"""A game at a table where somebody may cheat: the steps of replay.selfplay with the cheats' hooks between them.

Compiled only when cheats or a population are asked for.  Without a cheat at the table it plays what
selfplay.play_game plays, event for event.
"""

from ingest import events
from replay import chance
from replay.cheat_decks import lay_crooked, load_dice
from replay.cheat_draws import bend_draw, bend_horse
from replay.cheat_play import bend_call, bend_discard, bend_wins, choices_of, clone_of, view_digest
from replay.cheat_record import LOADED_DICE, MAX_ACTS
from replay.jit import inner, jit
from replay.selfplay import (
    carry_out,
    game_over,
    going_on,
    keep_round,
    lay_out,
    next_wish,
    open_game,
    open_round,
    settled,
)
from replay.state import ADDED, DISCARDED, TURN
from replay.think_times import retime

V_DRAW, V_REPLACEMENT, V_DISCARD_DRAWN = events.DRAW, events.REPLACEMENT, events.DISCARD_DRAWN
V_PUNG, V_ADDED, V_WIN, V_ABORTED = events.PUNG, events.ADDED_KONG, events.WIN, events.ABORTED
NONE = events.NO_SEAT
TRICK, TICKS = 32, 33  # purposes of streams, beside those of replay.selfplay and replay.simulate
PAUSE_MS = 12_000  # between the rounds of a game


@inner
def next_crooked(sim, ch, rules, tb, sh, rin):
    """The next wish, honest or not; -1: think on."""
    st = sim.st
    phase = st.phase
    stage = sim.stage
    program = clone_of(ch, st.turn) if phase == TURN and stage >= 2 else -1
    if program >= 0:
        held = sim.mind.state
        sim.mind.state = view_digest(st, st.turn, program)
        event = next_wish(sim, rules, tb, sh)
        sim.mind.state = held
    else:
        event = next_wish(sim, rules, tb, sh)
    verb = event >> 2 & 15
    if event >= 0 and verb == V_ABORTED:
        return event
    if phase == TURN and stage == 4:
        if ch.human:
            ch.choices = choices_of(sim)
        return bend_discard(sim, ch, rules, tb, sh, rin, event) if ch.count else event
    if ch.count == 0:
        return event
    if (phase == DISCARDED or phase == ADDED) and stage == 0:
        bend_wins(sim, ch)
    if event < 0:
        return event
    if verb == V_DRAW or verb == V_REPLACEMENT:
        return bend_draw(sim, ch, rules, tb, sh, rin, event)
    if V_PUNG <= verb <= V_ADDED:
        return bend_call(sim, ch, rules, tb, sh, rin, event)
    if verb == V_WIN and event >> 11 & 3 == NONE:
        bend_horse(sim, ch, rules, tb, rin, event)
    return event


@inner
def play_crooked(sim, ch, rules, tb, sh, rin):
    """selfplay.play_on with the hooks."""
    sim.stage = 0
    sim.kind = 0
    while going_on(sim):
        event = next_crooked(sim, ch, rules, tb, sh, rin)
        count = sim.count
        forced = sim.st.phase == TURN and event >= 0 and sim.st.revealed[sim.st.turn] and not sim.st.revealing
        carry_out(sim, rules, tb, rin, event)
        if sim.count > count:
            retime(sim, ch, event, forced and event >> 2 & 15 == V_DISCARD_DRAWN)
    return settled(sim, rules, tb, rin)


@inner
def open_crooked(sim, ch, rules, rin, seed, game, n, carried):
    """selfplay.open_round and the cheats' own streams; loaded dice."""
    open_round(sim, rules, rin, seed, game, n, carried)
    chance.start(ch.trick, seed, game, n, TRICK)
    chance.start(ch.ticks, seed, game, n, TICKS)
    ch.acts = 0
    ch.done[:] = 0
    for i in range(ch.count):
        if ch.code[i] == LOADED_DICE:
            load_dice(ch, i, rules, rin, carried)


@inner
def after_round(sim, ch, accounts, losses, played):
    """What the platform remembers of the accounts, and the clock."""
    for seat in range(3):
        account = accounts[seat]
        played[account] += 1
        losses[account] = losses[account] + 1 if sim.out.points[seat] < 0 else 0
    for place in range(sim.count):
        ch.now_ms += sim.times[place]
    ch.now_ms += PAUSE_MS
    ch.last[:] = sim.order
    ch.has_last = 1


@jit
def play_crooked_game(
    records, seed, game, most, base, accounts, losses, played, rins, outs, orders, salts, starts, log, times, acts, act,
    row, at,
):  # fmt: skip
    """selfplay.play_game with cheats at the table.

    records: SIM[1], CROOK[1], ruleset.DTYPE[1], hand.TABLES[1], shanten.DISTANCES[1], as arrays, which are handed over
    50 times faster than records; accounts: int64[3], the seats' accounts by number; losses, played: int64[], by
    account, kept up; starts: int64[], UTC milliseconds of each round; acts: cheat_record.ACT[], from `act`.  Returns
    (rounds, 1 if the last of them went wrong or 2 if it had too many acts, where the next act goes).
    """
    sim = records[0][0]
    ch = records[1][0]
    rules = records[2][0]
    tb = records[3][0]
    sh = records[4][0]
    length, dealer, suits = open_game(sim, rules, seed, game, most)
    if ch.first_dealer >= 0:
        dealer = ch.first_dealer
    carried = 0
    ch.has_last = 0
    for n in range(length):
        rin = rins[row + n]
        rin.dealer = dealer
        rin.suits = suits
        rin.base_ = base
        starts[row + n] = ch.now_ms
        for seat in range(3):
            ch.losses[seat] = losses[accounts[seat]]
            ch.played[seat] = played[accounts[seat]]
        open_crooked(sim, ch, rules, rin, seed, game, n, carried)
        lay_crooked(sim, ch, rules, tb, sh, rin)
        lay_out(sim, rules, tb, rin)
        fine = play_crooked(sim, ch, rules, tb, sh, rin)
        at = keep_round(sim, rin, outs, orders, salts, log, times, row + n, at)
        if not fine:
            return n + 1, 1, act
        if ch.acts > MAX_ACTS:
            return n + 1, 2, act
        for one in range(ch.acts):
            acts[act].row = row + n
            acts[act].plan = ch.act_plan[one]
            acts[act].event = ch.act_event[one]
            acts[act].seat = ch.act_seat[one]
            acts[act].was = ch.act_was[one]
            acts[act].now = ch.act_now[one]
            act += 1
        after_round(sim, ch, accounts, losses, played)
        carried = sim.out.raise_next
        dealer = sim.out.next_dealer
        if game_over(sim):
            return n + 1, 0, act
    return length, 0, act
