"""Which fans a winning hand has, in its best reading (rules.md section 4).

Detection is code, value is data: `rules.fan[code]` is a fan's value in the ruleset, 0 where it isn't played.

A complete hand has at most four readings that differ in fans, so that none need be enumerated:

* seven pairs (concealed, every count even, nothing hidden): one fan of the seven-pairs family; where a ruleset
  lacks a fan of the family the next lower one counts; no si gui.
* melds with all triplets: `all_pungs`.
* melds in which the winning 5 is the middle of 4-5-6: `ka_wu_xing`.
* any other split into melds and a pair.

The rest holds in every melds reading (`full_flush`, dragons, `ming_si_gui`, `an_si_gui`, `shou_zhua_yi`) or does not
depend on the hand at all (`after_kong_*`, `rob_kong`, `last_tile_*`, `reveal`).  The best reading has the highest
value; between equal ones the one whose fans come first in the table, then the one with most kan.
"""

from ingest.events import FAN_BITS, FAN_CODE
from replay.hand import add_tile, complete_keys, popcount, waits_of
from replay.jit import inner, jit
from replay.ruleset import mode

ALL_PUNGS = FAN_CODE["all_pungs"]
FULL_FLUSH = FAN_CODE["full_flush"]
SEVEN_PAIRS = FAN_CODE["seven_pairs"]
THREE_DRAGONS_SEVEN_PAIRS = FAN_CODE["three_dragons_seven_pairs"]
LITTLE_THREE_DRAGONS = FAN_CODE["little_three_dragons"]
BIG_THREE_DRAGONS = FAN_CODE["big_three_dragons"]
KA_WU_XING = FAN_CODE["ka_wu_xing"]
MING_SI_GUI = FAN_CODE["ming_si_gui"]
AN_SI_GUI = FAN_CODE["an_si_gui"]
SHOU_ZHUA_YI = FAN_CODE["shou_zhua_yi"]
AFTER_KONG_DRAW = FAN_CODE["after_kong_draw"]
AFTER_KONG_DISCARD = FAN_CODE["after_kong_discard"]
KONG_ON_KONG = FAN_CODE["kong_on_kong"]
ROB_KONG = FAN_CODE["rob_kong"]
LAST_TILE_DRAW = FAN_CODE["last_tile_draw"]
LAST_TILE_DISCARD = FAN_CODE["last_tile_discard"]
REVEAL = FAN_CODE["reveal"]

SELF_DRAW, DISCARD, ROB = range(3)
ADD = mode("score.combine", "add")
SCOPE_ANY = mode("four.scope", "any")
SCOPE_SAME = mode("four.concealed_scope", "same")
SCOPE_AN_ANY = mode("four.concealed_scope", "any")
COUNT_ONE = mode("four.count", "one")
COUNT_ONE_OF_EACH = mode("four.count", "one_of_each")

FIRST_SUIT, SECOND_SUIT, DRAGONS = 0x1FF, 0x1FF << 9, 7 << 18


@inner
def put(rules, fans, code, count):
    """The packed fans with `count` more of one fan, if the ruleset plays it."""
    if count > 0 and rules.fan[code] > 0:
        return fans + (count << FAN_BITS * code)
    return fans


@inner
def combine(rules, fans):
    """Fan values combined, without the reveal factor: their product, or under "add" their sum (1 if none)."""
    product = 1
    total = 0
    for code in range(REVEAL):
        count = fans >> FAN_BITS * code & 7
        for _ in range(count):
            product *= rules.fan[code]
            total += rules.fan[code]
    if rules.score_combine == ADD:
        return total if total > 0 else 1
    return product


@inner
def comes_first(a, b):
    """Whether fan list a precedes b: the lists of table rows compared place by place, a shorter prefix first."""
    for code in range(REVEAL + 1):
        x = a >> FAN_BITS * code & 7
        y = b >> FAN_BITS * code & 7
        if x != y:
            # At the first row where they differ, the list with more of it goes on with this row, the other with a
            # later one or ends.
            more_is_a = x > y
            rest = (b if more_is_a else a) >> FAN_BITS * (code + 1)
            return more_is_a if rest else not more_is_a
    return False


@inner
def kinds_of(st, seat):
    """The set of kinds in a seat's hand and melds."""
    kinds = st.pung[seat] | st.exposed[seat] | st.added[seat] | st.concealed[seat]
    for kind in range(21):
        if st.hand[seat, kind]:
            kinds |= 1 << kind
    return kinds


@inner
def is_complete(st, tb, seat):
    """Whether the hand, the winning tile in it, is complete; hidden triplets stay triplets, so no seven pairs."""
    a = st.key[seat, 0]
    b = st.key[seat, 1]
    d = st.key[seat, 2]
    for kind in range(21):
        if st.hidden[seat] >> kind & 1:
            if st.hand[seat, kind] < 3:
                return False
            if kind < 9:
                a -= 3 * tb.pow5[kind]
            elif kind < 18:
                b -= 3 * tb.pow5[kind]
            else:
                d -= 3 * tb.pow5[kind]
    return complete_keys(tb, a, b, d)


@inner
def consider(st, rules, fans, kan):
    """Take a reading if it is better than the best so far."""
    value = combine(rules, fans)
    better = value > st.value
    if value == st.value:
        better = comes_first(fans, st.fans) or (fans == st.fans and kan > st.kan)
    if better:
        st.value = value
        st.fans = fans
        st.kan = kan


@inner
def si_gui(st, rules, seat, tile, flush):
    """The si gui fans of a melds reading (the winning tile is in the hand)."""
    if flush and not rules.four_with_full_flush:
        return 0
    ming_any = rules.four_scope == SCOPE_ANY
    an_any = ming_any
    if rules.four_concealed_scope != SCOPE_SAME:
        an_any = rules.four_concealed_scope == SCOPE_AN_ANY
    ming = 0
    an = 0
    for kind in range(21):
        held = st.hand[seat, kind]
        if held and st.pung[seat] >> kind & 1 and (ming_any or kind == tile):  # two: a wait on a held four
            ming += 1
        elif held == 4 and (an_any or kind == tile):
            an += 1
    if ming and rules.four_ming_excludes_an:
        an = 0
    if rules.four_count == COUNT_ONE and ming + an > 1:
        an_best = an > 0 and (rules.fan[AN_SI_GUI] >= rules.fan[MING_SI_GUI] or ming == 0)
        an = 1 if an_best else 0
        ming = 0 if an_best else 1
    elif rules.four_count == COUNT_ONE_OF_EACH:
        ming = min(ming, 1)
        an = min(an, 1)
    return put(rules, put(rules, 0, MING_SI_GUI, ming), AN_SI_GUI, an)


@jit
def evaluate(st, rules, tb, seat, tile, by, after_kong, last_tile):
    """Score a winning hand: sets st.value (fans combined), st.fans (packed), st.kan; False if it isn't complete.

    The hand is concealed tiles without the winning one for a discard or a robbed kong, with it for a self-draw.
    `after_kong`: 0, or the number of kongs of the chain that the replacement or the discard belongs to.
    `last_tile`: the wall is empty.
    """
    st.value = -1
    st.fans = 0
    st.kan = 0
    if st.dead[seat]:
        return False
    single = True
    if by != SELF_DRAW:
        if rules.ka_wu_xing_single_wait:
            single = popcount(waits_of(st, tb, seat)) == 1
        if st.hand[seat, tile] > 3:
            return False
        add_tile(st, tb, seat, tile, 1)
    elif rules.ka_wu_xing_single_wait:
        add_tile(st, tb, seat, tile, -1)
        single = popcount(waits_of(st, tb, seat)) == 1
        add_tile(st, tb, seat, tile, 1)

    always = 0
    if by == SELF_DRAW and after_kong:
        always = put(rules, always, AFTER_KONG_DRAW, 1)
    if by == DISCARD and after_kong:
        always = put(rules, always, AFTER_KONG_DISCARD, 1)
    if by == SELF_DRAW and after_kong > 1:
        always = put(rules, always, KONG_ON_KONG, 1)
    if by == ROB:
        always = put(rules, always, ROB_KONG, 1)
    if last_tile and by == SELF_DRAW:
        always = put(rules, always, LAST_TILE_DRAW, 1)
    if last_tile and by == DISCARD:
        always = put(rules, always, LAST_TILE_DISCARD, 1)
    if st.revealed[seat]:
        always = put(rules, always, REVEAL, 1)
    kinds = kinds_of(st, seat)
    flush = (kinds & ~FIRST_SUIT) == 0 or (kinds & ~SECOND_SUIT) == 0
    always = put(rules, always, FULL_FLUSH, 1 if flush else 0)

    kan = 0
    quads = 0
    for kind in range(21):
        held = st.hand[seat, kind]
        if by != SELF_DRAW and kind == tile and not rules.side_kan_with_win:
            held -= 1
        if held >= 3:
            kan += 1
        if st.hand[seat, kind] == 4:
            quads += 1
    kan += popcount(st.exposed[seat] | st.added[seat] | st.concealed[seat])

    seven = st.melds[seat] == 0 and st.tiles[seat] == 14 and st.odd[seat] == 0 and st.hidden[seat] == 0
    if seven:
        level = SEVEN_PAIRS + quads
        while level > SEVEN_PAIRS and rules.fan[level] == 0:
            level -= 1
        if rules.fan[THREE_DRAGONS_SEVEN_PAIRS] > rules.fan[level] and kinds & DRAGONS == DRAGONS:
            level = THREE_DRAGONS_SEVEN_PAIRS
        consider(st, rules, put(rules, always, level, 1), kan if rules.side_kan_seven_pairs else 0)

    if is_complete(st, tb, seat) and not (seven and rules.seven_pairs_first):
        fans = always + si_gui(st, rules, seat, tile, flush)
        triplets = 0
        pairs = 0
        for kind in range(18, 21):
            if st.hand[seat, kind] == 2:
                pairs += 1
            elif st.hand[seat, kind] or (kinds >> kind & 1):
                triplets += 1
        if triplets == 3:
            fans = put(rules, fans, BIG_THREE_DRAGONS, 1)
        elif triplets == 2 and pairs == 1:
            fans = put(rules, fans, LITTLE_THREE_DRAGONS, 1)
        last_in_hand = st.melds[seat] == 4
        if last_in_hand and (rules.shou_zhua_yi_concealed_kong or not st.concealed[seat]):
            fans = put(rules, fans, SHOU_ZHUA_YI, 1)
        all_pungs = all_triplets(st, seat)
        counts_pungs = all_pungs and not (last_in_hand and rules.shou_zhua_yi_replaces_all_pungs)
        if not rules.reveal_hidden_all_pungs and may_hide(st, seat, tile):
            counts_pungs = False
        middle = single and five_in_the_middle(st, tb, seat, tile)
        if counts_pungs and middle and rules.ka_wu_xing_with_all_pungs:
            consider(st, rules, put(rules, put(rules, fans, ALL_PUNGS, 1), KA_WU_XING, 1), kan)
        if counts_pungs:
            consider(st, rules, put(rules, fans, ALL_PUNGS, 1), kan)
        if middle:
            consider(st, rules, put(rules, fans, KA_WU_XING, 1), kan)
        consider(st, rules, fans, kan)

    if by != SELF_DRAW:
        add_tile(st, tb, seat, tile, -1)
    return st.value >= 0


@inner
def may_hide(st, seat, tile):
    """Whether the seat has revealed with hidden triplets, or may have (the winning tile in the hand)."""
    if st.hidden[seat]:
        return True
    for kind in range(21):
        if st.hidden_open[seat] and kind != tile and st.hand[seat, kind] >= 3:
            return True
    return False


@inner
def all_triplets(st, seat):
    """Whether the concealed part is triplets and one pair."""
    pairs = 0
    for kind in range(21):
        held = st.hand[seat, kind]
        if held == 2:
            pairs += 1
        elif held != 0 and held != 3:
            return False
    return pairs == 1


@inner
def five_in_the_middle(st, tb, seat, tile):
    """Whether a reading of the complete hand has the winning 5 as the middle of 4-5-6."""
    if tile != 4 and tile != 13:
        return False
    for kind in (tile - 1, tile, tile + 1):
        if st.hand[seat, kind] < (4 if st.hidden[seat] >> kind & 1 else 1):
            return False
    for kind in (tile - 1, tile, tile + 1):
        add_tile(st, tb, seat, kind, -1)
    found = is_complete(st, tb, seat)
    for kind in (tile - 1, tile, tile + 1):
        add_tile(st, tb, seat, kind, 1)
    return found
