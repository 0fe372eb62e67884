"""Seats: who pays whom around the table, the dealer against the others, how long a dealer stays."""

import polars as pl
import streamlit as st

from dashboard import figures, filters, screen
from dashboard.graphs import reveal as spans
from dashboard.graphs import seats as graphs
from dashboard.listing import listing
from dashboard.queries import behind
from dashboard.queries import seats as queries
from dashboard.screen import FEW, headings, percent, picture, spoken, t

BY = ("position", "seat")
PLACE_COLOURS = ("#a8842c", "#5b7aa5", "#7b8494")  # dealer as on the overview, next, before; seats have their own
ACTS = {"win_rate": "win", "deal_in_rate": "deal_in", "reveal_rate": "reveal", "kong_rate": "kong"}


def names(by: str) -> list[str]:
    """What the three are called."""
    return [t(f"seats_position.{place}") for place in range(3)] if by == "position" else ["0", "1", "2"]


def hero(where: dict, by: str, found: pl.DataFrame) -> None:
    """Three seats and the points between them."""
    called, colours = names(by), graphs.COLOURS if by == "seat" else PLACE_COLOURS
    net = {row[by]: row for row in found.filter(metric="net").iter_rows(named=True)}
    flows = queries.flows(where, by)
    if not flows.height or len(net) < 3:
        st.info(t("seats.nothing"))
        return
    rows = list(flows.iter_rows(named=True))
    kind = "flow" if by == "seat" else "relative"
    arrows = flows.with_columns(
        payer_label=pl.Series([called[row["payer"]] for row in rows]),
        payee_label=pl.Series([called[row["payee"]] for row in rows]),
        text=pl.Series([f"{row['stakes']:,.0f}" for row in rows]),
        href=pl.Series([screen.address("rounds", behind=behind.code(kind, row["payer"], row["payee"]), **where)
                        for row in rows]),
    )  # fmt: skip
    seats = pl.DataFrame(
        [(place, called[place], 100 * net[place]["value"], figures.stakes(100 * net[place]["value"], 1), colours[place])
         for place in range(3)],
        ["place", "label", "net", "text", "colour"], orient="row",
    )  # fmt: skip
    left, right = st.columns([4, 3], gap="large")
    with left:
        parts = spoken([(f"{row['payer_label']} → {row['payee_label']}", row["text"])
                        for row in arrows.iter_rows(named=True)])  # fmt: skip
        n = int(flows["n"][0])
        columns = headings("seats_column", "payer_label", "payee_label", "stakes", "n")
        chart = graphs.flow(arrows, seats, t("seats.stakes"))
        picture(chart, arrows, t("seats.hero_alt", n=n, parts=parts), columns, "flows", width="content")
        st.caption(f"{t('app.n', n=n)} {t('seats.hero_note')}")
    with right:
        st.markdown(f"**{t('seats.net')}**")
        rows = [net[place] for place in range(3)]
        frame = pl.DataFrame(
            [(called[place], *(row[name] for name in ("value", "low", "high", "n")), row["n"] < FEW,
              figures.stakes(row["value"], 3),
              screen.address("rounds", behind=behind.code(by, "net", place), **where))
             for place, row in enumerate(rows)],
            ["label", "value", "low", "high", "n", "few", "text", "href"], orient="row",
        )  # fmt: skip
        parts = spoken(list(frame.select("label", "text").iter_rows()))
        columns = headings("seats_column", "label", "value", "low", "high", "n")
        picture(spans.spans(frame, t("seats.net_axis")), frame, t("seats.net_alt", parts=parts), columns, "seat-net")
        rates(where, by, found)
        st.caption(t("seats.net_note"))


def rates(where: dict, by: str, found: pl.DataFrame) -> None:
    """What each does, with intervals."""
    st.markdown(f"**{t('seats.rates')}**")
    called = names(by)
    rows = [row for row in found.iter_rows(named=True) if row["metric"] in ACTS]
    order = list(ACTS)
    rows.sort(key=lambda row: (order.index(row["metric"]), row[by]))
    frame = pl.DataFrame(
        [(figures.name(row["metric"]), called[row[by]], *(row[name] for name in ("value", "low", "high", "n")),
          row["n"] < FEW,
          screen.address("rounds", behind=behind.code(by, ACTS[row["metric"]], row[by]), **where)) for row in rows],
        ["metric", "label", "value", "low", "high", "n", "few", "href"], orient="row",
    )  # fmt: skip
    parts = spoken([(f"{row['metric']}, {row['label']}", percent(row["value"])) for row in frame.iter_rows(named=True)])
    chart = graphs.rates(frame, called, graphs.COLOURS if by == "seat" else PLACE_COLOURS)
    columns = headings("seats_column", "metric", "label", "value", "low", "high", "n")
    picture(chart, frame, t("seats.rates_alt", parts=parts), columns, "seat-rates")


def dealer(where: dict) -> None:
    """The dealer less the others."""
    st.subheader(t("seats.dealer"))
    rows = []
    for row in queries.dealer(where).iter_rows(named=True):
        id = row["metric"]
        if row["value_a"] is None or row["value_b"] is None:
            continue
        code = behind.code("position", ACTS.get(id, "net"), 0)
        few = min(row["n_a"], row["n_b"]) < FEW
        signed = id == "net"

        def form(value: float, id: str = id) -> str:
            return figures.stakes(value) if id == "net" else f"{figures.signed(100 * value, 1)}%"

        cells = [
            figures.name(id), figures.shown(id, row["value_a"]), figures.shown(id, row["value_b"]),
            screen.estimate(row["difference"], row["low"], row["high"], few, form, signed), row["n_a"], row["n_b"],
        ]  # fmt: skip
        rows.append((code, screen.address("rounds", behind=code, **where), cells))
    kinds = ("text", "text", "text", "estimate", "number", "number")
    titles = ("metric", "dealer", "others", "difference", "n_dealer", "n_others")
    columns = [(kind, t(f"seats_column.{name}")) for kind, name in zip(kinds, titles, strict=True)]
    opened = listing("dealer", columns, rows, caption=t("seats.dealer"), labels={})
    if opened:
        screen.go("rounds", behind=opened, **where)
    st.caption(t("seats.dealer_note"))


def streaks(where: dict) -> None:
    """How long a dealer stays."""
    st.subheader(t("seats.streaks"))
    found = queries.streaks(where)
    if not found.height:
        st.write(t("app.none"))
        return
    rows = list(found.iter_rows(named=True))
    frame = found.with_columns(
        few=pl.col("n") < FEW,
        label=pl.Series([f"{row['dealt']}+" if row["dealt"] == behind.LONGEST else str(row["dealt"]) for row in rows]),
        href=pl.Series([screen.address("rounds", behind=behind.code("dealt", row["dealt"]), **where) for row in rows]),
    )
    parts = spoken([(row["label"], percent(row["share"])) for row in frame.iter_rows(named=True)])
    chart = graphs.streaks(frame, t("seats.dealt"), t("seats.stays"), t("seats.model"))
    columns = headings("seats_column", "dealt", "k", "n", "share", "low", "high", "model")
    model = percent(found["model"][0])
    picture(chart, frame, t("seats.streaks_alt", model=model, parts=parts), columns, "streaks")
    st.caption(f"{t('app.n', n=int(found['n'].sum()))} {t('seats.streaks_note', model=model)}")


def page() -> None:
    """From who pays whom to why."""
    st.title(t("seats.title"))
    if screen.ready() is None:
        return
    st.write(t("seats.lead"))
    where = filters.of_statistics()
    by = filters.read("by", filters.one_of(BY)) or BY[0]
    st.segmented_control(
        t("seats.by"), BY, format_func=lambda one: t(f"seats_by.{one}"), required=True, label_visibility="collapsed",
        **filters.bind("by", by),
    )  # fmt: skip
    found = queries.figures(where, by)
    dealt = queries.figures(where, "position").filter(metric="net", position=0)
    if not dealt.height:
        st.info(t("seats.nothing"))
        return
    row = dealt.row(0, named=True)
    st.subheader(t("seats.hero", value=figures.stakes(100 * row["value"], 1)))
    hero(where, by, found)
    left, right = st.columns([2, 3], gap="large")
    with left:
        streaks(where)
    with right:
        dealer(where)


page()
