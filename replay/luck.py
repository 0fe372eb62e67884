"""What the tiles of a round were worth to each seat: its luck and the others', by coefficients fixed beforehand.

Four kinds of luck, each of mean zero for honest walls whatever anyone plays: how near the dealt hand was, useful draws,
hits of a ready hand, useful replacements after kongs, all less their exact expectations.  docs/luck.md has the method.
"""

import tomllib
from functools import cache
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("luck.toml")
KINDS = ("start", "draws", "ready", "behind")
MEAN_SHANTEN = {13: 2.429203409415421, 14: 1.944239697097177}  # of fair deals, counted in analytics/starts.py
MILLION = 1_000_000
Coefficients = dict[str, dict[str, float]]


@cache
def coefficients() -> Coefficients:
    """Base stakes a unit of each of KINDS, by ruleset; "other" is for rulesets that are not there."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))["coefficients"]


def controls(found: np.ndarray) -> np.ndarray:
    """float64[n, 3, 4]: of each round and seat its luck of each of KINDS, less half of what the two others had.

    found: watch.FACTS[n], or a dict of its fields as arrays [n, 3].
    """
    dealer = found["start_tiles"] == 14
    own = np.stack(
        [
            np.where(dealer, MEAN_SHANTEN[14], MEAN_SHANTEN[13]) - found["start_shanten"],
            found["useful_draws"] - found["useful_expected"],
            found["ready_hits"] - found["ready_expected"],
            found["replacement_hits"] - found["replacement_expected"],
        ],
        axis=2,
    )
    return 1.5 * own - 0.5 * own.sum(axis=1, keepdims=True)


def worth(found: np.ndarray, numbers: np.ndarray, rulesets: list[str]) -> np.ndarray:
    """int32[n, 3]: what the tiles of each round were worth to each seat, in millionths of base stakes.

    numbers: int64[n], the place of each round's ruleset in `rulesets`.
    """
    known = coefficients()
    table = np.array([[known.get(one, known["other"])[kind] for kind in KINDS] for one in rulesets]).reshape(-1, 4)
    return np.rint(MILLION * (controls(found) * table[numbers][:, None, :]).sum(axis=2)).astype(np.int32)
