"""Rulesets as data: strict loading of replay/rulesets/**/*.toml into one numeric record per ruleset.

`rulesets/base.toml` states every key with its type, base value and meaning; a ruleset file states its sources and
only what differs from its one parent.  A loaded ruleset is one record of DTYPE (every field int64: a bool is 0/1, an
enum its position in `values`), which kernels read by name: key "score.cap" is field `score_cap`, the fan values are
the subarray `fan` in the order of ingest.events.FANS.  Source: rules.md sections 2-6.

Errors are RulesetError: they name the file and the key, and say what was expected.
"""

import difflib
import hashlib
import json
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

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


@dataclass(frozen=True, eq=False)
class Ruleset:
    """A ruleset with its room options applied.  `record` is shared: never write to it."""

    id: str
    options: dict[str, Value]  # as chosen, sorted by key
    values: dict[str, Value]  # every key of base.toml, fans as "fan.<id>"
    digest: str  # 16 hex digits of the SHA-256 of `values`: equal play, equal digest
    record: np.void  # of DTYPE
    name: dict[str, str]  # {"zh": …, "en": …}
    sources: tuple[dict[str, str], ...]  # {"file": …, "title": …}
    playable: bool
    options_allowed: dict[str, tuple[Value, ...]]  # what a room may choose, own value included


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


def text(value: Value) -> str:
    """A value as people and `explained_by` write it: words bare, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def canonical(options: dict[str, Value] | None) -> str:
    """Room options as canonical JSON: sorted keys, no spaces."""
    return json.dumps(options or {}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hint(word: object, known: Any) -> str:
    """", did you mean …?" for the nearest known word, or nothing."""
    near = difflib.get_close_matches(str(word), list(known), n=1, cutoff=0.6)
    return f", did you mean {near[0]!r}?" if near else ""


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RulesetError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RulesetError(f"{path}: not TOML: {error}") from None


def _base_keys(path: Path) -> dict[str, Key]:
    """Every key of base.toml in file order, then one per fan in table order."""
    data = _toml(path)
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
    if sorted(data["fan"]) != sorted(FANS):
        raise RulesetError(f"{path.name}: [fan] must list exactly the fans of the fan table")
    for fan in FANS:
        keys[f"fan.{fan}"] = Key(
            f"fan.{fan}", "int", data["fan"][fan], fan, f"value of {fan}; 0: not played", 0, FAN_MAX, tries=FAN_TRY
        )
    return keys


BASE = _base_keys(FOLDER / "base.toml")
DTYPE = np.dtype(
    [(key.field, np.int64) for key in BASE.values() if not key.name.startswith("fan.")]
    + [("fan", np.int64, (len(FANS),))]
)

# (key, value it takes, key that it needs, values that it needs there, why): a file or a room that has the first
# without the second contradicts itself.
NEEDS = (
    ("reveal.no_safe_tile", "end_and_pay", "reveal.no_feeding", (True,), "without it every tile is safe"),
    ("reveal.kong_after", "hidden_only", "reveal.hide_triplets", (True,), "nothing is ever hidden"),
    ("reveal.hidden_all_pungs", False, "reveal.hide_triplets", (True,), "nothing is ever hidden"),
    ("side.horse_reveal_only", True, "side.horse", ("last_tile", "six"), "there is no horse"),
    ("side.raise_accumulates", True, "side.raise", (True,), "there is no raise"),
    ("four.count", "one", "four.scope", ("any",), "the winning tile makes one four only"),
    ("dealer.after_draw", "payer", "draw.settle", ("first_revealed",), "only there one seat alone pays"),
)


def mode(key: str, value: Value) -> int:
    """The number that stands for `value` in the field of `key`; RulesetError on an unknown key or value."""
    if key not in BASE:
        raise RulesetError(f"unknown key {key!r}{hint(key, BASE)}")
    if expected := BASE[key].wrong(value):
        raise RulesetError(f"key {key!r}: {value!r}, expected {expected}")
    return BASE[key].code(value)


def record_of(values: dict[str, Value]) -> np.void:
    """Resolved values as one record of DTYPE."""
    out = np.zeros(1, DTYPE)
    for name, key in BASE.items():
        if name.startswith("fan."):
            out["fan"][0, FANS.index(name[4:])] = values[name]
        else:
            out[key.field][0] = key.code(values[name])
    return out[0]


@lru_cache
def paths() -> dict[str, Path]:
    """Every ruleset file by id: rulesets/*.toml and rulesets/sites/*.toml; RulesetError when two share an id."""
    found: dict[str, Path] = {}
    for path in sorted(FOLDER.glob("*.toml")) + sorted(FOLDER.glob("sites/*.toml")):
        if path.stem in found:
            raise RulesetError(f"{path.name}: id {path.stem!r} is taken by {found[path.stem].parent.name}/{path.name}")
        found[path.stem] = path
    return found


class _Reader:
    """Validates one parsed file part by part; every error names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, _toml(path)

    def fail(self, key: str, message: str) -> RulesetError:
        return RulesetError(f"{self.path.name}: {key}: {message}")

    def take(self, key: str, kind: type, default: Any = None, where: str = "") -> Any:
        value = self.data.pop(key, default)
        if value is None or not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.fail(where + key, f"{'missing' if value is None else repr(value)}, expected a {kind.__name__}")
        return value

    def value(self, where: str, key: str, value: object) -> Value:
        if key not in BASE:
            raise self.fail(where, f"unknown key {key!r}{hint(key, BASE)}")
        if expected := BASE[key].wrong(value):
            raise self.fail(f"{where} {key!r}", f"{value!r}, expected {expected}")
        return value  # type: ignore[return-value]

    def flat(self, where: str, table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
        """Dotted keys may be quoted or not: both mean the same key."""
        out: dict[str, Any] = {}
        for key, value in table.items():
            part = self.flat(where, value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
            if twice := out.keys() & part.keys():
                raise self.fail(f"[{where}]", f"{sorted(twice)[0]!r} stands twice")
            out.update(part)
        return out

    def entries(self, key: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> tuple[dict, ...]:
        entries = self.take(key, list, [])
        for entry in entries:
            if not isinstance(entry, dict):
                raise self.fail(key, f"{entry!r}, expected a table with {', '.join(required)}")
            for name in required:
                if name not in entry:
                    raise self.fail(key, f"{name!r} is missing in {entry!r}")
            for name in entry:
                if name not in required + optional:
                    raise self.fail(key, f"unknown key {name!r}{hint(name, required + optional)}")
        return tuple(entries)

    def file(self) -> File:
        is_base = self.path == FOLDER / "base.toml"
        if is_base:  # its keys are read by _base_keys
            del self.data["key"], self.data["fan"]
        ident = self.take("id", str)
        if ident != self.path.stem:
            raise self.fail("id", f"{ident!r}, expected the file's name {self.path.stem!r}")
        name = self.take("name", dict)
        if sorted(name) != ["en", "zh"] or not all(isinstance(part, str) and part for part in name.values()):
            raise self.fail("name", f"{name!r}, expected {{ zh = …, en = … }}")
        playable = self.take("playable", bool, True)
        extends = None if is_base else self.take("extends", str, "base")
        sources = self.entries("sources", ("file", "title"), ("part",))
        if not sources:
            raise self.fail("sources", "missing, expected at least one { file = …, title = … }")
        for entry in sources:
            if not all(isinstance(part, str) and part for part in entry.values()):
                raise self.fail("sources", f"{entry!r}, expected texts")
        notes = self.take("notes", list, [])
        if not all(isinstance(note, str) for note in notes):
            raise self.fail("notes", "expected a list of texts")
        rules = {
            key: self.value("[rules]", key, value)
            for key, value in self.flat("rules", self.take("rules", dict, {})).items()
        }
        options = {}
        for key, allowed in self.flat("options", self.take("options", dict, {})).items():
            if not isinstance(allowed, list):
                raise self.fail(f"[options] {key!r}", f"{allowed!r}, expected the list of allowed values")
            options[key] = tuple(self.value("[options]", key, value) for value in allowed)
            if key not in BASE:
                raise self.fail("[options]", f"unknown key {key!r}{hint(key, BASE)}")
        readings = self.entries("reading", ("key", "chosen", "alternatives", "words"), ("sheet", "why"))
        for entry in readings:
            where = f"[[reading]] {entry['key']!r}"
            if not isinstance(entry["alternatives"], list) or not entry["alternatives"]:
                raise self.fail(where, "alternatives: expected a list of values")
            for value in (entry["chosen"], *entry["alternatives"]):
                self.value(where, entry["key"], value)
        examples = self.entries(
            "example", ("concealed", "win", "by", "expect"),
            ("options", "melds", "revealed", "after_kong", "last_tile", "words"),
        )  # fmt: skip
        for key in self.data:
            known = ("id", "name", "playable", "extends", "sources", "notes", "rules", "options", "reading", "example")
            raise self.fail(key, f"unknown key{hint(key, known)}")
        return File(
            self.path, ident, name, playable, extends, sources, tuple(notes), rules, options, readings, examples
        )


@lru_cache
def read_file(path: Path) -> File:
    """One ruleset file, validated on its own; RulesetError."""
    return _Reader(path).file()


@lru_cache
def lineage(path: Path) -> tuple[File, ...]:
    """The file's ancestors and itself, base first; RulesetError on an unknown parent or a cycle."""
    files = [read_file(path)]
    while (parent := files[0].extends) is not None:
        if parent not in paths():
            raise RulesetError(f"{files[0].path.name}: extends: unknown ruleset {parent!r}{hint(parent, paths())}")
        if parent in [file.id for file in files]:
            raise RulesetError(f"{files[0].path.name}: extends: {parent!r} extends this file in turn")
        files.insert(0, read_file(paths()[parent]))
    return tuple(files)


@lru_cache
def _resolve(path: Path) -> tuple[dict[str, Value], dict[str, tuple[Value, ...]]]:
    """Values and allowed options of a file with everything it inherits; contradictions are errors."""
    values: dict[str, Value] = {name: key.default for name, key in BASE.items()}
    options: dict[str, tuple[Value, ...]] = {}
    for file in lineage(path):
        values.update(file.rules)
        options.update(file.options)
    options = {key: tuple(dict.fromkeys((values[key], *allowed))) for key, allowed in options.items() if allowed}
    for key, value, needed, wanted, why in NEEDS:
        reachable = {values[needed], *options.get(needed, ())}
        if values[key] == value and not reachable & set(wanted):
            raise RulesetError(
                f"{path.name}: {key!r} = {text(value)} needs {needed!r} = {' or '.join(map(text, wanted))}: {why}"
            )
    if values["stake.max"] and values["stake.max"] < values["stake.min"]:
        raise RulesetError(f"{path.name}: 'stake.max' = {values['stake.max']} is below 'stake.min'")
    if values["reveal.payer"] != "none" and not values["fan.reveal"]:
        raise RulesetError(f"{path.name}: 'reveal.payer' needs a value of 'fan.reveal'")
    for entry in lineage(path)[-1].readings:
        if values[entry["key"]] != entry["chosen"]:
            raise RulesetError(f"{path.name}: [[reading]] {entry['key']!r}: chosen differs from the ruleset's value")
    return values, options


def _problem(path: Path, options: dict[str, Value]) -> tuple[str, str, str] | None:
    """(code, field, message) of the first option, by key, that the ruleset does not allow."""
    values, allowed = _resolve(path)
    for key in sorted(options):
        value = options[key]
        if key not in allowed:
            near = hint(key, allowed) or ("" if key in BASE else hint(key, BASE))
            listed = ", ".join(sorted(allowed)) or "none"
            return "unknown_option", f"options.{key}", f"{path.stem} has no option {key!r}{near} Listed: {listed}"
        if BASE[key].wrong(value) or value not in allowed[key]:
            listed = ", ".join(text(choice) for choice in allowed[key])
            return "bad_option_value", f"options.{key}", f"{key!r} = {value!r}, expected one of {listed}"
    chosen = values | options
    for key, value, needed, wanted, why in NEEDS:
        if key in options and chosen[key] == value and chosen[needed] not in wanted:
            expected = " or ".join(map(text, wanted))
            return "bad_option_value", f"options.{key}", f"{key!r} = {text(value)} needs {needed!r} = {expected}: {why}"
    return None


@lru_cache(maxsize=4096)
def _load(path: Path, options_text: str) -> Ruleset:
    options = json.loads(options_text)
    if problem := _problem(path, options):
        raise RulesetError(f"{path.name}: {problem[1]}: {problem[2]}")
    values, allowed = _resolve(path)
    values = values | options
    file = read_file(path)
    digest = hashlib.sha256(canonical(values).encode()).hexdigest()[:16]
    return Ruleset(
        file.id, options, values, digest, record_of(values), file.name, file.sources, file.playable, allowed
    )


def load_file(path: str | Path, options: dict[str, Value] | None = None) -> Ruleset:
    """The ruleset of any data file (its parents are found by id); RulesetError."""
    return _load(Path(path), canonical(options))


def load(id: str, options: dict[str, Value] | None = None) -> Ruleset:  # noqa: A002 - the log's own word
    """A ruleset by id with room options, playable or not; RulesetError on an unknown id or a wrong option."""
    if id not in paths():
        raise RulesetError(f"unknown ruleset {id!r}{hint(id, paths())}")
    return _load(paths()[id], canonical(options))


@lru_cache
def ids() -> tuple[str, ...]:
    """The ids of every playable ruleset, sorted."""
    return tuple(sorted(ident for ident, path in paths().items() if read_file(path).playable))


def check(id: str, options: dict[str, Value] | None = None) -> tuple[str, str, str] | None:  # noqa: A002
    """What is wrong with a log's claim, as (code, field, message), or None.

    Codes: "unknown_rules" (also a file that is only a parent), "unknown_option", "bad_option_value".
    """
    if id not in ids():
        return "unknown_rules", "rules", f"no ruleset {id!r}{hint(id, ids())}"
    return _problem(paths()[id], options or {})


@lru_cache(maxsize=256)
def variants(ruleset: Ruleset) -> list[tuple[str, Value, np.void]]:
    """Every change of one key: (key, value, record), sorted by "key=value".

    Bools flipped, the other words of an enum, for integers the values that base.toml says to try and the room
    options that the ruleset lists.
    """
    out = []
    for name, key in BASE.items():
        own = ruleset.values[name]
        if key.type == "int":
            choices: set[Value] = {*key.tries, *(ruleset.options_allowed.get(name, ()) if key.tries else ())}
        else:
            choices = {not own} if key.type == "bool" else set(key.values)
        out += [(name, value, record_of(ruleset.values | {name: value})) for value in choices if value != own]
    return sorted(out, key=lambda change: f"{change[0]}={text(change[1])}")
