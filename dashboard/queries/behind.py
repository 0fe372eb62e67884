"""The rounds behind a mark of a picture: `behind` in the address is a condition's name and values, joined by dots.

Each condition finds seats of rounds, so that with a player it lists those rounds in which it held for that player.
Rounds that were aborted or reached no end are not behind any picture.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from analytics import metrics
from analytics.reveal_statistics import MOST_LIVE, MOST_TURN, TURN
from analytics.sittings import rows_of
from dashboard import screen
from ingest.events import FANS
from ingest.tiles import WALL_TILES

ROLES = ("alone", "chased", "chasing")
EVENTS = ("ready", "reveal", "win")  # what the course of a round is counted in
SEAT = {"win": "won", "self_draw": "self_drew", "deal_in": "dealt_in", "reveal": "revealed", "kong": "kongs > 0"}


class Condition(NamedTuple):
    """Its values in order, each a list of words or the largest number, and the seats for which it holds."""

    values: tuple[Any, ...]
    sql: str  # SELECT round_id, seat; one ? a value


_TURN = f"CAST(least(turn // {TURN}, {MOST_TURN}) AS INTEGER)"
REACHED = {  # event → seats and the tiles that the table had drawn then
    "ready": f"SELECT round_id, seat, {WALL_TILES} - ready_left AS drawn FROM facts WHERE ready_turn IS NOT NULL",
    "reveal": "SELECT round_id, seat, turn AS drawn FROM reveals",
    "win": "SELECT round_id, seat, turn AS drawn FROM wins",
}
CONDITIONS = {
    "reveal": Condition(
        (MOST_LIVE, MOST_TURN),
        f"SELECT round_id, seat FROM reveals WHERE least(live, {MOST_LIVE}) = ? AND {_TURN} = ?",
    ),
    "role": Condition(
        (ROLES,),
        """
        SELECT round_id, seat FROM reveals
        JOIN (SELECT round_id, max("order") AS last FROM reveals GROUP BY round_id) USING (round_id)
        WHERE CASE WHEN "order" > 1 THEN 'chasing' WHEN "order" < last THEN 'chased' ELSE 'alone' END = ?
        """,
    ),
    "waiting": Condition(
        (MOST_LIVE, ("revealed", "kept")),
        f"""
        SELECT facts.round_id, facts.seat FROM facts JOIN seats USING (round_id, seat)
        WHERE ready_turn IS NOT NULL AND least(ready_live_own, {MOST_LIVE}) = ? AND revealed = (? = 'revealed')
        """,
    ),
    "shanten": Condition((40, 13), "SELECT round_id, seat FROM facts WHERE shanten[?] = ?"),
    "start": Condition((14, 13), "SELECT round_id, seat FROM facts WHERE start_tiles = ? AND start_shanten = ?"),
    "reached": Condition(
        (EVENTS, MOST_TURN),
        "SELECT round_id, seat FROM ("
        + " UNION ALL ".join(f"SELECT '{what}' AS what, * FROM ({sql})" for what, sql in REACHED.items())
        + f") WHERE what = ? AND CAST(least(drawn // {TURN}, {MOST_TURN}) AS INTEGER) = ?",
    ),
    "seat": Condition(
        (tuple(SEAT), 2),
        "SELECT round_id, seat FROM ("
        + " UNION ALL ".join(
            f"SELECT '{what}' AS what, round_id, seat FROM seats WHERE {condition}" for what, condition in SEAT.items()
        )
        + ") WHERE what = ? AND seat = ?",
    ),
    "position": Condition(
        (tuple(SEAT), 2),
        "SELECT round_id, seat FROM ("
        + " UNION ALL ".join(
            f"SELECT '{what}' AS what, round_id, seat FROM seats WHERE {condition}" for what, condition in SEAT.items()
        )
        + ") JOIN rounds USING (round_id) WHERE what = ? AND (seat - dealer + 3) % 3 = ?",
    ),
    "flow": Condition(
        (2, 2),
        "SELECT DISTINCT round_id, to_seat AS seat FROM ledger WHERE from_seat = ? AND to_seat = ?",
    ),
    "relative": Condition(
        (2, 2),
        """
        SELECT DISTINCT round_id, to_seat AS seat FROM ledger JOIN rounds USING (round_id)
        WHERE (from_seat - dealer + 3) % 3 = ? AND (to_seat - dealer + 3) % 3 = ?
        """,
    ),
    "fan": Condition((FANS, ), "SELECT round_id, seat FROM wins WHERE list_contains(fans, ?)"),
    "aim": Condition(
        (FANS, ("near", "aimed", "ready", "won")),
        """
        SELECT round_id, seat FROM aims WHERE fan = ? AND CASE ?
            WHEN 'near' THEN true WHEN 'aimed' THEN aimed_turn IS NOT NULL WHEN 'ready' THEN ready_turn IS NOT NULL
            ELSE won END
        """,
    ),
}  # fmt: skip


_SHOWN = "SELECT round_id, seat FROM reveals JOIN seats USING (round_id, seat) WHERE "
_READY = "SELECT round_id, seat FROM facts JOIN seats USING (round_id, seat) WHERE ready_turn IS NOT NULL"
_DRAWN = "round_id IN (SELECT round_id FROM rounds WHERE \"end\" = 'draw')"
COUNTED = {  # statistic → the seats that its numerator counts, from the tables themselves: the view takes too long
    "win_rate": "SELECT round_id, seat FROM seats WHERE won",
    "self_draw_share": "SELECT round_id, seat FROM seats WHERE self_drew",
    "deal_in_rate": "SELECT round_id, seat FROM seats WHERE dealt_in",
    "win_value": "SELECT round_id, seat FROM wins WHERE points <> 0",
    "net": "SELECT round_id, seat FROM seats WHERE points <> 0",
    "reveal_rate": "SELECT round_id, seat FROM reveals",
    "reveal_result": _SHOWN + "points <> 0",
    "reveal_win_rate": _SHOWN + "won",
    "reveal_deal_in_rate": _SHOWN + "dealt_in",
    "reveal_exhausted_rate": _SHOWN + _DRAWN,
    "reveal_draw_loss": _SHOWN + _DRAWN + " AND (round_id, seat) IN (SELECT (round_id, from_seat) FROM ledger "
                        "WHERE points > 0 AND cause IN ('draw', 'no_safe_tile'))",
    "exhausted_rate": f"SELECT round_id, seat FROM seats WHERE {_DRAWN}",
    "ready_exhausted_rate": f"SELECT round_id, seat FROM seats WHERE ready_at_end AND {_DRAWN}",
    "ready_rate": _READY,
    "ready_turn": _READY + " AND ready_turn > 0",
    "ready_live": _READY + " AND ready_live_own > 0",
    "ready_win_rate": _READY + " AND won",
}  # fmt: skip


def parse(text: str) -> str:
    """The condition as it is if it is one; ValueError otherwise."""
    _split(text)
    return text


def code(name: str, *values: Any) -> str:
    """A condition for an address."""
    return parse(".".join([name, *map(str, values)]))


def _split(text: str) -> tuple[str, list[Any]]:
    """Name and values; ValueError when it is no condition."""
    name, *parts = text.split(".")
    if name == "stat":
        if len(parts) == 1 and parts[0] in metrics.registry() and metrics.get(parts[0]).kind != "quantile":
            return name, parts
        raise ValueError(text)
    if name not in CONDITIONS or len(parts) != len(CONDITIONS[name].values):
        raise ValueError(text)
    values: list[Any] = []
    for part, allowed in zip(parts, CONDITIONS[name].values, strict=True):
        if isinstance(allowed, int):
            if not re.fullmatch(r"\d{1,3}|-1", part) or int(part) > allowed:
                raise ValueError(text)
            values.append(int(part))
        elif part in allowed:
            values.append(part)
        else:
            raise ValueError(text)
    return name, values


def condition(text: str, player: str | None) -> tuple[str, list[Any]]:
    """The SQL condition on `rounds AS r` and its parameters; for a player where one is given."""
    name, values = _split(text)
    ended = "r.\"end\" <> 'aborted'"
    if name == "stat" and (player is not None or values[0] not in COUNTED):
        return f"{ended} AND r.round_id IN ({_counted(values[0], player)})", [player] * 2 if player else []
    sql, values = (COUNTED[values[0]], []) if name == "stat" else (CONDITIONS[name].sql, values)
    if player is None:
        return f"{ended} AND r.round_id IN (SELECT round_id FROM ({sql}))", values
    own = "SELECT round_id, seat FROM seats WHERE player = ?"
    return f"{ended} AND r.round_id IN (SELECT round_id FROM ({sql}) JOIN ({own}) USING (round_id, seat))", [
        *values,
        player,
    ]


def _counted(metric: str, player: str | None) -> str:
    """Rounds that add to a statistic's numerator, as SQL; with a player's, its name twice as parameters."""
    numerator = metrics.get(metric).numerator
    if player is None:
        return f"SELECT round_id FROM {rows_of('seat_rounds')} WHERE {numerator} <> 0"
    chosen = "WITH chosen AS MATERIALIZED (SELECT round_id FROM seats WHERE player = ?)"
    return f"{chosen} SELECT round_id FROM {rows_of('seat_rounds', 'chosen')} WHERE player = ? AND {numerator} <> 0"


def words(text: str) -> str:
    """A condition in the reader's language."""
    name, values = _split(text)
    if name == "stat":
        metric = metrics.get(values[0])
        return screen.t("behind.stat", name=getattr(metric, screen.lang()))
    shown: Mapping[str, str] = {
        f"{'abc'[place]}": screen.fan(value) if value in FANS and name in ("fan", "aim") and place == 0
        else screen.word("behind_word", value) if isinstance(value, str) else str(value)
        for place, value in enumerate(values)
    }  # fmt: skip
    return screen.t(f"behind.{name}", **shown)
