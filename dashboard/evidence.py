"""The evidence file of `kwx show --html`: one round in one HTML file, for a dispute.

Chinese and English side by side, no script, nothing from elsewhere: it reads and prints the same everywhere, and says
how to check it again.  Everything from a log is escaped: it is text, never markup.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from dashboard import i18n, tiles
from ingest.tiles import NAMES
from ingest.whole import write_whole
from replay import one_round, rules_text, show_text, trace
from replay.rulefile import BASE, RulesetError
from replay.ruleset import text

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1f2430;background:#fff;max-width:1100px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2rem 0 .5rem;border-bottom:1px solid #d5d8de}
table{border-collapse:collapse;width:100%}td,th{padding:.2rem .6rem .2rem 0;text-align:left;vertical-align:middle}
tr.bad td{background:#fdf0e0}th{font-weight:600;color:#555c6b}.n{text-align:right;font-variant-numeric:tabular-nums}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f3f4f6;padding:.7rem;font-size:12px}
.mark{background:#fdf0e0;border-left:4px solid #c26a12;padding:.4rem .8rem;margin:.6rem 0;overflow-wrap:anywhere}
svg.t{height:1.9em;vertical-align:middle;margin:1px}.gap{display:inline-block;width:.7em}
.small{color:#555c6b;font-size:13px;overflow-wrap:anywhere}td.rest{overflow-wrap:anywhere}
"""


class EvidenceError(Exception):
    """The file cannot be written; the message names it and says why."""


def write(path: Path, tables: one_round.Tables) -> None:
    """Writes the page whole or not at all.  EvidenceError."""
    write_whole(path, page(tables), EvidenceError)


def page(tables: one_round.Tables) -> str:
    """The whole page of a round as text (tables as of replay.one_round)."""
    row = tables["rounds"][0]
    ident = one_round.write(row)
    steps = show_text.frames(tables)
    used = sorted(set(NAMES[row["suits"] or "ps"]))
    drawings = tiles.sprite()
    symbols = "".join(
        f'<symbol id="t{name}" viewBox="0 0 {tiles.WIDTH} {tiles.HEIGHT}">{drawings[name]}</symbol>'
        for name in [*used, "back"]
    )
    parts = [
        f"<h1>{escape(ident)} · {_both('verdict', row['verdict'])}</h1>",
        _facts(tables, ident),
        *_findings(tables, steps),
        _wins(tables),
        _ledger(tables),
        _steps(tables, steps),
        _rules(row),
        _record(tables, ident),
    ]
    return (
        '<!doctype html>\n<html lang="zh"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(ident)}</title><style>{STYLE}</style></head><body>"
        f'<svg width="0" height="0" style="position:absolute" aria-hidden="true">{symbols}</svg>'
        + "\n".join(filter(None, parts))
        + "</body></html>\n"
    )


def _both(group: str, code: str | None) -> str:
    """A word of the data in Chinese and English; the code itself where the dashboard has none."""
    if code is None:
        return "–"
    words = [i18n.words(language).get(f"{group}.{code}", code) for language in i18n.LANGUAGES]
    return escape(" ".join(dict.fromkeys(words)))


def _fan(fan: str) -> str:
    entry = BASE.get(f"fan.{fan}")
    return escape(f"{entry.zh} {fan}" if entry else fan)


def _tile(name: str) -> str:
    return f'<svg class="t" viewBox="0 0 30 42" role="img" aria-label="{name}"><use href="#t{name}"/></svg>'


def _tiles(names: Iterable[str]) -> str:
    return "".join(_tile(name) for name in names)


def _table(rows: Iterable[Sequence[object]], head: Sequence[str] = (), bad: Sequence[bool] = ()) -> str:
    """Cells are markup already; the first column of numbers is left to the caller."""
    out = ["<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"] if head else []
    for at, cells in enumerate(rows):
        mark = ' class="bad"' if at < len(bad) and bad[at] else ""
        out.append(f"<tr{mark}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(out)}</table>"


def _facts(tables: one_round.Tables, ident: str) -> str:
    row = tables["rounds"][0]
    raw = tables["raw"][0]["raw"] if tables["raw"] else None
    facts = [
        ("牌谱 source", f"{row['source']}, 第 line {row['line']} 行"),
        ("规则 rules", f"{row['ruleset']} {row['options'] or '{}'} · digest {row['ruleset_digest']}"),
        ("底分 base", f"{row['base']} × 2^{row['raise'] or 0} (上楼 raise: {row['raise_from'] or '–'})"),
        ("漂 piao", f"{' '.join(str(seat['piao']) for seat in tables['seats'])} ({row['piao_from'] or '–'})"),
        ("牌墙 wall", row["proof"] or "none"),
    ]
    if raw is not None:
        facts.append(("记录 SHA-256 of the record", sha256(raw.encode("utf-8", "surrogateescape")).hexdigest()))
    facts += [
        (f"座位 seat {seat['seat']}", (seat["player"] or "–") + (" · 庄 dealer" if seat["is_dealer"] else ""))
        for seat in tables["seats"]
    ]
    return _table((f'<span class="small">{escape(name)}</span>', escape(str(value))) for name, value in facts)


def _findings(tables: one_round.Tables, steps: Sequence[Mapping[str, Any]]) -> list[str]:
    out = ["<h2>问题 What is wrong</h2>"]
    if not tables["problems"]:
        return [*out, "<p>没有发现问题。 Nothing was found.</p>"]
    for problem in tables["problems"]:
        where = "整局 whole round" if problem["event"] is None else f"事件 event {problem['event']}"
        lines = [f"<b>{_both('code', problem['code'])}</b> ({escape(where)}): {escape(problem['message'] or '')}"]
        if problem["logged"] is not None or problem["expected"] is not None:
            logged, expected = escape(str(problem["logged"])), escape(str(problem["expected"]))
            lines.append(f"记录 logged {logged} · 应为 expected {expected}")
        if problem["explained_by"]:
            lines.append(f"可由以下规则解释 explained by {escape(' / '.join(problem['explained_by']))}")
        at = next((at for at, frame in enumerate(steps) if frame["no"] == problem["event"]), None)
        if problem["event"] is not None and at:
            lines.append("之前的牌面 the table before it:")
            lines += [f"{seat}: {_hand(steps[at - 1], seat)}" for seat in range(3)]
        out.append(f'<div class="mark">{"<br>".join(lines)}</div>')
    return out


def _hand(frame: Mapping[str, Any], seat: int) -> str:
    """A seat's tiles drawn: concealed, the drawn one apart, melds, waits."""
    own = frame["seats"][seat]
    gap = '<span class="gap"></span>'
    parts = [_tiles(own["hand"])]
    if own["drawn"]:
        parts.append(_tile(own["drawn"]))
    for meld in own["melds"]:
        parts.append(_tiles(trace.drawn_meld(meld["kind"], meld["tile"])))
    if own["revealed"]:
        parts.append("亮 revealed")
    if own["waits"]:
        parts.append("听 " + "".join(f"{_tile(wait['tile'])}×{wait['live']} " for wait in own["waits"]))
    return gap.join(parts)


def _wins(tables: one_round.Tables) -> str:
    rows = []
    for win in tables["wins"]:
        names = NAMES[tables["rounds"][0]["suits"] or "ps"]
        paid = "" if win["from_seat"] is None else f" ← {win['from_seat']}"
        fans = ", ".join(map(_fan, win["fans"] or ())) or "平胡 no fan"
        recorded = "" if win["recorded_fans"] is None else ", ".join(map(_fan, win["recorded_fans"])) or "–"
        multiple = "" if win["recorded_multiple"] is None else win["recorded_multiple"]
        who = f"{win['seat']}{paid}", _both("end", win["by"]), _tile(names[win["tile"]])
        rows.append((*who, fans, win["multiple"], recorded, multiple))
    head = ("座位 seat", "", "", "番型 fans", "番数 multiple", "记录番型 recorded fans", "记录番数 recorded")
    return f"<h2>胡牌 Wins</h2>{_table(rows, head)}" if rows else f"<h2>{_both('end', tables['rounds'][0]['end'])}</h2>"


def _ledger(tables: one_round.Tables) -> str:
    rows = []
    for line in tables["ledger"]:
        net = {line["from_seat"]: -line["points"], line["to_seat"]: line["points"]}
        rows.append([_both("cause", line["cause"]), *(f"{net[seat]:+d}" if seat in net else "" for seat in range(3))])
    rows.append(["<b>重算 recomputed</b>", *(f"<b>{seat['points']:+d}</b>" for seat in tables["seats"])])
    recorded = [seat["recorded_points"] for seat in tables["seats"]]
    if None not in recorded:
        rows.append(["<b>记录 recorded</b>", *(f"<b>{points:+d}</b>" for points in recorded)])
        wrong = recorded != [seat["points"] for seat in tables["seats"]]
        bad = [False] * (len(rows) - 1) + [wrong]
    else:
        bad = []
    head = ("账目 ledger", *(f"座位 seat {seat}" for seat in range(3)))
    return f"<h2>结算 Payment</h2>{_table(rows, head, bad)}"


def _steps(tables: one_round.Tables, steps: Sequence[Mapping[str, Any]]) -> str:
    wrong = {problem["event"] for problem in tables["problems"]}
    rows: list[Sequence[object]] = [("", seat, "配牌 dealt", "", _hand(steps[0], seat)) for seat in range(3)]
    bad = [False] * 3
    for frame in steps[1:]:
        seat = frame["seat"]
        what = _both("verb", frame["verb"]) + (f" {_tile(frame['tile'])}" if frame["tile"] else "")
        if frame["source"] is not None:
            what += f" ← {frame['source']}"
        hand = "" if seat is None else _hand(frame, seat)
        rows.append((frame["no"], "" if seat is None else seat, what, frame["wall_left"], hand))
        bad.append(frame["no"] in wrong)
    head = ("#", "座位 seat", "动作 event", "牌墙 wall", "之后的手牌 hand after it")
    return f"<h2>牌谱 Every event</h2>{_table(rows, head, bad)}"


def _rules(row: Mapping[str, Any]) -> str:
    try:
        rows = rules_text.explanation(row["ruleset"], json.loads(row["options"] or "{}"))
    except RulesetError:
        return ""
    cells = [
        (f"<code>{escape(rule['key'])}</code>", escape(text(rule["value"])), escape(text(rule["base"])),
         escape(f"{rule['zh']} · {rule['en']}" + (f" 「{rule['words']}」" if rule["words"] else "")))
        for rule in rows if rule["value"] != rule["base"]
    ]  # fmt: skip
    head = ("规则项 key", "值 value", "基础 base", "")
    return f"<h2>规则 Rules that differ from base</h2>{_table(cells, head)}" if cells else ""


def _record(tables: one_round.Tables, ident: str) -> str:
    row = tables["rounds"][0]
    again = shlex.join(["kwx", "show", ident, row["source"]])
    out = f"<h2>复核 Check it again</h2><pre>{escape(again)}</pre>"
    if tables["raw"] and tables["raw"][0]["raw"] is not None:
        out += f"<h2>原始记录 The record as written</h2><pre>{escape(tables['raw'][0]['raw'])}</pre>"
    return out
