"""Data quality: from records to clean rounds, what was turned away and why, problems by code, sources."""

import polars as pl
import streamlit as st

from dashboard import charts, data, filters, screen
from dashboard.listing import listing
from dashboard.screen import percent, picture, spoken, t, word

RAW_SHOWN = 4000  # characters of a raw record on the page


def funnel(counts: dict) -> None:
    """The hero: how many records are left at each stage."""
    n = data.funnel()
    legal = n["mismatch"] + n["unpaid"] + n["clean"]
    stages = [
        ("records", n["records"]),
        ("rounds", n["rounds"]),
        ("legal", legal),
        ("paid", legal - n["unpaid"]),
        ("clean", n["clean"]),
    ]
    rows = [
        (word("stage", stage), value, f"{value:,} · {percent(value / n['records'] if n['records'] else None)}")
        for stage, value in stages
    ]
    opens = {"rounds": {}, "clean": {"verdict": "clean"}}  # no one filter lists the stages between
    href = [screen.address("rounds", **opens[stage]) if stage in opens else None for stage, _ in stages]
    frame = pl.DataFrame(rows, schema=["label", "value", "text"], orient="row").with_columns(href=pl.Series(href))
    st.subheader(t("data.funnel"))
    headings = {"label": t("column.stage"), "value": t("column.n"), "text": t("column.share")}
    picture(
        charts.bars(frame, t("column.n")),
        frame,
        t("data.funnel_alt", parts=spoken([row[::2] for row in rows])),
        headings,
        "funnel",
    )
    lost = [(word("stage", stage), f"{n[stage]:,}") for stage in ("repeats", "rejects")]
    lost += [(word("verdict", verdict), f"{n[verdict]:,}") for verdict in ("violation", "mismatch", "unpaid")]
    st.caption(spoken(lost))
    if counts["settlement_only"]:
        st.caption(t("data.settlement", n=counts["settlement_only"]))


def rejects() -> None:
    """Rejects by code, the rejected records, one of them as it was written."""
    st.subheader(t("data.rejects"))
    frame = data.rejects_by_code()
    if not frame.height:
        st.write(t("data.no_rejects"))
        return
    pairs = list(frame.iter_rows())
    frame = frame.with_columns(
        label=pl.Series([word("reject", code) for code, _ in pairs]),
        value=pl.col("rejects"),
        text=pl.Series([f"{n:,}" for _, n in pairs]),
        href=pl.Series([screen.address("data", reject=code) for code, _ in pairs]),
    )
    parts = spoken([(word("reject", code), f"{n:,}") for code, n in pairs])
    headings = {"code": t("column.code"), "label": t("column.message"), "rejects": t("column.rejects")}
    alt = t("data.rejects_alt", parts=parts)
    picture(charts.bars(frame, t("column.rejects"), charts.LOSS), frame, alt, headings, "rejects")
    st.markdown(f"**{t('data.reject_list')}**")
    codes, where = frame["code"].to_list(), st.columns(3)[0]
    code = filters.pick(where, t("data.code"), "reject", codes, lambda code: word("reject", code), "rejects")
    offset = screen.pager("rejects", data.count_rejects(code), data.PAGE_ROWS)
    rows = []
    for row in data.list_rejects(code, offset).iter_rows(named=True):
        id = f"{row['record']} {row['sha256'] or ''} {row['source']}"
        cells = [
            f"{row['source']}:{row['line']}" if row["line"] is not None else f"{row['source']} #{row['record']}",
            [{"label": word("reject", row["code"]), "kind": "violation"}],
            *(row[name] or "" for name in ("field", "message", "head")),
        ]
        rows.append((id, screen.address("data", record=id), cells))
    kinds, names = ("text", "chips", "code", "text", "code"), ("source", "code", "field", "message", "raw")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    chosen = st.query_params.get("record")
    opened = listing("rejects-list", columns, rows, caption=t("data.reject_caption"), labels={}, selected=chosen)
    if opened:
        st.query_params["record"] = opened
        st.rerun()
    if chosen:
        raw(chosen)


def raw(id: str) -> None:
    """One rejected record as it was written."""
    record, sha256, source = (id.split(" ", 2) + ["", ""])[:3]
    row = data.reject(source, sha256 or None, int(record)) if record.isdecimal() and len(record) < 18 else None
    if row is None:
        return
    st.markdown(f"**{t('data.raw')}**")
    screen.line(t("data.raw_of", source=row["source"], record=row["record"]))
    screen.line(row["message"] or "", "opacity:.75")
    text = row["raw"] or ""
    st.code(text[:RAW_SHOWN], language=None, wrap_lines=True)
    if len(text) > RAW_SHOWN:
        st.caption(t("data.raw_cut", n=RAW_SHOWN))


def problems() -> None:
    """Problems by code; each opens its rounds."""
    st.subheader(t("data.problems"))
    frame = data.problems_by_code()
    if not frame.height:
        st.write(t("data.no_problems"))
        return
    rows = []
    for row in frame.iter_rows(named=True):
        kind = [{"label": word("verdict", row["kind"]), "kind": row["kind"]}]
        cells = [word("code", row["code"]), row["code"], kind, row["problems"], row["rounds"], row["explained"]]
        rows.append((row["code"], screen.address("rounds", code=row["code"]), cells))
    kinds = ("text", "code", "chips", "number", "number", "number")
    names = ("message", "code", "kind", "count", "rounds", "explained_count")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("problems", columns, rows, caption=t("data.problems_caption"), labels={})
    if opened:
        screen.go("rounds", code=opened)


def kept() -> None:
    """What tables keep between them, checked on demand."""
    st.subheader(t("data.kept"))
    st.caption(t("data.kept_more"))
    if not st.toggle(t("data.kept_check"), key="kept"):
        return
    rows = []
    for row in data.invariants().iter_rows(named=True):
        holds = row["holds"]
        chip = [{"label": t("data.holds") if holds else t("data.broken"), "kind": "clean" if holds else "violation"}]
        rows.append((None, None, [word("invariant", row["name"]), chip, row["n"], row["broken"]]))
    kinds = ("text", "chips", "number", "number")
    heads = (t("column.meaning"), t("column.verdict"), t("column.rounds"), t("data.broken"))
    listing("kept-list", list(zip(kinds, heads, strict=True)), rows, caption=t("data.kept_caption"), labels={})


def sources() -> None:
    """Every source that was read."""
    st.subheader(t("data.sources"))
    offset = screen.pager("sources", data.count_sources(), data.PAGE_ROWS)
    names = ("source", "format", "bytes", "records", "rounds", "repeats", "rejects", "sha256")
    rows = []
    for row in data.list_sources(offset).iter_rows(named=True):
        rows.append((None, None, [row[name] if name != "sha256" else (row[name] or "")[:12] for name in names]))
    kinds = ("text", "code", "number", "number", "number", "number", "number", "code")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    listing("sources-list", columns, rows, caption=t("data.sources_caption"), labels={})


def page() -> None:
    """From the whole to the single record."""
    st.title(t("data.title"))
    state = screen.ready(empty_is_fine=True)
    if state is None:
        return
    st.write(t("data.lead"))
    funnel(data.overview())
    problems()
    rejects()
    kept()
    sources()


page()
