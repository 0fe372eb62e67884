"""Pace: how fast hands get ready, are revealed and won; what they are dealt; on how many live tiles they win."""

import polars as pl
import streamlit as st

from analytics.reveal_statistics import MOST_LIVE, MOST_TURN
from dashboard import figures, filters, screen
from dashboard.graphs import pace as graphs
from dashboard.graphs.marks import curves
from dashboard.queries import behind
from dashboard.queries import pace as queries
from dashboard.queries.behind import EVENTS
from dashboard.screen import FEW, headings, percent, picture, spoken, t

FURTHER = 4  # shanten from which hands are one band
NAMED = 0.05  # thickness from which a band is named in the picture


def hero(where: dict) -> None:
    """What hands are short of, turn by turn; those whose round is over lie on top."""
    found = queries.shanten(where)
    n = int(found.filter(turn=1)["n"][0])
    order = [t("pace.ready"), *(t("pace.short", n=short) for short in range(1, FURTHER)),
             t("pace.further", n=FURTHER), t("pace.over")]  # fmt: skip
    at = {(row["turn"], row["shanten"]): row["seats"] for row in found.iter_rows(named=True)}
    turns = sorted({turn for turn, _ in at if sum(k for (one, _), k in at.items() if one == turn) >= max(n / 500, 1)})
    rows = []
    for turn in turns:
        counts = [at.get((turn, short), 0) for short in range(FURTHER)]
        counts.append(sum(k for (one, short), k in at.items() if one == turn and short >= FURTHER))
        counts.append(n - sum(counts))
        start = 0.0
        for band, hands in enumerate(counts):
            code = behind.code("shanten", turn, band) if band < FURTHER else None
            href = screen.address("rounds", behind=code, **where)
            rows.append((turn, band, order[band], hands / n, hands, n, start, start + hands / n, href))
            start += hands / n
    columns = ["turn", "band", "label", "share", "hands", "n", "start", "end", "href"]
    frame = pl.DataFrame(rows, columns, orient="row")
    names = []
    for band, label in enumerate(order):
        widest = max((row for row in rows if row[1] == band and row[0] in turns[2:-2]), key=lambda row: row[3],
                     default=None)  # fmt: skip
        if widest and widest[3] > NAMED:
            names.append(
                (widest[0], (widest[6] + widest[7]) / 2, label, "white" if band < 2 or band == 5 else "#1f2430")
            )
    words = pl.DataFrame(names, {"turn": pl.Int64, "middle": pl.Float64, "label": pl.String, "ink": pl.String},
                         orient="row")  # fmt: skip
    parts = spoken([(t("pace.after", turn=row[0]), f"{row[2]} {percent(row[3])}") for row in rows
                    if row[1] == 0 and row[0] in (1, 3, 6, 9, 12)])  # fmt: skip
    chart = graphs.shanten(frame, words, order, t("pace.turn"), t("pace.share"))
    picture(chart, frame, t("pace.hero_alt", n=n, parts=parts),
            headings("pace_column", "turn", "label", "share", "hands", "n"), "shanten")  # fmt: skip
    st.caption(f"{t('app.n', n=n)} {t('pace.hero_note')}")


def course(where: dict) -> None:
    """Ready, revealed, won so far."""
    st.subheader(t("pace.course"))
    found = queries.course(where)
    words = {event: t(f"pace_event.{event}") for event in EVENTS}
    rows = list(found.iter_rows(named=True))
    frame = found.with_columns(
        at=pl.col("turn"), value=pl.col("share"), few=pl.col("n") < FEW,
        label=pl.Series([f"{row['turn']}+" if row["turn"] == MOST_TURN else str(row["turn"]) for row in rows]),
        what=pl.Series([words[row["event"]] for row in rows]),
        href=pl.Series([screen.address("rounds", behind=behind.code("reached", row["event"], row["turn"]), **where)
                        for row in rows]),
    )  # fmt: skip
    last = [(row["what"], percent(row["value"])) for row in frame.iter_rows(named=True) if row["turn"] == MOST_TURN]
    chart = curves(frame, t("reveal.turns"), t("pace.share"), ".0%", list(words.values()))
    columns = headings("pace_column", "what", "turn", "k", "n", "share", "low", "high")
    picture(chart, frame, t("pace.course_alt", parts=spoken(last)), columns, "course")
    st.caption(f"{t('app.n', n=int(frame['n'][0]))} {t('pace.course_note')}")


def live(where: dict) -> None:
    """What ready hands win on."""
    st.subheader(t("pace.live"))
    found = queries.wins_by_live(where)
    if not found.height:
        st.write(t("app.none"))
        return
    rows = list(found.iter_rows(named=True))
    frame = found.select("live", "n", value="win_rate", low="win_rate_low", high="win_rate_high").with_columns(
        at=pl.col("live"), few=pl.col("n") < FEW, what=pl.lit(t("pace.won")),
        label=pl.Series([f"{row['live']}+" if row["live"] == MOST_LIVE else str(row["live"]) for row in rows]),
        href=pl.Series([screen.address("rounds", behind=behind.code("waiting", row["live"], "won"), **where)
                        for row in rows]),
    )  # fmt: skip
    parts = spoken([(row["label"], percent(row["value"])) for row in frame.iter_rows(named=True)])
    chart = curves(frame, t("reveal.lives"), t("reveal.win_rate"), ".0%", [t("pace.won")])
    columns = headings("pace_column", "live", "n", "value", "low", "high")
    picture(chart, frame, t("pace.live_alt", parts=parts), columns, "wins-by-live")
    st.caption(f"{t('app.n', n=int(frame['n'].sum()))} {t('pace.live_note')}")


def dealt(where: dict) -> None:
    """What hands start from, against exact chances."""
    st.subheader(t("pace.dealt"))
    found = queries.dealt(where)
    for column, tiles in zip(st.columns(2, gap="large"), (13, 14), strict=True):
        part = found.filter(tiles=tiles)
        if not part.height:
            continue
        frame = part.with_columns(
            href=pl.Series([screen.address("rounds", behind=behind.code("start", tiles, short), **where)
                            for short in part["shanten"]])
        )  # fmt: skip
        with column:
            st.markdown(f"**{t('pace.tiles', n=tiles)}**")
            parts = spoken([(str(row["shanten"]), f"{percent(row['share'])} / {percent(row['exact'])}")
                            for row in part.iter_rows(named=True)])  # fmt: skip
            chart = graphs.dealt(frame, t("pace.shanten"), t("pace.share"), t("pace.found"), t("pace.exact"))
            columns = headings("pace_column", "tiles", "shanten", "k", "n", "share", "low", "high", "exact")
            alt = t("pace.dealt_alt", tiles=tiles, n=int(part["n"][0]), parts=parts)
            picture(chart, frame, alt, columns, f"dealt-{tiles}")
            st.caption(t("app.n", n=int(part["n"][0])))
    st.caption(t("pace.dealt_note"))


def page() -> None:
    """From the deal to the win."""
    st.title(t("pace.title"))
    if screen.ready() is None:
        return
    st.write(t("pace.lead"))
    where = filters.of_statistics()
    found = {row["metric"]: row for row in queries.figures(where).iter_rows(named=True)}
    if "ready_rate" not in found:
        st.info(t("fans.no_facts"))
        return
    turn = found["ready_turn"]["value"] if "ready_turn" in found else None
    if turn is not None:
        st.subheader(t("pace.hero", share=percent(found["ready_rate"]["value"]), turn=f"{turn:.1f}"))
    hero(where)
    figures.cards(found.values(), 3, {id: figures.counted(id, where) for id in found})
    left, right = st.columns(2, gap="large")
    with left:
        course(where)
    with right:
        live(where)
    dealt(where)


page()
