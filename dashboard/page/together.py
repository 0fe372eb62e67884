"""Together: the pairs that the audit wants looked at, and two accounts' rounds together one after the other."""

import polars as pl
import streamlit as st

from analytics import report
from analytics.fairness.result import Result
from analytics.pair_history import history
from analytics.report import BETWEEN
from dashboard import audits, data, dataset, figures, filters, screen
from dashboard.graphs import together as graphs
from dashboard.listing import listing
from dashboard.screen import picture, spoken, t

LISTED = 15  # rounds
SD = 2.0  # standard deviations that the band has to either side


def network(of: report.Report) -> None:
    """The pairs under review; each opens."""
    st.subheader(t("together.network"))
    rows = [row for row in of.rows if row.scope == "pair" and row.status in ("review", "escalated")]
    pairs: dict[tuple[str, str], list[Result]] = {}
    for row in rows:
        names = BETWEEN.split(row.subject or "")
        if len(names) == 3:
            pairs.setdefault((names[0], names[2]), []).append(row)
    if not pairs:
        ran = [row.check for row in of.rows if row.family == "pair" and row.status != "not_run"]
        tested = [t(f"check.{number}") for number in sorted(set(ran))]
        st.write(t("together.nobody", checks=t("together.joint").join(tested) or t("app.none")))
        return
    words = report.words()[screen.lang()]
    kinds = [words["statuses"]["escalated"], words["statuses"]["review"]]
    frame = pl.DataFrame(
        [
            {
                "one": one, "other": other, "ordered": "→" in (mine[0].subject or ""),
                "kind": kinds[all(row.status != "escalated" for row in mine)], "thick": min(len(mine), 4),
                "told": t("together.joint").join(dict.fromkeys(report.title(row, screen.lang()) for row in mine)),
                "href": screen.address("together", a=one, b=other),
            }
            for (one, other), mine in pairs.items()
        ]
    )  # fmt: skip
    said = spoken([(f"{one} – {other}", told) for one, other, told in frame.select("one", "other", "told").iter_rows()])
    heads = {"one": t("together.a"), "other": t("together.b"), "kind": words["status"], "told": words["check"]}
    said = t("together.network_alt", n=frame.height, parts=said)
    picture(graphs.network(frame, kinds), frame, said, heads, "network")
    st.caption(t("together.network_more"))
    lines = [(str(at), row["href"], [f"{row['one']} – {row['other']}", row["told"], row["kind"]])
             for at, row in enumerate(frame.iter_rows(named=True))]  # fmt: skip
    headings = [("text", t("together.pair")), ("text", words["check"]), ("text", words["status"])]
    opened = listing("pairs", headings, lines, caption=t("together.network"), labels={})
    if opened:
        st.query_params["a"], st.query_params["b"] = frame.row(int(opened))[:2]
        st.rerun()


def pair() -> tuple[str | None, str | None]:
    """The two accounts that the address names, or that are picked."""
    st.subheader(t("together.pair"))
    known = data.players()
    left, right = st.columns(2)
    picked = [
        where.selectbox(
            t(f"together.{name}"), known, index=None, placeholder=t("rounds.player_hint"), accept_new_options=True,
            **filters.bind(name, filters.read(name)),
        )
        for where, name in ((left, "a"), (right, "b"))
    ]  # fmt: skip
    return picked[0], picked[1]


def timeline(one: str, other: str) -> None:
    """Transfers, deal-ins against expectation, passed wins; the rounds behind them."""
    found = history(dataset.select, one, other)
    if not found.height:
        st.info(t("together.never"))
        return
    screen.line(f"{one} → {other}", "font-weight:600")
    won = found.filter(pl.col("dealt").is_not_null())
    dealt, expected = int(won["dealt"].sum()), won["expected"].sum()
    cells = (
        ("rounds", f"{found.height:,}"), ("transfer", figures.signed(found['transfer'].sum(), 1)),
        ("dealt", t("together.of", k=dealt, n=won.height)), ("passes", f"{int(found['passed'].sum()):,}"),
    )  # fmt: skip
    for column, (name, value) in zip(st.columns(len(cells)), cells, strict=True):
        column.metric(t(f"together.{name}"), value)
    rounds = t("together.nth")
    total = found.select("n", "id", total=pl.col("transfer").cum_sum())
    said = t("together.transfer_alt", n=found.height, total=figures.signed(total["total"][-1], 1))
    heads = {"n": rounds, "total": t("together.transfer")}
    picture(graphs.running(total, t("together.transfer"), rounds), total, said, heads, "transfer")
    spread = (pl.col("expected") * (1 - pl.col("expected"))).cum_sum().sqrt()
    frame = found.select(
        "n", "passed", dealt=pl.col("dealt").fill_null(False).cast(pl.Int64).cum_sum(),
        expected=pl.col("expected").cum_sum(), spread=spread,
    )  # fmt: skip
    reach = SD * pl.col("spread")
    frame = frame.with_columns(low=pl.col("expected") - reach, high=pl.col("expected") + reach)
    names = [t(f"together.{name}") for name in ("seen", "expected", "passes")]
    chart = graphs.against(frame, t("together.dealt"), rounds, *names)
    said = t("together.dealt_alt", k=dealt, n=won.height, expected=f"{expected:.1f}")
    heads = {"n": rounds, "dealt": names[0], "expected": names[1], "passed": names[2]}
    picture(chart, frame, said, heads, "deal-ins")
    st.caption(t("together.dealt_more", n=won.height, k=dealt, expected=f"{expected:.1f}"))
    behind(found)


def behind(found: pl.DataFrame) -> None:
    """Rounds in which most went over, or a win was passed; each opens."""
    top = found.filter(pl.col("passed") | (pl.col("transfer") > 0)).sort(
        pl.col("passed"), "transfer", "n", descending=[True, True, False]
    )
    listed = [
        (row["id"], screen.address("rounds", round=row["id"]),
         [screen.round_name(row["id"]), figures.signed(row['transfer'], 1), t("together.yes") if row["dealt"] else "",
          t("together.yes") if row["passed"] else ""])
        for row in top.head(LISTED).iter_rows(named=True)
    ]  # fmt: skip
    if not listed:
        return
    named = ("transfer", "dealt", "passes")
    heads = [("text", t("column.round")), *(("text", t(f"together.{name}")) for name in named)]
    opened = listing("behind-pair", heads, listed, caption=t("together.behind"), labels={})
    if opened:
        screen.go("rounds", round=opened)


def page() -> None:
    """The pairs under review, and one pair."""
    st.title(t("page.together"))
    if screen.ready() is None:
        return
    st.write(t("together.lead"))
    found = audits.ask()
    if found is not None:
        network(found.report)
    one, other = pair()
    if one and other and one != other:
        timeline(one, other)
    else:
        st.caption(t("together.pick"))


page()
