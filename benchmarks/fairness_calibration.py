"""The audit on honest rounds: python benchmarks/fairness_calibration.py RESULTS.jsonl [--corpora 200] [--rounds 3000]

Plays seeded corpora of rounds of a population in which nobody cheats, under eight rulesets in turn, every second one
with look-alikes (strong defender, always revealing, friends, whale, a dealer's streak), and in half of them rounds are
missing by lot.  Every LARGE_EVERYth is larger (--large): checks 18 and 21 take that many.  Runs the battery on each
and writes its p-values to RESULTS.jsonl, a line a corpus; corpora that stand there are not played again.  Then prints
what the contract promises beside what was found; benchmarks/FAIRNESS.md holds it.  --only N …: these checks alone, for
corpora that stand there without them.  --seed N: corpora of numbers N and up, from the random numbers 50,000 + N on;
those below 1000 were looked at while checks were made.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import numpy as np  # noqa: E402
from fairness_played import PEOPLE, RULES, Honest, honest  # noqa: E402
from scipy.stats import binomtest, kstest, poisson  # noqa: E402

from analytics.fairness import battery, multiplicity  # noqa: E402
from analytics.fairness.result import Result  # noqa: E402
from analytics.fairness.tables import Tables  # noqa: E402

LEVELS = (0.1, 0.01, 0.001, 0.0001)
LARGE_EVERY = 19  # prime to the number of rulesets, so that all of them have large corpora
FOUND = ("flagged", "biased", "review", "escalated")


def record(n: int, rounds: int, of: Honest, rows: list[Result]) -> dict[str, Any]:
    """What is kept of a corpus: of each row its check, name, subject, p and status."""
    kept = [[row.check, row.name, row.family, row.subject, p_of(row, n), row.status]
            for row in rows if row.family != "control"]  # fmt: skip
    return {"corpus": n, "rounds": rounds, "rules": of.rules, "gaps": of.gaps, "alike": of.alike, "rows": kept}


def p_of(row: Result, n: int) -> float | None:
    """A row's p; of repeated deals a randomised one, with a number of the corpus's own."""
    if row.name != "repeated_deals" or row.statistic is None:
        return row.p
    expected, pairs = row.n**2 * 1e-25, int(row.statistic) // 2
    roll = float(np.random.default_rng([n, 6]).random())
    return float(poisson.sf(pairs, expected) + roll * poisson.pmf(pairs, expected))


def play(path: Path, numbers: range, rounds: int, large: int, only: list[int]) -> list[dict[str, Any]]:
    """The records of the corpora with these numbers, played where missing; with `only`, those checks again."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {one["corpus"]: one for one in map(json.loads, lines)}
    for n in numbers:
        if n in known and set(only) <= {row[0] for row in known[n]["rows"]}:
            continue
        size = rounds if n % LARGE_EVERY else large
        of = honest(n, size)
        made = record(n, size, of, battery.results(Tables(of.db), only))
        if only and n in known:
            made["rows"] = [row for row in known[n]["rows"] if row[0] not in only] + made["rows"]
        known[n] = made
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(made, ensure_ascii=False) + "\n")
        of.db.close()
    return [known[n] for n in numbers if n in known]


def told(found: list[dict[str, Any]]) -> list[str]:
    """The tables as Markdown."""
    values, corpora, flags, alike = (defaultdict(list) for _ in range(4))
    families, idle = {}, defaultdict(int)
    for one in found:
        for check, name, family, subject, p, status in one["rows"]:
            families[check, name] = family
            if status == "not_run":
                idle[check, name] += 1
            if p is not None:
                who = re.split(f"{multiplicity.TO}|{multiplicity.WITH}", subject or "")
                looks = [one["alike"][account] for account in who if account in one["alike"]]
                if looks != ["friends", "friends"] or name != "seating":  # friends do sit together: that is no null
                    values[check, name].append(p)
                    corpora[check, name].append(one["corpus"])
                for like in sorted(set(looks)):
                    alike[like, check].append(status)
            if status in FOUND:
                flags[check, name].append((one["corpus"], subject, one["alike"].get(subject), p))
    heads = " | ".join(f"≤ {level:g}" for level in LEVELS)
    out = [f"| check | row | corpora | p-values | {heads} | Kolmogorov-Smirnov p | corpora flagged |"]
    out.append("|---|---|---|---|" + "---|" * (len(LEVELS) + 2))
    for key in sorted(families):
        p = np.array(values[key])
        if not len(p):
            out.append(f"| {key[0]} | `{key[1]}` | 0 | 0 |" + " – |" * (len(LEVELS) + 1) + f" {len(flags[key])} |")
            continue
        shares = []
        for level in LEVELS:
            hits = int((p <= level).sum())
            odd = binomtest(hits, len(p), level, alternative="greater").pvalue < 0.001
            shares.append(f"{hits / len(p):.4f}{' **!**' if odd else ''}")
        out.append(
            f"| {key[0]} | `{key[1]}` | {len(set(corpora[key]))} | {len(p):,} | {' | '.join(shares)} | "
            f"{kstest(p, 'uniform').pvalue:.2g} | {len({one[0] for one in flags[key]})} |"
        )
    out += ["", "## False flags", ""]
    shuffle = {one[0] for key, listed in flags.items() if families[key] == "shuffle" for one in listed}
    facts = {one[0] for key, listed in flags.items() if families[key] == "log" for one in listed}
    tests = [key for key, family in families.items() if family in ("account", "pair") and values[key]]
    reviews = {(one[0], key) for key in tests for one in flags[key]}
    most = sum(len(set(corpora[key])) for key in tests)
    out += [
        f"- Facts about the log (1-6): {len(facts)} of {len(found)} corpora; none is allowed.",
        f"- Shuffle (Holm, α = {multiplicity.ALPHA}): {len(shuffle)} of {len(found)} corpora; expected at most "
        f"{multiplicity.ALPHA * len(found):.1f}.",
        f"- Accounts and pairs (Benjamini-Hochberg, q = {multiplicity.Q}): {len(reviews)} of {most:,} tests of a row "
        f"in a corpus named somebody; expected at most {multiplicity.Q * most:.0f}.",
        f"- Escalated: {sum(row[5] == 'escalated' for one in found for row in one['rows'])}; none is expected.",
        "",
        "| corpus | rules | check | row | about | p |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for key in sorted(flags):
        for corpus, subject, looks, p in flags[key]:
            about = f"{subject}{f' ({looks})' if looks else ''}" if subject else "–"
            rules = next(one["rules"] for one in found if one["corpus"] == corpus)
            shown = "–" if p is None else f"{p:.1e}"
            out.append(f"| {corpus} | {rules} | {key[0]} | `{key[1]}` | {about} | {shown} |")
    out += ["", "## Look-alikes", "", "| who | rows with a p-value | under review |", "|---|---|---|"]
    for name in sorted({looks for looks, _ in alike}):
        states = [status for (looks, _), listed in alike.items() if looks == name for status in listed]
        out.append(f"| {name} | {len(states):,} | {sum(status in FOUND for status in states)} |")
    big = [one for one in found if one["rules"] == RULES[4][0]]
    hits = sum(row[5] in FOUND for one in big for row in one["rows"])
    out.append(f"| big fans: all rows of the {len(big)} corpora under {RULES[4][0]} | "
               f"{sum(row[4] is not None for one in big for row in one['rows']):,} | {hits} |")  # fmt: skip
    return out


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--corpora", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--large", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--only", type=int, nargs="*", default=[])
    chosen = parser.parse_args()
    numbers = range(chosen.seed, chosen.seed + chosen.corpora)
    found = play(chosen.results, numbers, chosen.rounds, chosen.large, chosen.only)
    sizes = Counter(one["rounds"] for one in found)
    told_sizes = ", ".join(f"{count} of {rounds:,} rounds" for rounds, count in sorted(sizes.items(), reverse=True))
    print(f"{len(found)} corpora ({told_sizes}) of {PEOPLE} accounts, {len(RULES)} rulesets in turn\n")
    print("\n".join(told(found)))


if __name__ == "__main__":
    main()
