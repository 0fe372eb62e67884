"""Pictures of the page Player."""

import altair as alt
import polars as pl

from dashboard.charts import GAIN, LOSS, PLAIN
from dashboard.graphs.marks import faded


def net(frame: pl.DataFrame, net: str, adjusted: str, x: str, y: str, points: bool) -> alt.LayerChart:
    """Running totals, the luck-adjusted line dashed, the fan of the latter; marks open their rounds.

    Columns n, total, adjusted_total, fan_low, fan_high, net, text, href; points: few enough for a dot each.
    """
    across = alt.X("n:Q", title=x, axis=alt.Axis(format=",.0f", tickCount=7), scale=alt.Scale(nice=False))
    base = alt.Chart(frame).encode(x=across)
    fan = base.mark_area(color=PLAIN, opacity=0.16).encode(
        y=alt.Y("fan_low:Q", title=y, axis=alt.Axis(format="+,.0f", tickCount=6)), y2="fan_high:Q"
    )
    colour = alt.Color("what:N", title=None, legend=alt.Legend(orient="bottom", symbolType="stroke"),
                       scale=alt.Scale(domain=[net, adjusted], range=[GAIN, LOSS]))  # fmt: skip
    dash = alt.StrokeDash("what:N", title=None, scale=alt.Scale(domain=[net, adjusted], range=[[1, 0], [6, 3]]))
    lines = base.transform_fold(["total", "adjusted_total"], as_=["which", "value"]).transform_calculate(
        what=f"datum.which == 'total' ? '{net}' : '{adjusted}'"
    ).mark_line(strokeWidth=2.2).encode(y="value:Q", color=colour, strokeDash=dash)  # fmt: skip
    zero = alt.Chart(pl.DataFrame({"y": [0]})).mark_rule(color=PLAIN, strokeDash=[3, 3]).encode(y="y:Q")
    marks = base.mark_point(filled=True, size=26 if points else 60, color=GAIN).encode(
        y="total:Q", href="href:N", opacity=alt.value(0.85 if points else 0.001),
        tooltip=[alt.Tooltip("n:Q", title=x, format=","), alt.Tooltip("day:N", title=" "),
                 alt.Tooltip("net:Q", title="±", format="+.2f"), alt.Tooltip("total:Q", title=net, format="+,.1f"),
                 alt.Tooltip("adjusted_total:Q", title=adjusted, format="+,.1f")],
    )  # fmt: skip
    return alt.layer(fan, zero, lines, marks).properties(height=380)


def strips(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Where the account stands among all, a strip a statistic: columns label, percentile (0-1), text, n, few, href."""
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(frame).encode(y=y)
    x = alt.X("percentile:Q", title=title, axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
              scale=alt.Scale(domain=[0, 1.3], nice=False))  # fmt: skip
    track = base.transform_calculate(start="0", end="1").mark_bar(height=9, color=PLAIN, opacity=0.22).encode(
        x=alt.X("start:Q", title=title), x2="end:Q"
    )  # fmt: skip
    middle = base.transform_calculate(half="0.5").mark_tick(thickness=1.5, size=15, color=PLAIN).encode(x="half:Q")
    points = base.mark_point(filled=True, size=130, color=GAIN, shape="diamond").encode(
        x=x, opacity=faded(), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("text:N", title=" "),
                 alt.Tooltip("percentile:Q", format=".0%", title=title), alt.Tooltip("of:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = (
        base.transform_calculate(right="1.02").mark_text(align="left", color=PLAIN).encode(x="right:Q", text="text:N")
    )
    return alt.layer(track, middle, points, words).properties(height=27 * max(frame.height, 2) + 60)


def rolling(frame: pl.DataFrame, x: str, y: str, form: str) -> alt.LayerChart:
    """A statistic over the last games with its band, and over all so far as a dashed line.

    Columns number, rolling, rolling_low, rolling_high, cumulative, rolling_n.
    """
    base = alt.Chart(frame).encode(
        x=alt.X("number:Q", title=x, scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=7))
    )
    axis = alt.Axis(format=form, tickCount=5)
    band = base.mark_area(color=GAIN, opacity=0.18).encode(
        y=alt.Y("rolling_low:Q", title=y, axis=axis, scale=alt.Scale(zero=False)), y2="rolling_high:Q"
    )
    line = base.mark_line(color=GAIN, strokeWidth=2).encode(y="rolling:Q")
    mean = base.mark_line(color=PLAIN, strokeDash=[5, 3], strokeWidth=1.5).encode(y="cumulative:Q")
    hover = base.mark_point(size=50, opacity=0.001).encode(
        y="rolling:Q",
        tooltip=[alt.Tooltip("number:Q", title=x), alt.Tooltip("rolling:Q", title=y, format=form),
                 alt.Tooltip("cumulative:Q", title="Σ", format=form),
                 alt.Tooltip("rolling_n:Q", title="n", format=",")],
    )  # fmt: skip
    return alt.layer(band, mean, line, hover).properties(height=300)


def ranked(frame: pl.DataFrame, title: str, share: bool) -> alt.LayerChart:
    """Accounts in order, each with its interval: columns label, value, low, high, text, n, few, href."""
    base = alt.Chart(frame).encode(y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)))
    axis = alt.Axis(format=".0%" if share else "+.2~f", tickCount=6)
    lines = base.mark_rule(strokeWidth=2, color=PLAIN).encode(
        x=alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=False)), x2="high:Q", opacity=faded()
    )
    points = base.mark_point(filled=True, size=70, color=GAIN).encode(
        x="value:Q", opacity=faded(), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("text:N", title=title),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    return alt.layer(lines, points).properties(height=20 * max(frame.height, 2) + 60)
