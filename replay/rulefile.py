"""One ruleset file on its own: the keys of base.toml, and the strict reading of replay/rulesets/**/*.toml.

What a file inherits is not applied here (that is replay.ruleset).  Shape of a file (docs/rules.md says more):

    id, name { zh, en }, playable (true), extends ("base"), sources [{ file, title, part }], notes ["…"]
    [rules]      "key" = value        only what differs from the parent; a comment after it quotes the sheet
    [options]    "key" = [values]     what a room may choose; [] takes back what the parent lists
    [[reading]]  key, chosen, alternatives, words, sheet, why    where the sheet can be read in two ways
    [[example]]  concealed, melds, win, by, revealed, after_kong, last_tile, options, words, expect { multiple, fans }

Errors are RulesetError: they name the file and the key, and say what was expected.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.events import FANS

FOLDER = Path(__file__).parent / "rulesets"
FAN_MAX = 4096
FAN_TRY = (0, 1, 2, 3, 4, 8, 16, 32, 64, 128)  # the values that a diagnosis tries for a fan

Value = bool | int | str


class RulesetError(ValueError):
    """A ruleset file, ruleset id, key or value that is wrong; the message names the file and the key."""


@dataclass(frozen=True)
class Key:
    """One rule key of base.toml: `type` "bool", "int" (between `low` and `high`) or "enum" (one of `values`)."""

    name: str
    type: str
    default: Value
    zh: str
    en: str
    low: int = 0
    high: int = 0
    values: tuple[str, ...] = ()
    tries: tuple[int, ...] = ()  # other integers worth trying in a diagnosis
    site: bool = False  # only profiles of public servers change it

    @property
    def field(self) -> str:
        """The key's field in DTYPE; fans share the subarray `fan`."""
        return self.name.replace(".", "_")

    def wrong(self, value: object) -> str | None:
        """None when `value` is of the key's type and range, else what was expected."""
        if self.type == "bool":
            return None if isinstance(value, bool) else "true or false"
        if self.type == "enum":
            return None if isinstance(value, str) and value in self.values else "one of " + ", ".join(self.values)
        if isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high:
            return None
        return f"an integer {self.low} to {self.high}"

    def code(self, value: Value) -> int:
        """The number of a valid value in the record."""
        return self.values.index(value) if isinstance(value, str) else int(value)


@dataclass(frozen=True)
class File:
    """One ruleset file as parsed and validated on its own (keys and types; what it inherits is not applied)."""

    path: Path
    id: str
    name: dict[str, str]
    playable: bool
    extends: str | None
    sources: tuple[dict[str, str], ...]
    notes: tuple[str, ...]
    rules: dict[str, Value]
    options: dict[str, tuple[Value, ...]]
    readings: tuple[dict[str, Any], ...]
    examples: tuple[dict[str, Any], ...]
    words: dict[str, str]  # what the comment after a rule says: the sheet's words


def hint(word: object, known: Iterable[str]) -> str:
    """The text `, did you mean …?` with the nearest known word, or nothing."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f", did you mean {near[0]!r}?" if near else ""


def _toml(path: Path) -> tuple[dict[str, Any], str]:
    """A file parsed and as text; RulesetError."""
    try:
        source = path.read_text(encoding="utf-8")
        return tomllib.loads(source), source
    except OSError as error:
        raise RulesetError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RulesetError(f"{path}: not TOML: {error}") from None


def _base_keys(path: Path) -> dict[str, Key]:
    """Every key of base.toml in file order, then one per fan in table order."""
    data, _ = _toml(path)
    keys: dict[str, Key] = {}
    for entry in data["key"]:
        spec = dict(entry)
        low, high = spec.pop("min", 0), spec.pop("max", 0)
        values, tries = tuple(spec.pop("values", ())), tuple(spec.pop("try", ()))
        try:
            key = Key(**spec, low=low, high=high, values=values, tries=tries)
        except TypeError as error:
            raise RulesetError(f"{path.name}: key {entry.get('name')!r}: {error}") from None
        if key.name in keys or key.type not in ("bool", "int", "enum"):
            raise RulesetError(f"{path.name}: key {key.name!r}: listed twice, or of unknown type {key.type!r}")
        if expected := key.wrong(key.default):
            raise RulesetError(f"{path.name}: key {key.name!r}: default {key.default!r}, expected {expected}")
        keys[key.name] = key
    if sorted(data["fan"]) != sorted(FANS) or sorted(data["fan_name"]) != sorted(FANS):
        raise RulesetError(f"{path.name}: [fan] and [fan_name] must list exactly the fans of the fan table")
    for fan in FANS:
        label = data["fan_name"][fan]
        keys[f"fan.{fan}"] = Key(
            f"fan.{fan}", "int", data["fan"][fan], label["zh"], label["en"], 0, FAN_MAX, tries=FAN_TRY
        )
    return keys


BASE = _base_keys(FOLDER / "base.toml")
PARTS = ("id", "name", "playable", "extends", "sources", "notes", "rules", "options", "reading", "example")
COMMENT = re.compile(r'^\s*"?([\w.]+)"?\s*=[^#]*#\s*(.+?)\s*$')


def _words(source: str) -> dict[str, str]:
    """Key → the comment on its line, in [rules] only."""
    section, out = "", {}
    for line in source.splitlines():
        if line.startswith("["):
            section = line.strip()
        elif section == "[rules]" and (match := COMMENT.match(line)):
            out[match[1]] = match[2]
    return out


class _Reader:
    """Validates one parsed file part by part; every error names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data, self.source = _toml(path)
        self.is_base = path == FOLDER / "base.toml"
        if self.is_base:  # read by _base_keys
            self.data = {key: value for key, value in self.data.items() if key not in ("key", "fan", "fan_name")}

    def fail(self, key: str, message: str) -> RulesetError:
        return RulesetError(f"{self.path.name}: {key}: {message}")

    def take(self, key: str, kind: type, default: Any = None) -> Any:
        """The part `key` of type `kind`; a None default means required."""
        value = self.data.pop(key, default)
        if value is None:
            raise self.fail(key, f"missing, expected {KIND_NAMES[kind]}")
        if not isinstance(value, kind):
            raise self.fail(key, f"{value!r}, expected {KIND_NAMES[kind]}")
        return value

    def value(self, where: str, key: object, value: object) -> Value:
        """A valid value of a known key."""
        if not isinstance(key, str) or key not in BASE:
            raise self.fail(where, f"unknown key {key!r}{hint(key, BASE)}")
        if expected := BASE[key].wrong(value):
            raise self.fail(f"{where} {key!r}", f"{value!r}, expected {expected}")
        return value  # type: ignore[return-value]

    def table(self, where: str, table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
        """A table by full key: "a.b" = 1 and a.b = 1 mean the same."""
        out: dict[str, Any] = {}
        for key, value in table.items():
            part = self.table(where, value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
            if twice := out.keys() & part.keys():
                raise self.fail(where, f"{min(twice)!r} stands twice")
            out.update(part)
        return out

    def entries(self, part: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> tuple[dict, ...]:
        """The tables of a list, each with all required keys and no unknown one."""
        entries = self.take(part, list, [])
        for entry in entries:
            if not isinstance(entry, dict):
                raise self.fail(part, f"{entry!r}, expected a table with {', '.join(required)}")
            for key in required:
                if key not in entry:
                    raise self.fail(part, f"{key!r} is missing in {entry!r}")
            for key in entry:
                if key not in required + optional:
                    raise self.fail(part, f"unknown key {key!r}{hint(key, required + optional)}")
        return tuple(entries)

    def sources(self) -> tuple[dict, ...]:
        sources = self.entries("sources", ("file", "title"), ("part",))
        if not sources:
            raise self.fail("sources", "missing, expected at least one { file = …, title = … }")
        for entry in sources:
            if not all(isinstance(part, str) and part for part in entry.values()):
                raise self.fail("sources", f"{entry!r}, expected texts")
        return sources

    def options(self) -> dict[str, tuple[Value, ...]]:
        options = {}
        for key, allowed in self.table("[options]", self.take("options", dict, {})).items():
            if not isinstance(allowed, list):
                raise self.fail(f"[options] {key!r}", f"{allowed!r}, expected the list of allowed values")
            if key not in BASE:
                raise self.fail("[options]", f"unknown key {key!r}{hint(key, BASE)}")
            options[key] = tuple(self.value("[options]", key, value) for value in allowed)
        return options

    def readings(self) -> tuple[dict, ...]:
        readings = self.entries("reading", ("key", "chosen", "alternatives", "words"), ("sheet", "why"))
        for entry in readings:
            if not isinstance(entry["alternatives"], list) or not entry["alternatives"]:
                raise self.fail(f"[[reading]] {entry['key']!r}", "alternatives: expected a list of values")
            for value in (entry["chosen"], *entry["alternatives"]):
                self.value("[[reading]]", entry["key"], value)
        return readings

    def examples(self) -> tuple[dict, ...]:
        optional = ("options", "melds", "revealed", "after_kong", "last_tile", "words")
        examples = self.entries("example", ("concealed", "win", "by", "expect"), optional)
        for entry in examples:
            expect = entry["expect"]
            if not isinstance(expect, dict) or sorted(expect) != ["fans", "multiple"]:
                raise self.fail("[[example]]", f"expect: {expect!r}, expected {{ multiple = …, fans = […] }}")
            for fan in expect["fans"]:
                if fan not in FANS:
                    raise self.fail("[[example]]", f"expect: unknown fan {fan!r}{hint(fan, FANS)}")
        return examples

    def file(self) -> File:
        ident, name = self.take("id", str), self.take("name", dict)
        if ident != self.path.stem:
            raise self.fail("id", f"{ident!r}, expected the file's name {self.path.stem!r}")
        if sorted(name) != ["en", "zh"] or not all(isinstance(part, str) and part for part in name.values()):
            raise self.fail("name", f"{name!r}, expected {{ zh = …, en = … }}")
        notes = self.take("notes", list, [])
        if not all(isinstance(note, str) for note in notes):
            raise self.fail("notes", "expected a list of texts")
        rules = self.table("[rules]", self.take("rules", dict, {}))
        file = File(
            path=self.path,
            id=ident,
            name=name,
            playable=self.take("playable", bool, True),
            extends=None if self.is_base else self.take("extends", str, "base"),
            sources=self.sources(),
            notes=tuple(notes),
            rules={key: self.value("[rules]", key, value) for key, value in rules.items()},
            options=self.options(),
            readings=self.readings(),
            examples=self.examples(),
            words=_words(self.source),
        )
        for key in self.data:
            raise self.fail(key, f"unknown key{hint(key, PARTS)}")
        return file


KIND_NAMES = {str: "a text", dict: "a table", list: "a list", bool: "true or false"}


def read_file(path: Path) -> File:
    """One ruleset file, validated on its own; RulesetError."""
    return _Reader(path).file()
