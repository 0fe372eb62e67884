"""Coefficients of the luck adjustment, fixed on simulated rounds: python benchmarks/luck.py [--rounds 6000]

Plays rounds of every ruleset, fits replay/luck.toml by least squares, and reports on rounds of another
seed how much of the variance of a seat's result in a round it removes.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))

from analytics import luck, warehouse
from ingest.read import Reader
from replay import ruleset
from replay.luck import FILE, KINDS
from replay.simulate import write


def played(rules: str, rounds: int, seed: int, folder: Path) -> pl.DataFrame:
    """The rows of so many rounds."""
    log, db = folder / f"{rules}-{seed}.jsonl", folder / f"{rules}-{seed}.duckdb"
    write(log, rules, None, rounds, seed)
    warehouse.load(Reader([str(log)], check_rules=ruleset.check), db)
    with warehouse.connect(db) as connection:
        return luck.rounds(connection)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6000, help="rounds of each ruleset, and again for the test")
    chosen = parser.parse_args()
    found, rows = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for rules in ruleset.ids():
            found[rules], explained = luck.fit(played(rules, chosen.rounds, 1, Path(folder)))
            test = played(rules, chosen.rounds, 2, Path(folder))
            net = test["net"].to_numpy()
            worth = (test.select(KINDS).to_numpy() * np.array(list(found[rules].values()))).sum(axis=1)
            rest = net - worth
            one = worth[test["seat"].to_numpy() == 0]  # of all three seats together it is 0 by construction
            z = one.mean() / (one.std() / len(one) ** 0.5)
            rows.append((rules, explained, 1 - rest.var() / net.var(), z))
    found["other"] = {name: float(np.mean([one[name] for one in found.values()])) for name in KINDS}
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")] + [""]
    for rules, values in sorted(found.items()):
        lines.append(f'[coefficients."{rules}"]')
        lines += [f"{name} = {value:.4f}" for name, value in values.items()] + [""]
    FILE.write_text("\n".join(lines), encoding="utf-8")
    print("| ruleset | variance explained where fitted | removed on other rounds | z of the mean taken off seat 0 |")
    print("|---|---|---|---|")
    for rules, explained, removed, z in rows:
        print(f"| {rules} | {explained:.1%} | {removed:.1%} | {z:+.2f} |")


if __name__ == "__main__":
    main()
