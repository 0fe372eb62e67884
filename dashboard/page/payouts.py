"""Payouts: recorded points against recomputed ones, the differing line marked, and where such rounds gather."""

import json

import polars as pl
import streamlit as st

from dashboard import charts, data, figures, screen
from dashboard.listing import listing
from dashboard.screen import percent, picture, spoken, t, word
from replay import ruleset
from replay.rulefile import BASE, RulesetError


def numbers(counts: dict) -> None:
    """How many, how much, of how many."""
    cells = [
        ("compared", f"{counts['compared']:,}", ""),
        ("wrong", f"{counts['mispaid_rounds']:,}", t("payouts.of_compared", n=counts["compared"])),
        ("points", f"{counts['mispaid']:,}", t("overview.in_rounds", n=counts["mispaid_rounds"])),
        ("explained", percent(counts["explained"] / counts["mismatch_rounds"] if counts["mismatch_rounds"] else None),
         t("payouts.of_wrong", n=counts["mismatch_rounds"])),
    ]  # fmt: skip
    for column, (name, value, note) in zip(st.columns(4), cells, strict=True):
        with column, st.container(gap=None):
            st.metric(t(f"payouts.{name}"), value)
            if note:
                st.caption(note)


# The ledger lines that a mismatch is about, where it says so.
LINES = {
    "horse": {"horse"},
    "kongs": {"kong_exposed", "kong_added", "kong_concealed"},
    "fans": {"win"},
    "multiple": {"win"},
    "fee": {"fee"},
}


def steps(seat: dict, ledger: list[dict], codes: set[str]) -> pl.DataFrame:
    """The waterfall of one seat: its ledger by cause, the recomputed and the recorded total, the difference.

    codes: of the round's mismatches; the lines they are about are marked.
    """
    wrong = set().union(*(LINES.get(code, set()) for code in codes))
    net = dict.fromkeys((row["cause"] for row in ledger), 0)  # the same lines for every seat
    for row in ledger:
        for side, sign in (("from_seat", -1), ("to_seat", 1)):
            if row[side] == seat["seat"]:
                net[row["cause"]] += sign * row["points"]
    rows, at = [], 0
    for cause, points in net.items():
        kind, mark = ("differs", "≠ ") if cause in wrong else ("line", "")
        rows.append((word("cause", cause), at, at + points, kind, f"{mark}{figures.signed(points)}"))
        at += points
    total, recorded = seat["points"] or 0, seat["recorded_points"]
    rows.append((t("payouts.recomputed"), 0, total, "total", figures.signed(total)))
    if recorded is not None:
        mark, kind = ("=", "line") if recorded == total else ("≠", "differs")
        rows.append((t("payouts.recorded"), 0, recorded, "recorded", figures.signed(recorded)))
        rows.append((t("payouts.difference"), total, recorded, kind, f"{mark} {figures.signed(recorded - total)}"))
    frame = pl.DataFrame(rows, schema=["label", "start", "end", "kind", "text"], orient="row")
    return frame.with_row_index("order")


def differing(problem: dict) -> str:
    """Both values of a mismatch in the reader's language, or its message where they are none."""
    values = [problem["logged"], problem["expected"]]
    if None in values:
        return problem["message"] or ""
    if problem["code"] == "fans":
        joint = "、" if screen.lang() == "zh" else ", "
        values = [joint.join(screen.fan(fan) for fan in text.split(", ")) for text in values]
    elif problem["code"] == "end":
        values = [word("end", text) for text in values]
    names = t("payouts.recorded"), t("payouts.recomputed")
    return " · ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def hero(id: str) -> None:
    """One mispaid round: a waterfall per seat, what was found, and the rule's text."""
    tables = screen.find_round(id)
    if not tables:
        screen.line(t("rounds.unknown", id=id))
        return
    row, seats = tables["rounds"][0], tables["seats"]
    screen.line(t("payouts.hero", id=screen.round_name(id)), "font-size:1.4rem;font-weight:600", "h2")
    found = [problem for problem in tables["problems"] if problem["kind"] == "mismatch"]
    codes = {problem["code"] for problem in found}
    frames = [steps(seat, tables["ledger"], codes) for seat in seats]
    ends = [value for frame in frames for column in ("start", "end") for value in frame[column]]
    low, high = min(0, *ends), max(0, *ends)
    for column, seat, frame in zip(st.columns(3), seats, frames, strict=True):
        with column:
            screen.seat_line(seat["seat"], seat["player"] or "")
            part = t(
                "payouts.hero_part", seat=seat["seat"], points=seat["points"], recorded=seat["recorded_points"] or 0
            )
            headings = {
                "label": t("column.step"),
                "start": t("column.from"),
                "end": t("column.to"),
                "text": t("column.points"),
            }
            picture(charts.waterfall(frame, low, high), frame, t("payouts.hero_alt", parts=part), headings,
                    f"payout-{seat['seat']}")  # fmt: skip
    left, right = st.columns([3, 2], gap="large")
    with left:
        for problem in found:
            screen.line(f"≠ {word('code', problem['code'])} · {differing(problem)}")
        event = next((problem["event"] for problem in found if problem["event"] is not None), None)
        last = (row["event_no"] or range(row["events_count"] or 0))[-1:] if row["events_count"] else []
        screen.link("rounds", t("payouts.open"), round=id, event=event if event is not None else next(iter(last), None))
    with right:
        rules(row, sorted({change for problem in found for change in problem["explained_by"] or []}))


def rules(row: dict, changes: list[str]) -> None:
    """The text of each rule whose change explains the payout."""
    st.markdown(f"**{t('payouts.rule')}**")
    if not changes:
        st.write(t("payouts.rule_none"))
    try:
        values = ruleset.load(row["ruleset"], json.loads(row["options"] or "{}")).values
    except (RulesetError, ValueError):
        values = {}
    told = []
    for change in changes:
        name = change.partition("=")[0]
        told.append((t("payouts.rule_change", change=change), "font-weight:600"))
        if name in BASE:
            told.append((getattr(BASE[name], screen.lang()), ""))
        if name in values:
            told.append((t("payouts.rule_in_force", value=f"{name}={ruleset.text(values[name])}"), "opacity:.75"))
    if told:
        screen.lines(*told)


def groups() -> None:
    """Where mispaid rounds gather."""
    titles = [t(f"payouts.by_{name}") for name in ("code", "account", "change", "site", "build")]
    code, account, change, site, build = st.tabs(titles)
    headings = {"label": t("column.codes"), "rounds": t("column.rounds"), "mispaid": t("column.mispaid")}
    with code:
        frame = data.mispaid_by("code")
        frame = frame.with_columns(
            label=pl.Series([word("code", label) for label in frame["label"]], dtype=pl.String),
            href=pl.Series([screen.address("rounds", code=code) for code in frame["label"]], dtype=pl.String),
        )
        bars(frame, headings, "code")
    with account:
        frame = data.mispaid_accounts(20)
        numbers = frame.select("difference", "rounds", "n").iter_rows()
        who = frame.select("player", "site").iter_rows()
        sites = [pl.col("site")] if frame["site"].n_unique() > 1 else []
        frame = frame.with_columns(
            label=pl.concat_str(pl.col("player").fill_null(""), *sites, separator=" · ", ignore_nulls=True),
            value=pl.col("difference"),
            href=pl.Series(
                [screen.address("rounds", player=player, site=site, sort="mispaid") for player, site in who],
                dtype=pl.String,
            ),
            text=pl.Series(
                [f"{figures.signed(points)} · {rounds:,}/{n:,}" for points, rounds, n in numbers], dtype=pl.String
            ),
        )
        columns = {"player": t("column.player"), "site": t("column.site"), "difference": t("column.difference"),
                   "rounds": t("payouts.wrong"), "n": t("column.rounds")}  # fmt: skip
        parts = spoken([(label, figures.signed(value)) for label, value in frame.select("label", "value").iter_rows()])
        chart = charts.signed_bars(frame, f"{t('payouts.too_little')} ← 0 → {t('payouts.too_much')}")
        picture(chart, frame, t("payouts.by_account_alt", parts=parts), columns, "mispaid-accounts")
    for tab, what in ((change, "change"), (site, "site"), (build, "build")):
        with tab:
            found = data.mispaid_by(what)
            if what != "change":  # a rule that explains a payout is no filter of rounds; the list below names it
                name = "site" if what == "site" else "ruleset"
                chosen = [
                    {name: label if what == "site" else label.split(" ")[0]} if label else {}
                    for label in found["label"]
                ]
                found = found.with_columns(
                    href=pl.Series([screen.address("rounds", sort="mispaid", **one) for one in chosen], dtype=pl.String)
                )  # fmt: skip
            bars(found, {**headings, "label": t(f"payouts.by_{what}")}, what)


def bars(frame: pl.DataFrame, headings: dict, what: str) -> None:
    """Mispaid rounds by label."""
    if not frame.height:
        st.write(t("app.none"))
        return
    pairs = list(frame.select("label", "rounds", "mispaid").iter_rows())
    frame = frame.with_columns(
        label=pl.Series([label or t("app.none") for label, _, _ in pairs]),
        value=pl.col("rounds"),
        text=pl.Series([f"{rounds:,} · {mispaid:,} {t('app.points')}" for _, rounds, mispaid in pairs]),
    )
    parts = spoken([(label, f"{rounds:,}") for label, rounds, _ in pairs])
    picture(
        charts.bars(frame.head(20), t("column.rounds"), charts.LOSS),
        frame,
        f"{t(f'payouts.by_{what}')}: {t('payouts.by_code_alt', parts=parts)}",
        headings,
        f"mispaid-{what}",
    )


def the_list(selected: str) -> None:
    """Every mispaid round: shown above when picked, or opened at its event."""
    st.subheader(t("payouts.list"))
    offset = screen.pager("page", data.count_mispaid(), data.PAGE_ROWS)
    rows = []
    for row in data.list_mispaid(offset).iter_rows(named=True):
        numbers = list(zip(row["players"] or [], row["recorded"] or [], row["points"] or [], strict=True))
        cells = [
            screen.place(row),
            [{"seat": seat, "name": player or "", "points": recorded - points}
             for seat, (player, recorded, points) in enumerate(numbers)],
            [recorded for _, recorded, _ in numbers],
            [points for _, _, points in numbers],
            [{"label": word("code", code), "kind": "mismatch"} for code in row["codes"] or []],
            [{"label": change} for change in row["explained_by"] or []],
            {"id": f"{row['event'] if row['event'] is not None else ''} {row['id']}", "label": "▶ " + t("payouts.open"),
             "href": screen.address("rounds", round=row["id"], event=row["event"])},
        ]  # fmt: skip
        rows.append((row["id"], screen.address("payouts", case=row["id"]), cells))
    kinds = ("place", "seats", "lines", "lines", "chips", "chips")
    names = ("round", "differences", "recorded", "recomputed", "codes", "explained")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing(
        "mispaid", [*columns, ("open", "")], rows, caption=t("payouts.caption"), labels={}, selected=selected
    )
    if opened and " " in opened:
        event, id = opened.split(" ", 1)
        screen.go("rounds", round=id, event=event or None)
    elif opened:
        st.query_params["case"] = opened
        st.rerun()


def page() -> None:
    """Numbers, one case in full, where they gather, all of them."""
    st.title(t("payouts.title"))
    if screen.ready() is None:
        return
    st.write(t("payouts.lead"))
    counts = data.payout_counts()
    if not counts["compared"]:
        st.info(t("payouts.none"))
        return
    numbers(counts)
    if not counts["mispaid_rounds"]:
        st.success(t("payouts.clean"))
        st.caption(t("payouts.clean_more", n=counts["compared"]))
        return
    case = st.query_params.get("case") or data.list_mispaid(0, 1)["id"][0]
    hero(case)
    groups()
    the_list(case)


page()
