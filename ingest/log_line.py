"""One stored round as a line of a kwx log again, from rows of the data set's tables."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ingest.events import COVERAGE, ROUNDS, pack_fans
from ingest.formats import kwx_write

SAME = (
    "round_id", "site", "game", "round", "time_ms", "options", "suits", "dealer", "dice", "base", "raise", "raise_from",
    "piao_from", "hidden_from", "coverage", "deal", "wall", "events", "event_no", "times",
)  # fmt: skip


def line(tables: Mapping[str, list[dict[str, Any]]]) -> str | None:
    """The round as one line without its end, None where the log named no drawn tiles: no kwx log can hold it.

    What a data set doesn't keep is left out: the commitment and its opening, private keys, the chain.
    """
    row, seats = tables["rounds"][0], sorted(tables["seats"], key=lambda seat: seat["seat"])
    if row["coverage"] != COVERAGE[0] or row["deal"] is None or len(seats) != 3:
        return None
    piao = [seat["piao"] for seat in seats]
    points = [seat["recorded_points"] for seat in seats]
    wins = [
        {
            "seat": win["seat"], "from": win["from_seat"], "tile": win["tile"], "multiple": win["recorded_multiple"],
            "fans": None if win["recorded_fans"] is None else pack_fans(win["recorded_fans"]),
        }
        for win in tables["wins"]
    ]  # fmt: skip
    told = any(win["fans"] is not None or win["multiple"] is not None for win in wins)
    known = {name: row[name] for name in SAME} | {
        "format": kwx_write.OWN, "rules": row["ruleset"], "players": [seat["player"] or "" for seat in seats],
        "piao": None if None in piao else piao, "result_points": None if None in points else points,
        "result_wins": wins if told else None,
    }  # fmt: skip
    batch = pa.RecordBatch.from_pylist([{name: known.get(name) for name in ROUNDS.names}], ROUNDS)
    return kwx_write.write(batch).decode().removesuffix("\n")
