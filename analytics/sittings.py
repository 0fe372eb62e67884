"""The table `sittings`: the view seat_rounds summed over each account's rounds in a game, kept current by every load.

Statistics over millions of rounds are answered from it.  Games are the units of sampling too (analytics.intervals), so
that nothing is lost by it.  It is derived: not in the digest, not exported, made anew when its definition changes.
Each batch brings its own sums (replay.seat_sums); only games that several of them have are added up at the end.
"""

from hashlib import blake2b

import duckdb

from analytics import schema
from replay.seat_sums import KEYS, TABLE, counters

PART_ROUNDS = 200_000  # rounds whose games are summed at a time, bounds memory
READ = {  # the tables that a view of single rounds reads
    "seat_rounds": ("rounds", "seats", "wins", "kongs", "reveals", "ledger", "facts"),
    "seat_results": ("rounds", "seats", "facts"),
    "win_rounds": ("rounds", "seats", "wins"),
    "win_tables": ("rounds", "wins"),
    "reveal_rounds": ("rounds", "seats", "reveals"),
    "hands": ("rounds", "seats", "facts"),
    "ready_hands": ("rounds", "seats", "reveals", "facts"),
}


def rows_of(view: str, chosen: str | None = None, upto: int | None = None) -> str:
    """A view of READ as a subquery.

    `chosen` names a table of round_ids: only those rounds are read at all; `upto` is the largest round_id to read.
    """
    select = schema.views()[view].rsplit("ORDER BY", 1)[0]
    if chosen is None and upto is None:
        return f"({select})"
    what = f"SEMI JOIN {chosen} USING (round_id)" if chosen else f"WHERE round_id <= CAST({upto} AS UBIGINT)"
    fewer = (f"{name} AS (SELECT * FROM main.{name} {what})" for name in READ[view])
    return f"(WITH {', '.join(fewer)} {select})"


def counts(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The columns of seat_rounds that are summed, in its order."""
    names = [row[0] for row in schema.rows(connection, f"DESCRIBE SELECT * FROM {rows_of('seat_rounds')}")]
    return [name for name in names if name not in (*KEYS, "round_id", "time_ms")]


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the empty table; those that it reads are there."""
    connection.execute(f"CREATE TABLE {TABLE} AS {_select(connection, rows_of('seat_rounds'))} LIMIT 0")
    connection.execute(f"COMMENT ON TABLE {TABLE} IS '{_definition(connection)}'")


def prepare(connection: duckdb.DuckDBPyConnection) -> bool:
    """Before a load: makes the table where there is none by the present definition; whether it holds what it should."""
    found = schema.rows(connection, f"SELECT comment FROM duckdb_tables() WHERE table_name = '{TABLE}'")
    if found and found[0][0] == _definition(connection):
        return True
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    create(connection)
    return schema.rows(connection, "SELECT count(*) FROM rounds")[0][0] == 0


def streamed(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether replay.seat_sums has all columns of the view, so that batches bring their sums."""
    return set(counts(connection)) == counters()


def merge(connection: duckdb.DuckDBPyConnection, games: str) -> None:
    """Makes one row of those that several batches, or loads, have of a key; `games` has the game_key of what came."""
    run = connection.execute
    run(
        f"CREATE TEMP TABLE split AS SELECT DISTINCT game_key FROM (SELECT game_key FROM {TABLE} "
        f"WHERE game_key IN (SELECT game_key FROM {games}) GROUP BY game_key, seat, position HAVING count(*) > 1)"
    )
    only = f"{TABLE} WHERE game_key IN (SELECT game_key FROM split)"
    run(f"CREATE TEMP TABLE whole AS {_select(connection, f'(SELECT * FROM {only})')}")
    run(f"DELETE FROM {only}")
    run(f"INSERT INTO {TABLE} SELECT * FROM whole")
    run("DROP TABLE split")
    run("DROP TABLE whole")


def refresh(connection: duckdb.DuckDBPyConnection, games: str) -> None:
    """Sums the rounds of the games again that table `games` lists by game_key, some at a time."""
    connection.execute(
        f"CREATE TEMP TABLE summed AS SELECT game_key, sum(count(*)) OVER (ORDER BY game_key) // {PART_ROUNDS} AS part "
        f"FROM rounds WHERE game_key IN (SELECT game_key FROM {games}) GROUP BY game_key"
    )
    connection.execute(f"DELETE FROM {TABLE} WHERE game_key IN (SELECT game_key FROM summed)")
    parts = schema.rows(connection, "SELECT DISTINCT part FROM summed ORDER BY part")
    whole = schema.rows(connection, "SELECT count(DISTINCT game_key) = (SELECT count(*) FROM summed) FROM rounds")[0][0]
    for (part,) in parts:
        if whole and len(parts) == 1:
            source = rows_of("seat_rounds")
        else:
            connection.execute(
                "CREATE OR REPLACE TEMP TABLE chosen AS SELECT round_id FROM rounds JOIN summed USING (game_key) "
                f"WHERE part = {part}"
            )
            source = rows_of("seat_rounds", "chosen")
        connection.execute(f"INSERT INTO {TABLE} {_select(connection, source)}")
    connection.execute("DROP TABLE summed")
    connection.execute("DROP TABLE IF EXISTS temp.chosen")


def _select(connection: duckdb.DuckDBPyConnection, source: str) -> str:
    sums = ", ".join(f"CAST(sum({name}) AS BIGINT) AS {name}" for name in counts(connection))
    keys = ", ".join(KEYS)
    return f"SELECT {keys}, min(time_ms) AS time_ms, {sums} FROM {source} GROUP BY {keys}"


def _definition(connection: duckdb.DuckDBPyConnection) -> str:
    return blake2b(_select(connection, rows_of("seat_rounds")).encode(), digest_size=16).hexdigest()
