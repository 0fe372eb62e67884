"""What a worker does: reads a part of the logs, replays it, writes a partition.  Needs neither DuckDB nor the cluster.

The reader and the replayer are those of one machine.  A worker must run the very version of kwx that asks it: each task
says which, and is refused by another.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from analytics.cluster.partition import Partition
from ingest.parts import PartReader, Piece, digest

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("ingest", "replay", "analytics/cluster")
SEEN = pa.schema(
    [
        ("round_id", pa.uint64()),
        ("content", pa.uint64()),
        ("marked", pa.bool_()),  # a record that carries an id of its own
        ("refused", pa.bool_()),  # another record of a round that this part holds
        ("batch", pa.int32()),
    ]
)


class VersionError(Exception):
    """A worker that runs another version of kwx than the one that asks it."""


class Asked(NamedTuple):
    """What a run asks of every part: as ingest.read.Reader takes it, but `users` is the name and the content of the
    file; whether to find facts."""

    site: str | None = None
    users: tuple[str, bytes] | None = None
    rules: str | None = None
    options: dict[str, Any] | None = None
    facts: bool = True


class Task(NamedTuple):
    """Part `number` of the logs.

    folder: where the partition goes; code: the version that asks; repeats: rounds of earlier parts that this one holds
    too (ids, the contents that stand for them, marked contents: uint64 arrays).
    """

    number: int
    part: list[Piece]
    asked: Asked
    folder: str
    code: str
    repeats: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    @property
    def name(self) -> str:
        """16 hex digits over all that the partition is made from."""
        state = blake2b(repr(self[:5]).encode(), digest_size=8)
        for values in self.repeats or ():
            state.update(b"%d\0" % len(values) + values.tobytes())
        return state.hexdigest()


class Done(NamedTuple):
    """A written partition: rows per table, the reader's `sources` and `notes`, the line endings of a range."""

    name: str
    rows: dict[str, int]
    sources: list[dict[str, Any]]
    notes: list[str]
    lines: int


@lru_cache(maxsize=1)
def code() -> str:
    """The version of what reads and replays: 16 hex digits over the code and the rules."""
    state = sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in (".py", ".toml"):
                state.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return state.hexdigest()[:16]


def work(task: Task) -> Done:
    """Does a task.  Errors: VersionError, PartitionError, and those of the reader."""
    if task.code != code():
        raise VersionError(f"a worker runs another version of kwx: {code()}, expected {task.code}")
    from replay import ruleset, scan
    from replay.batch import Replayer
    from replay.seat_sums import with_sums

    replayer = Replayer(facts=task.asked.facts)
    with _file(task.asked.users) as users, Partition(task.folder, task.name) as out:
        site, _, rules, options, _ = task.asked
        reader = PartReader(
            task.part, site=site, users=users, rules=rules, options=options, check_rules=ruleset.check,
            scanner=scan.fastest,
        )  # fmt: skip
        if task.repeats is not None:
            reader.repeats(*task.repeats)
        for batch in reader:
            if batch.rounds.num_rows:
                for name, table in with_sums(replayer.feed(batch.rounds)).items():
                    out.add(name, table)
            out.add("rejects", pa.Table.from_batches([batch.rejects]))
        for number, (ids, contents, marked, first, same) in enumerate(reader.seen):
            columns = [ids, contents, marked, ~first & ~same, np.full(len(ids), number, np.int32)]
            out.add("seen", pa.table([pa.array(column) for column in columns], schema=SEEN))
    notes = reader.notes if task.part[0].start is None else []
    return Done(task.name, out.rows, reader.sources().to_pylist(), notes, reader.lines)


def whole_digest(piece: Piece) -> str:
    """The SHA-256 of a file that is read in ranges."""
    return digest(piece)


@contextmanager
def _file(named: tuple[str, bytes] | None) -> Iterator[str | None]:
    """A file of this name and content for as long as the block runs."""
    if named is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="kwx-users-") as folder:
        path = os.path.join(folder, named[0])
        Path(path).write_bytes(named[1])
        yield path
