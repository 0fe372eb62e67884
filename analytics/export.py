"""The data set as Parquet, for engines and machines beyond one DuckDB file.

Every table is a folder of files partitioned by ruleset and UTC day, in Hive's naming:

    DIR/rounds/ruleset=R/day=2026-05-01/part-0.parquet

`day=unknown` holds the rounds without a time.  `sources` and `rejects`, which belong to no ruleset, are one file
each.  Rows stand in key order and keep every column (a round's ruleset is in its path); the same rows give the same
bytes.  `DIR/_kwx.json` names the digest and the rows per table; readers of Parquet skip it.
DIR may be a prefix of an object store, s3://bucket/prefix.
"""

import json
from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import IO

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from analytics import schema
from analytics.target import Target, target
from analytics.warehouse import connect
from ingest.mask import Mask

KEYS = {
    "sources": "source, sha256",
    "rounds": "round_id",
    "seats": "round_id, seat",
    "wins": "round_id, win_no",
    "win_fans": "round_id, win_no, fan",
    "kongs": "round_id, kong_no",
    "reveals": 'round_id, seat, "order"',
    "ledger": "round_id, n",
    "facts": "round_id, seat",
    "draws": "round_id, n",
    "aims": "round_id, seat, fan",
    "problems": "round_id, event NULLS FIRST, code, seat NULLS FIRST, message",
    "rejects": "source, sha256, record",
}
UNPARTITIONED = ("sources", "rejects")
PART = "_part"  # a column of the queries here: the folder below the table's
PARTITION = (
    "concat('ruleset=', url_encode(rounds.ruleset), '/day=', "
    "coalesce(strftime(make_timestamp(rounds.time_ms * 1000), '%Y-%m-%d'), 'unknown'))"
)
ROW_GROUP = 122_880  # rows
MEMORY = "1GB"  # for sorting; beyond it DuckDB spills to a folder beside the new export


def write(db_path: str | Path, place: str | Path, mask: Mask | None = None) -> dict[str, int]:
    """Writes the data set at `db_path` to a folder or to an s3:// prefix and returns the rows of each table.

    An earlier export there is replaced when the new one is complete.  mask: accounts as pseudonyms, and rejects without
    their records and messages, which may name accounts.  WarehouseError when the place holds anything else, the store
    refuses, or there is no data set.
    """
    with connect(db_path) as connection, target(place) as files:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        connection.execute(f"SET temp_directory = '{str(files.spill).replace(chr(39), chr(39) * 2)}'")
        counts = {name: _write_table(connection, name, files, mask) for name in schema.table_names()}
        mark = {"digest": schema.digest(connection), "rows": counts}
        files.mark(json.dumps(mark, indent=1) + "\n")
    return counts


def _write_table(connection: duckdb.DuckDBPyConnection, name: str, files: Target, mask: Mask | None) -> int:
    """One table's files; returns its rows."""
    if name in UNPARTITIONED:
        query = f"SELECT *, '.' AS {PART} FROM {name} ORDER BY {KEYS[name]}"
    else:
        columns, source = f"{name}.*", f"{name} JOIN rounds USING (round_id)"
        if name == "rounds":
            columns, source = "rounds.* EXCLUDE (ruleset)", "rounds"
        query = f"SELECT {columns}, {PARTITION} AS {PART} FROM {source} ORDER BY {PART}, {KEYS[name]}"
    stream = connection.sql(query).to_arrow_reader(ROW_GROUP)
    rows = 0
    for part, batches in groupby(_runs(stream), key=itemgetter(0)):
        tables = (_masked(batch, name, mask) if mask else batch for _, batch in batches)
        folder = name if part == "." else f"{name}/{part}"
        rows += files.add(f"{folder}/part-0.parquet", lambda file, tables=tables: _write_file(file, tables))
    if not rows:
        empty = stream.schema.empty_table().drop_columns([PART])
        files.add(f"{name}/part-0.parquet", lambda file: _write_file(file, iter([empty])))
    return rows


def _masked(table: pa.Table, name: str, mask: Mask) -> pa.Table:
    """The table without the names of accounts."""
    for place, field in enumerate(table.schema):
        if field.name == "player":
            table = table.set_column(place, field, mask.names(table[field.name]))
        elif name == "rejects" and field.name in ("raw", "message"):
            table = table.set_column(place, field, pa.nulls(table.num_rows, field.type))
    return table


def _runs(stream: pa.RecordBatchReader) -> Iterator[tuple[str, pa.Table]]:
    """Pieces of a stream that is sorted by PART, each with its part."""
    for batch in stream:
        table = pa.Table.from_batches([batch])
        runs = pc.run_end_encode(batch[PART])
        start = 0
        for part, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
            yield part, table[start:end].drop_columns([PART])
            start = end


def _write_file(file: IO[bytes], tables: Iterator[pa.Table]) -> int:
    """One file with row groups of the same size however the tables come; returns its rows."""
    waiting = next(tables)
    rows = 0
    with pq.ParquetWriter(file, waiting.schema, compression="zstd", compression_level=3) as writer:
        for table in chain(tables, [None]):
            while waiting.num_rows >= ROW_GROUP or (table is None and waiting.num_rows):
                writer.write_table(waiting[:ROW_GROUP].combine_chunks(), row_group_size=ROW_GROUP)
                rows, waiting = rows + min(waiting.num_rows, ROW_GROUP), waiting[ROW_GROUP:]
            if table is not None:
                waiting = pa.concat_tables([waiting, table])
    return rows
