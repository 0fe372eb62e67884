"""Draw luck of honest rounds, corpus by corpus: python benchmarks/luck_null.py [--corpora 200] [--rounds 600]

Plays seeded corpora of rounds, each under a ruleset of its own turn, and says whether the z of the draws (all, while
ready, while revealed, replacements) is N(0, 1) over the corpora, and whether what the luck adjustment takes off an
account has mean zero.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import kstest

sys.path.insert(0, str(Path(__file__).parent.parent))

from replay import luck, ruleset
from replay.batch import Replayer
from replay.simulate import simulate

SUMS = {
    "all draws": ("useful_draws", "useful_expected", "useful_variance"),
    "while ready": ("ready_hits", "ready_expected", "ready_variance"),
    "while revealed": ("revealed_hits", "revealed_expected", "revealed_variance"),
    "replacements": ("replacement_hits", "replacement_expected", "replacement_variance"),
}
LEAST = 4.0  # standard deviation of a corpus's sum below which it is too coarse to be normal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=10_000, help="of the first corpus; the others follow")
    chosen = parser.parse_args()
    names, replayer = ruleset.ids(), Replayer(explain=False, facts=True)
    z: dict[str, list[float]] = {name: [] for name in SUMS}
    taken, pooled = [], dict.fromkeys(SUMS, (0.0, 0.0))
    for corpus in range(chosen.corpora):
        rules = names[corpus % len(names)]
        found = [replayer.feed(batch) for batch in simulate(rules, chosen.rounds, chosen.seed + corpus)]
        facts = pl.concat([pl.DataFrame(tables["facts"]) for tables in found])
        for name, (hits, expected, variance) in SUMS.items():
            away, spread = facts[hits].sum() - facts[expected].sum(), facts[variance].sum() ** 0.5
            z[name].append(away / spread if spread > LEAST else np.nan)
            pooled[name] = pooled[name][0] + away, pooled[name][1] + spread**2
        values = facts["tiles_worth"].to_numpy() / luck.MILLION
        players = np.concatenate([tables["seats"]["player"].to_numpy(zero_copy_only=False) for tables in found])
        mine = values[players == "u1"]  # an account of its own tastes, in every corpus
        taken.append(mine.mean() / (values.std() / len(mine) ** 0.5))
    print(f"{chosen.corpora} corpora of {chosen.rounds} rounds, {len(names)} rulesets in turn\n")
    print("| sum | corpora | mean z | SD of z | p of Kolmogorov-Smirnov against N(0, 1) | z of all together |")
    print("|---|---|---|---|---|---|")
    for name, values in [*z.items(), ("taken off account u1 by the adjustment", taken)]:
        seen = np.array(values)[~np.isnan(values)]
        p = kstest(seen, "norm").pvalue
        whole = f"{pooled[name][0] / pooled[name][1] ** 0.5:+.2f}" if name in pooled else "–"
        print(f"| {name} | {len(seen)} | {seen.mean():+.3f} | {seen.std():.3f} | {p:.3f} | {whole} |")


if __name__ == "__main__":
    main()
