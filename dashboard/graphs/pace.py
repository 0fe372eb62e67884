"""Pictures of the page Pace."""

import altair as alt
import polars as pl

from dashboard.charts import COUNT, LOSS, PLAIN

BANDS = ("#17477f", "#3b7fc4", "#82aede", "#b9d0ea", "#dbe5f1", "#9aa3af")  # ready, 1, 2, 3, further, round over


def shanten(frame: pl.DataFrame, names: pl.DataFrame, order: list[str], turn: str, share: str) -> alt.LayerChart:
    """What hands are short of, turn by turn: columns turn, band, label, share, hands, n, start and end (0-1), href.

    names: where each band is widest: turn, middle, label, ink.
    """
    x = alt.X("turn:Q", title=turn, axis=alt.Axis(tickMinStep=1, format="d"), scale=alt.Scale(nice=False, padding=0))
    y = alt.Y("start:Q", title=share, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(frame).encode(x=x, y=y, y2="end:Q")
    scale = alt.Scale(domain=order, range=list(BANDS[: len(order) - 1]) + [BANDS[-1]])
    areas = base.mark_area(stroke="white", strokeWidth=0.7).encode(
        color=alt.Color("label:N", sort=order, title=None, scale=scale,
                        legend=alt.Legend(orient="bottom", columns=3, symbolType="square")),
        detail="label:N",
    )  # fmt: skip
    hover = base.mark_bar(opacity=0.001, size=34).encode(
        href="href:N",
        tooltip=[alt.Tooltip("turn:Q", title=turn), alt.Tooltip("label:N", title=" "),
                 alt.Tooltip("share:Q", title=share, format=".1%"), alt.Tooltip("hands:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = alt.Chart(names).mark_text(fontSize=13, fontWeight="bold").encode(
        x=x, y=alt.Y("middle:Q"), text="label:N", color=alt.Color("ink:N", scale=None)
    )  # fmt: skip
    return alt.layer(areas, words, hover).resolve_scale(color="independent").properties(height=400)


def dealt(frame: pl.DataFrame, axis: str, share: str, found: str, exact: str) -> alt.LayerChart:
    """Dealt hands by shanten as bars with intervals, the exact chance as a tick: shanten, share, low, high, exact."""
    base = alt.Chart(frame).encode(x=alt.X("shanten:O", title=axis, axis=alt.Axis(labelAngle=0)))
    y = alt.Y("share:Q", title=share, axis=alt.Axis(format="%", tickCount=5))
    colours = alt.Scale(domain=[found, exact], range=[COUNT, LOSS])
    told = [alt.Tooltip("shanten:O", title=axis), alt.Tooltip("share:Q", title=found, format=".2%"),
            alt.Tooltip("exact:Q", title=exact, format=".2%"), alt.Tooltip("k:Q", format=","),
            alt.Tooltip("n:Q", format=",")]  # fmt: skip
    legend = alt.Legend(orient="bottom", title=None)
    bars = base.transform_calculate(what=f"'{found}'").mark_bar(size=26).encode(
        y=y, color=alt.Color("what:N", scale=colours, legend=legend), href="href:N", tooltip=told
    )  # fmt: skip
    lines = base.mark_rule(strokeWidth=2, color=PLAIN).encode(y="low:Q", y2="high:Q")
    ticks = base.transform_calculate(what=f"'{exact}'").mark_tick(size=40, thickness=3).encode(
        y="exact:Q", color=alt.Color("what:N", scale=colours, legend=legend), tooltip=told
    )  # fmt: skip
    return alt.layer(bars, lines, ticks).properties(height=270)
