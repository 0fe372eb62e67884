"""Which one change of the rules would make a faulty round right (`explained_by`).

Every key's other values are tried, one at a time, on the faulty rounds of a batch; inputs such as piao and raise are
never varied.  A change explains a round when the round then has no problem at all.
"""

from typing import TYPE_CHECKING

import numpy as np

from replay import ruleset
from replay.problems import CODE, FIRST_MISMATCH

if TYPE_CHECKING:
    from replay.batch import Played, Replayer

# Violations that hang on a key; the others (a foreign tile, a draw beside the wall) hold under any rules.
HANG_ON_RULES = (
    "bad_claim", "kong_too_late", "kong_held", "kong_on_empty_wall", "missed_win_lock", "not_ready",
    "reveal_not_allowed", "bad_hidden", "changed_after_reveal", "fed_revealed", "safe_tile_held", "below_minimum",
    "dead_hand", "must_discard_drawn", "missing_event", "wrong_replacement", "wrong_suits", "wrong_piao", "wrong_base",
)  # fmt: skip


def explanations(replayer: "Replayer", played: "Played") -> dict[int, list[str]]:
    """By row of the batch, the sorted "key=value" changes of which each alone explains the round."""
    hangs = np.zeros(len(CODE), bool)
    hangs[FIRST_MISMATCH:] = True
    hangs[[CODE[word] for word in HANG_ON_RULES]] = True
    faulty = np.unique(played.problems.row)
    helpless = np.unique(played.problems.row[~hangs[played.problems.code]])
    faulty = np.setdiff1d(faulty, helpless)
    found: dict[int, list[str]] = {}
    for number in np.unique(played.rounds.rules[faulty]).tolist():
        rows = faulty[played.rounds.rules[faulty] == number]
        # Where the piao stayed open, any choice that is left may go with a change.
        choices = [played.piao_left.get(row, played.rounds.piao[row][None]) for row in rows.tolist()]
        rows = np.repeat(rows, [len(left) for left in choices])
        again = played.rounds[rows].copy()
        again.piao = np.concatenate(choices)
        again.rules = 0
        for key, value, changed in ruleset.variants(replayer.rules.loaded[number]):
            one = np.zeros(1, ruleset.DTYPE)
            one[0] = changed
            trial = replayer.play(again, played.events, one.view(np.recarray), played.positions)
            for row in np.unique(rows[trial.results.problems == 0]).tolist():
                found.setdefault(row, []).append(f"{key}={ruleset.text(value)}")
    return {row: sorted(changes) for row, changes in found.items()}
