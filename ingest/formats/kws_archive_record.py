"""One history record to the values of a round: who sat where, deal, events, final hands, what was paid and why.

What the record says twice about the play (actions and rivers, actions and melds, winning tile and hand) must agree, or
it is a reject with the key path as its field.  What it says of the payment is passed on, for the replay to compare.
Words and values that name rules stand in kws_archive.toml.  Source: recorded/README.md section 7.
"""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from ingest import events as ev
from ingest.formats.kws_archive_actions import MAPPING, SEATS, Seen, parse, seats_of, translate
from ingest.formats.kwx_json import type_of
from ingest.formats.kwx_record import BASE_LIMIT, NAME_LIMIT, milliseconds
from ingest.rejects import Reject
from ingest.tiles import COPIES, PAD

SUITS = "ps"
HAND, DEALER_HAND = 13, 14
MEMBERS = 4  # people in a room
LIST_LIMIT = 256  # actions, ledger lines; a round of 44 draws has far fewer
VALUE_LIMIT = 1 << 12  # of one factor
JS_MAX = 2**53 - 1  # the largest whole number that the server's language keeps exact
MELD_TILES = {"peng": 3, "ming": 4, "an": 4, "bu": 4}
TILES, KEYS = MAPPING["tiles"], MAPPING["keys"]
FACTORS = MAPPING["factors"]
REVEAL = ev.FAN_CODE["reveal"]


class Row(NamedTuple):
    """The values of a round, named as the columns of events.ROUNDS; `id` is the record's own."""

    id: str
    round: int
    time: str | None
    time_ms: int | None
    rules: str
    options: dict[str, Any]
    members: tuple[int, ...]  # numbers in the room, by seat
    names: tuple[str | None, ...]  # by seat; None who is nowhere named
    dealer: int
    dice: tuple[int, int] | None
    base: int
    deal: bytes
    events: list[int]
    event_no: list[int]
    result_end: int
    result_points: list[int]
    result_kongs: list[int] | None
    result_wins: list[dict[str, Any]]
    settlement: dict[str, Any]


def _take(value: Any, field: str, kind: type, size: int | None = None) -> Any:
    """A value of a JSON type, a list of `size` (at most LIST_LIMIT without one); Reject."""
    if type(value) is not kind:
        words = {int: "an integer", str: "a text", list: "a list", dict: "an object", bool: "true or false"}
        raise Reject("bad_type", field, f"{type_of(value)}, expected {words[kind]}")
    if kind is list and (len(value) > LIST_LIMIT if size is None else len(value) != size):
        raise Reject("bad_count", field, f"{len(value)} values, expected {size or f'at most {LIST_LIMIT}'}")
    return value


def _integer(value: Any, field: str, low: int, high: int) -> int:
    if not low <= _take(value, field, int) <= high:
        raise Reject("bad_value", field, f"{value}, expected {low} to {high}")
    return value


def _text(value: Any, field: str) -> str:
    if not 0 < len(_take(value, field, str)) <= NAME_LIMIT:
        raise Reject("bad_value", field, f"{len(value)} characters, expected 1 to {NAME_LIMIT}")
    return value


def known(value: Any, keys: Collection[str], path: str = "", optional: Collection[str] = ()) -> dict[str, Any]:
    """`value` as an object that has only `keys` and, but for the `optional` ones, all of them; Reject."""
    for key in _take(value, path.rstrip(".") or "record", dict):
        if key not in keys:
            raise Reject("unknown_key", path + key[:80], f"unknown key {key[:80]!r}")
    for key in keys:
        if key not in value and key not in optional:
            raise Reject("missing_key", path + key, f"no {key!r}")
    return value


def _integers(value: Any, field: str, low: int, high: int) -> list[int]:
    """One integer a seat."""
    return [_integer(one, f"{field}.{at}", low, high) for at, one in enumerate(_take(value, field, list, SEATS))]


def _tiles(value: Any, field: str) -> list[int]:
    kinds = []
    for place, name in enumerate(_take(value, field, list)):
        if type(name) is not str or name not in TILES:
            raise Reject("bad_tile", f"{field}.{place}", f"{type_of(name)}, expected a tile as p1, s9 or z7")
        kinds.append(TILES[name])
    return kinds


def _seat(value: Any, field: str) -> int:
    return _integer(value, field, 0, SEATS - 1)


def _bits(kinds: list[int]) -> int:
    return sum(1 << kind for kind in set(kinds))


def _packed(hands: list[list[int]]) -> bytes:
    return b"".join(bytes(hand) + bytes([PAD]) * (DEALER_HAND - len(hand)) for hand in hands)


def convert(value: dict[str, Any], told: list[str] | None) -> Row:
    """The round of one record.  told: the names of the room's people, where an archive has them.  Raises Reject."""
    known(value, KEYS["element"], optional=KEYS["optional"])
    members = _integers(value["seats"], "seats", 0, MEMBERS - 1)
    if len(set(members)) < SEATS:
        raise Reject("bad_value", "seats", f"{members}, expected three different people")
    if told is not None and max(members) >= len(told):
        raise Reject("bad_value", "seats", f"{members}, but the room has {len(told)} people")
    deal, hands, recorded = _players(value["players"], members)
    dealers = [seat for seat, hand in enumerate(deal) if len(hand) == DEALER_HAND]
    if len(dealers) != 1 or any(len(hand) not in (HAND, DEALER_HAND) for hand in deal):
        raise Reject("bad_count", "players", f"{[len(hand) for hand in deal]} tiles dealt, expected 13, 13 and 14")
    dealer = dealers[0]

    texts = [_take(one, f"actions.{at}", str) for at, one in enumerate(_take(value["actions"], "actions", list))]
    actions, dice = parse(texts)
    seats = seats_of(actions, None if told is None else [told[one] for one in members], recorded, dealer)
    events, numbers = translate(actions, seats)
    ending = _ending(value, hands)
    for seat, hand in enumerate(hands):
        due = HAND - 3 * len(recorded[seat].melds) + (ending == [ev.pack(seat, ev.WIN, _win_tile(value))])
        if len(hand) != due:
            raise Reject("bad_count", f"players.{seat}.hand", f"{len(hand)} tiles, expected {due} beside the melds")

    config = known(value["config"], ("base", "cap", "mode"), "config.")
    base = _integer(config["base"], "config.base", 1, BASE_LIMIT)
    time = value.get("endedAt")
    by_seat = {seat: name for name, seat in seats.items()}
    won = bool(value["winners"])
    lines = _lines(value["lines"], "lines", won)
    kong_lines = _lines(value["kongs"], "kongs", won)
    shares = _shares(value)
    return Row(
        id=_text(value["id"], "id"),
        round=_integer(value["round"], "round", 0, JS_MAX),
        time=time,
        time_ms=None if time is None else milliseconds(_take(time, "endedAt", str)),
        rules=MAPPING["rules"],
        options=_options(config),
        members=tuple(members),
        names=tuple(told[one] if told else by_seat.get(seat) for seat, one in enumerate(members)),
        dealer=dealer,
        dice=dice,
        base=base,
        deal=_packed(deal),
        events=events + ending,
        event_no=numbers + [len(texts)] * len(ending),
        result_end=ev.ENDS.index("win" if won else "draw"),
        result_points=_integers(value["delta"], "delta", -JS_MAX, JS_MAX),
        result_kongs=_kongs(kong_lines, won, value.get("keepKongs")),
        result_wins=[_win(event, shares, recorded, config["cap"]) for event in ending if won],
        settlement={
            "hands": _packed(hands),
            "waits": _waits(value.get("ready")),
            "next_dealer": _next_dealer(value["next"]),
            "shares": shares,
            "lines": lines,
            "kong_lines": kong_lines,
        },
    )


def _players(value: Any, members: list[int]) -> tuple[list[list[int]], list[list[int]], list[Seen]]:
    """(dealt hands, final hands, what lies on the table) by seat."""
    deal, hands, recorded = [], [], []
    for seat, player in enumerate(_take(value, "players", list, SEATS)):
        path = f"players.{seat}."
        known(player, KEYS["player"], path, ("liangKongTiles",))
        if player["id"] != members[seat]:
            raise Reject("bad_value", path + "id", f"{type_of(player['id'])}, expected {members[seat]}, as in seats")
        deal.append(_tiles(player["dealHand"], path + "dealHand"))
        hands.append(_tiles(player["hand"], path + "hand"))
        melds: dict[int, str] = {}
        for place, meld in enumerate(_take(player["melds"], path + "melds", list)):
            where = f"{path}melds.{place}"
            known(meld, ("kind", "tile", "supplementForbidden"), where + ".", ("supplementForbidden",))
            kind = _tiles([meld["tile"]], where + ".tile")[0]
            if meld["kind"] not in MELD_TILES or kind in melds:
                expected = f"one meld a tile: {', '.join(MELD_TILES)}"
                raise Reject("bad_value", where, f"{type_of(meld['kind'])}, expected {expected}")
            melds[kind] = meld["kind"]
        revealed = _take(player["liang"], path + "liang", bool)
        recorded.append(Seen(_tiles(player["river"], path + "river"), melds, revealed))
        for kind in set(hands[seat]):
            if hands[seat].count(kind) + MELD_TILES.get(melds.get(kind, ""), 0) > COPIES:
                raise Reject("bad_tile", path + "hand", "more than four copies of a tile in hand and melds")
    return deal, hands, recorded


def _options(config: dict[str, Any]) -> dict[str, Any]:
    """The room options that config chooses."""
    options: dict[str, Any] = {}
    for key, values in MAPPING["config"].items():
        text = config[key] if type(config[key]) is str else json.dumps(config[key])
        if text not in values:
            raise Reject("unknown_option", f"config.{key}", f"{text[:40]}, expected one of {', '.join(values)}")
        options |= values[text]
    return options


def _win_tile(value: dict[str, Any]) -> int:
    return ev.NO_TILE if value["winTile"] is None else _tiles([value["winTile"]], "winTile")[0]


def _ending(value: dict[str, Any], hands: list[list[int]]) -> list[int]:
    """The events that end the round: wins in seat order from the payer, or the exhausted wall."""
    winners = [_seat(one, f"winners.{at}") for at, one in enumerate(_take(value["winners"], "winners", list))]
    tile = _win_tile(value)
    source = value["source"]
    if not winners:
        if source is not None or tile != ev.NO_TILE:
            raise Reject("bad_value", "winners", "nobody won, yet there is a winning tile or a payer")
        return [ev.pack(ev.NO_SEAT, ev.EXHAUSTED)]
    if tile == ev.NO_TILE:
        raise Reject("missing_key", "winTile", "somebody won, and no tile is named")
    if source is None:
        if len(winners) > 1:
            raise Reject("bad_count", "winners", f"{len(winners)} self-draws, expected one")
        if hands[winners[0]][-1:] != [tile]:
            raise Reject("bad_value", "winTile", "not the last tile of the winner's hand, which is the one drawn")
        return [ev.pack(winners[0], ev.WIN, tile)]
    payer = _seat(source, "source")
    if payer in winners or len(set(winners)) < len(winners):
        raise Reject("bad_value", "winners", f"{winners} with payer {payer}, expected others, each once")
    return [ev.pack(seat, ev.WIN, tile, payer) for seat in sorted(winners, key=lambda seat: (seat - payer) % SEATS)]


def _lines(value: Any, field: str, won: bool) -> list[dict[str, Any]]:
    """Ledger lines with their cause."""
    out = []
    for at, line in enumerate(_take(value, field, list)):
        path = f"{field}.{at}"
        known(line, ("from", "to", "amount", "why"), path + ".")
        why = _take(line["why"], path + ".why", str)
        cause = next((cause for word, cause in MAPPING["causes"].items() if why.startswith(word)), "win" if won else "")
        if not cause or field == "kongs" and not cause.startswith("kong"):
            raise Reject("bad_value", path + ".why", f"{why[:60]!r} is no reason that is known")
        ends = _seat(line["from"], path + ".from"), _seat(line["to"], path + ".to")
        if ends[0] == ends[1]:
            raise Reject("bad_value", path, f"seat {ends[0]} pays itself")
        points = _integer(line["amount"], path + ".amount", -JS_MAX, JS_MAX)
        out.append({"cause": cause, "from": ends[0], "to": ends[1], "points": points})
    return out


def _kongs(lines: list[dict[str, Any]], won: bool, kept: Any) -> list[int] | None:
    """Net kong points by seat, as far as they stand; None where a draw does not say whether they do."""
    if not won and kept is None:
        return None
    net = [0] * SEATS
    for line in lines if won or _take(kept, "keepKongs", bool) else ():
        net[line["from"]] -= line["points"]
        net[line["to"]] += line["points"]
    return net


def _shares(value: dict[str, Any]) -> list[dict[str, Any]]:
    """What each payer's payment was made of; what the record says of a seat that pays nothing is left out."""
    out = []
    scores = _take(value["scores"], "scores", dict)
    winners = [str(seat) for seat in value["winners"]]
    if sorted(scores) != sorted(winners):
        raise Reject("bad_value", "scores", f"of the seats {sorted(scores)}, but the winners are {sorted(winners)}")
    for seat in value["winners"]:
        others = _take(scores[str(seat)], f"scores.{seat}", dict)
        for payer in range(SEATS):
            if payer == seat or value["source"] not in (None, payer):
                continue
            path = f"scores.{seat}.{payer}"
            if str(payer) not in others:
                raise Reject("missing_key", path, f"no {str(payer)!r}")
            out.append({"seat": seat, "from": payer, **_share(others[str(payer)], path + ".")})
    return out


def _share(score: Any, path: str) -> dict[str, Any]:
    known(score, ("factors", "raw", "legal", "warning"), path)
    if score["legal"] is not True or score["warning"] is not None:
        raise Reject("bad_value", path + "legal", "a win that the server itself calls illegal, yet settles")
    values: dict[str, int] = {}  # by fan
    for at, factor in enumerate(_take(score["factors"], path + "factors", list)):
        where = f"{path}factors.{at}"
        known(factor, ("name", "n"), where + ".")
        fan = FACTORS.get(_take(factor["name"], where + ".name", str))
        if fan is None or fan in values:
            expected = "factors that are known, each once"
            raise Reject("bad_value", where + ".name", f"{factor['name'][:40]!r}, expected {expected}")
        values[fan] = _integer(factor["n"], where + ".n", 1, VALUE_LIMIT if fan else 1)
    found = [fan for fan in ev.FANS if fan in values]
    return {
        "fans": ev.pack_fans(found),
        "values": [values[fan] for fan in found],
        "multiple": _integer(score["raw"], path + "raw", 1, JS_MAX),
    }


def _win(event: int, shares: list[dict[str, Any]], recorded: list[Seen], cap: int) -> dict[str, Any]:
    """The recorded win of one event: fans and multiple are the winner's own, without the payer's reveal."""
    seat, tile, source = event & 3, event >> 6 & 31, event >> 11 & 3
    share = next(share for share in shares if share["seat"] == seat)
    fans, multiple = share["fans"], share["multiple"]
    if fans >> ev.FAN_BITS * REVEAL & 1 and not recorded[seat].revealed and recorded[share["from"]].revealed:
        fans -= 1 << ev.FAN_BITS * REVEAL
        multiple //= share["values"][-1]  # the reveal is the last fan of the table
    return {
        "seat": seat, "from": None if source == ev.NO_SEAT else source, "tile": tile, "fans": fans,
        "multiple": min(multiple, cap) if cap else multiple,
    }  # fmt: skip


def _waits(value: Any) -> list[int] | None:
    if value is None:
        return None
    return [_bits(_tiles(one, f"ready.{seat}")) for seat, one in enumerate(_take(value, "ready", list, SEATS))]


def _next_dealer(value: Any) -> int:
    return _seat(known(value, ("seats", "bench", "dealer"), "next.")["dealer"], "next.dealer")
