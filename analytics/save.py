"""A table that a page shows as a file: CSV, Parquet or JSON, the same bytes for the same table.

CSV is UTF-8 with a header, RFC 4180 quoting and \\n; a cell that a spreadsheet would run as a formula is quoted with a
leading apostrophe, for names come from logs.  JSON is an array of objects, one a line.  Lists and structs, which CSV
has no place for, stand there as JSON.
"""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from ingest.whole import write_whole

KINDS = ("csv", "parquet", "json")
FORMULA = r"^[=+\-@\t\r]"


class SaveError(ValueError):
    """A kind of file that does not exist, or a file that cannot be written; the message says which."""


def write(folder: str | Path, tables: Mapping[str, pl.DataFrame], kinds: Sequence[str]) -> list[Path]:
    """Writes each table as NAME.KIND into the folder, made if it isn't there; the files' paths.  SaveError."""
    folder = Path(folder)
    files = {folder / f"{name}.{kind}": as_bytes(table, kind) for name, table in tables.items() for kind in kinds}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as refused:
        raise SaveError(f"{folder}: {refused.strerror}") from refused
    for path, content in files.items():
        write_whole(path, content, SaveError)
    return list(files)


def as_bytes(table: pl.DataFrame, kind: str) -> bytes:
    """The table as a file of one of KINDS; SaveError on another."""
    if kind == "csv":
        return _csv(table)
    if kind == "parquet":
        out = io.BytesIO()
        table.rechunk().write_parquet(out, compression="zstd", compression_level=3, statistics=False)
        return out.getvalue()
    if kind == "json":
        rows = (_plain(row) for row in table.iter_rows(named=True))
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        return ("[" + ",\n".join(lines) + "]\n").encode()
    raise SaveError(f"{kind!r}: expected one of {', '.join(KINDS)}")


def _csv(table: pl.DataFrame) -> bytes:
    columns = []
    for column in table.iter_columns():
        if column.dtype.is_nested() or column.dtype == pl.Binary:
            texts = (json.dumps(_plain(value), ensure_ascii=False) for value in column.to_list())
            values = [None if text == "null" else text for text in texts]
            columns.append(pl.Series(column.name, values, pl.String()))
        elif column.dtype == pl.String:
            guarded = pl.when(pl.col("c").str.contains(FORMULA)).then("'" + pl.col("c")).otherwise(pl.col("c"))
            columns.append(pl.DataFrame({"c": column}).select(guarded.alias(column.name)).to_series())
        else:
            columns.append(column)
    return pl.DataFrame(columns).write_csv(line_terminator="\n").encode()


def _plain(value: Any) -> Any:
    """A value as JSON has it: bytes as lists of numbers, times in ISO form, what is not a number as null."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | pl.Series):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
