"""What a discard says of what the discarder knew, and what the horse could have been: parts of replay.facts.

The *nearest* discards are the kinds whose discard leaves the hand as near to ready as any.  Honest play picks among
them by what it can see; who avoids those that a hand not yet revealed waits for has seen more.
"""

import numpy as np

from replay.flags import wall_left
from replay.hand import popcount
from replay.jit import inner
from replay.settle import HORSE_LAST, horse_points
from replay.shanten import nearest_discards
from replay.watch import MOST_DISCARDS, UNIT


@inner
def whole(value):
    """A number in whole units of watch.UNIT."""
    return np.rint(value / UNIT) * UNIT


@inner
def held_kinds(st, seat):
    """The kinds in a hand, as a bit set."""
    kinds = 0
    for kind in range(21):
        kinds |= (1 if st.hand[seat, kind] else 0) << kind
    return kinds


@inner
def note_choice(f, w, st, tb, sh, seat, tile):
    """A discard of a seat that may choose: its nearest discards, and what others wait for among them."""
    held = held_kinds(st, seat)
    nearest = nearest_discards(st, tb, sh, seat, held)
    n = f.discards[seat]
    if n < MOST_DISCARDS:
        f.choices[seat, n] = popcount(nearest)
    hidden = 0
    open_ = 0
    for other in range(3):
        if other != seat:
            if st.revealed[other]:
                open_ |= st.waits[other]
            else:
                hidden |= w.waits[other]
    feeds = nearest & open_
    if feeds and held & ~open_:
        chance = np.float64(popcount(feeds)) / np.float64(popcount(nearest))
        f.open_choices[seat] += 1
        f.open_fed[seat] += open_ >> tile & 1
        f.open_expected[seat] += whole(chance)
        f.open_variance[seat] += whole(chance * (1.0 - chance))
    if not hidden & held & ~open_:
        return
    if open_ & held:
        nearest = nearest_discards(st, tb, sh, seat, held & ~open_)
    feeds = nearest & hidden
    if feeds and feeds != nearest and nearest >> tile & 1:
        chance = np.float64(popcount(feeds)) / np.float64(popcount(nearest))
        f.hidden_choices[seat] += 1
        f.hidden_fed[seat] += feeds >> tile & 1
        f.hidden_expected[seat] += whole(chance)
        f.hidden_variance[seat] += whole(chance * (1.0 - chance))


@inner
def note_horse(f, st, rules, rin, seat, tile):
    """A self-draw is about to be settled: what the horse gives, and could have given.

    One tile by its rank, or six that match the winning tile's group, of which six misses count as six hits.
    """
    turned = wall_left(st)
    if rules.side_horse == 0 or turned == 0 or not st.has_wall:
        return
    if rules.side_horse_reveal_only and not st.revealed[seat]:
        return
    one = rules.side_horse == HORSE_LAST
    group = (tile % 9) % 3 if tile < 18 else 20 - tile
    total = 0
    first = 0.0  # of one tile: sums of value and its square over what is left
    second = 0.0
    for kind in range(21):
        copies = max(st.unseen[kind], 0)
        value = 0
        if one:
            if kind != 0 or rules.side_horse_one_dot:
                value = 10 if kind >= 18 else kind % 9 + 1
        elif kind >= 18 or (kind % 9) % 3 == group:
            value = 1
        total += copies
        first += copies * value
        second += copies * value * value
    if total < turned:
        return
    n = np.float64(total)
    mean = first / n
    variance = second / n - mean * mean
    if not one:
        turned = min(6, turned)
        variance = turned * variance * (n - turned) / max(n - 1.0, 1.0)
        mean = turned * mean
        if turned == 6:
            misses = 1.0
            for step in range(6):
                misses *= max(n - first - step, 0.0) / (n - step)
            square = variance + mean * mean + 36.0 * misses
            mean += 6.0 * misses
            variance = square - mean * mean
    f.horses[seat] += 1
    f.horse_points[seat] += horse_points(st, rules, rin, seat, tile)
    f.horse_expected[seat] += whole(mean)
    f.horse_variance[seat] += whole(max(variance, 0.0))
