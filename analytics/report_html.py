"""The audit report as one HTML file: both languages, plots as SVG with words beside them.

No script, nothing from elsewhere: it reads the same everywhere.  What comes from a log is escaped: text, never markup.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from scipy.stats import beta, norm

from analytics import report
from analytics.fairness.result import Result
from analytics.report import LANGUAGES, Report, number, personal, texts, title, verdict, words
from ingest.whole import write_whole

STYLE = """
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:1200px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin:2.2rem 0 .6rem;border-bottom:1px solid #8886}
table{border-collapse:collapse;width:100%;font-size:13.5px}td,th{padding:.25rem .7rem .25rem 0;text-align:left;
vertical-align:top;overflow-wrap:anywhere}th{font-weight:600;opacity:.75}.n{text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}.verdict{border-left:5px solid #3b7fc4;padding:.5rem 1rem;background:#3b7fc41a}
.verdict.bad{border-color:#d07a1e;background:#d07a1e22}.verdict p{margin:.3rem 0}.s{white-space:nowrap;font-weight:600}
.s.flagged,.s.biased,.s.review,.s.escalated{color:#b9560f}.s.not_run,.s.control{opacity:.65}.small{font-size:12.5px;
opacity:.8;overflow-wrap:anywhere}section{margin-bottom:3.5rem}figure{margin:1rem 0}svg text{font:12px system-ui;
fill:currentColor}tr{border-top:1px solid #8883}@media(prefers-color-scheme:dark){.s.flagged,.s.biased,.s.review,
.s.escalated{color:#eba052}}
"""
WIDTH, HEIGHT, EDGE = 560, 300, 42


class ReportError(Exception):
    """The file cannot be written; the message names it and says why."""


def write(path: Path, of: Report) -> None:
    """Writes the page whole or not at all.  ReportError."""
    write_whole(path, page(of), ReportError)


def page(of: Report) -> str:
    """The whole page as text."""
    head = "".join(f'<a href="#{language}">{name}</a> ' for language, name in (("zh", "中文"), ("en", "English")))
    body = "".join(section(of, language) for language in LANGUAGES)
    name = escape(words()["zh"]["title"])
    return (
        f'<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>{name}</title><meta name="viewport" '
        f'content="width=device-width"><style>{STYLE}</style></head><body>{head}{body}</body></html>\n'
    )


def section(of: Report, language: str) -> str:
    """The report in one language."""
    say = words()[language]
    facts = {name: f"{value:,}" if isinstance(value, int) else value for name, value in of.facts.items()}
    parts = [f'<section id="{language}" lang="{language}"><h1>{escape(say["title"])}</h1>']
    told = "".join(f"<p>{escape(line)}</p>" for line in verdict(of, language))
    parts.append(f'<div class="verdict{" bad" if of.found else ""}">{told}</div>')
    parts.append(f'<p class="small">{escape(say["version"].format(**facts))}</p>')
    whole = [row for row in of.rows if not personal(row) and row.family != "control"]
    parts.append(f"<h2>{escape(say['checks'])}</h2>{table(of, whole, language)}")
    parts.append(f"<h2>{escape(say['accounts'])}</h2>")
    standing = [row for row in of.rows if row.status in report.STANDING]
    parts.append(table(of, standing, language) if standing else "")
    others = sum(personal(row) for row in of.rows) - len(standing)
    parts.append(f"<p>{escape(say['more'].format(n=f'{others:,}'))}</p>")
    cut = {row.name for row in of.rows if row.family == "pair" and row.note and json.loads(row.note).get("left_out")}
    for name in dict.fromkeys(row.name for row in of.rows if personal(row) and row.name not in cut):
        parts.append(quantiles([row for row in of.rows if row.name == name and row.statistic is not None], language))
    parts.append(funnel([row for row in of.rows if row.name == "net_results"], language))
    controls = [row for row in of.rows if row.family == "control"]
    parts.append(f"<h2>{escape(say['controls'])}</h2>{table(of, controls, language)}")
    parts.append(f"<h2>{escape(say['method'])}</h2><p>{escape(say['method_text'])}</p><p>{escape(say['again'])}</p>")
    parts.append(f"<h2>{escape(say['made_from'])}</h2>{origins(of, say)}</section>")
    return "".join(parts)


def table(of: Report, rows: Sequence[Result], language: str) -> str:
    """Rows as a table, with what a hit says, what it can't see, and the rounds behind it."""
    say = words()[language]
    heads = ("check", "status", "n", "effect", "interval", "p_adjusted", "power", "detectable", "subject")
    out = ["<table><tr>", *(f"<th{right(name)}>{escape(say[name])}</th>" for name in heads), "</tr>"]
    for row in rows:
        told = texts().get(row.name, {}).get(language, {})
        state = escape(words()[language]["statuses"][row.status])
        why = f' <span class="small">{escape(say["why"][row.why])}</span>' if row.why else ""
        known = row.effect_unit and row.effect is not None
        unit = f' <span class="small">{escape(row.effect_unit)}</span>' if known else ""
        span = "" if row.low is None else f"{number(row.low)} … {number(row.high)}"
        p = row.p_adjusted if row.p_adjusted is not None else row.p
        lacks = row.why and row.needed
        needed = f'<br><span class="small">{escape(say["needed"])} {row.needed:,}</span>' if lacks else ""
        about = escape(row.subject or "–")
        finding = told.get("finding", "")
        blind = f"{say['blind']}: {told['blind']}" if told else ""
        cells = [
            f"<td>{row.check or '–'} {escape(title(row, language))}<br><span class='small'>{escape(finding)}. "
            f"{escape(blind)}</span></td>",
            f'<td><span class="s {row.status}">{state}</span>{why}</td>',
            f'<td class="n">{row.n:,} <span class="small">{escape(row.unit)}</span>{needed}</td>',
            f'<td class="n">{number(row.effect)}{unit}</td><td class="n">{span}</td><td class="n">{number(p)}</td>',
            f'<td class="n">{number(row.power)}</td><td class="n">{number(row.detectable)}</td>',
            f"<td><bdi>{about}</bdi>{evidence(of, row, say)}</td>",
        ]
        out.append("<tr>" + "".join(cells) + "</tr>")
    return "".join([*out, "</table>"])


def right(name: str) -> str:
    """Numbers stand to the right."""
    return "" if name in ("check", "status", "subject") else ' class="n"'


def evidence(of: Report, row: Result, say: dict[str, str]) -> str:
    """The rounds behind a finding, folded."""
    if row.status not in (*report.FOUND, *report.STANDING) or not row.evidence:
        return ""
    named = [of.facts["names"].get(int(one), f"{int(one):016x}") for one in row.evidence[:50]]
    listed = "<br>".join(f"<code>{escape(one)}</code>" for one in named)
    return f'<details><summary class="small">{escape(say["evidence"])} ({len(named)})</summary>{listed}</details>'


def quantiles(rows: Sequence[Result], language: str) -> str:
    """z of the accounts against normal quantiles, with the band that each place keeps to 95 % of the time."""
    rows = [row for row in rows if row.p is not None and row.check != 4]
    if len(rows) < 5:
        return ""
    found = sorted(rows, key=lambda row: (row.statistic, row.subject or ""))
    n = len(found)
    expected = [float(norm.ppf((k + 0.5) / n)) for k in range(n)]
    low, high = min(found[0].statistic, expected[0]) - 0.5, max(found[-1].statistic, expected[-1]) + 0.5

    def at(x: float, y: float) -> tuple[float, float]:
        across = EDGE + (x - expected[0]) / (expected[-1] - expected[0]) * (WIDTH - 2 * EDGE)
        return across, HEIGHT - EDGE - (y - low) / (high - low) * (HEIGHT - 2 * EDGE)

    say = words()[language]
    told = say["plot"].format(n=n, high=number(found[-1].statistic), low=number(found[0].statistic))
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{"#d07a1e" if row.status != "passed" else "#3b7fc4"}" '
        f'fill-opacity=".75"><title>{escape(row.subject or "")}: {number(row.statistic)}</title></circle>'
        for row, quantile in zip(found, expected, strict=True) for x, y in [at(quantile, row.statistic)]
    )  # fmt: skip
    return (
        f'<figure><figcaption>{escape(title(found[0], language))}</figcaption><svg role="img" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" width="{WIDTH}" aria-label="{escape(told)}">{band(n, expected, at)}{axes(low, high, at, expected)}'
        f'{dots}</svg><p class="small">{escape(told)}</p></figure>'
    )


def funnel(rows: Sequence[Result], language: str) -> str:
    """Effects of the accounts over how many rounds they played, with the 95 % interval around zero of each."""
    rows = [row for row in rows if row.p is not None and row.effect is not None]
    if len(rows) < 5:
        return ""
    most = max(row.n for row in rows)
    top = max(max(abs(row.effect), (row.high - row.low) / 2) for row in rows) * 1.1

    def at(n: int, y: float) -> tuple[float, float]:
        across = EDGE + math.log1p(n) / math.log1p(most) * (WIDTH - 2 * EDGE)
        return across, HEIGHT / 2 - y / top * (HEIGHT / 2 - EDGE)

    marks = []
    for row in rows:
        x, y = at(row.n, row.effect)
        half = (row.high - row.low) / 2
        for edge in (half, -half):
            level = at(row.n, edge)[1]
            marks.append(f'<line x1="{x - 3:.1f}" x2="{x + 3:.1f}" y1="{level:.1f}" y2="{level:.1f}" stroke="#8889"/>')
        fill = "#d07a1e" if row.status != "passed" else "#3b7fc4"
        marks.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}" fill-opacity=".75">'
            f"<title>{escape(row.subject or '')}: {number(row.effect)} ({row.n:,})</title></circle>"
        )
    told = words()[language]["funnel"].format(
        n=len(rows), most=f"{most:,}", high=number(max(row.effect for row in rows)),
        low=number(min(row.effect for row in rows)),
    )  # fmt: skip
    middle = f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{HEIGHT / 2}" y2="{HEIGHT / 2}" stroke="#8884"/>'
    return (
        f'<figure><figcaption>{escape(title(rows[0], language))}</figcaption><svg role="img" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" width="{WIDTH}" aria-label="{escape(told)}">{middle}{"".join(marks)}</svg>'
        f'<p class="small">{escape(told)}</p></figure>'
    )


def band(n: int, expected: Sequence[float], at: Callable[[float, float], tuple[float, float]]) -> str:
    """The 95 % band of order statistics of n normal values (they are beta distributed in their ranks)."""
    bounds = [[float(norm.ppf(beta.ppf(q, k + 1, n - k))) for k in range(n)] for q in (0.025, 0.975)]
    points = [at(x, y) for x, y in zip(expected, bounds[0], strict=True)]
    points += reversed([at(x, y) for x, y in zip(expected, bounds[1], strict=True)])
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="#8883"/>'


def axes(low: float, high: float, at: Callable[[float, float], tuple[float, float]], expected: Sequence[float]) -> str:
    """Marks at whole numbers of z."""
    marks = []
    for z in range(int(low), int(high) + 1):
        x, y = at(expected[0], z)
        marks.append(f'<line x1="{x - 4:.1f}" x2="{WIDTH - EDGE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>')
        marks.append(f'<text x="{x - 10:.1f}" y="{y + 4:.1f}" text-anchor="end">{z}</text>')
    return "".join(marks)


def origins(of: Report, say: dict[str, str]) -> str:
    """Digests of rulesets, sources and a second batch."""
    second = of.facts.get("second")
    rows: Iterable[tuple[str, str, int]] = [
        *((one["ruleset"], one["digest"], one["rounds"]) for one in of.facts["rulesets"]),
        *((one["source"], one["sha256"], one["rounds"]) for one in of.facts["sources"]),
        *([(say["second"], second["digest"], second["rounds"])] if second else []),
    ]
    cells = "".join(
        f"<tr><td><bdi>{escape(name or '–')}</bdi></td><td><code>{escape(digest or '')}</code></td>"
        f"<td class='n'>{n:,}</td></tr>"
        for name, digest, n in rows
    )
    return f'<table class="small">{cells}</table>'
