"""Fairness: the verdict in plain words, the board of checks, and the pictures behind them."""

import polars as pl
import streamlit as st

from analytics import report, report_html
from analytics.fairness import multiplicity, pictures
from analytics.fairness.result import Result
from dashboard import audits, filters, screen
from dashboard.graphs import fairness as graphs
from dashboard.listing import listing
from dashboard.queries import fairness as queries
from dashboard.screen import picture, spoken, t, word

MOST = 12  # rows of a check, and rounds, that are listed


def verdict(of: report.Report) -> None:
    """What was found, in plain words, what would have been found, and the whole as a file."""
    colour = "#d07a1e" if of.found else "#3b7fc4"
    style = f"border-left:5px solid {colour};padding:.25rem 0 .25rem .9rem;font-size:1.05rem"
    screen.lines(*((text, style) for text in report.verdict(of, screen.lang())))
    st.download_button(
        t("fairness.save"), lambda: report_html.page(of), "kwx-audit.html", "text/html", on_click="ignore",
        icon=":material/download:",
    )  # fmt: skip


def cells(row: Result) -> list:
    """A result row for a listing: n, effect with interval, adjusted p, power, smallest effect that would be seen."""
    p = row.p_adjusted if row.p_adjusted is not None else row.p
    unit = "" if row.effect is None or row.effect_unit is None else " " + word("audit_unit", row.effect_unit)
    few = row.status == "not_run"
    span = "" if row.low is None else f"{report.number(row.low)} … {report.number(row.high)}"
    effect = {"value": report.number(row.effect) + unit, "more": span, "few": few, "sign": 0}
    power = "–" if row.power is None else f"{row.power:.0%}"
    n = f"{row.n:,} " + word("audit_unit", row.unit)
    return [n, effect, report.number(p), power, report.number(row.detectable)]


def state(row: Result, more: int = 0) -> dict:
    """The status cell."""
    words = report.words()[screen.lang()]
    chips = [words["why"][row.why]] if row.why else []
    if row.why and row.needed:
        chips.append(f"{words['needed']} {row.needed:,}")
    if more:
        chips.append(t("fairness.of_rows", n=more))
    return {"kind": row.status, "label": words["statuses"][row.status], "chips": chips}


HEADS = ("n", "effect", "p_adjusted", "power", "detectable")
KINDS = ("text", "estimate", "text", "text", "text")


def columns(first: str) -> list[tuple[str, str]]:
    """Headings of a listing of results."""
    words = report.words()[screen.lang()]
    named = list(zip(KINDS, (words[head] for head in HEADS), strict=True))
    return [("text", first), ("mark", words["status"]), *named]


def board(of: report.Report) -> int | None:
    """One line a check, its most serious row; the number of the one that is open."""
    st.subheader(t("fairness.board"))
    st.caption(t("fairness.board_more"))
    grouped = audits.by_check(of.rows)
    chosen = filters.read("check", lambda text: int(text) if text.isdecimal() and int(text) in grouped else None)
    rows = []
    for number, mine in grouped.items():
        told, found = mine[0], sum(row.status in report.FOUND for row in mine)
        name = f"{number or '–'} {t(f'check.{number}')}" if number <= 24 else told.name
        rows.append((str(number), screen.address("fairness", check=number), [name, state(told, found), *cells(told)]))
    selected = None if chosen is None else str(chosen)
    opened = listing("board", columns(report.words()[screen.lang()]["check"]), rows, caption=t("fairness.board"),
                     labels={}, selected=selected)  # fmt: skip
    if opened and opened != selected:
        st.query_params["check"] = opened
        st.rerun()
    return chosen


def details(of: report.Report, number: int) -> None:
    """Every row of a check, what a hit says and what it can't see, and the rounds behind the first finding."""
    mine = audits.by_check(of.rows)[number]
    st.subheader(f"{number or '–'} {t(f'check.{number}')}")
    for name in dict.fromkeys(row.name for row in mine):
        told = report.texts().get(name, {}).get(screen.lang(), {})
        if told:
            st.write(f"**{told['title']}**: {told['finding']}. {t('fairness.blind')} {told['blind']}")
    rows = [(None, None, [about(row), state(row), *cells(row)]) for row in mine[:MOST]]
    heading = report.words()[screen.lang()]["subject"]
    listing("rows", columns(heading), rows, caption=t("fairness.rows"), labels={})
    if len(mine) > MOST:
        st.caption(t("fairness.more_rows", n=len(mine) - MOST))
    behind(of, mine)


def about(row: Result) -> str:
    """What a row is about."""
    return " · ".join(filter(None, (report.title(row, screen.lang()), row.subject)))


def behind(of: report.Report, rows: list[Result]) -> None:
    """The rounds that findings point at, each of which opens."""
    found = [(of.facts["names"][int(one)], about(row)) for row in rows if row.status in report.FOUND
             for one in row.evidence[:10] if int(one) in of.facts["names"]]  # fmt: skip
    if not found:
        return
    listed = [(id, screen.address("rounds", round=id), [screen.round_name(id), what]) for id, what in found[:MOST]]
    heads = [("text", t("column.round")), ("text", report.words()[screen.lang()]["subject"])]
    opened = listing("evidence", heads, listed, caption=t("fairness.evidence"), labels={})
    if opened:
        screen.go("rounds", round=opened)


def luck(of: report.Report) -> None:
    """Accounts (or pairs) against what chance would give, check by check."""
    st.subheader(t("fairness.luck"))
    drawn = [row for row in of.rows if report.personal(row) and row.statistic is not None]
    named = list(dict.fromkeys(row.name for row in drawn if row.check != 4))  # whose statistic is a count
    named = [name for name in named if len(pictures.quantiles([r for r in of.rows if r.name == name])["z"]) >= 5]
    if not named:
        st.write(t("fairness.no_accounts"))
        return
    # the test in which most stand out; without any, draw luck
    hits = {name: sum(row.status in report.FOUND for row in of.rows if row.name == name) for name in named}
    first = max(named, key=lambda name: (hits[name], name == "draw_luck"))
    titles = {name: report.title(next(row for row in of.rows if row.name == name), screen.lang()) for name in named}
    tied = filters.bind("test", filters.read("test", filters.one_of(named)) or first)
    name = st.selectbox(t("fairness.test"), named, format_func=titles.__getitem__, **tied)
    frame = pl.DataFrame(pictures.quantiles([row for row in of.rows if row.name == name]))
    usual, told = t("fairness.usual"), t("fairness.stands")
    stands = pl.col("status").is_in(list(report.FOUND))
    frame = frame.with_columns(what=pl.when(stands).then(pl.lit(told)).otherwise(pl.lit(usual)))
    said = spoken([("n", frame.height), ("min", f"{frame['z'].min():.2f}"), ("max", f"{frame['z'].max():.2f}")])
    heads = {"subject": t("fairness.subject"), "z": "z", "expected": t("fairness.expected"), "n": "n"}
    chart = graphs.quantiles(frame, t("fairness.expected"), "z", usual, told)
    picture(chart, frame, t("fairness.luck_alt", name=titles[name], parts=said), heads, "quantiles")
    st.caption(t("fairness.luck_more"))


def where(of: audits.Audit) -> None:
    """Kind × position."""
    frame = pl.DataFrame(of.pictures["places"])
    if not frame.height:
        return
    st.subheader(t("fairness.places"))
    suits = queries.usual_suits()
    names = screen.tile_names(range(21), suits)
    labels = screen.tile_labels()
    spots = [t("fairness.hand_0"), t("fairness.hand_1"), t("fairness.hand_2"), *map(str, range(1, 45))]
    if frame["place"].max() == 3:
        spots[3] = t("fairness.the_rest")
    frame = frame.with_columns(
        place=pl.Series([spots[at] for at in frame["place"]]),
        tile=pl.Series([labels[names[kind]] for kind in frame["kind"]]),
    )
    chart = graphs.places(frame, names, t("fairness.place"), "z")
    heads = {name: t(f"fairness.{name}") for name in ("tile", "place", "seen", "fair")}
    heads = {"tile": heads["tile"], "place": heads["place"], "seen": heads["seen"], "expected": heads["fair"], "z": "z"}
    far = frame.filter(pl.col("z").abs() == pl.col("z").abs().max()).row(0, named=True)
    said = t("fairness.places_alt", tile=far["tile"], place=far["place"], z=f"{far['z']:.1f}")
    picture(chart, frame, said, heads, "places")
    st.caption(t("fairness.places_more"))


def starts(of: audits.Audit) -> None:
    """Starting shanten, seen and exact."""
    frame = pl.DataFrame(of.pictures["starts"])
    if not frame.height:
        return
    st.subheader(t("fairness.starts"))
    frame = frame.with_columns(role=pl.Series([t(f"fairness.role_{role}") for role in frame["role"]]))
    roles = frame["role"].unique(maintain_order=True).to_list()
    seen, exact = t("fairness.seen"), t("fairness.exact")
    chart = graphs.shanten(frame, roles, t("fairness.hands"), t("fairness.steps"), seen, exact)
    heads = {"role": t("column.role"), "shanten": t("fairness.steps"), "share": seen, "exact": exact,
             "hands": t("fairness.count"), "n": "n"}  # fmt: skip
    gap = (frame["share"] - frame["exact"]).abs().max()
    picture(chart, frame, t("fairness.starts_alt", n=int(frame["hands"].sum()), gap=f"{gap:.2%}"), heads, "starts")
    st.caption(t("fairness.starts_more", n=int(frame["hands"].sum())))


def processes(of: audits.Audit) -> None:
    """E-processes."""
    frame = pl.DataFrame(of.pictures["bets"])
    if not frame.height:
        return
    st.subheader(t("fairness.bets"))
    bound = 1 / multiplicity.ALPHA
    chart = graphs.bets(frame, t("fairness.own_rounds"), t("fairness.e"), bound)
    heads = {"account": t("fairness.subject"), "round": t("fairness.own_rounds"), "e": t("fairness.e")}
    last = frame.group_by("account", maintain_order=True).last()
    said = spoken([(name, f"{e:.3g}") for name, e in last.select("account", "e").iter_rows()])
    picture(chart, frame, t("fairness.bets_alt", parts=said), heads, "bets")
    st.caption(t("fairness.bets_more", bound=f"{bound:,.0f}"))


def changes(of: audits.Audit) -> None:
    """Change points."""
    frame = pl.DataFrame(of.pictures["bridges"])
    if not frame.height:
        return
    st.subheader(t("fairness.changes"))
    titled = {name: report.texts().get(name, {}).get(screen.lang(), {}).get("title", name)
              for name in frame["name"].unique(maintain_order=True)}  # fmt: skip
    frame = frame.with_columns(
        label=pl.Series([titled[name] for name in frame["name"]]),
        time=pl.from_epoch("time_ms", time_unit="ms"),
    )
    chart = graphs.bridges(frame, list(titled.values()), t("fairness.nth"), t("fairness.away"), frame["bound"][0])
    heads = {"label": t("fairness.test"), "round": t("fairness.nth"), "time": "UTC", "away": t("fairness.away")}
    turns = frame.filter("turn")
    said = spoken([(f"{name} {time:%Y-%m-%d}", f"{away:.2f}") for name, time, away in
                   turns.select("label", "time", "away").iter_rows()])  # fmt: skip
    picture(chart, frame, t("fairness.changes_alt", parts=said), heads, "changes")
    st.caption(t("fairness.changes_more", bound=f"{frame['bound'][0]:.2f}"))


def page() -> None:
    """The audit, once it has been run."""
    st.title(t("page.fairness"))
    if screen.ready() is None:
        return
    found = audits.ask()
    if found is None:
        return
    verdict(found.report)
    number = board(found.report)
    if number is not None:
        details(found.report, number)
    luck(found.report)
    where(found)
    left, right = st.columns(2, gap="large")
    with left:
        processes(found)
    with right:
        changes(found)
    starts(found)


page()
