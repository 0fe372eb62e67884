"""The tables and views of the data set: made, compared, queried, and summed up in one digest."""

import re
from hashlib import blake2b
from pathlib import Path

import duckdb
import pyarrow as pa

HERE = Path(__file__).parent
DERIVED = ("sittings",)  # tables that analytics computes from the others and makes anew when they are out of date
COLUMNS = (
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE table_name IN "
    "(SELECT table_name FROM duckdb_tables() WHERE NOT internal AND NOT temporary) "
    f"AND table_name NOT IN {(*DERIVED, '')} ORDER BY table_name, column_index"
)


def table_names() -> list[str]:
    """The tables of schema.sql, in its order."""
    return re.findall(r"^CREATE TABLE (\w+)", (HERE / "schema.sql").read_text(encoding="utf-8"), re.MULTILINE)


def views() -> dict[str, str]:
    """Name and SELECT of every view, in the order of their names."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "views").glob("*.sql"))}


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the empty tables."""
    connection.execute((HERE / "schema.sql").read_text(encoding="utf-8"))


def create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the views, in place of an earlier version's."""
    for name, select in views().items():
        connection.execute(f"CREATE OR REPLACE VIEW {name} AS {select}")


def is_current(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the connection's tables are those of schema.sql, column by column."""
    with duckdb.connect() as fresh:
        create_tables(fresh)
        return rows(connection, COLUMNS) == rows(fresh, COLUMNS)


def digest(connection: duckdb.DuckDBPyConnection) -> str:
    """32 hex digits over the rows of all tables, in whatever order they lie: equal for equal content.

    Comparable between data sets that the same version of DuckDB reads.
    """
    state = blake2b(digest_size=16)
    for table in table_names():
        sums = rows(connection, f"SELECT count(*), bit_xor(hash(t)), sum(hash(t))::VARCHAR FROM {table} AS t")
        state.update(f"{table} {sums}\n".encode())
    return state.hexdigest()


def insert(connection: duckdb.DuckDBPyConnection, name: str, arriving: pa.Table, more: str = "") -> None:
    """Appends an Arrow table's rows by column name; `more` is SQL for further columns (", … AS …").

    The query finds `arriving` as the variable that it is here: a registered table is kept until the transaction ends.
    """
    connection.execute(f"INSERT INTO {name} BY NAME SELECT *{more} FROM arriving")


def rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple]:
    """All rows of a query."""
    return connection.execute(query).fetchall()


def arrow(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """All rows of a query as an Arrow table."""
    return connection.sql(query).to_arrow_table()
