"""What one load does to the tables: inserts the replay's batches, judging their games, then looks at split games and
sources.

Transactions are the caller's.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analytics import backfill, schema
from replay import problems
from replay.games import NAMES, READS

ROW_GROUP = 122_880  # rows that DuckDB stores together; inserts of whole multiples are fastest
PENDING = 2  # inserts that may wait while reading and replaying go on; bounds memory
NEW_GAMES = "new_games"
GAME_ROUNDS = 50_000  # rounds whose games are judged at a time, bounds memory
GAME_CODES = ("wrong_dealer", "wrong_raise", "lost_round", "chain_broken", "changed_table")  # what replay.games reports


class Fill:
    """One load: feed it batches, then call `flush`, `games` and `sources`; the connection is its own meanwhile."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, check_games: Callable[[pa.Table], pa.Table]) -> None:
        """check_games: as replay.games.check_games."""
        self._connection = connection
        self._check_games = check_games
        self._worker = ThreadPoolExecutor(1)  # inserts one buffer while the next is read and replayed
        self._inserting: deque[Future[None]] = deque()
        self._buffers: dict[str, list[pa.Table]] = {}
        self._new_ids: list[np.ndarray] = []
        self._games: list[np.ndarray] = []  # of each insert of rounds, the games in it
        self._added_to = bool(schema.rows(connection, "SELECT 1 FROM rounds LIMIT 1"))
        connection.execute("CREATE TEMP TABLE run_rejects AS SELECT * FROM rejects LIMIT 0")
        # With more threads DuckDB cuts an insert into small pieces that it has to merge later, at thrice the cost.
        connection.execute("SET threads = 1")

    def __enter__(self) -> "Fill":
        return self

    def __exit__(self, *error: object) -> None:
        self._worker.shutdown()

    def add(self, tables: Mapping[str, pa.Table]) -> None:
        """Inserts rows of the replay's tables and of "rejects"."""
        for name, table in tables.items():
            if name == "rounds":
                self._new_ids.append(table["round_id"].to_numpy().copy())  # a view would keep the whole batch
            self._insert("run_rejects" if name == "rejects" else name, table)

    def _insert(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            buffer = self._buffers.setdefault(name, [])
            buffer.append(table)
            if sum(part.num_rows for part in buffer) >= ROW_GROUP:
                self._flush(name, ROW_GROUP)

    def _flush(self, name: str, multiple: int = 1) -> None:
        """Inserts the buffered rows, as many as make whole multiples."""
        table = pa.concat_tables(self._buffers.pop(name))
        rows = table.num_rows // multiple * multiple
        ready = self._judged(table[:rows]) if name == "rounds" else table[:rows]
        self._wait(PENDING)
        self._inserting.append(self._worker.submit(schema.insert, self._connection, name, ready))
        if rows < table.num_rows:
            self._buffers[name] = [table[rows:]]

    def _judged(self, rounds: pa.Table) -> pa.Table:
        """The rounds with the verdicts that their games leave them, as if these were whole; `games` does the others."""
        self._games.append(np.unique(rounds["game_key"].to_numpy()))
        found = self._check_games(rounds.select(list(dict.fromkeys((*READS, *NAMES)))))
        own = rounds["verdict"].cast(pa.string())
        verdict = own
        if found.num_rows:
            self._insert("problems", found)
            illegal = found["round_id"].filter(pc.equal(found["kind"].cast(pa.string()), "violation"))
            verdict = pc.if_else(pc.is_in(rounds["round_id"], value_set=illegal), "violation", own)
        at = rounds.column_names.index("verdict")
        return rounds.set_column(at, "verdict", verdict).append_column("own_verdict", own)

    def _wait(self, most: int = 0) -> None:
        """Until at most so many inserts are under way."""
        while len(self._inserting) > most:
            self._inserting.popleft().result()

    def flush(self) -> None:
        """Inserts all that is still buffered; after the last batch."""
        while self._buffers:
            self._flush("rounds" if "rounds" in self._buffers else next(iter(self._buffers)))
        self._wait()
        self._connection.execute("RESET threads")

    def facts(self, facts_of: Callable[[pa.RecordBatch], dict[str, pa.Table]]) -> tuple[int, int]:
        """Adds the facts of rounds that earlier loads stored without: how many got them, how many stay without.

        facts_of: as replay.batch.Replayer's.  Rounds whose rules are not what they were then stay without.
        """
        filled = 0
        stored = backfill.Stored(self._connection)
        for rounds in stored:
            filled += rounds.num_rows
            for name, table in facts_of(rounds).items():
                self._insert(name, table)
        self.flush()
        return filled, stored.changed

    def games(self) -> None:
        """Judges those games anew, problems and verdicts, that stood in several inserts or were stored before."""
        if not self._games:
            return
        connection, run = self._connection, self._connection.execute
        keys, inserts = np.unique(np.concatenate(self._games), return_counts=True)
        arriving = pa.table({"game_key": keys, "inserts": inserts})
        connection.register("arriving", arriving)
        run(f"CREATE TEMP TABLE {NEW_GAMES} AS SELECT * FROM arriving")
        connection.unregister("arriving")
        if self._added_to:
            new = pa.table({"round_id": pa.chunked_array(self._new_ids, pa.uint64())})
            connection.register("arriving", new)
            stored = f"SELECT * FROM rounds SEMI JOIN {NEW_GAMES} USING (game_key) ANTI JOIN arriving USING (round_id)"
            run(f"UPDATE {NEW_GAMES} SET inserts = inserts + 1 WHERE game_key IN (SELECT game_key FROM ({stored}))")
            connection.unregister("arriving")
        columns = ", ".join(f'"{name}"' for name in READS)
        run(
            f"CREATE TEMP TABLE game_rounds AS SELECT {columns} FROM rounds "
            f"WHERE game_key IN (SELECT game_key FROM {NEW_GAMES} WHERE inserts > 1) ORDER BY game_key, round, round_id"
        )
        run("CREATE TEMP TABLE game_problems AS SELECT * FROM problems LIMIT 0")
        for rounds in self._whole_games():
            schema.insert(connection, "game_problems", self._check_games(rounds))
        run(
            f"DELETE FROM problems WHERE code IN {GAME_CODES} AND round_id IN (SELECT round_id FROM game_rounds)"
        )
        replaced = ", ".join(f'rounds."{name}" AS "{name}"' for name in NAMES)
        run(
            f"INSERT INTO problems SELECT game_problems.* REPLACE ({replaced}) FROM game_problems "
            "JOIN rounds USING (round_id) ORDER BY round_id, event NULLS FIRST, code, seat"
        )
        illegal = "(SELECT round_id FROM game_problems WHERE kind = 'violation')"
        run(f"UPDATE rounds SET verdict = 'violation' WHERE verdict <> 'violation' AND round_id IN {illegal}")
        run(
            "UPDATE rounds SET verdict = own_verdict WHERE verdict <> own_verdict "
            f"AND round_id IN (SELECT round_id FROM game_rounds) AND round_id NOT IN {illegal}"
        )

    def _whole_games(self) -> Iterator[pa.Table]:
        """The rounds of game_rounds as they were replayed, in order, whole games of about GAME_ROUNDS at a time."""
        key, most = 0, GAME_ROUNDS
        while True:  # a scan that begins at a key skips what stands before it
            query = f"SELECT * FROM game_rounds WHERE game_key >= {key} LIMIT {most}"
            rounds = _as_replayed(schema.arrow(self._connection, query))
            keys = rounds["game_key"].to_numpy()
            cut = int(np.searchsorted(keys, keys[-1])) if len(keys) == most else len(keys)
            if cut:
                yield rounds[:cut]
            if cut == len(keys):
                return
            key, most = keys[-1], GAME_ROUNDS if cut else 2 * most

    @property
    def games_table(self) -> str | None:
        """The table that lists the games with new rounds by game_key, after `games`; None without one."""
        return NEW_GAMES if self._games else None

    def sources(self, sources: pa.Table) -> None:
        """Adds the sources that are new, with their rejects.  `sources` is the reader's table.

        A source is known by its name and content.  Read again it changes nothing, unless other claims about it
        (site, users, rules) made rounds of it that are new: then they count with the earlier ones, and its rejects
        are those of this reading.
        """
        run = self._connection.execute
        self._connection.register("arriving", sources.append_column("n", pa.array(range(sources.num_rows), pa.int64())))
        run(  # members of an archive may share a name: their rejects go to the first of them
            "CREATE TEMP TABLE run_sources AS SELECT source, min(format) AS format, min(bytes) AS bytes, sha256, "
            "CAST(sum(records) AS BIGINT) AS records, CAST(sum(rounds) AS BIGINT) AS rounds, "
            "CAST(sum(repeats) AS BIGINT) AS repeats, CAST(sum(rejects) AS BIGINT) AS rejects, "
            "min(n) = min(min(n)) OVER (PARTITION BY source) AS leads, "
            "(source, sha256) NOT IN (SELECT (source, sha256) FROM sources) AS fresh "
            "FROM arriving GROUP BY source, sha256"
        )
        self._connection.unregister("arriving")
        run("DELETE FROM run_sources WHERE NOT fresh AND rounds = 0")
        run("DELETE FROM rejects WHERE (source, sha256) IN (SELECT (source, sha256) FROM run_sources)")
        run(
            "UPDATE sources SET records = sources.records - sources.rejects + again.records, "
            "rounds = sources.rounds + again.rounds, repeats = sources.repeats + again.repeats, "
            "rejects = again.rejects FROM run_sources AS again "
            "WHERE sources.source = again.source AND sources.sha256 = again.sha256"
        )
        run("INSERT INTO sources SELECT * EXCLUDE (leads, fresh) FROM run_sources WHERE fresh ORDER BY source, sha256")
        run(
            "INSERT INTO rejects SELECT run_rejects.* REPLACE (run_sources.sha256 AS sha256) FROM run_rejects "
            "JOIN run_sources USING (source) WHERE run_sources.leads ORDER BY source, record"
        )

    def verdicts(self) -> dict[str, int]:
        """How many of the rounds that this load stored have each verdict."""
        new = pa.table({"round_id": pa.chunked_array(self._new_ids, pa.uint64())})
        self._connection.register("new_rounds", new)
        query = "SELECT verdict, count(*) FROM rounds SEMI JOIN new_rounds USING (round_id) GROUP BY ALL ORDER BY ALL"
        found = dict(schema.rows(self._connection, query))
        self._connection.unregister("new_rounds")
        return {verdict: found.get(verdict, 0) for verdict in reversed(problems.VERDICTS)}


def _as_replayed(rounds: pa.Table) -> pa.Table:
    """Stored rounds with the types that the replay gave them."""
    return pa.table({name: rounds[name].cast(problems.ROUNDS.field(name).type) for name in READS})
