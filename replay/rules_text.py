"""Rulesets in words: the list, one key by key, two compared, a file checked, and docs/rules.md.

Everything here is text for people, made from the data files alone: nothing about a ruleset is said twice.
`python -m replay.rules_text FILE` writes docs/rules.md.  Every function raises RulesetError on an unknown ruleset.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from replay.rulefile import BASE, FOLDER, RulesetError, Value, read_file
from replay.ruleset import Family, apply, family, family_of, ids, paths, text

Row = dict[str, Any]


def find(name: str) -> Family:
    """A ruleset by id, or by the path of a data file (it ends with ".toml")."""
    return family_of(read_file(Path(name))) if name.endswith(".toml") else family(name)


def origin(known: Family, key: str, options: Iterable[str] = ()) -> str:
    """Where a key's value comes from: "option", the id of the file that states it, or "base"."""
    if key in options:
        return "option"
    return next((file.id for file in reversed(known.files) if key in file.rules), "base")


def words(known: Family, key: str) -> str:
    """What the file that states a key quotes from its sheet, or nothing."""
    return next((file.words.get(key, "") for file in reversed(known.files) if key in file.rules), "")


def _source(entry: dict[str, str]) -> str:
    return f"{entry['title']} ({entry['file']}{', ' + entry['part'] if 'part' in entry else ''})"


def run_example(known: Family, example: dict[str, Any]) -> dict[str, Any]:
    """What the engine makes of a worked example, in the shape of its `expect`; HandError or RulesetError.

    A hand that isn't complete: {"multiple": None, "fans": None}.
    """
    from replay.score import score  # here: the page and the list need no compiled engine

    hand = {key: value for key, value in example.items() if key not in ("words", "expect")}
    found = score(hand, apply(known, example.get("options")))
    return {"multiple": found and found[0], "fans": found and found[1]}


def check_file(path: str | Path) -> int:
    """`kwx rules --check`: how many worked examples of a data file hold; RulesetError when anything is wrong."""
    known = family_of(read_file(Path(path)))
    for number, example in enumerate(known.file.examples, 1):
        where = f"{known.file.path.name}: example {number}"
        try:
            found = run_example(known, example)
        except ValueError as error:
            raise RulesetError(f"{where}: {error}") from None
        if found != example["expect"]:
            expected, got = (
                f"{one['multiple']} [{', '.join(one['fans'] or [])}]" for one in (example["expect"], found)
            )
            raise RulesetError(f"{where}: expected {expected}, found {got}")
    return len(known.file.examples)


def listing() -> list[Row]:
    """One row a ruleset: id, zh, en, playable, extends, options (keys), sources; mere parents come last."""
    order = [*ids(), *sorted(set(paths()) - set(ids()))]
    return [
        {
            "id": known.file.id, "zh": known.file.name["zh"], "en": known.file.name["en"],
            "playable": known.file.playable, "extends": known.file.extends, "options": sorted(known.options),
            "sources": [_source(entry) for entry in known.file.sources],
        }
        for known in map(family, order)
    ]  # fmt: skip


def explanation(name: str, options: dict[str, Value] | None = None) -> list[Row]:
    """One row a key, in base.toml's order: key, value, base, from, source, words, zh, en, allowed, alternatives."""
    known, options = find(name), options or {}
    values = apply(known, options).values
    rows = []
    for key, entry in BASE.items():
        stated = origin(known, key, options)
        by = next((file for file in known.files if file.id == stated), known.file)
        rows.append(
            {
                "key": key, "value": values[key], "base": entry.default, "from": stated,
                "source": "; ".join(dict.fromkeys(source["title"] for source in by.sources)),
                "words": "" if stated == "option" else words(known, key), "zh": entry.zh, "en": entry.en,
                "allowed": list(known.options.get(key, ())),
                "alternatives": [reading for file in known.files for reading in file.readings if reading["key"] == key],
            }
        )  # fmt: skip
    return rows


def difference(first: str, second: str) -> list[Row]:
    """One row a key whose value or allowed room options differ: key, a, b, a_allowed, b_allowed, zh, en."""
    a, b = find(first), find(second)
    return [
        {
            "key": key, "a": a.values[key], "b": b.values[key], "a_allowed": list(a.options.get(key, ())),
            "b_allowed": list(b.options.get(key, ())), "zh": entry.zh, "en": entry.en,
        }
        for key, entry in BASE.items()
        if a.values[key] != b.values[key] or set(a.options.get(key, ())) != set(b.options.get(key, ()))
    ]  # fmt: skip


def listing_text() -> str:
    """`kwx rules`: one line a ruleset."""
    rows = listing()
    wide = max(len(row["id"]) for row in rows)
    lines = [
        f"{row['id']:<{wide}}  {row['zh']} · {row['en']}" + ("" if row["playable"] else "  (a parent, not played)")
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def explanation_text(name: str, options: dict[str, Value] | None = None) -> str:
    """`kwx rules ID`: what is played, key by key; a `*` marks what differs from base."""
    known = find(name)
    file, values = known.file, apply(known, options)
    lines = [f"{file.id}  {file.name['zh']} · {file.name['en']}  digest {values.digest}"]
    lines += ["extends " + " < ".join(parent.id for parent in reversed(known.files[:-1]))] if file.extends else []
    lines += [f"source: {_source(entry)}" for entry in file.sources]
    lines += [f"note: {note}" for parent in known.files for note in parent.notes]
    for row in explanation(name, options):
        changed = "*" if row["value"] != row["base"] else " "
        came = row["from"] if row["from"] in ("base", "option") else f"{row['from']}: {row['words'] or row['source']}"
        lines += ["", f"{changed} {row['key']} = {text(row['value'])}  [{came}]"]
        lines += [f"    base: {text(row['base'])}"] if changed == "*" else []
        lines += [f"    {row['zh']}", f"    {row['en']}"]
        lines += [f"    a room may choose: {_choices(row['allowed'])}"] if row["allowed"] else []
        lines += [f"    reading: {_reading(reading)}" for reading in row["alternatives"]]
    return "\n".join(lines) + "\n"


def difference_text(first: str, second: str) -> str:
    """`kwx rules --diff A B`: the keys whose values or room options differ."""
    rows = difference(first, second)
    if not rows:
        return f"{first} and {second} play the same\n"
    lines = [f"{'key':<34} {first:<24} {second}"]
    for row in rows:
        lines += [f"{row['key']:<34} {text(row['a']):<24} {text(row['b'])}", f"    {row['zh']} · {row['en']}"]
        if set(row["a_allowed"]) != set(row["b_allowed"]):
            lines.append(f"    a room may choose: {_choices(row['a_allowed'])} | {_choices(row['b_allowed'])}")
    return "\n".join(lines) + "\n"


def _choices(values: Iterable[Value]) -> str:
    return ", ".join(map(text, values)) or "nothing"


def _reading(entry: dict[str, Any]) -> str:
    other = " or ".join(map(text, entry["alternatives"]))
    why = f" ({entry['why']})" if "why" in entry else ""
    return f"{entry['words']} — read as {text(entry['chosen'])}, could be {other}{why}"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    head = list(head)
    out = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    return out + [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _kind(key: str) -> str:
    entry = BASE[key]
    if entry.type == "enum":
        return " · ".join(f"`{value}`" for value in entry.values)
    return "true · false" if entry.type == "bool" else f"{entry.low} to {entry.high}"


def _matrix(known: list[Family], keys: list[str]) -> list[str]:
    rows = [
        [f"`{key}`", text(BASE[key].default)]
        + ["" if one.values[key] == BASE[key].default else text(one.values[key]) for one in known]
        for key in keys
        if any(one.values[key] != BASE[key].default for one in known)
    ]
    return _table(["key", "base", *(f"`{one.file.id}`" for one in known)], rows)


def markdown() -> str:
    """The whole of docs/rules.md."""
    known = [family(ident) for ident in sorted(paths()) if ident != "base"]
    sheets = [one for one in known if one.file.path.parent.name != "sites"]
    sites = [one for one in known if one.file.path.parent.name == "sites"]
    rules = [key for key in BASE if not key.startswith("fan.")]
    fans = [key for key in BASE if key.startswith("fan.")]
    out = ["<!-- Generated by `python -m replay.rules_text docs/rules.md`; a test keeps it current. -->", ""]
    out += [(FOLDER / "README.md").read_text(encoding="utf-8"), "## Rulesets", ""]
    out += _table(
        ["id", "中文", "name", "parent", "sources"],
        [
            [f"`{one.file.id}`" + ("" if one.file.playable else " (a parent only)"), one.file.name["zh"]]
            + [one.file.name["en"], one.file.extends, "; ".join(_source(entry) for entry in one.file.sources)]
            for one in known
        ],
    )
    for title, some in (("the sheets", sheets), ("public servers", sites)):
        if some:
            out += ["", f"## What differs from base: {title}", "", *_matrix(some, rules)]
            out += ["", f"## Fan values: {title}", "", "0: not played. Empty: as base.", "", *_matrix(some, fans)]
    out += ["", "## Room options", ""]
    out += _table(
        ["ruleset", "key", "values"],
        [
            [f"`{one.file.id}`", f"`{key}`", _choices(one.options[key])]
            for one in known if one.file.playable for key in sorted(one.options)
        ],
    )  # fmt: skip
    out += ["", "## Readings", "", "Where a sheet can be read in more than one way.", ""]
    out += _table(
        ["ruleset", "key", "the sheet's words", "read as", "could be", "why"],
        [
            [f"`{one.file.id}`", f"`{entry['key']}`", entry["words"], text(entry["chosen"])]
            + [_choices(entry["alternatives"]), entry.get("why", "")]
            for one in [family("base"), *known] for entry in one.file.readings
        ],
    )  # fmt: skip
    notes = [f"- `{one.file.id}`: {note}" for one in known for note in one.file.notes]
    out += ["", "## Notes", "", *notes]
    out += ["", "## Keys", "", "Keys marked ° are changed by profiles of public servers only.", ""]
    out += _table(
        ["key", "values", "base", "中文", "meaning"],
        [
            [f"`{key}`" + ("°" if BASE[key].site else ""), _kind(key)]
            + [text(BASE[key].default), BASE[key].zh, BASE[key].en]
            for key in rules
        ],
    )  # fmt: skip
    out += ["", "## Fans", "", "In the order in which fan lists are written. A value of 0 means: not played.", ""]
    out += _table(
        ["fan", "base", "中文", "condition in short"],
        [[f"`{key.removeprefix('fan.')}`", text(BASE[key].default), BASE[key].zh, BASE[key].en] for key in fans],
    )
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(markdown(), encoding="utf-8")
