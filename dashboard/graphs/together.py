"""Pictures of the page Together."""

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from dashboard.charts import COUNT, LOSS, PLAIN
from dashboard.graphs.marks import DASHES

POINTS = 400  # of a line


def ring(pairs: Sequence[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    """Where each account stands: all on a circle, accounts of one web beside each other."""
    beside: dict[str, list[str]] = {}
    for one, other in pairs:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    order: dict[str, None] = {}
    for first in sorted(beside):
        waiting = [first]
        while waiting:
            at = waiting.pop()
            if at not in order:
                order[at] = None
                waiting += sorted(beside[at], reverse=True)
    turn = 2 * math.pi / max(len(order), 1)
    return {name: (math.cos(turn * at), math.sin(turn * at)) for at, name in enumerate(order)}


def network(frame: pl.DataFrame, kinds: list[str]) -> alt.LayerChart:
    """Accounts as points, pairs as lines that open them.

    Columns one, other, kind (text, one of kinds), told (text), thick (1-4), href.  A mark stands near the second of
    an ordered pair (column ordered).
    """
    places = ring(list(frame.select("one", "other").iter_rows()))
    at = [(*places[one], *places[other]) for one, other in frame.select("one", "other").iter_rows()]
    edges = frame.with_columns(pl.DataFrame(at, schema=["x", "y", "x2", "y2"], orient="row"))
    edges = edges.with_columns(
        hx=pl.col("x") + 0.86 * (pl.col("x2") - pl.col("x")), hy=pl.col("y") + 0.86 * (pl.col("y2") - pl.col("y")),
    )  # fmt: skip
    nodes = pl.DataFrame([(name, *place) for name, place in places.items()], schema=["name", "x", "y"], orient="row")
    scale = alt.Scale(domain=[-1.5, 1.5], nice=False)
    x, y = (alt.X("x:Q", axis=None, scale=scale), alt.Y("y:Q", axis=None, scale=scale))
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[LOSS, COUNT]),
                       legend=alt.Legend(orient="bottom", symbolType="stroke"))  # fmt: skip
    told = [alt.Tooltip("one:N", title=" "), alt.Tooltip("other:N", title=" "), alt.Tooltip("told:N", title=" ")]
    base = alt.Chart(edges)
    lines = base.mark_rule(opacity=0.9).encode(
        x=x, y=y, x2="x2:Q", y2="y2:Q", color=colour, href="href:N", tooltip=told,
        strokeWidth=alt.StrokeWidth("thick:Q", legend=None, scale=alt.Scale(domain=[1, 4], range=[1.5, 6])),
        strokeDash=alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=list(DASHES[:2]))),
    )  # fmt: skip
    ordered = alt.Chart(edges.filter("ordered"))
    heads = ordered.mark_text(text="◆", fontSize=17, color=LOSS).encode(
        x=alt.X("hx:Q", axis=None, scale=scale), y=alt.Y("hy:Q", axis=None, scale=scale), href="href:N", tooltip=told
    )
    dots = alt.Chart(nodes).mark_point(filled=True, size=160, color=PLAIN, opacity=1).encode(x=x, y=y)
    names = alt.Chart(nodes).mark_text(dy=-16, fontSize=13, color=PLAIN, limit=160).encode(x=x, y=y, text="name:N")
    return alt.layer(lines, heads, dots, names).properties(height=430)


def running(frame: pl.DataFrame, title: str, rounds: str) -> alt.LayerChart:
    """A running sum over the rounds of a pair: columns n, total."""
    line = alt.Chart(thinned(frame)).mark_line(color=COUNT, interpolate="step-after").encode(
        x=alt.X("n:Q", title=rounds), y=alt.Y("total:Q", title=title),
        tooltip=["n:Q", alt.Tooltip("total:Q", format=",.1f")],
    )  # fmt: skip
    rule = alt.Chart().mark_rule(color=PLAIN, strokeDash=[4, 3]).encode(y=alt.datum(0))
    return alt.layer(rule, line).properties(height=230)


def against(frame: pl.DataFrame, title: str, rounds: str, seen: str, expected: str, passes: str) -> alt.LayerChart:
    """Deal-ins so far, seen and expected with a band of two standard deviations, and each pass as a tick.

    Columns n, dealt, expected, low, high (running) and passed (bool).
    """
    few = thinned(frame, keep="passed")
    base = alt.Chart(few)
    x = alt.X("n:Q", title=rounds)
    names = [seen, expected, passes]
    colour = alt.Scale(domain=names, range=[LOSS, PLAIN, COUNT])
    band = base.mark_area(opacity=0.25, color=PLAIN).encode(x=x, y=alt.Y("low:Q", title=title), y2="high:Q")
    lines = [
        base.transform_calculate(what=f"'{name}'").mark_line(strokeDash=dash, interpolate="step-after").encode(
            x=x, y=alt.Y(f"{column}:Q", title=title), color=alt.Color("what:N", scale=colour, title=None,
                                                                      legend=alt.Legend(orient="bottom")),
            tooltip=["n:Q", alt.Tooltip(f"{column}:Q", format=",.1f")],
        )
        for name, column, dash in ((seen, "dealt", [1, 0]), (expected, "expected", [5, 3]))
    ]  # fmt: skip
    ticks = base.transform_filter("datum.passed").transform_calculate(what=f"'{passes}'").mark_point(
        shape="triangle-up", filled=True, size=60
    ).encode(x=x, y=alt.Y("dealt:Q", title=title), color=alt.Color("what:N", scale=colour, title=None))  # fmt: skip
    return alt.layer(band, *lines, ticks).properties(height=260)


def thinned(frame: pl.DataFrame, keep: str | None = None) -> pl.DataFrame:
    """POINTS rows, evenly, the last among them, and those where column `keep` holds."""
    step = max(frame.height // POINTS, 1)
    wanted = (pl.int_range(pl.len()) % step == 0) | (pl.int_range(pl.len()) == pl.len() - 1)
    return frame.filter(wanted | pl.col(keep) if keep else wanted)
