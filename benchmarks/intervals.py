"""How often the 95 % intervals of statistics hold the truth, over simulated honest corpora.

    python benchmarks/intervals.py --corpora 200 --rounds 600 --seed 500000

Every corpus is a site of its own in one data set: rounds of the same ruleset and of accounts that all play alike, so
that the truth is one.  It is taken from all corpora together, whose own error is a fourteenth of one corpus's and part
of what is called coverage here.  Counted are the intervals of each corpus and those of each account in it.
"""

import argparse
import tempfile
from pathlib import Path

import polars as pl

from analytics import accounts, measure, metrics, warehouse
from ingest.read import Reader
from replay import ruleset, simulate
from replay.policy import Policy

LEAST = accounts.LEAST  # n below which pages grey a value


def corpora(folder: Path, rules: str, count: int, rounds: int, seated: int, seed: int) -> Path:
    """The data set of `count` corpora, of seeds `seed` and up."""
    for number in range(count):
        name = f"c{number:03}"
        simulate.write(
            folder / f"{name}.parquet", rules, {}, rounds, seed + number, site=name, accounts=seated, policy=Policy()
        )
    warehouse.load(Reader([str(folder)], check_rules=ruleset.check), folder / "kwx.duckdb")
    return folder / "kwx.duckdb"


def held(found: pl.DataFrame, truth: pl.DataFrame, least: int) -> pl.DataFrame:
    """Per statistic: cells with at least `least` n and an interval, and the share of them that hold the truth."""
    rows = found.filter((pl.col("n") >= least) & pl.col("low").is_not_null()).join(truth, on="metric")
    inside = pl.col("truth").is_between(pl.col("low"), pl.col("high"))
    return rows.group_by("metric", maintain_order=True).agg(pl.len().alias("cells"), inside.mean().alias("held"))


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--rules", default="hubei")
    parser.add_argument("--accounts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1000, help="of the first corpus; the others follow")
    given = parser.parse_args()
    names = [one.id for one in metrics.registry().values() if one.kind != "quantile"]
    with tempfile.TemporaryDirectory() as folder:
        path = corpora(Path(folder), given.rules, given.corpora, given.rounds, given.accounts, given.seed)
        with warehouse.connect(path) as connection:
            truth = measure.metrics(connection, names).select("metric", pl.col("value").alias("truth"))
            whole = held(measure.metrics(connection, names, ["site"]), truth, LEAST)
            single = held(measure.metrics(connection, names, accounts.ACCOUNT), truth, LEAST)
    table = truth.join(whole, on="metric", how="left", maintain_order="left")
    table = table.join(single, on="metric", how="left", maintain_order="left", suffix="_accounts")
    print("| statistic | truth | corpora | held | accounts | held |\n|---|---:|---:|---:|---:|---:|")
    for name, value, *counts in table.iter_rows():
        forms = zip(counts, ("{}", "{:.3f}") * 2, strict=True)
        shown = ["–" if count is None else form.format(count) for count, form in forms]
        print(f"| `{name}` | {value:.4f} | {' | '.join(shown)} |")
    for what, cells in (("corpora", whole), ("accounts", single)):
        total = cells["cells"].sum()
        mean = (cells["cells"] * cells["held"]).sum() / total
        print(f"\n{what}: {total:,} intervals of {cells.height} statistics, {mean:.4f} of them hold the truth")


if __name__ == "__main__":
    main()
