"""Checks 1-6, log integrity: what is wrong with the log itself, whoever gains by it.

Checks 1-4 are exact: a hit is a finding about the log, and none among n rounds says that, with 90 % confidence, less
than `detectable` of the rounds have such a fault.  Source: fairness.md, "Log integrity".
"""

import json
import math
from hashlib import blake2b

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, binom, binomtest, chi2, hypergeom

from analytics.fairness.battery import Check
from analytics.fairness.result import POWER, Result
from analytics.fairness.tables import GAMES, PROOF, Tables

TILES = ("fifth_tile", "tile_not_held")
SWAP = ("draw_not_from_wall", "wrong_replacement")
TWICE = 2 / 3  # of the swapped rounds that an account has a part in: planned for
GAPS = 30  # gaps from which on check 5 asks whose rounds are missing


def exact(number: int, name: str, tier: str, n: int, hits: np.ndarray, codes: dict[str, int], unit: str) -> Result:
    """The row of an exact check: hits are the round ids with a fault, n the rounds that could have shown one.

    A round with a fault could have shown one, whatever its coverage says: n is at least the number of hits.
    """
    n = max(n, len(hits))
    row = Result(number, name, "log", tier=tier, n=n, unit=unit, effect_unit="share")
    if not n:
        return row.not_run("no_rounds" if tier == "T1" else "tier")
    low, high = beta.ppf(0.025, len(hits), n - len(hits) + 1), beta.ppf(0.975, len(hits) + 1, n - len(hits))
    return row.but(
        status="flagged" if len(hits) else "passed",
        statistic=float(len(hits)),
        effect=len(hits) / n,
        low=float(low) if len(hits) else 0.0,
        high=float(high) if len(hits) < n else 1.0,
        power=1.0,
        detectable=1 - (1 - POWER) ** (1 / n),
        needed=1,
        note=json.dumps(codes, sort_keys=True) if codes else None,
        evidence=tuple(hits.tolist()),
    )


def faults(tables: Tables, which: str) -> tuple[np.ndarray, dict[str, int]]:
    """Rounds with a problem that the SQL condition lets through, and how many rounds each code has."""
    ids = tables.columns(f"SELECT DISTINCT round_id FROM problems WHERE {which} ORDER BY round_id")["round_id"]
    counts = tables.columns(
        f"SELECT code, count(DISTINCT round_id) AS n FROM problems WHERE {which} GROUP BY code ORDER BY code"
    )
    return ids, {str(code): int(n) for code, n in zip(counts["code"], counts["n"], strict=True)}


def listed(words: tuple[str, ...]) -> str:
    """Words as an SQL list."""
    return "(" + ", ".join(f"'{word}'" for word in words) + ")"


def tiles(tables: Tables) -> list[Result]:
    """1. Tile conservation.

    Statistic: rounds with a fifth copy of a kind, or a tile played that the hand doesn't hold.  Null: none.
    Tier T1: all hands and draws.  Unit: rounds with full coverage.
    """
    n = tables.one("SELECT count(*) FROM rounds WHERE coverage = 'full'")
    return [exact(1, "tiles", "T1", n, *faults(tables, f"code IN {listed(TILES)}"), "rounds")]


def legality(tables: Tables) -> list[Result]:
    """2. Rule legality.

    Statistic: rounds with any other violation, its game's included (dealer, raise, changed table); not proof and gaps.
    Null: none.  Tier T1.  Assumes that the round names the rules that were agreed: `kwx fit` tests that.
    """
    which = f"kind = 'violation' AND code NOT IN {listed(TILES + PROOF + GAMES)}"
    return [exact(2, "legality", "T1", tables.rounds, *faults(tables, which), "rounds")]


def settlement(tables: Tables) -> list[Result]:
    """3. Settlement recomputed.

    Statistic: rounds whose recorded result differs from the recomputed one in anything; also by site.  Null: none,
    residual 0, and payments sum to zero less the fee.  Tier T1.  Unit: rounds that record a result.
    """
    by_site = tables.columns(
        """
        SELECT coalesce(site, '') AS site, count(*) FILTER (verdict <> 'unpaid') AS n,
            coalesce(sum(mispaid), 0)::BIGINT AS points
        FROM rounds GROUP BY ALL ORDER BY site
        """
    )
    rows = []
    for site, n, points in zip(*(by_site[name] for name in ("site", "n", "points")), strict=True):
        quoted = str(site).replace("'", "''")
        ids, codes = faults(tables, f"kind = 'mismatch' AND coalesce(site, '') = '{quoted}'")
        row = exact(3, "settlement", "T1", int(n), ids, codes | {"points": int(points)}, "rounds")
        rows.append(row.but(scope="site", subject=str(site)))
    ids, codes = faults(tables, "kind = 'mismatch'")
    total = exact(3, "settlement", "T1", int(by_site["n"].sum()), ids, codes, "rounds")
    return [total, *(rows if len(rows) > 1 else [])]


def proof(tables: Tables) -> list[Result]:
    """4. Commitment and seed to wall; recorded draws against the recorded wall.

    Statistic: rounds in which the draws, the deal, the order, the commitment or the seed contradict one another.
    Null: none.  Tier T2 (T3 for the commitment).  By account: rounds whose first wrong draw was this account's, against
    one in three of such rounds, binomial; assumes that a fault of the recorder hits the seats alike.
    """
    n = tables.one("SELECT count(*) FROM rounds WHERE wall IS NOT NULL AND coverage = 'full'")
    rows = [exact(4, "proof", "T2", n, *faults(tables, f"code IN {listed(PROOF)}"), "rounds")]
    if not tables.rounds:
        return [rows[0].but(why="no_rounds")]
    first = tables.columns(
        f"""
        SELECT DISTINCT ON (p.round_id) p.round_id, p.seat FROM problems AS p
        WHERE code IN {listed(SWAP)} AND p.seat IS NOT NULL ORDER BY p.round_id, p.event, p.seat
        """
    )
    if not len(first["round_id"]):
        return rows
    seats = tables.columns(
        f"""
        SELECT round_id, seat, player FROM seats WHERE round_id IN
            (SELECT round_id FROM problems WHERE code IN {listed(SWAP)} AND seat IS NOT NULL)
        ORDER BY round_id, seat
        """
    )
    wrong = dict(zip(first["round_id"].tolist(), first["seat"].tolist(), strict=True))
    played: dict[str, list[int]] = {}
    drawn: dict[str, list[int]] = {}
    for ident, seat, player in zip(*(seats[name].tolist() for name in ("round_id", "seat", "player")), strict=True):
        if player:
            played.setdefault(player, []).append(ident)
            if wrong.get(ident) == seat:
                drawn.setdefault(player, []).append(ident)
    for player in sorted(played):
        k, of = len(drawn.get(player, ())), len(played[player])
        test = binomtest(k, of, 1 / 3, alternative="greater")
        bounds = test.proportion_ci(0.95, "exact")
        rows.append(
            Result(
                4, "swapped_draws", "account", "account", player, "T2", n=of, unit="rounds", statistic=float(k),
                effect=k / of, effect_unit="share", low=float(bounds.low), high=float(bounds.high),
                p=float(test.pvalue), needed=needed_swaps(), power=swaps_power(of, TWICE),
                detectable=seen_swaps(of), evidence=tuple(drawn.get(player, ())),
            )
        )  # fmt: skip
    return rows


def swaps_power(n: int, share: float, q: float = 0.01) -> float:
    """Chance that an account with this share of n swapped rounds is below q."""
    least = int(binom.isf(q, n, 1 / 3)) + 1  # P(X ≥ least) ≤ q
    return float(binom.sf(least - 1, n, share))


def seen_swaps(n: int) -> float | None:
    """Smallest share of n swapped rounds that is found with 90 % power; None where not even all of them is."""
    if swaps_power(n, 1.0) < POWER:
        return None
    return float(brentq(lambda share: swaps_power(n, share) - POWER, 1 / 3, 1.0))


def needed_swaps(q: float = 0.01) -> int:
    """Swapped rounds after which an account that gets all of them is below q: (1/3)^n ≤ q."""
    return math.ceil(math.log(q) / math.log(1 / 3))


def completeness(tables: Tables) -> list[Result]:
    """5. Completeness: gaps in the numbers of a game's rounds, and whose rounds are missing.

    Statistic: missing rounds; a game's end that is cut off can't be seen.  By account, where the rules let the winner
    deal next: the dealer after a gap of one round tells who won the missing one.  Fisher's exact test of "somebody else
    deals next" after gaps against after recorded rounds of the same account, one-sided; randomised by a number made
    from the data, so that it is uniform where rounds are lost whoever wins them.  Tier T1.
    """
    ids, codes = faults(tables, f"code IN {listed(GAMES)}")
    rows = [exact(5, "completeness", "T1", tables.rounds, ids, codes, "rounds")]
    steps = tables.columns(
        """
        SELECT s.player, count(*) FILTER (gap)::BIGINT AS gaps,
            count(*) FILTER (gap AND s.seat <> dealer)::BIGINT AS gap_others,
            count(*)::BIGINT AS n, count(*) FILTER (s.seat <> dealer)::BIGINT AS n_others,
            coalesce(list(round_id ORDER BY round_id) FILTER (gap AND s.seat <> dealer), [])[:50] AS ids
        FROM (
            SELECT round_id, dealer, round - lag(round) OVER game = 2 AS gap FROM rounds
            WINDOW game AS (PARTITION BY game_key ORDER BY round, round_id)
            QUALIFY round - lag(round) OVER game IN (1, 2)
        ) AS step
        JOIN (SELECT round_id, seat, player FROM seats WHERE player <> '') AS s USING (round_id)
        GROUP BY s.player HAVING count(*) FILTER (gap) > 0 ORDER BY s.player
        """
    )
    for player, gaps, gap_others, n, n_others, evidence in zip(*steps.values(), strict=True):
        row = Result(
            5, "missing_losses", "account", "account", str(player), n=int(gaps), unit="gaps", needed=GAPS,
            effect_unit="share", evidence=tuple(evidence),
        )  # fmt: skip
        if gaps < GAPS or gaps == n:
            rows.append(row.not_run("too_few"))
            continue
        after, usual = gap_others / gaps, (n_others - gap_others) / (n - gaps)
        se = math.sqrt(after * (1 - after) / gaps + usual * (1 - usual) / (n - gaps))
        chance = hypergeom(int(n), int(n_others), int(gaps))
        p = float(chance.sf(gap_others) + chance.pmf(gap_others) * uniform("missing_losses", player, n, n_others, gaps))
        spread = math.sqrt(usual * (1 - usual) * (1 / gaps + 1 / (n - gaps)))
        rows.append(
            row.but(
                statistic=float(gap_others), effect=after - usual, low=after - usual - 1.96 * se,
                high=after - usual + 1.96 * se, p=p, detectable=(2.326 + 1.2816) * spread,
                power=normal_power(0.3, spread),
            )
        )  # fmt: skip
    return rows


def uniform(*facts: object) -> float:
    """A number in (0, 1) made from the facts: the same for the same data, and as good as drawn."""
    digest = blake2b(repr([str(fact) for fact in facts]).encode(), digest_size=8).digest()
    return (int.from_bytes(digest, "little") + 0.5) / 2**64


def normal_power(effect: float, spread: float, alpha_z: float = 2.326) -> float:
    """Power of a one-sided test at level 1 % for an effect with this standard error."""
    if spread <= 0:
        return 1.0
    return 0.5 * math.erfc((alpha_z - effect / spread) / math.sqrt(2))


def repeats(tables: Tables) -> list[Result]:
    """6. Repeated walls and deals.

    Statistic: rounds whose three hands were dealt before, in the order from the dealer or from seat 0.  Null: two
    honest deals agree with a chance below 10^-25, so none is expected among any number of rounds; the p-value is
    that expectation.  A generator with 2^b states repeats after about 2^(b/2) rounds, whatever its seed is made of
    (start time, counter): `detectable` is the largest b that n rounds find with 90 % power.  Tier T1.
    """
    found = tables.columns("SELECT round_id, dealer, deal FROM rounds WHERE coverage = 'full' ORDER BY round_id")
    ids = found["round_id"]
    row = Result(6, "repeated_deals", "log", n=len(ids), unit="rounds", effect_unit="bits", needed=100_000)
    if not len(ids):
        return [row.not_run("no_rounds")]
    deals = np.frombuffer(b"".join(found["deal"]), np.uint8).reshape(-1, 3, 14)
    deals = np.sort(deals, axis=2)
    turned = deals[np.arange(len(ids))[:, None], (found["dealer"].astype(np.int64)[:, None] + np.arange(3)) % 3]
    best = np.zeros(0, np.int64)
    for hands in (deals, turned):
        keys = np.ascontiguousarray(hands.reshape(-1, 42)).view("S42").ravel()
        order = np.argsort(keys, kind="stable")
        again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
        again = order[np.unique(np.concatenate([again, again + 1]))] if len(again) else np.zeros(0, np.int64)
        best = again if len(again) > len(best) else best
    n, pairs = len(ids), len(best) / 2

    def bits(repeats: float) -> float:
        """States of a generator, as a power of two, from which so many repeats are expected."""
        return math.log2(max(n * n / (2 * repeats), 1))

    return [
        row.but(
            status="flagged" if len(best) else "passed",
            statistic=float(len(best)),
            effect=bits(pairs) if len(best) else None,  # none seen: above `low`, without a limit
            low=bits(chi2.isf(0.025, 2 * pairs + 2) / 2),
            high=bits(chi2.ppf(0.025, 2 * pairs) / 2) if len(best) else None,
            p=min(1.0, n * n * 1e-25) if len(best) else 1.0,
            power=1 - math.exp(-min(n * n / 2**33, 700)),
            detectable=bits(math.log(1 / (1 - POWER))),
            evidence=tuple(ids[np.sort(best)].tolist()),
        )
    ]


CHECKS = (
    Check(1, "tiles", "T1", tiles),
    Check(2, "legality", "T1", legality),
    Check(3, "settlement", "T1", settlement),
    Check(4, "proof", "T2", proof),
    Check(5, "completeness", "T1", completeness),
    Check(6, "repeated_deals", "T1", repeats),
)
