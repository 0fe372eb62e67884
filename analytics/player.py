"""One account: its statistics beside the others', how its latest rounds were played, the decisions that cost most.

Every decision of those rounds is looked at with a few rollouts (a *screen*); those in which another option did better
are played out again, each with samples of its own, so that a loss is not just the luck of the screen.  Losses are
compared in stakes (base × 2^raise of the round), as rounds may be played for different ones.
"""

import math
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from analytics import accounts, luck, warehouse
from ingest.events import DISCARD
from ingest.mask import Mask
from replay import one_round
from replay.review import (
    LEAST_FIRST,
    Reviewer,
    ReviewError,
    Round,
    describe,
    estimate,
    leader,
    notes,
    player_for,
    prepare,
)

ROUNDS, ROLLOUTS, WORST = 100, 1000, 20
REFINED = 3  # decisions played out again for each one that is listed; at least one for each round
POLICY = ("pung", "kong", "reveal", "defend")  # tastes of the policy that a report names
FIELDS = (
    "round_id", "site", "game", "round", "time_ms", "ruleset", "ruleset_digest", "options", "suits", "dealer", "dice",
    "base", "raise", "hidden_from", "coverage", "deal", "events", "event_no",
)  # fmt: skip
LATEST = f"""
WITH mine AS (SELECT round_id, seat FROM seats WHERE player = ?)
SELECT {", ".join(f"rounds.{name}" for name in FIELDS)}, mine.seat,
    (SELECT list(other.piao ORDER BY other.seat) FROM seats AS other WHERE other.round_id = rounds.round_id) AS piao
FROM mine JOIN rounds USING (round_id) WHERE rounds.site IS NOT DISTINCT FROM ?
ORDER BY time_ms DESC NULLS LAST, game, round DESC, round_id, mine.seat
LIMIT ?
"""
SITES = "SELECT DISTINCT site FROM seats JOIN rounds USING (round_id) WHERE player = ? ORDER BY site NULLS FIRST"


class PlayerError(Exception):
    """An account that the data set does not hold, or holds at several sites; the message says which."""


class Screened(NamedTuple):
    """A decision after its screen; losses in stakes."""

    one: Round
    row: dict[str, Any]
    decision: np.record
    options: np.recarray
    notes: list[str]
    seeming: float  # loss against the screen's best: too high where nothing is wrong, as the best is picked by luck


def report(
    db_path: str | Path,
    account: str,
    *,
    site: str | None = None,
    rounds: int = ROUNDS,
    rollouts: int = ROLLOUTS,
    worst: int = WORST,
    mask: Mask | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """An account's statistics, opponents and a review of its latest `rounds`, as plain values; see docs/review.md.

    site: needed where several have such an account; rollouts: samples an option of the decisions listed, at most
    `worst` of them, the costliest first; mask: accounts as pseudonyms, `account` may be one; progress is told pieces of
    work done and in all.  The same data set and arguments give the same report.  PlayerError, WarehouseError.
    """
    with warehouse.connect(db_path) as connection:
        account, site = known(connection, account, site, mask)
        statistics = _plain(accounts.account_table(connection, account, site).to_dicts())
        opponents = _plain(accounts.opponents(connection, account, site).to_dicts())
        tiles = _plain(luck.adjusted(connection, (), {"player": account, "site": site}).to_dicts())
        latest = _rows(connection, LATEST, [account, site, rounds])
    for row in opponents:
        row["opponent"] = mask.name(row["opponent"]) if mask else row["opponent"]
    prepared, skipped = [], Counter()
    for row in latest:
        try:
            prepared.append((prepare(row, row["piao"]), row))
        except ReviewError as error:
            skipped[str(error)] += 1
    samples = max(rollouts // 16, LEAST_FIRST)
    work = _Work(len(prepared), progress)
    screened = [one for found in work.each(lambda reviewer, item: _screen(reviewer, *item, samples), prepared)
                for one in found]  # fmt: skip
    order = sorted(range(len(screened)), key=lambda at: (-screened[at].seeming, at))
    most = max(REFINED * worst, len(prepared))
    doubtful = [screened[at] for at in order[:most] if screened[at].seeming > 0]
    work.total += len(doubtful)
    listed = list(work.each(lambda reviewer, one: _refine(reviewer, one, rollouts, samples), doubtful))
    listed.sort(key=lambda one: (-one["loss_stakes"], one["id"], one["event"], one["seat"]))
    error = math.sqrt(math.fsum(one["loss_stakes_error"] ** 2 for one in listed))
    return {
        "account": mask.name(account) if mask else account,
        "site": site,
        "statistics": statistics,
        "opponents": opponents,
        "luck": tiles[0] if tiles else None,  # of rounds whose draws are known
        "review": {
            "rounds": len(prepared), "skipped": dict(sorted(skipped.items())),
            "decisions": len(screened), "screen": samples, "rollouts": rollouts,
            "loss_per_round": round(math.fsum(one["loss_stakes"] for one in listed) / max(len(prepared), 1), 4),
            "loss_per_round_error": round(error / max(len(prepared), 1), 4),
            "refined": len(doubtful), "flagged": sum(one["flagged"] for one in listed),
            "discards": sum(int(one.options[one.decision.played].verb) == DISCARD for one in screened),
            "notes": dict(sorted(Counter(note for one in screened for note in one.notes).items())),
            "policy": _policies(one for one, _ in prepared),
        },
        "worst": [one for one in listed if one["loss"] > 0][:worst],
    }  # fmt: skip


def known(connection: Any, account: str, site: str | None, mask: Mask | None) -> tuple[str, str | None]:
    """The account's own name, for which under a mask its pseudonym will do, and its site.  PlayerError."""
    sites = _sites(connection, account)
    if mask and not sites:
        for row in _rows(connection, "SELECT DISTINCT player FROM seats WHERE player IS NOT NULL ORDER BY player", []):
            if mask.name(row["player"]) == account:
                account, sites = row["player"], _sites(connection, row["player"])
                break
    shown = mask.name(account) if mask else account
    if site is not None:
        sites = [site] if site in sites else []
    if not sites:
        raise PlayerError(f"no account {shown!r} {'in this data set' if site is None else f'of site {site!r}'}")
    if len(sites) > 1:
        names = ", ".join("none" if one is None else one for one in sites)
        raise PlayerError(f"accounts {shown!r} of several sites ({names}): say which with --site")
    return account, sites[0]


def _sites(connection: Any, account: str) -> list[str | None]:
    return [row["site"] for row in _rows(connection, SITES, [account])]


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with their floats cut to what is worth reading."""
    return [{key: round(one, 6) if isinstance(one, float) else one for key, one in row.items()} for row in rows]


def _rows(connection: Any, query: str, values: list[Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class _Work:
    """Pieces of work over the machine's cores, in order, with one Reviewer a thread."""

    def __init__(self, total: int, progress: Callable[[int, int], None]) -> None:
        self.total, self._progress = total, progress
        self._done = count(1)
        self._own = threading.local()

    def each(self, function: Callable[[Reviewer, Any], Any], items: list[Any]) -> Iterable[Any]:
        """What the function makes of each item, in the order of the items."""

        def run(item: Any) -> Any:
            if not hasattr(self._own, "reviewer"):
                self._own.reviewer = Reviewer()
            return function(self._own.reviewer, item)

        pool = ThreadPoolExecutor(os.cpu_count() or 1)
        try:
            for result in pool.map(run, items):
                self._progress(next(self._done), self.total)
                yield result
        finally:  # what has not begun when progress raises, never does
            pool.shutdown(cancel_futures=True)


def _stake(one: Round) -> int:
    return int(one.rin.base_) << int(one.rin.raise_)


def _screen(reviewer: Reviewer, one: Round, row: dict[str, Any], samples: int) -> list[Screened]:
    """The account's decisions in a round with a first idea of what they cost."""
    out = []
    for decision, options in reviewer.find(one, 1 << row["seat"]):
        results = reviewer.results(one, decision, options, 0, samples, np.ones(len(options), bool))
        seeming = estimate(results[:, leader(results)] - results[:, decision.played]).mean / _stake(one)
        out.append(Screened(one, row, decision, options, notes(decision, options), seeming))
    return out


def _refine(reviewer: Reviewer, found: Screened, rollouts: int, skip: int) -> dict[str, Any]:
    """A decision as `review.describe` has it, with its round's ID, ruleset, time and stake."""
    values = reviewer.values(found.one, found.decision, found.options, rollouts, skip)
    row, stake = found.row, _stake(found.one)
    where = {"id": one_round.write(row), "ruleset": row["ruleset"], "time_ms": row["time_ms"], "stake": stake}
    loss = {"loss_stakes": round(values["loss"].mean / stake, 4), "loss_stakes_error": values["loss"].error / stake}
    loss["loss_stakes_error"] = round(loss["loss_stakes_error"], 4)
    return where | loss | describe(found.one, found.decision, found.options, values)


def _policies(rounds: Iterable[Round]) -> dict[str, dict[str, float]]:
    """The policy that played each ruleset's rounds out, as far as a report names it."""
    rules = {one.rules.id: player_for(one.rules) for one in rounds}
    return {ident: {name: getattr(policy, name) for name in POLICY} for ident, policy in sorted(rules.items())}
