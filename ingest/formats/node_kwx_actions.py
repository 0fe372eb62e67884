"""The action list of a node-kwx row as packed events: kong kinds inferred, reveals and robbed kongs put in order.

A row stores flat triples (seat, code, tile).  Codes: 1 discard, 2 draw, 3 pung, 4 kong, 5 win on another's tile,
6 self-draw, 7 reveal.  What the triples leave out is inferred from the hands as dealt and from nothing else; an
illegal triple is passed on as it stands, for the replay to flag.  Source: recorded/README.md section 2.4.
"""

from ingest import events as ev
from ingest.rejects import Reject
from ingest.tiles import KINDS, WALL_TILES

FIELD = "action_records"
SEATS = 3
STRIDE = 3  # numbers of one triple
CODE_DISCARD, CODE_DRAW, CODE_PUNG, CODE_KONG, CODE_WIN, CODE_SELF_DRAW, CODE_REVEAL = range(1, 8)

# Packed verbs of the frequent events, without a source (see ingest.events.pack).
_NO_SOURCE = ev.NO_SEAT << 11
_DRAW, _REPLACEMENT = ev.DRAW << 2 | _NO_SOURCE, ev.REPLACEMENT << 2 | _NO_SOURCE
_DISCARD, _DISCARD_DRAWN = ev.DISCARD << 2 | _NO_SOURCE, ev.DISCARD_DRAWN << 2 | _NO_SOURCE

# Server tile codes to kinds: 0-8 dots, 9-17 bamboo, 27 中, 28 发, 29 白.
KIND_OF_CODE = {code: code for code in range(18)} | {27: 20, 28: 19, 29: 18}


def check(flat: list) -> None:
    """Reject unless `flat` is a list of whole triples of integers in range."""
    if not set(map(type, flat)) <= {int}:
        wrong = next(item for item in flat if type(item) is not int)
        raise Reject("bad_type", FIELD, f"{wrong!r} among the actions, expected integers")
    if len(flat) % STRIDE:
        raise Reject("bad_count", FIELD, f"{len(flat)} numbers, expected triples (seat, action, tile)")
    for name, start, allowed in (("seat", 0, range(SEATS)), ("action", 1, range(CODE_DISCARD, CODE_REVEAL + 1))):
        if not set(flat[start::STRIDE]) <= set(allowed):
            at = next(i for i in range(start, len(flat), STRIDE) if flat[i] not in allowed)
            message = f"triple {at // STRIDE}: {name} {flat[at]}, expected {allowed[0]} to {allowed[-1]}"
            raise Reject("bad_token", FIELD, message)
    if not set(flat[2::STRIDE]) <= KIND_OF_CODE.keys():
        at = next(i for i in range(2, len(flat), STRIDE) if flat[i] not in KIND_OF_CODE)
        raise Reject("bad_tile", FIELD, f"triple {at // STRIDE}: tile code {flat[at]}, expected 0-17 or 27-29")


def _kong(seat: int, kind: int, held: int, own_pung: bool, discard: tuple[int, int] | None) -> int:
    """The packed kong of one triple: its kind follows from what lies on the table and in the hand."""
    offered = discard is not None and discard[0] != seat
    if offered and discard[1] == kind and held >= 3:
        return ev.pack(seat, ev.KONG, kind, discard[0])
    if held < 4 and own_pung:
        return ev.pack(seat, ev.ADDED_KONG, kind)
    if held < 4 and offered:
        return ev.pack(seat, ev.KONG, kind, discard[0])
    return ev.pack(seat, ev.CONCEALED_KONG, kind)


def _wins(flat: list, first: int, discard: tuple[int, int] | None, turn: int, own_pungs: list[set[int]]) -> list:
    """The run of wins on another's tile that starts at triple `first`: [(packed event, triple)] in log order.

    The row has them in the order of the clicks, the log in seat order from the payer.  A win while no discard lies
    open robs the turn seat's added kong, which the row leaves out: it is put before the wins.
    """
    out = []
    at = first
    while at * STRIDE < len(flat) and flat[at * STRIDE + 1] == CODE_WIN:
        seat, kind = flat[at * STRIDE], KIND_OF_CODE[flat[at * STRIDE + 2]]
        payer = turn if seat != turn else ev.NO_SEAT
        if not out and discard is None and payer != ev.NO_SEAT and kind in own_pungs[turn]:
            out.append((-1, ev.pack(turn, ev.ADDED_KONG, kind), at))
        out.append(((seat - turn) % SEATS, ev.pack(seat, ev.WIN, kind, payer), at))
        at += 1
    out.sort(key=lambda entry: entry[0])
    return [(event, number) for _, event, number in out]


def translate(flat: list, deal: list[list[int]], dealer: int) -> tuple[list[int], list[int]]:
    """Checked triples to (packed events, number of the triple that each stems from).

    `deal` holds the three dealt hands as kinds.  The exhausted wall's end, which no triple tells, carries the count
    of triples; a list that just stops gets no end.
    """
    hands = [[hand.count(kind) for kind in range(KINDS)] for hand in deal]
    own_pungs: list[set[int]] = [set(), set(), set()]
    events: list[int] = []
    numbers: list[int] = []
    turn = dealer
    drawn = -1  # the kind just drawn, while its seat is to act
    draws = 0
    discard: tuple[int, int] | None = None  # (seat, kind) while it can be claimed
    konger = -1  # the seat that a replacement is due to
    number = code = 0
    count = len(flat) // STRIDE
    while number < count:
        seat, code, tile = flat[number * STRIDE : number * STRIDE + STRIDE]
        kind = KIND_OF_CODE[tile]
        if code == CODE_DRAW:
            events.append(seat | (_REPLACEMENT if konger == seat else _DRAW) | kind << 6)
            hands[seat][kind] += 1
            turn, drawn, discard, konger = seat, kind, None, -1
            draws += 1
        elif code == CODE_DISCARD:
            following = number * STRIDE + STRIDE
            if reveals := flat[following : following + 2] == [seat, CODE_REVEAL]:  # stands after its discard here
                events.append(ev.pack_reveal(seat))
                numbers.append(number + 1)
            events.append(seat | (_DISCARD_DRAWN if seat == turn and kind == drawn else _DISCARD) | kind << 6)
            hands[seat][kind] -= 1
            turn, drawn, discard, konger = seat, -1, (seat, kind), -1
            numbers.append(number)
            number += 1 + reveals
            continue
        elif code == CODE_PUNG:
            events.append(ev.pack(seat, ev.PUNG, kind, discard[0] if discard else ev.NO_SEAT))
            hands[seat][kind] -= 2
            own_pungs[seat].add(kind)
            turn, drawn, discard, konger = seat, -1, None, -1
        elif code == CODE_KONG:
            events.append(_kong(seat, kind, hands[seat][kind], kind in own_pungs[seat], discard))
            hands[seat][kind] = 0
            own_pungs[seat].discard(kind)
            turn, drawn, discard, konger = seat, -1, None, seat
        elif code == CODE_WIN:
            for event, at in _wins(flat, number, discard, turn, own_pungs):
                events.append(event)
                numbers.append(at)
            number = max(numbers) + 1
            continue
        elif code == CODE_SELF_DRAW:
            events.append(ev.pack(seat, ev.WIN, kind))
        else:
            events.append(ev.pack_reveal(seat))
        numbers.append(number)
        number += 1
    if discard is not None and draws >= WALL_TILES and code in (CODE_DISCARD, CODE_REVEAL):
        events.append(ev.pack(ev.NO_SEAT, ev.EXHAUSTED))
        numbers.append(count)
    return events, numbers
