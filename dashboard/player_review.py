"""An account's costliest decisions, played out beside the page on request (docs/review.md)."""

from typing import Any

import polars as pl
import streamlit as st

from analytics.player import PlayerError, report
from dashboard import dataset, figures, jobs, screen
from dashboard.listing import listing
from dashboard.screen import t

ROUNDS, ROLLOUTS, WORST = 40, 200, 12
POLL = 1.0  # seconds between looks at the work


def _begin(key: tuple[Any, ...], path: str, player: str, site: str | None) -> None:
    jobs.forget(key)
    jobs.start(
        key,
        lambda job: report(
            path, player, site=site, rounds=ROUNDS, rollouts=ROLLOUTS, worst=WORST, progress=job.step
        ),
    )  # fmt: skip


def panel(player: str, site: str | None) -> None:
    """The offer to look, how far it is, and what was found."""
    st.subheader(t("player.review"))
    stamp = dataset.stamp()
    key = ("player", stamp, player, site)
    job = jobs.find(key)
    if job is None or job.state in (jobs.CANCELLED, jobs.FAILED):
        if job is not None and job.state == jobs.FAILED:
            known = isinstance(job.error, PlayerError)
            screen.line(str(job.error) if known else t("player.review_failed"))
        st.write(t("player.review_offer", n=ROUNDS))
        st.button(t("player.review_start"), on_click=_begin, args=(key, stamp[0] if stamp else "", player, site))
        return
    running = job.state == jobs.RUNNING

    def look() -> None:
        if running and job.state != jobs.RUNNING:
            st.rerun()
        st.progress(min(job.done / job.total, 1.0) if job.total else 0.0, t("player.review_running"))
        st.button(t("player.review_stop"), on_click=job.cancel)

    if running:
        st.fragment(look, run_every=POLL)()
    else:
        _found(job.value)


def _action(option: dict[str, Any]) -> list[str]:
    """The tile of an option for a drawing."""
    return [option["tile"]] if option["tile"] else []


def _found(value: dict[str, Any]) -> None:
    """The decisions, the costliest first; each opens its round at the event."""
    if not value["worst"]:
        st.write(t("player.review_clean", n=value["review"]["rounds"]))
        return
    rows = []
    for one in value["worst"]:
        played, best = one["options"][one["played"]], one["options"][one["best"]]
        mark = " *" if one["flagged"] else ""
        low, high = (one["loss_stakes"] + sign * 1.96 * one["loss_stakes_error"] for sign in (-1, 1))
        cells = [
            screen.place(one),
            screen.word("player_action", played["action"]), _hand(one, played),
            screen.word("player_action", best["action"]), _hand(one, best),
            {"value": f"−{one['loss_stakes']:.2f}{mark}", "more": f"{low:.2f} – {high:.2f}", "sign": -1},
            one["n"],
        ]  # fmt: skip
        at = {"round": one["id"], "event": one["no"], "pov": one["seat"]}
        rows.append((f"{one['id']} {one['no']} {one['seat']}", screen.address("rounds", **at), cells))
    kinds = ("place", "text", "hands", "text", "hands", "estimate", "number")
    names = ("id", "played", "tile", "better", "tile", "loss", "n")
    columns = [(kind, t(f"player_column.{name}")) for kind, name in zip(kinds, names, strict=True)]
    opened = listing("worst", columns, rows, caption=t("player.review"), labels=screen.tile_labels())
    if opened:
        id, event, seat = opened.rsplit(" ", 2)
        screen.go("rounds", round=id, event=event, pov=seat)
    plain = [{name: one[name] for name in ("id", "event", "seat", "loss_stakes", "loss_stakes_error", "n", "flagged")}
             for one in value["worst"]]  # fmt: skip
    screen.downloads(pl.DataFrame(plain), "decisions")
    review = value["review"]
    st.caption(
        t("player.review_note", rounds=review["rounds"], decisions=review["decisions"],
          loss=figures.stakes(-review["loss_per_round"]), error=f"{1.96 * review['loss_per_round_error']:.2f}")
    )  # fmt: skip


def _hand(one: dict[str, Any], option: dict[str, Any]) -> list[dict[str, Any]] | None:
    return [{"seat": one["seat"], "tiles": [_action(option)]}] if option["tile"] else None
