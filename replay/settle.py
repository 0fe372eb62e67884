"""Fans to points per payer to ledger rows (rules.md section 5).

One formula per payer: base × 2^raise × min(combined fans × reveal factors of this pair, cap) + side points.  The
ledger holds everything that is paid; a cause's rows sum to zero over the seats because each row names both ends.
"""

import numpy as np

from ingest.events import FAN_BITS, FAN_CODE
from replay.fans import DISCARD, SELF_DRAW, combine, evaluate
from replay.hand import add_tile
from replay.jit import inner, jit
from replay.problems import CAUSE
from replay.ruleset import mode
from replay.state import MAX_LEDGER

REVEAL = FAN_CODE["reveal"]
WIN, PIAO, HORSE, KAN, RUN = (CAUSE[word] for word in ("win", "piao", "horse", "kan", "run_touch_eight"))
DRAW, NO_SAFE, FEE = (CAUSE[word] for word in ("draw", "no_safe_tile", "fee"))
KONG_CAUSE = CAUSE["kong_exposed"]  # exposed, added, concealed follow one another

PAYER_NONE = mode("reveal.payer", "none")
PAYER_EITHER = mode("reveal.payer", "either")
CHAIN_DOUBLE = mode("kong.chain", "double")
PAYS_FOR_ALL = mode("deal_in.to_revealed", "pays_for_all")
AS_SELF_DRAW = mode("deal_in.to_revealed", "as_self_draw")
REVEALED_PAYS_FOR_ALL = mode("deal_in.revealed_to_revealed", "pays_for_all")
FIRST_REVEALED_ONLY = mode("deal_in.double", "first_revealed_only")
SCALE_RAISED = mode("side.piao_scale", "raised")
SCALE_BASE = mode("side.piao_scale", "base")
HORSE_LAST = mode("side.horse", "last_tile")
HORSE_SIX = mode("side.horse", "six")
HORSE_BACK = mode("side.horse_end", "back")
FIRST_REVEALED = mode("draw.settle", "first_revealed")
TO_UNREVEALED = mode("draw.settle", "revealed_to_unrevealed")
TO_ALL = mode("draw.settle", "revealed_to_all")
READY = mode("draw.settle", "ready")
READY_FLAT = mode("draw.settle", "ready_flat")
KONG_VOID = mode("kong.on_draw", "void")
KONG_UNLESS_MIXED = mode("kong.on_draw", "void_unless_mixed")
MISSING_HORSE = -1
# Fans of a self-draw that the way of drawing gives, not the hand; as bits of packed fans.
NOT_OF_THE_HAND = sum(
    (1 << FAN_BITS) - 1 << FAN_BITS * FAN_CODE[fan] for fan in ("after_kong_draw", "kong_on_kong", "last_tile_draw")
)


@inner
def scaled(points, scale, rin):
    """Side points in points: times base and raise, base, or nothing."""
    if scale == SCALE_RAISED:
        return points * (rin.base_ << rin.raise_)
    if scale == SCALE_BASE:
        return points * rin.base_
    return points


@inner
def pay(out, cause, payer, winner, points):
    """One ledger row; nothing is written for zero points."""
    if points == 0 or payer == winner or out.ledger >= MAX_LEDGER:
        return
    n = out.ledger
    out.ledger_cause[n] = cause
    out.ledger_from[n] = payer
    out.ledger_to[n] = winner
    out.ledger_points[n] = points
    out.ledger = n + 1
    out.points[payer] -= points
    out.points[winner] += points


@inner
def reveal_factor(rules, winner_revealed, payer_revealed):
    """The reveal factor of one pair; the payer's part is no fan of the win."""
    value = rules.fan[REVEAL] if rules.fan[REVEAL] > 0 else 1
    factor = value if winner_revealed else 1
    if payer_revealed and rules.reveal_payer != PAYER_NONE:
        if rules.reveal_payer != PAYER_EITHER or not winner_revealed:
            factor *= value
            if factor > rules.reveal_factor_cap:
                factor = rules.reveal_factor_cap
    return factor


@jit
def share(rules, value, winner_revealed, payer_revealed):
    """The multiple that one payer owes for a hand of combined value `value`."""
    factor = reveal_factor(rules, winner_revealed, payer_revealed)
    cap = rules.score_cap
    if cap > 0 and not rules.score_cap_covers_reveal:
        return min(value, cap) * factor
    total = value * factor
    return min(total, cap) if cap > 0 else total


@inner
def meets_minimum(st, rules, value, seat, payer, by, before):
    """Whether a win reaches the table's minimum; `before`: the payer's reveal is the discard's own and not counted."""
    own = st.revealed[seat] != 0
    if by == SELF_DRAW:
        least = rules.win_self_draw_min
        if least <= 1 or (rules.win_min_exempt_revealed and own):
            return True
        if rules.win_self_draw_min_hand:
            return share(rules, combine(rules, st.fans & ~NOT_OF_THE_HAND), own, False) >= least
        best = 0
        for other in range(3):
            if other != seat:
                best = max(best, share(rules, value, own, st.revealed[other] != 0))
        return best >= least
    least = rules.win_discard_min
    theirs = st.revealed[payer] != 0 and not before
    if least <= 1 or (rules.win_min_exempt_revealed and (own or theirs)):
        return True
    return share(rules, value, own, theirs) >= least


@inner
def settle_kong(st, rules, rin, out, n):
    """Pay kong n of the round at once."""
    seat = np.int64(out.kong_seat[n])
    kind = np.int64(out.kong_kind[n])
    factor = 1
    if rules.kong_chain == CHAIN_DOUBLE:
        factor = 1 << (np.int64(out.kong_chain[n]) - 1)
    stake = rin.base_ << rin.raise_
    before = out.points[seat]
    if kind == 0:
        pay(out, KONG_CAUSE, np.int64(out.kong_from[n]), seat, rules.kong_exposed_points * factor * stake)
    else:
        points = rules.kong_added_points if kind == 1 else rules.kong_concealed_points
        for step in range(1, 3):
            pay(out, KONG_CAUSE + kind, (seat + step) % 3, seat, points * factor * stake)
    out.kong_points[n] = out.points[seat] - before


@inner
def horse_points(st, rules, rin, seat, tile):
    """Unscaled horse points of a self-draw, -1 where they need a wall that the log lacks."""
    left = 44 - st.front - st.back
    if rules.side_horse_reveal_only and not st.revealed[seat]:
        return 0
    wanted = 1 if rules.side_horse == HORSE_LAST else 6
    if left == 0:
        return 0
    if not st.has_wall:
        return MISSING_HORSE
    turned = min(wanted, left)
    points = 0
    # Winning on 中 (20) counts as 1-4-7, 发 (19) as 2-5-8, 白 (18) as 3-6-9.
    group = (tile % 9) % 3 if tile < 18 else 20 - tile
    for i in range(turned):
        place = 43 - st.back - i if rules.side_horse_end == HORSE_BACK else st.front + i
        kind = st.wall[place]
        if wanted == 1:
            if kind != 0 or rules.side_horse_one_dot:
                points += 10 if kind >= 18 else kind % 9 + 1
        elif kind >= 18 or (kind % 9) % 3 == group:
            points += 1
    if wanted == 6 and turned == 6 and points == 0:
        points = 6
    return points


@inner
def longest_suit(st, seat):
    """Tiles of the longest part (suit or dragons) of the concealed hand."""
    best = 0
    for part in range(3):
        total = 0
        for kind in range(part * 9, min(part * 9 + 9, 21)):
            total += st.hand[seat, kind]
        best = max(best, total)
    return best


@inner
def pay_share(st, rules, rin, out, seat, owner, payer, value, kan, run, horse, by):
    """One winning payment: the share of seat `owner`, paid by `payer`, with its side points."""
    stake = rin.base_ << rin.raise_
    multiple = share(rules, value, st.revealed[seat] != 0, st.revealed[owner] != 0)
    pay(out, WIN, payer, seat, multiple * stake)
    if by != SELF_DRAW or rules.side_addon_revealed_payer or st.revealed[seat] or not st.revealed[owner]:
        if rules.side_kan:
            pay(out, KAN, payer, seat, scaled(kan, rules.side_kan_scale, rin))
        if rules.side_run_touch_eight:
            pay(out, RUN, payer, seat, run)
    if horse > 0:
        pay(out, HORSE, payer, seat, scaled(horse, rules.side_horse_scale, rin))
    if rules.side_piao_max:
        pay(out, PIAO, payer, seat, scaled(rin.piao[seat] + rin.piao[owner], rules.side_piao_scale, rin))


@inner
def settle_win(st, rules, tb, rin, out, n, for_all):
    """Settle win n of the round: `st` still has the hand as it won, st.value and st.kan are of this win.

    `for_all`: whoever dealt in pays both shares, whatever the keys say.
    """
    seat = out.win_seat[n]
    tile = out.win_tile[n]
    payer = out.win_from[n]
    by = out.win_by[n]
    before = out.points[seat]
    run = 0
    if rules.side_run_touch_eight:
        if by != SELF_DRAW:
            add_tile(st, tb, seat, tile, 1)
        run = 1 + st.kan + (1 if by == SELF_DRAW else 0) + max(0, longest_suit(st, seat) - 7)
        if by != SELF_DRAW:
            add_tile(st, tb, seat, tile, -1)
    horse = 0
    if by == SELF_DRAW:
        if rules.side_horse != 0:
            horse = horse_points(st, rules, rin, seat, tile)
            out.horse = horse
        for step in range(1, 3):
            other = (seat + step) % 3
            pay_share(st, rules, rin, out, seat, other, other, st.value, st.kan, run, horse, by)
    else:
        third = 3 - seat - payer
        pay_share(st, rules, rin, out, seat, payer, payer, st.value, st.kan, run, 0, by)
        if for_all:
            pay_share(st, rules, rin, out, seat, third, payer, st.value, st.kan, run, 0, by)
        elif st.revealed[seat] and st.revealed[payer]:
            if rules.deal_in_revealed_to_revealed == REVEALED_PAYS_FOR_ALL:
                pay_share(st, rules, rin, out, seat, third, payer, st.value, st.kan, run, 0, by)
        elif st.revealed[seat]:
            if rules.deal_in_to_revealed == PAYS_FOR_ALL:
                pay_share(st, rules, rin, out, seat, third, payer, st.value, st.kan, run, 0, by)
            elif rules.deal_in_to_revealed == AS_SELF_DRAW:
                pay_share(st, rules, rin, out, seat, third, third, st.value, st.kan, run, 0, by)
    out.win_points[n] += out.points[seat] - before


@inner
def best_wait(st, rules, tb, seat):
    """The highest combined value that a ready seat's waits could give as a discard win, 0 if it is not ready."""
    waits = st.waits[seat]
    best = 0
    for kind in range(21):
        if waits >> kind & 1 and evaluate(st, rules, tb, seat, kind, DISCARD, 0, False):
            best = max(best, st.value)
    return best


@inner
def settle_draw(st, rules, tb, rin, out):
    """Payments of an exhaustive draw; then, where the ruleset says so, the kongs are taken back."""
    flat = scaled(rules.draw_amount, rules.draw_scale, rin)
    revealed = 0
    ready = 0
    for seat in range(3):
        if st.revealed[seat]:
            revealed += 1
        if st.waits[seat]:
            ready += 1
    for payer in range(3):
        for seat in range(3):
            if payer == seat:
                continue
            owes = False
            if rules.draw_settle == FIRST_REVEALED:
                owes = st.revealed[payer] == 1
            elif rules.draw_settle == TO_UNREVEALED:
                owes = st.revealed[payer] != 0 and not st.revealed[seat]
            elif rules.draw_settle == TO_ALL:
                owes = st.revealed[payer] != 0
            elif rules.draw_settle == READY_FLAT:
                owes = st.revealed[payer] == 1 if ready == 3 else st.waits[seat] != 0 and st.waits[payer] == 0
            elif rules.draw_settle == READY:
                if ready == 3:
                    if st.revealed[payer] and not st.revealed[seat]:
                        best = rules.draw_all_ready_factor * best_wait(st, rules, tb, seat)
                        pay(out, DRAW, payer, seat, share(rules, best, False, False) * (rin.base_ << rin.raise_))
                elif st.waits[seat] and not st.waits[payer]:
                    own = st.revealed[seat] != 0 and rules.draw_best_with_reveal != 0
                    best = share(rules, best_wait(st, rules, tb, seat), own, False)
                    pay(out, DRAW, payer, seat, best * (rin.base_ << rin.raise_))
            if owes:
                pay(out, DRAW, payer, seat, flat)
    mixed = 0 < ready < 3
    if rules.kong_on_draw == KONG_VOID or (rules.kong_on_draw == KONG_UNLESS_MIXED and not mixed):
        void_kongs(out)


@inner
def void_kongs(out):
    """Take back every kong payment of the round."""
    kept = 0
    for n in range(out.ledger):
        cause = out.ledger_cause[n]
        if KONG_CAUSE <= cause < KONG_CAUSE + 3:
            out.points[out.ledger_from[n]] += out.ledger_points[n]
            out.points[out.ledger_to[n]] -= out.ledger_points[n]
            continue
        out.ledger_cause[kept] = cause
        out.ledger_from[kept] = out.ledger_from[n]
        out.ledger_to[kept] = out.ledger_to[n]
        out.ledger_points[kept] = out.ledger_points[n]
        kept += 1
    out.ledger = kept
    for n in range(out.kongs):
        out.kong_points[n] = 0


@inner
def settle_no_safe_tile(st, rules, tb, rin, out, seat):
    """The seat to discard holds only tiles that revealed seats win on: it alone pays each of them its best."""
    for other in range(3):
        if other == seat or not st.revealed[other]:
            continue
        best = 0
        for kind in range(21):
            if st.hand[seat, kind] and st.waits[other] >> kind & 1:
                if evaluate(st, rules, tb, other, kind, DISCARD, st.after_kong, False):
                    best = max(best, share(rules, st.value, True, st.revealed[seat] != 0))
        pay(out, NO_SAFE, seat, other, best * (rin.base_ << rin.raise_))
