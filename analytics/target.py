"""Where an export goes: a folder that is replaced in one step, or a prefix of an object store, marked when complete.

An object store has no renaming.  There the mark goes first and comes last: while `_kwx.json` is missing, what stands
below the prefix is partly of the export before.
"""

import io
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from analytics.warehouse import WarehouseError
from ingest import objects

MARK = "_kwx.json"
UNDER_WAY = "_kwx_writing.json"  # beside an incomplete export in an object store


class Target(Protocol):
    """A context manager that takes the files of one export; they count when the block ends without an error."""

    spill: Path  # a local folder for what the sorting does not hold in memory

    def __enter__(self) -> "Target": ...
    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None: ...
    def add(self, name: str, write: Callable[[IO[bytes]], int]) -> int:
        """Lets `write` fill the file `name` ("rounds/…/part-0.parquet") and returns what it returns."""
        ...

    def mark(self, text: str) -> None:
        """The text of the mark; after the last file."""
        ...


def target(place: str | Path) -> Target:
    """The target of a folder's path or an s3:// URL; WarehouseError when it holds anything but an export of ours."""
    return Prefix(str(place)) if objects.is_url(str(place)) else Folder(Path(place))


class Folder:
    """Files are written beside the folder, which is replaced when all are there."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not (folder / MARK).is_file() and (not folder.is_dir() or any(folder.iterdir())):
            raise WarehouseError(f"{folder}: exists and is no Parquet export of kwx")
        self._folder = folder
        self._new, self._old = (folder.with_name(folder.name + suffix) for suffix in (".new", ".old"))
        self.spill = self._new / "_spill"

    def __enter__(self) -> "Folder":
        self._clean()
        return self

    def add(self, name: str, write: Callable[[IO[bytes]], int]) -> int:
        path = self._new / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            return write(file)

    def mark(self, text: str) -> None:
        (self._new / MARK).write_text(text, encoding="utf-8")

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        try:
            if kind is None:
                shutil.rmtree(self.spill, ignore_errors=True)
                if self._folder.exists():
                    os.replace(self._folder, self._old)
                os.replace(self._new, self._folder)
        finally:
            self._clean()

    def _clean(self) -> None:
        for leftover in (self._new, self._old):
            shutil.rmtree(leftover, ignore_errors=True)


class Prefix:
    """Files are written to local disk one by one and stored, each whole or not at all."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._mark = ""
        try:
            self._before = objects.listing(self._url)
        except OSError as error:
            raise WarehouseError(f"{url}: {objects.said(error)}") from error
        if self._before and not {f"{self._url}/{MARK}", f"{self._url}/{UNDER_WAY}"} & set(self._before):
            raise WarehouseError(f"{url}: holds other objects and is no Parquet export of kwx")
        self._written = {f"{self._url}/{MARK}", f"{self._url}/{UNDER_WAY}"}

    def __enter__(self) -> "Prefix":
        self._local = tempfile.TemporaryDirectory(prefix="kwx-export-")
        self.spill = Path(self._local.name) / "spill"
        try:
            self._put(UNDER_WAY, b"{}\n")
            if f"{self._url}/{MARK}" in self._before:
                objects.remove(f"{self._url}/{MARK}")
        except OSError as error:
            self._local.cleanup()
            raise WarehouseError(f"{self._url}: {objects.said(error)}") from error
        return self

    def add(self, name: str, write: Callable[[IO[bytes]], int]) -> int:
        url = f"{self._url}/{name}"
        try:
            with tempfile.TemporaryFile(dir=self._local.name) as file:
                rows = write(file)
                file.seek(0)
                objects.put(url, file)
        except OSError as error:
            raise WarehouseError(f"{url}: {objects.said(error)}") from error
        self._written.add(url)
        return rows

    def mark(self, text: str) -> None:
        self._mark = text

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        self._local.cleanup()
        if kind is not None:
            return
        try:
            for url in sorted(set(self._before) - self._written):
                with suppress(FileNotFoundError):
                    objects.remove(url)
            self._put(MARK, self._mark.encode())
            objects.remove(f"{self._url}/{UNDER_WAY}")
        except OSError as failed:
            raise WarehouseError(f"{self._url}: {objects.said(failed)}") from failed

    def _put(self, name: str, data: bytes) -> None:
        objects.put(f"{self._url}/{name}", io.BytesIO(data))
