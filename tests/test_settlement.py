"""Falsified rounds without draws: whatever they claim, no hand holds tiles that cannot be there."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from ingest.events import DISCARD, REVEAL
from ingest.read import Reader
from replay import ruleset
from replay.batch import Replayer

ARCHIVE = Path(__file__).parent / "data" / "kws_archive" / "ky_01_three_cap32.archives.jsonl.gz"


def test_a_reveal_that_its_discard_does_not_follow_takes_no_tile_twice() -> None:
    """A falsified record: the tile that goes with a reveal is said to be drawn."""
    for batch in Reader([ARCHIVE], check_rules=ruleset.check):
        events = batch.rounds["events"].values.to_numpy().copy()
        after = np.nonzero((events[:-1] >> 2 & 15 == REVEAL) & (events[1:] >> 2 & 15 == DISCARD))[0] + 1
        assert len(after)
        events[after] += 1 << 2
        column = pa.ListArray.from_arrays(batch.rounds["events"].offsets, pa.array(events))
        at = batch.rounds.schema.get_field_index("events")
        tables = Replayer(explain=False).feed(batch.rounds.set_column(at, "events", column))
        assert {len(hand) for hand in tables["seats"]["hand"].to_pylist()} <= {1, 2, 4, 5, 7, 8, 10, 11, 13, 14}
