"""Frames to charts: each function takes a polars frame with labels already in the reader's language.

Blue is gain, orange loss; no meaning is told by colour alone; sizes suit a column of the page.
"""

import json

import altair as alt
import polars as pl

GAIN, LOSS, PLAIN, COUNT = "#3b7fc4", "#d07a1e", "#7b8494", "#6482a6"
VERDICTS = {
    "clean": "#3b7fc4", "unpaid": "#a3acb8", "mismatch": "#e0a23a", "violation": "#b9560f", "rejects": "#59616e",
    "repeats": "#c9ced6",
}  # fmt: skip
BAR = 26  # pixels a horizontal bar takes


AXIS = 76  # pixels an axis with its title takes: Streamlit fits both into the height


def _height(frame: pl.DataFrame) -> int:
    return BAR * max(frame.height, 2) + AXIS


def _ticks(count: int) -> alt.Axis:
    """An axis of whole numbers."""
    # each tick by itself: Vega's own format would give all of them the largest one's prefix, down to "0k"
    return alt.Axis(labelExpr="format(datum.value, '~s')", tickCount=count, tickMinStep=1)


def _opens(frame: pl.DataFrame) -> dict:
    """What a mark opens, where the frame has a column of addresses."""
    return {"href": "href:N"} if "href" in frame.columns else {}


def _labels(chart: alt.Chart, field: str) -> alt.Chart:
    return chart.mark_text(align="left", dx=4, color=PLAIN).encode(text=alt.Text(f"{field}:N"))


def stacked(frame: pl.DataFrame) -> alt.LayerChart:
    """One bar of the whole: code, label, legend, glyph (told apart by it too), n, share, start, end (0-1), href."""
    scale = alt.Scale(domain=frame["legend"].to_list(), range=[VERDICTS[code] for code in frame["code"]])
    x = alt.X("start:Q", axis=alt.Axis(format="%", title=None, tickCount=5), scale=alt.Scale(domain=[0, 1], nice=False))
    base = alt.Chart(frame)
    bars = base.mark_bar(height=44).encode(
        x=x,
        x2="end:Q",
        color=alt.Color(
            "legend:N", scale=scale, legend=alt.Legend(orient="bottom", title=None, columns=3, labelLimit=300)
        ),
        tooltip=[
            alt.Tooltip("label:N", title=" "),
            alt.Tooltip("n:Q", format=","),
            alt.Tooltip("share:Q", format=".2%"),
        ],
        **_opens(frame),
    )
    glyphs = base.transform_filter("datum.share > 0.012").transform_calculate(middle="(datum.start + datum.end) / 2")
    text = glyphs.mark_text(fontSize=15, fontWeight="bold", color="white").encode(
        x="middle:Q", text="glyph:N", **_opens(frame)
    )
    return alt.layer(bars, text).properties(height=150)


def bars(frame: pl.DataFrame, title: str, colour: str = COUNT) -> alt.LayerChart:
    """Horizontal bars in the frame's order: columns label, value, text (written at its end), perhaps href."""
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=260)),
        x=alt.X("value:Q", title=title, axis=_ticks(4), scale=alt.Scale(padding=60, domainMin=0)),
    )
    told = ["label:N", alt.Tooltip("value:Q", format=",")]
    drawn = base.mark_bar(color=colour, height=15).encode(tooltip=told, **_opens(frame))
    return alt.layer(drawn, _labels(base, "text")).properties(height=_height(frame))


def signed_bars(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Bars to both sides of zero, blue gain and orange loss: columns label, value, text (signed), href."""
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=200)),
        x=alt.X("value:Q", title=title, axis=_ticks(4), scale=alt.Scale(padding=50)),
    )
    colour = alt.condition(alt.datum.value < 0, alt.value(LOSS), alt.value(GAIN))
    drawn = base.mark_bar(height=15).encode(
        color=colour, tooltip=["label:N", alt.Tooltip("value:Q", format=",")], **_opens(frame)
    )
    right = base.transform_filter("datum.value >= 0").mark_text(align="left", dx=4, color=PLAIN).encode(text="text:N")
    left = base.transform_filter("datum.value < 0").mark_text(align="right", dx=-4, color=PLAIN).encode(text="text:N")
    return alt.layer(drawn, right, left).properties(height=_height(frame))


def intervals(frame: pl.DataFrame, roles: list[str]) -> alt.LayerChart:
    """Shares with their intervals, a shape and a colour per role: label, role, rate, low, high (0-1), n, href."""
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=None, title=None),
        yOffset=alt.YOffset("role:N", sort=roles),
        color=alt.Color("role:N", sort=roles, scale=alt.Scale(domain=roles, range=["#a8842c", PLAIN]), title=None,
                        legend=alt.Legend(orient="bottom")),
    )  # fmt: skip
    axis = alt.Axis(format="%", title=None, tickCount=5)
    lines = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", axis=axis, scale=alt.Scale(domainMin=0)), x2="high:Q")
    shape = alt.Shape("role:N", sort=roles, scale=alt.Scale(domain=roles, range=["diamond", "circle"]), title=None)
    points = base.mark_point(size=75, filled=True, opacity=1).encode(
        x="rate:Q",
        shape=shape,
        tooltip=["label:N", "role:N", *(alt.Tooltip(f"{name}:Q", format=".2%") for name in ("rate", "low", "high")),
                 alt.Tooltip("n:Q", format=",")],
        **_opens(frame),
    )  # fmt: skip
    return alt.layer(lines, points).properties(height=44 * frame["label"].n_unique() + 80)


def days(frame: pl.DataFrame, moved: str, mispaid: str) -> alt.LayerChart:
    """Base stakes by day, the mispaid part in front in orange: columns day, moved, mispaid, rounds, href."""
    form = "%m-%d" if frame["day"].dt.year().n_unique() == 1 else "%Y-%m-%d"
    if frame.height <= 31:
        x = alt.X("utcyearmonthdate(day):O", title=None, axis=alt.Axis(format=form, labelAngle=0, labelOverlap=True))
        bar = {"size": 22}
    else:
        x = alt.X("utcyearmonthdate(day):T", title=None, axis=alt.Axis(format=form, tickCount=8, labelAngle=0))
        bar = {}
    kept = ["day", "rounds", "href"]
    long = frame.unpivot(["moved", "mispaid"], index=kept, variable_name="what", value_name="stakes")
    long = long.with_columns(pl.col("what").replace({"moved": moved, "mispaid": mispaid}))
    chart = alt.Chart(long).mark_bar(**bar).encode(
        x=x,
        y=alt.Y("stakes:Q", stack=None, title=None, axis=_ticks(5)),
        color=alt.Color("what:N", scale=alt.Scale(domain=[moved, mispaid], range=[COUNT, LOSS]), title=None,
                        legend=alt.Legend(orient="bottom")),
        tooltip=[alt.Tooltip("day:T", format="%Y-%m-%d"), "what:N", alt.Tooltip("stakes:Q", format=",.1f"), "rounds:Q"],
        href="href:N",
    )  # fmt: skip
    return alt.layer(chart).properties(height=290)


def waterfall(frame: pl.DataFrame, low: int, high: int) -> alt.LayerChart:
    """One seat's payout, line by line: columns order, label, start, end, kind (line, total, recorded, differs), text.

    Lines are blue or orange by sign, totals grey, the recorded total outlined, the difference dashed and bold.
    """
    base = alt.Chart(frame).transform_calculate(
        right="max(datum.start, datum.end)",
        colour="indexof(['total', 'recorded'], datum.kind) >= 0 ? 'total' : datum.end < datum.start ? 'loss' : 'gain'",
    )
    y = alt.Y("label:N", sort=alt.SortField("order"), title=None, axis=alt.Axis(labelLimit=150))
    span = max(high - low, 1)
    scale = alt.Scale(domain=[low - span * 0.03, high + span * 0.24], nice=False)
    x = alt.X("start:Q", scale=scale, title=None, axis=_ticks(4))
    colour = alt.Color(
        "colour:N", legend=None, scale=alt.Scale(domain=["gain", "loss", "total"], range=[GAIN, LOSS, PLAIN])
    )
    drawn = base.mark_bar(height=17).encode(
        y=y, x=x, x2="end:Q", color=colour,
        opacity=alt.condition("datum.kind == 'recorded'", alt.value(0.55), alt.value(1)),
    )  # fmt: skip
    differs = base.transform_filter("datum.kind == 'differs'").mark_bar(
        height=21, filled=False, stroke=LOSS, strokeWidth=2, strokeDash=[4, 2]
    ).encode(y=y, x=x, x2="end:Q")  # fmt: skip
    text = base.mark_text(align="left", dx=6, color=PLAIN, fontWeight="bold").encode(
        y=y, x=alt.X("right:Q", scale=scale), text="text:N"
    )
    zero = alt.Chart(pl.DataFrame({"x": [0]})).mark_rule(color=PLAIN, opacity=0.6).encode(x=alt.X("x:Q", scale=scale))
    return alt.layer(zero, drawn, differs, text).properties(height=28 * frame.height + 40)


def rules(frame: pl.DataFrame, base: str) -> alt.LayerChart:
    """Rulesets × keys, what differs from the base rules filled and bold.

    Columns label, key, meaning, ruleset, value, base (all texts) and differs; base: the heading of the base value.
    """
    shown = dict(frame.select("key", "label").iter_rows())
    axis = alt.Axis(labelExpr=f"{json.dumps(shown)}[datum.value]", labelLimit=330, labelOverlap=False)
    top = alt.Axis(orient="top", labelAngle=-40, labelLimit=170, labelOverlap=False)
    chart = alt.Chart(frame).encode(
        x=alt.X("ruleset:N", sort=None, title=None, axis=top),
        y=alt.Y("key:N", sort=None, title=None, axis=axis),
        tooltip=[alt.Tooltip("meaning:N", title=" "), "key:N", alt.Tooltip("ruleset:N", title=" "),
                 alt.Tooltip("value:N", title="="), alt.Tooltip("base:N", title=base)],
    )  # fmt: skip
    cells = chart.mark_rect(stroke="#8884", strokeWidth=1).encode(
        color=alt.condition("datum.differs", alt.value("#cfe1f5"), alt.value("#8881"))
    )
    # a word does not fit into a cell: the pointer and the table tell it
    marked = chart.transform_filter("datum.differs").transform_calculate(
        mark="length(datum.value) > 4 ? '●' : datum.value"
    ).mark_text(fontSize=10, fontWeight="bold", color="#17365c").encode(text="mark:N")  # fmt: skip
    return alt.layer(cells, marked).properties(height=21 * frame["key"].n_unique() + 110)
