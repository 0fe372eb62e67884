"""JSON as the kwx log needs it: strict where Python's own is not, and with the exact spelling of private values."""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ingest.rejects import Reject

_SPACE = re.compile(r"[ \t\r\n]*")
# Levels of lists and objects: a record has five, and Python's recursion ends at some hundreds.
DEPTH_LIMIT = 64
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")


def _no_constant(word: str) -> NoReturn:
    raise Reject("bad_json", None, f"{word} is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Reject("duplicate_key", twice[:80], f"{twice[:80]!r} stands twice in one object")
    return out


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_no_constant)


def load(text: str) -> dict[str, Any]:
    """The JSON object of a line; Reject (bad_json, duplicate_key, bad_type, not_utf8) when it is none."""
    if text.count("[") + text.count("{") > DEPTH_LIMIT and _too_deep(text):
        raise Reject("bad_json", None, f"more than {DEPTH_LIMIT} lists and objects inside each other")
    try:
        value = _decoder.decode(text)
        if "\\u" in text:  # an escape may name half a character
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise Reject("bad_json", None, f"not JSON: {error.msg} at character {error.pos + 1}") from None
    except UnicodeEncodeError:
        raise Reject("not_utf8", None, "an escaped lone surrogate, which no UTF-8 text can hold") from None
    except ValueError:
        raise Reject("bad_value", None, "an integer of thousands of digits; integers have at most 64 bits") from None
    if type(value) is not dict:
        raise Reject("bad_type", None, f"a record is a JSON object, found {type_of(value)}")
    return value


def _too_deep(text: str) -> bool:
    depth = 0
    for match in _STRUCTURE.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > DEPTH_LIMIT:
            return True
    return False


def members(text: str, at: int = 0) -> Iterator[tuple[str, int, int]]:
    """(key, start, end) of each member's value in the object that starts at text[at]; the text is valid JSON."""

    def skip(at: int) -> int:
        return _SPACE.match(text, at).end()  # type: ignore[union-attr]

    at = skip(skip(at) + 1)
    while text[at] != "}":
        key, at = json.decoder.scanstring(text, at + 1)  # type: ignore[attr-defined]
        at = skip(skip(at) + 1)
        end = _decoder.raw_decode(text, at)[1]
        yield key, at, end
        at = skip(end)
        at = skip(at + 1) if text[at] == "," else at


def dumps(value: object) -> str:
    """Canonical JSON: no spaces, characters as themselves."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def type_of(value: object) -> str:
    """A JSON value in words, cut to a line's length."""
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "an object" if isinstance(value, dict) else f"the number {str(value)[:40]}"


def private_members(text: str, private: dict[str, str]) -> str:
    """The private keys as one JSON object of path to value, the values exactly as written."""
    found: dict[str, str] = {}

    def look(at: int, path: str) -> None:
        for key, start, end in members(text, at):
            here = path + key
            if here in private:
                found[here] = text[start:end]
            elif here in ("proof", "result"):
                look(start, here + ".")
            elif here == "result.wins":
                for number, (first, _) in enumerate(elements(text, start)):
                    look(first, f"{here}.{number}.")

    look(0, "")
    return "{" + ",".join(f"{dumps(key)}:{value}" for key, value in found.items()) + "}"


def elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each element of the list that starts at text[at]; the text is valid JSON."""
    at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
    while text[at] != "]":
        end = _decoder.raw_decode(text, at)[1]
        yield at, end
        rest = _COMMA.match(text, end)
        at = rest.end() if rest else _SPACE.match(text, end).end()  # type: ignore[union-attr]
