"""Continuous monitoring: e-values of the accounts' draws, which may be looked at after every round, for ever.

A p-value that is refreshed until it is small is none.  An e-process is: under fair walls it is a supermartingale that
starts at 1, so that an honest account ever reaches 1/q with a chance of at most q, whenever and how often one looks.
Source: fairness.md, Contract 4.
"""

import numpy as np
import polars as pl

from analytics.fairness import multiplicity
from analytics.fairness.accounts import KINDS, Kind, e_value, sums
from analytics.fairness.tables import FAIR, Tables

KIND = {kind.name: kind for kind in KINDS}


def now(tables: Tables, q: float = multiplicity.Q) -> pl.DataFrame:
    """Every account's e-values as of the last round: name (of the check's row), check, player, n (draws), e, and
    `found`: whether e-BH at rate q names it among all accounts of that row.  Ordered by check, name, −e, player."""
    parts = []
    for kind in KINDS:
        found = sums(tables, kind)
        e = values(found["hits"] - found["expected"], found["variance"], kind)
        parts.append(
            pl.DataFrame(
                {
                    "name": [kind.name] * len(e), "check": [kind.check] * len(e), "player": found["player"].astype(str),
                    "n": found["draws"].astype(np.int64), "e": e, "found": multiplicity.e_benjamini_hochberg(e, q),
                },
                {"name": pl.String, "check": pl.Int64, "player": pl.String, "n": pl.Int64, "e": pl.Float64,
                 "found": pl.Boolean},
            )
        )  # fmt: skip
    return pl.concat(parts).sort("check", "name", "e", "player", descending=[False, False, True, False])


def line(tables: Tables, player: str, name: str = "draw_luck") -> pl.DataFrame:
    """An account's e-process in order of time: n (its rounds with such draws), round_id, time_ms, draws so far,
    e, and most: the highest so far, which crosses 1/q at most once in 1/q honest accounts.  KeyError for no such row.
    """
    kind = KIND[name]
    quoted = player.replace("'", "''")
    found = tables.columns(
        f"""
        SELECT round_id, rounds.time_ms, f.{kind.draws}::BIGINT AS draws, f.{kind.hits} - f.{kind.expected} AS away,
            f.{kind.variance} AS variance
        FROM facts AS f JOIN seats AS s USING (round_id, seat) JOIN rounds USING (round_id)
        WHERE s.player = '{quoted}' AND f.{kind.draws} > 0 AND {FAIR}
        ORDER BY rounds.time_ms NULLS LAST, rounds.game_key, rounds.round, round_id
        """
    )
    e = values(np.cumsum(found["away"]), np.cumsum(found["variance"]), kind)
    return pl.DataFrame(
        {
            "n": np.arange(1, len(e) + 1), "round_id": found["round_id"].astype(np.uint64),
            "time_ms": pl.Series(found["time_ms"].astype(float)).fill_nan(None).cast(pl.Int64),
            "draws": np.cumsum(found["draws"]), "e": e, "most": np.maximum.accumulate(e),
        }
    )  # fmt: skip


def values(away: np.ndarray, variance: np.ndarray, kind: Kind) -> np.ndarray:
    """E-values of sums less their means."""
    return e_value(away / kind.most, variance / kind.most**2)
