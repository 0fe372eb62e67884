"""The loop over a batch: deal, apply every event, settle the end, compare with what the log recorded."""

import numpy as np

from replay import state
from replay.fans import ROB
from replay.flags import flag
from replay.hand import waits_of
from replay.jit import inner, jit
from replay.problems import CAUSE, CODE
from replay.ruleset import mode
from replay.settle import DRAW, FEE, HORSE, settle_draw
from replay.state import HAS_END, HAS_FEE, HAS_KONGS, HAS_POINTS, HAS_WINS, MAX_LEDGER, TURN
from replay.table import END_ABORTED, END_DRAW, END_WIN, apply

MISSING_EVENT, FIFTH_TILE, WRONG_SUITS = CODE["missing_event"], CODE["fifth_tile"], CODE["wrong_suits"]
WRONG_PIAO, WRONG_BASE = CODE["wrong_piao"], CODE["wrong_base"]
POINTS, FANS, MULTIPLE, PAYER, WINNER = (CODE[w] for w in ("points", "fans", "multiple", "payer", "winner"))
TILE, END, KONGS, HORSE_CODE, FEE_CODE = (CODE[w] for w in ("tile", "end", "kongs", "horse", "fee"))
ANY_TWO = mode("wall.suits", "any_two")
DOUBLE_FIRST = mode("dealer.after_double", "first_winner")
ROB_FIRST = mode("dealer.after_double_rob", "first_winner")
DRAW_LAST = mode("dealer.after_draw", "last_drawer")
DRAW_PAYER = mode("dealer.after_draw", "payer")
WIN_CAUSE = CAUSE["win"]


@inner
def deal(st, rules, tb, rin):
    """Lay out a round: clear the table, deal the hands, copy the wall; flag what the deal itself breaks."""
    st.hand[:, :] = 0
    st.pung[:] = 0
    st.pung_of_three[:] = 0
    st.exposed[:] = 0
    st.added[:] = 0
    st.concealed[:] = 0
    st.melds[:] = 0
    st.waits[:] = 0
    st.revealed[:] = 0
    st.hidden[:] = 0
    st.hidden_open[:] = 0
    st.held_four = rules.win_wait_held_four
    st.locked[:] = 0
    st.lock_tile[:] = 0
    st.lock_multiple[:] = 0
    st.dead[:] = 0
    st.unseen[:] = 4
    st.shown[:] = 0
    st.has_wall = rin.has_wall
    st.front = 0
    st.back = 0
    st.phase = TURN
    st.turn = rin.dealer
    st.dealer = rin.dealer
    st.last_drawer = rin.dealer
    st.drawn = -1
    st.may_win = 1
    st.punged = 0
    st.kongs_this_turn = 0
    st.revealing = 0
    st.kind = -1
    st.from_ = -1
    st.can_win = 0
    st.declined = 0
    st.won = 0
    st.after_kong = 0
    st.kong_discard = 0
    st.chain = 0
    st.judged_before = 0
    st.passed = 0
    st.stopped = 0
    st.problems = 0
    for seat in range(3):
        deal_hand(st, tb, rin, seat)
    fifth = -1
    for kind in range(21):
        if st.unseen[kind] < 0:
            fifth = kind
    if st.has_wall:
        for place in range(44):
            st.wall[place] = rin.wall[place]
            if st.wall[place] > 20:
                st.has_wall = 0
        if st.has_wall and fifth < 0:
            fifth = fifth_in_wall(st)
    if fifth >= 0:
        flag(st, FIFTH_TILE, -1, -1, fifth, -1)
        if st.unseen[fifth] < 0:
            st.stopped = 1
    for seat in range(3):
        if st.tiles[seat] == 13:
            st.waits[seat] = waits_of(st, tb, seat)
        if rules.side_piao_max and not 0 <= rin.piao[seat] <= rules.side_piao_max:
            flag(st, WRONG_PIAO, -1, seat, rin.piao[seat], rules.side_piao_max)
        elif not rules.side_piao_max and rin.piao[seat]:
            flag(st, WRONG_PIAO, -1, seat, rin.piao[seat], 0)
    if rin.suits != 0 and rules.wall_suits != ANY_TWO:
        flag(st, WRONG_SUITS, -1, -1, rin.suits, 0)
    if rules.stake_base and rin.base_ != rules.stake_base:
        flag(st, WRONG_BASE, -1, -1, rin.base_, rules.stake_base)


@inner
def deal_hand(st, tb, rin, seat):
    """The tiles of one hand, as add_tile would put them there one by one; a fifth copy stays out."""
    tiles = 0
    odd = 0
    a = 0
    b = 0
    d = 0
    for place in range(14):
        kind = np.int64(rin.deal[seat, place])
        if kind > 20:
            continue
        st.unseen[kind] -= 1
        if st.hand[seat, kind] == 4:
            continue
        st.hand[seat, kind] += 1
        tiles += 1
        odd ^= 1 << kind
        power = tb.pow5[kind]
        a += power if kind < 9 else 0
        b += power if 9 <= kind < 18 else 0
        d += power if kind >= 18 else 0
    st.tiles[seat] = tiles
    st.odd[seat] = odd
    st.key[seat, 0] = a
    st.key[seat, 1] = b
    st.key[seat, 2] = d


@inner
def fifth_in_wall(st):
    """The lowest kind of which hands and wall hold more than four, -1 without."""
    for place in range(44):
        st.unseen[st.wall[place]] -= 1
    fifth = -1
    for kind in range(20, -1, -1):
        if st.unseen[kind] < 0:
            fifth = kind
    for place in range(44):
        st.unseen[st.wall[place]] += 1
    return fifth


@inner
def clear(out):
    """Reset what the handlers add to."""
    out.end = -1
    out.points[:] = 0
    out.kong_net[:] = 0
    out.fee = 0
    out.draws = 0
    out.next_dealer = -1
    out.raise_next = -1
    out.horse = 0
    out.wins = 0
    out.kongs = 0
    out.reveals = 0
    out.ledger = 0
    out.pungs[:] = 0
    out.reveal_waits[:] = 0
    out.reveal_live[:] = 0


@inner
def play(st, rules, tb, rin, out, events):
    """Replay one round into `out`; its problems stay in `st`."""
    clear(out)
    deal(st, rules, tb, rin)
    for place in range(rin.start, rin.stop):
        if st.stopped:
            break
        apply(st, rules, tb, rin, out, np.int64(events[place]), place - rin.start)
    if not st.stopped and out.end < 0:
        flag(st, MISSING_EVENT, -1, -1, -1, -1)
        st.stopped = 1
    if st.stopped:
        out.end = -1
    else:
        finish(st, rules, tb, rin, out)
        compare(st, rules, rin, out)
    close(st, out)


@inner
def close(st, out):
    """Note how the table stands when the round is over."""
    out.problems = st.problems
    out.last_drawer = st.last_drawer
    out.wall_left = 44 - st.front - st.back
    for seat in range(3):
        out.ready[seat] = 1 if st.waits[seat] else 0
        out.revealed[seat] = st.revealed[seat]
        for kind in range(21):
            out.hand[seat, kind] = st.hand[seat, kind]
    out.digest = digest(st, out)


@inner
def finish(st, rules, tb, rin, out):
    """The end of a whole round: payments of a draw, the fee, the next dealer and its raise."""
    if out.end == END_DRAW:
        settle_draw(st, rules, tb, rin, out)
    for n in range(out.ledger):
        cause = out.ledger_cause[n]
        if cause != WIN_CAUSE and 1 <= cause <= 3:
            out.kong_net[out.ledger_from[n]] -= out.ledger_points[n]
            out.kong_net[out.ledger_to[n]] += out.ledger_points[n]
    if out.end == END_ABORTED:
        out.next_dealer = st.dealer
        out.raise_next = 0
        return
    if rules.stake_fee:
        out.fee = rules.stake_fee * rin.base_
        for seat in range(3):
            if out.ledger < MAX_LEDGER:
                out.ledger_cause[out.ledger] = FEE
                out.ledger_from[out.ledger] = seat
                out.ledger_to[out.ledger] = -1
                out.ledger_points[out.ledger] = out.fee
                out.ledger += 1
            out.points[seat] -= out.fee
    double = False
    if out.end == END_WIN:
        out.next_dealer = out.win_seat[0]
        if out.wins == 2:
            rob = out.win_by[0] == ROB
            double = not rob or rules.side_raise_on_double_rob != 0
            first = rules.dealer_after_double_rob == ROB_FIRST if rob else rules.dealer_after_double == DOUBLE_FIRST
            if not first:
                out.next_dealer = out.win_from[0]
    else:
        out.next_dealer = st.dealer
        if out.end == END_DRAW:
            if rules.dealer_after_draw == DRAW_LAST:
                out.next_dealer = st.last_drawer
            elif rules.dealer_after_draw == DRAW_PAYER:
                for n in range(out.ledger):
                    if out.ledger_cause[n] == DRAW:
                        out.next_dealer = out.ledger_from[n]
    out.raise_next = 0
    if rules.side_raise and (out.end == END_DRAW or double):
        out.raise_next = rin.raise_ + 1 if rules.side_raise_accumulates else 1


@inner
def compare(st, rules, rin, out):
    """Flag every recorded value that differs from the recomputed one."""
    if rin.compare & HAS_END and rin.end != out.end:
        flag(st, END, -1, -1, rin.end, out.end)
    if rin.compare & HAS_WINS:
        compare_wins(st, rin, out)
    if rin.compare & HAS_KONGS:
        for seat in range(3):
            if rin.kongs[seat] != out.kong_net[seat]:
                flag(st, KONGS, -1, seat, rin.kongs[seat], out.kong_net[seat])
                break
    if rin.compare & HAS_FEE and rin.fee != out.fee:
        flag(st, FEE_CODE, -1, -1, rin.fee, out.fee)
    if rin.compare & HAS_POINTS:
        for seat in range(3):
            if rin.points[seat] != out.points[seat]:
                horse = recorded_horse(rules, rin, out)
                if horse >= 0:
                    flag(st, HORSE_CODE, out.win_event[0], out.win_seat[0], horse, paid_horse(out))
                else:
                    flag(st, POINTS, -1, seat, rin.points[seat], out.points[seat])
                break


@inner
def compare_wins(st, rin, out):
    """The recorded wins against the recomputed ones, by winner."""
    for n in range(out.wins):
        found = -1
        for m in range(rin.wins):
            if found < 0 and rin.win_seat[m] == out.win_seat[n]:
                found = m
        event = out.win_event[n]
        seat = out.win_seat[n]
        if found < 0:
            flag(st, WINNER, event, seat, -1, seat)
            continue
        if rin.win_from[found] != out.win_from[n]:
            flag(st, PAYER, event, seat, rin.win_from[found], out.win_from[n])
        if rin.win_tile[found] != out.win_tile[n]:
            flag(st, TILE, event, seat, rin.win_tile[found], out.win_tile[n])
        if rin.win_fans[found] >= 0 and rin.win_fans[found] != out.win_fans[n]:
            flag(st, FANS, event, seat, rin.win_fans[found], out.win_fans[n])
        if rin.win_multiple[found] >= 0 and rin.win_multiple[found] != out.win_multiple[n]:
            flag(st, MULTIPLE, event, seat, rin.win_multiple[found], out.win_multiple[n])
    for m in range(rin.wins):
        known = False
        for n in range(out.wins):
            known = known or out.win_seat[n] == rin.win_seat[m]
        for n in range(m):  # a seat wins once
            known = known and rin.win_seat[n] != rin.win_seat[m]
        if not known:
            flag(st, WINNER, -1, rin.win_seat[m], rin.win_seat[m], -1)


@inner
def paid_horse(out):
    """Points of one payer's horse row, 0 without one."""
    for n in range(out.ledger):
        if out.ledger_cause[n] == HORSE:
            return out.ledger_points[n]
    return 0


@inner
def recorded_horse(rules, rin, out):
    """What the record paid as horse to the self-drawing winner, where that alone tells it from ours; else -1.

    Both payers must differ by the same amount, and the record must hold no horse at all, or more of it than ours up
    to what two tiles can give, so that another fault is not called a horse.
    """
    if rules.side_horse == 0 or out.wins != 1 or out.win_from[0] >= 0:
        return -1
    winner = out.win_seat[0]
    a = (winner + 1) % 3
    b = (winner + 2) % 3
    extra = out.points[a] - rin.points[a]
    if extra != out.points[b] - rin.points[b] or rin.points[winner] - out.points[winner] != 2 * extra:
        return -1
    paid = paid_horse(out) + extra
    unit = paid_horse(out) // out.horse if out.horse > 0 else rin.base_ << rin.raise_
    if paid < 0 or unit <= 0 or paid % unit or paid // unit > 20 or 0 < paid < paid_horse(out):
        return -1
    return paid


@inner
def digest(st, out):
    """A 64-bit digest of the final state: hands, melds, payments, end (FNV-1a over their values)."""
    h = state.FNV_START
    for seat in range(3):
        for part in range(3):
            h = (h ^ st.key[seat, part]) * state.FNV_PRIME
        h = (h ^ st.pung[seat]) * state.FNV_PRIME
        h = (h ^ st.exposed[seat]) * state.FNV_PRIME
        h = (h ^ st.added[seat]) * state.FNV_PRIME
        h = (h ^ st.concealed[seat]) * state.FNV_PRIME
        h = (h ^ st.revealed[seat]) * state.FNV_PRIME
        h = (h ^ st.locked[seat]) * state.FNV_PRIME
        h = (h ^ out.points[seat]) * state.FNV_PRIME
    h = (h ^ (out.end + 1)) * state.FNV_PRIME
    h = (h ^ out.ledger) * state.FNV_PRIME
    h = (h ^ (st.front + 64 * st.back)) * state.FNV_PRIME
    h = (h ^ st.problems) * state.FNV_PRIME
    return h


@jit
def run(rounds, events, rules, tb, st, outs, problems, first):
    """Replay rounds[first:] until the problem rows may not suffice; returns (rounds done up to, problem rows).

    rounds: state.ROUND[n]; events: uint32; rules: ruleset records; outs: state.RESULT[n]; problems: state.PROBLEM[m].
    """
    rows = 0
    for n in range(first, len(rounds)):
        if rows + state.MAX_PROBLEMS > len(problems):
            return n, rows
        rin = rounds[n]
        play(st, rules[rin.rules], tb, rin, outs[n], events)
        rows = hand_over(st, problems, rows, n)
    return len(rounds), rows


@inner
def hand_over(st, problems, rows, n):
    """Append the problems of round n to `problems`, which holds `rows` so far; returns how many it then holds."""
    for i in range(st.problems):
        row = problems[rows]
        row.row = n
        row.code = st.problem_code[i]
        row.event = st.problem_event[i]
        row.seat = st.problem_seat[i]
        row.logged = st.problem_logged[i]
        row.expected = st.problem_expected[i]
        rows += 1
    return rows
