"""What the audit finds of planted cheats: python benchmarks/fairness_power.py RESULTS.jsonl [--repetitions 20]

For each check a cheat of a few sizes is planted in seeded corpora of a population's rounds, and the check is run on the
first so many rounds of each.  A corpus that stands in RESULTS.jsonl is not played again.  Writes
analytics/fairness/power.csv, from which docs/audit.md makes its tables and curves:

    check, row, cheat, size, rounds, n, repetitions, found, expected

Half as many repetitions of the largest corpora, FEWEST of the very large ones.  --only N …: of these checks alone; what
stands in RESULTS.jsonl about the others stays.  rounds: of the corpus; n: what the row counts (draws of the cheat,
rounds, …), on average; found: repetitions with a p-value at or below the level at which the row quotes its power, or a
hit; expected: the same by the row's own arithmetic, which every row of an audit quotes, at the effect that the longest
corpora show; empty where a row has none.
"""

import argparse
import csv
import json
import math
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from fairness_tables import empty  # noqa: E402
from scipy.optimize import brentq  # noqa: E402
from scipy.special import kolmogi  # noqa: E402
from scipy.stats import chi2, ncx2, norm  # noqa: E402

from analytics import schema  # noqa: E402
from analytics.fairness import accounts, battery, deals, multiplicity  # noqa: E402
from analytics.fairness.result import POWER, Result  # noqa: E402
from analytics.fairness.tables import Tables  # noqa: E402
from replay import crooked  # noqa: E402
from replay.batch import Replayer  # noqa: E402
from replay.corpus import Population  # noqa: E402

OUT = ROOT / "analytics" / "fairness" / "power.csv"
HEAD = ("check", "row", "cheat", "size", "rounds", "n", "repetitions", "found", "expected")
PAIRS = (19, 20, 21, 22)
FREEDOM = {"kind_by_place": 920, "pair_distances": 12, "drawn_kinds": 20, "dice": 35}
STEP = 125  # rounds of a batch, at least: whole games
FEW, SOME, MANY = (125, 250, 500, 1000), (250, 500, 1000, 2000), (1000, 2000, 4000)
PAIRED, HUGE = (1000, 2000, 4000, 8000), (20_000, 40_000)
FEWEST = 2
HORSE = '{"side.horse":"last_tile"}'


class Plan(NamedTuple):
    """One cheat in several sizes, and the rows that are to find it.

    cheat: with {who} and {other}, the two accounts that play most, and {size}; beside: what is planted besides.
    """

    check: int
    rows: tuple[str, ...]
    cheat: str
    sizes: tuple[Any, ...]
    counts: tuple[int, ...] = FEW
    facts: bool = False
    people: int = 24
    options: str = "{}"
    rules: str = "hubei"
    beside: tuple[str, ...] = ()


QUEUE = ("queue_pair:account={who},partner={other},q=0.9",)
# A plan's place is part of its seeds: new ones go to the end.
PLANS = (
    Plan(3, ("settlement",), "wrong_payout:account={who},q={size}", (0.01, 0.1)),
    Plan(4, ("proof",), "swapped_draw:account={who},q={size}", (0.01, 0.05)),
    Plan(4, ("swapped_draws",), "upgrade:account={who},q={size},log=wall", (0.01, 0.05)),
    Plan(5, ("missing_losses",), "drop_lost:account={who},q={size}", (0.2, 0.5), SOME),
    Plan(6, ("repeated_deals",), "lcg:bits={size}", (12, 16, 20), SOME),
    Plan(7, ("kind_by_place",), "swap_any:q={size}", (0.3, 1)),
    Plan(7, ("kind_by_place",), "off_by_one:q={size}", (0.3, 1)),
    Plan(7, ("kind_by_place",), "modulo:bits=8,q={size}", (0.3, 1)),
    Plan(8, ("adjacent_pairs", "pair_distances"), "riffle:k={size}", (5, 6, 7)),
    Plan(9, ("matches_table_1",), "carry_over:n={size}", (100, 150, 200)),
    Plan(10, ("drawn_kinds",), "sorted_wall:q={size}", (0.05, 0.2), SOME, True),
    Plan(11, ("start_shanten",), "best_deal_seat:q={size}", (0.2, 0.5), MANY, True),
    Plan(11, ("start_dragons",), "dragon_swap_seat:q={size}", (0.05, 0.2), MANY, True),
    Plan(11, ("start_luck",), "best_deal:account={who},q={size}", (0.2, 0.5), SOME, True),
    Plan(12, ("dealer_of_account",), "loaded_dealer:account={who},q={size}", (0.3, 1), SOME),
    Plan(12, ("dice",), "loaded_dice:q={size}", (0.1, 0.2), SOME),
    Plan(13, ("drift_pairs",), "sorted_wall:q={size},from=40", (0.02, 0.05), MANY),
    Plan(14, ("losing_streak",), "comeback:k=3,q={size}", (0.1, 0.3), SOME, True),
    Plan(14, ("newness",), "honeymoon:n=50,q={size}", (0.1, 0.3), SOME, True),
    Plan(15, ("draw_luck",), "upgrade:account={who},q={size}", (0.05, 0.1), SOME, True),
    Plan(16, ("hits_while_ready",), "upgrade_ready:account={who},q={size}", (0.1, 0.3), SOME, True),
    Plan(16, ("hits_while_revealed",), "upgrade_revealed:account={who},q={size}", (0.1, 0.3), SOME, True),
    Plan(17, ("replacements",), "best_replacement:account={who},q={size}", (0.5, 1), MANY, True),
    Plan(17, ("horse_tiles",), "best_horse:account={who},q={size}", (0.5, 1), SOME, True, 24, HORSE),
    Plan(23, ("hidden_waits", "waits_made_public"), "peek:account={who},q={size}", (0.5, 1), MANY, True),
    Plan(23, ("after_calls",), "next_tile:account={who},q={size}", (0.5, 1), SOME, True),
    Plan(24, ("time_difficulty", "time_sameness", "time_shape"), "bot:account={who},ms=900,shape={size}",
         ("constant", "jittered", "blind"), MANY, True, 40),
    Plan(18, ("net_results",), "superuser:account={who}", ("–",), HUGE, True, 40),
    Plan(19, ("deal_in_share",), "dump:account={who},partner={other},q={size}", (0.2, 0.5), PAIRED, True, 60,
         beside=QUEUE),
    Plan(20, ("passed_wins", "net_transfer"), "soft:account={who},partner={other}", ("–",), PAIRED, True, 60,
         beside=QUEUE),
    Plan(22, ("pung_gifts", "third_player"), "signal:account={who},partner={other}", ("–",), PAIRED, True, 60,
         beside=QUEUE),
    Plan(21, ("seating",), "queue_pair:account={who},partner={other},q={size}", (0.3, 0.9), (4000, 8000, 12_000),
         False, 60),
)  # fmt: skip


@cache
def most_seen(seed: int, people: int) -> list[str]:
    """The accounts of a population by how often they sit down in its first games."""
    house = Population(seed, people)
    seen = Counter(int(one) for sitting in islice(house.sittings([], set()), 150) for one in sitting.accounts)
    return [house.names[account] for account, _ in sorted(seen.items(), key=lambda one: (-one[1], one[0]))]


def corpus(plan: Plan, size: Any, seed: int, replayer: Replayer) -> list[dict[str, Any]]:
    """What the check says of each number of rounds."""
    who, other = most_seen(seed, plan.people)[:2]
    cheats = [one.format(who=who, other=other, size=size) for one in (plan.cheat, *plan.beside)]
    about = {None, who, *deals.ROLES} if plan.check not in PAIRS else both(who, other)
    db, done, told, waiting = empty(), 0, [], defaultdict(list)
    runs = [check.run for check in battery.checks() if check.number == plan.check]
    batches = crooked.play(
        plan.rules, plan.counts[-1], seed, json.loads(plan.options), cheats=cheats,
        accounts=plan.people, batch_rounds=max(STEP, plan.counts[0] // 8),
    )  # fmt: skip
    counts = list(plan.counts)
    for batch in chain(batches, [None]):  # at the end, whatever a cheat took out, the last count is reached
        if batch is not None:
            done += batch.num_rows
            for name, table in replayer.feed(batch).items():
                waiting[name].append(table)
        if not counts or batch is not None and done < counts[0]:
            continue
        for name, parts in waiting.items():
            more = ", verdict AS own_verdict" if name == "rounds" else ""
            schema.insert(db, name, pa.concat_tables(parts), more)
        waiting.clear()
        rows = [row for run in runs for row in run(Tables(db))]
        for name in plan.rows:
            mine = [row for row in rows if row.name == name and row.subject in about]
            told.append(said(mine, plan, size, counts[0], name, seed))
        counts.pop(0)
    db.close()
    return told


def said(rows: list[Result], plan: Plan, size: Any, rounds: int, name: str, seed: int) -> dict[str, Any]:
    """The row that says most of one number of rounds."""
    row = min(rows, key=lambda one: (one.p is None, one.p, one.subject or ""), default=None)
    out = {"check": plan.check, "row": name, "cheat": plan.cheat, "size": str(size), "rounds": rounds, "seed": seed}
    if row is None:
        return out | {"n": 0, "found": False}
    found = row.status == "flagged" if row.family == "log" else row.p is not None and row.p <= level(row, len(rows))
    out |= {"n": row.n, "found": found, "family": row.family, "statistic": row.statistic, "effect": row.effect,
            "low": row.low, "high": row.high, "detectable": row.detectable}  # fmt: skip
    if name.startswith("drift") and row.note:
        out["before"] = json.loads(row.note)["rounds_before"]
    if len(rows) > 1:  # of each role at the table
        out["roles"] = [[one.subject, one.statistic, one.detectable, one.n] for one in rows if one.p is not None]
    return out


def both(one: str, other: str) -> set[str]:
    """The subjects of rows about what the first does for the second, and about the two."""
    alike = (multiplicity.WITH.join(two) for two in ((one, other), (other, one)))
    return {f"{one}{multiplicity.TO}{other}", *alike}


def level(row: Result, rows: int) -> float:
    """The p-value that a row's power is stated at; of the three roles at the table the least is taken."""
    if row.family == "shuffle":
        return multiplicity.ALPHA / rows
    if row.check == 18 or row.check in PAIRS:  # those that correct for how many were tested
        return float(2 * norm.sf(row.detectable / (row.high - row.low) * 3.92 - norm.isf(1 - POWER)))
    return 0.01 if row.check in (4, 5) else accounts.LEVEL


def expected(of: list[dict[str, Any]], longest: list[dict[str, Any]]) -> float | None:
    """Mean power by the rows' own errors at the effect that the longest corpora show."""
    name = of[0]["row"]
    if name.startswith("drift"):
        return drifting(of, longest)
    if any("roles" in one for one in longest):
        return of_roles(of, longest)
    if name in FREEDOM:
        df = FREEDOM[name]
        bound = chi2.isf(multiplicity.ALPHA, df)
        seen = brentq(lambda nc: ncx2.sf(bound, df, nc) - POWER, 1e-9, 50 * bound)
        scales = [[seen / one["detectable"] ** 2 for one in part if one.get("detectable")] for part in (of, longest)]
        if not scales[0] or not scales[1]:
            return None
        whole = [one["statistic"] for one in longest if one.get("detectable")]
        square = float(np.mean([(value - df) / scale for value, scale in zip(whole, scales[1], strict=True)]))
        return float(np.mean([ncx2.sf(bound, df, max(square, 1e-12) * scale) for scale in scales[0]]))
    known = [one for one in of if one.get("low") is not None and one.get("detectable") is not None]
    effects = [one["effect"] for one in longest if one.get("low") is not None]
    if not known or not effects or of[0].get("family") == "log":
        return None
    effect = abs(float(np.mean(effects)))
    # `detectable` is (bound + 1.28) errors: it holds the row's own level, one- or two-sided.
    errors = np.array([(one["high"] - one["low"]) / 3.92 for one in known])
    bounds = np.array([one["detectable"] for one in known]) / errors - norm.isf(1 - POWER)
    return float(norm.sf(bounds - effect / errors).sum() / len(of))


def drifting(of: list[dict[str, Any]], longest: list[dict[str, Any]]) -> float | None:
    """Of a drift: that the bridge at the place of change lies beyond its limit."""
    known = [one for one in longest if one.get("before")]
    if not known or not any(one["n"] for one in of):
        return None
    shift = abs(float(np.mean([one["effect"] for one in known])))
    places, bound = {one["seed"]: one["before"] for one in known}, float(kolmogi(multiplicity.ALPHA))
    usual = float(np.median(list(places.values())))
    powers = []
    for one in of:
        at = min(places.get(one["seed"], usual) / max(one["n"], 1), 1.0)
        spread = math.sqrt(max(at * (1 - at), 1e-9))
        powers.append(float(norm.cdf((shift * math.sqrt(one["n"]) * at * (1 - at) - bound) / spread)))
    return float(np.mean(powers))


def of_roles(of: list[dict[str, Any]], longest: list[dict[str, Any]]) -> float | None:
    """Of a χ² for each role at the table: that at least one of them is found, each at its share of the level."""

    def freedom(detectable: float, n: int) -> int:
        return min(range(1, 60), key=lambda df: abs(needed(df) - detectable**2 * n))

    @cache
    def needed(df: int) -> float:
        bound = chi2.isf(multiplicity.ALPHA, df)
        return float(brentq(lambda nc: ncx2.sf(bound, df, nc) - POWER, 1e-9, 50 * bound))

    squares = defaultdict(list)  # effect² by role
    for subject, statistic, detectable, n in chain.from_iterable(one.get("roles", ()) for one in longest):
        squares[subject].append((statistic - freedom(detectable, n)) / n)
    powers = []
    for one in of:
        missed = 1.0
        for subject, _, detectable, n in one.get("roles", ()):
            df = freedom(detectable, n)
            bound = chi2.isf(multiplicity.ALPHA / len(one["roles"]), df)
            missed *= 1 - float(ncx2.sf(bound, df, max(float(np.mean(squares[subject])) * n, 1e-12)))
        powers.append(1 - missed)
    return float(np.mean(powers))


def table(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of power.csv."""
    cells = defaultdict(list)
    for one in told:
        cells[one["check"], one["row"], one["cheat"], one["size"], one["rounds"]].append(one)
    out = []
    for key in cells:
        longest = cells[(*key[:4], max(rounds for *rest, rounds in cells if rest == list(key[:4])))]
        power = expected(cells[key], longest)
        out.append(dict(zip(HEAD, (
            *key, round(float(np.mean([one["n"] for one in cells[key]]))), len(cells[key]),
            sum(one["found"] for one in cells[key]), "" if power is None else f"{power:.2f}",
        ), strict=True)))  # fmt: skip
    order = {(plan.check, plan.cheat): (plan.check, at) for at, plan in enumerate(PLANS)}
    out = [one for one in out if (one["check"], one["cheat"]) in order]
    return sorted(out, key=lambda one: (order[one["check"], one["cheat"]], one["row"], one["size"], one["rounds"]))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    chosen = parser.parse_args()
    lines = chosen.results.read_text(encoding="utf-8").splitlines() if chosen.results.exists() else []
    told = [json.loads(line) for line in lines]
    known = {(one["check"], one["cheat"], one["size"], one["seed"]) for one in told}
    replayers = {facts: Replayer(explain=False, facts=facts) for facts in (False, True)}
    for repetition in range(chosen.repetitions):
        for place, plan in enumerate(PLANS):
            for size in plan.sizes:
                seed = 1_000_000 + 1000 * place + repetition
                if (plan.check, plan.cheat, str(size), seed) in known or chosen.only and plan.check not in chosen.only:
                    continue
                if repetition >= FEWEST if plan.counts == HUGE else plan.counts[-1] >= MANY[-1] and repetition % 2:
                    continue
                made = corpus(plan, size, seed, replayers[plan.facts])
                told += made
                with chosen.results.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(one) + "\n" for one in made)
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table(told))


if __name__ == "__main__":
    main()
