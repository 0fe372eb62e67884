"""Fans: which bring most, how often and how much; which come together; what became of hands that aimed at them."""

import math
from typing import Any

import polars as pl
import streamlit as st

from dashboard import figures, filters, screen
from dashboard.graphs import fans as graphs
from dashboard.listing import listing
from dashboard.queries import behind
from dashboard.queries import fans as queries
from dashboard.screen import FEW, estimate, headings, percent, picture, spoken, t

SHOWN = 14  # fans of the funnel


def name(code: str) -> str:
    """A fan's name, or what a win without one is called."""
    return t("fans.plain") if code == "plain" else screen.fan(code)


def opens(where: dict, code: str, other: str | None = None) -> dict[str, Any]:
    """Parameters of the rounds won with a fan, with two at once, or with none."""
    if code == "plain":
        return {"behind": behind.code("plain"), **where}
    if other and other != code:
        return {"behind": behind.code("pair", code, other), **where}
    return {"fan": code, **where}


def address(where: dict, code: str, other: str | None = None) -> str:
    """Their address."""
    return screen.address("rounds", **opens(where, code, other))


def hero(frame: pl.DataFrame, where: dict) -> None:
    """How often, how much, and what it adds up to."""
    frame = frame.with_columns(
        label=pl.Series([name(code) for code in frame["fan"]]),
        few=pl.col("wins") < FEW,
        href=pl.Series([address(where, code) for code in frame["fan"]]),
        shown=pl.Series([f"{percent(share)} · {wins:,}" for share, wins in frame.select("share", "wins").iter_rows()]),
        worth=pl.Series([f"{value:.1f}" for value in frame["value"]]),
    )
    parts = spoken(
        [(label, f"{percent(share)} × {value:.1f}")
         for label, share, value in frame.select("label", "share", "value").head(6).iter_rows()]
    )  # fmt: skip
    first = frame.row(0, named=True)
    fan = first["label"][:1].upper() + first["label"][1:]
    st.subheader(t("fans.hero", fan=fan, share=percent(first["contribution"])))
    left, right = st.columns([3, 2], gap="medium")
    columns = ("wins", "n", "share", "share_low", "share_high", "contribution", "contribution_low", "contribution_high")
    with left:
        chart = graphs.lollipops(frame, t("fans.frequency"), t("fans.contribution"))
        n = int(first["n"])
        picture(chart, frame, t("fans.hero_alt", n=n, parts=parts), headings("fans_column", "label", *columns), "fans")
    with right:
        columns = ("wins", "value", "value_low", "value_high", "multiple", "multiple_low", "multiple_high")
        parts = spoken([(label, worth) for label, worth in frame.select("label", "worth").head(6).iter_rows()])
        chart = graphs.values(frame, t("fans.value"))
        picture(
            chart, frame, t("fans.value_alt", parts=parts), headings("fans_column", "label", *columns), "fan-values"
        )
    st.caption(f"{t('app.n', n=n)} {t('fans.note')}")


def hands(frame: pl.DataFrame, where: dict) -> None:
    """Every fan in numbers, with a hand that won with it."""
    st.subheader(t("fans.list"))
    drawn = {row["fan"]: row for row in queries.examples(where).iter_rows(named=True)}
    rows = []
    for row in frame.iter_rows(named=True):
        few, example = row["wins"] < FEW, drawn.get(row["fan"])
        cells: list[Any] = [
            name(row["fan"]),
            row["wins"],
            estimate(row["share"], row["share_low"], row["share_high"], few, percent),
            estimate(row["value"], row["value_low"], row["value_high"], few, "{:.2f}".format),
            estimate(row["contribution"], row["contribution_low"], row["contribution_high"], few, percent),
            None,
            None,
        ]
        if example:
            at = {"round": example["id"], "event": example["event"]}
            cells[6] = screen.winning_hands(example, [example])
            cells[5] = {"id": f"{example['id']} {example['event']}", "label": t("fans.open"),
                        "href": screen.address("rounds", **at)}  # fmt: skip
        rows.append((f"fan {row['fan']}", address(where, row["fan"]), cells))
    kinds = ("text", "number", "estimate", "estimate", "estimate", "open", "hands")
    names = ("label", "wins", "share", "value", "contribution", "open", "hand")
    hints = {"value": t("fans.value_hint"), "contribution": t("fans.contribution_hint")}
    columns = [(kind, t(f"fans_column.{one}"), *([hints[one]] if one in hints else []))
               for kind, one in zip(kinds, names, strict=True)]  # fmt: skip
    opened = listing("fans", columns, rows, caption=t("fans.list"), labels=screen.tile_labels())
    if opened and opened.startswith("fan "):
        screen.go("rounds", **opens(where, opened.removeprefix("fan ")))
    elif opened:
        id, event = opened.rsplit(" ", 1)
        screen.go("rounds", round=id, event=event)


def multiples(where: dict) -> None:
    """How large wins are, and how many the cap cuts."""
    frame = queries.multiples(where)
    capped, n = int(frame["capped"].sum()), int(frame["wins"].sum())
    frame = frame.with_columns(
        href=pl.Series([screen.address("rounds", multiple=at, sort="multiple", **where) for at in frame["multiple"]])
    )
    st.subheader(t("fans.multiples"))
    parts = spoken([(f"×{at}", f"{wins:,}") for at, wins in frame.select("multiple", "wins").iter_rows()])
    chart = graphs.multiples(
        frame, t("fans.multiple_axis"), t("fans.wins_axis"), t("fans.plain_wins"), t("fans.capped")
    )
    columns = headings("fans_column", "multiple", "wins", "capped", "share", "n")
    picture(chart, frame, t("fans.multiples_alt", n=n, parts=parts), columns, "multiples")
    st.caption(f"{t('app.n', n=n)} · {t('fans.capped_note', n=capped, share=percent(capped / n))}")


def funnel(where: dict) -> None:
    """Aimed at, ready for, won with: what a fan is worth to the hands that go for it."""
    st.subheader(t("fans.funnel"))
    found = queries.pursuit(where).filter(pl.col("aimed") > 0)
    if not found.height:
        st.write(t("fans.no_facts"))
        return
    stages = ("aimed", "ready", "won")
    rows = []
    for row in found.head(SHOWN).iter_rows(named=True):
        for stage in stages:
            share = row[stage] / row["aimed"]
            href = screen.address("rounds", behind=behind.code("aim", row["fan"], stage), **where)
            shown = f"{row[stage]:,}" if stage == "aimed" else percent(share)
            rows.append(
                (name(row["fan"]), t(f"fans_stage.{stage}"), row[stage], share, shown, row["aimed"] < FEW, href)
            )
    frame = pl.DataFrame(rows, ["label", "stage", "seats", "share", "shown", "few", "href"], orient="row")
    parts = spoken([(f"{row[0]}, {row[1]}", row[4]) for row in rows[:9]])
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart = graphs.funnel(frame, [t(f"fans_stage.{stage}") for stage in stages], t("fans.funnel_axis"))
        columns = headings("fans_column", "label", "stage", "seats", "share")
        picture(chart, frame, t("fans.funnel_alt", n=int(found["n"][0]), parts=parts), columns, "pursuit")
        st.caption(f"{t('app.n', n=int(found['n'][0]))} {t('fans.funnel_note')}")
    with right:
        st.markdown(f"**{t('fans.paid')}**")
        lines = []
        for row in found.iter_rows(named=True):
            few = row["aimed"] < FEW
            cells = [
                name(row["fan"]), row["aimed"],
                estimate(*(row[f"aimed_net{end}"] for end in ("", "_low", "_high")), few, figures.stakes, signed=True),
                figures.stakes(row["other_net"]) if row["other_net"] is not None else "–",
            ]  # fmt: skip
            code = behind.code("aim", row["fan"], "aimed")
            lines.append((code, screen.address("rounds", behind=code, **where), cells))
        titles = [("text", t("fans_column.label")), ("number", t("fans_stage.aimed")),
                  ("estimate", t("fans_column.result"), t("fans.paid_hint")),
                  ("text", t("fans_column.other"))]  # fmt: skip
        opened = listing("pursuit", titles, lines, caption=t("fans.paid"), labels={})
        if opened:
            screen.go("rounds", behind=opened, **where)


def pairs(where: dict) -> None:
    """Which fans come together more often than by chance."""
    st.subheader(t("fans.pairs"))
    found = queries.together(where)
    if not found.height:
        st.write(t("fans.no_pairs"))
        return
    both = pl.concat([found, found.rename({"fan": "other", "other": "fan"}).select(found.columns)])
    common = (
        both.group_by("fan").agg(pl.col("wins").sum()).sort("wins", "fan", descending=[True, False])["fan"].to_list()
    )
    place = {code: at for at, code in enumerate(common)}
    frame = both.filter(pl.struct("fan", "other").map_elements(
        lambda row: place[row["fan"]] <= place[row["other"]], return_dtype=pl.Boolean
    )).with_columns(order=pl.col("fan").replace_strict(place)).sort("order")  # fmt: skip
    rows = list(frame.select("fan", "other", "lift", "wins").iter_rows())
    frame = frame.with_columns(
        label=pl.Series([name(row[0]) for row in rows]), partner=pl.Series([name(row[1]) for row in rows]),
        log=pl.Series([math.log2(row[2]) for row in rows]), few=pl.col("wins") < 10,
        text=pl.Series([f"{row[2]:.1f}" if row[2] < 100 else f"{row[2]:.0f}" for row in rows]),
        href=pl.Series([address(where, *row[:2]) for row in rows]),
    )  # fmt: skip
    top = frame.filter(~pl.col("few")).sort("wins", descending=True).head(5)
    parts = spoken(
        [(f"{a} + {b}", f"×{lift:.1f}") for a, b, lift in top.select("label", "partner", "lift").iter_rows()]
    )
    columns = headings("fans_column", "label", "partner", "wins", "n", "share", "low", "high", "lift")
    n = int(frame["n"][0])
    chart = graphs.pairs(frame, t("fans_column.lift"), [name(code) for code in common])
    picture(chart, frame, t("fans.pairs_alt", n=n, parts=parts), columns, "fan-pairs")
    st.caption(f"{t('app.n', n=n)} {t('fans.pairs_note')}")


def rulesets(where: dict) -> None:
    """Which fans pay in which rules."""
    found = queries.by_ruleset(where)
    if found["ruleset"].n_unique() < 2:
        return
    st.subheader(t("fans.rulesets"))
    total = found.group_by("fan").agg(pl.col("stakes").sum()).sort("stakes", "fan", descending=[True, False])
    place = {code: at for at, code in enumerate(total["fan"])}
    frame = found.with_columns(order=pl.col("fan").replace_strict(place)).sort("order", "ruleset")
    rows = list(frame.select("fan", "ruleset", "contribution").iter_rows())
    frame = frame.with_columns(
        label=pl.Series([name(row[0]) for row in rows]), rules=pl.Series([screen.rules_name(row[1]) for row in rows]),
        text=pl.Series([f"{row[2]:.1%}" for row in rows]), few=pl.col("wins") < FEW,
        href=pl.Series([address({**where, "ruleset": row[1]}, row[0]) for row in rows]),
    )  # fmt: skip
    parts = spoken([(f"{rules}, {label}", text) for label, rules, text in
                    frame.filter(~pl.col("few")).select("label", "rules", "text").head(6).iter_rows()])  # fmt: skip
    columns = ("label", "rules", "wins", "n", "contribution", "contribution_low", "contribution_high", "value")
    chart = graphs.matrix(frame, t("fans.contribution"))
    picture(chart, frame, t("fans.rulesets_alt", parts=parts), headings("fans_column", *columns), "fans-rules")
    st.caption(t("fans.rulesets_note"))


def page() -> None:
    """From what pays to what it is made of."""
    st.title(t("fans.title"))
    if screen.ready() is None:
        return
    st.write(t("fans.lead"))
    where = filters.of_statistics()
    frame = queries.fans(where)
    if not frame.height:
        st.info(t("overview.no_wins"))
        return
    hero(frame, where)
    hands(frame, where)
    funnel(where)
    left, right = st.columns([2, 3], gap="large")
    with left:
        multiples(where)
    with right:
        pairs(where)
    if "ruleset" not in where:
        rulesets(where)


page()
