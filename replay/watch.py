"""The records of replay.facts: the facts of one round, a draw's row, and what is kept from event to event."""

import numpy as np

from ingest.events import FAN_CODE
from replay.state import RESULT, STATE

SHAPES = FAN_CODE["after_kong_draw"]  # the fans before it lie in the hand
MOST_DISCARDS = 60  # a seat has at most 14 tiles dealt and 44 drawn
UNIT = 1.0 / (1 << 26)  # probabilities are noted in whole units: sums of them come out the same in any order
NEVER = -1

SMALL = (
    "start_tiles", "start_shanten", "start_pairs", "start_triplets", "start_dragons", "start_suit_tiles",
    "ready_turn", "ready_live_own", "ready_live_true", "ready_left",
    "reveal_order", "reveal_live_own", "reveal_live_true",
    "wins_offered", "wins_missed", "self_draws_offered", "self_draws_missed",
    "kongs_offered", "kongs_declined", "pungs_offered", "pungs_declined",
    "discards_into_revealed", "dangerous_discards", "careless_discards", "final_shanten", "final_live_true",
    "dealt_in_ready", "dealt_into_revealed", "open_choices", "open_fed", "hidden_choices", "hidden_fed", "horses",
)  # fmt: skip
NUMBERS = (
    "discards", "ready_event", "draws", "draws_behind", "useful_draws", "ready_draws", "ready_hits",
    "revealed_draws", "revealed_hits", "replacement_hits", "first_missed_event",
    "horse_points",
)  # fmt: skip
# Kinds of draws, and of discards, whose chances are added up.
LUCK = ("useful", "ready", "revealed", "replacement", "open", "hidden", "horse")

# The facts of one round, by seat.  -1 in a column that can be empty: there is none.
FACTS = np.dtype(
    [
        *((f"{name}_{sum_}", np.float64, (3,)) for name in LUCK for sum_ in ("expected", "variance")),
        *((name, np.uint32, (3,)) for name in ("ready_waits", "final_waits")),
        *((name, np.int16, (3,)) for name in NUMBERS),
        *((name, np.int8, (3,)) for name in SMALL),
        ("shanten", np.int8, (3, MOST_DISCARDS)),  # after each own discard
        ("choices", np.int8, (3, MOST_DISCARDS)),  # before it
        # by fan: distance of the dealt hand and least, own discards made when first near, aimed at, and ready
        *((f"aim_{name}", np.int8, (3, SHAPES)) for name in ("start", "best", "near", "turn", "ready")),
    ],
    align=True,
)

DRAW = np.dtype(
    [
        ("row", np.int32),  # of the chosen rounds
        ("n", np.int16),
        ("event", np.int16),
        ("seat", np.int8),
        ("tile", np.uint8),
        ("place", np.int8),
        ("behind", np.bool_),
        ("remaining", np.int8),
        ("same", np.int8),
        ("shanten", np.int8),
        ("useful", np.int8),
        ("hit", np.bool_),
        ("ready", np.bool_),
        ("revealed", np.bool_),
        ("caller", np.int8),
    ]
)

# What is kept from event to event.
WATCH = np.dtype(
    [
        ("away", np.int64, (3,)),  # shanten and waits of the hand between its turns
        ("waits", np.int64, (3,)),
        ("melds", np.int64, (3,)),
        ("key", np.int64, (3, 3)),
        ("noted", np.int64, (3,)),  # the reveal's live tiles are noted
        ("turn", np.int64),  # the seat whose turn offers something, -1: none
        ("turn_event", np.int64),
        ("self_draw", np.int64),  # its hand is complete and may win
        ("concealed", np.int64),  # kongs that it may make, bit sets
        ("added", np.int64),
        ("fours", np.int64, (3,)),  # kinds that were four in the hand
        ("asked", np.int64),  # there are kongs of which the table is to be asked, in the three sets below
        ("ask_concealed", np.int64),
        ("ask_added", np.int64),
        ("ask_kong", np.int64),  # seats
        ("concealed_offered", np.int64, (3,)),
        ("added_offered", np.int64, (3,)),
        ("concealed_made", np.int64, (3,)),
        ("added_made", np.int64, (3,)),
        ("open", np.int64),  # a tile lies open for claims
        ("open_event", np.int64),
        ("win", np.int64),  # seats to which it is offered, bit sets
        ("pung", np.int64),
        ("kong", np.int64),
        ("taken", np.int64),  # seats that won it
        ("caller", np.int64),  # the last seat to pung or kong since the last draw
        ("aim", np.int64, (SHAPES,)),  # tiles from ready for each fan
        ("trial", STATE),
        ("trial_out", RESULT),
    ]
)
