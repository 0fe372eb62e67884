"""Pictures of the page Fairness."""

from urllib.parse import quote

import altair as alt
import polars as pl

from dashboard import tiles
from dashboard.charts import COUNT, GAIN, LOSS, PLAIN
from dashboard.graphs.marks import DASHES, SERIES

LARGE = 4.0  # z that is drawn in full colour


def quantiles(frame: pl.DataFrame, expected: str, found: str, usual: str, told: str) -> alt.LayerChart:
    """z against normal quantiles with the band: columns subject, z, expected, low, high, stands (bool), what (text)."""
    x = alt.X("expected:Q", title=expected)
    y = alt.Y("z:Q", title=found)
    base = alt.Chart(frame)
    band = base.mark_area(opacity=0.25, color=PLAIN).encode(x=x, y=alt.Y("low:Q", title=found), y2="high:Q")
    line = base.mark_line(color=PLAIN, strokeDash=[4, 3]).encode(x=x, y=alt.Y("expected:Q", title=found))
    points = base.mark_point(filled=True, size=45, opacity=0.85).encode(
        x=x, y=y,
        color=alt.Color("what:N", title=None, scale=alt.Scale(domain=[usual, told], range=[COUNT, LOSS]),
                        legend=alt.Legend(orient="bottom")),
        shape=alt.Shape("what:N", title=None, scale=alt.Scale(domain=[usual, told], range=["circle", "diamond"])),
        tooltip=[alt.Tooltip("subject:N", title=" "), alt.Tooltip("z:Q", format=".2f"), alt.Tooltip("n:Q", format=",")],
    )  # fmt: skip
    return alt.layer(band, line, points).properties(height=340)


def places(frame: pl.DataFrame, names: list[str], place: str, z: str) -> alt.LayerChart:
    """Kinds × places of the wall, coloured by z, tiles drawn at the left.

    Columns kind, tile and place (texts), z, seen, expected; names: tile names of the kinds.
    """
    drawings = tiles.sprite()
    pictures = pl.DataFrame([{"kind": kind, "url": _picture(drawings[name])} for kind, name in enumerate(names)])
    y = alt.Y("kind:O", title=None, axis=alt.Axis(labels=False, ticks=False, domain=False))
    scale = alt.Scale(domain=[-LARGE, 0, LARGE], range=[LOSS, "#dfe2e7", GAIN], clamp=True, interpolate="rgb")
    every = "isNaN(+datum.value) || datum.value == '1' || +datum.value % 4 == 0 ? datum.value : ''"
    axis = alt.Axis(labelAngle=0, labelOverlap=False, labelExpr=every)
    cells = alt.Chart(frame).mark_rect(stroke="#8883", strokeWidth=0.5).encode(
        x=alt.X("place:N", sort=None, title=place, axis=axis), y=y,
        color=alt.Color("z:Q", title=z, scale=scale, legend=alt.Legend(orient="right", gradientLength=160)),
        tooltip=[alt.Tooltip("tile:N", title=" "), alt.Tooltip("place:N", title=place),
                 alt.Tooltip("z:Q", format=".2f"), alt.Tooltip("seen:Q", format=","),
                 alt.Tooltip("expected:Q", format=",.1f")],
    )  # fmt: skip
    large = alt.Chart(frame).transform_filter(f"abs(datum.z) >= {LARGE}").mark_text(fontWeight="bold", fontSize=11)
    marks = large.transform_calculate(sign="datum.z > 0 ? '+' : '−'").encode(
        x=alt.X("place:N", sort=None), y=y, text="sign:N", color=alt.value("white")
    )
    faces = alt.Chart(pictures).mark_image(width=13, height=18).encode(x=alt.value(-13), y=y, url="url:N")
    return alt.layer(cells, marks, faces).properties(height=22 * len(names) + 60)


def _picture(drawing: str) -> str:
    """A tile as an address of its own: no request is made for it."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {tiles.WIDTH} {tiles.HEIGHT}">{drawing}</svg>'
    return f"data:image/svg+xml,{quote(svg)}"


def shanten(frame: pl.DataFrame, roles: list[str], title: str, steps: str, seen: str, exact: str) -> alt.Chart:
    """Seen shares as bars, exact ones as ticks, side by side by role: columns role, shanten, share, exact, n, hands."""
    base = alt.Chart(frame)
    y = alt.Y("share:Q", title=title, axis=alt.Axis(format="%", tickCount=4))
    x = alt.X("shanten:O", title=steps, axis=alt.Axis(labelAngle=0))
    told = [alt.Tooltip("role:N", title=" "), alt.Tooltip("shanten:O", title=steps),
            alt.Tooltip("share:Q", title=seen, format=".3%"), alt.Tooltip("exact:Q", title=exact, format=".3%"),
            alt.Tooltip("hands:Q", format=",")]  # fmt: skip
    bars = base.mark_bar(color=COUNT, opacity=0.75, width={"band": 0.8}).encode(x=x, y=y, tooltip=told)
    ticks = base.mark_tick(color=LOSS, thickness=3, width={"band": 0.95}).encode(
        x=x, y=alt.Y("exact:Q", title=title), tooltip=told
    )
    layered = alt.layer(bars, ticks).properties(width=118, height=200)
    return layered.facet(column=alt.Column("role:N", sort=roles, title=None))


def bets(frame: pl.DataFrame, rounds: str, e: str, bound: float) -> alt.LayerChart:
    """E-values of accounts as their rounds go on, on a logarithmic scale: columns account, round, e."""
    named = frame["account"].unique(maintain_order=True).to_list()
    x = alt.X("round:Q", title=rounds)
    y = alt.Y("e:Q", title=e, scale=alt.Scale(type="log"), axis=alt.Axis(format=".0e", tickCount=6))
    lines = alt.Chart(frame).mark_line(strokeWidth=2).encode(
        x=x, y=y,
        color=alt.Color("account:N", sort=None, title=None, scale=alt.Scale(domain=named, range=list(SERIES)),
                        legend=alt.Legend(orient="bottom", columns=3, labelLimit=170, symbolType="stroke")),
        strokeDash=alt.StrokeDash("account:N", sort=None, scale=alt.Scale(domain=named, range=list(DASHES))),
        tooltip=[alt.Tooltip("account:N", title=" "), alt.Tooltip("round:Q", title=rounds),
                 alt.Tooltip("e:Q", format=".3g")],
    )  # fmt: skip
    rule = alt.Chart().mark_rule(color=LOSS, strokeDash=[5, 4]).encode(y=alt.datum(bound))
    return alt.layer(lines, rule).properties(height=300)


def bridges(frame: pl.DataFrame, names: list[str], rounds: str, away: str, bound: float) -> alt.LayerChart:
    """Running sums with the band that honest logs keep to: columns label, round, time (of day), away, turn (bool)."""
    x, y = alt.X("round:Q", title=rounds), alt.Y("away:Q", title=away)
    base = alt.Chart(frame)
    colour = alt.Color("label:N", sort=None, title=None, scale=alt.Scale(domain=names, range=list(SERIES)),
                       legend=alt.Legend(orient="bottom", columns=2, labelLimit=260, symbolType="stroke"))  # fmt: skip
    dash = alt.StrokeDash("label:N", sort=None, scale=alt.Scale(domain=names, range=list(DASHES)))
    lines = base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=colour, strokeDash=dash)
    turns = base.transform_filter("datum.turn").mark_point(filled=True, size=80).encode(
        x=x, y=y, color=colour,
        tooltip=[alt.Tooltip("label:N", title=" "), alt.Tooltip("time:T", format="%Y-%m-%d %H:%M"),
                 alt.Tooltip("away:Q", format=".2f")],
    )  # fmt: skip
    rules = [alt.Chart().mark_rule(color=LOSS, strokeDash=[5, 4]).encode(y=alt.datum(sign * bound)) for sign in (1, -1)]
    return alt.layer(*rules, lines, turns).properties(height=300)
