"""What pictures of several pages are put together from."""

import altair as alt
import polars as pl

from dashboard.charts import GAIN, LOSS, PLAIN

PALE = 0.38  # opacity of what fewer than 100 observations say
SERIES = ("#3b7fc4", "#c26a12", "#7a5bc0", "#12857b", "#b03a72", "#7b8494")  # told apart by shape or dash as well
SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3])


def faded() -> dict:
    """Opacity of a mark by its column `few`."""
    return alt.condition("datum.few", alt.value(PALE), alt.value(1))


def greyed(colour: alt.Color) -> dict:
    """Colour of a cell: grey where its column `few` says so.  Its number is written by `written`."""
    return alt.condition("datum.few", alt.value("#8883"), colour)


def written(base: alt.Chart, dark: str, text: str = "text:N", size: float = 11) -> alt.Chart:
    """The numbers in cells: white where `dark` holds, grey in grey cells, which show the ground of the page."""
    return base.transform_calculate(ink=f"datum.few ? '{PLAIN}' : {dark} ? 'white' : '#1f2430'").mark_text(
        fontSize=size
    ).encode(text=text, color=alt.Color("ink:N", scale=None))  # fmt: skip


def diverging(reach: float) -> alt.Scale:
    """Orange for loss, blue for gain, neither at zero; the same reach to both sides."""
    return alt.Scale(domain=[-reach, 0, reach], range=[LOSS, "#d9dce1", GAIN], clamp=True, interpolate="rgb")


def curves(frame: pl.DataFrame, x: str, y: str, form: str, order: list[str], zero: bool = False) -> alt.LayerChart:
    """Curves with intervals, told apart by shape and dash too: at, label, what, value, low, high, n, few, href."""
    base = alt.Chart(frame).encode(
        x=alt.X("label:O", sort=alt.SortField("at"), title=x, axis=alt.Axis(labelAngle=0)),
        color=alt.Color("what:N", sort=order, title=None, scale=alt.Scale(domain=order, range=SERIES[: len(order)]),
                        legend=alt.Legend(orient="bottom", symbolStrokeWidth=0)),
    )  # fmt: skip
    shape = alt.Shape("what:N", sort=order, title=None, scale=alt.Scale(domain=order, range=SHAPES[: len(order)]))
    dash = alt.StrokeDash("what:N", sort=order, title=None, legend=None,
                          scale=alt.Scale(domain=order, range=DASHES[: len(order)]))  # fmt: skip
    axis = alt.Y("value:Q", title=y, axis=alt.Axis(format=form, tickCount=5))
    layers = [
        base.mark_line(strokeWidth=1.5).encode(y=axis, strokeDash=dash),
        base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q", opacity=faded()),
        base.mark_point(filled=True, size=70).encode(
            y="value:Q", shape=shape, opacity=faded(), href="href:N",
            tooltip=[alt.Tooltip("label:N", title=x), alt.Tooltip("what:N", title=" "),
                     *(alt.Tooltip(f"{name}:Q", format=form) for name in ("value", "low", "high")),
                     alt.Tooltip("n:Q", format=",")],
        ),
    ]  # fmt: skip
    if zero:
        layers.insert(0, alt.Chart(pl.DataFrame({"y": [0]})).mark_rule(color=PLAIN, strokeDash=[4, 3]).encode(y="y:Q"))
    return alt.layer(*layers).properties(height=320)
