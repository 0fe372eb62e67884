"""The parts of a run put together, in the order of the logs, as one machine would have read them.

While partitions are written, this machine decides about repeats across them, from what each part saw.  A part that
holds rounds of earlier ones (or of the data set) is done again, knowing them: the records that it then refuses, and
rounds whose reading depends on the rest of their game, come out as on one machine.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics.cluster import partition
from analytics.cluster.work import Asked, Done, Task, code, whole_digest, work
from analytics.cluster.workers import Workers
from ingest.known import Sift
from ingest.parts import PART, Piece, planned
from ingest.rejects import SOURCES
from ingest.sources import expand

COUNTS = ("records", "rounds", "repeats", "rejects")
PLACED = ("record", "line")  # columns that count from the beginning of a range


class Merged:
    """What workers made of logs: iterate once over the tables, in pieces; then ask `sources()`.

    As ingest.read.Reader and its replay: `know`, `sources` and `notes` are the same.
    """

    replayed = True

    def __init__(
        self, logs: Sequence[str], workers: Workers, folder: str, asked: Asked | None = None, part_bytes: int = PART
    ) -> None:
        self.notes: list[str] = []
        self._parts = planned(expand(logs, self.notes), part_bytes)
        self._workers, self._folder, self.asked = workers, folder, asked or Asked()
        self._sift = Sift()
        self._done: dict[int, Done] = {}  # first passes that are not decided about yet
        self._final: dict[int, Done] = {}
        self._digests: dict[str, str] = {}
        self._sources: list[dict[str, Any]] = []
        self._placed = dict.fromkeys(PLACED, 0)  # what the parts before have of the file under way
        self.read_bytes = 0  # of the logs, those whose rows have been given out, about

    def total_bytes(self) -> int:
        """How many bytes `read_bytes` will come to."""
        return sum(map(_bytes, self._parts))

    def know(self, ids: np.ndarray, contents: np.ndarray) -> None:
        """Before iterating: rounds (round_id and content, uint64 arrays) whose first record came in an earlier run."""
        self._sift.know(ids, contents)

    def __iter__(self) -> Iterator[dict[str, pa.Table]]:
        """Some rows of some tables (the replay's and "rejects") at a time; rows of each table in order."""
        keys: dict[str, Callable[[Any], None]] = {}

        def submit(key: str, function: Callable[[Any], Any], argument: Any, then: Callable[[Any], None]) -> None:
            keys[key] = then
            self._workers.submit(key, function, argument)

        def again(number: int, task: Task) -> None:
            submit(f"again-{task.name}", work, task, lambda done: self._final.update({number: done}))

        tasks = [Task(number, part, self.asked, self._folder, code()) for number, part in enumerate(self._parts)]
        for number, task in enumerate(tasks):
            submit(f"part-{task.name}", work, task, lambda done, number=number: self._done.update({number: done}))
        for place, piece in {part[0].place: part[0] for part in self._parts if part[0].start is not None}.items():
            submit(
                f"digest-{place}", whole_digest, piece, lambda value, place=place: self._digests.update({place: value})
            )
        decided = merged = 0
        for answer in self._workers.answers():
            keys.pop(answer.key)(answer.value)
            while decided in self._done:
                self._decide(tasks[decided], self._done.pop(decided), again)
                decided += 1
            while merged in self._final:
                yield from self._tables(self._parts[merged], self._final.pop(merged))
                merged += 1
        if merged < len(self._parts):
            raise AssertionError(f"part {merged} of {len(self._parts)} is missing")

    def _decide(self, task: Task, done: Done, again: Callable[[int, Task], None]) -> None:
        """Makes a first pass final, or has it done again if it holds rounds of the parts before it."""
        batches = self._seen(done)
        ids, contents, marked, refused = (
            np.concatenate([batch[name] for batch in batches]) if batches else np.zeros(0, kind)
            for name, kind in (("round_id", "u8"), ("content", "u8"), ("marked", "?"), ("refused", "?"))
        )
        known, standing = self._sift.rounds.standing(ids)
        known_contents, _ = self._sift.contents.standing(contents[marked])
        decisions = [self._sift.decide(batch["round_id"], batch["content"], batch["marked"]) for batch in batches]
        if not len(known) and not len(known_contents):
            self._final[task.number] = done
        elif not refused.any() and all(not first.any() and same.all() for first, same in decisions):
            rows = {name: count for name, count in done.rows.items() if name == "rejects"}
            sources = [row | {"rounds": 0, "repeats": row["repeats"] + row["rounds"]} for row in done.sources]
            self._final[task.number] = done._replace(rows=rows, sources=sources)  # nothing in it is new
        else:
            again(task.number, task._replace(repeats=(known, standing, known_contents)))

    def _seen(self, done: Done) -> list[dict[str, np.ndarray]]:
        """What a part saw, batch by batch."""
        if "seen" not in done.rows:
            return []
        table = pa.concat_tables(partition.read(self._folder, done.name, "seen"))
        arrays = {name: table[name].to_numpy() for name in table.column_names}
        cuts = np.flatnonzero(np.diff(arrays.pop("batch"))) + 1
        bounds = zip([0, *cuts.tolist()], [*cuts.tolist(), table.num_rows], strict=True)
        return [{name: values[a:b] for name, values in arrays.items()} for a, b in bounds]

    def _tables(self, part: list[Piece], done: Done) -> Iterator[dict[str, pa.Table]]:
        """The rows of a final partition, at their places in the whole."""
        if not part[0].start:
            self._placed = dict.fromkeys(PLACED, 0)
        names = [name for name in done.rows if name != "seen"]
        before, given, rows = self.read_bytes, 0, sum(done.rows[name] for name in names)
        for name in names:
            for table in partition.read(self._folder, done.name, name):
                given += table.num_rows
                self.read_bytes = before + _bytes(part) * given // rows
                yield {name: self._moved(table)}
        self.read_bytes = before + _bytes(part)
        self._count(part, done)

    def _moved(self, table: pa.Table) -> pa.Table:
        for name, more in self._placed.items():
            if more and name in table.column_names:
                at = table.schema.get_field_index(name)
                table = table.set_column(at, table.schema.field(at), pc.add(table[name], pa.scalar(more, pa.int64())))
        return table

    def _count(self, part: list[Piece], done: Done) -> None:
        """Adds a part to the rows of `sources` and to the notes."""
        if part[0].start is None:
            self._sources += done.sources
            self.notes += done.notes
            return
        [piece], [row] = part, done.sources
        if piece.start == 0:
            self._sources.append(row | {"sha256": piece.place, "bytes": 0} | dict.fromkeys(COUNTS, 0))
        total = self._sources[-1]
        for name in ("bytes", *COUNTS):
            total[name] += row[name]
        self._placed = {"record": total["records"], "line": self._placed["line"] + done.lines}
        if piece.stop == piece.size and not total["records"]:
            self.notes.append(f"{total['source']}: no records")

    def sources(self) -> pa.Table:
        """One row (rejects.SOURCES) for each source, in the order of the logs."""
        rows = [row | {"sha256": self._digests.get(row["sha256"], row["sha256"])} for row in self._sources]
        return pa.Table.from_pylist(rows, SOURCES)


def _bytes(part: list[Piece]) -> int:
    """Of the files, or of the range."""
    return sum(piece.size if piece.start is None else piece.stop - piece.start for piece in part)
