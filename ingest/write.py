"""Rounds to files and objects: kwx logs (.jsonl, .jsonl.gz, .jsonl.zst) and their Parquet twin (.parquet).

Each appears whole under its name or not at all.
"""

import gzip
import os
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from ingest import objects
from ingest.ahead import ahead
from ingest.events import ROUNDS
from ingest.formats import kwx_write
from ingest.mask import Mask
from ingest.read import Reader

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")


class WriteError(Exception):
    """A file that cannot be written; the message names it and says why."""


class Output:
    """A file of rounds, as a context manager: `add` batches of ROUNDS; it appears under its name when all went well.

    The same rounds give the same bytes (for one version of the compressing libraries), however they are batched.
    Raises WriteError for a name that is not of SUFFIXES and for what the system refuses.
    """

    ROW_GROUP = 1 << 14  # rounds

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self.kind = next((suffix for suffix in SUFFIXES[::-1] if self.path.lower().endswith(suffix)), "")
        if not self.kind:
            raise WriteError(f"{path}: the name must end in {', '.join(SUFFIXES)}")
        self._remote = objects.is_url(self.path)
        name = f".{os.path.basename(self.path)}.{os.getpid()}.partial"
        folder = tempfile.gettempdir() if self._remote else os.path.dirname(self.path)
        self._partial = os.path.join(folder, name)
        self._held: list[pa.RecordBatch] = []

    def __enter__(self) -> "Output":
        try:
            self._open()
        except BaseException:  # an interrupt may come as soon as the file is there
            self._remove()
            raise
        return self

    def _open(self) -> None:
        try:
            self._raw: IO[bytes] = open(self._partial, "wb")  # noqa: SIM115 - closed in __exit__
        except OSError as error:
            raise WriteError(f"{self.path}: {error.strerror}") from error
        self._file: IO[bytes] = self._raw
        self._parquet: pq.ParquetWriter | None = None
        if self.kind == ".jsonl.gz":
            self._file = gzip.GzipFile("", "wb", 6, self._raw, mtime=0)  # type: ignore[assignment]
        elif self.kind == ".jsonl.zst":
            self._file = zstandard.ZstdCompressor(level=6, write_checksum=True).stream_writer(self._raw, closefd=False)  # type: ignore[assignment]
        elif self.kind == ".parquet":
            self._parquet = pq.ParquetWriter(self._raw, ROUNDS, compression="zstd")

    def add(self, rounds: pa.RecordBatch) -> None:
        """Append rounds in their order; WriteError for rounds without draws, which no kwx log can hold."""
        if self._parquet is None:
            if rounds.column("settlement").null_count < rounds.num_rows:
                fits = "they fit into a .parquet file only"
                raise WriteError(f"{self.path}: rounds whose log names no drawn tiles can't be a kwx log; {fits}")
            self._file.write(kwx_write.write(rounds))
            return
        self._held.append(rounds)
        if sum(batch.num_rows for batch in self._held) >= self.ROW_GROUP:
            self._flush(self.ROW_GROUP)

    def _flush(self, least: int) -> None:
        """Write row groups of ROW_GROUP rounds while there are `least` left."""
        table = pa.Table.from_batches(self._held, ROUNDS).unify_dictionaries()
        at = 0
        while table.num_rows - at >= max(least, 1):
            self._parquet.write_table(table.slice(at, self.ROW_GROUP).combine_chunks())  # type: ignore[union-attr]
            at += self.ROW_GROUP
        self._held = table.slice(at).combine_chunks().to_batches()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                if self._parquet is not None:
                    self._flush(1)
                    self._parquet.close()
                elif self._file is not self._raw:
                    self._file.close()
                self._raw.close()
                if self._remote:
                    with open(self._partial, "rb") as file:
                        objects.put(self.path, file)
                else:
                    os.replace(self._partial, self.path)
        except OSError as failed:
            raise WriteError(f"{self.path}: {objects.said(failed)}") from failed
        finally:
            self._raw.close()
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            os.unlink(self._partial)


def write(
    reader: Reader,
    path: str | Path,
    progress: Callable[[int], None] | None = None,
    refused: Callable[[pa.RecordBatch], None] | None = None,
    mask: Mask | None = None,
) -> None:
    """Write all rounds of a reader; `refused` gets its rejects as they come, `progress` the rounds of each batch.

    Lossless for kwx logs when the reader keeps raw records; a foreign round keeps what has no key in "_source".
    """
    with Output(path) as output, closing(ahead(reader)) as batches:
        for batch in batches:
            output.add(mask.rounds(batch.rounds) if mask else batch.rounds)
            if refused and batch.rejects.num_rows:
                refused(batch.rejects)
            if progress:
                progress(batch.rounds.num_rows)
