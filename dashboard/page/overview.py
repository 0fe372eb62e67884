"""Overview: the health of the data set, how rounds end, dealer and others, points by day, the largest wins."""

import polars as pl
import streamlit as st

from dashboard import charts, data, filters, first_run, screen
from dashboard.listing import listing
from dashboard.queries import behind
from dashboard.screen import percent, picture, spoken, t, word

GLYPHS = {"clean": "✓", "unpaid": "–", "mismatch": "≠", "violation": "!", "repeats": "=", "rejects": "✕"}


def health(counts: dict) -> None:
    """The hero: six numbers that open what is behind them, and one bar of every record."""
    rounds, records = counts["rounds"], counts["records"]
    of = t("overview.of_rounds", n=rounds)
    cells = [
        ("rounds", f"{rounds:,}", "", {}),
        ("clean", percent(counts["clean_share"]), of, {"verdict": "clean"}),
        ("violations", f"{counts['violation']:,}", of, {"verdict": "violation"}),
        ("mismatches", f"{counts['mismatch']:,}", of, {"verdict": "mismatch"}),
        ("mispaid", f"{counts['mispaid']:,}", t("overview.in_rounds", n=counts["mispaid_rounds"]), {"sort": "mispaid"}),
        ("rejects", f"{counts['rejects']:,}", t("overview.of_records", n=records), None),
    ]
    for column, (name, value, note, chosen) in zip(st.columns(len(cells)), cells, strict=True):
        with column, st.container(gap=None):
            st.metric(t(f"overview.{name}"), value)
            st.caption(note or t("overview.of_records", n=records))
            if chosen is None:
                screen.link("data", t("page.data"))
            elif name == "mispaid":
                screen.link("payouts", t("page.payouts"))
            else:
                screen.link("rounds", t("overview.show_rounds"), **chosen)
    stages = ("clean", "unpaid", "mismatch", "violation", "repeats", "rejects")
    rows = [(i, code, word("verdict", code), counts[code]) for i, code in enumerate(stages) if counts[code]]
    frame = pl.DataFrame(rows, schema=["order", "code", "label", "n"], orient="row")
    frame = frame.with_columns(share=pl.col("n") / pl.col("n").sum(), end=pl.col("n").cum_sum() / pl.col("n").sum())
    frame = frame.with_columns(
        start=pl.col("end") - pl.col("share"),
        glyph=pl.Series([GLYPHS[code] for code in frame["code"]]),
        legend=pl.Series([f"{GLYPHS[code]} {label} {n:,} · {percent(share)}"
                          for code, label, n, share in frame.select("code", "label", "n", "share").iter_rows()]),
    )  # fmt: skip
    frame = frame.with_columns(href=pl.Series([
        screen.address("data") if code in ("repeats", "rejects") else screen.address("rounds", verdict=code)
        for code in frame["code"]
    ], dtype=pl.String))  # fmt: skip
    st.subheader(t("overview.health"))
    parts = spoken([(label, f"{n:,}") for label, n in frame.select("label", "n").iter_rows()])
    picture(
        charts.stacked(frame),
        frame,
        t("overview.health_alt", records=records, parts=parts),
        {"label": t("column.verdict"), "n": t("column.n"), "share": t("column.share")},
        "health",
    )


def ends(ruleset: str | None) -> None:
    """Win kinds, and rounds nobody won."""
    frame = data.ends(ruleset)
    frame = frame.with_columns(
        label=pl.Series([word("end", end) for end in frame["end"]], dtype=pl.String),
        value=pl.col("rounds"),
        text=pl.Series(
            [f"{n:,} · {percent(share)}" for n, share in frame.select("rounds", "share").iter_rows()], dtype=pl.String
        ),
    )
    frame = frame.with_columns(href=pl.Series(
        [screen.address("rounds", behind=behind.code("ended", end), ruleset=ruleset) for end in frame["end"]],
        dtype=pl.String,
    ))  # fmt: skip
    total = frame["rounds"].sum()
    st.subheader(t("overview.ends"))
    parts = spoken(list(frame.select("label", "text").iter_rows()))
    headings = {"label": t("column.end"), "rounds": t("column.rounds"), "share": t("column.share")}
    alt = t("overview.ends_alt", n=total, parts=parts)
    picture(charts.bars(frame, t("column.rounds")), frame, alt, headings, "ends")
    st.caption(t("app.n", n=total))


def dealer(ruleset: str | None) -> None:
    """Dealer against the others, with intervals."""
    st.subheader(t("overview.dealer"))
    frame = data.dealer(ruleset)
    codes = [behind.code("position", name, 0) if role == "dealer" else behind.code("others", name)
             for name, role in frame.select("statistic", "role").iter_rows()]  # fmt: skip
    frame = frame.with_columns(
        href=pl.Series([screen.address("rounds", behind=code, ruleset=ruleset) for code in codes], dtype=pl.String),
        label=pl.Series([word("statistic", name) for name in frame["statistic"]], dtype=pl.String),
        role=pl.Series([word("role", role) for role in frame["role"]], dtype=pl.String),
    )
    parts = spoken(
        [(f"{label}, {role}", percent(rate)) for label, role, rate in frame.select("label", "role", "rate").iter_rows()]
    )
    named = {"label": "statistic", "role": "role", "rate": "share", "low": "low", "high": "high", "n": "n"}
    headings = {column: t(f"column.{name}") for column, name in named.items()}
    roles = [word("role", "dealer"), word("role", "other")]
    picture(charts.intervals(frame, roles), frame, t("overview.dealer_alt", parts=parts), headings, "dealer")
    counts = dict(frame.group_by("role").agg(pl.col("n").max()).iter_rows())
    st.caption(t("overview.dealer_note") + " " + spoken([(role, f"n = {counts.get(role, 0):,}") for role in roles]))


def days(ruleset: str | None) -> None:
    """Points that changed hands by day, and what of them was mispaid."""
    frame = data.days(ruleset)
    st.subheader(t("overview.days"))
    if frame.height:
        frame = frame.with_columns(href=pl.Series(
            [screen.address("rounds", since=day, until=day, ruleset=ruleset) for day in frame["day"]]
        ))  # fmt: skip
        first, last = str(frame["day"][0]), str(frame["day"][-1])
        headings = {
            "day": t("column.day"),
            "rounds": t("column.rounds"),
            "moved": t("column.moved"),
            "mispaid": t("column.mispaid"),
        }
        chart = charts.days(frame, t("overview.moved"), t("column.mispaid"))
        picture(chart, frame, t("overview.days_alt", n=frame.height, first=first, last=last), headings, "days")
    st.caption(t("overview.days_note", n=int(frame["rounds"].sum())))


def wins(ruleset: str | None) -> None:
    """The largest wins, drawn."""
    st.subheader(t("overview.wins"))
    frame = data.largest_wins(ruleset, 6)
    if not frame.height:
        st.write(t("overview.no_wins"))
        return
    rows = []
    for win in frame.iter_rows(named=True):
        fans = [{"label": screen.fan(fan)} for fan in win["fans"] or []]
        who = [{"seat": win["seat"], "name": win["player"] or "", "points": win["points"]}]
        cells = [screen.place(win), screen.winning_hands(win, [win]), fans, win["multiple"], who]
        rows.append(
            (f"{win['id']} {win['event']}", screen.address("rounds", round=win["id"], event=win["event"]), cells)
        )
    kinds = ("place", "hands", "chips", "number", "seats")
    names = ("round", "hand", "fans", "multiple", "player")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("wins", columns, rows, caption=t("overview.wins"), labels=screen.tile_labels())
    if opened:
        id, event = opened.rsplit(" ", 1)
        screen.go("rounds", round=id, event=event)


def page() -> None:
    """Everything, if there is anything."""
    st.title(t("overview.title"))
    state = screen.ready(leads=False)
    if state is None:
        first_run.panels()
        return
    counts = data.overview()
    span = [screen.when(counts[name]) for name in ("first_ms", "last_ms")]
    st.write(t("overview.lead", **{name: counts[name] for name in ("rounds", "games", "accounts", "sources")}))
    st.caption(t("overview.span", first=span[0], last=span[1]) + " · " + t("app.digest", digest=state.version))
    health(counts)
    rulesets = data.rulesets()
    ruleset = None
    if len(rulesets) > 1:
        where = st.columns(3)[0]
        ruleset = filters.pick(where, t("overview.ruleset"), "ruleset", rulesets, screen.rules_name)
    left, right = st.columns(2, gap="large")
    with left:
        ends(ruleset)
    with right:
        dealer(ruleset)
    days(ruleset)
    wins(ruleset)


page()
