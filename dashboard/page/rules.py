"""Rules: what the rulesets play, the differences from the base rules marked; one ruleset explained, two compared."""

import polars as pl
import streamlit as st

from dashboard import charts, data, dataset, filters, screen
from dashboard.listing import listing
from dashboard.screen import lang, picture, t, word
from replay import rules_text
from replay.ruleset import text

LABEL = 46  # characters of a rule's meaning on the axis


def topic(key: str) -> str:
    """What a key is about: the part before its dot."""
    return key.partition(".")[0] if "." in key else "other"


def value(of: object) -> str:
    """A value as it stands in a cell."""
    return {True: "✓", False: "✗"}[of] if isinstance(of, bool) else text(of)


def short(meaning: str) -> str:
    """The beginning of a rule's meaning, for an axis."""
    return meaning if len(meaning) <= LABEL else meaning[: LABEL - 1] + "…"


def played() -> dict[str, int]:
    """Rounds of the data set by ruleset; empty where there is no data set."""
    if dataset.state().kind != "ready":
        return {}
    return dict(data.rounds_by_ruleset().iter_rows())


def matrix(known: list[dict]) -> None:
    """The hero: rulesets × keys."""
    a, b = st.columns([1, 2], vertical_alignment="bottom")
    explained = {row["id"]: {one["key"]: one for one in rules_text.explanation(row["id"])} for row in known}
    keys = [
        key for key in next(iter(explained.values()))
        if any(rows[key]["value"] != rows[key]["base"] for rows in explained.values())
    ]  # fmt: skip
    topics = list(dict.fromkeys(map(topic, keys)))
    chosen = filters.pick(a, t("rules.topic"), "topic", topics, lambda code: word("topic", code))
    b.caption(t("rules.matrix_note"))
    rows = [
        (
            short(rows[key][lang()]), key, rows[key][lang()], row[lang()], row["id"], value(rows[key]["value"]),
            value(rows[key]["base"]), rows[key]["value"] != rows[key]["base"],
        )
        for key in keys if chosen in (None, topic(key)) for row in known for rows in [explained[row["id"]]]
    ]  # fmt: skip
    names = ["label", "key", "meaning", "ruleset", "id", "value", "base", "differs"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    changed = frame.filter("differs")
    description = t("rules.matrix_alt", rulesets=len(known), keys=frame["key"].n_unique(), n=changed.height)
    headings = {name: t(f"column.{name}") for name in ("key", "meaning", "ruleset", "value", "base")}
    picture(charts.rules(frame, t("column.base")), changed, description, headings, "rules")


def explain(ident: str, known: dict[str, dict]) -> None:
    """One ruleset, key by key, with its source."""
    row = known[ident]
    screen.line(f"{row['zh']} · {row['en']}", "font-weight:600;font-size:1.05rem")
    screen.lines(*((source, "opacity:.75") for source in row["sources"]))
    entries = rules_text.explanation(ident)
    changed = [entry for entry in entries if entry["value"] != entry["base"]]
    st.caption(t("rules.changed", n=len(changed), keys=len(entries)))
    everything = st.toggle(t("rules.all_keys"), **filters.bind("all", filters.read("all") == "True"))
    rows = []
    for entry in entries if everything else changed:
        mark = [{"label": value(entry["value"]), "kind": "mismatch" if entry in changed else ""}]
        where = entry["words"] or (entry["source"] if entry in changed else "")
        free = " · ".join(map(value, entry["allowed"]))
        rows.append((None, None, [entry[lang()], entry["key"], mark, value(entry["base"]), free, where]))
    kinds = ("text", "code", "chips", "text", "text", "text")
    names = ("meaning", "key", "value", "base", "choices", "words")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    listing("explained", columns, rows, caption=t("rules.explained"), labels={})
    readings = [reading for entry in entries for reading in entry["alternatives"]]
    if readings:
        st.markdown(f"**{t('rules.readings')}**")
        rows = []
        for reading in readings:
            others = " · ".join(map(value, reading["alternatives"]))
            cells = [reading["key"], reading["words"], value(reading["chosen"]), others, reading.get("why", "")]
            rows.append((None, None, cells))
        kinds, names = ("code", "text", "text", "text", "text"), ("key", "words", "read_as", "could_be", "why")
        columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
        listing("readings", columns, rows, caption=t("rules.readings"), labels={})


def compare(first: str, second: str, known: dict[str, dict]) -> None:
    """Two rulesets, the keys that differ."""
    rows = []
    for entry in rules_text.difference(first, second):
        free = [" · ".join(map(value, entry[name])) for name in ("a_allowed", "b_allowed")]
        cells = [
            entry[lang()],
            entry["key"],
            value(entry["a"]),
            value(entry["b"]),
            " | ".join(free) if any(free) else "",
        ]
        rows.append((None, None, cells))
    if not rows:
        st.write(t("rules.same"))
        return
    names = ("meaning", "key", None, None, "choices")
    kinds, sides = ("text", "code", "text", "text", "text"), iter((known[first][lang()], known[second][lang()]))
    columns = [(kind, t(f"column.{name}") if name else next(sides)) for kind, name in zip(kinds, names, strict=True)]
    listing("compared", columns, rows, caption=t("rules.compared"), labels={})


def page() -> None:
    """All rulesets at once, then one, then two."""
    st.title(t("rules.title"))
    known = [row for row in rules_text.listing() if row["playable"]]
    by_id = {row["id"]: row for row in known}
    st.write(t("rules.lead", n=len(known)))
    counts = played()
    if counts:
        named = [(screen.rules_name(ident), f"{n:,}") for ident, n in counts.items()]
        screen.line(t("rules.played", parts=screen.spoken(named)), "opacity:.75")
    matrix(known)
    st.subheader(t("rules.one"))
    a, b = st.columns(2)
    usual = next(iter(counts), known[0]["id"])
    ident = filters.read("ruleset", filters.one_of(list(by_id))) or (usual if usual in by_id else known[0]["id"])
    tied = filters.bind("ruleset", ident)
    ident = a.selectbox(t("rules.pick"), list(by_id), format_func=screen.rules_name, **tied)
    others = [one for one in by_id if one != ident]
    other = filters.pick(b, t("rules.other"), "other", others, screen.rules_name, placeholder=t("app.none"))
    if other:
        compare(ident, other, by_id)
    else:
        explain(ident, by_id)


page()
