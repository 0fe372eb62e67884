"""Check 21, seating: do two accounts sit together more often than matchmaking puts them?

Source: fairness.md, "Pairs and groups".
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, triu

from analytics.fairness.battery import Check
from analytics.fairness.exact_sums import Counted, tails, two_sided
from analytics.fairness.multiplicity import WITH, benjamini_hochberg
from analytics.fairness.pair_rows import Pairs, rows, standing_out
from analytics.fairness.payers import people
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, PEOPLE, Tables

SLOT_MS = 3_600_000
LEAST = 30  # hours that both played at the same stake, with others there too
PLANNED = 0.3  # of those hours
PASSES = 4  # in which pairs that stand out are set aside, the strongest first
CHUNK = 20_000  # pairs counted at a time


class Sittings(NamedTuple):
    """Games: the hour, stake and rules they were queued for, as a number; the accounts; the first round."""

    slot: np.ndarray
    accounts: np.ndarray  # int64[n, 3]
    round_id: np.ndarray


class Places(NamedTuple):
    """Accounts in slots: slot × accounts + account, ascending; how many seats each took; and all seats of a slot."""

    key: np.ndarray
    seats: np.ndarray
    total: np.ndarray


def seating(tables: Tables) -> list[Result]:
    """21. Sitting together.

    Statistic: in how many of the hours in which both queued for the same rules and stake they met. Null: within such an
    hour, the seats are dealt by lot, so that the chance is 1 − (places left at other tables) as exactly as the hour's
    seats give it, and hours are independent: Poisson-binomial, exact up to 500 hours; p is two-sided and randomised.
    Hours with one table tell nothing. Hours in which an account sat with a partner that stands out are set aside for
    its other pairs. A hit is *noted*, never reviewed by itself: friends who queue together do nothing wrong; it counts
    as the second kind of check where another names the same pair. Tier T3: start times, accounts. Unit: hours, pairs
    with 30. Planned for: together in 0.3 of the hours more.
    """
    row = Result(21, "seating", "pair", tier="T3", unit="hours", effect_unit="of hours")
    found = tables.columns(
        f"""
        SELECT dense_rank() OVER (ORDER BY site, ruleset, options, base, slot) - 1 AS slot, game, round_id, number
        FROM (
            SELECT coalesce(site, '') AS site, ruleset, coalesce(options, '') AS options, base, number,
                dense_rank() OVER (ORDER BY game_key) - 1 AS game, time_ms // {SLOT_MS} AS slot, round_id
            FROM (
                SELECT *, row_number() OVER (PARTITION BY game_key ORDER BY round, round_id) AS place FROM rounds
                WHERE time_ms IS NOT NULL AND {FAIR}
            ) AS rounds JOIN seats USING (round_id) JOIN {PEOPLE} USING (player) WHERE place = 1
        ) ORDER BY slot, game, number
        """
    )
    if not len(found["slot"]):
        return [row.not_run("no_times" if tables.rounds else "no_rounds")]
    first, sizes = np.unique(found["game"], return_index=True, return_counts=True)[1:]
    whole = np.sort(first[sizes == 3])  # the rows of a game stand together
    if not len(whole):
        return [row.not_run("no_rounds")]
    accounts = found["number"][whole[:, None] + np.arange(3)]
    of = Sittings(found["slot"][whole], accounts, found["round_id"][whole])
    return judge(row, of, people(tables))


def judge(row: Result, of: Sittings, names: np.ndarray) -> list[Result]:
    """One row a pair that had LEAST hours."""
    accounts = len(names)
    set_aside = np.zeros(of.accounts.shape, bool)
    pairs = common_hours(of, set_aside, accounts)
    tested = pairs[pairs[:, 2] >= LEAST, :2]
    if not len(tested):
        return rows(row, None, len(pairs), PLANNED, LEAST)
    subjects = [f"{names[one]}{WITH}{names[two]}" for one, two in tested.tolist()]
    odd = np.zeros(len(tested), bool)
    first: Counted | None = None
    for _ in range(PASSES):
        found = count(of, set_aside, tested, accounts)
        if first is not None:  # those set aside keep what they were found by
            found = Counted(*(np.where(odd, one, other) for one, other in zip(first, found, strict=True)))
        p = two_sided(found.tails, subjects, row.name)
        new = standing_out(np.where(odd, 1.0, p), benjamini_hochberg(p), tested)
        first = found
        if not new.any():
            break
        odd |= new
        set_aside |= together(of, tested[odd], accounts)
    at_table = keys(of, accounts)

    def evidence(at: int) -> np.ndarray:
        one, two = tested[at].tolist()
        return of.round_id[(at_table == one * accounts + two).any(axis=1)]

    n = np.maximum(found.n, 1)
    away, scale = found.hits - found.expected, np.sqrt(found.variance) + 1e-12
    shown = Pairs(subjects, found.n, away / scale, away / n, scale / n, np.zeros(len(n)), p, evidence)
    return rows(row, shown, len(pairs) - len(tested), PLANNED, LEAST)


def keys(of: Sittings, accounts: int) -> np.ndarray:
    """The three pairs of each game, as one number each: int64[n, 3]."""
    seated = np.sort(of.accounts, axis=1)
    return seated[:, [0, 0, 1]] * accounts + seated[:, [1, 2, 2]]


def together(of: Sittings, pairs: np.ndarray, accounts: int) -> np.ndarray:
    """Which seats are held by an account that sits there with its partner of these pairs; bool[n, 3]."""
    out = np.zeros(of.accounts.shape, bool)
    wanted = np.sort(pairs @ [accounts, 1])
    for one, two in ((0, 1), (0, 2), (1, 2)):
        seats = np.sort(of.accounts[:, [one, two]], axis=1) @ [accounts, 1]
        out[:, [one, two]] |= np.isin(seats, wanted)[:, None]
    return out


def places(of: Sittings, set_aside: np.ndarray, accounts: int) -> Places:
    """Who is where how often, over slots where a place at more than one table could be had."""
    total = np.bincount(np.repeat(of.slot, 3), (~set_aside).ravel(), minlength=int(of.slot.max()) + 1).astype(np.int64)
    key = (of.accounts + accounts * of.slot[:, None])[~set_aside]
    key, seats = np.unique(key, return_counts=True)
    several = total[key // accounts] > 3
    return Places(key[several], seats[several], total)


def common_hours(of: Sittings, set_aside: np.ndarray, accounts: int) -> np.ndarray:
    """Pairs that have been at the same place: int64[pairs, 3], the accounts and how many hours, in order."""
    there = places(of, set_aside, accounts)
    shape = (accounts, int(of.slot.max()) + 1)
    here = csr_matrix((np.ones(len(there.key), np.int64), (there.key % accounts, there.key // accounts)), shape)
    common = triu(here @ here.T, 1).tocoo()
    found = np.stack([common.row, common.col, common.data], axis=1).astype(np.int64)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def count(of: Sittings, set_aside: np.ndarray, tested: np.ndarray, accounts: int) -> Counted:
    """Hours that each pair sat together, and the chances of it when seats are given by lot."""
    there = places(of, set_aside, accounts)
    order = np.argsort(there.key % accounts, kind="stable")
    begin = np.searchsorted(there.key[order] % accounts, np.arange(accounts + 1))
    hours = np.diff(begin)
    # look the shorter list of hours of the two up in the other's
    swap = hours[tested[:, 0]] > hours[tested[:, 1]]
    one, two = np.where(swap[:, None], tested[:, ::-1], tested).T
    met_key = np.unique((keys(of, accounts) + accounts * accounts * of.slot[:, None])[~set_aside.any(axis=1)])
    parts = []
    for start in range(0, len(tested), CHUNK):
        mine = slice(start, start + CHUNK)
        sizes = hours[one[mine]]
        pair = np.repeat(np.arange(len(sizes)), sizes)
        offset = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        at = order[begin[one[mine]][pair] + offset]
        slot = there.key[at] // accounts
        wanted = slot * accounts + two[mine][pair]
        other = np.minimum(np.searchsorted(there.key, wanted), len(there.key) - 1)
        both = there.key[other] == wanted
        pair, at, other, slot = pair[both], at[both], other[both], slot[both]
        left = there.total[slot] - there.seats[at]
        apart = np.ones(len(pair))
        for step in range(2):
            apart *= np.maximum(left - there.seats[other] - step, 0) / np.maximum(left - step, 1)
        p = np.clip(1 - apart ** there.seats[at], 1e-9, 1 - 1e-9)
        low, high = np.sort(tested[mine], axis=1).T
        key = low[pair] * accounts + high[pair] + accounts * accounts * slot
        found = np.minimum(np.searchsorted(met_key, key), len(met_key) - 1)
        met = np.bincount(pair, met_key[found] == key, len(sizes)).astype(np.int64)
        n = np.bincount(pair, minlength=len(sizes))
        chance = tails(np.log(p / (1 - p)), n, met, np.zeros(len(sizes)))
        parts.append((n, met, np.bincount(pair, p, len(sizes)), np.bincount(pair, p * (1 - p), len(sizes)), *chance))
    return Counted(*(np.concatenate(values) for values in zip(*parts, strict=True)))


CHECKS = (Check(21, "seating", "T3", seating),)
