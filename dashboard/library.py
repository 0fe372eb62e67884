"""Data sets of the dashboard's own: the demo and uploaded logs, each a folder of the data folder with logs and tables.

    DATA/<name>/logs/…       the uploaded files (of the demo: what it simulated)
    DATA/<name>/kwx.duckdb   the data set made from them

DATA is the folder that the environment variable KWX_DATA names, else "kwx-data" beside the data set that is served,
else "kwx-data" in the working folder.  Nothing is written anywhere else, and nothing of an upload is run.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol

from analytics import demo, warehouse
from dashboard.jobs import Job
from ingest.read import Batch, Reader
from ingest.sources import named_like_log
from replay import ruleset, scan

VARIABLE, SERVED = "KWX_DATA", "KWX_DB"
FOLDER, DB, LOGS, DEMO = "kwx-data", demo.DB, "logs", "demo"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
MOST_BYTES = 200 << 20  # of one upload, all files together
MOST_UNPACKED = 4 << 30  # bytes that an upload may unpack to
MOST_RECORDS = 5_000_000  # rounds and rejects of an upload
DEMO_ROUNDS = 3000


class UploadError(Exception):
    """Files that are not taken; args: the word of the reason (see i18n, "start"), and the file's name."""


class Upload(Protocol):
    """What the browser sent."""

    name: str
    size: int

    def getvalue(self) -> bytes:
        """The whole file."""
        ...


def folder() -> Path:
    """The data folder; it need not be there yet."""
    named, served = os.environ.get(VARIABLE), os.environ.get(SERVED)
    if named:
        return Path(named).absolute()
    return (Path(served).absolute().parent if served else Path.cwd()) / FOLDER


def path(name: str) -> Path | None:
    """The data set of a name as it stands in an address; None for what is no name or isn't there."""
    found = folder() / name / DB
    return found if NAME.fullmatch(name) and found.exists() else None


def names() -> list[str]:
    """The data sets there are, sorted."""
    try:
        return sorted(one.name for one in folder().iterdir() if path(one.name) is not None)
    except OSError:
        return []


class Taken(NamedTuple):
    """Files of an upload that are taken: the name of their data set, the same for the same files; names and bytes."""

    name: str
    files: list[tuple[str, bytes]]


class Limited(Reader):
    """A Reader that ends with UploadError where an upload holds more records than are taken."""

    def __iter__(self) -> Iterator[Batch]:
        records = 0
        for batch in super().__iter__():
            records += batch.rounds.num_rows + batch.rejects.num_rows
            if records > MOST_RECORDS:
                raise UploadError("too_many", "")
            yield batch


def take(files: Sequence[Upload]) -> Taken:
    """Looks at uploaded files; nothing is written yet.

    UploadError for files that aren't named like logs, have no bytes, or are too many bytes together.
    """
    for file in files:
        if not named_like_log(os.path.basename(file.name)):
            raise UploadError("not_a_log", file.name)
        if not file.size:
            raise UploadError("no_bytes", file.name)
    if sum(file.size for file in files) > MOST_BYTES:
        raise UploadError("too_large", "")
    digest, parts = blake2b(digest_size=5), []
    for number, file in enumerate(sorted(files, key=lambda file: (file.name, file.size)), 1):
        content = file.getvalue()
        digest.update(file.name.encode("utf-8", "surrogateescape") + b"\0" + content)
        parts.append((f"{number:03}-{safe(file.name)}", content))
    return Taken(f"upload-{digest.hexdigest()}", parts)


def safe(name: str) -> str:
    """A file name without folders and of plain characters, its endings kept."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", os.path.basename(name.replace("\\", "/")).lower())
    return plain.lstrip(".")[-80:]


def load(taken: Taken, job: Job) -> str:
    """Writes uploaded files and makes their data set; its name.  Cancelled or failed, it takes the files away again.

    UploadError for files that unpack to too many bytes or records.
    """
    home = folder() / taken.name
    if path(taken.name) is not None:  # the same files came before
        return taken.name
    rounds = unpacked = 0

    def step(more: int = 0) -> None:
        nonlocal rounds
        rounds += more
        job.step(reader.read_bytes, reader.total_bytes() or 0, f"{rounds:,}" if rounds else "")

    def watch(size: int) -> None:
        nonlocal unpacked
        unpacked += size
        if unpacked > MOST_UNPACKED:
            raise UploadError("too_deep", "")
        step()  # a file of blank lines has no rounds to stop at

    try:
        (home / LOGS).mkdir(parents=True, exist_ok=True)
        for name, content in taken.files:
            (home / LOGS / name).write_bytes(content)
        reader = Limited([str(home / LOGS)], check_rules=ruleset.check, scanner=scan.fastest, watch=watch)
        warehouse.load(reader, home / DB, progress=step)
    except BaseException:
        remove(taken.name)
        raise
    return taken.name


def make_demo(job: Job) -> str:
    """Makes the demo; its name."""
    done = 0

    def step(rounds: int) -> None:
        nonlocal done
        done += rounds
        job.step(done, 2 * DEMO_ROUNDS, f"{done:,}")  # simulated, then loaded

    folder().mkdir(parents=True, exist_ok=True)
    demo.make(folder() / DEMO, DEMO_ROUNDS, step)
    return DEMO


def remove(name: str) -> None:
    """Takes a data set of the data folder away, its files too."""
    if NAME.fullmatch(name):
        shutil.rmtree(folder() / name, ignore_errors=True)
