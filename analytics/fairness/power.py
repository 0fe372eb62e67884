"""What the audit finds of planted cheats, measured: tables and curves of power.csv for docs/audit.md.

power.csv is made by benchmarks/fairness_power.py.  The rows of an audit quote their power by their own arithmetic; the
curves show both, so that one can see how far to trust it.
"""

import csv
from collections.abc import Sequence
from functools import cache
from html import escape
from math import log
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("power.csv")
ACROSS, WIDTH, HEIGHT, EDGE, TOP = 5, 190, 130, 26, 30  # panels in a row; of a panel
COLOURS = ("#3b7fc4", "#d07a1e", "#4b9b5f")


class Point(NamedTuple):
    """One size of a cheat at one number of rounds."""

    rounds: int
    n: int  # of what the row counts, on average
    repetitions: int
    found: int
    expected: float | None  # by the row's own arithmetic


class Curve(NamedTuple):
    """One row of the audit against one cheat."""

    check: int
    row: str
    cheat: str
    sizes: dict[str, list[Point]]


@cache
def curves() -> list[Curve]:
    """All curves in the file's order."""
    found: dict[tuple[int, str, str], dict[str, list[Point]]] = {}
    with FILE.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            sizes = found.setdefault((int(line["check"]), line["row"], line["cheat"]), {})
            numbers = (int(line[name]) for name in ("rounds", "n", "repetitions", "found"))
            point = Point(*numbers, float(line["expected"]) if line["expected"] else None)
            sizes.setdefault(line["size"], []).append(point)
    return [Curve(*key, sizes) for key, sizes in found.items()]


def named(cheat: str) -> str:
    """A cheat as docs/cheats.md writes it, without the accounts."""
    name, _, arguments = cheat.partition(":")
    rest = [one for one in arguments.split(",") if "{who}" not in one and "{other}" not in one]
    return ":".join([name, ",".join(rest).replace("{size}", "…")]) if rest else name


def table(of: Sequence[Curve]) -> list[str]:
    """One line of Markdown a curve and size."""
    out = ["| check | row | cheat | size | found of repetitions (by the row's own arithmetic), by rounds |"]
    out.append("|---|---|---|---|---|")
    for curve in of:
        for size, points in curve.sizes.items():
            told = "; ".join(
                f"{point.rounds:,}: {point.found}/{point.repetitions}"
                + (f" ({point.expected:.2f})" if point.expected is not None else "")
                for point in points
            )
            out.append(f"| {curve.check} | `{curve.row}` | `{named(curve.cheat)}` | {size} | {told} |")
    return out


def svg(of: Sequence[Curve]) -> str:
    """The curves as small panels: share found against rounds, and what the rows expect (dashed)."""
    rows = -(-len(of) // ACROSS)
    width, height = ACROSS * WIDTH, rows * (HEIGHT + TOP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui,sans-serif" font-size="9"><title>Share of planted cheats found, against rounds; '
        'dashed: what the rows of an audit expect</title><rect width="100%" height="100%" fill="#fff"/>'
    ]
    for place, curve in enumerate(of):
        out += panel(curve, place % ACROSS * WIDTH, place // ACROSS * (HEIGHT + TOP))
    return "\n".join([*out, "</svg>"]) + "\n"


def panel(curve: Curve, left: int, top: int) -> list[str]:
    """One curve's panel."""
    counts = sorted({point.rounds for points in curve.sizes.values() for point in points})
    low, span = log(counts[0]), max(log(counts[-1]) - log(counts[0]), 1e-9)

    def at(rounds: int, share: float) -> str:
        x = left + EDGE + (log(rounds) - low) / span * (WIDTH - EDGE - 14)
        return f"{x:.1f},{top + TOP + (1 - share) * (HEIGHT - EDGE):.1f}"

    out = [f'<text x="{left + EDGE}" y="{top + 12}" font-weight="600">{curve.check} {escape(curve.row)}</text>',
           f'<text x="{left + EDGE}" y="{top + 23}" fill="#555">{escape(named(curve.cheat))}</text>']  # fmt: skip
    below = top + TOP + HEIGHT - EDGE + 11
    for share in (0, 0.5, 1):
        start, end = at(counts[0], share), at(counts[-1], share)
        y = float(start.split(",")[1])
        out.append(f'<polyline points="{start} {end}" fill="none" stroke="#ddd"/>')
        out.append(f'<text x="{left + EDGE - 4}" y="{y + 3:.1f}" text-anchor="end" fill="#555">{share:g}</text>')
    for rounds in (counts[0], counts[-1]):
        x = at(rounds, 0).split(",")[0]
        out.append(f'<text x="{x}" y="{below}" text-anchor="middle" fill="#555">{rounds}</text>')
    for colour, points in zip(COLOURS, curve.sizes.values(), strict=False):
        seen = " ".join(at(point.rounds, point.found / point.repetitions) for point in points)
        out.append(f'<polyline points="{seen}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        told = [at(point.rounds, point.expected) for point in points if point.expected is not None]
        if len(told) > 1:
            out.append(f'<polyline points="{" ".join(told)}" fill="none" stroke="{colour}" stroke-dasharray="3 2"/>')
    keys = "".join(
        f'<tspan fill="{colour}" dx="5">{escape(size)}</tspan>'
        for colour, size in zip(COLOURS, curve.sizes, strict=False)
    )
    return [*out, f'<text x="{left + WIDTH / 2 + 6}" y="{below}" text-anchor="middle">{keys}</text>']
