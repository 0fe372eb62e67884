"""Mahjong tiles as SVG drawings of our own: 筒 circles, 条 canes, 万 numerals, 白 发 中.

Every drawing is plain geometry, characters included, so that a tile looks the same where no Chinese font is
installed and needs no request to anywhere.  A suit is told by its shape first and by its colour second: rings, canes
and strokes stay apart for the colour-blind and in greyscale.  The unit is a face of 30 × 42.
"""

from collections.abc import Iterable

WIDTH, HEIGHT = 30, 42

_BLUE, _GREEN, _RED, _INK, _IVORY = "#1d5a9e", "#0b6e4f", "#b3261e", "#22262b", "#fdfaf1"

# Strokes of the characters on a 20 × 20 square.
_STROKES = {
    1: "M2 10H18",
    2: "M4 6H16M2 15H18",
    3: "M4 4H16M5 10H15M2 16.5H18",
    4: "M2.5 4.5H17.5V17H2.5ZM8 5Q8 11 5 13M12 5V11.5Q12 12.7 15 12.5",
    5: "M3 3.5H17M9.3 3.5L7 16.8M4 9.7H15V16.8M1.5 16.8H18.5",
    6: "M9 1.5L11 5M2 7.5H18M7.5 11Q6 15 2.5 18M12 11L17.5 17.5",
    7: "M2 9.7L18 7M9 2.5V15Q9 17.5 11.5 17.5H16Q18 17.5 18 14",
    8: "M7.5 5Q6.5 12 2 17.5M11 3.5Q13 12 18.5 17.5",
    9: "M3 7.5H13.5V15Q13.5 17.6 16 17.6Q18.5 17.6 18.5 14M8.5 2Q9 12.5 2 18",
    "万": "M2 4H18M8 4Q8.5 13 3 18M7.8 9H15.7Q15.4 14 14.4 16.6Q13.7 18.2 11 17.4",
    "中": "M3 6H17V13.3H3ZM10 1.5V19",
    "发": (
        "M6.3 2.8L4.8 7.6H17.5M10.4 2Q9 12.5 2 18M8.7 11.7H15.2Q12.8 16.3 7.4 18.6"
        "M8.6 12Q12 16.6 18 18.4M13.4 2.6L16 5.2"
    ),
}

# Where the pips of rank n stand: (column 0-2, row 0-2) in a 3 × 3 grid, halves allowed.
_CIRCLES = {
    2: [(1, 0.2), (1, 1.8)],
    3: [(0.1, 0), (1, 1), (1.9, 2)],
    4: [(0.25, 0.15), (1.75, 0.15), (0.25, 1.85), (1.75, 1.85)],
    5: [(0.1, 0), (1.9, 0), (1, 1), (0.1, 2), (1.9, 2)],
    6: [(0.3, 0), (1.7, 0), (0.3, 1), (1.7, 1), (0.3, 2), (1.7, 2)],
    7: [(0, -0.1), (1, 0.25), (2, 0.6), (0.35, 1.35), (1.65, 1.35), (0.35, 2.1), (1.65, 2.1)],
    8: [(0.35, -0.2), (1.65, -0.2), (0.35, 0.55), (1.65, 0.55), (0.35, 1.35), (1.65, 1.35), (0.35, 2.15), (1.65, 2.15)],
    9: [(x, y) for y in (0, 1, 2) for x in (0, 1, 2)],
}
_RADIUS = {2: 6, 3: 5, 4: 5.4, 5: 4.5, 6: 4.8, 7: 3.9, 8: 3.8, 9: 4}
_CANES = {
    2: [(1, 0.25), (1, 1.75)],
    3: [(1, 0.25), (0.25, 1.75), (1.75, 1.75)],
    4: [(0.3, 0.25), (1.7, 0.25), (0.3, 1.75), (1.7, 1.75)],
    5: [(0.1, 0.25), (1.9, 0.25), (1, 1), (0.1, 1.75), (1.9, 1.75)],
    6: [(0.05, 0.25), (1, 0.25), (1.95, 0.25), (0.05, 1.75), (1, 1.75), (1.95, 1.75)],
    7: [(1, -0.1), (0.05, 1), (1, 1), (1.95, 1), (0.05, 2.1), (1, 2.1), (1.95, 2.1)],
    8: [(-0.1, 0.25), (0.6, 0.25, -20), (1.4, 0.25, 20), (2.1, 0.25)]
    + [(-0.1, 1.75), (0.6, 1.75, 20), (1.4, 1.75, -20), (2.1, 1.75)],
    9: [(x, y) for y in (-0.1, 1, 2.1) for x in (0.05, 1, 1.95)],
}


def _place(column: float, row: float) -> tuple[float, float]:
    return 7 + column * 8, 10.3 + row * 10.7


def _circle(x: float, y: float, radius: float) -> str:
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius - 0.8:.1f}" fill="none" stroke="{_BLUE}" stroke-width="1.7"/>'
    return ring + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius * 0.32:.1f}" fill="{_BLUE}"/>'


def _cane(x: float, y: float, tall: float, wide: float, angle: float = 0) -> str:
    turn = f' transform="rotate({angle} {x:.1f} {y:.1f})"' if angle else ""
    left, top = x - wide / 2, y - tall / 2
    return (
        f'<g{turn}><rect x="{left:.1f}" y="{top:.1f}" width="{wide}" height="{tall}" rx="1.7" fill="{_GREEN}"/>'
        f'<path d="M{left:.1f} {y:.1f}h{wide}" stroke="{_IVORY}" stroke-width=".9"/></g>'
    )


def _strokes(key: int | str, x: float, y: float, size: float, colour: str, width: float) -> str:
    scale = size / 20
    return (
        f'<path d="{_STROKES[key]}" transform="translate({x} {y}) scale({scale:.3f})" fill="none" stroke="{colour}" '
        f'stroke-width="{width / scale:.2f}" stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _pips(rank: int, suit: str) -> str:
    if suit == "p" and rank == 1:
        ring = f'<circle cx="15" cy="21" fill="none" stroke="{_BLUE}"'
        rings = f'{ring} r="10.5" stroke-width="2.2"/>{ring} r="6.2" stroke-width="1.6"/>'
        return rings + f'<circle cx="15" cy="21" r="2.6" fill="{_BLUE}"/>'
    if suit == "p":
        return "".join(_circle(*_place(*place), _RADIUS[rank]) for place in _CIRCLES[rank])
    if rank == 1:
        leaves = f'<path d="M15 12Q8 11 5.5 5Q13 5 15 12Q17 5 24.5 5Q22 11 15 12Z" fill="{_GREEN}"/>'
        return leaves + _cane(15, 25, 24, 6.4)
    tall, wide = (9.6 if rank in (7, 9) else 13.6), (3.7 if rank == 8 else 4.6)
    return "".join(_cane(*_place(*place[:2]), tall, wide, *place[2:]) for place in _CANES[rank])


def _drawing(name: str) -> str:
    rank, suit = int(name[0]), name[1]
    if suit == "m":
        return _strokes(rank, 7, 3.4, 16, _INK, 2.2) + _strokes("万", 7, 22, 16, _RED, 2.1)
    if suit != "z":
        return _pips(rank, suit)
    if rank == 7:
        return _strokes("中", 4.5, 9.5, 21, _RED, 3)
    if rank == 6:
        return _strokes("发", 4.5, 9.5, 21, _GREEN, 2.7)
    frame = f'fill="none" stroke="{_BLUE}"'
    return f'<rect x="6.5" y="8" width="17" height="26" rx="1.5" {frame} stroke-width="2.4"/>' + (
        f'<rect x="10" y="11.5" width="10" height="19" {frame} stroke-width="1"/>'
    )


_EDGE = 'x=".75" y=".75" width="28.5" height="40.5" rx="4" stroke-width="1.2"'
_FACE = f'<rect {_EDGE} fill="{_IVORY}" stroke="#8f887a"/>'
_BACK = (
    f'<rect {_EDGE} fill="#5d7185" stroke="#3f4e5c"/>'
    '<path d="M15 6L24 21L15 36L6 21ZM15 13L19.5 21L15 29L10.5 21Z" fill="none" stroke="#b9c6d2" stroke-width="1.3"/>'
)
NAMES = tuple(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)) + ("5z", "6z", "7z")


def sprite() -> dict[str, str]:
    """The drawing of every tile by its MPSZ name, and "back": the inside of an SVG of WIDTH × HEIGHT units."""
    return {name: _FACE + _drawing(name) for name in NAMES} | {"back": _BACK}


def strip(names: Iterable[str], height: int = 34) -> str:
    """Tiles side by side as one stand-alone SVG text, `height` pixels tall; "" leaves a gap of a third of a tile."""
    drawings, parts, x = sprite(), [], 0.0
    for name in names:
        if name:
            parts.append(f'<g transform="translate({x:.0f} 0)">{drawings[name]}</g>')
        x += WIDTH if name else WIDTH / 3
    size = f'width="{x * height / HEIGHT:.0f}" height="{height}" viewBox="0 0 {max(x, 1):.0f} {HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'
