"""A table with drawn tiles in its cells and rows that open something: a component of static files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import tiles
from dashboard.bundle import script

HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "kwx_listing",
    js=script(HERE / "listing.js"),
    css=(HERE / "listing.css").read_text(encoding="utf-8"),
)


def listing(
    key: str,
    columns: Sequence[tuple[str, str] | tuple[str, str, str]],
    rows: Sequence[tuple[str | None, str | None, Sequence[Any]]],
    *,
    caption: str,
    labels: dict[str, str],
    selected: str | None = None,
) -> str | None:
    """Draws the table; the id of the row just opened, else None.

    columns: (kind, label), or (kind, label, explanation) for a tooltip.  rows: (id, address, cells); a row with id None
    opens nothing.  Cells by kind: text, code, number, points and seat are what they are; place {"label", "more"}; mark
    {"kind", "label", "chips"}; chips a list of {"label", "kind"}; seats a list of {"seat", "name", "points"}; hands a
    list of {"seat", "tiles": groups of tile names}; lines a list of points; estimate {"value", "more": its interval,
    "few": greyed, "sign": its colour}; open {"id", "href", "label"}, a second thing to open.  labels: names of tiles,
    for readers who cannot see the drawings.
    """
    hands = [cell for _, _, cells in rows for (kind, *_), cell in zip(columns, cells, strict=True) if kind == "hands"]
    names = {name for cell in hands for hand in cell or [] for group in hand["tiles"] for name in group}
    data = {
        "columns": [dict(zip(("kind", "label", "hint"), column, strict=False)) for column in columns],
        "rows": [{"id": id, "href": href, "cells": list(cells)} for id, href, cells in rows],
        "tiles": {name: drawing for name, drawing in tiles.sprite().items() if name in names},
        "labels": {name: labels[name] for name in sorted(names)},
        "caption": caption,
        "selected": selected,
    }
    return _mount(key=key, data=data, on_open_change=lambda: None).open
