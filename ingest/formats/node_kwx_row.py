"""One row of `t_games` to the values of a round: JSON columns, conf -> ruleset and options, deal, wall, result.

Which keys and values mean what stands in node_kwx.toml.  A row that is not a round raises Reject with the column, or
the key path inside it, as the field.  Source: recorded/README.md sections 2.1-2.3.
"""

import json
import tomllib
from array import array
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ingest.formats.node_kwx_actions import KIND_OF_CODE, SEATS, check, translate
from ingest.rejects import Reject
from ingest.tiles import ALL_TILES, NAMES, PAD, WALL_TILES

SUITS = "ps"
HAND, DEALER_HAND = 13, 14
JS_MAX = 2**53 - 1  # the largest whole number that the servers' language keeps exact
TIME_MAX = 253_402_300_799  # 9999-12-31

with (Path(__file__).parent / "node_kwx.toml").open("rb") as _file:
    MAPPING = tomllib.load(_file)
COLUMNS = tuple(MAPPING["columns"])
KNOWN = frozenset(COLUMNS)
TILE_BYTES = {code: bytes([kind]) for code, kind in KIND_OF_CODE.items()}
TILE_NAMES = {code: NAMES[SUITS][kind] for code, kind in KIND_OF_CODE.items()}


class Row(NamedTuple):
    """The values of a round, named as the columns of events.ROUNDS; `size` is the number of rounds of its game."""

    game: str
    round: int
    time: str | None
    time_ms: int | None
    site: str
    rules: str
    options: dict[str, Any]
    dealer: int
    piao: tuple[int, int, int] | None
    base: int
    deal: bytes
    wall: bytes
    order: str
    events: array
    event_no: array
    points: tuple[int, int, int] | None
    size: int


def _fail(code: str, field: str, found: object, expected: str) -> Reject:
    shown = json.dumps(found, ensure_ascii=False, default=str)
    return Reject(code, field, f"{shown[:80] + '…' if len(shown) > 80 else shown}, expected {expected}")


def integer(value: object, field: str, low: int, high: int) -> int:
    """`value` as an integer of low..high; text of digits counts, because CSV and SQL quote freely."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii() and len(value) <= 20:
        value = int(value)
    if type(value) is not int:
        raise _fail("missing_key" if value is None else "bad_type", field, value, "an integer")
    if not low <= value <= high:
        raise _fail("bad_value", field, value, f"{low} to {high}")
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


_DECODE = json.JSONDecoder(parse_constant=_no_constant).decode  # json.loads would make a decoder per call
_ENCODE = json.JSONEncoder(ensure_ascii=False).encode


def parse(value: object, column: str, kind: type) -> Any:
    """A JSON column as its list or object: text, or what a JSON export has already opened."""
    if isinstance(value, str):
        try:
            value = _DECODE(value)
        except (ValueError, RecursionError) as error:
            raise _broken(value, column, error) from None
    if type(value) is not kind:
        raise _fail("missing_key" if value is None else "bad_type", column, value, f"a JSON {kind.__name__}")
    return value


def _broken(text: str, column: str, error: Exception) -> Reject:
    """Which reject a JSON text deserves: a database cuts at the column's width, and the cut ends the text."""
    width = MAPPING["widths"][column]
    position = getattr(error, "pos", None)
    if position is not None:
        rest = text[position:].rstrip()
        cut = not rest or str(error).startswith("Unterminated string") or rest in ("-", "t", "tr", "tru", "f", "fa")
        if cut or rest in ("fal", "fals", "n", "nu", "nul") or len(text.encode()) == width:
            return Reject("truncated", column, f"breaks off after {len(text)} characters (the column holds {width})")
    return Reject("bad_json", column, f"not JSON: {error}")


def _tiles(codes: object, field: str, count: int) -> list[int]:
    if type(codes) is not list:
        raise _fail("bad_type", field, codes, f"a list of {count} tile codes")
    for code in codes:
        if type(code) is not int:
            raise _fail("bad_type", field, code, "a tile code")
        if code not in KIND_OF_CODE:
            raise _fail("bad_tile", field, code, "a tile code 0-17 or 27-29")
    if len(codes) != count:
        raise Reject("bad_count", field, f"{len(codes)} tiles, expected {count}")
    return codes


@lru_cache(maxsize=4096)
def ruleset(conf_text: str, site: str | None) -> tuple[str, str, dict[str, Any]]:
    """(site, ruleset id, options in key order) of a conf given as JSON; `site` overrides what its keys tell."""
    conf = json.loads(conf_text)
    if site not in MAPPING["sites"]:
        found = [name for name, keys in MAPPING["sites"].items() if any(key in conf for key in keys)]
        if len(found) != 1:
            raise Reject(
                "unknown_rules",
                "base_info.conf",
                f"the keys of {' and '.join(found) or 'no known server'}: name the server with --site, one of "
                + ", ".join(MAPPING["sites"]),
            )
        server = found[0]
    else:
        server = site
    type_ = conf.get("type")
    city = MAPPING["cities"].get(type_) if isinstance(type_, str) else None
    if city is None:
        raise _fail("unknown_rules", "base_info.conf.type", type_, "one of " + ", ".join(MAPPING["cities"]))
    options: dict[str, Any] = {}
    for entry in MAPPING["conf"]:
        key = entry["key"]
        if city not in entry.get("cities", [city]):
            continue
        if conf.get(key) is None:
            if entry.get("required"):
                raise Reject("missing_key", f"base_info.conf.{key}", "missing")
            continue
        value = json.dumps(conf[key])
        if value not in entry["values"]:
            raise _fail("unknown_option", f"base_info.conf.{key}", conf[key], "one of " + ", ".join(entry["values"]))
        options |= entry["values"][value]
    return site or server, f"{server}_{city}", dict(sorted(options.items()))


def convert(row: dict[str, Any], site: str | None = None) -> Row:
    """The round of one row given as a mapping of column to value; Reject."""
    if not row.keys() <= KNOWN:
        key = next(key for key in row if key not in KNOWN)
        raise Reject("unknown_key", str(key), "not a column of t_games: " + ", ".join(COLUMNS))
    for column in MAPPING["required"]:
        if row.get(column) is None:
            raise Reject("missing_key", column, "missing")
    game = row["room_uuid"]
    if type(game) is int:
        game = str(game)
    if type(game) is not str or not game or len(game) > 128:
        raise _fail("bad_type", "room_uuid", game, "the room's id")
    if not game.isprintable():
        raise _fail("bad_value", "room_uuid", game, "printable text")
    number = integer(row["game_index"], "game_index", 0, JS_MAX)

    base_info = parse(row["base_info"], "base_info", dict)
    for key in ("button", "index", "mahjongs", "game_seats", "conf"):
        if key not in base_info:
            raise Reject("missing_key", f"base_info.{key}", "missing")
    conf = base_info["conf"]
    if type(conf) is not dict:
        raise _fail("bad_type", "base_info.conf", conf, "a JSON object")
    server, rules, options = ruleset(_ENCODE(conf), site)
    if (index := integer(base_info["index"], "base_info.index", 0, JS_MAX)) != number:
        raise _fail("bad_value", "base_info.index", index, f"{number}, the row's game_index")
    dealer = integer(base_info["button"], "base_info.button", 0, SEATS - 1)
    wall = _tiles(base_info["mahjongs"], "base_info.mahjongs", ALL_TILES)
    seats = base_info["game_seats"]
    if type(seats) is not list or len(seats) != SEATS:
        raise _fail("bad_count" if type(seats) is list else "bad_type", "base_info.game_seats", seats, "three hands")
    hands = [
        _tiles(hand, f"base_info.game_seats.{seat}", DEALER_HAND if seat == dealer else HAND)
        for seat, hand in enumerate(seats)
    ]
    deal = [[KIND_OF_CODE[code] for code in hand] for hand in hands]

    actions = parse(row["action_records"], "action_records", list)
    check(actions)
    events, numbers = translate(actions, deal, dealer)

    points = None
    if row.get("result") is not None:
        points = parse(row["result"], "result", list)
        if len(points) not in (SEATS, SEATS + 1):
            raise Reject("bad_count", "result", f"{len(points)} scores, expected 4")
        for place, score in enumerate(points):
            integer(score, f"result.{place}", -JS_MAX, JS_MAX)
        if any(points[SEATS:]):
            raise _fail("bad_value", "result.3", points[SEATS], "0: there is no fourth seat")
        points = tuple(points[:SEATS])

    seconds = row.get("create_time")
    time = None
    if seconds is not None:
        seconds = integer(seconds, "create_time", 0, TIME_MAX)
        time = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Row(
        game=game,
        round=number,
        time=time,
        time_ms=None if seconds is None else seconds * 1000,
        site=server,
        rules=rules,
        options=options,
        dealer=dealer,
        piao=None if options.get("side.piao_max") else (0, 0, 0),
        base=integer(conf.get("baseScore"), "base_info.conf.baseScore", 1, 10**9),
        deal=b"".join(bytes(hand) + bytes([PAD]) * (DEALER_HAND - len(hand)) for hand in deal),
        wall=b"".join([TILE_BYTES[code] for code in wall[ALL_TILES - WALL_TILES :]]),
        order="".join([TILE_NAMES[code] for code in wall]),
        events=array("I", events),
        event_no=array("i", numbers),
        points=points,
        size=integer(conf.get("maxGames", 1), "base_info.conf.maxGames", 1, JS_MAX),
    )
