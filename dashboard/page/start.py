"""Start: what this is, the demo, and logs from the browser as a data set of their own."""

import streamlit as st

from dashboard import dataset, first_run, screen
from dashboard.screen import t


def page() -> None:
    """All of it, whatever there is to look at already."""
    st.title(t("start.title"))
    st.write(t("start.lead"))
    if dataset.state().kind in ("ready", "empty"):
        screen.link("overview", t("start.look"))
    first_run.panels()


page()
