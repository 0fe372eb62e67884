"""What pictures of several pages are put together from."""

import altair as alt

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


def dots(
    frame: alt.Data,
    title: str,
    *,
    value: str = "value",
    low: str = "low",
    high: str = "high",
    text: str = "text",
    form: str = ".2f",
    colour: object = GAIN,
    zero: bool = False,
    labels: bool = True,
) -> alt.LayerChart:
    """Values with their intervals in the frame's order, one line each: columns label, value, low, high, text, few, n.

    zero: a line at zero; labels: whether names stand at the left.
    """  # fmt: skip
    axis = alt.Axis(labelLimit=230, labels=labels, ticks=labels)
    base = alt.Chart(frame).encode(y=alt.Y("label:N", sort=None, title=None, axis=axis))
    scale = alt.Scale(zero=False, padding=12, nice=True)
    x = alt.X(f"{low}:Q", title=title, axis=alt.Axis(format=form, tickCount=5), scale=scale)
    lines = base.mark_rule(strokeWidth=2, color=colour).encode(x=x, x2=f"{high}:Q", opacity=faded())
    told = [alt.Tooltip("label:N", title=" "), alt.Tooltip(f"{text}:N", title=" "), alt.Tooltip("n:Q", format=",")]
    points = base.mark_point(filled=True, size=70, color=colour).encode(
        x=alt.X(f"{value}:Q", scale=scale), opacity=faded(), tooltip=told,
    )  # fmt: skip
    words = base.mark_text(dy=-11, fontSize=11, color=PLAIN).encode(
        x=alt.X(f"{value}:Q", scale=scale), text=f"{text}:N"
    )
    layers = [lines, points, words]
    if zero:
        layers.insert(0, alt.Chart().mark_rule(color=PLAIN, strokeDash=[3, 3]).encode(x=alt.datum(0)))
    return alt.layer(*layers)
