"""The round viewer: a component of static files, fed once with every frame of a round; it steps in the browser."""

from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "kwx_viewer",
    js=(HERE / "viewer.js").read_text(encoding="utf-8"),
    css=(HERE / "viewer.css").read_text(encoding="utf-8"),
)


def viewer(data: dict[str, Any]) -> None:
    """Shows the round that `dashboard.show.round_data` prepared."""
    _mount(key="viewer", data=data)
