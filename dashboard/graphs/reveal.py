"""Pictures of the page Reveal."""

import altair as alt
import polars as pl

from dashboard.charts import GAIN, PLAIN
from dashboard.graphs.marks import SERIES, diverging, faded, greyed, written


def grid(frame: pl.DataFrame, turns: str, lives: str, value: str) -> alt.LayerChart:
    """Live tiles × turn, colour and number the mean result: columns live, turn, value, text, win, n, few, href."""
    known = frame.filter(~pl.col("few"))["value"].abs()
    reach = float(known.quantile(0.95) or 1) if len(known) else 1.0
    base = alt.Chart(frame).encode(
        x=alt.X("turn_label:O", sort=alt.SortField("turn"), title=turns, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("live_label:O", sort=alt.SortField("live", order="descending"), title=lives),
    )
    cells = base.mark_rect(stroke="#8883", strokeWidth=1).encode(
        color=greyed(alt.Color("value:Q", title=value, legend=None, scale=diverging(reach))), href="href:N",
        tooltip=[alt.Tooltip("live_label:N", title=lives), alt.Tooltip("turn_label:N", title=turns),
                 alt.Tooltip("text:N", title=value), alt.Tooltip("span:N", title="95 %"),
                 alt.Tooltip("win:N", title=" "), alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = written(base, f"abs(datum.value) > {0.6 * reach}").encode(href="href:N")
    return alt.layer(cells, words).resolve_scale(color="independent").properties(height=390)


def spans(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Values with their intervals around zero: columns label, value, low, high, text, n, few, href."""
    base = alt.Chart(frame).encode(y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=220)))
    scale = alt.Scale(zero=True, padding=90)
    x = alt.X("low:Q", title=title, scale=scale, axis=alt.Axis(format="+.2~f", tickCount=5))
    zero = alt.Chart(pl.DataFrame({"x": [0]})).mark_rule(color=PLAIN, strokeDash=[4, 3]).encode(x="x:Q")
    sign = alt.condition("datum.value < 0", alt.value(SERIES[1]), alt.value(GAIN))
    lines = base.mark_rule(strokeWidth=3).encode(x=x, x2="high:Q", color=sign, opacity=faded())
    points = base.mark_point(filled=True, size=90).encode(
        x="value:Q", color=sign, opacity=faded(), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("text:N", title=" "), alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    # on the side away from zero, whose line would cross them
    right = base.transform_filter("datum.value >= 0").transform_calculate(
        end="isValid(datum.high) ? datum.high : datum.value"
    ).mark_text(align="left", dx=9, color=PLAIN).encode(x="end:Q", text="text:N")  # fmt: skip
    left = base.transform_filter("datum.value < 0").transform_calculate(
        end="isValid(datum.low) ? datum.low : datum.value"
    ).mark_text(align="right", dx=-9, color=PLAIN).encode(x="end:Q", text="text:N")  # fmt: skip
    return alt.layer(zero, lines, points, right, left).properties(height=40 * max(frame.height, 2) + 60)
