"""Accounts replaced by pseudonyms: the one place for it, whatever is written.

A pseudonym is "p" and 16 hex digits of HMAC-SHA256 of the account's name under a key.  The same key gives the same
pseudonym everywhere, so masked logs, reports and exports fit together; without the key a pseudonym can't be made from
a name or told from another key's.  Whoever has the key, or guesses it, can: it must be long, and stay where it is.
"""

import hmac
from functools import lru_cache

import pyarrow as pa

LEAST_KEY = 8  # characters


class MaskError(Exception):
    """A key that does not mask; the message says what was expected."""


class Mask:
    """Replaces accounts under one key."""

    def __init__(self, key: str) -> None:
        if len(key) < LEAST_KEY:
            raise MaskError(f"the key has {len(key)} characters, expected at least {LEAST_KEY}: names can be guessed")
        self._key = key.encode("utf-8", "surrogatepass")
        self.name = lru_cache(maxsize=1 << 16)(self._name)

    def _name(self, account: str) -> str:
        """The pseudonym of an account."""
        return "p" + hmac.digest(self._key, account.encode("utf-8", "surrogatepass"), "sha256").hex()[:16]

    def names(self, column: pa.Array | pa.ChunkedArray) -> pa.Array:
        """A column of accounts masked, plain or dictionary; null stays null."""
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if pa.types.is_dictionary(column.type):
            return pa.DictionaryArray.from_arrays(column.indices, self.names(column.dictionary)).cast(column.type)
        return pa.array([None if one is None else self.name(one) for one in column.to_pylist()], column.type)

    def rounds(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of ingest.events.ROUNDS with its accounts masked and without what may tell them.

        That is the record as written, private keys ("_…", where foreign formats keep what they know), and the digests
        of lines, which are those of other lines than the masked ones.
        """
        players = batch["players"]
        flat = self.names(players.flatten())
        masked = {"players": pa.FixedSizeListArray.from_arrays(flat, players.type.list_size).cast(players.type)}
        for name in ("raw", "extra", "prev", "line_sha256"):
            masked[name] = pa.nulls(batch.num_rows, batch.schema.field(name).type)
        return pa.RecordBatch.from_arrays(
            [masked.get(field.name, batch[field.name]) for field in batch.schema], schema=batch.schema
        )
