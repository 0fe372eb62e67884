"""One round's decisions reviewed: options with their facts and what rollouts make of them (docs/review.md).

Values come in two steps, each with samples of its own.  The first plays all options, finds the best and drops those
that are clearly behind; the second plays the rest anew, and only it gives values and the loss of the option played.  So
the loss is not inflated by having picked the luckiest of many, and a decision that was right has a loss around zero.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ingest.events import (
    ADDED_KONG,
    CONCEALED_KONG,
    DECLINE,
    DISCARD,
    EXHAUSTED,
    KONG,
    PUNG,
    WIN,
)
from ingest.tiles import KINDS, NAMES, SUITS
from replay import ruleset
from replay.hand import tables as hand_tables
from replay.inputs import options as room_options
from replay.jit import record
from replay.options import DECISION, MOST_DECISIONS, MOST_OPTIONS, OPTION, find
from replay.policy import SIM, TASTES, Policy
from replay.rollout import POSITION, roll, stand
from replay.shanten import distances
from replay.state import ROUND

ACTIONS = {
    WIN: "win", DECLINE: "pass", PUNG: "pung", KONG: "kong_exposed", ADDED_KONG: "kong_added",
    CONCEALED_KONG: "kong_concealed", DISCARD: "discard", EXHAUSTED: "no_safe_tile",
}  # fmt: skip
ROLLOUTS = 2000  # samples an option
LEAST_FIRST = 32  # samples of the first step, which has a quarter of them
MOST_SECOND = 6  # options that go into the second step, the one played apart
CLEARLY = 3.0  # standard errors
# Plays the rounds out, always the same way; how strong it is stands in docs/review.md.
PLAYER = Policy(win=1, self_draw=1, pung=1, pung_idle=0, kong=1, kong_idle=0, between=1, hide=0, defend=1, noise=0,
                short=0, void_kong=0)  # fmt: skip


class ReviewError(Exception):
    """A round that can't be reviewed; the message says why."""


def player_for(rules: ruleset.Ruleset) -> Policy:
    """The policy that plays rounds of a ruleset out: PLAYER, who reveals at once where a deal-in to a revealed hand
    pays for all and never elsewhere (each better than the other way, whatever the others do: docs/review.md).
    """
    return replace(PLAYER, reveal=float(rules.values["deal_in.to_revealed"] == "pays_for_all"))


class Round(NamedTuple):
    """A round as the kernels take it."""

    id: int
    rules: ruleset.Ruleset
    rin: np.record  # state.ROUND without a wall: it is not looked at
    hidden_open: bool  # the log does not say which triplets a reveal hides
    log: np.ndarray  # uint32[], its events
    numbers: Sequence[int] | None  # the log's own number of each event
    names: tuple[str, ...]  # of its tiles


class Estimate(NamedTuple):
    """A mean of `n` results in points, and its standard error."""

    mean: float
    error: float
    n: int


def estimate(results: np.ndarray) -> Estimate:
    """Of int64[n] with n > 1; in integers up to the last division, so the same on every machine."""
    n, total, squares = len(results), int(results.sum()), int((results * results).sum())
    return Estimate(total / n, math.sqrt(max(n * squares - total * total, 0) / (n - 1)) / n, n)


class Reviewer:
    """Finds and values decisions; has the kernels' records, so one a thread."""

    def __init__(self, policy: Policy | None = None) -> None:
        """policy: of all seats in rollouts; None: `player_for` the ruleset."""
        self._sim, self._position, self._policy = record(SIM), record(POSITION), policy
        self._decisions = np.zeros(MOST_DECISIONS, DECISION).view(np.recarray)
        self._options = np.zeros(MOST_DECISIONS * MOST_OPTIONS // 4, OPTION).view(np.recarray)

    def find(self, one: Round, seats: int) -> list[tuple[np.record, np.recarray]]:
        """The decisions of a set of seats (bit set), each with its options: options.DECISION and OPTION[m]."""
        one.rin.hidden_open = one.hidden_open
        count, used = find(
            self._sim, one.rules.record, hand_tables(), distances(), one.rin, one.log, seats, self._decisions,
            self._options,
        )  # fmt: skip
        decisions, options = self._decisions[:count].copy(), self._options[:used].copy()
        return [(row, options[row.first : row.first + row.count]) for row in decisions]

    def results(
        self, one: Round, decision: np.record, options: np.recarray, first: int, samples: int, chosen: np.ndarray
    ) -> np.ndarray:
        """Points of the seat, int64[samples, options], from sample `first` on; 0 for options not chosen (bool[m])."""
        policy = self._policy or player_for(one.rules)
        for name in TASTES:
            self._sim[name][:] = getattr(policy, name)
        rules = one.rules.record
        one.rin.hidden_open = one.hidden_open
        stood = stand(self._sim, self._position, rules, hand_tables(), one.rin, one.log, int(decision.event))
        one.rin.hidden_open = 0  # who reveals from here on is known to hide what it hides
        out = np.zeros((samples, len(options)), np.int64)
        failed = roll(
            self._sim, self._position, rules, hand_tables(), distances(), one.rin, int(decision.seat),
            np.uint64(one.id), int(decision.event), options, chosen.astype(np.uint8), first, out,
        )  # fmt: skip
        if failed or not stood:
            raise AssertionError(f"round {one.id}, event {decision.event}: {failed} rollouts came to no end")
        return out

    def values(
        self, one: Round, decision: np.record, options: np.recarray, rollouts: int, skip: int = 0
    ) -> dict[str, Any]:
        """What rollouts say: "best", "loss" (Estimate), "flagged", "values" and "behind" (an Estimate an option).

        skip: samples that are not used, because what is asked now hangs on them.  ReviewError below two rollouts.
        """
        if rollouts < 2:
            raise ReviewError(f"{rollouts} rollouts: a standard error needs at least 2")
        played, every = int(decision.played), np.ones(len(options), bool)
        before = max(rollouts // 4, LEAST_FIRST)
        first = self.results(one, decision, options, skip, before, every)
        best = leader(first)
        goes_on = np.zeros(len(options), bool)
        order = np.argsort(-first.sum(axis=0), kind="stable")
        for at in order[:MOST_SECOND].tolist():
            behind = estimate(first[:, best] - first[:, at])
            goes_on[at] = behind.mean <= CLEARLY * behind.error
        goes_on[[best, played]] = True
        second = first if goes_on.sum() == 1 else self.results(one, decision, options, skip + before, rollouts, goes_on)
        part = [second if on else first for on in goes_on]
        behind = [estimate(part[at][:, best] - part[at][:, at]) for at in range(len(options))]
        loss = behind[played]
        return {
            "best": best, "loss": loss, "flagged": is_clear(loss), "behind": behind,
            "values": [estimate(part[at][:, at]) for at in range(len(options))],
        }  # fmt: skip


def leader(results: np.ndarray) -> int:
    """The option with the highest sum, the first of equals."""
    return int(np.argmax(results.sum(axis=0)))


def is_clear(loss: Estimate) -> bool:
    """Whether a loss stands out of its standard error."""
    return loss.mean > 0 and loss.mean >= CLEARLY * loss.error


def prepare(row: Mapping[str, Any], piao: Sequence[int | None]) -> Round:
    """A row of `rounds` (and each seat's piao) for the kernels.  ReviewError where that can't be."""
    if row["coverage"] != "full" or row["deal"] is None or not row["events"]:
        raise ReviewError("the log names no drawn tiles")
    rules = ruleset.load(row["ruleset"], room_options(row["options"] or "{}"))
    if rules.digest != row["ruleset_digest"]:
        raise ReviewError("the ruleset has changed since the round was loaded")
    rin = record(ROUND)
    rin.deal[:] = np.frombuffer(row["deal"], np.uint8).reshape(3, 14)
    rin.wall[:] = KINDS
    rin.dealer = row["dealer"]
    rin.suits = SUITS.index(row["suits"])
    rin.dice[:] = row["dice"] or (0, 0)
    rin.piao[:] = [one or 0 for one in piao]
    rin.base_ = 1 if row["base"] is None else row["base"]
    rin.raise_ = row["raise"] or 0
    log = np.array(row["events"], np.uint32)
    rin.stop = len(log)
    hidden_open = row["hidden_from"] != "logged"
    return Round(int(row["round_id"]), rules, rin, hidden_open, log, row["event_no"], NAMES[row["suits"]])


def review(
    tables: Mapping[str, list[dict[str, Any]]],
    seat: int,
    rollouts: int = ROLLOUTS,
    event: int | None = None,
    reviewer: Reviewer | None = None,
) -> list[dict[str, Any]]:
    """The decisions of a seat in a round, in their order; see `describe` for a row.

    tables: as one_round.from_logs and from_data_set give them; rollouts: samples an option, 0 for the facts alone;
    event: only the decision at this frame, which is the table after that many events.  ReviewError where the log
    names no drawn tiles.
    """
    one = prepare(tables["rounds"][0], [row["piao"] for row in tables["seats"]])
    reviewer = reviewer or Reviewer()
    out = []
    for decision, options in reviewer.find(one, 1 << seat):
        if event is None or decision.event == event:
            found = reviewer.values(one, decision, options, rollouts) if rollouts else None
            out.append(describe(one, decision, options, found))
    return out


def describe(one: Round, decision: np.record, options: np.recarray, found: dict[str, Any] | None) -> dict[str, Any]:
    """A decision as plain values.

    event: the frame it was taken in; no: the log's number of the event before which that is; seat; claim; shanten and
    wall_left before it; played, best: places in `options`; loss, loss_error (points), n, flagged; notes: see `notes`;
    options: action, tile, reveal, hidden (tiles kept face down), shanten, useful and waits ([tile, live copies]),
    useful_live, waits_live, danger (revealed seats that wait for the discard), value, error, n, behind, behind_error.
    Without rollouts best, loss, value and the like are None.
    """
    event = int(decision.event)
    live = decision.live.tolist()

    def kinds(bits: int) -> list[list[Any]]:
        return [[one.names[kind], live[kind]] for kind in range(KINDS) if bits >> kind & 1]

    rows = []
    for at, option in enumerate(options):
        value, behind = (found["values"][at], found["behind"][at]) if found else (None, None)
        rows.append(
            {
                "action": ACTIONS[int(option.verb)],
                "tile": None if option.tile < 0 else one.names[option.tile],
                "reveal": bool(option.reveal),
                "hidden": [name for name, _ in kinds(int(option.hidden))],
                "shanten": int(option.shanten),
                "useful": kinds(int(option.useful)), "useful_live": int(option.useful_live),
                "waits": kinds(int(option.waits)), "waits_live": int(option.waits_live),
                "danger": [seat for seat in range(3) if option.danger >> seat & 1],
                "value": value and round(value.mean, 3), "error": value and round(value.error, 3),
                "n": value and value.n,
                "behind": behind and round(behind.mean, 3), "behind_error": behind and round(behind.error, 3),
            }
        )  # fmt: skip
    return {
        "event": event,
        "no": event if one.numbers is None or event >= len(one.numbers) else one.numbers[event],
        "seat": int(decision.seat), "claim": bool(decision.claim), "shanten": int(decision.shanten),
        "wall_left": int(decision.wall_left), "played": int(decision.played),
        "best": found and found["best"],
        "loss": found and round(found["loss"].mean, 3), "loss_error": found and round(found["loss"].error, 3),
        "n": found and found["loss"].n, "flagged": found and found["flagged"],
        "notes": notes(decision, options), "options": rows,
    }  # fmt: skip


def notes(decision: np.record, options: np.recarray) -> list[str]:
    """What can be said of the option played without rollouts.

    win_passed, kong_passed, pung_passed: it was there and not taken; into_revealed: the discard is waited for;
    further: another discard leaves the hand nearer to ready; fewer_useful: as near, but with fewer useful tiles than
    another; narrow_wait: ready, but another discard leaves a wait with more live tiles.
    """
    played = options[decision.played]
    verbs = set(options.verb.tolist())
    kongs = {KONG, ADDED_KONG, CONCEALED_KONG}
    out = []
    if WIN in verbs and played.verb != WIN:
        out.append("win_passed")
    if verbs & kongs and played.verb not in {WIN, *kongs}:
        out.append("kong_passed")
    if PUNG in verbs and played.verb == DECLINE:
        out.append("pung_passed")
    if played.verb != DISCARD:
        return out
    if played.danger:
        out.append("into_revealed")
    discards = options[options.verb == DISCARD]
    nearest = discards[discards.shanten == discards.shanten.min()]
    if played.shanten > nearest.shanten[0]:
        out.append("further")
    elif played.shanten > 0 and played.useful_live < nearest.useful_live.max():
        out.append("fewer_useful")
    elif played.shanten == 0 and played.waits_live < nearest.waits_live.max():
        out.append("narrow_wait")
    return out
