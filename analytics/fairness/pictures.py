"""What an audit shows beside its rows: the counts and running sums that its statistics are made of.

Plain lists for charts, a few thousand points at most however many rounds there are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import beta, kstwobign, norm

from analytics import starts
from analytics.fairness import accounts, deals, drift, multiplicity, shuffle
from analytics.fairness.result import Result
from analytics.fairness.tables import FAIR, Tables

POINTS = 300  # of a line
LINES = 6  # accounts whose e-process is drawn
Columns = dict[str, list[Any]]


def all_of(tables: Tables, rows: Sequence[Result]) -> dict[str, Columns]:
    """Every picture of an audit by name; one that the log doesn't tell has no rows."""
    return {
        "places": places(tables),
        "starts": start_shanten(tables),
        "bridges": bridges(tables),
        "bets": bets(tables, rows),
    }


def places(tables: Tables) -> Columns:
    """kind (0-20), place (0-2 hands, dealer first; 3-46 the wall), seen, expected, z; of rounds with a wall, else the
    hands alone."""
    for wall in (True, False):
        found, sizes, n = shuffle.place_counts(tables, wall)
        if n:
            break
    else:
        return {name: [] for name in ("kind", "place", "seen", "expected", "z")}
    expected = np.repeat(n * sizes[:, None] / shuffle.KINDS, shuffle.KINDS, axis=1)
    share = sizes / shuffle.TILES
    # copies of a kind in a place: hypergeometric, four of 84 tiles
    variance = n * sizes / shuffle.KINDS * (1 - 1 / shuffle.KINDS) * (1 - share) * shuffle.TILES / (shuffle.TILES - 1)
    z = (found - expected) / np.sqrt(variance)[:, None]
    place, kind = np.indices(found.shape)
    return {
        "kind": kind.ravel().tolist(), "place": place.ravel().tolist(), "seen": found.ravel().tolist(),
        "expected": expected.ravel().round(1).tolist(), "z": z.ravel().round(2).tolist(),
    }  # fmt: skip


def start_shanten(tables: Tables) -> Columns:
    """role (deals.ROLES), shanten, seen and exact share, n hands of the role."""
    out: Columns = {name: [] for name in ("role", "shanten", "hands", "share", "exact", "n")}
    found = tables.columns(
        f"SELECT (facts.seat - rounds.dealer + 3) % 3 AS role, start_shanten AS shanten, count(*)::BIGINT AS n "
        f"FROM facts JOIN rounds USING (round_id) WHERE {FAIR} GROUP BY ALL ORDER BY ALL"
    )
    for number, role in enumerate(deals.ROLES):
        mine = found["role"] == number
        seen = dict(zip(found["shanten"][mine].tolist(), found["n"][mine].tolist(), strict=True))
        n = sum(seen.values())
        if n:
            exact = starts.chances("shanten", 14 if number == 0 else 13)
            for value in sorted({*seen, *exact}):
                row = (role, value, seen.get(value, 0), seen.get(value, 0) / n, exact.get(value, 0.0), n)
                for name, one in zip(out, row, strict=True):
                    out[name].append(one)
    return out


def bridges(tables: Tables) -> Columns:
    """Per value of check 13: name, round (how many before), time_ms, away (the bridge), bound (not crossed in 999 of
    1,000 honest logs), turn (the likeliest time of a change)."""
    out: Columns = {name: [] for name in ("name", "round", "time_ms", "away", "bound", "turn")}
    bound = float(kstwobign.isf(multiplicity.ALPHA))
    for name, (values, _, times) in drift.values(tables).items():
        if len(values) < drift.LEAST or values.std() == 0:
            continue
        away = drift.bridge(values)
        turn = int(np.argmax(np.abs(away)))
        for at in thinned(len(values), turn):
            row = (name, at, int(times[at]), round(float(away[at]), 4), bound, at == turn)
            for column, one in zip(out, row, strict=True):
                out[column].append(one)
    return out


def bets(tables: Tables, rows: Sequence[Result]) -> Columns:
    """E-processes of draw luck of the accounts with the largest e-values: account, round (of its own), e."""
    out: Columns = {name: [] for name in ("account", "round", "e")}
    told = [row for row in rows if row.name == accounts.KINDS[0].name and row.e is not None]
    for row in sorted(told, key=lambda row: (-row.e, row.subject or ""))[:LINES]:
        found = tables.arrow(
            f"""
            SELECT useful_draws - useful_expected AS away, useful_variance AS variance
            FROM facts JOIN seats USING (round_id, seat) JOIN rounds USING (round_id)
            WHERE seats.player = ? AND facts.draws > 0 AND {FAIR}
            ORDER BY time_ms NULLS FIRST, game_key, round, round_id
            """,
            [row.subject],
        )
        away, variance = (np.cumsum(found[name].to_numpy()) for name in ("away", "variance"))
        process = accounts.e_value(away, variance)
        for at in thinned(len(process)):
            out["account"].append(row.subject)
            out["round"].append(at + 1)
            out["e"].append(float(process[at]))
    return out


def quantiles(rows: Sequence[Result]) -> Columns:
    """z of accounts or pairs against normal quantiles: subject, status, expected, z, and the band (low, high) that each
    place keeps to 95 % of the time, being a beta quantile of its rank."""
    found = sorted(
        (row for row in rows if row.statistic is not None and row.p is not None and row.subject is not None),
        key=lambda row: (row.statistic, row.subject),
    )
    n = len(found)
    rank = np.arange(n)
    return {
        "subject": [row.subject for row in found], "status": [row.status for row in found],
        "z": [row.statistic for row in found], "n": [row.n for row in found],
        "expected": norm.ppf((rank + 0.5) / n).tolist() if n else [],
        "low": norm.ppf(beta.ppf(0.025, rank + 1, n - rank)).tolist(),
        "high": norm.ppf(beta.ppf(0.975, rank + 1, n - rank)).tolist(),
    }  # fmt: skip


def thinned(n: int, keep: int | None = None) -> list[int]:
    """Places of POINTS of n points, evenly, the last and `keep` among them."""
    chosen = set(np.linspace(0, n - 1, min(n, POINTS)).round().astype(int).tolist()) if n else set()
    return sorted(chosen | ({keep} if keep is not None else set()))
