"""Checks 7-10, the shuffle as a whole: is a wall one of all orders of 84 tiles, each as likely as any other?

All nulls are exact in their first two moments, for a uniformly random order of 21 kinds with four copies each, and
normal or χ² in the sum over rounds.  A log shows hands without their order, so the hands stand as groups of places.
Source: fairness.md, "Shuffle, global".
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm

from analytics.fairness.battery import Check
from analytics.fairness.multiplicity import ALPHA
from analytics.fairness.result import POWER, Result
from analytics.fairness.tables import FAIR, Tables

KINDS, COPIES, TILES, WALL = 21, 4, 84, 44
CHUNK = 100_000  # rounds held at a time
LAGS = 12  # distances between equal tiles that check 8 looks at
LEAST = 100  # rounds below which sums are not normal enough
PLANNED = 0.05  # effect that 7 and 10 are planned for: root of the mean squared relative bias of a cell


def chi_square(row: Result, statistic: float, df: int, scale: float, planned: float = PLANNED) -> Result:
    """The row of a χ² test whose non-centrality is scale × effect²: p, effect with interval, power."""
    bound = chi2.isf(ALPHA, df)

    def noncentrality(at: float, share: float) -> float:
        """That which puts `at` at this quantile; 0 when even the centre lies above."""
        if chi2.cdf(at, df) < share:
            return 0.0
        return float(brentq(lambda nc: ncx2.cdf(at, df, nc) - share, 0, 2 * at + 200, xtol=1e-6))

    def power_at(nc: float) -> float:
        return float(ncx2.sf(bound, df, nc)) if nc > 0 else ALPHA

    seen = brentq(lambda nc: power_at(nc) - POWER, 1e-9, 50 * bound, xtol=1e-6)
    return row.but(
        statistic=statistic,
        effect=math.sqrt(max(statistic - df, 0) / scale),
        effect_unit="relative bias",
        low=math.sqrt(noncentrality(statistic, 0.975) / scale),
        high=math.sqrt(noncentrality(statistic, 0.025) / scale),
        p=float(chi2.sf(statistic, df)),
        power=power_at(planned**2 * scale),
        detectable=math.sqrt(seen / scale),
        needed=math.ceil(row.n * seen / (planned**2 * scale)),
    )


def normal(row: Result, z: float, effect: float, spread: float, unit: str, planned: float) -> Result:
    """The row of a two-sided z-test: effect with standard error `spread`."""
    bound = norm.isf(ALPHA / 2)
    return row.but(
        statistic=z,
        effect=effect,
        effect_unit=unit,
        low=effect - 1.96 * spread,
        high=effect + 1.96 * spread,
        p=float(2 * norm.sf(abs(z))),
        power=float(norm.sf(bound - planned / spread)),
        detectable=float((bound + norm.isf(1 - POWER)) * spread),
        needed=math.ceil(row.n * ((bound + norm.isf(1 - POWER)) * spread / planned) ** 2),
    )


def bytes_of(column: np.ndarray, width: int) -> np.ndarray:
    """Blobs of one width as uint8[n, width]."""
    return np.frombuffer(b"".join(column), np.uint8).reshape(-1, width)


def deals(tables: Tables, wall: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Chunks of (dealer's hand first: kinds uint8[n, 3, 14] with 255 for none, wall uint8[n, 44]) of fair rounds."""
    more = "AND wall IS NOT NULL" if wall else ""
    for part in tables.chunks(f"SELECT dealer, deal, wall FROM rounds WHERE {FAIR} {more}", CHUNK):
        hands = bytes_of(part["deal"], 42).reshape(-1, 3, 14)
        order = (part["dealer"].astype(np.int64)[:, None] + np.arange(3)) % 3
        hands = hands[np.arange(len(hands))[:, None], order]
        yield hands, bytes_of(part["wall"], WALL) if wall else np.zeros((len(hands), 0), np.uint8)


def counts(hands: np.ndarray) -> np.ndarray:
    """Tiles by kind of each group of tiles: int64[groups, 21] from uint8[n, groups, tiles], over all n."""
    groups = hands.shape[1]
    held = hands < KINDS
    cells = (np.arange(groups)[None, :, None] * KINDS + hands)[held]
    return np.bincount(cells, minlength=groups * KINDS).reshape(groups, KINDS)


def place_counts(tables: Tables, wall: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """(tiles by kind of each place int64[places, 21], tiles that each place has in a round, rounds).

    Places: the hands of the dealer, the next and the one before, then the 44 tiles of the wall, or all of them as one.
    """
    sizes = np.array([14, 13, 13] + ([1] * WALL if wall else [WALL]))
    found, n = np.zeros((len(sizes), KINDS), np.int64), 0
    for hands, tiles in deals(tables, wall):
        n += len(hands)
        found[:3] += counts(hands)
        if wall:
            found[3:] += counts(tiles[:, :, None])
    if not wall:
        found[3] = n * COPIES - found[:3].sum(axis=0)
    return found, sizes, n


def places(tables: Tables, wall: bool) -> Result:
    """Kind × place of one form of check 7."""
    found, sizes, n = place_counts(tables, wall)
    name, tier = ("kind_by_place", "T2") if wall else ("kind_by_hand", "T1")
    row = Result(7, name, "shuffle", tier=tier, n=n)
    if n < LEAST:
        return row.not_run("too_few" if n else "tier" if wall else "no_rounds", needed=LEAST)
    expected = n * sizes[:, None] / KINDS
    pearson = float(((found - expected) ** 2 / expected).sum()) * (TILES - 1) / TILES
    worst = np.unravel_index(np.argmax(np.abs(found - expected) / np.sqrt(expected)), found.shape)
    note = f'{{"kind":{worst[1]},"place":{worst[0]},"seen":{found[worst]}}}'
    return chi_square(row.but(note=note), pearson, (KINDS - 1) * (len(sizes) - 1), n * TILES)


def kind_by_place(tables: Tables) -> list[Result]:
    """7. Kind × position.

    Statistic: Pearson's χ² over the counts of 21 kinds in 47 places (three hands, dealer first, and the 44 tiles of the
    wall), times 83/84 since both margins of every wall are fixed; df 20 × 46.  The deal-only form has the three hands
    and all the rest; df 60.  Null: uniform orders.  Tier T2, deal-only T1.  Unit: rounds.  Blind to what leaves each
    place's average alone, such as better hands for one account.
    """
    return [places(tables, True), places(tables, False)]


def pair_moments(length: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Of equal pairs of tiles at distance 1..LAGS in `length` consecutive tiles: chance of one, means, covariances."""
    one = 3 / 83
    shared = one * 2 / 82  # two pairs with a tile in common: three equal tiles
    apart = one * (80 / 82 * 3 / 81 + 2 / 82 * 1 / 81)  # two pairs without
    means = np.array([(length - lag) * one for lag in range(1, LAGS + 1)])
    cover = np.empty((LAGS, LAGS))
    starts = np.arange(length)
    for a in range(1, LAGS + 1):
        i = starts[: length - a, None]
        for b in range(1, LAGS + 1):
            j = starts[None, : length - b]
            common = (i == j).astype(int) + (i == j + b) + (i + a == j) + (i + a == j + b)
            joint = np.where(common == 2, one, np.where(common == 1, shared, apart))
            cover[a - 1, b - 1] = joint.sum() - means[a - 1] * means[b - 1]
    return one, means, cover


def order_in_wall(tables: Tables) -> list[Result]:
    """8. Order within a wall.

    Statistics: adjacent equal pairs (z; mean 43·3/83 a wall), and equal pairs at distances 1-12 together (χ²₁₂ with
    their exact covariance).  Null: uniform orders.  Tier T2.  Unit: walls.  A deck that is riffled too little keeps
    equal tiles together.
    """
    total, n = np.zeros(LAGS, np.int64), 0
    for _, wall in deals(tables, True):
        n += len(wall)
        total += [int((wall[:, lag:] == wall[:, :-lag]).sum()) for lag in range(1, LAGS + 1)]
    row = Result(8, "adjacent_pairs", "shuffle", tier="T2", n=n, unit="walls")
    if n < LEAST:
        why = "too_few" if n else "tier"
        return [row.not_run(why, needed=LEAST), row.but(name="pair_distances").not_run(why, needed=LEAST)]
    _, means, cover = pair_moments(WALL)
    spread = math.sqrt(cover[0, 0] / n)
    effect = total[0] / n - means[0]
    adjacent = normal(row, effect / spread, float(effect), spread, "pairs a wall", 0.15)
    away = total - n * means
    statistic = float(away @ np.linalg.solve(n * cover, away))
    return [adjacent, chi_square(row.but(name="pair_distances"), statistic, LAGS, float(n * means.sum()))]


def match_moments(length: int) -> tuple[float, float]:
    """Mean and variance of the equal tiles at the same place in `length` places of two independent walls."""
    both = KINDS * (12 / (84 * 83)) ** 2 + KINDS * (KINDS - 1) * (16 / (84 * 83)) ** 2
    one = 1 / KINDS
    return length * one, length * one * (1 - one) + length * (length - 1) * (both - one * one)


def carried_over(tables: Tables) -> list[Result]:
    """9. Matches with the walls before.

    Statistic: equal tiles at the same place of the wall and of the k-th wall before it at the same table (k = 1-3) and
    on the same site by time (k = 1), z with the exact variance; walls are independent given the one before, so the
    matches are uncorrelated.  Null: uniform orders.  Tier T2 (by time: with start times).  Unit: pairs of walls.
    """
    mean, variance = match_moments(WALL)
    asked = [("table", lag, "game_key", "round, round_id") for lag in (1, 2, 3)]
    asked.append(("site", 1, "coalesce(site, '')", "time_ms, game_key, round, round_id"))
    rows = []
    for what, lag, group, order in asked:
        timed = "AND time_ms IS NOT NULL" if what == "site" else ""
        matches = n = 0
        evidence: list[tuple[int, int]] = []
        for part in tables.chunks(
            f"SELECT round_id, wall, lag(wall, {lag}) OVER (PARTITION BY {group} ORDER BY {order}) AS before "
            f"FROM rounds WHERE wall IS NOT NULL AND {FAIR} {timed} QUALIFY before IS NOT NULL",
            CHUNK,
        ):
            same = (bytes_of(part["wall"], WALL) == bytes_of(part["before"], WALL)).sum(axis=1)
            matches += int(same.sum())
            n += len(same)
            top = np.lexsort((part["round_id"], -same))[:50]
            evidence += [(-int(same[at]), int(part["round_id"][at])) for at in top if same[at] > 12]
        row = Result(9, f"matches_{what}_{lag}", "shuffle", tier="T2", n=n, unit="pairs of walls")
        if n < LEAST:
            rows.append(row.not_run("too_few" if n else "tier", needed=LEAST))
            continue
        spread = math.sqrt(variance / n)
        effect = matches / n - mean
        row = row.but(evidence=tuple(ident for _, ident in sorted(evidence)))
        rows.append(normal(row, effect / spread, effect, spread, "tiles a wall", 0.3))
    return rows


def drawn_kinds(tables: Tables) -> list[Result]:
    """10. Drawn kinds against what is left.

    Statistic: per kind the sum over all draws of 1[drawn] − r/R, with r copies of it among the R tiles left; a
    martingale whatever anyone plays and whenever rounds end.  Quadratic form with the sum of the conditional
    covariances, χ²₂₀.  Null: the next tile is uniform over the rest.  Tier T1: all hands and draws.  Unit: draws.
    """
    away, cover, n = np.zeros(KINDS), np.zeros((KINDS, KINDS)), 0
    for hands, drawn in draws_of(tables):
        left = COPIES - counts_each(hands.reshape(len(hands), -1))
        for place in range(drawn.shape[1]):
            at = np.flatnonzero(drawn[:, place] < KINDS)
            if not len(at):
                break
            tile = drawn[at, place]
            p = left[at] / left[at].sum(axis=1)[:, None]
            away += np.bincount(tile, minlength=KINDS) - p.sum(axis=0)
            cover += np.diag(p.sum(axis=0)) - p.T @ p
            left[at, tile] -= 1
            n += len(at)
    row = Result(10, "drawn_kinds", "shuffle", n=n, unit="draws")
    if n < 20 * LEAST:
        return [row.not_run("too_few" if n else "no_rounds", needed=20 * LEAST)]
    statistic = float(away @ np.linalg.pinv(cover, hermitian=True) @ away)
    return [chi_square(row, statistic, KINDS - 1, float(n))]


def counts_each(tiles: np.ndarray) -> np.ndarray:
    """Tiles by kind of each row: int64[n, 21] from uint8[n, tiles]; 255 is none."""
    n = len(tiles)
    held = tiles < KINDS
    cells = (np.arange(n)[:, None] * KINDS + tiles)[held]
    return np.bincount(cells, minlength=n * KINDS).reshape(n, KINDS)


def draws_of(tables: Tables) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Chunks of (deal uint8[n, 3, 14], tiles drawn in order uint8[n, 44], 255 after the last) of rounds with draws."""
    query = (
        f"SELECT deal, d.tiles FROM rounds JOIN (SELECT round_id, list(tile ORDER BY n) AS tiles FROM draws "
        f"GROUP BY round_id) AS d USING (round_id) WHERE {FAIR} ORDER BY round_id"
    )
    for part in tables.chunks(query, CHUNK):
        lengths = np.array([len(one) for one in part["tiles"]])
        drawn = np.full((len(lengths), WALL), 255, np.uint8)
        drawn[np.arange(WALL)[None, :] < lengths[:, None]] = np.concatenate(part["tiles"])
        yield bytes_of(part["deal"], 42).reshape(-1, 3, 14), drawn


CHECKS = (
    Check(7, "kind_by_place", "T1", kind_by_place),
    Check(8, "order_in_wall", "T2", order_in_wall),
    Check(9, "carried_over", "T2", carried_over),
    Check(10, "drawn_kinds", "T1", drawn_kinds),
)
