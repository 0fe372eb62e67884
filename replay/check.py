"""Every problem of a set of logs as rows, streaming: what `kwx check` prints.

Rounds flow through the replay batch by batch; only what the game level needs of a round is kept (a hundred bytes or
so), so memory grows with the number of rounds by little and with their length not at all.  Rows come in the order
of the input; the game level's problems (wrong dealer, lost round, …) follow once all rounds are known, then the
summary.  Source: cli.md, log-format.md section 3.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ingest.ahead import ahead
from ingest.read import Reader
from replay.batch import Replayer
from replay.games import NAMES, READS, check_games
from replay.problems import ROUNDS

KEYS = (
    "kind", "code", "source", "record", "line", "site", "game", "round", "event", "seat", "logged", "expected",
    "message", "explained_by",
)  # fmt: skip
KEPT = [*dict.fromkeys((*READS, *NAMES, "verdict"))]  # of each round, for the game level and the counts


def _reject(row: dict[str, Any]) -> dict[str, Any]:
    message = row["message"]
    if row["field"] and row["field"] not in message:
        message = f"{row['field']}: {message}"
    return dict.fromkeys(KEYS) | {
        "kind": "reject", "code": row["code"], "source": row["source"], "record": row["record"], "line": row["line"],
        "message": message, "explained_by": [],
    }  # fmt: skip


def _problem(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in KEYS} | {"explained_by": row["explained_by"] or []}


def _place(row: dict[str, Any]) -> tuple[int, int]:
    """Within one source: the record, then the event; what concerns the whole round comes last."""
    return row["record"], 1 << 31 if row["event"] is None else row["event"]


def problems(reader: Reader, progress: Callable[[int], None] = lambda rounds: None) -> Iterator[dict[str, Any]]:
    """One dict a problem, with exactly KEYS, then one of kind "summary" with the counts.

    `progress` is called after each batch with the number of its rounds.  Errors: those of the reader.
    """
    replayer = Replayer()
    kept: list[pa.Table] = []
    with closing(ahead(reader)) as batches:
        for batch in batches:  # of one source, in the order of its records
            out = replayer.feed(batch.rounds)
            kept.append(out["rounds"].select(KEPT))
            rows = [_reject(row) for row in batch.rejects.drop_columns(["raw"]).to_pylist()]
            rows += [_problem(row) for row in out["problems"].to_pylist()]
            yield from sorted(rows, key=_place)
            progress(batch.rounds.num_rows)

    rounds = pa.concat_tables(kept) if kept else ROUNDS.empty_table().select(KEPT)
    sources = reader.sources()
    place = {name: number for number, name in enumerate(sources["source"].to_pylist())}
    late = sorted(check_games(rounds).to_pylist(), key=lambda row: (place[row["source"]], *_place(row)))
    yield from map(_problem, late)
    yield _summary(sources, rounds, {row["round_id"] for row in late if row["kind"] == "violation"})


def _summary(sources: pa.Table, rounds: pa.Table, violated: set[int]) -> dict[str, Any]:
    """The closing counts; a round that breaks a rule of its game is a violation whatever its own verdict."""
    counts = dict.fromkeys(("clean", "violation", "mismatch", "unpaid"), 0)
    own = pc.is_in(rounds["round_id"], pa.array(sorted(violated), pa.uint64()))
    for group, verdict in ((rounds.filter(pc.invert(own)), None), (rounds.filter(own), "violation")):
        for item in pc.value_counts(group["verdict"].cast(pa.string())).to_pylist():
            counts[verdict or item["values"]] += item["counts"]
    totals = {name: pc.sum(sources[name]).as_py() or 0 for name in ("records", "rounds", "repeats", "rejects")}
    return {"kind": "summary"} | totals | counts
