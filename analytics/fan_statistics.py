"""Fans: how often, how much, what they bring together, which come together, and a round to look at for each.

A win's points are shared among its fans by logarithm: where fans multiply, a fan of value 4 gets twice what one of
value 2 gets; where they add up, the sum is shared in proportion to the values, and the reveal, which multiplies it,
gets its part of the logarithm.  A win without a fan is `plain` and keeps its points.  All this describes wins: that a
fan's wins are large says nothing of hands that aimed at it in vain.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import duckdb
import numpy as np
import polars as pl

from analytics import intervals
from analytics.intervals import Sums
from analytics.selection import SPLITS, Where, polars, source_of
from replay import ruleset

PLAIN = "plain"  # of a win without fans
REVEAL = "reveal"


def fans(connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ("ruleset",), where: Where = None) -> pl.DataFrame:
    """One row per cell and fan, largest contribution first.

    Columns: the splits; fan; wins (with it), n (all wins of the cell); share with share_low, share_high; multiple, the
    mean of the wins with it, and value, their mean win in stakes, each with _low and _high; stakes, what the fan is
    credited with; contribution, its part of all stakes won, with contribution_low, contribution_high.
    """
    return _fans(_cells(connection, by, where), by)


def _fans(cells: "Cells", by: Sequence[str]) -> pl.DataFrame:
    rows = []
    for cell, kinds in cells:
        total = sum(kind.wins for kind in kinds)
        every = [sum(kind.stakes for kind in kinds), sum(kind.squares for kind in kinds)]
        found: dict[str, list[tuple[_Kind, float]]] = defaultdict(list)
        for kind in kinds:
            for fan, part in shares(kind.fans, kind.rules).items():
                found[fan].append((kind, part))
        mine = []
        for fan, those in found.items():
            wins = sum(kind.wins for kind, _ in those)
            share = intervals.wilson(np.array([wins]), np.array([total]))
            multiple = _mean([(one.wins, one.multiple * one.wins, one.multiple**2 * one.wins) for one, _ in those])
            value = _mean([(kind.wins, kind.stakes, kind.squares) for kind, _ in those])
            credit = sum(kind.stakes * part for kind, part in those)
            moments = (credit, every[0], total, sum(kind.squares * part * part for kind, part in those),
                       sum(kind.squares * part for kind, part in those), every[1])  # fmt: skip
            part = intervals.mean(Sums(*(np.array([float(one)]) for one in moments)))
            part = intervals.Estimate(part.value, np.maximum(part.low, 0), np.minimum(part.high, 1))
            mine.append((*cell, fan, wins, total, *_flat(share), *multiple, *value, credit, *_flat(part)))
        at = len(by)
        rows += sorted(mine, key=lambda row: (-row[at + 12], row[at]))
    names = ["fan", "wins", "n"]
    for one in ("share", "multiple", "value", "contribution"):
        names += (["stakes"] if one == "contribution" else []) + [one, f"{one}_low", f"{one}_high"]
    return pl.DataFrame(rows, [*by, *names], orient="row", infer_schema_length=None).fill_nan(None)


def together(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ("ruleset",), where: Where = None
) -> pl.DataFrame:
    """One row per cell and pair of fans of one win, by name: wins with both, n, share and its interval, and lift.

    lift: the share over what it would be if the two came independently; above 1 they favour each other.
    """
    return _together(_cells(connection, by, where), by)


def _together(cells: "Cells", by: Sequence[str]) -> pl.DataFrame:
    rows = []
    for cell, kinds in cells:
        total = sum(kind.wins for kind in kinds)
        single: Counter[str] = Counter()
        both: Counter[tuple[str, str]] = Counter()
        for kind in kinds:
            names = sorted(set(kind.fans))
            for place, one in enumerate(names):
                single[one] += kind.wins
                for other in names[place + 1 :]:
                    both[one, other] += kind.wins
        for (one, other), wins in sorted(both.items()):
            found = intervals.wilson(np.array([wins]), np.array([total]))
            rows.append((*cell, one, other, wins, total, *_flat(found), wins * total / (single[one] * single[other])))
    names = [*by, "fan", "other", "wins", "n", "share", "low", "high", "lift"]
    return pl.DataFrame(rows, names, orient="row", infer_schema_length=None)


def multiples(
    connection: duckdb.DuckDBPyConnection, by: Sequence[str] = ("ruleset",), where: Where = None
) -> pl.DataFrame:
    """One row per cell, cap and multiple: wins, capped (the multiple is the cap), n, share with its interval, stakes.

    cap: the highest multiple that the table's rules pay, 0 for none; it lies within the multiple.
    """
    return _multiples(_cells(connection, by, where), by)


def _multiples(cells: "Cells", by: Sequence[str]) -> pl.DataFrame:
    rows = []
    for cell, kinds in cells:
        total = sum(kind.wins for kind in kinds)
        found: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0])
        for kind in kinds:
            at = found[kind.rules.cap, kind.multiple]
            at[0] += kind.wins
            at[1] += kind.stakes
        for (cap, multiple), (wins, stakes) in sorted(found.items()):
            share = intervals.wilson(np.array([wins]), np.array([total]))
            rows.append((*cell, cap, multiple, wins, 0 < cap <= multiple, total, *_flat(share), stakes))
    names = [*by, "cap", "multiple", "wins", "capped", "n", "share", "low", "high", "stakes"]
    return pl.DataFrame(rows, names, orient="row", infer_schema_length=None)


def examples(connection: duckdb.DuckDBPyConnection, where: Where = None) -> pl.DataFrame:
    """One win per fan to look at: fan, round_id, win_no; the one with fewest other fans, then the earliest key."""
    return _examples(_cells(connection, (), where))


def _examples(cells: "Cells") -> pl.DataFrame:
    best: dict[str, tuple[int, int, int]] = {}
    for _, kinds in cells:
        for kind in kinds:
            for fan in kind.fans:
                best[fan] = min(best.get(fan, (99, 0, 0)), (len(kind.fans), *kind.first))
    schema = {"fan": pl.String(), "round_id": pl.UInt64(), "win_no": pl.Int8()}
    return pl.DataFrame([(fan, *key) for fan, (_, *key) in sorted(best.items())], schema, orient="row")


def overview(connection: duckdb.DuckDBPyConnection, where: Where = None) -> dict[str, pl.DataFrame]:
    """What a page of fans shows, from one reading: fans, together and multiples of all wins, by_ruleset, examples."""
    by_ruleset = _cells(connection, ("ruleset",), where)
    every = [((), [kind for _, kinds in by_ruleset for kind in kinds])] if by_ruleset else []
    return {
        "fans": _fans(every, ()), "by_ruleset": _fans(by_ruleset, ("ruleset",)), "together": _together(every, ()),
        "multiples": _multiples(every, ()), "examples": _examples(every),
    }  # fmt: skip


class _Rules:
    """What of a ruleset decides how a win's points are shared."""

    def __init__(self, rules_id: str, options: str | None) -> None:
        values = ruleset.load(rules_id, json.loads(options or "{}")).values
        self.adds = values["score.combine"] == "add"
        self.cap = int(values["score.cap"])
        self.values = {name.removeprefix("fan."): value for name, value in values.items() if name.startswith("fan.")}


class _Kind:
    """Wins alike in everything that counts here: rules, stake, fans and multiple."""

    def __init__(
        self,
        rules: _Rules,
        base: int,
        fans: list[str],
        multiple: int,
        wins: int,
        points: float,
        squares: float,
        first: dict[str, int],
    ) -> None:
        self.rules, self.fans, self.multiple, self.wins = rules, fans, multiple, wins
        self.first = first["round_id"], first["win_no"]  # the earliest key
        self.stakes, self.squares = (points / base, squares / base**2) if base else (0.0, 0.0)


Cells = list[tuple[tuple[Any, ...], list[_Kind]]]  # in order, each with its kinds of wins in a fixed order
_rules = lru_cache(maxsize=256)(_Rules)


def shares(names: Sequence[str], rules: _Rules) -> dict[str, float]:
    """What part of its points each fan of a win is credited with; the parts add up to 1."""
    if not names:
        return {PLAIN: 1.0}
    count = Counter(names)
    worth = {fan: max(float(rules.values.get(fan, 1)), 1.0) for fan in count}
    if rules.adds:
        added = {fan: n * worth[fan] for fan, n in count.items() if fan != REVEAL}
        total = sum(added.values())
        weights = {fan: math.log(max(total, 1)) * part / total for fan, part in added.items()}
        if REVEAL in count:
            weights[REVEAL] = math.log(worth[REVEAL])
    else:
        weights = {fan: n * math.log(worth[fan]) for fan, n in count.items()}
    whole = sum(weights.values())
    return {fan: weights[fan] / whole if whole else 1 / len(count) for fan in count}


def _cells(connection: duckdb.DuckDBPyConnection, by: Sequence[str], where: Where) -> Cells:
    """The cells of the splits with their kinds of wins."""
    source, values = source_of(by, where, "win_rounds")
    keys = ", ".join(f"{SPLITS[name]} AS k{number}" for number, name in enumerate(by))
    columns = 'ruleset AS "rules", options, base AS stake, fans, multiple'
    groups = [f"k{number}" for number in range(len(by))] + ['"rules"', "options", "stake", "fans", "multiple"]
    frame = polars(
        connection,
        f"SELECT {keys}{', ' if keys else ''}{columns}, count(*) AS wins, CAST(sum(points) AS DOUBLE) AS points, "
        "CAST(sum(CAST(points AS HUGEINT) * points) AS DOUBLE) AS squares, "
        f"min({{'round_id': round_id, 'win_no': win_no}}) AS first FROM {source} "
        f"GROUP BY ALL ORDER BY {', '.join(f'{name} NULLS FIRST' for name in groups)}",
        values,
    )
    cells: dict[tuple[Any, ...], list[_Kind]] = {}
    at = len(by)
    for row in frame.iter_rows():
        rules_id, options, *rest = row[at:]
        cells.setdefault(row[:at], []).append(_Kind(_rules(rules_id, options), *rest))
    return list(cells.items())


def _mean(parts: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Mean and t interval of a sample given as (n, sum, sum of squares) in parts; wins are taken as independent."""
    n, total, squares = (float(sum(column)) for column in zip(*parts, strict=True))
    return _flat(intervals.mean(Sums(*(np.array([one]) for one in (total, n, n, squares, total, n)))))


def _flat(found: intervals.Estimate) -> tuple[float, float, float]:
    return float(found.value[0]), float(found.low[0]), float(found.high[0])
