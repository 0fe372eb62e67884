"""Simulated rounds of every ruleset through the checker: how fast they are played, and that nothing is found in them.

    python benchmarks/simulated.py [--rounds 20000] [--rules ID …] [--seed S]

For each ruleset half of the rounds are played without room options, half with drawn ones, in four tempers of play.
One JSON line a ruleset on standard output; exit code 1 when anything was found.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import pyarrow as pa  # noqa: E402

from replay import ruleset, simulate  # noqa: E402
from replay.batch import Replayer  # noqa: E402
from replay.games import check_games  # noqa: E402
from replay.policy import Policy  # noqa: E402
from replay.problems import ROUNDS  # noqa: E402

TEMPERS = {
    "people": None,
    "usual": Policy(),
    "slow": Policy(win=0.3, self_draw=0.05, reveal=0.3, pung_idle=0.4, kong=1, kong_idle=1, short=0.1, void_kong=1),
    "open": Policy(win=0.5, self_draw=0.2, reveal=0.9, pung=1, pung_idle=0.8, between=1, defend=0.1),
}
KEPT = [name for name in ROUNDS.names if name not in ("deal", "wall", "events", "event_no", "times")]


def drawn(ident: str, rng: random.Random) -> dict:
    """Room options of a ruleset, each left alone or drawn."""
    while True:
        listed = ruleset.family(ident).options
        options = {key: rng.choice(values) for key, values in listed.items() if rng.random() < 0.7}
        if ruleset.check(ident, options) is None:
            return options


def run(ident: str, rounds: int, seed: int) -> dict:
    """Play and check one ruleset."""
    rng, replayer, kept = random.Random(f"{ident} {seed}"), Replayer(explain=False), []
    found: list[dict] = []
    events = played = 0
    spent = {"simulate": 0.0, "replay": 0.0}
    parts = [(temper, options) for temper in TEMPERS for options in ({}, drawn(ident, rng))]
    for part, (temper, options) in enumerate(parts):
        count = rounds // len(parts) + (part < rounds % len(parts))
        batches = simulate.simulate(ident, count, seed + part, options, policy=TEMPERS[temper], lines=True)
        while True:
            begun = time.perf_counter()
            batch = next(batches, None)
            spent["simulate"] += time.perf_counter() - begun
            if batch is None:
                break
            begun = time.perf_counter()
            out = replayer.feed(batch)
            spent["replay"] += time.perf_counter() - begun
            kept.append(out["rounds"].select(KEPT))
            found += out["problems"].to_pylist()
            events += len(batch["events"].flatten())
            played += batch.num_rows
    found += check_games(pa.concat_tables(kept)).to_pylist()
    verdicts: dict[str, int] = {}
    for table in kept:
        for word in table["verdict"].to_pylist():
            verdicts[word] = verdicts.get(word, 0) + 1
    return {
        "rules": ident, "rounds": played, "events": events, "verdicts": verdicts, "problems": len(found),
        "first": found[0] if found else None,
        **{f"rounds_per_second_{what}": round(played / seconds) for what, seconds in spent.items()},
    }  # fmt: skip


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--rules", nargs="*", default=ruleset.ids())
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    run(chosen.rules[0], 16, 0)  # compiles
    wrong = 0
    for ident in chosen.rules:
        row = run(ident, chosen.rounds, chosen.seed)
        wrong += row["problems"]
        print(json.dumps(row, ensure_ascii=False, default=str), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
