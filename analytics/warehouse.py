"""The data set: one DuckDB file behind a link, loaded in one pass and replaced in one step.

`FILE` is a symbolic link to `FILE.<version>`.  A load works on a copy beside it, and only a complete one moves the
link; whoever reads keeps the file it has opened.  A killed load leaves the link as it was, and leftovers that the
next load removes.  Stored rounds are never changed but for what their game says of them.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from ingest import rejects as reject_words
from replay import problems

HERE = Path(__file__).parent
ROW_GROUP = 122_880  # rows DuckDB stores together; multiples of it load fastest
GAME_ROUNDS = 200_000  # rounds whose games are checked at a time
GAME_CODES = ("wrong_dealer", "wrong_raise", "lost_round", "chain_broken")  # what replay.games reports
MEMORY = "1GB"  # DuckDB's own share during a load; it spills beside the file
WIDE = ("deal", "wall", "events", "event_no", "times")  # columns that the game level does not read


class WarehouseError(Exception):
    """A data set that cannot be opened, or is being loaded by another process; the message says what to do."""


@dataclass(frozen=True)
class Summary:
    """What one load did.  records = rounds + repeats + rejects; verdicts are those of the rounds it stored."""

    path: Path
    digest: str
    changed: bool  # False: the data set held all of it
    records: int = 0
    rounds: int = 0
    repeats: int = 0
    rejects: int = 0
    clean: int = 0
    unpaid: int = 0
    mismatch: int = 0
    violation: int = 0


def connect(db_path: str | Path) -> duckdb.DuckDBPyConnection:
    """A read-only connection to the data set as it is now; a later load does not change what it reads.

    Never share it between threads: take one `.cursor()` a query.  WarehouseError when there is no data set.
    """
    path = Path(db_path)
    for _ in range(5):  # the link may move, and the file behind it go, between the two steps
        real = path.resolve()
        if not real.exists():
            raise WarehouseError(f"{path}: no such data set; make one with: kwx run LOGS --db {path}")
        try:
            return duckdb.connect(str(real), read_only=True)
        except duckdb.Error as error:
            if path.resolve() == real:
                raise WarehouseError(f"{path}: cannot be opened: {_first_line(error)}") from error
    raise WarehouseError(f"{path}: is being replaced too often to be opened")


def digest(data: str | Path | duckdb.DuckDBPyConnection) -> str:
    """32 hex digits over the rows of all tables, whatever their order: equal for equal content.

    Comparable between files that the same DuckDB version reads.
    """
    if not isinstance(data, duckdb.DuckDBPyConnection):
        with connect(data) as connection:
            return digest(connection)
    state = blake2b(digest_size=16)
    for table in table_names():
        row = _rows(data, f"SELECT count(*), bit_xor(hash(t)), sum(hash(t))::VARCHAR FROM {table} AS t")[0]
        state.update(f"{table} {row}\n".encode())
    return state.hexdigest()


def table_names() -> list[str]:
    """The tables of schema.sql, in its order."""
    return re.findall(r"^CREATE TABLE (\w+)", (HERE / "schema.sql").read_text(encoding="utf-8"), re.MULTILINE)


def views() -> dict[str, str]:
    """Name and SELECT of every view, in the order of their names."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "views").glob("*.sql"))}


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the empty tables."""
    connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))


def load(
    reader,
    db_path: str | Path,
    *,
    replayer=None,
    check_games: Callable[[pa.Table], pa.Table] | None = None,
    progress: Callable[[dict[str, int]], None] | None = None,
) -> Summary:
    """Reads all of `reader`, replays what is new and adds it to the data set at `db_path`, made when missing.

    The same logs again change nothing, and the result does not depend on how logs are spread over loads: a round
    that is stored with the same content is a repeat, one with other content a reject (`duplicate_round`), and the
    game level is judged over all rounds of a game, whenever they came.  `reader` is an ingest.read.Reader, `replayer`
    a replay.batch.Replayer, `check_games` is replay.games.check_games.  `progress` is called after each batch with
    the counts so far (records, rounds, repeats, rejects).

    Atomic: an exception, or a kill, at any time leaves the old data set.  Raises WarehouseError when another load
    is running, the file is no data set of this version, or the file system has no symbolic links.
    """
    if replayer is None or check_games is None:  # here, so that readers of a data set need no numba
        from replay.batch import Replayer
        from replay.games import check_games as check_all_games

        replayer, check_games = replayer or Replayer(), check_games or check_all_games
    path = Path(db_path)
    with _locked(path):
        current = _current(path)
        _clean(path)
        new = path.with_name(path.name + ".new")
        if current is not None:
            shutil.copyfile(current, new)
        try:
            connection = duckdb.connect(str(new), config={"memory_limit": MEMORY})
            try:
                run = _Load(connection, path, current is None)
                connection.execute("BEGIN")
                run.fill(reader, replayer, progress)
                run.finish(reader, check_games)
                connection.execute("COMMIT")
                summary = run.summary()
                connection.execute("CHECKPOINT")
            finally:
                connection.close()
            version = blake2b((summary.digest + repr(views())).encode(), digest_size=8).hexdigest()
            if current is None or current.name != f"{path.name}.{version}":
                _publish(path, new, version, current)
        finally:
            _clean(path)
    return summary


# The files


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds FILE.lock; the kernel lets go of it when the process ends, however it ends."""
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
        if not current.is_file():
            raise WarehouseError(
                f"{path}: the link points to {current}, which is missing; restore it or remove the link"
            )
        return current
    if path.exists():
        raise WarehouseError(f"{path}: exists and is no data set of kwx (a link to {path.name}.<version>)")
    return None


def _clean(path: Path) -> None:
    """Removes what an interrupted load has left."""
    for suffix in (".new", ".new.wal", ".link"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.rmtree(path.with_name(path.name + ".new.tmp"), ignore_errors=True)


def _publish(path: Path, new: Path, version: str, current: Path | None) -> None:
    """Makes `new` the data set; the file before it stays for readers that have just looked up its name."""
    target, link = path.with_name(f"{path.name}.{version}"), path.with_name(path.name + ".link")
    _sync(new)
    os.replace(new, target)
    try:
        os.symlink(target.name, link)
    except OSError as error:
        target.unlink()
        raise WarehouseError(f"{path}: needs a file system with symbolic links: {error.strerror}") from error
    os.replace(link, path)
    _sync(path.parent)
    keep = {target.name, current.name if current else ""}
    for file in sorted(path.parent.iterdir()):
        if file.name not in keep and re.fullmatch(re.escape(path.name) + r"\.[0-9a-f]{16}", file.name):
            file.unlink()


def _sync(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# The tables


class _Load:
    """One transaction on the copy: buffers Arrow tables, inserts row groups, then judges games and sources."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, empty: bool) -> None:
        self.connection = connection
        if empty:
            create(connection)
        _check_schema(connection, path)
        self.path = path
        self.before = None if empty else digest(connection)
        known = pa.table({"round_id": pa.array([], pa.uint64()), "content": pa.array([], pa.uint64())})
        if not empty:
            known = _arrow(connection, "SELECT round_id, content FROM rounds ORDER BY round_id")
        self.known_ids, self.known_content = (known[name].to_numpy() for name in ("round_id", "content"))
        self.buffers: dict[str, list[pa.Table]] = {}
        self.new_ids: list[np.ndarray] = []
        self.new_games: list[np.ndarray] = []
        self.moved: dict[str, list[int]] = {}  # rounds of a source that turned out repeats, and rejects
        self.counts = dict.fromkeys(("records", "rounds", "repeats", "rejects"), 0)

    def fill(self, reader, replayer, progress: Callable[[dict[str, int]], None] | None) -> None:
        """Takes the reader's batches, replays the rounds that are new, and inserts."""
        self.connection.execute("CREATE TEMP TABLE run_rejects AS SELECT * FROM rejects LIMIT 0")
        for batch in reader:
            rounds = self._unknown(batch.rounds)
            if rounds.num_rows:
                self.new_ids.append(rounds["round_id"].to_numpy())
                self.new_games.append(np.unique(rounds["game_key"].to_numpy()))
                for name, table in replayer.feed(rounds).items():
                    self._insert(name, table)
            if batch.rejects.num_rows:
                self._insert("run_rejects", pa.Table.from_batches([batch.rejects]))
            self.counts["rounds"] += rounds.num_rows
            self.counts["rejects"] += batch.rejects.num_rows
            if progress is not None:
                progress(dict(self.counts))
        for name in list(self.buffers):
            self._flush(name, 1)

    def _unknown(self, rounds: pa.RecordBatch) -> pa.RecordBatch:
        """The rounds that are not stored yet; a stored one is a repeat or, with other content, a reject."""
        ids = rounds["round_id"].to_numpy()
        if not len(self.known_ids) or not len(ids):
            return rounds
        place = np.minimum(np.searchsorted(self.known_ids, ids), len(self.known_ids) - 1)
        known = self.known_ids[place] == ids
        if not known.any():
            return rounds
        same = self.known_content[place] == rounds["content"].to_numpy()
        self._count(rounds, known & same, 0)
        self._count(rounds, known & ~same, 1)
        if (known & ~same).any():
            self._insert("run_rejects", _duplicates(rounds.filter(pa.array(known & ~same))))
        return rounds.filter(pa.array(~known))

    def _count(self, rounds: pa.RecordBatch, rows: np.ndarray, column: int) -> None:
        self.counts[("repeats", "rejects")[column]] += int(rows.sum())
        if rows.any():
            for item in rounds["source"].filter(pa.array(rows)).value_counts().to_pylist():
                self.moved.setdefault(item["values"], [0, 0])[column] += item["counts"]

    def _insert(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            self.buffers.setdefault(name, []).append(table)
            if sum(part.num_rows for part in self.buffers[name]) >= 2 * ROW_GROUP:
                self._flush(name, ROW_GROUP)

    def _flush(self, name: str, multiple: int) -> None:
        """Inserts the buffered rows, as many as make whole multiples."""
        table = pa.concat_tables(self.buffers.pop(name))
        rows = table.num_rows // multiple * multiple
        more = ", verdict AS own_verdict" if name == "rounds" else ""
        _insert_arrow(self.connection, name, table[:rows], more)
        if rows < table.num_rows:
            self.buffers[name] = [table[rows:]]

    def finish(self, reader, check_games: Callable[[pa.Table], pa.Table]) -> None:
        """After the last batch: games, final verdicts, sources and their rejects, views."""
        if self.new_games:
            self._judge_games(check_games)
        self._store_sources(reader.sources())
        for name, select in views().items():
            self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {select}")

    def _judge_games(self, check_games: Callable[[pa.Table], pa.Table]) -> None:
        """Replaces the game-level problems of every game that has new rounds, and sets final verdicts."""
        run = self.connection.execute
        games = pa.table({"game_key": np.unique(np.concatenate(self.new_games))})
        self.connection.register("new_games", games)
        run(
            "CREATE TEMP TABLE touched AS SELECT round_id, game_key, sum(n) OVER (ORDER BY game_key) // "
            f"{GAME_ROUNDS} AS part FROM (SELECT game_key, count(*) AS n FROM rounds SEMI JOIN new_games "
            "USING (game_key) GROUP BY game_key) JOIN rounds USING (game_key)"
        )
        self.connection.unregister("new_games")
        run("CREATE TEMP TABLE game_problems AS SELECT * FROM problems LIMIT 0")
        columns = ", ".join(f'"{name}"' for name in problems.ROUNDS.names if name not in WIDE)
        for (part,) in _rows(self.connection, "SELECT DISTINCT part FROM touched ORDER BY part"):
            rounds = _arrow(
                self.connection,
                f"SELECT {columns} FROM rounds WHERE round_id IN (SELECT round_id FROM touched WHERE part = {part}) "
                "ORDER BY game_key, round, round_id",
            )
            _insert_arrow(self.connection, "game_problems", check_games(_as_replayed(rounds)))
        run(f"DELETE FROM problems WHERE code IN {GAME_CODES} AND round_id IN (SELECT round_id FROM touched)")
        run("INSERT INTO problems SELECT * FROM game_problems ORDER BY round_id, event NULLS FIRST, code, seat")
        run("CREATE TEMP TABLE illegal AS SELECT DISTINCT round_id FROM game_problems WHERE kind = 'violation'")
        run(
            "UPDATE rounds SET verdict = 'violation' WHERE verdict <> 'violation' "
            "AND round_id IN (SELECT round_id FROM illegal)"
        )
        run(
            "UPDATE rounds SET verdict = own_verdict WHERE verdict <> own_verdict "
            "AND round_id IN (SELECT round_id FROM touched ANTI JOIN illegal USING (round_id))"
        )

    def _store_sources(self, sources: pa.Table) -> None:
        """Adds sources that are new, with their rejects.

        A source is known by its name and content.  Read again it changes nothing, unless other claims about it
        (site, users, rules) made rounds of it that are new: then they count with the earlier ones, and its rejects
        are those of this reading.
        """
        found = [dict(row) for row in sources.to_pylist()]
        for row in found:
            repeats, rejects = self.moved.get(row["source"], (0, 0))
            row["rounds"] -= repeats + rejects
            row["repeats"] += repeats
            row["rejects"] += rejects
        self.counts.update({name: sum(row[name] for row in found) for name in self.counts})
        run = self.connection.execute
        run("CREATE TEMP TABLE run_sources AS SELECT *, true AS fresh FROM sources LIMIT 0")
        _insert_arrow(self.connection, "run_sources", pa.Table.from_pylist(found, sources.schema), ", true AS fresh")
        run("UPDATE run_sources SET fresh = false WHERE (source, sha256) IN (SELECT (source, sha256) FROM sources)")
        run("DELETE FROM run_sources WHERE NOT fresh AND rounds = 0")
        run("DELETE FROM rejects WHERE (source, sha256) IN (SELECT (source, sha256) FROM run_sources)")
        run(
            "UPDATE sources SET records = sources.records - sources.rejects + again.records, "
            "rounds = sources.rounds + again.rounds, repeats = sources.repeats + again.repeats, "
            "rejects = again.rejects FROM run_sources AS again "
            "WHERE sources.source = again.source AND sources.sha256 = again.sha256"
        )
        run("INSERT INTO sources SELECT * EXCLUDE (fresh) FROM run_sources WHERE fresh ORDER BY source, sha256")
        run(
            "INSERT INTO rejects SELECT run_rejects.* REPLACE (run_sources.sha256 AS sha256) FROM run_rejects "
            "JOIN run_sources USING (source) ORDER BY source, record"
        )

    def summary(self) -> Summary:
        """The counts of this load; after COMMIT."""
        self.connection.register("new_rounds", pa.table({"round_id": pa.chunked_array(self.new_ids, pa.uint64())}))
        verdicts = dict(
            _rows(
                self.connection,
                "SELECT verdict, count(*) FROM rounds SEMI JOIN new_rounds USING (round_id) GROUP BY ALL ORDER BY ALL",
            )
        )
        self.connection.unregister("new_rounds")
        after = digest(self.connection)
        return Summary(self.path, after, after != self.before, **self.counts, **verdicts)


def duplicate(game: str, number: int) -> str:
    """The message of a second, different record of a round."""
    return f"another record of round {number} of game {game!r} with other content came first and stays"


def _duplicates(rounds: pa.RecordBatch) -> pa.Table:
    """The reject rows of rounds that are stored with other content."""
    count = rounds.num_rows
    message = [duplicate(*row) for row in zip(rounds["game"].to_pylist(), rounds["round"].to_pylist(), strict=True)]
    columns = {
        **{name: rounds[name] for name in ("source", "record", "line", "byte")},
        "code": pa.array(["duplicate_round"] * count),
        "field": pa.nulls(count, pa.string()),
        "message": pa.array(message),
        "raw": rounds["raw"],
    }
    return pa.table(columns).cast(reject_words.REJECTS)


def _as_replayed(rounds: pa.Table) -> pa.Table:
    """Stored rounds in the schema that the replay gave them, the columns of WIDE all null."""
    columns = [
        pa.nulls(rounds.num_rows, field.type) if field.name in WIDE else rounds[field.name].cast(field.type)
        for field in problems.ROUNDS
    ]
    return pa.table(columns, schema=problems.ROUNDS)


def _check_schema(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """WarehouseError unless the file's tables are those of schema.sql."""
    query = (
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE table_name IN "
        "(SELECT table_name FROM duckdb_tables() WHERE NOT internal) ORDER BY table_name, column_index"
    )
    with duckdb.connect() as fresh:
        create(fresh)
        expected = _rows(fresh, query)
    if _rows(connection, query) != expected:
        raise WarehouseError(f"{path}: has the tables of another version of kwx; load the logs into a new file")


def _insert_arrow(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table, more: str = "") -> None:
    connection.register("arriving", table)
    connection.execute(f"INSERT INTO {name} BY NAME SELECT *{more} FROM arriving")
    connection.unregister("arriving")


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple]:
    return connection.execute(query).fetchall()


def _arrow(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return connection.sql(query).to_arrow_table()


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
