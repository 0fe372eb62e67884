"""`kwx run --workers`: the logs through a cluster into a data set."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from hashlib import blake2b
from pathlib import Path

from analytics import warehouse
from analytics.cluster import partition
from analytics.cluster.merge import Merged
from analytics.cluster.work import Asked
from analytics.cluster.workers import connected
from ingest import objects
from ingest.parts import PART

Watch = Callable[[Merged], AbstractContextManager[Callable[[int], None] | None]]


def unwatched(merged: Merged) -> AbstractContextManager[None]:
    """Nobody is told anything."""
    return nullcontext()


def load(
    logs: Sequence[str],
    db_path: str | Path,
    address: str,
    *,
    shared: str | None = None,
    asked: Asked | None = None,
    watched: Watch = unwatched,
    part_bytes: int = PART,
) -> tuple[warehouse.Summary, list[str]]:
    """What warehouse.load does, with the reading and replaying done by workers; also the notes of the reading.

    shared: a folder or an s3:// prefix for partitions, the same for all machines; by default FILE.parts beside the data
    set.  Nothing stays in it.  watched: given what is merged (read_bytes of total_bytes), a context that gives what is
    told the rounds of each batch, or None.
    Errors: those of the reader and of warehouse.load, ClusterError, PartitionError, VersionError.
    """
    base = shared or f"{os.path.abspath(db_path)}.parts"
    if not objects.is_url(base):
        base = os.path.abspath(base)
    run = blake2b(repr((os.path.abspath(db_path), os.getpid())).encode(), digest_size=8).hexdigest()
    folder = f"{base.rstrip('/')}/{run}"
    with connected(address) as workers:
        merged = Merged(logs, workers, folder, asked, part_bytes)
        try:
            partition.make(folder)
            with watched(merged) as step:
                summary = warehouse.load(merged, db_path, facts=merged.asked.facts, progress=step)
        finally:
            partition.remove(folder)
            if shared is None:
                with suppress(OSError):
                    os.rmdir(base)
    return summary, merged.notes
