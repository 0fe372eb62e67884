"""Pictures of the page Seats."""

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from dashboard.charts import COUNT, GAIN, LOSS, PLAIN
from dashboard.graphs.marks import faded
from dashboard.screen import SEATS

PLACES = ((0.0, -0.8), (1.0, 0.75), (-1.0, 0.75))  # in the order of play, against the clock as at a table
COLOURS = tuple(colour for colour, _ in SEATS)
SHAPES = ("square", "circle", "diamond")  # one a seat, as its badge
WIDTH, HEIGHT = 520, 430
REACH_X, REACH_Y = 1.62, 1.62 * HEIGHT / WIDTH
RADIUS, SIDE = 0.3, 0.11  # of a seat, and how far the two arrows between seats stand from their middle


def arrow(payer: int, payee: int) -> dict[str, float]:
    """Where an arrow starts and ends, its direction in degrees from upright, and where its number stands."""
    (x0, y0), (x1, y1) = PLACES[payer], PLACES[payee]
    long = math.hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / long, (y1 - y0) / long
    aside = (-dy * SIDE, dx * SIDE)
    start = (x0 + dx * RADIUS * 1.25 + aside[0], y0 + dy * RADIUS * 1.25 + aside[1])
    end = (x1 - dx * RADIUS * 1.35 + aside[0], y1 - dy * RADIUS * 1.35 + aside[1])
    return {
        "x": start[0], "y": start[1], "x2": end[0], "y2": end[1], "angle": math.degrees(math.atan2(dx, dy)),
        "at_x": (start[0] + end[0]) / 2 + 1.75 * aside[0], "at_y": (start[1] + end[1]) / 2 + 1.6 * aside[1],
    }  # fmt: skip


def flow(arrows: pl.DataFrame, seats: pl.DataFrame, stakes: str) -> alt.LayerChart:
    """Three seats and what passes between them.

    arrows: payer, payee, payer_label, payee_label, stakes, text, href; seats: place (0-2), label, net, text, colour.
    """
    rows = arrows.with_columns(
        pl.Series("at", [arrow(*pair) for pair in arrows.select("payer", "payee").iter_rows()])
    ).unnest("at")  # fmt: skip
    rows = rows.with_columns(width=2 + 13 * pl.col("stakes") / max(float(arrows["stakes"].max() or 1), 1e-9))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-REACH_X, REACH_X], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-REACH_Y, REACH_Y], nice=False))
    told = [alt.Tooltip("payer_label:N", title="→"), alt.Tooltip("payee_label:N", title=" "),
            alt.Tooltip("text:N", title=stakes)]  # fmt: skip
    base = alt.Chart(rows)
    lines = base.mark_rule(color=COUNT, opacity=0.75, strokeCap="butt").encode(
        x=x, y=y, x2="x2:Q", y2="y2:Q", strokeWidth=alt.StrokeWidth("width:Q", scale=None), href="href:N", tooltip=told
    )
    heads = base.transform_calculate(size="datum.width * datum.width * 3.2 + 120").mark_point(
        shape="triangle", filled=True, color=COUNT, opacity=1
    ).encode(
        x=alt.X("x2:Q", axis=None), y=alt.Y("y2:Q", axis=None),
        angle=alt.Angle("angle:Q", scale=None), size=alt.Size("size:Q", scale=None), href="href:N", tooltip=told,
    )  # fmt: skip
    numbers = base.mark_text(fontSize=13, fontWeight="bold", color=PLAIN).encode(
        x=alt.X("at_x:Q", axis=None), y=alt.Y("at_y:Q", axis=None), text="text:N", href="href:N", tooltip=told
    )
    places = seats.with_columns(
        x=pl.Series([PLACES[place][0] for place in seats["place"]]),
        y=pl.Series([PLACES[place][1] for place in seats["place"]]),
    )
    nodes = alt.Chart(places).encode(x=x, y=y)
    shape = alt.Shape("place:N", legend=None, scale=alt.Scale(domain=[0, 1, 2], range=list(SHAPES)))
    discs = nodes.mark_point(filled=True, size=5200, opacity=1).encode(
        color=alt.Color("colour:N", scale=None), shape=shape,
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("text:N", title=stakes)],
    )  # fmt: skip
    names = nodes.mark_text(color="white", fontSize=14, fontWeight="bold").encode(text="label:N")
    below = alt.Chart(places.with_columns(y=pl.col("y") + pl.when(pl.col("y") > 0).then(0.4).otherwise(-0.4)))
    nets = below.mark_text(fontSize=17, fontWeight="bold").encode(
        x=x, y=y, text="text:N", color=alt.condition("datum.net < 0", alt.value(LOSS), alt.value(GAIN))
    )
    return alt.layer(lines, heads, numbers, discs, names, nets).properties(width=WIDTH, height=HEIGHT)


def rates(frame: pl.DataFrame, order: Sequence[str], colours: Sequence[str]) -> alt.LayerChart:
    """Shares with intervals, a colour and a shape for each seat.

    Columns metric, label, value, low, high, n, few, href.
    """
    base = alt.Chart(frame).encode(
        y=alt.Y("metric:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
        yOffset=alt.YOffset("label:N", sort=list(order)),
        color=alt.Color("label:N", sort=list(order), title=None, legend=alt.Legend(orient="bottom"),
                        scale=alt.Scale(domain=list(order), range=list(colours))),
    )  # fmt: skip
    axis = alt.Axis(format="%", title=None, tickCount=6)
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", axis=axis), x2="high:Q", opacity=faded())
    points = base.mark_point(size=80, filled=True).encode(
        x="value:Q", opacity=faded(), href="href:N",
        shape=alt.Shape("label:N", sort=list(order), title=None,
                        scale=alt.Scale(domain=list(order), range=list(SHAPES))),
        tooltip=["metric:N", "label:N",
                 *(alt.Tooltip(f"{name}:Q", format=".2%") for name in ("value", "low", "high")),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    return alt.layer(lines, points).properties(height=46 * max(frame["metric"].n_unique(), 2) + 80)


def streaks(frame: pl.DataFrame, title: str, share: str, model: str) -> alt.LayerChart:
    """How often a dealer stays, by how often it has dealt in a row, the model as a line.

    Columns dealt, label, share, low, high, model, k, n, few, href.
    """
    base = alt.Chart(frame).encode(
        x=alt.X("label:O", sort=alt.SortField("dealt"), title=title, axis=alt.Axis(labelAngle=0))
    )
    axis = alt.Y("share:Q", title=share, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domainMin=0))
    bars = base.mark_bar(size=26, color=COUNT).encode(
        y=axis, opacity=faded(), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=title), alt.Tooltip("share:Q", title=share, format=".2%"),
                 *(alt.Tooltip(f"{name}:Q", format=".2%") for name in ("low", "high")),
                 alt.Tooltip("model:Q", title=model, format=".2%"), alt.Tooltip("k:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    spans = base.mark_rule(strokeWidth=2, color=PLAIN).encode(y="low:Q", y2="high:Q")
    line = alt.Chart(frame.head(1)).mark_rule(color=LOSS, strokeDash=[6, 3], strokeWidth=2).encode(y="model:Q")
    return alt.layer(bars, spans, line).properties(height=300)
