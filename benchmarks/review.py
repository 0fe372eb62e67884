"""How strong the policy is that plays rounds out in reviews, and how fast that goes: `python benchmarks/review.py`.

Three tables, seeded, for docs/review.md; about two minutes of CPU time.
* Strength: net of one account with the policy against two of another kind, stakes a round ± one standard error.
* Its own play, reviewed: what an account that plays by the policy loses a round against the best options found.
* Speed: rounds played out a second and core, one decision of a round, and a whole account.
"""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from analytics import player, warehouse
from ingest.read import Reader
from replay import ruleset, simulate
from replay.batch import Replayer
from replay.policy import Policy
from replay.review import ROLLOUTS, Reviewer, player_for, prepare

RULESETS = ("xiangyang", "hubei", "xiangyang_unlimited", "3d_xiangyang", "qichun")
ROUNDS = 10_000
KINDS = (
    ("itself (a control)", {}),
    ("reveals at the other times", None),
    ("never defends", {"defend": 0}),
    ("no taste for flushes", {"flush": 0, "pairs": 0, "five": 0}),
    ("seldom pungs", {"pung": 0.3}),
    ("one discard in five at random", {"noise": 0.2}),
    ("discards at random", {"noise": 1}),
)


def net(ident: str, policies: dict[str, Policy], accounts: int, rounds: int, seed: int) -> tuple[float, float, int]:
    """(mean, standard error, n) of u1's points a round in stakes."""
    found = []
    for batch in simulate.simulate(ident, rounds, seed, policy=policies, accounts=accounts):
        names = np.array(batch["players"].flatten().to_pylist()).reshape(-1, 3) == "u1"
        points = batch["result_points"].flatten().to_numpy().reshape(-1, 3)
        stakes = batch["base"].to_numpy() << batch["raise"].to_numpy()
        found.append((points / stakes[:, None])[names])
    all_of_them = np.concatenate(found)
    return float(all_of_them.mean()), float(all_of_them.std() / np.sqrt(len(all_of_them))), len(all_of_them)


def strength() -> None:
    """The policy against other kinds of play."""
    print(f"| against two of | {' | '.join(RULESETS)} |\n|---|{'---|' * len(RULESETS)}")
    usual = []
    for ident in RULESETS:
        mean, error, n = net(ident, {"u1": player_for(ruleset.load(ident))}, 12, 2 * ROUNDS, 1)
        usual.append(f"{mean:+.2f} ± {error:.2f} (n {n:,})")
    print(f"| simulated people, of all tastes | {' | '.join(usual)} |")
    for name, change in KINDS:
        cells = []
        for ident in RULESETS:
            own = player_for(ruleset.load(ident))
            other = replace(own, reveal=1 - own.reveal) if change is None else replace(own, **change)
            mean, error, _ = net(ident, {"u1": own, "u2": other, "u3": other}, 3, ROUNDS, 2)
            cells.append(f"{mean:+.2f} ± {error:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def reviewed(folder: Path) -> None:
    """An account that plays by the policy, and one of the usual taste, reviewed; and how long that takes."""
    for ident, rounds in (("hubei", 100), ("qichun", 50)):
        own = player_for(ruleset.load(ident))
        log, db = folder / f"{ident}.jsonl", folder / f"{ident}.duckdb"
        simulate.write(log, ident, None, rounds, 7, policy={"u1": own, "u2": Policy(), "u3": own}, accounts=3)
        warehouse.load(Reader([str(log)], check_rules=ruleset.check), db)
        for name in ("u1", "u2"):
            cpu, wall = time.process_time(), time.perf_counter()
            found = player.report(db, name)["review"]
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            who = "the policy" if name == "u1" else "the usual taste"
            print(
                f"{ident}, {who}: {found['loss_per_round']:.2f} ± {found['loss_per_round_error']:.2f} stakes a round; "
                f"{found['rounds']} rounds, {found['decisions']} decisions, {found['refined']} played out again, "
                f"{found['flagged']} flagged: {cpu:.1f} s CPU, {wall:.1f} s",
                flush=True,
            )


def speed() -> None:
    """Rounds played out a second and core, over all decisions of some rounds; one decision as the viewer asks it."""
    for ident in ("hubei", "qichun"):
        reviewer, replayer = Reviewer(), Replayer(explain=False)
        (batch,) = simulate.simulate(ident, 20, 3)
        rows = replayer.feed(batch)["rounds"].to_pylist()
        found = [(one, *each) for one in (prepare(row, (0, 0, 0)) for row in rows) for each in reviewer.find(one, 1)]
        spent, played = time.thread_time(), 0
        for one, decision, options in found:
            reviewer.results(one, decision, options, 0, 50, np.ones(len(options), bool))
            played += 50 * len(options)
        spent = time.thread_time() - spent
        one, decision, options = max(found, key=lambda each: (len(each[2]), -each[1].event))
        single = time.thread_time()
        reviewer.values(one, decision, options, ROLLOUTS)
        single = time.thread_time() - single
        print(f"{ident}: {played / spent:,.0f} rounds played out a second; {len(found)} decisions of one seat in 20 "
              f"rounds, {played / 50 / len(found):.1f} options each; the one with most options ({len(options)}), "
              f"{ROLLOUTS:,} rollouts an option: {single:.2f} s CPU", flush=True)  # fmt: skip


if __name__ == "__main__":
    strength()
    speed()
    with tempfile.TemporaryDirectory() as name:
        reviewed(Path(name))
