"""The dashboard's navigation; every page is a file of page/."""

import os

import streamlit as st

from dashboard import dataset, i18n, library, screen

PAGES = {
    "overview": ":material/monitoring:",
    "fans": ":material/category:",
    "reveal": ":material/visibility:",
    "pace": ":material/speed:",
    "seats": ":material/groups_3:",
    "player": ":material/person:",
    "rounds": ":material/playing_cards:",
    "payouts": ":material/balance:",
    "data": ":material/fact_check:",
    "rules": ":material/menu_book:",
    "fairness": ":material/verified_user:",
    "together": ":material/hub:",
    "methods": ":material/function:",
    "start": ":material/upload_file:",
}

st.set_page_config(page_title="kwx", page_icon="🀄", layout="wide")
st.html(
    "<style>.stMainBlockContainer {padding: 2.2rem 2.5rem 4rem; max-width: 1500px}"
    "@media (max-width: 800px) {.stMainBlockContainer {padding: 4rem 1rem 3rem}}"
    "@media (max-width: 1050px) {.stHorizontalBlock:has(.stVegaLiteChart) {flex-direction: column}"
    ".stHorizontalBlock:has(.stVegaLiteChart) > .stColumn {width: 100%; flex: 1 1 auto}}"
    "@media (max-width: 1050px) {.stHorizontalBlock:is(:has(.stMetric), :has(.stDateInput)) {flex-wrap: wrap}"
    ".stHorizontalBlock:has(.stMetric) > .stColumn {flex: 1 1 30%; min-width: 30%}"
    ".stHorizontalBlock:has(.stDateInput) > .stColumn {flex: 1 1 45%; min-width: 45%}}"
    ".stApp :is(a, button, summary):focus-visible {outline: 2px solid #3b7fc4 !important; outline-offset: 1px}"
    ":is([data-testid='stMetricLabel'], [data-testid='stMetricLabel'] *)"
    "{white-space: normal !important; overflow: visible !important}"
    ".stVegaLiteChart svg {max-width: 100%; height: auto}"
    "[data-testid='stMetricValue'] {font-variant-numeric: tabular-nums}</style>"
)
language = screen.keep_language()
page = st.navigation(
    [
        st.Page(f"page/{name}.py", title=screen.t(f"page.{name}"), icon=icon, url_path=name, default=name == "overview")
        for name, icon in PAGES.items()
    ],
    expanded=True,
)


def switch() -> None:
    """Takes the language that was picked."""
    if st.session_state["language"]:
        st.session_state["lang"] = st.query_params["lang"] = st.session_state["language"]


@st.fragment(run_every=5)
def follow(shown: object) -> None:
    """Draws the page anew when another data set has been loaded."""
    if dataset.stamp() != shown:
        st.rerun()


with st.sidebar:
    st.segmented_control(
        screen.t("app.language"),
        list(i18n.LANGUAGES),
        default=language,
        required=True,
        format_func=i18n.LANGUAGES.__getitem__,
        key="language",
        on_change=switch,
    )
    sets = library.names()
    if sets:
        served = [None] if os.environ.get(dataset.VARIABLE) else []
        options = [*served, *sets]
        at = dataset.chosen()
        st.session_state["data-set"] = at if at in options else None
        st.selectbox(
            screen.t("app.data_set"), options, key="data-set", placeholder=screen.t("app.none"),
            format_func=lambda name: screen.t("app.served") if name is None else name,
            on_change=lambda: dataset.show(st.session_state["data-set"]),
        )  # fmt: skip
    follow(dataset.stamp())
page.run()
