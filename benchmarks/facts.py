"""What the facts of rounds cost: a second pass over every round, and three more tables.

    python benchmarks/facts.py [--rounds 16384] [--rules ID …]

Simulated rounds, replayed once with and without facts in one process; CPU seconds of one thread, the best of three.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from replay import facts_tables
from replay.batch import Replayer
from replay.simulate import simulate

BEST_OF = 3


def best(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest call."""
    seconds = []
    for _ in range(BEST_OF):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return min(seconds)


def measure(rules: str, rounds: int) -> dict[str, float]:
    """CPU seconds of each step."""
    batches = list(simulate(rules, rounds, 1))
    plain, watched = Replayer(explain=False), Replayer(explain=False, facts=True)
    tables = ("fact_table", "draw_table", "aim_table")
    spent = dict.fromkeys(tables, 0.0)

    def clocked(name: str, function: Callable) -> Callable:
        def call(*given):
            start = time.thread_time()
            found = function(*given)
            spent[name] += time.thread_time() - start
            return found

        return call

    for replayer in (plain, watched):
        replayer.feed(batches[0])  # loads the engine
    without = best(lambda: [plain.feed(batch) for batch in batches])
    for name in tables:
        setattr(facts_tables, name, clocked(name, getattr(facts_tables, name)))
    whole = best(lambda: [watched.feed(batch) for batch in batches])
    made = {name: seconds / BEST_OF for name, seconds in spent.items()}
    return {"replay, no facts": without, "facts, all": whole - without,
            "of it: the pass over the rounds": whole - without - sum(made.values()),
            **{f"of it: {name.replace('_', ' ')}": seconds for name, seconds in made.items()}}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=16_384)
    parser.add_argument("--rules", nargs="+", default=["hubei"])
    chosen = parser.parse_args()
    for rules in chosen.rules:
        print(f"{chosen.rounds:,} rounds of {rules}\n\n| step | CPU s | µs a round | rounds/s |\n|---|---:|---:|---:|")
        for name, seconds in measure(rules, chosen.rounds).items():
            rate = chosen.rounds / seconds
            print(f"| {name} | {seconds:.3f} | {seconds / chosen.rounds * 1e6:.1f} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
