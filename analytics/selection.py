"""What a statistic counts: splits and filters as SQL over `sittings`, or over single rounds where they need those."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import polars as pl

from analytics.metrics import MetricError
from analytics.sittings import TABLE, rows_of

SPLITS = {  # what statistics can be split and filtered by, as SQL over sittings or seat_rounds
    "site": "site", "ruleset": "ruleset", "base": "base", "player": "player", "seat": "seat", "position": "position",
    "dealer": "position = 0", "day": "day", "month": "CAST(date_trunc('month', day) AS DATE)", "game": "game_key",
}  # fmt: skip
OPPONENT = "opponent"  # splits a row into two, one for each other account of the round
OF_ROUNDS = ("verdict", "coverage", "end", "round_id")  # filters on columns of rounds only
Where = Mapping[str, Any] | None


def source_of(by: Sequence[str], where: Where, view: str = "", upto: int | None = None) -> tuple[str, list[Any]]:
    """What to count as a FROM item, filtered, and its parameters.

    view: of single rounds, to read in any case; upto: the largest round_id to read, where filters leave all rounds.
    """
    given = dict(where or {})
    if view == "win_rounds" and not {"player", OPPONENT} & {*by, *given}:
        view = "win_tables"
    for name in (*by, *given):
        if name not in SPLITS and name not in (OPPONENT, "since", "until", *OF_ROUNDS):
            raise MetricError(f"no split or filter {name!r}")
    for name in by:
        if name not in SPLITS and name != OPPONENT:
            raise MetricError(f"{name!r} filters but does not split")
    conditions, values = [], []
    for name, value in given.items():
        if name not in OF_ROUNDS and name != OPPONENT:
            sql, more = _condition(name, value)
            conditions.append(sql)
            values += more
    opposed = OPPONENT in by or OPPONENT in given
    if not view and not opposed and not any(name in given for name in OF_ROUNDS):
        return f"(SELECT * FROM {TABLE}{_where(conditions)})", values
    chosen, first = _chosen(given)
    source = rows_of(view or "seat_rounds", "chosen" if chosen else None, None if chosen else upto)
    if opposed:
        source = (
            f"(SELECT r.*, o.player AS {OPPONENT}, o.seat AS other FROM {source} AS r "
            "JOIN seats AS o ON o.round_id = r.round_id AND o.seat <> r.seat)"
        )
        if OPPONENT in given:
            sql, more = _condition(OPPONENT, given[OPPONENT])
            conditions.append(sql)
            values += more
    narrowed = f"WITH chosen AS MATERIALIZED ({chosen}) " if chosen else ""
    return f"({narrowed}SELECT * FROM {source}{_where(conditions)})", [*first, *values]


def sample(connection: duckdb.DuckDBPyConnection, most: int) -> int | None:
    """The largest round_id of a sample of about `most` rounds, None where there are no more.

    Ids are digests of site, game and round: they know nothing of what was played, and the same rounds are always taken.
    """
    rounds = connection.execute("SELECT count(*) FROM rounds").fetchall()[0][0]
    return ((1 << 64) - 1) * most // rounds if rounds > most else None


def _chosen(given: dict[str, Any]) -> tuple[str, list[Any]]:
    """The rounds that the filters leave, so that nothing else of them is read; "" when they leave all."""
    conditions, values = [], []
    for name in OF_ROUNDS:
        if name in given:
            sql, more = _condition(f'"{name}"', given[name])
            conditions.append(sql)
            values += more
    for name in ("player", OPPONENT):
        if name in given:
            sql, more = _condition("player", given[name])
            conditions.append(f"round_id IN (SELECT round_id FROM seats WHERE {sql})")
            values += more
    for name in ("site", "ruleset", "base"):
        if conditions and name in given:
            sql, more = _condition(name, given[name])
            conditions.append(sql)
            values += more
    return (f"SELECT round_id FROM rounds{_where(conditions)}", values) if conditions else ("", [])


def _condition(name: str, value: Any) -> tuple[str, list[Any]]:
    """One filter as SQL with its parameters."""
    if name in ("since", "until"):
        return f"day {'>=' if name == 'since' else '<='} ?", [value]
    left = SPLITS.get(name, name)
    if isinstance(value, list | tuple | set | frozenset):
        chosen = sorted(value) if isinstance(value, set | frozenset) else list(value)
        return (f"({left}) IN ({', '.join('?' * len(chosen))})", chosen) if chosen else ("false", [])
    return f"({left}) IS NOT DISTINCT FROM ?", [value]


def _where(conditions: list[str]) -> str:
    return f" WHERE {' AND '.join(conditions)}" if conditions else ""


def polars(connection: duckdb.DuckDBPyConnection, query: str, values: Sequence[Any] = ()) -> pl.DataFrame:
    """The answer to a query as a frame."""
    return pl.DataFrame(connection.sql(query, params=list(values) or None).to_arrow_table())
