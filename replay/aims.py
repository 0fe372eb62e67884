"""How far a hand is from each fan of its shape: tiles that it lacks to be ready for a win with that fan.

0 is ready for it, like shanten; only the own hand and melds count, not which copies are left.  The shortest way for
each fan of replay.fans that lies in the hand, FAR where the hand cannot have it (a meld forbids it, the ruleset does
not play it):

* `all_pungs`: triplets of kinds that have no meld yet, and a pair.
* `full_flush`: melds and a pair, or seven pairs, of one suit, which all melds are of.
* `seven_pairs` and the rest of its family: seven pairs with at least as many fours, or with the dragons; no melds.
* `little_three_dragons`, `big_three_dragons`: their triplets and pair (or melds), the rest of the hand in the suits.
* `ka_wu_xing`: a 4 and a 6 of a suit, and the hand without them ready but for a meld; the 5 can still come.
* `ming_si_gui`: of a kind that is punged, the fourth in a run: the rest of the run and of the hand.
* `an_si_gui`: of a kind of which three are held, all four as a triplet and a run, a pair and two, or four runs.
* `shou_zhua_yi`: for each meld that is not on the table a kind to claim: one tile where two are held.

Parts of a way are counted apart: one that takes a fifth copy of a kind between them is not seen to.  Where a ruleset
asks for the winning tile (four.scope), a fourth that is in the hand already is none.
"""

import numpy as np

from replay.fans import (
    ALL_PUNGS,
    AN_SI_GUI,
    BIG_THREE_DRAGONS,
    FIRST_SUIT,
    FULL_FLUSH,
    KA_WU_XING,
    LITTLE_THREE_DRAGONS,
    MING_SI_GUI,
    SCOPE_AN_ANY,
    SCOPE_ANY,
    SCOPE_SAME,
    SECOND_SUIT,
    SEVEN_PAIRS,
    SHOU_ZHUA_YI,
    THREE_DRAGONS_SEVEN_PAIRS,
)
from replay.hand import popcount
from replay.jit import inner
from replay.shanten import suit_class
from replay.watch import SHAPES

FAR = 99
NEAR = 2  # tiles from ready for a fan: what is noted
AIM = 1  # tiles from ready for a fan: the hand aims at it


@inner
def short_of(zeros, ones, pairs):
    """Tiles lacking to `pairs` pairs, where some are there and others lack one tile."""
    pairs -= min(pairs, zeros)
    return 2 * pairs - min(pairs, ones)


@inner
def pungs_away(melds, three, two, one):
    """All pungs: how many kinds without a meld are held three or four times, twice, once."""
    need = 4 - melds
    lack = 0
    take = min(need, three)
    need, three = need - take, three - take
    take = min(need, two)
    need, two, lack = need - take, two - take, lack + take
    take = min(need, one)
    need, one, lack = need - take, one - take, lack + 2 * take
    return lack + 3 * need + (0 if three + two > 0 else 1 if one > 0 else 2) - 1


@inner
def fours_away(four, three, two, one, fours):
    """Seven pairs with at least so many fours: how many kinds are held so many times."""
    lack = 0
    for _ in range(fours):  # of the kinds held most
        if four > 0:
            four -= 1
        elif three > 0:
            three, lack = three - 1, lack + 1
        elif two > 0:
            two, lack = two - 1, lack + 2
        elif one > 0:
            one, lack = one - 1, lack + 3
        else:
            lack += 4
    return lack + short_of(2 * four + three + two, one + three, 7 - 2 * fours) - 1


@inner
def dragons_away(st, sh, seat, kinds, two_suits, big):
    """Little or big three dragons."""
    others = popcount(kinds & (FIRST_SUIT | SECOND_SUIT))
    rest = (1 if big else 2) - others
    if rest < 0:
        return FAR
    best = FAR
    for pair in range(1 if big else 3):
        lack = np.int64(sh.two_rows[two_suits, rest, 1 if big else 0])
        for dragon in range(3):
            held = st.hand[seat, 18 + dragon]
            melded = kinds >> (18 + dragon) & 1
            if not big and dragon == pair:
                lack += FAR if melded else max(0, 2 - held)
            elif not melded:
                lack += max(0, 3 - held)
        best = min(best, lack - 1)
    return best


@inner
def run_away(st, sh, tb, seat, part, start, but, melds):
    """Tiles lacking to a hand that has the run from `start` of a suit, apart from the rank `but` (-1: none) of it."""
    key = st.key[seat, part]
    lack = 0
    for rank in range(start, start + 3):
        if rank == but:
            continue
        if st.hand[seat, 9 * part + rank]:
            key -= tb.pow5[rank]
        else:
            lack += 1
    two = sh.suits[suit_class(sh, key), suit_class(sh, st.key[seat, 1 - part])]
    return lack + np.int64(sh.standard[two, sh.dragon[st.key[seat, 2]], melds + 1]) + 1


@inner
def five_away(st, sh, tb, seat, melds):
    """Ka wu xing."""
    best = FAR
    for part in range(2):
        five = 9 * part + 4
        held = st.hand[seat, five]
        if held == 4 or (st.exposed[seat] | st.added[seat] | st.concealed[seat]) >> five & 1:
            continue
        if held and st.pung[seat] >> five & 1:
            continue
        best = min(best, run_away(st, sh, tb, seat, part, 3, 4, melds))
    return best


@inner
def fourth_of_pung_away(st, rules, sh, tb, seat, melds):
    """Ming si gui."""
    best = FAR
    for kind in range(18):
        if not st.pung[seat] >> kind & 1 or (st.hand[seat, kind] and rules.four_scope != SCOPE_ANY):
            continue
        part = kind // 9
        rank = kind % 9
        for start in range(max(rank - 2, 0), min(rank, 6) + 1):
            best = min(best, run_away(st, sh, tb, seat, part, start, -1, melds) - 1)
    return best


@inner
def four_in_hand_away(st, rules, sh, tb, seat, melds):
    """An si gui."""
    any_four = rules.four_scope == SCOPE_ANY
    if rules.four_concealed_scope != SCOPE_SAME:
        any_four = rules.four_concealed_scope == SCOPE_AN_ANY
    best = FAR
    for kind in range(18):
        held = st.hand[seat, kind]
        if held < 3 or (held == 4 and not any_four):
            continue
        for own in (3, 2, 0):  # of the four: a triplet and a run, a pair and two runs, or four runs
            runs = 4 - own
            if melds + runs + own // 3 > 4:
                continue
            for first in range(runs + 1):
                for second in range(runs + 1 - first):
                    lack = four_away(st, sh, tb, seat, kind, own, first, second, runs - first - second, melds)
                    best = min(best, lack - 1)
    return best


@inner
def four_away(st, sh, tb, seat, kind, own, first, second, third, melds):
    """Tiles lacking to a hand with all four of a kind: `own` in a triplet or pair, the others in runs that begin two
    ranks and one below it and with it."""
    part = kind // 9
    rank = kind % 9
    if (first and rank < 2) or (second and (rank < 1 or rank > 7)) or (third and rank > 6):
        return FAR
    key = st.key[seat, part]
    lack = 0
    for step in range(-2, 3):
        need = own + first + second + third
        if step < 0:
            need = first + (second if step == -1 else 0)
        elif step > 0:
            need = third + (second if step == 1 else 0)
        if need == 0:
            continue
        held = min(st.hand[seat, kind + step], need)
        lack += need - held
        key -= held * tb.pow5[rank + step]
    two = sh.suits[suit_class(sh, key), suit_class(sh, st.key[seat, 1 - part])]
    of_dragons = sh.dragon[st.key[seat, 2]]
    fixed = melds + first + second + third + own // 3
    if own == 2:
        return lack + np.int64(sh.bare[two, of_dragons, fixed])
    return lack + np.int64(sh.standard[two, of_dragons, fixed]) + 1


@inner
def flush_away(st, sh, seat, kinds, melds):
    """Full flush."""
    best = FAR
    for part in range(2):
        if kinds & ~(FIRST_SUIT << 9 * part):
            continue
        best = min(best, np.int64(sh.rows[suit_class(sh, st.key[seat, part]), 4 - melds, 1]) - 1)
        if melds == 0:
            zeros = 0
            ones = 0
            for kind in range(9 * part, 9 * part + 9):
                zeros += st.hand[seat, kind] // 2
                ones += st.hand[seat, kind] & 1
            best = min(best, short_of(zeros, ones, 7) - 1)
    return best


@inner
def family_away(st, w, seat):
    """Seven pairs and the rest of its family, into w.aim."""
    four, three, two, one = 0, 0, 0, 0
    zeros, ones, dragons = 0, 0, 0  # pairs, tiles beside them, tiles lacking to the dragons' pairs
    for kind in range(21):
        held = st.hand[seat, kind]
        four += held == 4
        three += held == 3
        two += held == 2
        one += held == 1
        if kind < 18:
            zeros += held // 2
            ones += held & 1
        else:
            dragons += max(0, 2 - held)
            zeros += held == 4
            ones += held == 3
    for fours in range(4):
        w.aim[SEVEN_PAIRS + fours] = fours_away(four, three, two, one, fours)
    w.aim[THREE_DRAGONS_SEVEN_PAIRS] = dragons + short_of(zeros, ones, 4) - 1


@inner
def find_aims(st, w, rules, sh, tb, seat, far_too):
    """How far the seat's hand is from each fan of SHAPES, into w.aim; what is farther than NEAR only if `far_too`."""
    melds = st.melds[seat]
    kinds = st.pung[seat] | st.exposed[seat] | st.added[seat] | st.concealed[seat]
    w.aim[:] = FAR
    if melds > 4:
        return
    three, two, one = 0, 0, 0  # kinds without a meld that are held so many times
    pairs, first, suit, dragons = 0, 0, 0, 3 * popcount(kinds >> 18)
    for kind in range(21):
        held = st.hand[seat, kind]
        if kind == 9:
            first, suit = suit, 0
        if kind < 18:
            suit += held
        else:
            dragons += held
        pairs += held // 2
        if not kinds >> kind & 1:
            three += held >= 3
            two += held == 2
            one += held == 1
    if not (melds == 4 and rules.shou_zhua_yi_replaces_all_pungs):
        w.aim[ALL_PUNGS] = pungs_away(melds, three, two, one)
    if rules.shou_zhua_yi_concealed_kong or not st.concealed[seat]:
        paired = min(4 - melds, three + two)
        single = min(4 - melds - paired, one)
        w.aim[SHOU_ZHUA_YI] = paired + 2 * single + 3 * (4 - melds - paired - single)
    if melds == 0 and (far_too or pairs >= 6 - NEAR):
        family_away(st, w, seat)
    if far_too or max(first, suit) >= 13 - 3 * melds - NEAR:
        w.aim[FULL_FLUSH] = flush_away(st, sh, seat, kinds, melds)
    if far_too or dragons >= 7 - NEAR:
        two_suits = sh.suits[suit_class(sh, st.key[seat, 0]), suit_class(sh, st.key[seat, 1])]
        w.aim[LITTLE_THREE_DRAGONS] = dragons_away(st, sh, seat, kinds, two_suits, False)
        w.aim[BIG_THREE_DRAGONS] = dragons_away(st, sh, seat, kinds, two_suits, True)
    if melds < 4:
        w.aim[KA_WU_XING] = five_away(st, sh, tb, seat, melds)
        w.aim[MING_SI_GUI] = fourth_of_pung_away(st, rules, sh, tb, seat, melds)
        w.aim[AN_SI_GUI] = four_in_hand_away(st, rules, sh, tb, seat, melds)
    for code in range(SHAPES):
        if rules.fan[code] == 0:
            w.aim[code] = FAR


@inner
def note_aims(f, st, w, rules, sh, tb, seat):
    """Note how near the hand, whose shanten is w.away, is to each fan, and after how many own discards."""
    if w.away[seat] > NEAR:  # no fan is nearer than ready
        return
    find_aims(st, w, rules, sh, tb, seat, False)
    for code in range(SHAPES):
        away = w.aim[code]
        if away > NEAR:
            continue
        if away < f.aim_best[seat, code]:
            f.aim_best[seat, code] = away
        if f.aim_near[seat, code] < 0:
            f.aim_near[seat, code] = f.discards[seat]
        if away <= AIM and f.aim_turn[seat, code] < 0:
            f.aim_turn[seat, code] = f.discards[seat]
        if away <= 0 and f.aim_ready[seat, code] < 0:
            f.aim_ready[seat, code] = f.discards[seat]


@inner
def start_aims(f, st, w, rules, sh, tb, seat):
    """How far the dealt hand is from each fan."""
    find_aims(st, w, rules, sh, tb, seat, True)
    for code in range(SHAPES):
        f.aim_start[seat, code] = w.aim[code]
        f.aim_best[seat, code] = FAR
        f.aim_near[seat, code] = -1
        f.aim_turn[seat, code] = -1
        f.aim_ready[seat, code] = -1
