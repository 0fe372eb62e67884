"""Partitions on disk or in an object store: one Parquet file a table, named by what it is made from.

A task that is done again writes the same bytes under the same names: to another name first, then renamed; in an object
store each file is stored whole or not at all.  So a worker may die, or be given up and write on, at any moment.
"""

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from ingest import objects

ROW_GROUP = 1 << 16  # rows


class PartitionError(Exception):
    """A partition that cannot be written or read; the message names the file and says why."""


def path(folder: str, name: str, table: str) -> str:
    """Where a table of a partition lies."""
    return f"{folder}/{name}.{table}.parquet"


class Partition:
    """Writes the tables of one partition, as a context manager; they appear when the block ends without an error."""

    def __init__(self, folder: str, name: str) -> None:
        self.rows: dict[str, int] = {}
        self._folder, self._name = folder, name
        self._held: dict[str, list[pa.Table]] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._stack = ExitStack()
        self._local = tempfile.gettempdir() if objects.is_url(folder) else folder

    def __enter__(self) -> "Partition":
        return self

    def add(self, name: str, table: pa.Table) -> None:
        """Appends rows to a table; the same rows give the same bytes however they are batched."""
        if not table.num_rows:
            return
        self.rows[name] = self.rows.get(name, 0) + table.num_rows
        held = self._held.setdefault(name, [])
        held.append(table)
        if sum(part.num_rows for part in held) >= ROW_GROUP:
            self._flush(name, ROW_GROUP)

    def _flush(self, name: str, least: int) -> None:
        table = pa.concat_tables(self._held.pop(name)).unify_dictionaries()
        try:
            if name not in self._writers:
                self._files[name] = open(self._temporary(name), "wb")  # noqa: SIM115 - closed in __exit__
                self._stack.callback(self._files[name].close)
                self._writers[name] = pq.ParquetWriter(
                    self._files[name], table.schema, compression="zstd", compression_level=1
                )
            while table.num_rows >= least:
                self._writers[name].write_table(table[:ROW_GROUP].combine_chunks(), row_group_size=ROW_GROUP)
                table = table[ROW_GROUP:]
        except OSError as error:
            place = path(self._folder, self._name, name)
            raise PartitionError(f"{place}: {objects.said(error)}{_hint(error)}") from error
        if table.num_rows:
            self._held[name] = [table]

    def _temporary(self, name: str) -> str:
        attempt = f"{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}"
        return os.path.join(self._local, f".{self._name}.{name}.{attempt}.tmp")

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                for name in list(self._held):
                    self._flush(name, 1)
                for name in self._writers:
                    self._publish(name)
        finally:
            self._stack.close()
            for name in self._files:
                if os.path.exists(self._temporary(name)):
                    os.unlink(self._temporary(name))

    def _publish(self, name: str) -> None:
        target = path(self._folder, self._name, name)
        try:
            self._writers[name].close()
            self._files[name].close()
            if objects.is_url(target):
                with open(self._temporary(name), "rb") as file:
                    objects.put(target, file)
            else:
                os.replace(self._temporary(name), target)
        except OSError as error:
            raise PartitionError(f"{target}: {objects.said(error)}") from error


def read(folder: str, name: str, table: str) -> Iterator[pa.Table]:
    """The rows of a table of a partition, some ten thousand at a time; PartitionError when it isn't there."""
    place = path(folder, name, table)
    try:
        with _opened(place) as file:
            for batch in pq.ParquetFile(file).iter_batches(ROW_GROUP):
                yield pa.Table.from_batches([batch])
    except OSError as error:
        raise PartitionError(f"{place}: {objects.said(error)}{_hint(error)}") from error


def _hint(error: OSError) -> str:
    missing = isinstance(error, FileNotFoundError)
    return "; workers and the machine that asks must share the folder (--shared)" if missing else ""


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    with objects.opened(place, seekable=True) if objects.is_url(place) else open(place, "rb") as file:
        yield file


def make(folder: str) -> None:
    """Makes a folder for partitions; PartitionError when that is not possible.  An object store needs none."""
    try:
        if objects.is_url(folder):
            objects.store(folder)
        else:
            os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise PartitionError(f"{folder}: {objects.said(error)}") from error


def remove(folder: str) -> None:
    """Deletes a folder of partitions with whatever unfinished attempts left in it."""
    if not objects.is_url(folder):
        shutil.rmtree(folder, ignore_errors=True)
        return
    with suppress(OSError):  # it is no use any more, and there may be an error under way that says more
        for url in objects.listing(folder):
            objects.remove(url)
