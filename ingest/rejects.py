"""The words for records that cannot be read as a round, and their Arrow schema (log-format.md section 3)."""

import pyarrow as pa

from ingest.events import DICT

RAW_LIMIT = 64 * 1024  # bytes of a raw record that a reject row keeps

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
