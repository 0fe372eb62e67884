"""One line of the kwx log, version 1, checked key by key: bytes to the fields of a round, or a Reject.

Strict: every key has its type and range, unknown keys and keys that stand twice are refused, integers are integers.
Tiles and events stay texts here; ingest.notation decodes them for many rounds at once.  Source: log-format.md 1.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ingest.events import ENDS, FAN_BITS, FAN_CODE, pack_fans
from ingest.formats import Context
from ingest.formats.kwx_json import dumps, load, private_members, type_of
from ingest.rejects import Reject
from ingest.tiles import DRAGONS

VERSION = 1
NAME_LIMIT = 128  # characters of an account
INT64 = (1 << 63) - 1
INT32 = (1 << 31) - 1
# Stakes are bounded so that no sum of payments can leave 64 bits: 10^12 × 2^16 × a multiple of thousands.
BASE_LIMIT = 10**12
RAISE_LIMIT = 16
PIAO_LIMIT = 10**6

# Keys in canonical order; True: required.
KEYS = {
    "kwx": True, "site": False, "game": True, "round": True, "prev": False, "time": False, "rules": True,
    "options": False, "players": True, "dealer": True, "dice": False, "piao": False, "base": False, "raise": False,
    "deal": True, "wall": False, "proof": False, "events": True, "times": False, "result": False,
}  # fmt: skip
PROOF_KEYS = dict.fromkeys(("scheme", "commit", "salt", "order", "deal"), True)
RESULT_KEYS = {"end": False, "points": True, "wins": False, "kongs": False, "fee": False}
WIN_KEYS = {"seat": True, "from": False, "tile": True, "fans": False, "multiple": False}

HEX = "[0-9a-fA-F]{64}"
SCHEME = r"sha256(?:\+[a-z0-9.-]{1,32})?"  # the commitment, and the shuffle that made the order from the salt
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
_HEX = re.compile(HEX)
_SCHEME = re.compile(SCHEME)
_TIME = re.compile(TIME)
_TILE = re.compile(r"[1-9][mps]|" + "|".join(DRAGONS))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Fields(NamedTuple):
    """A round as the texts that its canonical line shows, None where it lacks a key; lists without their brackets.

    What is not obvious: `options` a JSON object, `players` three quoted texts; `wins` whatever but None when there is a
    list, then one or two winners by their five values, `fans` quoted ids; `extra` a JSON object of the private keys.
    """

    site: str | None
    game: str
    round: str
    prev: str | None
    time: str | None
    rules: str
    options: str | None
    players: str
    dealer: str
    dice: str | None
    piao: str | None
    base: str | None
    raise_: str | None
    deal_0: str
    deal_1: str
    deal_2: str
    wall: str | None
    scheme: str | None
    commit: str | None
    salt: str | None
    order: str | None
    proof_deal: str | None
    events: str
    times: str | None
    end: str | None
    points: str | None
    wins: str | None
    seat_0: str | None
    from_0: str | None
    tile_0: str | None
    fans_0: str | None
    multiple_0: str | None
    seat_1: str | None
    from_1: str | None
    tile_1: str | None
    fans_1: str | None
    multiple_1: str | None
    kongs: str | None
    fee: str | None
    extra: str | None


class Record(NamedTuple):
    """A checked round: its texts, the players, the ruleset to replay with, the start, and its "_source" if any."""

    fields: Fields
    players: list[str]
    rules: str
    options: str
    time_ms: int | None
    source: dict[str, Any] | None


def record(text: str, context: Context) -> Record:
    """The checked record of one line; raises Reject."""
    row = load(text)
    if "kwx" not in row:
        raise Reject("missing_key", "kwx", "no key 'kwx': not a record of a kwx log")
    if _integer(row["kwx"], "kwx") != VERSION:
        raise Reject("unknown_version", "kwx", f"version {row['kwx']}, expected {VERSION}")
    private = _keys(row, KEYS, "")
    proof, more = _proof(row["proof"]) if "proof" in row else ((None,) * 5, {})
    private |= more
    result, more = _result(row["result"]) if "result" in row else ((None,) * 15, {})
    private |= more
    options = row.get("options", {})
    if type(options) is not dict:
        raise _wrong_type("options", options, "an object")
    players = _list(row["players"], "players", 3)
    for seat, player in enumerate(players):
        if len(_text(player, f"players.{seat}")) > NAME_LIMIT:
            raise Reject("bad_value", f"players.{seat}", f"{len(player)} characters, expected at most {NAME_LIMIT}")
    deal = [_text(hand, f"deal.{seat}") for seat, hand in enumerate(_list(row["deal"], "deal", 3))]
    time = _text(row["time"], "time") if "time" in row else None
    events = _text(row["events"], "events")
    fields = Fields(
        _text(row["site"], "site", empty=False) if "site" in row else None,
        _text(row["game"], "game", empty=False),
        str(_integer(row["round"], "round", 0)),
        _hex(row["prev"], "prev") if "prev" in row else None,
        time,
        _text(row["rules"], "rules"),
        dumps(options) if "options" in row else None,
        dumps(players)[1:-1],
        str(_integer(row["dealer"], "dealer", 0, 2)),
        _integers(row["dice"], "dice", 2, 1, 6) if "dice" in row else None,
        _integers(row["piao"], "piao", 3, 0, PIAO_LIMIT) if "piao" in row else None,
        str(_integer(row["base"], "base", 1, BASE_LIMIT)) if "base" in row else None,
        str(_integer(row["raise"], "raise", 0, RAISE_LIMIT)) if "raise" in row else None,
        *deal,
        _text(row["wall"], "wall") if "wall" in row else None,
        *proof,
        events,
        _times(row["times"], events) if "times" in row else None,
        *result,
        private_members(text, private) if private else None,
    )
    time_ms = milliseconds(time) if time is not None else None
    return made(fields, players, context.ruleset(fields.rules, options), time_ms, row.get("_source"))


def made(fields: Fields, players: list[str], ruleset: tuple[str, str], time_ms: int | None, source: object) -> Record:
    """The record of checked fields; an order of tiles without a commitment comes from its "_source"."""
    if type(source) is not dict:
        return Record(fields, players, *ruleset, time_ms, None)
    order, deal = source.get("proof_order"), source.get("proof_deal")
    if fields.order is None and type(order) is str and deal in ("one", "four"):
        fields = fields._replace(order=order, proof_deal=deal)
    return Record(fields, players, *ruleset, time_ms, source)


def milliseconds(time: str) -> int:
    """RFC 3339 with offset to milliseconds since 1970 UTC, cut, not rounded; raises Reject."""
    if not _TIME.fullmatch(time):
        raise Reject("bad_value", "time", f"{time[:60]!r} is not RFC 3339 with an offset, as 2026-05-01T12:00:03Z")
    leap = time[17:19] == "60"
    try:
        moment = datetime.fromisoformat((time[:17] + "59" + time[19:] if leap else time).upper())
        return (moment - _EPOCH) // _MILLISECOND + 1000 * leap
    except (ValueError, OverflowError):
        raise Reject("bad_value", "time", f"{time[:60]!r} is no date and time that exists") from None


def _wrong_type(field: str, value: object, expected: str) -> Reject:
    return Reject("bad_type", field, f"{type_of(value)}, expected {expected}")


def _text(value: object, field: str, empty: bool = True) -> str:
    if type(value) is not str:
        raise _wrong_type(field, value, "a text")
    if not value and not empty:
        raise Reject("bad_value", field, "an empty text")
    return value


def _integer(value: object, field: str, low: int = -INT64 - 1, high: int = INT64) -> int:
    if type(value) is not int:
        raise _wrong_type(field, value, "an integer")
    if not low <= value <= high:
        shown = str(value) if abs(value) <= INT64 else "an integer of more than 64 bits"
        limits = f"from {low} to {high}" if high < INT64 else f"at least {low}" if low > -INT64 - 1 else "64 bits"
        raise Reject("bad_value", field, f"{shown}, expected {limits}")
    return value


def _list(value: object, field: str, size: int) -> list[Any]:
    if type(value) is not list:
        raise _wrong_type(field, value, f"a list of {size}")
    if len(value) != size:
        raise Reject("bad_count", field, f"{len(value)} values, expected {size}")
    return value


def _integers(value: object, field: str, size: int, low: int = -INT64 - 1, high: int = INT64) -> str:
    numbers = [_integer(one, f"{field}.{at}", low, high) for at, one in enumerate(_list(value, field, size))]
    return ",".join(map(str, numbers))


def _hex(value: object, field: str) -> str:
    if not _HEX.fullmatch(_text(value, field)):
        raise Reject("bad_value", field, f"{str(value)[:80]!r} is not a SHA-256 in 64 hex digits")
    return str(value).lower()


def _times(value: object, events: str) -> str:
    tokens = events.count(" ") + 1 if events else 0
    if type(value) is not list:
        raise _wrong_type("times", value, "a list")
    if len(value) != tokens:
        raise Reject("bad_count", "times", f"{len(value)} times, expected one for each of {tokens} events")
    return _integers(value, "times", tokens, 0, INT32)


def _keys(row: dict[str, Any], known: dict[str, bool], path: str) -> dict[str, str]:
    """Refuse unknown and missing keys; give the private ones as {path: ""}, to be filled by _extra."""
    for key, required in known.items():
        if required and key not in row:
            raise Reject("missing_key", path + key, f"no key {path + key!r}")
    private = {}
    for key in row:
        if key not in known:
            if not key.startswith("_"):
                raise Reject("unknown_key", path + key, f"unknown key {(path + key)[:80]!r}; private keys start with _")
            private[path + key] = ""
    return private


def _proof(value: object) -> tuple[tuple[str, ...], dict[str, str]]:
    if type(value) is not dict:
        raise _wrong_type("proof", value, "an object")
    private = _keys(value, PROOF_KEYS, "proof.")
    scheme, deal = _text(value["scheme"], "proof.scheme"), _text(value["deal"], "proof.deal")
    if not _SCHEME.fullmatch(scheme):
        raise Reject("bad_value", "proof.scheme", f"{scheme[:40]!r}, expected 'sha256' or 'sha256+' and a name")
    if deal not in ("one", "four"):
        raise Reject("bad_value", "proof.deal", f"{deal[:40]!r}, expected 'one' or 'four'")
    salt = _text(value["salt"], "proof.salt")
    if not salt.isascii():
        raise Reject("bad_value", "proof.salt", "the salt is not ASCII")
    commit, order = _hex(value["commit"], "proof.commit"), _text(value["order"], "proof.order")
    return (scheme, commit, salt, order, deal), private


def _result(value: object) -> tuple[tuple[str | None, ...], dict[str, str]]:
    """The texts end … fee of Fields, and the paths of private keys."""
    if type(value) is not dict:
        raise _wrong_type("result", value, "an object")
    private = _keys(value, RESULT_KEYS, "result.")
    if "end" in value and _text(value["end"], "result.end") not in ENDS:
        raise Reject("bad_value", "result.end", f"{value['end'][:40]!r}, expected one of {', '.join(ENDS)}")
    points = _integers(value["points"], "result.points", 3)
    wins = value.get("wins")
    if "wins" in value and type(wins) is not list:
        raise _wrong_type("result.wins", wins, "a list")
    if wins and len(wins) > 2:
        raise Reject("bad_count", "result.wins", f"{len(wins)} winners, expected at most 2")
    texts: list[str | None] = []
    for at, win in enumerate(wins or ()):
        five, more = _win(win, f"result.wins.{at}")
        texts += five
        private |= more
    return (
        value.get("end"),
        points,
        None if wins is None else "",
        *texts,
        *[None] * (10 - len(texts)),
        _integers(value["kongs"], "result.kongs", 3) if "kongs" in value else None,
        str(_integer(value["fee"], "result.fee", 0)) if "fee" in value else None,
    ), private


def _win(win: object, path: str) -> tuple[tuple[str | None, ...], dict[str, str]]:
    if type(win) is not dict:
        raise _wrong_type(path, win, "an object")
    private = _keys(win, WIN_KEYS, path + ".")
    seat, tile = _integer(win["seat"], path + ".seat", 0, 2), _text(win["tile"], path + ".tile")
    if not _TILE.fullmatch(tile):
        raise Reject("bad_tile", path + ".tile", f"{tile[:40]!r} is not a tile")
    if "from" in win and _integer(win["from"], path + ".from", 0, 2) == seat:
        raise Reject("bad_value", path + ".from", f"seat {seat} cannot pay itself; a self-draw has no 'from'")
    return (
        str(seat),
        str(win["from"]) if "from" in win else None,
        tile,
        _fans(win["fans"], path + ".fans") if "fans" in win else None,
        str(_integer(win["multiple"], path + ".multiple", 0)) if "multiple" in win else None,
    ), private


def _fans(value: object, field: str) -> str:
    if type(value) is not list:
        raise _wrong_type(field, value, "a list of fan ids")
    for at, fan in enumerate(value):
        if _text(fan, f"{field}.{at}") not in FAN_CODE:
            raise Reject("bad_value", f"{field}.{at}", f"unknown fan {fan[:40]!r}")
        if value.count(fan) >= 1 << FAN_BITS:
            raise Reject("bad_value", f"{field}.{at}", f"{fan!r} stands {value.count(fan)} times")
    try:
        pack_fans(value)
    except ValueError as error:
        raise Reject("bad_value", field, str(error)) from None
    return dumps(value)[1:-1]
