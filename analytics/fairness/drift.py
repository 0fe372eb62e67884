"""Check 13, drift: has the shuffle changed at some time?

Source: fairness.md, "Shuffle, global".
"""

import json

import numpy as np
from scipy.stats import kstwobign, norm

from analytics import starts
from analytics.fairness.battery import Check
from analytics.fairness.multiplicity import ALPHA
from analytics.fairness.result import Result
from analytics.fairness.shuffle import WALL, bytes_of, pair_moments
from analytics.fairness.tables import FAIR, Tables

LEAST = 400
PLANNED = 0.1  # shift, in standard deviations of a round, that is planned for
NAMES = ("drift_start", "drift_dragons", "drift_draws", "drift_pairs")
ORDER = f"WHERE {FAIR} AND time_ms IS NOT NULL"


def drift(tables: Tables) -> list[Result]:
    """13. Drift.

    Statistic: the largest distance from its chord of the running sum of a round's value, in time's order, over its
    standard deviation times √n; a Brownian bridge under the null, so Kolmogorov's distribution.  Values: equal
    neighbours in the wall; starting shanten of the three hands less their exact means; useful draws less their chances;
    dragons dealt to the dealer.  Null: rounds are independent and alike.  Tier T1, the wall T2; start times.  Unit:
    rounds.  The note names the likeliest time of change; a fault that was always there is no drift.  By build of the
    server it can't run: log formats have no field for it, and keys of a log that start with _ are not kept.
    """
    row = Result(13, "drift_start", "shuffle", unit="rounds", effect_unit="SD")
    by_build = row.but(name="drift_build", scope="global").not_run("no_build" if tables.rounds else "no_rounds")
    if not tables.one(f"SELECT count(*) FROM rounds {ORDER}"):
        return [*(row.but(name=name).not_run("no_times" if tables.rounds else "no_rounds") for name in NAMES), by_build]
    out, found = [by_build], values(tables)
    for name in NAMES:
        one = row.but(name=name, tier="T2" if name == "drift_pairs" else "T1")
        out.append(change(one, *found[name]) if name in found else one.not_run("tier"))
    return out


def values(tables: Tables) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """What the log tells of each value in time's order: (value, round_id, time in ms), an array each."""
    out = {}
    if tables.has("facts"):
        found = tables.columns(
            f"""
            SELECT round_id, time_ms, sum(start_shanten)::DOUBLE AS shanten,
                sum(CASE WHEN facts.seat = rounds.dealer THEN start_dragons END)::DOUBLE AS dragons,
                sum(useful_draws - useful_expected) AS draws
            FROM rounds JOIN facts USING (round_id) {ORDER}
            GROUP BY round_id, time_ms, game_key, round ORDER BY time_ms, game_key, round, round_id
            """
        )
        fair = starts.moments("shanten", 14)[0] + 2 * starts.moments("shanten", 13)[0]
        each = (found["shanten"] - fair, found["dragons"], found["draws"])
        out = {name: (one, found["round_id"], found["time_ms"]) for name, one in zip(NAMES, each, strict=False)}
    found = tables.columns(
        f"SELECT round_id, time_ms, wall FROM rounds {ORDER} AND wall IS NOT NULL "
        "ORDER BY time_ms, game_key, round, round_id"
    )
    if len(found["wall"]):
        walls = bytes_of(found["wall"], WALL)
        pairs = (walls[:, 1:] == walls[:, :-1]).sum(axis=1) - pair_moments(WALL)[1][0]
        out["drift_pairs"] = pairs, found["round_id"], found["time_ms"]
    return out


def bridge(values: np.ndarray) -> np.ndarray:
    """The running sum less its chord over its standard deviation times √n: a Brownian bridge under the null."""
    return np.cumsum(values - values.mean()) / (float(values.std()) * np.sqrt(len(values)))


def change(row: Result, values: np.ndarray, ids: np.ndarray, times: np.ndarray) -> Result:
    """The row of one value in time's order."""
    n = len(values)
    row = row.but(n=n)
    spread = float(values.std()) if n else 0.0
    if n < LEAST or spread == 0:
        return row.not_run("too_few", needed=LEAST)
    away = bridge(values)
    at = int(np.argmax(np.abs(away)))
    distance = float(abs(away[at]))
    before, after = values[: at + 1], values[at + 1 :]
    shift = float((after.mean() - before.mean()) / spread) if len(after) else 0.0
    se = float(np.sqrt(1 / (at + 1) + 1 / max(n - at - 1, 1)))
    # a shift of d standard deviations in the middle moves the bridge by d √n / 4
    bound = float(kstwobign.isf(ALPHA))
    reach = bound + 0.64  # the bridge's own spread in its middle is 1/2; 1.28 of them for 90 %
    return row.but(
        statistic=distance,
        effect=shift,
        low=shift - 1.96 * se,
        high=shift + 1.96 * se,
        p=float(kstwobign.sf(distance)),
        power=float(norm.cdf((PLANNED * np.sqrt(n) / 4 - bound) / 0.5)),
        detectable=4 * reach / float(np.sqrt(n)),
        needed=int(np.ceil((4 * reach / PLANNED) ** 2)),
        note=json.dumps({"time_ms": int(times[at]), "rounds_before": at + 1}),
        evidence=(int(ids[at]),),
    )


CHECKS = (Check(13, "drift", "T1", drift),)
