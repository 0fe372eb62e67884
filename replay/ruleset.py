"""Rulesets as data: strict loading of replay/rulesets/**/*.toml into one numeric record per ruleset.

`rulesets/base.toml` states every key with its type, base value and meaning; a ruleset file states its sources and
only what differs from its one parent.  A loaded ruleset is one record of DTYPE (every field int64: a bool is 0/1, an
enum its position in `values`), which kernels read by name: key "score.cap" is field `score_cap`, the fan values are
the subarray `fan` in the order of ingest.events.FANS.  Source: rules.md sections 2-6.

Errors are RulesetError: they name the file and the key, and say what was expected.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ingest.events import FANS
from replay.rulefile import BASE, FOLDER, File, RulesetError, Value, hint, read_file

DTYPE = np.dtype(
    [(key.field, np.int64) for key in BASE.values() if not key.name.startswith("fan.")]
    + [("fan", np.int64, (len(FANS),))]
)

# (key, value it takes, key that it needs, values that it needs there, why): a file that has the first and offers
# no way to the second contradicts itself.
NEEDS = (
    ("reveal.no_safe_tile", "end_and_pay", "reveal.no_feeding", (True,), "without it every tile is safe"),
    ("reveal.kong_after", "hidden_only", "reveal.hide_triplets", (True,), "nothing is ever hidden"),
    ("reveal.hidden_all_pungs", False, "reveal.hide_triplets", (True,), "nothing is ever hidden"),
    ("side.horse_reveal_only", True, "side.horse", ("last_tile", "six"), "there is no horse"),
    ("side.raise_accumulates", True, "side.raise", (True,), "there is no raise"),
    ("dealer.after_draw", "payer", "draw.settle", ("first_revealed",), "only there one seat alone pays"),
)


@dataclass(frozen=True, eq=False)
class Ruleset:
    """A ruleset with its room options applied.  `record` is shared: never write to it."""

    id: str
    options: dict[str, Value]  # as chosen, sorted by key
    values: dict[str, Value]  # every key of base.toml, fans as "fan.<id>"
    digest: str  # 16 hex digits of the SHA-256 of `values`: equal play, equal digest
    record: np.record  # of DTYPE
    name: dict[str, str]  # {"zh": …, "en": …}
    sources: tuple[dict[str, str], ...]  # {"file": …, "title": …}
    playable: bool
    options_allowed: dict[str, tuple[Value, ...]]  # what a room may choose, own value included


def text(value: Value) -> str:
    """A value as people and `explained_by` write it: words bare, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def canonical(options: dict[str, Value] | None) -> str:
    """Room options as canonical JSON: sorted keys, no spaces."""
    return json.dumps(options or {}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def mode(key: str, value: Value) -> int:
    """The number that stands for `value` in the field of `key`; RulesetError on an unknown key or value."""
    if key not in BASE:
        raise RulesetError(f"unknown key {key!r}{hint(key, BASE)}")
    if expected := BASE[key].wrong(value):
        raise RulesetError(f"key {key!r}: {value!r}, expected {expected}")
    return BASE[key].code(value)


def record_of(values: dict[str, Value]) -> np.record:
    """Resolved values as one record of DTYPE, readable as `record.score_cap` compiled or not."""
    out = np.zeros(1, DTYPE).view(np.recarray)
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


@dataclass(frozen=True, eq=False)
class Family:
    """A ruleset file with everything it inherits: `files` from base down to itself."""

    files: tuple[File, ...]
    values: dict[str, Value]
    options: dict[str, tuple[Value, ...]]

    @property
    def file(self) -> File:
        return self.files[-1]


def family_of(file: File) -> Family:
    """Applies what a file inherits; RulesetError on an unknown parent, a cycle or a contradiction."""
    files = [file]
    while (parent := files[0].extends) is not None:
        if parent in [known.id for known in files]:
            raise RulesetError(f"{files[0].path.name}: extends: {parent!r} extends this file in turn")
        if parent not in paths():
            raise RulesetError(f"{files[0].path.name}: extends: unknown ruleset {parent!r}{hint(parent, paths())}")
        files.insert(0, read_file(paths()[parent]))
    values: dict[str, Value] = {name: key.default for name, key in BASE.items()}
    listed: dict[str, tuple[Value, ...]] = {}
    for known in files:
        values.update(known.rules)
        listed.update(known.options)
    options = {key: tuple(dict.fromkeys((values[key], *allowed))) for key, allowed in listed.items() if allowed}

    where = file.path.name
    for key, value, needed, wanted, why in NEEDS:
        reachable = {values[needed], *options.get(needed, ())}
        if values[key] == value and not reachable & set(wanted):
            expected = " or ".join(map(text, wanted))
            raise RulesetError(f"{where}: {key!r} = {text(value)} needs {needed!r} = {expected}: {why}")
    if 0 < values["stake.max"] < values["stake.min"]:
        raise RulesetError(f"{where}: 'stake.max' = {values['stake.max']} is below 'stake.min' = {values['stake.min']}")
    if values["reveal.payer"] != "none" and not values["fan.reveal"]:
        raise RulesetError(f"{where}: 'reveal.payer' = {values['reveal.payer']} needs a value of 'fan.reveal'")
    for entry in file.readings:
        if values[entry["key"]] != entry["chosen"]:
            own = text(values[entry["key"]])
            raise RulesetError(f"{where}: [[reading]] {entry['key']!r}: chosen {entry['chosen']!r}, played {own}")
    return Family(tuple(files), values, options)


@lru_cache
def family(id: str) -> Family:
    """The family of a ruleset id; RulesetError."""
    if id not in paths():
        raise RulesetError(f"unknown ruleset {id!r}{hint(id, paths())}")
    return family_of(read_file(paths()[id]))


def problem(known: Family, options: dict[str, Value]) -> tuple[str, str, str] | None:
    """(code, field, message) of the first option, by key, that the ruleset does not allow, or None."""
    for key in sorted(options):
        value = options[key]
        if key not in known.options:
            near = hint(key, known.options) or ("" if key in BASE else hint(key, BASE))
            listed = ", ".join(sorted(known.options)) or "none"
            message = f"{known.file.id} has no option {key!r}{near or ';'} it lists {listed}"
            return "unknown_option", f"options.{key}", message
        if BASE[key].wrong(value) or value not in known.options[key]:
            expected = ", ".join(text(choice) for choice in known.options[key])
            return "bad_option_value", f"options.{key}", f"{key!r} = {value!r}, expected one of {expected}"
    chosen = known.values | options
    if 0 < chosen["stake.max"] < chosen["stake.min"]:
        message = f"'stake.max' = {chosen['stake.max']} is below 'stake.min' = {chosen['stake.min']}"
        return "bad_option_value", "options.stake.max", message
    return None


def apply(known: Family, options: dict[str, Value] | None = None) -> Ruleset:
    """A family with room options chosen; RulesetError on an option that it does not allow."""
    options = dict(sorted((options or {}).items()))
    if wrong := problem(known, options):
        raise RulesetError(f"{known.file.path.name}: {wrong[1]}: {wrong[2]}")
    values = known.values | options
    return Ruleset(
        id=known.file.id,
        options=options,
        values=values,
        digest=hashlib.sha256(canonical(values).encode()).hexdigest()[:16],
        record=record_of(values),
        name=known.file.name,
        sources=known.file.sources,
        playable=known.file.playable,
        options_allowed=known.options,
    )


@lru_cache(maxsize=4096)
def _load(id: str, options: str) -> Ruleset:
    return apply(family(id), json.loads(options))


def load(id: str, options: dict[str, Value] | None = None) -> Ruleset:
    """A ruleset by id with room options, playable or not; RulesetError on an unknown id or a wrong option."""
    return _load(id, canonical(options))


def load_file(path: str | Path, options: dict[str, Value] | None = None) -> Ruleset:
    """The ruleset of any data file, read afresh; its parents are found by id.  RulesetError."""
    return apply(family_of(read_file(Path(path))), options)


@lru_cache
def ids() -> tuple[str, ...]:
    """The ids of every playable ruleset, sorted."""
    return tuple(sorted(ident for ident in paths() if family(ident).file.playable))


def check(id: str, options: dict[str, Value] | None = None) -> tuple[str, str, str] | None:
    """What is wrong with a log's claim, as (code, field, message), or None.

    Codes: "unknown_rules" (also a file that is only a parent), "unknown_option", "bad_option_value".
    """
    if id not in ids():
        return "unknown_rules", "rules", f"no ruleset {id!r}{hint(id, ids())}"
    return problem(family(id), options or {})


@lru_cache(maxsize=256)
@lru_cache(maxsize=64)
def variants(ruleset: Ruleset) -> list[tuple[str, Value, np.record]]:
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
