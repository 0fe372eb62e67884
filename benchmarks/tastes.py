"""Tastes planted in simulated accounts, recovered from their statistics: sign and size over many corpora.

    python benchmarks/tastes.py --corpora 100 --rounds 3000

Every corpus is a site of its own in one data set: u1 chases one suit, u2 reveals whenever it is ready, u3 never
defends, u4 to u6 play as usual.  The true difference of each statistic is taken from all corpora together, so that its
own error, a tenth of one corpus's, is part of what is called coverage here.
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import duckdb
import polars as pl

from analytics import fan_statistics, measure, pursuit, warehouse
from ingest.read import Reader
from replay import ruleset, simulate
from replay.policy import Policy

USUAL = Policy()
FLUSH, REVEALS, CARELESS, OTHERS = "u1", "u2", "u3", ["u4", "u5", "u6"]
TASTES = {
    **dict.fromkeys(OTHERS, USUAL),
    FLUSH: replace(USUAL, flush=60.0),
    REVEALS: replace(USUAL, reveal=1.0),
    CARELESS: replace(USUAL, defend=0.0),
}
SHOWN = {  # what each taste shows in, and which way
    FLUSH: {"win_multiple": 1, "win_rate": -1, "ready_rate": -1},
    REVEALS: {"reveal_rate": 1, "first_reveal_share": 1, "reveal_turn": -1},
    CARELESS: {"careless_discard_rate": 1, "dangerous_discard_rate": 1, "deal_in_revealed_share": 1, "deal_in_rate": 1},
}
FAN = "full_flush"


def differences(connection: duckdb.DuckDBPyConnection, player: str, names: list[str], where: dict) -> pl.DataFrame:
    """The account's statistics less those of the usual ones."""
    return measure.compare(connection, names, where | {"player": player}, where | {"player": OTHERS})


def shares(connection: duckdb.DuckDBPyConnection, player: str | list[str], where: dict) -> tuple[dict, dict]:
    """Of wins those with the fan, and of hands those that aimed at it."""
    given = where | {"player": player}
    fan = pl.col("fan") == FAN
    won = fan_statistics.fans(connection, (), given).filter(fan).to_dicts()
    aimed = pursuit.pursuit(connection, (), given).filter(fan).to_dicts()
    return (won or [{"share": 0.0, "share_low": 0.0, "share_high": 0.0}])[0], aimed[0]


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3000)
    given = parser.parse_args()
    sites = [f"c{number:03}" for number in range(given.corpora)]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, site in enumerate(sites):
            path = folder / f"{site}.parquet"
            simulate.write(path, "hubei", {}, given.rounds, 5000 + number, site=site, accounts=6, policy=TASTES)
        warehouse.load(Reader([str(folder)], check_rules=ruleset.check), folder / "kwx.duckdb")
        with warehouse.connect(folder / "kwx.duckdb") as connection:
            for player, expected in SHOWN.items():
                names = list(expected)
                truth = differences(connection, player, names, {}).to_dicts()
                found = [differences(connection, player, names, {"site": site}).to_dicts() for site in sites]
                for at, true in enumerate(truth):
                    one = [of[at] for of in found]
                    sign = expected[true["metric"]]
                    signs = sum(row["difference"] * sign > 0 for row in one) / len(one)
                    clear = sum((row["low"] if sign > 0 else -row["high"]) > 0 for row in one) / len(one)
                    held = sum(row["low"] <= true["difference"] <= row["high"] for row in one) / len(one)
                    rows.append((player, f"`{true['metric']}`", true["value_b"], true["value_a"], signs, clear, held))
            truth, usual = shares(connection, FLUSH, {}), shares(connection, OTHERS, {})
            found = [shares(connection, FLUSH, {"site": site}) for site in sites]
            others = [shares(connection, OTHERS, {"site": site}) for site in sites]
            for at, (key, what) in enumerate((("share", "share of wins"), ("aimed_share", "share of hands aimed"))):
                pairs = [(own[at], other[at]) for own, other in zip(found, others, strict=True)]
                signs = sum(own[key] > other[key] for own, other in pairs) / len(pairs)
                clear = sum(own[f"{key}_low"] > other[f"{key}_high"] for own, other in pairs) / len(pairs)
                held = sum(own[f"{key}_low"] <= truth[at][key] <= own[f"{key}_high"] for own, _ in pairs) / len(pairs)
                rows.append((FLUSH, f"`{FAN}`, {what}", usual[at][key], truth[at][key], signs, clear, held))
    print("| account | statistic | the usual | planted | right sign | clear of zero | interval holds the size |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for player, name, usual_value, planted, signs, clear, held in rows:
        print(f"| {player} | {name} | {usual_value:.4f} | {planted:.4f} | {signs:.0%} | {clear:.0%} | {held:.0%} |")


if __name__ == "__main__":
    main()
