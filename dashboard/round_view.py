"""One round prepared for the viewer: frames, ledger, wins and problems, each at the frame where it happened."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import streamlit as st

from dashboard import dataset, i18n, round_review, screen, tiles
from ingest import log_line
from replay import show_text, sight

Rows = list[dict[str, Any]]
KEYS = (
    ("←  →", "step"), ("↑  ↓", "own"), ("PgUp  PgDn", "key"), ("Home  End", "ends"), ("␣", "play"), ("h", "hide"),
    ("b", "copy"), ("?", "help"),
)  # fmt: skip


def viewer_data(id: str, tables: Mapping[str, Rows], event: int | None, pov: int) -> dict[str, Any]:
    """What the viewer shows: `tables` of dataset.round_tables, `event` the event number to open at (None: the deal)."""
    row, lang = tables["rounds"][0], screen.lang()
    steps = _frames(dataset.state().version, id, tables)
    numbers = {frame["no"]: at for at, frame in enumerate(steps) if frame["no"] is not None}
    last = len(steps) - 1
    ledger = _ledger(tables, numbers, last)
    for at, frame in enumerate(steps):
        frame["money"] = _money(ledger, at)
    seats = sorted(tables["seats"], key=lambda seat: seat["seat"])
    recorded = [seat["recorded_points"] for seat in seats]
    names = screen.tile_names(range(21), row["suits"])
    used = [*names, "back"]
    return {
        "signature": f"{id} {lang} {dataset.state().version}",
        "start": numbers.get(event, last if event is not None and event > last else 0),
        "pov": pov,
        "frames": steps,
        "wall": screen.tile_names(row["wall"], row["suits"]) or None,
        "players": [seat["player"] or "" for seat in seats] or ["", "", ""],
        "dealer": row["dealer"],
        "ledger": ledger,
        "recorded": None if not seats or None in recorded else recorded,
        "wins": [_win(win, numbers, last, names) for win in tables["wins"]],
        "problems": [_problem(problem, numbers) for problem in tables["problems"]],
        "review": round_review.known(id),
        "title": screen.round_name(id),
        "file": re.sub(r"[^\w.-]+", "_", screen.round_name(id)).strip("_")[:80] or "round",
        "line": log_line.line(tables),
        "lines": show_text.render(tables),
        "tiles": {name: drawing for name, drawing in tiles.sprite().items() if name in used},
        "text": {
            **i18n.group(lang, "viewer"),
            "tile": screen.tile_labels(),
            "verb": i18n.group(lang, "verb"),
            "short": i18n.group(lang, "short"),
            "meld": i18n.group(lang, "meld"),
            "action": i18n.group(lang, "action"),
            "note": i18n.group(lang, "note"),
            "overlay": i18n.group(lang, "overlay"),
            "overlay_more": i18n.group(lang, "overlay_more"),
            "keys": [(keys, screen.t(f"keys.{name}")) for keys, name in KEYS],
        },
    }


@st.cache_data(max_entries=64, show_spinner=False)
def _frames(version: str, id: str, _tables: Mapping[str, Rows]) -> Rows:
    """The frames of a round, each ready hand's waits kept in sight while it holds a tile more."""
    steps = show_text.frames(_tables)
    for before, frame in pairwise(steps):
        for old, new in zip(before["seats"], frame["seats"], strict=True):
            if new["drawn"] is not None and not new["waits"] and new["hand"] == old["hand"]:
                new["waits"] = old["waits"]
    sight.add_to(steps, _tables["rounds"][0]["suits"])
    return steps


def _ledger(tables: Mapping[str, Rows], numbers: Mapping[int, int], last: int) -> Rows:
    """Ledger rows with the frame at which each is paid: kongs when made, wins when won, everything else at the end."""
    won = {win["seat"]: numbers.get(win["event"], last) for win in tables["wins"]}
    made: dict[tuple[str, int], Rows] = {}
    for kong in tables["kongs"]:
        if not kong["robbed"]:
            made.setdefault((f"kong_{kong['kind']}", kong["seat"]), []).append({"event": kong["event"], "paid": set()})
    out: Rows = []
    for row in tables["ledger"]:
        at, kongs = won.get(row["to_seat"], last), made.get((row["cause"], row["to_seat"]))
        if kongs:
            if row["from_seat"] in kongs[0]["paid"] and len(kongs) > 1:
                kongs.pop(0)
            kongs[0]["paid"].add(row["from_seat"])
            at = numbers.get(kongs[0]["event"], last)
        out.append(
            {"title": screen.word("cause", row["cause"]), "from": row["from_seat"], "to": row["to_seat"],
             "points": row["points"], "at": at}
        )  # fmt: skip
    return sorted(out, key=lambda line: line["at"])


def _money(ledger: Sequence[Mapping[str, Any]], at: int) -> list[int]:
    """Net points per seat of the lines paid so far."""
    net = [0, 0, 0]
    for line in ledger:
        if line["at"] <= at:
            for seat, sign in ((line["from"], -1), (line["to"], 1)):
                if seat is not None:
                    net[seat] += sign * line["points"]
    return net


def _win(win: Mapping[str, Any], numbers: Mapping[int, int], last: int, names: Sequence[str]) -> dict[str, Any]:
    return {
        "seat": win["seat"],
        "tile": names[win["tile"]] if win["tile"] is not None and win["tile"] < len(names) else "back",
        "multiple": win["multiple"],
        "fans": [screen.fan(fan) for fan in win["fans"] or []],
        "at": numbers.get(win["event"], last),
    }


def _problem(problem: Mapping[str, Any], numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "kind": problem["kind"],
        "title": screen.word("code", problem["code"]),
        "no": problem["event"],
        "at": numbers.get(problem["event"]),
        "message": problem["message"] or "",
        "logged": problem["logged"],
        "expected": problem["expected"],
        "explained": problem["explained_by"] or [],
    }
