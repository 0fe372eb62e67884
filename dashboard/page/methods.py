"""Methods: every statistic with formula, unit and caveat, worked out on the data set at hand; what intervals mean."""

import polars as pl
import streamlit as st

from analytics import metrics
from dashboard import figures, filters, screen
from dashboard.listing import listing
from dashboard.queries import fans, reveal, seats
from dashboard.queries import methods as queries
from dashboard.screen import FEW, t

TOPICS = ("rate", "mean", "quantile", "fans", "lift", "pursuit", "matched", "sample", "luck", "ranks", "dealer")


def number(value: float) -> str:
    """A sum as it stands in a worked example."""
    return f"{value + 0.0:,.0f}" if value == round(value) else f"{round(value, 2) + 0.0:,.2f}"


def example(row: dict) -> str:
    """The formula with this data set's numbers."""
    id, one = row["metric"], metrics.get(row["metric"])
    if one.kind == "quantile":
        return f"n = {row['n']:,} → {figures.shown(id, row['value'])}"
    return f"{number(row['k'])} ÷ {row['n']:,} = {figures.shown(id, row['value'])}"


def worked(topic: str, where: dict) -> str:
    """An example of the data set for what is no sum over another; "" where there is none."""
    if topic in ("rate", "mean"):
        id = "win_rate" if topic == "rate" else "win_value"
        found = queries.one(id, where)
        if found is None or found["low"] is None:
            return ""
        span = f"{figures.shown(id, found['low'])} – {figures.shown(id, found['high'])}"
        return f"{figures.name(id)}: k = {number(found['k'])}, n = {found['n']:,}, g = {found['games']:,} → {span}"
    if topic == "quantile":
        found = next((row for row in queries.group("points", where).iter_rows(named=True)
                      if metrics.get(row["metric"]).kind == "quantile"), None)  # fmt: skip
        return f"{figures.name(found['metric'])}: {example(found)}" if found else ""
    if topic == "fans":
        frame = fans.fans(where)
        if not frame.height:
            return ""
        row, total = frame.row(0, named=True), float(frame["stakes"].sum())
        called = t("fans.plain") if row["fan"] == "plain" else screen.fan(row["fan"])
        return f"{called}: {number(row['stakes'])} ÷ {number(total)} = {screen.percent(row['contribution'])}"
    if topic == "lift":
        frame = fans.together(where).sort("wins", descending=True)
        if not frame.height:
            return ""
        row = frame.row(0, named=True)
        pair = f"{screen.fan(row['fan'])} + {screen.fan(row['other'])}"
        return f"{pair}: {row['wins']:,} × {row['n']:,} ÷ … = {row['lift']:.2f}"
    if topic == "pursuit":
        frame = fans.pursuit(where).filter(pl.col("aimed") > 0)
        if not frame.height:
            return ""
        row = frame.row(0, named=True)
        return f"{screen.fan(row['fan'])}: n = {row['aimed']:,} → {figures.stakes(row['aimed_net'])}"
    if topic == "matched":
        frame = reveal.against_not(where)
        if not frame.height:
            return ""
        row = frame.row(0, named=True)
        left, right = figures.stakes(row["value_revealed"]), figures.stakes(row["value_kept"])
        return f"{left} − ({right}) = {figures.stakes(row['difference'])}, n = {row['revealed']:,} / {row['kept']:,}"
    if topic == "luck":
        found = [queries.one(id, where) for id in ("net", "tiles_worth", "luck_adjusted_net")]
        if None in found:
            return ""
        return " · ".join(
            f"{figures.name(row['metric'])} {figures.shown(row['metric'], row['value'])}" for row in found
        )
    if topic == "dealer":
        frame = seats.streaks(where)
        if not frame.height:
            return ""
        return f"{frame['k'].sum():,} ÷ {frame['n'].sum():,} = {screen.percent(frame['model'][0])}"
    return ""


def statistics(where: dict, group: str) -> None:
    """A group of the registry as a table; each row opens the rounds that it counts."""
    found = {row["metric"]: row for row in queries.group(group, where).iter_rows(named=True)}
    rows, saved = [], []
    for one in metrics.registry().values():
        if one.group != group:
            continue
        row = found.get(one.id)
        formula = f"{one.numerator} ÷ {one.denominator}"
        if one.kind == "quantile":
            formula = t("methods.quantile_of", share=one.quantile, column=one.numerator)
        note = getattr(one, f"note_{screen.lang()}")
        cells = [
            figures.name(one.id), formula, t(f"unit.{one.unit}"),
            example(row) if row else t("methods.none"),
            figures.cell(row) if row else None, t(f"methods_kind.{one.kind}"), note,
        ]  # fmt: skip
        opens = row is not None and one.kind != "quantile"
        address = screen.address("rounds", **figures.counted(one.id, where)) if opens else None
        rows.append((one.id if opens else None, address, cells))
        known = row or dict.fromkeys(("k", "n", "value", "low", "high"))
        saved.append((one.id, figures.name(one.id), formula, one.unit, one.kind, note,
                      *(known[name] for name in ("k", "n", "value", "low", "high"))))  # fmt: skip
    kinds = ("text", "code", "text", "text", "estimate", "text", "text")
    names = ("name", "formula", "unit", "example", "value", "interval", "note")
    columns = [(kind, t(f"methods_column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("methods", columns, rows, caption=t(f"methods_group.{group}"), labels={})
    if opened:
        screen.go("rounds", **figures.counted(opened, where))
    names = ("metric", "name", "formula", "unit", "kind", "note", "k", "n", "value", "low", "high")
    screen.downloads(pl.DataFrame(saved, list(names), orient="row", infer_schema_length=None), f"methods-{group}")
    st.caption(t("methods.note", n=FEW))


def page() -> None:
    """The registry, then what is not a sum over another."""
    st.title(t("methods.title"))
    state = screen.ready()
    if state is None:
        return
    st.write(t("methods.lead", n=len(metrics.registry())))
    where = filters.of_statistics()
    groups = list(metrics.GROUPS)
    group = filters.read("group", filters.one_of(groups)) or groups[0]
    st.segmented_control(
        t("methods.group"), groups, format_func=lambda one: t(f"methods_group.{one}"), required=True,
        label_visibility="collapsed", **filters.bind("group", group),
    )  # fmt: skip
    st.subheader(t(f"methods_group.{group}"))
    statistics(where, group)
    st.subheader(t("methods.more"))
    topic = filters.read("topic", filters.one_of(TOPICS)) or TOPICS[0]
    st.pills(
        t("methods.more"), TOPICS, format_func=lambda one: t(f"methods_topic.{one}"), required=True,
        label_visibility="collapsed", **filters.bind("topic", topic),
    )  # fmt: skip
    st.markdown(t(f"methods_text.{topic}"))
    if text := worked(topic, where):
        st.markdown(f"**{t('methods.worked', text=text)}**")


page()
