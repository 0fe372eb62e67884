"""What the audit finds of pairs that play for each other: python benchmarks/fairness_pairs.py [--rounds N …]

Plays seeded corpora of a population's rounds with a dumping, a soft, a signalling and a merely friendly pair, all of
which queue together, runs checks 18-22, and prints for each: how many rounds the pair played together, the effect, the
smallest effect that its row said it would see, how often it was found, and how often by the row's own arithmetic.
`--superuser N` instead: an account that sees all hands, in corpora of N rounds.  benchmarks/FAIRNESS_PAIRS.md holds it.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from fairness_played import played  # noqa: E402
from scipy.stats import norm  # noqa: E402

from analytics.fairness import battery, multiplicity  # noqa: E402
from analytics.fairness.result import POWER, Result  # noqa: E402
from analytics.fairness.tables import Tables  # noqa: E402
from replay.corpus import Population  # noqa: E402

PEOPLE, TOGETHER = 60, 0.9
PLANS = (
    ("dump, q = 0.5", "dump:account={},partner={},q=0.5", ("deal_in_share", "net_transfer")),
    ("dump, q = 0.2", "dump:account={},partner={},q=0.2", ("deal_in_share", "net_transfer")),
    ("soft play", "soft:account={},partner={}", ("passed_wins", "deal_in_share")),
    ("signals", "signal:account={},partner={}", ("pung_gifts", "third_player")),
    ("friends", "friends:account={},partner={},q=0.9", ("deal_in_share", "passed_wins", "pung_gifts", "seating")),
)
CHECKS = (18, 19, 20, 21, 22)
FOUND = ("review", "escalated", "noted")
HEAD = ("rounds", "planted", "row", "corpora", "together", "n", "effect", "seen from", "found", "expected")


def corpus(rounds: int, seed: int, seen: dict[tuple[str, str], list[tuple[float, ...]]]) -> list[str]:
    """Adds what the rows say of the planted pairs; who else is under review."""
    busy = Population(seed, PEOPLE).busiest()
    pairs = [(busy[2 * at], busy[2 * at + 1]) for at in range(len(PLANS))]
    cheats = []
    for (_, cheat, _), pair in zip(PLANS, pairs, strict=True):
        cheats.append(cheat.format(*pair))
        if not cheat.startswith("friends"):
            cheats.append("queue_pair:account={},partner={},q={}".format(*pair, TOGETHER))
    connection = played(*cheats, rounds=rounds, seed=seed, accounts=PEOPLE)
    rows = [row for row in battery.results(Tables(connection), CHECKS) if row.p is not None]
    for (name, _, wanted), (one, other) in zip(PLANS, pairs, strict=True):
        together = connection.execute(
            "SELECT count(*) FROM seats AS a JOIN seats AS b USING (round_id) WHERE a.player = ? AND b.player = ?",
            [one, other],
        ).fetchall()[0][0]
        for row in rows:
            who = multiplicity.accounts(row)
            if row.name in wanted and (who == [one, other] or row.name in ("seating", "third_player")
                                       and set(who) == {one, other}):  # fmt: skip
                spread = (row.high - row.low) / 3.92
                seen[name, row.name].append(
                    (together, row.n, row.effect, spread, row.detectable, row.status in FOUND)
                )
    connection.close()
    planted = {frozenset(pair) for pair in pairs}
    single = {one for pair in pairs[:-1] for one in pair}
    return [told(row) for row in rows if row.status in FOUND
            and frozenset(multiplicity.accounts(row)) not in planted and row.subject not in single]  # fmt: skip


def told(row: Result) -> str:
    """A row in a few words."""
    return f"{row.name} {row.subject} ({row.status}, p = {row.p:.1g})"


def summary(rounds: int, seen: dict[tuple[str, str], list[tuple[float, ...]]]) -> None:
    """One line for each planted pair and row."""
    for (name, row), rows in seen.items():
        together, n, effect, spread, detectable, found = np.array(rows, float).T
        bound = detectable / spread - norm.isf(1 - POWER)
        expected = norm.sf(bound - np.abs(effect.mean()) / spread).mean()
        cells = (
            f"{rounds:,}", name, f"`{row}`", len(rows), f"{np.median(together):,.0f}", f"{np.median(n):,.0f}",
            f"{effect.mean():+.3f}", f"{np.median(detectable):.3f}", f"{found.mean():.2f}", f"{expected:.2f}",
        )  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def superuser(rounds: int, corpora: int) -> None:
    """Check 18 on an account that sees all hands, beside a strong defender."""
    print("| rounds | account | n | effect | seen from | p | status | needs |\n|---|---|---|---|---|---|---|---|")
    for seed in range(1, corpora + 1):
        busy = Population(seed, PEOPLE).busiest()
        names = {busy[1]: "superuser", busy[3]: "strong defender"}
        cheats = [f"{name.replace(' ', '_')}:account={account}" for account, name in names.items()]
        connection = played(*cheats, rounds=rounds, seed=seed, accounts=PEOPLE)
        for row in battery.results(Tables(connection), (18,)):
            if row.subject in names or row.status in FOUND:
                cells = (
                    f"{rounds:,}", names.get(row.subject, "honest"), f"{row.n:,}", f"{row.effect:+.3f}",
                    f"{row.detectable:.3f}", f"{row.p:.2g}", row.status, str(row.needed or "–"),
                )  # fmt: skip
                print(f"| {' | '.join(cells)} |", flush=True)
        connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=8)
    parser.add_argument("--rounds", type=int, nargs="*", default=[2000, 4000, 12000])
    parser.add_argument("--superuser", type=int)
    chosen = parser.parse_args()
    if chosen.superuser:
        return superuser(chosen.superuser, chosen.corpora)
    others: list[str] = []
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for rounds in chosen.rounds:
        seen: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
        for seed in range(1, chosen.corpora + 1):
            others += corpus(rounds, 1000 + seed, seen)
        summary(rounds, seen)
    print(f"\nOthers under review or noted: {len(others)}. {'; '.join(others)}")


if __name__ == "__main__":
    main()
