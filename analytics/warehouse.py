"""The data set: one DuckDB file behind a link, loaded in one pass and replaced in one step.

`FILE` is a symbolic link to `FILE.<version>`.  A load works on a copy beside it, and only a complete one moves the
link; whoever reads keeps the file it has opened.  A killed load leaves the link as it was, and leftovers that the
next load removes.  Stored rounds never change, but for what the rest of their game says of them.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TypedDict

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from analytics import schema, sittings
from analytics.fill import Fill
from ingest.ahead import ahead
from replay.seat_sums import with_sums

MEMORY = "512MB"  # DuckDB's share during a load; beyond it spills to a folder beside the file


class WarehouseError(Exception):
    """A data set that cannot be opened, or is being loaded by another process; the message says what to do."""


class Summary(TypedDict):
    """What one load did.  records = rounds + repeats + rejects; the verdicts are those of the rounds it stored."""

    records: int
    rounds: int  # stored by this load
    repeats: int
    rejects: int
    clean: int
    unpaid: int
    mismatch: int
    violation: int
    facts: int  # rounds of earlier loads whose facts this one added
    without_facts: int  # rounds of earlier loads that stay without, their rules having changed since
    digest: str  # of the data set after the load
    changed: bool  # False: the data set held all of it


def connect(db_path: str | Path) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the data set as it is now; a later load does not change what it reads.

    Never share it between threads: take one `.cursor()` a query.  WarehouseError when there is no data set.
    """
    path = Path(db_path)
    for _ in range(5):  # the link may move, and the file behind it go, between looking and opening
        real = path.resolve()
        try:
            return duckdb.connect(str(real), read_only=True)
        except duckdb.Error as error:
            if path.resolve() != real:
                continue
            if not real.exists():
                raise WarehouseError(f"{path}: no such data set; make one with: kwx run LOGS --db {path}") from error
            raise WarehouseError(f"{path}: cannot be opened: {_first_line(error)}") from error
    raise WarehouseError(f"{path}: is being replaced too often to be opened")


def version(db_path: str | Path) -> str:
    """The name of the file behind the link: changes with every load that changes anything, "" without a data set."""
    path = Path(db_path)
    return path.resolve().name if path.exists() else ""


def digest(db_path: str | Path) -> str:
    """32 hex digits over the rows of all tables: equal for equal content, however it was loaded."""
    with connect(db_path) as connection:
        return schema.digest(connection)


def load(
    reader,
    db_path: str | Path,
    *,
    replayer=None,
    facts: bool = True,
    check_games: Callable[[pa.Table], pa.Table] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Summary:
    """Reads all of `reader`, replays what is new and adds it to the data set at `db_path`, made when missing.

    The same logs again change nothing, and the result does not depend on how logs are spread over loads: the reader
    is told the rounds that are stored, so that the same content is a repeat and another a reject (`duplicate_round`),
    and the game level is judged over all rounds of a game, whenever they came.

    `reader` is an ingest.read.Reader, or the like with `replayed` set, which gives rows of the replay's tables and of
    "rejects" in their order; `replayer` a replay.batch.Replayer that takes the place of `facts`, whether to find facts,
    also those of rounds that an earlier load stored without; `check_games` is replay.games.check_games; `progress` is
    told the number of rounds of each batch.

    Atomic: an exception, or a kill, at any time leaves the old data set.  WarehouseError when another load is
    running, the file is no data set of this version, the file system has no symbolic links, or space runs out.
    """
    if replayer is None or check_games is None:  # imported here, so that readers of a data set need no numba
        from replay.batch import Replayer
        from replay.games import check_games as check_all_games

        replayer, check_games = replayer or Replayer(facts=facts), check_games or check_all_games
    path = Path(db_path)
    with _locked(path):
        current = _current(path)
        _clean(path)
        new = path.with_name(path.name + ".new")
        try:
            if current is not None:
                shutil.copyfile(current, new)
            with _opened(new, path) as connection:
                summary = _load(connection, path, current is None, reader, replayer, check_games, progress)
            name = f"{path.name}.{_version(summary)}"
            if current is None or current.name != name:
                _publish(path, new, name, current)
        finally:
            _clean(path)
    return summary


def _load(connection, path, empty, reader, replayer, check_games, progress) -> Summary:
    """All on the copy, which nobody else sees; reading, replaying and inserting overlap, each in a thread."""
    connection.execute("BEGIN")
    if empty:
        schema.create_tables(connection)
    elif not schema.is_current(connection):
        raise WarehouseError(f"{path}: has the tables of another version of kwx; load the logs into a new file")
    summed, streamed = sittings.prepare(connection), sittings.streamed(connection)
    before = None if empty else schema.digest(connection)
    known = schema.arrow(connection, "SELECT round_id, content FROM rounds ORDER BY round_id")
    reader.know(known["round_id"].to_numpy(), known["content"].to_numpy())
    with Fill(connection, check_games) as fill:
        with _replayed(reader, replayer) as batches:
            for tables in batches:
                if not streamed:
                    tables.pop(sittings.TABLE, None)
                fill.add(tables)
                if progress is not None and "rounds" in tables:
                    progress(tables["rounds"].num_rows)
        fill.flush()
        filled, left = (0, 0) if empty or not replayer.facts else fill.facts(replayer.facts_of)
        fill.games()
        if filled or not summed:
            sittings.refresh(connection, "rounds")
        elif fill.games_table:
            connection.execute("COMMIT")  # rows that go before a commit would have DuckDB write their table again
            connection.execute("BEGIN")
            (sittings.merge if streamed else sittings.refresh)(connection, fill.games_table)
        sources = reader.sources()
        fill.sources(sources)
        schema.create_views(connection)
        connection.execute("COMMIT")
        verdicts = fill.verdicts()
    after = schema.digest(connection)
    counts = {name: pc.sum(sources[name]).as_py() or 0 for name in ("records", "rounds", "repeats", "rejects")}
    summary = Summary(
        **counts, **verdicts, facts=filled, without_facts=left, digest=after, changed=after != before
    )
    connection.execute("CHECKPOINT")
    return summary


@contextmanager
def _replayed(reader, replayer) -> Iterator[Iterator[dict[str, pa.Table]]]:
    """The tables of each batch: the replay's, and "rejects"; reading goes on in a thread of its own."""
    if getattr(reader, "replayed", False):
        yield iter(reader)
        return
    with closing(ahead(reader)) as batches:
        yield (
            (with_sums(replayer.feed(batch.rounds)) if batch.rounds.num_rows else {})
            | {"rejects": pa.Table.from_batches([batch.rejects])}
            for batch in batches
        )


def _version(summary: Summary) -> str:
    """16 hex digits for the file's name: of its rows, and of the views that this version of kwx put in."""
    return blake2b((summary["digest"] + repr(schema.views())).encode(), digest_size=8).hexdigest()


@contextmanager
def _opened(new: Path, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the copy, closed at the end."""
    try:
        connection = duckdb.connect(str(new), config={"memory_limit": MEMORY})
    except duckdb.Error as error:
        raise WarehouseError(f"{path}: cannot be opened: {_first_line(error)}") from error
    try:
        with connection:
            yield connection
    except (duckdb.OperationalError, duckdb.FatalException) as error:  # no space, no memory, a bad disk
        raise WarehouseError(f"{path}: nothing was loaded: {_first_line(error)}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds FILE.lock; the system lets go of it when the process ends, however it ends."""
    if not path.parent.is_dir():
        raise WarehouseError(f"{path}: folder {path.parent} does not exist")
    with open(path.with_name(path.name + ".lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise WarehouseError(f"{path}: another process is loading into it; try again when it is done") from error
        yield


def _current(path: Path) -> Path | None:
    """The file behind the link, None when there is nothing yet."""
    if path.is_symlink():
        current = path.parent / os.readlink(path)
        if current.parent != path.parent or not _is_version(path, current.name):
            raise WarehouseError(f"{path}: is a link to {current}; name the data set itself")
        if not current.is_file():
            raise WarehouseError(f"{path}: its file {current.name} is missing; restore it or remove the link")
        return current
    if path.exists():
        raise WarehouseError(f"{path}: exists and is no data set of kwx (a link to {path.name}.<version>)")
    return None


def _clean(path: Path) -> None:
    """Removes what an interrupted load has left."""
    for suffix in (".new", ".new.wal", ".link"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.rmtree(path.with_name(path.name + ".new.tmp"), ignore_errors=True)


def _publish(path: Path, new: Path, name: str, current: Path | None) -> None:
    """Makes `new` the data set; the file before it stays for readers that have just looked up its name."""
    target, link = path.with_name(name), path.with_name(path.name + ".link")
    _sync(new)
    os.replace(new, target)
    try:
        os.symlink(name, link)
    except OSError as error:
        target.unlink()
        raise WarehouseError(f"{path}: needs a file system with symbolic links: {error.strerror}") from error
    os.replace(link, path)
    _sync(path.parent)
    keep = {name, current.name if current else name}
    for file in sorted(path.parent.iterdir()):
        if file.name not in keep and _is_version(path, file.name):
            file.unlink()


def _is_version(path: Path, name: str) -> bool:
    return re.fullmatch(re.escape(path.name) + r"\.[0-9a-f]{16}", name) is not None


def _sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
