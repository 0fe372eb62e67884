"""The dashboard's navigation; every page is a file of page/."""

import streamlit as st

from dashboard import dataset, i18n, screen

PAGES = {
    "overview": ":material/monitoring:",
    "fans": ":material/category:",
    "reveal": ":material/visibility:",
    "rounds": ":material/playing_cards:",
    "payouts": ":material/balance:",
    "data": ":material/fact_check:",
    "rules": ":material/menu_book:",
}

st.set_page_config(page_title="kwx", page_icon="🀄", layout="wide")
st.html(
    "<style>.stMainBlockContainer {padding: 2.2rem 2.5rem 4rem; max-width: 1500px}"
    "@media (max-width: 800px) {.stMainBlockContainer {padding: 4rem 1rem 3rem}}"
    "@media (max-width: 1050px) {.stHorizontalBlock:has(.stVegaLiteChart) {flex-direction: column}"
    ".stHorizontalBlock:has(.stVegaLiteChart) > .stColumn {width: 100%; flex: 1 1 auto}}"
    "[data-testid='stMetricValue'] {font-variant-numeric: tabular-nums}</style>"
)
language = screen.keep_language()
page = st.navigation(
    [
        st.Page(f"page/{name}.py", title=screen.t(f"page.{name}"), icon=icon, url_path=name, default=name == "overview")
        for name, icon in PAGES.items()
    ]
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
    follow(dataset.stamp())
page.run()
