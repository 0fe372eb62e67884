"""The door of ingest: paths in, batches of rounds and rejects out, and one row about each source.

records = rounds + repeats + rejects for every source, always.  A round is known by its id; within a run the first
record of it by (source, record) stays, an equal one is a repeat, another one a reject (`duplicate_round`).  In a format
whose records carry ids of their own, an equal record is a repeat in whatever game it stands.
Source: log-format.md section 3.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b, sha256
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest import formats
from ingest.formats import CheckRules, Context, Parsed
from ingest.formats.kwx_rows import Scanner
from ingest.known import Sift
from ingest.rejects import SOURCES, RejectRow
from ingest.rejects import batch as rejects_batch
from ingest.sources import Stream, expand, streams


class Batch(NamedTuple):
    """Rounds (events.ROUNDS) and rejects (rejects.REJECTS) of one part of one source, both by ascending record."""

    rounds: pa.RecordBatch
    rejects: pa.RecordBatch


class Reader:
    """Iterate once over the batches of paths, folders, globs and "-"; then ask `sources()`.

    site: name for records that name none; users: CSV of accounts for formats without them; rules, options: a claim
    that overrides what the logs name; check_rules(id, options) -> None or (code, field, message);
    keep_raw: fill the `raw` column; scanner: replay.scan.scanner, for speed alone: it changes nothing that is read.
    watch: told of the bytes as they are read, decompressed (sources.Stream); what it raises ends the reading.
    `notes`: what a person should be told (empty files, files left out).
    Raises SourceError (in the constructor for paths that do not exist, while iterating for those that do not open).
    """

    def __init__(
        self,
        paths: Iterable[str],
        *,
        site: str | None = None,
        users: str | None = None,
        rules: str | None = None,
        options: Mapping[str, Any] | None = None,
        check_rules: CheckRules | None = None,
        keep_raw: bool = False,
        batch_rounds: int = 8192,
        scanner: Scanner | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> None:
        self.notes: list[str] = []
        self.paths = expand([str(path) for path in paths], self.notes)
        self._context = Context(site, users, rules, options, check_rules, keep_raw, batch_rounds, scanner)
        self._modules = formats.modules()
        self._one_record = [module.NAME for module in self._modules if getattr(module, "ONE_RECORD", False)]
        self._sift = Sift()
        self._watch = watch
        self._sources: list[dict[str, Any]] = []
        self.read_bytes = self._before = 0  # of the files, compressed as they may be; those before the present one

    def total_bytes(self) -> int | None:
        """How many bytes `read_bytes` will come to; None where nobody knows."""
        try:
            return sum(os.stat(path).st_size for path in self.paths)
        except OSError:  # standard input, an object, or a file that is gone, which is told when it is read
            return None

    def __iter__(self) -> Iterator[Batch]:
        for stream in self._streams():
            if self._watch is not None:
                stream.watch = self._watch
                self._watch(stream.bytes)  # the head
            yield from self._read(stream)

    def _streams(self) -> Iterator[Stream]:
        for path in self.paths:
            self._before = self.read_bytes
            yield from streams(path)
            if os.path.isfile(path):
                self.read_bytes = self._before + os.stat(path).st_size

    def know(self, ids: np.ndarray, contents: np.ndarray) -> None:
        """Before iterating: rounds (round_id and content, uint64 arrays) whose first record came in an earlier run."""
        self._sift.know(ids, contents)

    def sources(self) -> pa.Table:
        """One row (rejects.SOURCES) for each source read to its end, in the order read."""
        return pa.Table.from_pylist(self._sources, SOURCES)

    def _module(self, stream: Stream) -> ModuleType | None:
        return next((module for module in self._modules if module.sniff(stream.head)), None)

    def _read(self, stream: Stream) -> Iterator[Batch]:
        module = self._module(stream)
        counts = {"rounds": 0, "repeats": 0, "rejects": 0}
        last: RejectRow | None = None
        for parsed in (module or formats.fallback()).read(stream, self._context):
            parsed = parsed._replace(rounds=identified(parsed.rounds, parsed.raws, self._context.scanner))
            batch, repeats, rejects = self._sifted(parsed)
            counts["rounds"] += batch.num_rows
            counts["repeats"] += repeats
            counts["rejects"] += len(rejects)
            last = rejects[-1] if rejects else last
            self.read_bytes = self._before + stream.position()
            if batch.num_rows or rejects:
                yield Batch(batch, rejects_batch(stream.name, rejects))
        for _ in stream.chunks():  # whatever a format left unread belongs to the digest
            pass
        records = sum(counts.values())
        if stream.fault and not (last and last.record == records - 1 and last.code == "truncated"):
            row = RejectRow(
                records, max(stream.line, 1), stream.bytes, stream.fault.code, None, stream.fault.message, b""
            )
            counts["rejects"] += 1
            records += 1
            yield Batch(formats.rounds_batch({}, 0), rejects_batch(stream.name, [row]))
        if not records:
            self.notes.append(f"{stream.name}: " + ("no records" if stream.bytes else "an empty file"))
        self._sources.append(
            {
                "source": stream.name,
                "format": module.NAME if module else "unknown",
                "bytes": stream.bytes,
                "sha256": stream.sha256,
                "records": records,
                **counts,
            }
        )

    def _sifted(self, parsed: Parsed) -> tuple[pa.RecordBatch, int, Sequence[RejectRow]]:
        """Take out the rounds that are known already; how many were repeats; the others are rejects."""
        rounds, rejects = parsed.rounds, parsed.rejects
        ids, contents = rounds.column("round_id").to_numpy(), rounds.column("content").to_numpy()
        first, same = self._sift.decide(ids, contents, self._marked(rounds.column("format")))
        if first.all():
            return rounds, 0, rejects
        record, line, byte = (rounds.column(name) for name in ("record", "line", "byte"))
        others = [
            RejectRow(
                record[row].as_py(), line[row].as_py(), byte[row].as_py(), "duplicate_round", "round",
                f"round {rounds.column('round')[row].as_py()} of game {rounds.column('game')[row].as_py()!r} "
                "stands before with other content; the first record of it stays",
                parsed.raws[row],
            )
            for row in np.flatnonzero(~first & ~same)
        ]  # fmt: skip
        kept = rounds.filter(pa.array(first))
        return kept, int((~first & same).sum()), sorted([*rejects, *others]) if others else rejects

    def _marked(self, format: pa.DictionaryArray) -> np.ndarray:
        """Which rounds stem from records that carry an id of their own, bool[n]."""
        words = format.dictionary.to_pylist()
        if not set(words) & set(self._one_record):
            return np.zeros(len(format), bool)
        return np.isin(format.indices.to_numpy(), [at for at, word in enumerate(words) if word in self._one_record])


def identified(rounds: pa.RecordBatch, raws: Sequence[bytes], scanner: Scanner | None = None) -> pa.RecordBatch:
    """Fill round_id, game_key and, where a format leaves it, content: the first 64 bits of the record's SHA-256."""
    columns: dict[str, np.ndarray] = {}
    if rounds.column("round_id").null_count:
        columns["game_key"], columns["round_id"] = _digests(rounds, scanner)
    if rounds.column("content").null_count:
        columns["content"] = np.frombuffer(b"".join([sha256(raw).digest()[:8] for raw in raws]), "<u8")
    for name, values in columns.items():
        at = rounds.schema.get_field_index(name)
        rounds = rounds.set_column(at, rounds.schema.field(at), pa.array(values, pa.uint64()))
    return rounds


def _digests(rounds: pa.RecordBatch, scanner: Scanner | None) -> tuple[np.ndarray, np.ndarray]:
    """digest64 of (site, game) and of (site, game, round), uint64 each."""
    site, game, number = (rounds.column(name) for name in ("site", "game", "round"))
    if scanner and not site.null_count + site.dictionary.null_count and pc.min(number).as_py() >= 0:
        _, offsets, data = game.buffers()
        first, count = game.offset, rounds.num_rows
        return scanner.digests(
            site.dictionary.to_pylist(), site.indices.to_numpy(), np.frombuffer(data, np.uint8),
            np.frombuffer(offsets, np.int32)[first : first + count + 1], number.to_numpy(),
        )  # fmt: skip
    names = (column.to_pylist() for column in (site, game, number))
    keys = [(f"{site or ''}\0{game}\0".encode(), number) for site, game, number in zip(*names, strict=True)]
    games = {game: blake2b(game, digest_size=8).digest() for game in dict.fromkeys(game for game, _ in keys)}
    digests = [blake2b(b"%b%d\0" % key, digest_size=8).digest() for key in keys]
    return np.frombuffer(b"".join([games[game] for game, _ in keys]), "<u8"), np.frombuffer(b"".join(digests), "<u8")
