"""Rounds: the list with its filters, and one round step by step."""

import streamlit as st

from dashboard import data, round_view, screen
from dashboard.listing import listing
from dashboard.replayer import viewer
from dashboard.screen import t, word

FILTERS = (
    "player",
    "fan",
    "multiple",
    "reveal",
    "double",
    "code",
    "verdict",
    "ruleset",
    "site",
    "since",
    "until",
    "sort",
)


def clear() -> None:
    """Takes every filter back."""
    for name in FILTERS:
        st.session_state[name] = [] if name == "fan" else False if name in ("reveal", "double") else None
    st.session_state["sort"] = "log"
    st.query_params.pop("page", None)


def rewind() -> None:
    """A changed filter starts at the first page."""
    st.query_params.pop("page", None)


def filters() -> data.Filter:
    """The filters, each in the address."""
    bound = {"bind": "query-params", "on_change": rewind}
    pick = {"index": None, "placeholder": t("app.all"), **bound}
    a, b, c, d = st.columns(4)
    player = a.selectbox(
        t("rounds.player"),
        data.players(),
        key="player",
        accept_new_options=True,
        **{**pick, "placeholder": t("rounds.player_hint")},
    )
    fans = b.multiselect(
        t("rounds.fan"), data.choices("fan"), key="fan", format_func=screen.fan, placeholder=t("app.all"), **bound
    )
    verdict = c.selectbox(
        t("rounds.verdict"), data.choices("verdict"), key="verdict", format_func=lambda v: word("verdict", v), **pick
    )
    code = d.selectbox(
        t("rounds.problem"), data.choices("code"), key="code", format_func=lambda v: word("code", v), **pick
    )
    a, b, c, d = st.columns(4)
    ruleset = a.selectbox(t("rounds.ruleset"), data.rulesets(), key="ruleset", format_func=screen.rules_name, **pick)
    site = b.selectbox(t("rounds.site"), data.choices("site"), key="site", **pick)
    since = c.date_input(t("rounds.since"), value=None, key="since", format="YYYY-MM-DD", **bound)
    until = d.date_input(t("rounds.until"), value=None, key="until", format="YYYY-MM-DD", **bound)
    a, b, c, d = st.columns(4, vertical_alignment="bottom")
    multiple = a.number_input(
        t("rounds.multiple"), min_value=1, value=None, step=1, key="multiple", placeholder="×", **bound
    )
    order = b.selectbox(
        t("rounds.sort"),
        list(data.SORTS),
        key="sort",
        format_func=lambda name: t(f"sort.{name}"),
        **{**bound, "index": 0},
    )
    with c:
        reveal = st.checkbox(t("rounds.reveal"), key="reveal", **bound)
        double = st.checkbox(t("rounds.double"), key="double", **bound)
    d.button(t("rounds.clear"), on_click=clear)
    return data.Filter(
        player, tuple(sorted(fans)), multiple, reveal, double, code, verdict, ruleset, site, since, until, order
    )


def rows(chosen: data.Filter, offset: int) -> list:
    """One page of the list, as rows of a listing."""
    out = []
    for row in data.list_rounds(chosen, offset).iter_rows(named=True):
        wins = row["wins"] or []
        hands = [
            {
                "seat": win["seat"],
                "tiles": [screen.tile_names(win["hand"], row["suits"]), screen.tile_names([win["tile"]], row["suits"])],
            }
            for win in wins
        ]
        seats = zip(row["players"] or [], row["points"] or [], strict=True)
        cells = [
            row["id"],
            screen.when(row["time_ms"]) if row["time_ms"] is not None else t("app.none"),
            screen.rules_name(row["ruleset"]),
            [{"seat": seat, "name": name or "", "points": points} for seat, (name, points) in enumerate(seats)],
            hands or None,
            [{"label": screen.fan(fan)} for win in wins for fan in win["fans"] or []]
            or ([{"label": word("end", row["end"])}] if not wins else []),
            max((win["multiple"] or 0 for win in wins), default=None),
            {"kind": row["verdict"], "label": word("verdict", row["verdict"])},
            [{"label": word("code", code), "kind": row["verdict"]} for code in row["codes"] or []],
        ]
        out.append((row["id"], screen.address("rounds", round=row["id"]), cells))
    return out


def the_list() -> None:
    """Filters, count, one page."""
    chosen = filters()
    total = data.count_rounds(chosen)
    st.caption(t("rounds.found", n=total))
    if not total:
        st.info(t("rounds.nothing"))
        return
    offset = screen.pager("page", total, data.PAGE_ROWS)
    names = ("round", "time", "ruleset", "players", "hand", "fans", "multiple", "verdict", "problems")
    kinds = ("text", "text", "text", "seats", "hands", "chips", "number", "mark", "chips")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("rounds", columns, rows(chosen, offset), caption=t("rounds.caption"), labels=screen.tile_labels())
    if opened:
        st.query_params["round"] = opened
        st.rerun()


def leave() -> None:
    """Back to the list."""
    for name in ("round", "event", "pov"):
        st.query_params.pop(name, None)


def show(id: str | None) -> None:
    """Opens another round."""
    leave()
    st.query_params["round"] = id or ""


def number(name: str) -> int | None:
    """An integer of the address."""
    text = st.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else None


def the_round(id: str) -> None:
    """One round, step by step."""
    key = round_view.round_id(id)
    tables = data.round_tables(key) if key is not None else {"rounds": []}
    back, before, after, _ = st.columns([2, 2, 2, 5])
    back.button(t("rounds.back"), on_click=leave)
    if not tables["rounds"]:
        screen.line(t("rounds.bad_id" if key is None else "rounds.unknown", id=id))
        return
    row = tables["rounds"][0]
    near = data.neighbours(row["game_key"], row["round"])
    before.button(t("rounds.previous"), disabled=near[0] is None, on_click=show, args=(near[0],))
    after.button(t("rounds.next"), disabled=near[1] is None, on_click=show, args=(near[1],))
    site = f"{row['site']} / " if row["site"] else ""
    screen.line(f"{site}{row['game']} / {row['round']}", "font-size:1.25rem;font-weight:600", "h2")
    facts = t(
        "rounds.facts", ruleset=screen.rules_name(row["ruleset"]), base=row["base"], time=screen.when(row["time_ms"])
    )
    screen.line(f"{facts} · {word('verdict', row['verdict'])} – {t('verdict_more.' + row['verdict'])}", "opacity:.75")
    viewer(round_view.viewer_data(id, tables, number("event"), (number("pov") or 0) % 3))


def page() -> None:
    """The round that the address names, else the list."""
    id = st.query_params.get("round")
    if not id:
        st.title(t("rounds.title"))
    if screen.ready() is None:
        return
    if id:
        the_round(id)
    else:
        the_list()


page()
