"""The round viewer: a component of static files, fed once with every frame of a round; it steps in the browser.

state.js     where it stands, whose eyes, which overlays; how it moves
keys.js      the keys
table.js     seats, hands, melds, rivers, the wall
overlays.js  shanten, waits, useful tiles, danger, draw luck
options.js   what the seat could do, and what it is worth once played out
lanes.js     a lane of events per seat
ledger.js    payments, wins, problems
export.js    link, log line, text, picture
viewer.js    puts them together; icons.js its buttons
"""

from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.bundle import script

HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "kwx_viewer",
    js=script(HERE / "viewer.js"),
    css=(HERE / "viewer.css").read_text(encoding="utf-8"),
)


def viewer(data: dict[str, Any]) -> str | None:
    """Shows the round that `round_view.viewer_data` prepared; what was just asked for: "start 1", "stop 1" or None.

    The number is the seat whose decisions are to be played out, or no longer.
    """
    return _mount(key="viewer", data=data, on_review_change=lambda: None).review
