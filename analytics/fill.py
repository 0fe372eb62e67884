"""What one load does to the tables: inserts the replay's batches, then judges games and sources.

Everything happens in one transaction of the caller's connection.
"""

from collections.abc import Callable

import duckdb
import numpy as np
import pyarrow as pa

from analytics import schema
from ingest.rejects import REJECTS
from replay import problems

ROW_GROUP = 122_880  # rows that DuckDB stores together; inserts of whole multiples are fastest
GAME_ROUNDS = 200_000  # rounds whose games are judged at a time, bounds memory
GAME_CODES = ("wrong_dealer", "wrong_raise", "lost_round", "chain_broken")  # what replay.games reports
GAME_BLIND = ("deal", "wall", "events", "event_no", "times")  # wide columns that the game level does not read
COUNTS = ("records", "rounds", "repeats", "rejects")


class Fill:
    """One load: feed it batches, then `games`, `sources`; `counts` are this load's records."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        known = schema.arrow(connection, "SELECT round_id, content FROM rounds ORDER BY round_id")
        self._known_ids, self._known_content = (known[name].to_numpy() for name in ("round_id", "content"))
        self._buffers: dict[str, list[pa.Table]] = {}
        self._new_ids: list[np.ndarray] = []
        self._new_games: list[np.ndarray] = []
        self._moved: dict[str, list[int]] = {}  # of a source: rounds that turn out repeats, and rejects
        self.counts = dict.fromkeys(COUNTS, 0)
        connection.execute("CREATE TEMP TABLE run_rejects AS SELECT * FROM rejects LIMIT 0")

    def batch(self, rounds: pa.RecordBatch, rejects: pa.RecordBatch, feed: Callable) -> None:
        """Replays the rounds that are not stored and inserts what comes out, and the rejects."""
        rounds = self._unknown(rounds)
        if rounds.num_rows:
            self._new_ids.append(rounds["round_id"].to_numpy())
            self._new_games.append(np.unique(rounds["game_key"].to_numpy()))
            for name, table in feed(rounds).items():
                self._insert(name, table)
        self._insert("run_rejects", pa.Table.from_batches([rejects]))

    def _unknown(self, rounds: pa.RecordBatch) -> pa.RecordBatch:
        """The rounds that are not stored yet; a stored one is a repeat or, with other content, a reject."""
        ids = rounds["round_id"].to_numpy()
        if not len(self._known_ids) or not len(ids):
            return rounds
        place = np.minimum(np.searchsorted(self._known_ids, ids), len(self._known_ids) - 1)
        known = self._known_ids[place] == ids
        if not known.any():
            return rounds
        same = self._known_content[place] == rounds["content"].to_numpy()
        repeats, others = rounds.filter(pa.array(known & same)), rounds.filter(pa.array(known & ~same))
        for column, found in enumerate((repeats, others)):
            for item in found["source"].value_counts().to_pylist():
                self._moved.setdefault(item["values"], [0, 0])[column] += item["counts"]
        if others.num_rows:
            self._insert("run_rejects", _duplicates(others))
        return rounds.filter(pa.array(~known))

    def _insert(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            buffer = self._buffers.setdefault(name, [])
            buffer.append(table)
            if sum(part.num_rows for part in buffer) >= 2 * ROW_GROUP:
                self._flush(name, ROW_GROUP)

    def _flush(self, name: str, multiple: int = 1) -> None:
        """Inserts the buffered rows, as many as make whole multiples."""
        table = pa.concat_tables(self._buffers.pop(name))
        rows = table.num_rows // multiple * multiple
        schema.insert(self._connection, name, table[:rows], ", verdict AS own_verdict" if name == "rounds" else "")
        if rows < table.num_rows:
            self._buffers[name] = [table[rows:]]

    def flush(self) -> None:
        """Inserts all that is still buffered; after the last batch."""
        for name in list(self._buffers):
            self._flush(name)

    def games(self, check_games: Callable[[pa.Table], pa.Table]) -> None:
        """Replaces the game-level problems of every game that has new rounds, and sets final verdicts."""
        if not self._new_games:
            return
        connection, run = self._connection, self._connection.execute
        connection.register("new_games", pa.table({"game_key": np.unique(np.concatenate(self._new_games))}))
        run(
            f"CREATE TEMP TABLE game_parts AS SELECT game_key, sum(count(*)) OVER (ORDER BY game_key) // {GAME_ROUNDS} "
            "AS part FROM rounds SEMI JOIN new_games USING (game_key) GROUP BY game_key"
        )
        connection.unregister("new_games")
        run("CREATE TEMP TABLE game_problems AS SELECT * FROM problems LIMIT 0")
        columns = ", ".join(f'rounds."{name}"' for name in problems.ROUNDS.names if name not in GAME_BLIND)
        for (part,) in schema.rows(connection, "SELECT DISTINCT part FROM game_parts ORDER BY part"):
            rounds = schema.arrow(
                connection,
                f"SELECT {columns} FROM rounds JOIN game_parts USING (game_key) WHERE part = {part} "
                "ORDER BY game_key, round, round_id",
            )
            schema.insert(connection, "game_problems", check_games(_as_replayed(rounds)))
        run(
            "CREATE TEMP TABLE touched AS SELECT round_id, round_id IN (SELECT round_id FROM game_problems "
            "WHERE kind = 'violation') AS illegal FROM rounds SEMI JOIN game_parts USING (game_key)"
        )
        run(f"DELETE FROM problems WHERE code IN {GAME_CODES} AND round_id IN (SELECT round_id FROM touched)")
        run("INSERT INTO problems SELECT * FROM game_problems ORDER BY round_id, event NULLS FIRST, code, seat")
        run(
            "UPDATE rounds SET verdict = 'violation' WHERE verdict <> 'violation' "
            "AND round_id IN (SELECT round_id FROM touched WHERE illegal)"
        )
        run(
            "UPDATE rounds SET verdict = own_verdict WHERE verdict <> own_verdict "
            "AND round_id IN (SELECT round_id FROM touched WHERE NOT illegal)"
        )

    def sources(self, sources: pa.Table) -> None:
        """Adds the sources that are new, with their rejects.  `sources` is the reader's table.

        A source is known by its name and content.  Read again it changes nothing, unless other claims about it
        (site, users, rules) made rounds of it that are new: then they count with the earlier ones, and its rejects
        are those of this reading.
        """
        found = sources.to_pylist()
        for row in found:
            repeats, rejects = self._moved.get(row["source"], (0, 0))
            row["rounds"] -= repeats + rejects
            row["repeats"] += repeats
            row["rejects"] += rejects
        self.counts = {name: sum(row[name] for row in found) for name in COUNTS}
        run = self._connection.execute
        run("CREATE TEMP TABLE run_sources AS SELECT *, true AS fresh FROM sources LIMIT 0")
        schema.insert(self._connection, "run_sources", pa.Table.from_pylist(found, sources.schema), ", true AS fresh")
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

    def verdicts(self) -> dict[str, int]:
        """How many of the rounds that this load stored have each verdict."""
        new = pa.table({"round_id": pa.chunked_array(self._new_ids, pa.uint64())})
        self._connection.register("new_rounds", new)
        query = "SELECT verdict, count(*) FROM rounds SEMI JOIN new_rounds USING (round_id) GROUP BY ALL ORDER BY ALL"
        found = dict(schema.rows(self._connection, query))
        self._connection.unregister("new_rounds")
        return {verdict: found.get(verdict, 0) for verdict in reversed(problems.VERDICTS)}


def duplicate(game: str, number: int) -> str:
    """The message of a second, different record of a round."""
    return f"another record of round {number} of game {game!r} with other content came first and stays"


def _duplicates(rounds: pa.RecordBatch) -> pa.Table:
    """The reject rows of rounds that are stored with other content."""
    messages = [duplicate(*row) for row in zip(rounds["game"].to_pylist(), rounds["round"].to_pylist(), strict=True)]
    columns = {
        **{name: rounds[name] for name in ("source", "record", "line", "byte")},
        "code": pa.array(["duplicate_round"] * rounds.num_rows),
        "field": pa.nulls(rounds.num_rows, pa.string()),
        "message": pa.array(messages),
        "raw": rounds["raw"],
    }
    return pa.table(columns).cast(REJECTS)


def _as_replayed(rounds: pa.Table) -> pa.Table:
    """Stored rounds in the schema that the replay gave them, the columns of GAME_BLIND all null."""
    columns = [
        pa.nulls(rounds.num_rows, field.type) if field.name in GAME_BLIND else rounds[field.name].cast(field.type)
        for field in problems.ROUNDS
    ]
    return pa.table(columns, schema=problems.ROUNDS)
