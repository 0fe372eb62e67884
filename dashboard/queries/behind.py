"""The rounds behind a mark of a picture: `behind` in the address is a condition's name and values, joined by dots.

Each condition finds seats of rounds, so that with a player it lists those rounds in which it held for that player.
Rounds that were aborted or reached no end are behind no picture but that of how rounds end.
"""

import re
from typing import Any, NamedTuple

from analytics import metrics
from analytics.reveal_statistics import MOST_LIVE, MOST_TURN, TURN
from dashboard import screen
from dashboard.queries.counted import seats_of
from ingest.events import FANS
from ingest.tiles import WALL_TILES

ROLES = ("alone", "chased", "chasing")
EVENTS = ("ready", "reveal", "win")  # what the course of a round is counted in
ENDED = ("self_draw", "discard", "rob_kong", "draw", "no_safe_tile", "aborted", "unknown")
SEAT = {
    "net": "points <> 0",
    "win": "won",
    "self_draw": "self_drew",
    "deal_in": "dealt_in",
    "reveal": "revealed",
    "kong": "kongs > 0",
}


class Condition(NamedTuple):
    """Its values in order, each a list of words or the largest number, and the seats for which it holds."""

    values: tuple[Any, ...]
    sql: str  # SELECT round_id, seat; one ? a value


_TURN = f"CAST(least(turn // {TURN}, {MOST_TURN}) AS INTEGER)"
LONGEST = 8  # rounds that a dealer has dealt in a row, beyond that together


def dealt(condition: str = "true") -> str:
    """Rounds by how often their dealer had dealt in a row with them: round_id, dealer, stays, dealt.

    A gap in a game's rounds starts anew.
    """
    return f"""
    SELECT round_id, dealer, stays, row_number() OVER (PARTITION BY game_key, run ORDER BY round) AS dealt
    FROM (
        SELECT *, count(*) FILTER (fresh) OVER (PARTITION BY game_key ORDER BY round) AS run
        FROM (
            SELECT round_id, game_key, round, dealer, dealer = next_dealer AS stays,
                NOT coalesce(dealer = lag(dealer) OVER game AND round = lag(round) OVER game + 1, false) AS fresh
            FROM rounds WHERE "end" <> 'aborted' AND {condition} WINDOW game AS (PARTITION BY game_key ORDER BY round)
        )
    )
"""


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
        (MOST_LIVE, ("revealed", "kept", "won")),
        f"""
        SELECT facts.round_id, facts.seat FROM facts JOIN seats USING (round_id, seat)
        WHERE ready_turn IS NOT NULL AND least(ready_live_own, {MOST_LIVE}) = ?
            AND CASE ? WHEN 'won' THEN won WHEN 'kept' THEN NOT revealed ELSE revealed END
        """,
    ),
    "shanten": Condition((40, 13), "SELECT round_id, seat FROM facts WHERE shanten[?] = ?"),
    "start": Condition((14, 13), "SELECT round_id, seat FROM facts WHERE start_tiles = ? AND start_shanten = ?"),
    "reached": Condition(
        (EVENTS, MOST_TURN),
        "SELECT round_id, seat FROM ("
        + " UNION ALL ".join(f"SELECT '{what}' AS what, * FROM ({sql})" for what, sql in REACHED.items())
        + f") WHERE what = ? AND CAST(least(drawn // {TURN}, {MOST_TURN}) AS INTEGER) <= ?",
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
    "others": Condition(
        (tuple(SEAT),),
        "SELECT round_id, seat FROM ("
        + " UNION ALL ".join(
            f"SELECT '{what}' AS what, round_id, seat FROM seats WHERE NOT is_dealer AND {condition}"
            for what, condition in SEAT.items()
        )
        + ") WHERE what = ?",
    ),
    "ended": Condition(
        (ENDED,),
        """
        SELECT round_id, seat FROM seats WHERE round_id IN (
            SELECT r.round_id FROM rounds AS r LEFT JOIN wins AS w ON w.round_id = r.round_id AND w.win_no = 0
            WHERE coalesce(CASE WHEN r."end" = 'win' THEN w."by" END, r."end", 'unknown') = ?
        )
        """,
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
    "dealt": Condition(
        (LONGEST,), f"SELECT round_id, dealer AS seat FROM ({dealt()}) WHERE stays AND least(dealt, {LONGEST}) = ?"
    ),
    "fan": Condition((FANS,), "SELECT round_id, seat FROM wins WHERE list_contains(fans, ?)"),
    "pair": Condition(
        (FANS, FANS), "SELECT round_id, seat FROM wins WHERE list_contains(fans, ?) AND list_contains(fans, ?)"
    ),
    "plain": Condition((), "SELECT round_id, seat FROM wins WHERE len(fans) = 0"),
    "aim": Condition(
        (FANS, ("near", "aimed", "ready", "won")),
        """
        SELECT round_id, seat FROM aims WHERE fan = ? AND CASE ?
            WHEN 'near' THEN true WHEN 'aimed' THEN aimed_turn IS NOT NULL WHEN 'ready' THEN ready_turn IS NOT NULL
            ELSE won END
        """,
    ),
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
    ended = "true" if name == "ended" else "r.\"end\" <> 'aborted'"
    sql, values = (seats_of(values[0]), []) if name == "stat" else (CONDITIONS[name].sql, values)
    if player is None:
        return f"{ended} AND r.round_id IN (SELECT round_id FROM ({sql}))", values
    own = "SELECT round_id, seat FROM seats WHERE player = ?"
    return f"{ended} AND r.round_id IN (SELECT round_id FROM ({sql}) JOIN ({own}) USING (round_id, seat))", [
        *values,
        player,
    ]


def words(text: str) -> str:
    """A condition in the reader's language."""
    name, values = _split(text)
    if name == "stat":
        metric = metrics.get(values[0])
        return screen.t("behind.stat", name=getattr(metric, screen.lang()))
    most = CONDITIONS[name].values
    shown = [_word(name, place, value, value == most[place]) for place, value in enumerate(values)]
    return screen.t(f"behind.{name}", **dict(zip("abc", shown, strict=False)))


def _word(name: str, place: int, value: Any, last: bool) -> str:
    """A value of a condition for reading; last: it is the largest number that there can be."""
    if name in ("fan", "pair") or (name == "aim" and place == 0):
        return screen.fan(value)
    if isinstance(value, str):
        return screen.word("end" if name == "ended" else "behind_word", value)
    if name == "relative" or (name == "position" and place == 1):
        return screen.t(f"seats_position.{value}")
    more = last and (name, place) in (("reveal", 0), ("reveal", 1), ("waiting", 0), ("dealt", 0))
    return f"{value}+" if more else str(value)
