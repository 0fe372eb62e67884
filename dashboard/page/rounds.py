"""Rounds: the list with its filters, and one round step by step."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from dashboard import data, filters, round_review, round_view, screen
from dashboard.listing import listing
from dashboard.replayer import viewer
from dashboard.screen import t, word

POLL = 0.7  # seconds between two looks at work that goes on

def rows(chosen: data.Filter, offset: int) -> list:
    """One page of the list, as rows of a listing."""
    out = []
    for row in data.list_rounds(chosen, offset).iter_rows(named=True):
        wins = row["wins"] or []
        fans = [{"label": screen.fan(fan)} for win in wins for fan in win["fans"] or []]
        seats = zip(row["players"] or [], row["points"] or [], strict=True)
        cells = [
            screen.place(row),
            [{"seat": seat, "name": name or "", "points": points} for seat, (name, points) in enumerate(seats)],
            screen.winning_hands(row, wins) or None,
            fans or ([] if wins else [{"label": word("end", row["end"] or "unknown")}]),
            max((win["multiple"] or 0 for win in wins), default=None),
            {
                "kind": row["verdict"],
                "label": word("verdict", row["verdict"]),
                "chips": [word("code", code) for code in row["codes"] or []],
            },
        ]
        at = {"round": row["id"], "event": row["event"]}
        out.append((urlencode({k: v for k, v in at.items() if v is not None}), screen.address("rounds", **at), cells))
    return out


def the_list() -> None:
    """Filters, count, one page."""
    chosen = filters.of_rounds()
    total = data.count_rounds(chosen)
    st.caption(t("rounds.found", n=total))
    if not total:
        st.info(t("rounds.nothing"))
        return
    offset = screen.pager(filters.PAGE, total, data.PAGE_ROWS)
    names = ("round", "players", "hand", "fans", "multiple", "verdict")
    kinds = ("place", "seats", "hands", "chips", "number", "mark")
    columns = [(kind, t(f"column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("rounds", columns, rows(chosen, offset), caption=t("rounds.caption"), labels=screen.tile_labels())
    if opened:
        st.query_params.update(parse_qsl(opened))
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
    tables = screen.find_round(id)
    with st.container(horizontal=True, gap="xsmall"):
        st.button(t("rounds.back"), on_click=leave)
        if tables:
            row = tables["rounds"][0]
            near = data.neighbours(row["game_key"], row["round"])
            st.button(t("rounds.previous"), disabled=near[0] is None, on_click=show, args=(near[0],))
            st.button(t("rounds.next"), disabled=near[1] is None, on_click=show, args=(near[1],))
    if not tables:
        screen.line(t("rounds.unknown", id=id))
        return
    facts = t(
        "rounds.facts", ruleset=screen.rules_name(row["ruleset"]), base=row["base"], time=screen.when(row["time_ms"])
    )
    verdict = f"{word('verdict', row['verdict'])} – {t('verdict_more.' + row['verdict'])}"
    screen.line(screen.round_name(id), "font-size:1.25rem;font-weight:600", "h2")
    screen.line(f"{facts} · {verdict}", "opacity:.75")
    # while decisions are played out, the viewer alone is drawn again and again
    again = round_review.running(id)
    st.fragment(replay, run_every=POLL if again else None)(id, tables, again)


def replay(id: str, tables: dict[str, list[dict[str, Any]]], again: bool) -> None:
    """The viewer; starts and stops what it asks for.  again: whether this is drawn again by itself."""
    asked = viewer(round_view.viewer_data(id, tables, number("event"), (number("pov") or 0) % 3))
    if asked:
        round_review.act(id, tables, asked)
    if again != round_review.running(id):
        st.rerun()


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
