"""One hand at a time: what a winning hand is worth, and what completes a hand (`kwx score`, `kwx waits`).

A hand is a dictionary in the shape of log lines: `concealed` (MPSZ text, without the winning tile), `melds`
("pung 3s", "exposed_kong 5p", "added_kong 5p", "concealed_kong 5p"), and for a win `win`, `by` ("self_draw",
"discard", "rob_kong"), `revealed`, `after_kong` (true, or how many kongs of the chain), `last_tile`.
Minimums and the payers' reveals play no part.  Errors are HandError: they name the field and what was expected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from ingest.events import unpack_fans
from ingest.formats.kwx_json import load
from ingest.rejects import Reject
from ingest.sources import expand, streams
from ingest.tiles import COPIES, KINDS, NAMES, TileError, parse, suits_of
from replay import ruleset
from replay.fans import evaluate
from replay.hand import add_tile, tables, waits_of
from replay.jit import record
from replay.problems import BY
from replay.rulefile import RulesetError, hint
from replay.ruleset import Ruleset
from replay.settle import share
from replay.state import STATE

MELDS = {"pung": ("pung", 3), "exposed_kong": ("exposed", 4), "added_kong": ("added", 4)}
MELDS["concealed_kong"] = ("concealed", 4)
HAND = ("id", "concealed", "melds", "expect")
WIN = ("rules", "options", "win", "by", "revealed", "after_kong", "last_tile")


class HandError(ValueError):
    """A hand that cannot be one; the message names the field."""


def _take(hand: Mapping[str, Any], key: str, kind: type, default: Any = None) -> Any:
    value = hand.get(key, default)
    if not isinstance(value, kind) or (kind is int and value < 0):
        names = {str: "a text", list: "a list", dict: "an object", bool: "true or false", int: "true, false or a count"}
        raise HandError(f"{key}: {'missing' if key not in hand else repr(value)}, expected {names[kind]}")
    return value


def _kinds(field: str, text: str, suits: str) -> list[int]:
    try:
        return parse(text, suits)
    except TileError as error:
        raise HandError(f"{field}: {error}") from None


def _seat(hand: Mapping[str, Any], known: tuple[str, ...]) -> tuple[Any, int, str]:
    """The hand as seat 0 of a table state, its winning kind (-1: none) and its suits."""
    for key in hand:
        if key not in known and not key.startswith("_"):
            raise HandError(f"unknown key {key!r}{hint(key, known)}")
    concealed, melds = _take(hand, "concealed", str), _take(hand, "melds", list, [])
    parts = [_take({"melds": meld}, "melds", str).split(" ") for meld in melds]
    for meld, part in zip(melds, parts, strict=True):
        if len(part) != 2 or part[0] not in MELDS or len(part[1]) != 2:
            raise HandError(f"melds: {meld!r}, expected one of {', '.join(MELDS)} and a tile")
    win = _take(hand, "win", str) if "win" in known else ""
    try:
        suits = suits_of(concealed + win + "".join(tile for _, tile in parts))
    except TileError as error:
        raise HandError(str(error)) from None
    kinds, winning = _kinds("concealed", concealed, suits), _kinds("win", win, suits)
    st = record(STATE)
    counts = [kinds.count(kind) for kind in range(KINDS)]
    for word, tile in parts:
        field, tiles = MELDS[word]
        kind = _kinds("melds", tile, suits)[0]
        st[field][0] |= 1 << kind
        counts[kind] += tiles
    if len(kinds) != 13 - 3 * len(parts):
        raise HandError(f"concealed: {len(kinds)} tiles, expected {13 - 3 * len(parts)} beside {len(parts)} melds")
    if "win" in known:
        if len(winning) != 1:
            raise HandError(f"win: {win!r}, expected one tile")
        counts[winning[0]] += 1
    for kind, count in enumerate(counts):
        if count > COPIES:
            raise HandError(f"{count} copies of {NAMES[suits][kind]}, expected at most {COPIES}")
    st.melds[0] = len(parts)
    for kind in kinds:
        add_tile(st, tables(), 0, kind, 1)
    return st, winning[0] if winning else -1, suits


def score(hand: Mapping[str, Any], rules: Ruleset) -> tuple[int, list[str]] | None:
    """(multiple, fans in table order) of a winning hand's best reading; None when it isn't complete.

    The multiple has the winner's reveal and the cap in.  HandError.
    """
    st, kind, _ = _seat(hand, HAND + WIN)
    by = _take(hand, "by", str)
    if by not in BY:
        raise HandError(f"by: {by!r}, expected one of {', '.join(BY)}")
    revealed, last_tile = _take(hand, "revealed", bool, False), _take(hand, "last_tile", bool, False)
    after_kong = int(_take(hand, "after_kong", int, False))
    st.revealed[0] = int(revealed)
    st.held_four = rules.record.win_wait_held_four
    if by == BY[0]:
        add_tile(st, tables(), 0, kind, 1)
    if not evaluate(st, rules.record, tables(), 0, kind, BY.index(by), after_kong, int(last_tile)):
        return None
    return int(share(rules.record, st.value, revealed, False)), unpack_fans(int(st.fans))


def waits(hand: Mapping[str, Any]) -> list[str]:
    """The tiles that complete a hand, in the order m, p, s, z.  HandError."""
    st, _, suits = _seat(hand, HAND)
    bits = int(waits_of(st, tables(), 0))
    return sorted((NAMES[suits][kind] for kind in range(KINDS) if bits >> kind & 1), key=lambda tile: tile[::-1])


def score_line(line: Mapping[str, Any], rules: str | None = None, options: dict[str, Any] | None = None) -> dict:
    """The answer to one line of `kwx score`; its own `rules` and `options` stand in place of the ones given."""
    ident = line.get("id")
    try:
        chosen, own = _take(line, "rules", str, rules), _take(line, "options", dict, options or {})
        if wrong := ruleset.check(chosen, own):
            raise HandError(f"{wrong[1]}: {wrong[2]}")
        found = score(line, ruleset.load(chosen, own))
    except (HandError, RulesetError) as error:
        return {"id": ident, "error": str(error)}
    return {"id": ident, "multiple": found and found[0], "fans": found and found[1]}


def waits_line(line: Mapping[str, Any]) -> dict:
    """The answer to one line of `kwx waits`."""
    try:
        return {"id": line.get("id"), "waits": waits(line)}
    except HandError as error:
        return {"id": line.get("id"), "error": str(error)}


def answers(paths: Iterable[str], answer: Callable[[dict[str, Any]], dict]) -> Iterator[dict]:
    """The answer to every line of the files ("-": standard input), in order: `answer` of its JSON object.

    A line that is none, and a compressed file that breaks off, is {"id": None, "error"}.  Raises SourceError.
    """
    for path in expand(paths):
        for stream in streams(path):
            for line in chain.from_iterable(stream.lines()):
                try:
                    hand = load(line.data.decode())
                except UnicodeDecodeError as error:
                    yield {"id": None, "error": f"not UTF-8: {error}"}
                except Reject as reject:
                    yield {"id": None, "error": reject.message}
                else:
                    yield answer(hand)
            if stream.fault:
                yield {"id": None, "error": f"{stream.name}: {stream.fault.message}"}
