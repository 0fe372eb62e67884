"""Paths to byte streams with positions: files, folders, globs, objects, standard input, .gz, .zst and .zip.

Everything is read in pieces of bounded size (CHUNK, or what STEP compressed bytes can give: 16 MB), so memory does not
depend on the size of a source, of a line, or on how far a compressed file expands.  Whether a file is compressed, and
how, its first bytes say, not its name.
Two kinds of failure are told apart: a path that cannot be read at all raises SourceError; a stream that breaks off or
does not decompress ends there, and its `fault` says why: what came before it is read.
"""

import glob
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from typing import IO, NamedTuple, Protocol

from ingest import objects
from ingest.rejects import RAW_LIMIT
from ingest.unpack import CHUNK, PACKED, Fault, archive_members, packed_as, unpacked

HEAD = 1 << 16  # bytes that a format sees before it says whether a source is its own
LINE_LIMIT = 1 << 20  # bytes of a line, unless a format says otherwise
BLANK = b" \t\r\n\v\f"
# Names that a walk through a folder or an archive takes for logs; paths given one by one may have any name.
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".sql", ".log", ".txt", ".parquet")
SIDE_FILES = (".labels.jsonl",)  # what `kwx simulate` writes beside its logs

WHOLE, UNENDED, TOO_LONG = range(3)  # states of a line


class SourceError(Exception):
    """A path that cannot be read; the message names it and says why."""


class Line(NamedTuple):
    """A line without its ending: 1-based number, offset of its first byte, bytes, and one of WHOLE, UNENDED (the
    last line of a source, without a line ending) and TOO_LONG (`data` holds its first RAW_LIMIT bytes)."""

    number: int
    byte: int
    data: bytes
    state: int


class Room(Protocol):
    """What bytes can be appended to."""

    def room(self, size: int) -> memoryview:
        """Where the next bytes may go."""

    def fill(self, size: int) -> None:
        """So many of them are there."""

    def put(self, piece: bytes) -> None:
        """Append bytes."""


class Stream:
    """One source, decompressed, read forward once.

    start, head: of a part of a source, where it begins in it, and the first bytes of the whole;
    name: the path as given, an archive's members as "file.zip/member"; bytes, sha256: of what was read so far;
    line: the number of the line that `lines` has come to, 0 before; fault: None, or the Fault that ended it early;
    position(): how many bytes of the file, compressed as it may be, are read;
    wide: the wide encoding that the bytes seem to be in, "UTF-16" or "UTF-32", or None;
    watch: told the number of decompressed bytes of each piece behind the head; what it raises ends the reading.
    """

    def __init__(
        self, name: str, pieces: Iterable[bytes], path: str | None = None, start: int = 0, head: bytes | None = None
    ) -> None:
        self.name = shown(name)
        self.path = path  # of a plain file
        self.start = start
        self.fault: Fault | None = None
        self.position: Callable[[], int] = lambda: self.bytes
        self.watch: Callable[[int], None] = lambda size: None
        self.plain: IO[bytes] | None = None  # where the pieces come from, when they are a file's own bytes
        self.bytes = self.line = 0
        self._pieces = iter(pieces)
        self._hash = sha256()
        self._first: list[bytes] = []
        held = 0
        while held < HEAD and (piece := self._next()):
            self._first.append(piece)
            held += len(piece)
        self.head = b"".join(self._first)[:HEAD] if head is None else head
        self.wide = wide_encoding(self.head)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def _next(self) -> bytes:
        """The next piece, at least CHUNK bytes unless it is the last one; empty at the end, whatever ended it."""
        parts: list[bytes] = []
        size = 0
        try:
            while size < CHUNK and self.fault is None and (part := next(self._pieces, b"")):
                parts.append(part)
                size += len(part)
        except Fault as fault:
            self.fault = fault
        except OSError as error:
            raise SourceError(f"{self.name}: {objects.said(error)}") from error
        piece = b"".join(parts)
        self._hash.update(piece)
        self.bytes += len(piece)
        self.watch(len(piece))
        return piece

    def chunks(self) -> Iterator[bytes]:
        """The decompressed bytes in pieces of CHUNK to some megabytes."""
        first, self._first = self._first, []
        yield from first
        while piece := self._next():
            yield piece

    def into(self, block: Room) -> Iterator[int]:
        """Append the decompressed bytes to a block, piece by piece, if possible without a copy; the size of each."""
        for piece in self.chunks() if self.plain is None else self._first:
            block.put(piece)
            yield len(piece)
        self._first = []
        while self.plain is not None:
            room = block.room(CHUNK)
            try:
                size = self.plain.readinto(room)  # type: ignore[attr-defined]
            except OSError as error:
                raise SourceError(f"{self.name}: {objects.said(error)}") from error
            if not size:
                return
            self._hash.update(room[:size])
            self.bytes += size
            self.watch(size)
            block.fill(size)
            yield size

    def lines(self, limit: int = LINE_LIMIT) -> Iterator[list[Line]]:
        """The lines that are not blank, some hundreds at a time; a byte order mark is no part of the first."""
        blank = BLANK + b"\0" if self.wide else BLANK
        number, at = 1, self.start  # of the line under way
        held: list[bytes] = []  # its bytes so far: at most limit, or RAW_LIMIT once it is too long
        size = 0
        state = WHOLE
        for chunk in self.chunks():
            if not size and not chunk.strip(blank):  # millions of blank lines may come
                number += chunk.count(b"\n")
                rest = chunk[chunk.rfind(b"\n") + 1 :]
                at += len(chunk) - len(rest)
                held, size = [rest] if rest else [], len(rest)
                continue
            out: list[Line] = []
            *ended, rest = chunk.split(b"\n")
            for data in ended:
                length = size + len(data)
                if size:
                    data = b"".join((*held, data)) if state == WHOLE else held[0]
                    held = []
                    size = 0
                if length > limit:
                    state = TOO_LONG
                    data = data[:RAW_LIMIT]
                if data.strip(blank):
                    out.append(self._line(number, at, data, state))
                state = WHOLE
                number += 1
                at += length + 1
            if rest:
                size += len(rest)
                if state == WHOLE:
                    held.append(rest)
                    if size > limit:
                        state = TOO_LONG
                        held = [b"".join(held)[:RAW_LIMIT]]
            self.line = number
            if out:
                yield out
        data = b"".join(held)
        if data.strip(blank):
            yield [self._line(number, at, data, state or UNENDED)]

    def _line(self, number: int, at: int, data: bytes, state: int) -> Line:
        at, data = without_mark(at, data)
        return Line(number, at, data[:-1] if data.endswith(b"\r") and state != TOO_LONG else data, state)

    @contextmanager
    def file(self) -> Iterator[IO[bytes]]:
        """The whole as a seekable file: the file itself when it is a plain one, else a temporary copy on disk."""
        if self.path is not None:
            for _ in self.chunks():  # for the digest
                pass
            try:
                with open(self.path, "rb") as file:
                    yield file
            except OSError as error:
                raise SourceError(f"{self.name}: {error.strerror or error}") from error
            return
        with tempfile.TemporaryFile() as copy:
            for chunk in self.chunks():
                copy.write(chunk)
            copy.seek(0)
            yield copy


def without_mark(at: int, data: bytes) -> tuple[int, bytes]:
    """The offset and the bytes of a line, behind the byte order mark if the line is the first and begins with one."""
    return (3, data[3:]) if at == 0 and data.startswith(b"\xef\xbb\xbf") else (at, data)


def shown(path: str) -> str:
    """A path as text: bytes that are not UTF-8 as \\xNN."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def wide_encoding(head: bytes) -> str | None:
    """ "UTF-16" or "UTF-32" when a text starts so: by its byte order mark, or by zeros beside its first letter."""
    if head[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "UTF-32"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "UTF-16"
    if len(head) >= 4 and (
        head[0] and head[2] and not head[1] | head[3] or head[1] and head[3] and not head[0] | head[2]
    ):
        return "UTF-16"
    return None


def expand(paths: Iterable[str], notes: list[str] | None = None) -> list[str]:
    """The files behind paths, folders and globs, each in sorted order; "-" stays.

    A folder gives the files below it that are named like logs (SUFFIXES); how many it leaves out goes to `notes`.
    Raises SourceError for a path that does not exist, a pattern without a match, and a folder without logs.
    """
    files: list[str] = []
    for path in paths:
        if path == "-":
            files.append(path)
            continue
        if objects.is_url(path):
            files += _objects(path, notes)
            continue
        hits = [path] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))
        if not hits:
            pattern = glob.has_magic(path)
            raise SourceError(f"{path}: no file matches the pattern" if pattern else f"{path}: no such file or folder")
        for hit in hits:
            if not os.path.isdir(hit):
                files.append(hit)
                continue
            found, left_out = _walk(hit)
            if not found:
                raise SourceError(
                    f"{hit}: a folder without logs (looked for {' '.join(SUFFIXES)}, also {' '.join(PACKED)})"
                )
            if left_out and notes is not None:
                notes.append(f"{hit}: {left_out} files that are not named like logs were left out")
            files += found
    return files


def _objects(url: str, notes: list[str] | None) -> list[str]:
    try:
        found, left_out = objects.expand(url, named_like_log)
    except OSError as error:
        raise SourceError(f"{url}: {objects.said(error)}") from error
    if not found:
        told = f"{left_out} objects below it, none named like a log" if left_out else "no such object, prefix or match"
        raise SourceError(f"{url}: {told}")
    if left_out and notes is not None:
        notes.append(f"{url}: {left_out} objects that are not named like logs were left out")
    return found


def _walk(folder: str) -> tuple[list[str], int]:
    found: list[str] = []
    left_out = 0
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"{folder}: {error.strerror or error}") from error
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name.startswith("."):
                continue
            inner, inner_left_out = _walk(entry.path)
            found += inner
            left_out += inner_left_out
        elif named_like_log(entry.name):
            found.append(entry.path)
        else:
            left_out += 1
    return found, left_out


def named_like_log(name: str) -> bool:
    """Whether a walk takes a file of this name: "a.jsonl", "a.csv.gz", "a.zip"; not "a.labels.jsonl"."""
    name = name.lower()
    if name.startswith("."):
        return False
    for suffix in PACKED:
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            if suffix == ".zip":
                return True
            break
    return name.endswith(SUFFIXES) and not name.endswith(SIDE_FILES)


def streams(path: str) -> Iterator[Stream]:
    """The streams of one path of `expand`: one, or one for each member of a zip archive in sorted order.

    A stream must be read before the next is asked for.  Raises SourceError when the path cannot be read.
    """
    if path == "-":
        with _standard_input() as file:
            yield Stream("-", unpacked(file, "-"))
        return
    remote = objects.is_url(path)
    try:
        with objects.opened(path) if remote else open(path, "rb") as file:
            packed = packed_as(file)
            if packed == "zip":
                with objects.opened(path, seekable=True) if remote else nullcontext(file) as archive:
                    yield from _members(path, archive)
            else:
                plain = packed is None and not path.lower().endswith(PACKED) and os.path.isfile(path)
                stream = Stream(path, unpacked(file, path), path if plain else None)
                stream.plain = file if plain else None
                if not remote and file.seekable():
                    stream.position = file.tell
                yield stream
    except OSError as error:
        raise SourceError(f"{path}: {objects.said(error)}") from error


def _standard_input() -> IO[bytes]:
    """Standard input through a file of our own: the interpreter's must be free when it ends, whoever waits for more."""
    try:
        return open(sys.stdin.buffer.fileno(), "rb", closefd=False)
    except io.UnsupportedOperation:  # something else has been put in its place
        return io.BufferedReader(sys.stdin.buffer)  # type: ignore[arg-type]


def _members(path: str, file: IO[bytes]) -> Iterator[Stream]:
    found = False
    try:
        for name, pieces in archive_members(file, lambda name: named_like_log(name.rpartition("/")[2])):
            found = True
            yield Stream(f"{path}/{name}", pieces)
    except Fault as fault:
        yield Stream(path, broken(fault))
        return
    if not found:
        raise SourceError(f"{path}: an archive without logs (looked for {' '.join(SUFFIXES)})")


def broken(fault: Fault) -> Iterator[bytes]:
    """The pieces of a stream that ends before it begins."""
    raise fault
    yield b""
