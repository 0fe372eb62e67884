"""Check 24, timing: does an account think as people do?

Source: fairness.md, "Hidden information and automation".
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from analytics.fairness.battery import Check
from analytics.fairness.cohort import MEMBERS, cohort, judged
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, Tables

CHUNK = 50_000  # rounds held at a time
DECISIONS = 500  # of an account
DISCARDS = (2, 3)  # verbs of `rounds.events`
CLASSES = 4  # of a discard: forced (revealed); one nearest discard, two or three, more
SHORTEST, OCTAVES, STEPS = 5, 12, 16  # log2 of milliseconds: from 32 ms, 12 octaves, in sixteenths
BINS = OCTAVES * STEPS
EDGES = SHORTEST + np.arange(BINS + 1) / STEPS
FEW = 5  # times of a class below which its median is left out
GRID = np.linspace(-1, 4, 101)  # deviations at which shapes are compared: fast times are bounded by the finger
NOISE = 0.36  # mean of n × distance² of n times from their own distribution, scaled by their own mean and deviation
NAMES = ("time_difficulty", "time_sameness", "time_shape")


class Times(NamedTuple):
    """Of the accounts that have DECISIONS discards with times."""

    players: np.ndarray
    count: np.ndarray  # [accounts, CLASSES]
    total: np.ndarray  # of log2 of milliseconds
    square: np.ndarray
    bins: np.ndarray  # [accounts, CLASSES, BINS]
    top: np.ndarray  # rounds of each


QUERY = """
    WITH codes AS (SELECT player, row_number() OVER (ORDER BY player) - 1 AS code FROM people)
    SELECT events, times, who, choices FROM rounds
    JOIN (SELECT round_id, list(coalesce(code, -1)::INTEGER ORDER BY seat) AS who
        FROM seats LEFT JOIN codes USING (player) GROUP BY round_id) USING (round_id)
    JOIN (SELECT round_id, flatten(list(choices ORDER BY seat)) AS choices FROM facts GROUP BY round_id)
        USING (round_id)
    WHERE times IS NOT NULL AND len(times) = len(events) AND {fair}
"""


def times(tables: Tables) -> Times:
    """Sums of the times of discards by account and class."""
    people = f"""
        SELECT seats.player, arg_max(round_id, (discards, round_id), 50) AS top
        FROM facts JOIN seats USING (round_id, seat) JOIN rounds USING (round_id)
        WHERE seats.player <> '' AND times IS NOT NULL AND {FAIR}
        GROUP BY seats.player HAVING sum(discards) >= {DECISIONS}
    """
    found = tables.columns(f"{people} ORDER BY player")
    n = len(found["player"])
    count, total, square = (np.zeros(n * CLASSES) for _ in range(3))
    bins = np.zeros(n * CLASSES * BINS, np.int64)
    if n:
        query = QUERY.format(fair=FAIR).replace("FROM people", f"FROM ({people})")
        for part in tables.batches(query, CHUNK):
            cell, log = decisions(part)
            count += np.bincount(cell, minlength=len(count))
            # in whole units, so that sums come out the same in any order
            total += np.bincount(cell, np.rint(log * 65536), len(count))
            square += np.bincount(cell, np.rint(log * log * 65536), len(count))
            place = np.clip(((log - SHORTEST) * STEPS).astype(np.int64), 0, BINS - 1)
            bins += np.bincount(cell * BINS + place, minlength=len(bins))
    shape = (n, CLASSES)
    return Times(found["player"], count.reshape(shape), total.reshape(shape) / 65536, square.reshape(shape) / 65536,
                 bins.reshape(n, CLASSES, BINS), found["top"])  # fmt: skip


def decisions(part: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """The discards of a batch: (account × CLASSES + class, log2 of milliseconds)."""
    lists = [part.column(at) for at in range(4)]
    lengths = np.diff(lists[0].offsets.to_numpy())
    events, spent, who, choices = (one.flatten().to_numpy(zero_copy_only=False) for one in lists)
    row, verb = np.repeat(np.arange(len(lengths)), lengths), events >> 2 & 15
    at = np.flatnonzero((verb == DISCARDS[0]) | (verb == DISCARDS[1]))
    seat = row[at] * 3 + (events[at] & 3)
    at = at[np.argsort(seat, kind="stable")]  # by round and seat, as the choices stand
    account = who[row[at] * 3 + (events[at] & 3)].astype(np.int64)
    which = np.searchsorted([1, 2, 4], choices, side="right")
    mine = (account >= 0) & (spent[at] > 0)
    return account[mine] * CLASSES + which[mine], np.log2(spent[at][mine].astype(float))


def timing(tables: Tables) -> list[Result]:
    """24. Timing.

    Of an account's discards with times, in binary logarithms of milliseconds, by how hard they are: forced after the
    own reveal, one nearest discard (see 23), two or three, more.  Statistics, each in spreads of the cohort and
    one-sided: `time_difficulty`: slope of the class's median time on the class, in octaves a class; a program's is 0.
    Of discards that are not forced, whose times no clock or finger bounds from below: `time_sameness`, logarithm of the
    standard deviation within a class, that is before situations that repeat; lower for a program.  `time_shape`, less
    the logarithm of the Kolmogorov-Smirnov distance of the times within classes, scaled to deviation 1, from all other
    accounts', over what is usual at this n.  Null: the account is one of the cohort.  Tier T3: times.  Unit: discards.
    Blind to programs that imitate people's times and their difficulty.
    """
    base = Result(24, NAMES[0], "account", "account", tier="T3", unit="discards")
    rows = [base.but(name=name, scope="global") for name in NAMES]
    if not tables.has("facts"):
        return [row.not_run("tier") for row in rows]
    if not tables.one(f"SELECT count(*) FROM rounds WHERE times IS NOT NULL AND {FAIR}"):
        return [row.not_run("no_times" if tables.rounds else "no_rounds") for row in rows]
    found = times(tables)
    if len(found.players) < MEMBERS:
        return [row.but(n=len(found.players), unit="accounts").not_run("too_few", needed=MEMBERS) for row in rows]
    return [
        *difficulty(base, found),
        *sameness(base.but(name=NAMES[1]), found),
        *shape(base.but(name=NAMES[2]), found),
    ]


def members(base: Result, found: Times, values: np.ndarray, error: np.ndarray, unit: str,
            planned: float | None = None) -> list[Result]:  # fmt: skip
    """The rows of one statistic that is lower for programs.  planned: how much lower, None: all of it."""
    of, base = cohort(values, error), base.but(effect_unit=unit)
    planned = abs(of.centre) if planned is None else planned
    return [
        judged(
            base.but(subject=str(player), n=int(found.count[at].sum()), evidence=tuple(found.top[at])),
            of, at, planned, lower=True,
        )
        for at, player in enumerate(found.players)
    ]  # fmt: skip


def medians(found: Times) -> np.ndarray:
    """Median of each account and class, between the edges of its bin: [accounts, CLASSES], 0 for none."""
    out = np.zeros(found.count.shape)
    for one, which in zip(*np.nonzero(found.count), strict=True):
        below = np.concatenate([[0], np.cumsum(found.bins[one, which])])
        out[one, which] = np.interp(found.count[one, which] / 2, below, EDGES)
    return out


def within(found: Times) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of discards that are not forced: [accounts], means [accounts, CLASSES], variance within classes [accounts]."""
    n, mean = found.count[:, 1:].sum(axis=1), found.total / np.maximum(found.count, 1)
    left = (found.square - found.count * mean**2)[:, 1:].sum(axis=1)
    return n, mean, np.maximum(left / np.maximum(n, 1), 0.0) + 1 / STEPS**2 / 12  # no finer than a step of the bins


def difficulty(base: Result, found: Times) -> list[Result]:
    """Slope of the time on the class."""
    level, n = np.arange(CLASSES), np.where(found.count >= FEW, found.count, 0)
    middle = (n * level).sum(axis=1) / n.sum(axis=1)
    away = level[None, :] - middle[:, None]
    spread = np.maximum((n * away**2).sum(axis=1), 1e-9)
    slope = (n * medians(found) * away).sum(axis=1) / spread
    error = 1.25 * np.sqrt(within(found)[2] / spread)  # a median's is that much a mean's
    return members(base, found, slope, error, "octaves")


def sameness(base: Result, found: Times) -> list[Result]:
    """Logarithm of the deviation within classes."""
    n, _, variance = within(found)
    error = 1.5 / np.sqrt(2 * np.maximum(n, 1))  # tails heavier than the bell's
    return members(base, found, np.log(variance) / 2, error, "log", 1.0)


def shapes(found: Times) -> np.ndarray:
    """Share of each account's times at or below each point of GRID, scaled within classes: [accounts, GRID]."""
    n, mean, variance = within(found)
    spread = np.sqrt(variance)
    out = np.zeros((len(n), len(GRID)))
    for one, which in zip(*np.nonzero(found.count[:, 1:]), strict=True):
        below = np.concatenate([[0], np.cumsum(found.bins[one, which + 1])])
        out[one] += np.interp(mean[one, which + 1] + spread[one] * GRID, EDGES, below)
    return out / np.maximum(n, 1)[:, None]


def shape(base: Result, found: Times) -> list[Result]:
    """Distance of the shape from that of all others, by what honest accounts have at so many discards."""
    n, mine = np.maximum(within(found)[0], 1), shapes(found)
    whole = (n[:, None] * mine).sum(axis=0)
    others = (whole - n[:, None] * mine) / (n.sum() - n)[:, None]
    distance = np.abs(mine - others).max(axis=1)
    many = n >= np.median(n)
    own = max(float(np.median(distance[many] ** 2 - NOISE / n[many])), 0.0)  # that people differ by, squared
    values = -np.log((distance + 1e-6) / np.sqrt(own + NOISE / n))
    rows = members(base, found, values, np.full(len(n), 0.25), "log", 1.5)
    return [row.but(needed=None) for row in rows]  # an error that does not shrink with n says nothing of it


CHECKS = (Check(24, "timing", "T3", timing),)
