"""Pictures of the page Fans."""

import altair as alt
import polars as pl

from dashboard.charts import COUNT, GAIN, LOSS, PLAIN
from dashboard.graphs.marks import diverging, faded, greyed, written

ROW = 34  # pixels a fan takes


def lollipops(frame: pl.DataFrame, frequency: str, size: str) -> alt.LayerChart:
    """How often each fan stands in a win, its interval, and a bubble as large as its part of all stakes.

    Columns label, share, share_low, share_high, contribution (0-1), shown (text), wins, n, few, href.
    """
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=210, labelFontSize=13))
    scale = alt.Scale(domain=[0, max(frame["share_high"].max() or 0, 0.01) * 1.3], nice=False)
    axis = alt.Axis(format="%", tickCount=5)
    base = alt.Chart(frame)
    bubble = alt.Legend(format="%", orient="bottom-right", values=[0.01, 0.1, 0.3, 0.6])
    legend = bubble if frame.height > 6 else None  # it stands among the rows and would hide them
    stems = base.mark_rule(strokeWidth=3, color=COUNT).encode(
        y=y, x=alt.X("zero:Q", title=frequency, axis=axis, scale=scale), x2="share:Q", opacity=faded()
    ).transform_calculate(zero="0")  # fmt: skip
    spans = base.mark_rule(strokeWidth=1.5, color=PLAIN).encode(
        y=y, x=alt.X("share_low:Q", scale=scale), x2="share_high:Q"
    )  # fmt: skip
    bubbles = base.mark_point(filled=True, color=GAIN, shape="circle", stroke="white", strokeWidth=1).encode(
        y=y, x=alt.X("share:Q", scale=scale),
        size=alt.Size("contribution:Q", title=size, scale=alt.Scale(domain=[0, 0.6], range=[40, 1100], clamp=True),
                      legend=legend),
        opacity=alt.condition("datum.few", alt.value(0.4), alt.value(0.95)), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("shown:N", title=" "),
                 alt.Tooltip("contribution:Q", title=size, format=".1%"), alt.Tooltip("wins:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = base.mark_text(align="left", dx=19, color=PLAIN).encode(
        y=y, x=alt.X("share:Q", scale=scale), text="shown:N"
    )
    return alt.layer(stems, spans, bubbles, words).properties(height=ROW * max(frame.height, 2) + 70)


def values(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """The mean win of each fan with its interval: columns label, value, value_low, value_high, worth (text), n, few."""
    # a handful of wins has an interval as wide as the page: it is drawn only from a hundred on
    base = alt.Chart(frame).encode(y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)))
    top = frame.select(pl.when("few").then("value").otherwise("value_high")).to_series().max() or 1
    scale = alt.Scale(domain=[0, top * 1.2], nice=False)
    bars = base.mark_bar(height=13, color=GAIN).encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5)), href="href:N",
        opacity=alt.condition("datum.few", alt.value(0.3), alt.value(0.75)),
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("worth:N", title=" "),
                 alt.Tooltip("wins:Q", format=",")],
    )  # fmt: skip
    spans = base.transform_filter("!datum.few").mark_rule(strokeWidth=2, color=PLAIN).encode(
        x=alt.X("value_low:Q", scale=scale), x2="value_high:Q"
    )  # fmt: skip
    words = base.transform_calculate(right="datum.few ? datum.value : datum.value_high").mark_text(
        align="left", dx=6, color=PLAIN
    ).encode(x=alt.X("right:Q", scale=scale), text="worth:N")  # fmt: skip
    return alt.layer(bars, spans, words).properties(height=ROW * max(frame.height, 2) + 70)


def multiples(frame: pl.DataFrame, title: str, wins: str, plain: str, capped: str) -> alt.LayerChart:
    """Wins by multiple, counts on a logarithmic axis, those at their table's cap in orange.

    Columns multiple, wins, capped, share, href.
    """
    long = pl.concat(
        [
            frame.select("multiple", "share", "href", pl.lit(plain).alias("what"),
                         (pl.col("wins") - pl.col("capped")).alias("wins")),
            frame.select("multiple", "share", "href", pl.lit(capped).alias("what"), pl.col("capped").alias("wins")),
        ]
    ).filter(pl.col("wins") > 0)  # fmt: skip
    x = alt.X("multiple:O", title=title, axis=alt.Axis(labelAngle=0, labelExpr="'×' + datum.label"))
    colour = alt.Color("what:N", title=None, legend=alt.Legend(orient="bottom"),
                       scale=alt.Scale(domain=[plain, capped], range=[COUNT, LOSS]))  # fmt: skip
    base = alt.Chart(long).encode(x=x, xOffset=alt.XOffset("what:N", sort=[plain, capped]))
    tens = [10**power for power in range(len(str(int(frame["wins"].max() or 1))))]
    bars = base.mark_bar().encode(
        y=alt.Y("wins:Q", title=wins, scale=alt.Scale(type="log", domainMin=0.7, nice=False),
                axis=alt.Axis(values=tens, format=",")),
        y2=alt.datum(0.7), color=colour, href="href:N",
        tooltip=[alt.Tooltip("multiple:Q", title="×"), alt.Tooltip("what:N", title=" "),
                 alt.Tooltip("wins:Q", title=wins, format=","), alt.Tooltip("share:Q", title="%", format=".2%")],
    )  # fmt: skip
    words = base.mark_text(dy=-7, color=PLAIN, fontSize=11).encode(
        y=alt.Y("wins:Q", scale=alt.Scale(type="log", domainMin=0.7)), text=alt.Text("wins:Q", format=",")
    )
    return alt.layer(bars, words).properties(height=430)


def pairs(frame: pl.DataFrame, title: str, order: list[str]) -> alt.LayerChart:
    """Fans × fans that come together: blue more often than by chance, orange less; the number is how many times.

    Columns label, partner, lift, log (2-logarithm of lift), text, wins, n, few, href; order: the fans, as they stand.
    """
    axis = alt.Axis(labelLimit=190, labelAngle=-40, orient="top", labelOverlap=False)
    base = alt.Chart(frame).encode(
        x=alt.X("partner:N", sort=order, title=None, axis=axis),
        y=alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelLimit=190)),
    )
    cells = base.mark_rect(stroke="#8883", strokeWidth=1).encode(
        color=greyed(alt.Color("log:Q", title=title, legend=None, scale=diverging(3))),
        href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("partner:N", title="+"),
                 alt.Tooltip("lift:Q", title=title, format=".2f"), alt.Tooltip("wins:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = written(base, "abs(datum.log) > 1.4").encode(href="href:N")
    return alt.layer(cells, words).resolve_scale(color="independent").properties(height=30 * len(order) + 140)


def funnel(frame: pl.DataFrame, stages: list[str], title: str) -> alt.LayerChart:
    """What became of hands that aimed at a fan.

    Columns label, stage, seats, share (of those that aimed), shown, few, href.
    """
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=210))
    base = alt.Chart(frame).encode(y=y, yOffset=alt.YOffset("stage:N", sort=stages))
    bars = base.mark_bar(height=11).encode(
        x=alt.X("share:Q", title=title, axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]),
                scale=alt.Scale(domain=[0, 1.22])),
        color=alt.Color("stage:N", sort=stages, title=None, legend=alt.Legend(orient="bottom"),
                        scale=alt.Scale(domain=stages, range=["#a3acb8", "#6f9bd0", "#1f5f9f"])),
        opacity=faded(), href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("stage:N", title=" "),
                 alt.Tooltip("seats:Q", format=","), alt.Tooltip("share:Q", format=".1%", title="%")],
    )  # fmt: skip
    words = base.mark_text(align="left", dx=5, color=PLAIN, fontSize=10.5).encode(x="share:Q", text="shown:N")
    return alt.layer(bars, words).properties(height=46 * frame["label"].n_unique() + 90)


def matrix(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    """Fans × rulesets: what part of all stakes a fan brings.  Columns label, rules, contribution, text, few, href."""
    base = alt.Chart(frame).encode(
        x=alt.X(
            "rules:N",
            sort=None,
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-30, labelLimit=170, labelOverlap=False),
        ),
        y=alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=210)),
    )
    cells = base.mark_rect(stroke="#8883").encode(
        color=greyed(alt.Color("contribution:Q", legend=None, scale=alt.Scale(
            type="sqrt", domain=[0, 0.6], clamp=True, range=["#dfe6ee", "#2f6db5"]))),
        href="href:N",
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("rules:N", title=" "),
                 alt.Tooltip("contribution:Q", title=title, format=".2%"), alt.Tooltip("wins:Q", format=","),
                 alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    words = written(base, "datum.contribution > 0.2").encode(href="href:N")
    return (
        alt.layer(cells, words)
        .resolve_scale(color="independent")
        .properties(height=28 * frame["label"].n_unique() + 130)
    )
