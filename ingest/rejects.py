"""The words for records that cannot be read as a round, and their Arrow schema (log-format.md section 3)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ingest.events import DICT

RAW_LIMIT = 64 * 1024  # bytes of a raw record that a reject row keeps

# The closed list of codes; tests/data/broken holds one file for each, named after it.
REJECT_CODES = (
    "bad_json",  # the record is not JSON (NaN, Infinity and nesting beyond all use included)
    "truncated",  # the last record lacks its end, or a value is cut at a column's width, or a compressed file is cut
    "corrupt",  # a compressed file or archive member that does not decompress
    "not_utf8",  # bytes that are not UTF-8, a UTF-16 file, or an escape that no UTF-8 text can hold
    "too_long",  # a line beyond the limit of its format
    "unknown_version",  # a kwx log of another version
    "unknown_key",  # a key that the format does not know
    "duplicate_key",  # one key twice in an object
    "missing_key",  # a required key is absent
    "bad_type",  # a value of another type than the key's: 1.5 or true for an integer
    "bad_value",  # a value of the right type that is out of range, or not one of the allowed words
    "bad_tile",  # not a tile, or tiles of three suits
    "bad_token",  # an event that is not seat, verb, tile, source
    "bad_count",  # not 40 tiles dealt, 44 in the wall, 84 in all, three players, one time per event
    "unknown_rules",  # a ruleset that is not loaded
    "unknown_option",  # a room option that the ruleset does not list
    "bad_option_value",  # a value that the room option does not allow
    "duplicate_round",  # a second record of a round with other content
)

# One row a record that is not a round.
REJECTS = pa.schema(
    [
        ("source", DICT),
        ("record", pa.int64()),  # 0-based record of the source
        ("line", pa.int64()),  # 1-based line
        ("byte", pa.int64()),  # offset of the record's first byte in the decompressed source
        ("code", DICT),
        ("field", pa.string()),  # the key, or key path, that is wrong; null when it is the record itself
        ("message", pa.string()),  # what was found and what was expected
        ("raw", pa.string()),  # the record; bytes that are not UTF-8 as \xNN; cut at RAW_LIMIT
    ]
)

SOURCES = pa.schema(
    [
        ("source", pa.string()),
        ("format", pa.string()),
        ("bytes", pa.int64()),  # decompressed
        ("sha256", pa.string()),  # of the decompressed bytes
        ("records", pa.int64()),  # = rounds + repeats + rejects
        ("rounds", pa.int64()),
        ("repeats", pa.int64()),
        ("rejects", pa.int64()),
    ]
)


class Reject(Exception):
    """Why a record cannot be read: `code` of REJECT_CODES, `field` (a key path such as "result.wins.0.seat", or
    None for the whole record) and `message` (what was found, what was expected)."""

    def __init__(self, code: str, field: str | None, message: str) -> None:
        super().__init__(code, field, message)
        self.code, self.field, self.message = code, field, message


class RejectRow(NamedTuple):
    """One row of REJECTS before it is one; `raw` is the record's bytes, whole or cut, `byte` its offset."""

    record: int
    line: int
    byte: int
    code: str
    field: str | None
    message: str
    raw: bytes


def raw_text(raw: bytes) -> str:
    """A record's bytes as a reject shows them: cut at RAW_LIMIT, what is not UTF-8 as \\xNN."""
    return raw[:RAW_LIMIT].decode("utf-8", "backslashreplace")


class Repeated(Sequence):
    """Rejects of a few kinds, of which millions may come: what is wrong stands once, each row only says where.

    records, lines, bytes: int64[n]; kinds: int32[n], indices in `faults`, rows whose own place does not count.
    """

    def __init__(
        self, records: np.ndarray, lines: np.ndarray, bytes: np.ndarray, kinds: np.ndarray, faults: list[RejectRow]
    ) -> None:
        self.places, self.kinds, self.faults = (records, lines, bytes), kinds, faults

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, at: Any) -> RejectRow:
        record, line, byte = (int(places[at]) for places in self.places)
        return self.faults[self.kinds[at]]._replace(record=record, line=line, byte=byte)


def batch(source: str, rows: Sequence[RejectRow]) -> pa.RecordBatch:
    """Rows of one source as a batch of REJECTS, in the order given."""
    if not rows:
        return _NONE
    if isinstance(rows, Repeated):
        few, kinds = batch(source, rows.faults), pa.array(rows.kinds)
        arrays = [few.column(name).take(kinds) for name in REJECTS.names]
        arrays[1:4] = map(pa.array, rows.places)
        return pa.RecordBatch.from_arrays(arrays, schema=REJECTS)
    columns = list(zip(*rows, strict=True))
    named = dict(zip(RejectRow._fields, columns, strict=True))
    named["message"] = [
        text if text.isascii() else text.encode("utf-8", "backslashreplace").decode() for text in named["message"]
    ]
    named["raw"] = [raw_text(raw) for raw in named["raw"]]
    named["source"] = [source] * len(rows)
    arrays = []
    for field in REJECTS:
        if field.type == DICT:
            arrays.append(pa.array(named[field.name], pa.string()).dictionary_encode())
        else:
            arrays.append(pa.array(named[field.name], field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=REJECTS)


_NONE = pa.RecordBatch.from_pylist([], REJECTS)
