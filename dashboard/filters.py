"""Filters whose values stand in the address, as codes: a view with its filters is a link in either language.

The address is the only state: a widget that changes writes it, and every run sets the widgets from it.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import streamlit as st

from dashboard import data, screen
from dashboard.queries import behind
from dashboard.screen import t, word

NAMES = (
    "player",
    "fan",
    "verdict",
    "code",
    "ruleset",
    "site",
    "since",
    "until",
    "multiple",
    "sort",
    "reveal",
    "double",
    "behind",
)
FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2199, 12, 31)
PAGE = "page"  # a changed filter starts at the first page of its listing


def put(name: str, value: Any, page: str = PAGE) -> None:
    """Writes a value to the address; an empty one is taken out."""
    st.query_params.pop(page, None)
    if value in (None, "", [], (), False):
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = [str(item) for item in value] if isinstance(value, list | tuple) else str(value)


def bind(name: str, value: Any, page: str = PAGE) -> dict[str, Any]:
    """Key and callback that tie a widget to `name` of the address, whose value it shows."""
    key = f"filter-{name}"
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: put(name, st.session_state[key], page)}


def read(name: str, parse: Callable[[str], Any] = str) -> Any:
    """The value of the address; None when there is none or it cannot be one."""
    try:
        return parse(st.query_params[name])
    except (KeyError, ValueError):
        return None


def one_of(options: Sequence[str]) -> Callable[[str], str]:
    """A parser that lets only these through."""

    def parse(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    return parse


def pick(
    where: Any, label: str, name: str, options: Sequence[str], shown: Callable[[str], str] = str, page: str = PAGE,
    placeholder: str | None = None,
) -> str | None:
    """A choice of one code or all (`placeholder` says what none means); the code."""
    tied = bind(name, read(name, one_of(options)), page)
    hint = placeholder or t("app.all")
    return where.selectbox(label, options, index=None, placeholder=hint, format_func=shown, **tied)


def count(text: str) -> int:
    """A parser of small positive integers."""
    number = int(text)
    if not 1 <= number <= 1_000_000:
        raise ValueError(text)
    return number


def day(text: str) -> date:
    """A parser of days, YYYY-MM-DD."""
    found = date.fromisoformat(text)
    if not FIRST_DAY <= found <= LAST_DAY:
        raise ValueError(text)
    return found


def clear() -> None:
    """Takes every filter of rounds out of the address."""
    for name in (*NAMES, PAGE):
        st.query_params.pop(name, None)


def of_statistics(*more: str) -> dict[str, Any]:
    """Draws the filters that statistics of the whole data set share; those that are set, as `where` of analytics.

    more: names of the address that go back to nothing when one of these changes.
    """
    a, b, c, d = st.columns(4)
    span = {"value": None, "format": "YYYY-MM-DD", "min_value": FIRST_DAY, "max_value": LAST_DAY}
    page = more[0] if more else PAGE
    found = {
        "ruleset": pick(a, t("rounds.ruleset"), "ruleset", data.rulesets(), screen.rules_name, page),
        "site": pick(b, t("rounds.site"), "site", data.choices("site"), page=page),
        "since": c.date_input(t("rounds.since"), **span, **bind("since", read("since", day), page)),
        "until": d.date_input(t("rounds.until"), **span, **bind("until", read("until", day), page)),
    }
    return {name: value for name, value in found.items() if value is not None}


def drop_behind() -> None:
    """Lists rounds whatever picture they stand behind."""
    put("behind", None)


def of_rounds() -> data.Filter:
    """Draws the filters of the round list and returns what they let through."""
    what = read("behind", behind.parse)
    if what:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(behind.words(what), icon=":material/filter_alt:")
            st.button(t("rounds.drop_behind"), on_click=drop_behind, type="tertiary")
    a, b, c, d = st.columns(4)
    player = a.selectbox(
        t("rounds.player"), data.players(), index=None, placeholder=t("rounds.player_hint"), accept_new_options=True,
        **bind("player", read("player")),
    )  # fmt: skip
    known = data.choices("fan")
    fans = b.multiselect(
        t("rounds.fan"), known, format_func=screen.fan, placeholder=t("app.all"),
        **bind("fan", [fan for fan in st.query_params.get_all("fan") if fan in known]),
    )  # fmt: skip
    verdict = pick(c, t("rounds.verdict"), "verdict", data.choices("verdict"), lambda code: word("verdict", code))
    code = pick(d, t("rounds.problem"), "code", data.choices("code"), lambda code: word("code", code))
    a, b, c, d = st.columns(4)
    ruleset = pick(a, t("rounds.ruleset"), "ruleset", data.rulesets(), screen.rules_name)
    site = pick(b, t("rounds.site"), "site", data.choices("site"))
    span = {"value": None, "format": "YYYY-MM-DD", "min_value": FIRST_DAY, "max_value": LAST_DAY}
    since = c.date_input(t("rounds.since"), **span, **bind("since", read("since", day)))
    until = d.date_input(t("rounds.until"), **span, **bind("until", read("until", day)))
    a, b, c, d = st.columns(4, vertical_alignment="bottom")
    multiple = a.number_input(
        t("rounds.multiple"), min_value=1, max_value=1_000_000, value=None, step=1, placeholder="×",
        **bind("multiple", read("multiple", count)),
    )  # fmt: skip
    orders = list(data.SORTS)
    order = b.selectbox(
        t("rounds.sort"), orders, format_func=lambda name: t(f"sort.{name}"),
        **bind("sort", read("sort", one_of(orders)) or orders[0]),
    )  # fmt: skip
    with c:
        reveal = st.checkbox(t("rounds.reveal"), **bind("reveal", read("reveal") == "True"))
        double = st.checkbox(t("rounds.double"), **bind("double", read("double") == "True"))
    d.button(t("rounds.clear"), on_click=clear)
    return data.Filter(
        player, tuple(sorted(fans)), multiple, reveal, double, code, verdict, ruleset, site, since, until, order, what
    )
