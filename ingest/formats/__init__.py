"""One module per log format, and what they share.

A format is one module of this package, listed in NAMES, with

    NAME: str                                      # the `format` column, "node-kwx"
    def sniff(head: bytes) -> bool                 # is a source that starts with these bytes (<= 64 KiB) mine?
    def read(stream, context) -> Iterator[Parsed]  # its records, in order
    BY_LINE: bool = False                          # each line is a record by itself, whatever stands beside it
    ONE_RECORD: bool = False                       # equal content is a repeat, whatever game and round it stands in

`read` gets
  * `stream`: an `ingest.sources.Stream`.  `stream.lines()` yields lists of `Line(number, byte, data, state)` without
    blank lines and line endings; `stream.chunks()` yields the raw decompressed bytes for formats whose records are not
    lines; `stream.file()` a seekable binary file.  All three read forward once: use one of them.  `stream.name` is the
    `source` column.  Nothing a format keeps may grow with the source.
  * `context`: a `Context`, what the caller of the reader asked for.
and yields `Parsed(rounds, raws, rejects)`: at most about `context.batch_rounds` rounds at a time (a format that needs
whole games together keeps a game in one batch), made with `rounds_batch`; `raws[i]` are the bytes of round i's record;
`rejects` are `RejectRow`s.  Every record (a line, a tuple, a row) is exactly one round or one reject and has its own
`record` number, counted from 0 in the order of the source; both lists ascend.  A format raises nothing for bad input:
it catches `Reject` per record.  The digests round_id, game_key and content may stay null: the reader fills them.
Repeats and duplicate rounds, sources that end early, and counts are the reader's work too.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import pyarrow as pa

from ingest.events import DICT, ROUNDS
from ingest.formats.kwx_rows import Scanner
from ingest.rejects import Reject, RejectRow

NAMES = ("kwx_parquet", "kws_archive", "node_kwx", "kwx")  # modules, in the order they are asked
FALLBACK = "kwx"  # reads what none knows, and so rejects every line of it

CheckRules = Callable[[str, dict[str, Any]], tuple[str, str, str] | None]


class Parsed(NamedTuple):
    """Some records of one source: a batch of ROUNDS, the bytes of each round's record, and the rejects."""

    rounds: pa.RecordBatch
    raws: Sequence[bytes]
    rejects: Sequence[RejectRow]


@dataclass
class Context:
    """What a run asks of every format.

    site: name for records that name none; users: path of a CSV of accounts (formats that have none);
    rules, options: a claim that overrides what the log names; check_rules(id, options) -> None or
    (code, field, message); keep_raw: fill the `raw` column; batch_rounds: rounds per batch; scanner: replay.scan's,
    which reads usual lines of a kwx log many times as fast as the exact way, which decides about all others.
    """

    site: str | None = None
    users: str | None = None
    rules: str | None = None
    options: Mapping[str, Any] | None = None
    check_rules: CheckRules | None = None
    keep_raw: bool = False
    batch_rounds: int = 8192
    scanner: Scanner | None = None
    refused: dict[bytes, Reject] = field(default_factory=dict)  # what is wrong with some short lines
    _seen: dict[tuple[str, str], tuple[str, str] | tuple[str, str, str]] = field(default_factory=dict)

    def ruleset(self, rules: str, options: Mapping[str, Any] | str) -> tuple[str, str]:
        """The ruleset id and the options (compact JSON, keys as written) to replay with: the log's, or the claim's.

        A claimed ruleset brings its own options; claimed options alone are laid over the log's.
        Raises Reject (unknown_rules, unknown_option, …) when `check_rules` refuses them.
        """
        text = options if isinstance(options, str) else json.dumps(options, ensure_ascii=False, separators=(",", ":"))
        answer = self._seen.get((rules, text))
        if answer is None:
            if len(self._seen) >= 4096:  # a log may name any number of different options
                self._seen.clear()
            value = json.loads(text)
            if not isinstance(value, dict):
                raise Reject("bad_type", "options", f"{text[:40]}, expected an object")
            answer = self._seen[rules, text] = self._resolve(rules, value)
        if len(answer) == 3:
            raise Reject(*answer)
        return answer

    def _resolve(self, rules: str, options: Mapping[str, Any]) -> tuple[str, str] | tuple[str, str, str]:
        if self.rules is not None and self.rules != rules:
            rules, options = self.rules, {}
        options = {**options, **(self.options or {})}
        fault = self.check_rules(rules, options) if self.check_rules else None
        return fault or (rules, json.dumps(options, ensure_ascii=False, separators=(",", ":")))


def modules() -> list[ModuleType]:
    """The format modules in the order they are asked."""
    return [import_module(f"{__name__}.{name}") for name in NAMES]


def fallback() -> ModuleType:
    """The module that reads a source that none recognises."""
    return import_module(f"{__name__}.{FALLBACK}")


@lru_cache(maxsize=64)
def constant(value: str | None, rows: int) -> pa.Array:
    """A dictionary column of one value."""
    if value is None:
        return pa.nulls(rows, DICT)
    zeros = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(zeros, [value])


def rounds_batch(columns: Mapping[str, pa.Array | Iterable[Any] | str], rows: int) -> pa.RecordBatch:
    """A batch of ROUNDS from columns by name: Arrow arrays, sequences, or one text for all rows; absent ones are null.

    Raises KeyError for a name that ROUNDS lacks and the Arrow errors of values that do not fit.
    """
    unknown = set(columns) - set(ROUNDS.names)
    if unknown:
        raise KeyError(f"not in ROUNDS: {sorted(unknown)}")
    arrays = []
    for column in ROUNDS:
        values = columns.get(column.name)
        if values is None:
            array = pa.nulls(rows, column.type)
        elif isinstance(values, str):
            array = constant(values, rows) if column.type == DICT else pa.array([values] * rows, column.type)
        elif not isinstance(values, pa.Array):
            array = (
                pa.array(values, pa.string()).dictionary_encode()
                if column.type == DICT
                else pa.array(values, column.type)
            )
        else:
            array = values if values.type == column.type else values.cast(column.type)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=ROUNDS)
