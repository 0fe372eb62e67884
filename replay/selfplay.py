"""Self-play on the validator's own state machine: whoever is to move decides, the table applies, the log grows.

One record (policy.SIM) is a table with its streams and log.  `play_on` goes on from any state of it, so the same code
plays whole rounds and plays out positions.  What a seat draws comes from `next_tile`, what is dealt from
`lay_order`: an honest room's deck is exactly these two.
"""

from ingest import events
from replay import chance
from replay.chance import below, bits, happens
from replay.claims import has_safe_tile
from replay.flags import wall_left
from replay.jit import inner, jit
from replay.loop import clear, deal, finish
from replay.policy import (
    MAX_EVENTS,
    claimant,
    dangerous,
    event_of,
    plan_claim,
    plan_discard,
    plan_own_kong,
    plan_reveal,
    plan_reveal_between,
    plan_self_draw,
    plan_win,
    thinking,
)
from replay.ruleset import mode
from replay.state import ADDED, DISCARDED, ENDED, KONGED, TURN, WON
from replay.table import ANY_TIME, DEAD_ALLOWED, END_AND_PAY, REPLACE_BACK, apply

V_DRAW, V_REPLACEMENT, V_DECLINE = events.DRAW, events.REPLACEMENT, events.DECLINE
V_EXHAUSTED, V_ABORTED, V_PUNG, V_KONG = events.EXHAUSTED, events.ABORTED, events.PUNG, events.KONG
V_WIN, V_REVEAL = events.WIN, events.REVEAL
NONE, NO_TILE = events.NO_SEAT, events.NO_TILE
ANY_TWO = mode("wall.suits", "any_two")
SEAT_0 = mode("dealer.first", "seat_0")
END_ABORTED = events.ENDS.index("aborted")

GAME, DECK, MIND, CLOCK = range(4)  # purposes of streams
SHORTEST_GAME, LONGEST_GAME = 8, 16  # rounds
ABORTED_SHARE = 0.001  # of rounds that the platform breaks off
DECLINES_SHARE = 0.1  # of games whose platform logs declined claims
KONG_AFTER_REVEAL = 0.5
MOST_RAISES = 12  # a game ends before doublings that pile up leave the log format's range


@inner
def think_turn(sim, rules, tb, sh):
    """The next wish in a turn: others' reveals, then the seat's win, kong, reveal, discard; -1: think on."""
    st = sim.st
    seat = st.turn
    stage = sim.stage
    sim.stage = stage + 1
    sim.unsure = 1
    if stage < 2:
        return plan_reveal_between(sim, rules, tb, (seat + 1 + stage) % 3) if rules.reveal_when == ANY_TIME else -1
    if stage == 2:
        return plan_self_draw(sim, rules, tb, sh) if st.may_win else -1
    if stage == 3:
        event = plan_own_kong(sim, rules, tb, sh)
        if event >= 0:
            sim.stage = 3  # if the table refuses it, there may be another
        return event
    if stage == 4:
        sim.wish[2] = plan_discard(sim, rules, tb, sh)
        if st.revealed[seat] or st.dead[seat]:
            return -1
        return plan_reveal(sim, rules, tb, sim.wish[2])
    if stage == 5:
        sim.kind = 0
        return plan_own_kong(sim, rules, tb, sh) if st.revealing and happens(sim.mind, KONG_AFTER_REVEAL) else -1
    sim.unsure = 0
    danger = dangerous(st, seat)
    if danger and not st.revealed[seat] and rules.reveal_no_feeding and rules.reveal_no_safe_tile == END_AND_PAY:
        if not has_safe_tile(st, seat, danger):
            return event_of(NONE, V_EXHAUSTED, NO_TILE, NONE)
    return sim.wish[2]


@inner
def think_window(sim, rules, tb, sh):
    """The next wish over an open tile: wins, refusals, a claim, reveals, else the play goes on; -1: think on."""
    st = sim.st
    stage = sim.stage
    sim.stage = stage + 1
    sim.unsure = 1
    if stage == 0:
        for step in range(2):
            sim.wish[step] = plan_win(sim, (st.from_ + 1 + step) % 3)
        return -1
    won = sim.wish[0] >= 0 or sim.wish[1] >= 0
    claims = claimant(st) if st.phase == DISCARDED and not won else -1
    if stage < 3:
        seat = (st.from_ + stage) % 3
        # Who may still claim refuses later.
        return wish_to_refuse(sim, seat) if sim.wish[stage - 1] < 0 and seat != claims else -1
    if stage < 5:
        sim.unsure = 0
        return sim.wish[stage - 3]
    if stage < 7:
        return plan_claim(sim, tb, sh, claims, V_KONG if stage == 5 else V_PUNG) if claims >= 0 else -1
    if stage == 7:
        return wish_to_refuse(sim, claims) if claims >= 0 else -1
    if st.phase == ADDED:
        return think_replacement(sim, rules, tb, sh)
    if stage < 11:
        return plan_reveal_between(sim, rules, tb, (st.from_ + stage - 7) % 3) if rules.reveal_when == ANY_TIME else -1
    sim.unsure = 0
    if wall_left(st) == 0:
        return event_of(NONE, V_EXHAUSTED, NO_TILE, NONE)
    return event_of((st.from_ + 1) % 3, V_DRAW, next_tile(st, rules, False), NONE)


@inner
def wish_to_refuse(sim, seat):
    """A refusal, where the platform logs them and there may be an offer."""
    st = sim.st
    if sim.declines and (st.can_win >> seat & 1 or st.hand[seat, st.kind] >= 2):
        return event_of(seat, V_DECLINE, NO_TILE, NONE)
    return -1


@inner
def think_replacement(sim, rules, tb, sh):
    """After a kong: its replacement, or a discard that leaves the hand short."""
    st = sim.st
    seat = st.turn
    sim.unsure = 0
    short = wall_left(st) == 0
    if not short and rules.dead_hand == DEAD_ALLOWED and not st.revealed[seat] and st.tiles[seat] > 0:
        short = happens(sim.mind, sim.short[seat])
    if short:
        return plan_discard(sim, rules, tb, sh)
    return event_of(seat, V_REPLACEMENT, next_tile(st, rules, True), NONE)


@inner
def next_tile(st, rules, replacement):
    """The tile that the wall gives next."""
    if replacement and rules.wall_replacement == REPLACE_BACK:
        return st.wall[43 - st.back]
    return st.wall[st.front]


@inner
def going_on(sim):
    """Whether the round still has events to come; of a won one, whether others' wins and refusals may follow."""
    st = sim.st
    return st.phase != ENDED and (st.phase != WON or sim.stage < 5) and not st.stopped and sim.count < MAX_EVENTS


@inner
def next_wish(sim, rules, tb, sh):
    """What whoever is to move thinks of next, as a packed event; -1: think on."""
    st = sim.st
    if 0 <= sim.abort_at <= sim.count and st.phase != WON:
        sim.unsure = 0
        return event_of(NONE, V_ABORTED, NO_TILE, NONE)
    if st.phase == TURN:
        return think_turn(sim, rules, tb, sh)
    if st.phase == KONGED:
        return think_replacement(sim, rules, tb, sh)
    return think_window(sim, rules, tb, sh)


@inner
def refused(sim, rules, tb, rin, event):
    """Whether the table finds a problem in this event: tried on a copy."""
    sim.trial = sim.st
    sim.trial_out = sim.out
    apply(sim.trial, rules, tb, rin, sim.trial_out, event, sim.count)
    return sim.trial.problems != 0 or sim.trial.stopped != 0


@inner
def carry_out(sim, rules, tb, rin, event):
    """Apply a wish and log it; one that may be against the rules is tried first and dropped if it is."""
    if event < 0 or (sim.unsure and refused(sim, rules, tb, rin, event)):
        return
    apply(sim.st, rules, tb, rin, sim.out, event, sim.count)
    verb = event >> 2 & 15
    sim.events[sim.count] = event
    sim.times[sim.count] = thinking(sim, event & 3, verb)
    sim.count += 1
    if verb != V_WIN and verb != V_REVEAL and verb != V_DECLINE:
        sim.stage = 0
        sim.kind = 0


@inner
def settled(sim, rules, tb, rin):
    """Settle the round; whether it ended without a problem."""
    if sim.st.stopped or sim.out.end < 0:
        return False
    finish(sim.st, rules, tb, rin, sim.out)
    return sim.st.problems == 0


@inner
def play_on(sim, rules, tb, sh, rin):
    """Play from the present state to the end of the round and settle it; whether it ended without a problem."""
    sim.stage = 0
    sim.kind = 0
    while going_on(sim):
        carry_out(sim, rules, tb, rin, next_wish(sim, rules, tb, sh))
    return settled(sim, rules, tb, rin)


@inner
def lay_order(sim, rin):
    """Shuffle all tiles and deal them."""
    for place in range(84):
        sim.order[place] = place // 4
    chance.shuffle(sim.deck, sim.order)
    deal_order(sim, rin)


@inner
def deal_order(sim, rin):
    """Deal sim.order one tile at a time from the dealer, then its fourteenth; the rest is the wall."""
    rin.deal[:, :] = 255
    for seat in range(3):
        place = (seat - rin.dealer) % 3
        dealt = 0
        for kind in range(21):  # hands are logged sorted
            for n in range(14):
                at = place + 3 * n if n < 13 else 39
                if (n < 13 or place == 0) and sim.order[at] == kind:
                    rin.deal[seat, dealt] = kind
                    dealt += 1
    for place in range(44):
        rin.wall[place] = sim.order[40 + place]
    rin.has_wall = 1


@inner
def open_game(sim, rules, seed, game, most):
    """Start a game: (how many rounds it is to have, the first dealer, the two suits)."""
    chance.start(sim.deck, seed, game, 0, GAME)
    length = min(SHORTEST_GAME + below(sim.deck, LONGEST_GAME - SHORTEST_GAME + 1), most)
    sim.declines = happens(sim.deck, DECLINES_SHARE)
    dealer = below(sim.deck, 3)
    if rules.dealer_first == SEAT_0:
        dealer = 0
    suits = below(sim.deck, 3) if rules.wall_suits == ANY_TWO else 0
    return length, dealer, suits


@inner
def open_round(sim, rules, rin, seed, game, n, carried):
    """Start the n-th round of a game up to its shuffle: streams, dice, raise, piao, salt."""
    chance.start(sim.deck, seed, game, n, DECK)
    chance.start(sim.mind, seed, game, n, MIND)
    chance.start(sim.clock, seed, game, n, CLOCK)
    rin.dice[0] = 1 + below(sim.deck, 6)
    rin.dice[1] = 1 + below(sim.deck, 6)
    rin.raise_ = carried
    if rules.side_raise_on_dice and rin.dice[0] == rin.dice[1]:
        rin.raise_ += 1
    for seat in range(3):
        rin.piao[seat] = below(sim.deck, rules.side_piao_max + 1)
    sim.abort_at = below(sim.deck, 60) if happens(sim.deck, ABORTED_SHARE) else -1
    sim.salt[0] = bits(sim.deck)
    sim.salt[1] = bits(sim.deck)


@inner
def lay_out(sim, rules, tb, rin):
    """Clear the table and lay the round's deal and wall on it."""
    clear(sim.out)
    deal(sim.st, rules, tb, rin)
    sim.count = 0


@inner
def keep_round(sim, rin, outs, orders, salts, log, times, row, at):
    """Write the round that was played to its row and its events from `at`; returns where the next events go."""
    rin.start = at
    for place in range(sim.count):
        log[at] = sim.events[place]
        times[at] = sim.times[place]
        at += 1
    rin.stop = at
    outs[row] = sim.out
    orders[row, :] = sim.order
    salts[row, :] = sim.salt
    return at


@inner
def game_over(sim):
    """Whether a game ends with this round, however many it was to have."""
    return sim.out.end == END_ABORTED or sim.out.raise_next >= MOST_RAISES


@jit
def play_game(sim, rules, tb, sh, seed, game, most, base, rins, outs, orders, salts, log, times, row, at):
    """Play one game of at most `most` rounds into the rows from `row` and the events from `at`.

    rins: state.ROUND[], outs: state.RESULT[], orders: uint8[, 84], salts: uint64[, 2], log: uint32[], times: int32[].
    Returns (rounds, 1 if the last of them went wrong).
    """
    length, dealer, suits = open_game(sim, rules, seed, game, most)
    carried = 0
    for n in range(length):
        rin = rins[row + n]
        rin.dealer = dealer
        rin.suits = suits
        rin.base_ = base
        open_round(sim, rules, rin, seed, game, n, carried)
        lay_order(sim, rin)
        lay_out(sim, rules, tb, rin)
        fine = play_on(sim, rules, tb, sh, rin)
        at = keep_round(sim, rin, outs, orders, salts, log, times, row + n, at)
        if not fine:
            return n + 1, 1
        carried = sim.out.raise_next
        dealer = sim.out.next_dealer
        if game_over(sim):
            return n + 1, 0
    return length, 0
