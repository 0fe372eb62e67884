"""Reveal: what showing the hand brings, by live tiles and turn; alone, chased, chasing; against not doing it."""

import polars as pl
import streamlit as st

from analytics.reveal_statistics import MOST_LIVE, MOST_TURN
from dashboard import figures, filters, screen
from dashboard.graphs import reveal as graphs
from dashboard.graphs.marks import curves
from dashboard.queries import behind
from dashboard.queries import reveal as queries
from dashboard.screen import FEW, headings, percent, picture, spoken, t


def upto(number: int, most: int) -> str:
    """A count of a cell; the last one holds what is beyond."""
    return f"{number}+" if number == most else str(number)


def span(low: float | None, high: float | None) -> str:
    """An interval as text."""
    return t("app.none") if low is None or high is None else f"{figures.stakes(low)} – {figures.stakes(high)}"


def hero(where: dict) -> None:
    """Live tiles × turn."""
    found = queries.grid(where)
    rows = list(found.iter_rows(named=True))
    frame = found.with_columns(
        few=pl.col("n") < FEW,
        live_label=pl.Series([upto(row["live"], MOST_LIVE) for row in rows]),
        turn_label=pl.Series([upto(row["turn"], MOST_TURN) for row in rows]),
        text=pl.Series([figures.stakes(row["value"], 1) for row in rows]),
        span=pl.Series([span(row["low"], row["high"]) for row in rows]),
        win=pl.Series([t("reveal.won", share=percent(row["win_rate"])) for row in rows]),
        href=pl.Series([screen.address("rounds", behind=behind.code("reveal", row["live"], row["turn"]), **where)
                        for row in rows]),
    )  # fmt: skip
    known = frame.filter(~pl.col("few")).sort("value", descending=True)
    ends = [*known.head(3).iter_rows(named=True), *known.tail(3).iter_rows(named=True)]
    parts = spoken([(t("reveal.cell", live=row["live_label"], turn=row["turn_label"]), row["text"]) for row in ends])
    columns = ("live", "turn", "n", "value", "low", "high", "win_rate", "win_rate_low", "win_rate_high")
    chart = graphs.grid(frame, t("reveal.turns"), t("reveal.lives"), t("reveal.value"))
    n = int(frame["n"].sum())
    picture(chart, frame, t("reveal.hero_alt", n=n, parts=parts), headings("reveal_column", *columns), "reveals")
    st.caption(f"{t('app.n', n=n)} {t('reveal.hero_note')}")


def orders(where: dict) -> None:
    """Alone, chased, chasing."""
    st.subheader(t("reveal.orders"))
    found = queries.orders(where)
    rows = list(found.iter_rows(named=True))
    frame = found.with_columns(
        label=pl.Series([screen.word("behind_word", row["role"]) for row in rows]),
        text=pl.Series(
            [f"{figures.stakes(row['value'])} · {t('reveal.won', share=percent(row['win_rate']))}" for row in rows]
        ),
        few=pl.col("n") < FEW,
        href=pl.Series([screen.address("rounds", behind=behind.code("role", row["role"]), **where) for row in rows]),
    )
    parts = spoken(list(frame.select("label", "text").iter_rows()))
    columns = ("label", "n", "value", "low", "high", "win_rate", "win_rate_low", "win_rate_high")
    chart = graphs.spans(frame, t("reveal.value"))
    picture(chart, frame, t("reveal.orders_alt", parts=parts), headings("reveal_column", *columns), "reveal-orders")
    st.caption(spoken([(row["label"], f"n = {row['n']:,}") for row in frame.iter_rows(named=True)]))


def against(where: dict) -> None:
    """Revealing against not revealing, like with like."""
    st.subheader(t("reveal.against"))
    found = queries.against_not(where)
    if not found.height:
        st.write(t("reveal.no_match"))
        return
    rows = list(found.iter_rows(named=True))
    frame = found.with_columns(
        label=pl.Series([screen.rules_name(row["ruleset"]) if row["ruleset"] else t("app.all") for row in rows]),
        value=pl.col("difference"), n=pl.col("revealed"), few=pl.min_horizontal("revealed", "kept") < FEW,
        text=pl.Series([figures.stakes(row["difference"]) for row in rows]),
        href=pl.Series([screen.address("rounds", reveal="True", **({"ruleset": row["ruleset"]} if row["ruleset"] else
                                                                   {}) | where) for row in rows]),
    )  # fmt: skip
    parts = spoken(list(frame.select("label", "text").iter_rows()))
    columns = ("label", "revealed", "kept", "value_revealed", "value_kept", "difference", "low", "high",
               "win_difference", "win_low", "win_high")  # fmt: skip
    chart = graphs.spans(frame, t("reveal.difference"))
    picture(chart, frame, t("reveal.against_alt", parts=parts), headings("reveal_column", *columns), "reveal-against")
    first = rows[0]
    st.caption(t("reveal.against_note", revealed=first["revealed"], kept=first["kept"],
                 win=figures.signed(100 * first["win_difference"], 1)))  # fmt: skip


def live(where: dict) -> None:
    """Ready hands by live tiles."""
    st.subheader(t("reveal.live"))
    found = queries.by_live(where)
    if not found.height:
        st.write(t("fans.no_facts"))
        return
    rows = list(found.iter_rows(named=True))
    kinds = ["revealed" if row["revealed"] else "kept" for row in rows]
    order = [screen.word("behind_word", kind) for kind in ("revealed", "kept")]
    frame = found.with_columns(
        at=pl.col("live"), label=pl.Series([upto(row["live"], MOST_LIVE) for row in rows]),
        what=pl.Series([screen.word("behind_word", kind) for kind in kinds]), few=pl.col("n") < FEW,
        href=pl.Series([screen.address("rounds", behind=behind.code("waiting", row["live"], kind), **where)
                        for row, kind in zip(rows, kinds, strict=True)]),
    )  # fmt: skip
    left, right = st.columns(2, gap="large")
    columns = ("label", "what", "n", "value", "low", "high")
    with left:
        parts = spoken(
            [(f"{row['label']}, {row['what']}", figures.stakes(row["value"])) for row in frame.iter_rows(named=True)]
        )
        chart = curves(frame, t("reveal.lives"), t("reveal.value_short"), "+.1f", order, zero=True)
        picture(chart, frame, t("reveal.live_alt", parts=parts), headings("reveal_column", *columns), "reveal-live")
    with right:
        rates = frame.drop("value", "low", "high").rename(
            {"win_rate": "value", "win_rate_low": "low", "win_rate_high": "high"}
        )
        parts = spoken(
            [(f"{row['label']}, {row['what']}", percent(row["value"])) for row in rates.iter_rows(named=True)]
        )
        chart = curves(rates, t("reveal.lives"), t("reveal.win_rate"), ".0%", order)
        shown = headings("reveal_column", *columns) | {"value": t("reveal_column.win_rate")}
        picture(chart, rates, t("reveal.live_wins_alt", parts=parts), shown, "reveal-live-wins")
    st.caption(f"{t('app.n', n=int(frame['n'].sum()))} {t('reveal.live_note')}")


def page() -> None:
    """From what it brings to whether it was right."""
    st.title(t("reveal.title"))
    if screen.ready() is None:
        return
    st.write(t("reveal.lead"))
    where = filters.of_statistics()
    found = {row["metric"]: row for row in queries.figures(where).iter_rows(named=True)}
    if "reveal_result" not in found:
        st.info(t("reveal.none"))
        return
    result = found["reveal_result"]
    st.subheader(
        t("reveal.hero", value=figures.stakes(result["value"]), share=percent(found["reveal_win_rate"]["value"]))
    )
    hero(where)
    figures.cards(found.values(), 3, {id: figures.counted(id, where) for id in found})
    left, right = st.columns(2, gap="large")
    with left:
        orders(where)
    with right:
        against(where)
    live(where)


page()
