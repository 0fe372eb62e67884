"""Check 23, hidden information: does an account act on what it cannot see?

Source: fairness.md, "Hidden information and automation".
"""

import numpy as np
from scipy.stats import norm

from analytics.fairness.accounts import LEAST, LEVEL, two_sided
from analytics.fairness.battery import Check
from analytics.fairness.cohort import MEMBERS, cohort, judged
from analytics.fairness.result import POWER, Result
from analytics.fairness.tables import FAIR, Tables

CHOICES = 40  # decisions of an account below which its share says nothing
AVOIDED = 0.5  # share of the hidden waits kept back that the check is planned for
CALLED = 0.1  # planned for: draws after calls that are chosen, as a share


def choices(tables: Tables) -> dict[str, np.ndarray]:
    """Per account: decisions with hidden and with open waits among the nearest discards, fed and expected."""
    sums = ", ".join(
        f"sum({kind}_choices)::BIGINT AS {kind}, sum({kind}_fed)::BIGINT AS {kind}_fed, "
        f"sum({kind}_expected) AS {kind}_expected" for kind in ("hidden", "open")
    )  # fmt: skip
    return tables.columns(
        f"""
        SELECT player, {sums}, arg_max(round_id, (hidden_expected - hidden_fed, round_id), 50)
            FILTER (hidden_choices > hidden_fed) AS top
        FROM facts JOIN seats USING (round_id, seat) JOIN rounds USING (round_id)
        WHERE seats.player <> '' AND {FAIR} GROUP BY player ORDER BY player
        """
    )


def ratio(n: np.ndarray, fed: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """fed / expected of each account, and its standard error when it feeds as the cohort does."""
    usual = fed.sum() / expected.sum()
    chance = np.clip(usual * expected / n, 1e-4, 1.0)
    return fed / expected, np.sqrt(n * chance * (1 - chance) + 0.25) / expected


def avoidance(tables: Tables) -> list[Result]:
    """23. Hidden waits avoided, against a cohort, and luck after calls.

    A decision: some, not all, of the discards that leave the hand nearest to ready (among kinds that no revealed hand
    waits for) are waited for by a ready hand that has not revealed, and one of the nearest is made.  Statistic: hidden
    waits discarded ÷ those that an even choice would give, less the cohort's centre, in spreads of the cohort (its own
    noise and what honest accounts differ by).  Null: the account is one of the cohort; never an even choice, which
    honest play is far from.  Change at the reveal: the same ratio less that before open waits (at most the cohort's
    median: not to defend is no sign), one-sided: honest players start to avoid when waits become public, so a small
    difference says that they were known before.  Tier T1.  Unit: decisions.

    After calls: draws right after an account's pung (the next seat draws) and kong (it draws itself): Σ(its own
    useful − p) less Σ(the next seat's useful − p) over √Σp(1−p), N(0, 1) for honest walls, whenever one calls; p as in
    15.  Tier T1.  Unit: draws.
    """
    hidden = Result(23, "hidden_waits", "account", "account", unit="decisions", effect_unit="of expected")
    change = hidden.but(name="waits_made_public")
    if not tables.has("facts"):
        return [row.but(scope="global").not_run("tier") for row in (hidden, change, hidden.but(name="after_calls"))]
    found = choices(tables)
    return [*shares(hidden, change, found), *after_calls(tables)]


def shares(hidden: Result, change: Result, found: dict[str, np.ndarray]) -> list[Result]:
    """The rows of both ratios, an account each."""
    players, rows = found["player"], []
    for row, names in ((hidden, ("hidden",)), (change, ("hidden", "open"))):
        enough = np.all([found[name] >= CHOICES for name in names], axis=0)
        if enough.sum() < MEMBERS:
            rows.append(row.but(scope="global", n=int(enough.sum()), unit="accounts").not_run(
                "too_few" if len(players) else "no_rounds", needed=MEMBERS))  # fmt: skip
            continue
        parts = [ratio(*(found[key][enough] for key in (name, f"{name}_fed", f"{name}_expected"))) for name in names]
        values, error = parts[0]
        if len(parts) == 2:
            values = values - np.minimum(parts[1][0], np.median(parts[1][0]))
        of = cohort(values, error)
        planned = AVOIDED * float(found["hidden_fed"][enough].sum() / found["hidden_expected"][enough].sum())
        place = iter(range(len(values)))
        for at, player in enumerate(players):
            n = int(min(found[name][at] for name in names))
            one = row.but(subject=str(player), n=n)
            if not enough[at]:
                rows.append(one.not_run("too_few", needed=CHOICES))
                continue
            rows.append(judged(one.but(evidence=tuple(found["top"][at])), of, next(place), planned, len(names) == 2))
    return rows


def after_calls(tables: Tables) -> list[Result]:
    """One row an account that called."""
    found = tables.columns(
        f"""
        SELECT player, count(*)::BIGINT AS n, sum(hit)::BIGINT AS hits, sum(p) AS expected,
            sum(round(p * (1 - p) * 1e9)::BIGINT)::DOUBLE / 1e9 AS variance, sum(1 - p) AS room,
            arg_max(round_id, (hit - p, round_id, n), 50) AS top
        FROM (
            SELECT s.player, round_id, n, (hit = behind)::INTEGER AS hit,
                round(CASE WHEN behind THEN useful ELSE remaining - useful END / remaining * 67108864) / 67108864 AS p
            FROM draws JOIN rounds USING (round_id)
            JOIN seats AS s ON s.round_id = draws.round_id AND s.seat = draws.caller
            WHERE after_call AND (behind OR draws.seat <> draws.caller) AND s.player <> '' AND {FAIR}
        )
        GROUP BY player ORDER BY player
        """
    )
    base = Result(23, "after_calls", "account", "account", unit="draws", effect_unit="of draws")
    if not len(found["player"]):
        return [base.but(scope="global").not_run("no_rounds")]
    rows = []
    reach = float(norm.isf(LEVEL / 2) + norm.isf(1 - POWER))
    found["p"] = two_sided(found["hits"].astype(float), found["expected"], found["variance"])
    found["away"] = found["hits"] - found["expected"]
    names = ("player", "n", "variance", "room", "top", "p", "away")
    for player, n, variance, room, top, p, away in zip(*(found[name] for name in names), strict=True):
        spread, shift = float(np.sqrt(variance)), CALLED * float(room) / n
        one = base.but(subject=str(player), n=int(n), evidence=tuple(top))
        one = one.but(needed=int(np.ceil(reach**2 * variance / n / shift**2)) if shift > 0 else None)
        if variance < LEAST:
            rows.append(one.not_run("too_few"))
            continue
        rows.append(
            one.but(
                statistic=float(away) / spread, effect=float(away) / n, low=(float(away) - 1.96 * spread) / n,
                high=(float(away) + 1.96 * spread) / n, p=float(p),
                power=float(norm.sf(norm.isf(LEVEL / 2) - shift * n / spread)), detectable=reach * spread / n,
            )
        )  # fmt: skip
    return rows


CHECKS = (Check(23, "avoidance", "T1", avoidance),)
