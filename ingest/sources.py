"""Paths to byte streams with positions: files, folders, globs, standard input, .gz, .zst and .zip.

Everything is read in pieces of at most a few hundred kilobytes, so memory does not depend on the size of a source, of
a line, or on how far a compressed file expands.  What a compressed file is, its first bytes say, not its name.
Two kinds of failure are told apart: a path that cannot be read at all raises SourceError; a stream that breaks off or
does not decompress ends there, and its `fault` says why: what came before it is read.
"""

import glob
import io
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, NamedTuple

import zstandard

from ingest.rejects import RAW_LIMIT

CHUNK = 1 << 18  # bytes read, and at most given on, at a time
HEAD = 1 << 16  # bytes that a format sees before it says whether a source is its own
LINE_LIMIT = 1 << 20  # bytes of a line, unless a format says otherwise
BLANK = b" \t\r\n\v\f"
# Names that a walk through a folder or an archive takes for logs; paths given one by one may have any name.
SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".sql", ".log", ".txt", ".parquet")
PACKED = (".gz", ".zst", ".zip")
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


class Fault(Exception):
    """Why a stream ends early: a reject code (truncated, corrupt) and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


class Stream:
    """One source, decompressed, read forward once.

    name: the path as given, an archive's members as "file.zip/member"; bytes, sha256: of what was read so far;
    fault: None, or the Fault that ended it early; wide: the UTF-16 encoding that the bytes seem to be in, or None.
    """

    def __init__(self, name: str, pieces: Iterable[bytes], path: str | None = None) -> None:
        self.name = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self.path = path  # of a plain file
        self.fault: Fault | None = None
        self.bytes = 0
        self._pieces = iter(pieces)
        self._hash = sha256()
        self._first: list[bytes] = []
        held = 0
        while held < HEAD and (piece := self._next()):
            self._first.append(piece)
            held += len(piece)
        self.head = b"".join(self._first)[:HEAD]
        self.wide = wide_encoding(self.head)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def _next(self) -> bytes:
        """The next piece; empty at the end, whatever ended it."""
        try:
            piece = next((piece for piece in self._pieces if piece), b"")
        except Fault as fault:
            self.fault = fault
            return b""
        except OSError as error:
            raise SourceError(f"{self.name}: {error.strerror or error}") from error
        self._hash.update(piece)
        self.bytes += len(piece)
        return piece

    def chunks(self) -> Iterator[bytes]:
        """The decompressed bytes in pieces of any size up to a few hundred kilobytes."""
        first, self._first = self._first, []
        yield from first
        while piece := self._next():
            yield piece

    def lines(self, limit: int = LINE_LIMIT) -> Iterator[list[Line]]:
        """The lines that are not blank, some hundreds at a time; a byte order mark is no part of the first."""
        blank = BLANK + b"\0" if self.wide else BLANK
        number, at = 1, 0  # of the line under way
        held: list[bytes] = []  # its bytes so far: at most limit, or RAW_LIMIT once it is too long
        size = 0
        state = WHOLE
        for chunk in self.chunks():
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
            if out:
                yield out
        data = b"".join(held)
        if data.strip(blank):
            yield [self._line(number, at, data, state or UNENDED)]

    def _line(self, number: int, at: int, data: bytes, state: int) -> Line:
        if at == 0 and data.startswith(b"\xef\xbb\xbf"):
            at, data = 3, data[3:]
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


def _walk(folder: str) -> tuple[list[str], int]:
    found: list[str] = []
    left_out = 0
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"{folder}: {error.strerror or error}") from error
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
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
        stdin = sys.stdin.buffer
        yield Stream("-", _unpacked(stdin if hasattr(stdin, "peek") else io.BufferedReader(stdin), "-"))
        return
    try:
        with open(path, "rb") as file:
            if file.peek(4)[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
                yield from _members(path, file)
            else:
                plain = not _packed_as(file) and not path.lower().endswith(PACKED)
                seekable = plain and os.path.isfile(path)
                yield Stream(path, _unpacked(file, path), path if seekable else None)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error


def _packed_as(file: IO[bytes]) -> str | None:
    magic = file.peek(4)[:4]  # type: ignore[attr-defined]
    if magic[:2] == b"\x1f\x8b":
        return "gzip"
    if magic == b"\x28\xb5\x2f\xfd" or (magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):  # a frame, or one to skip
        return "zstd"
    return "zip" if magic in (b"PK\x03\x04", b"PK\x05\x06") else None


def _unpacked(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The decompressed pieces of a file that is plain, gzip or zstd."""
    packed = _packed_as(file)
    if packed == "gzip":
        yield from _gunzip(file)
    elif packed == "zstd":
        yield from _unzstd(file)
    elif packed == "zip":
        raise Fault("corrupt", "a zip archive inside an archive or on standard input is not read: unpack it first")
    elif name.lower().endswith(PACKED) and file.peek(1):  # type: ignore[attr-defined]
        kind = {".gz": "gzip", ".zst": "zstd", ".zip": "zip"}[os.path.splitext(name)[1].lower()]
        raise Fault("corrupt", f"named like a {kind} file, but not one")
    else:
        while piece := file.read(CHUNK):
            yield piece


def _gunzip(file: IO[bytes]) -> Iterator[bytes]:
    """A gzip file of one or more members, zeros after them allowed."""
    data = file.read(CHUNK)
    while data:
        inflate = zlib.decompressobj(wbits=31)
        while not inflate.eof:
            try:
                piece = inflate.decompress(data, CHUNK)
            except zlib.error as error:
                raise Fault("corrupt", f"not valid gzip data ({error})") from error
            data = inflate.unconsumed_tail
            if piece:
                yield piece
            if not data and not inflate.eof:
                data = file.read(CHUNK)
                if not data:
                    raise Fault("truncated", "the gzip file is cut: its end is missing")
        data = (inflate.unused_data or file.read(CHUNK)).lstrip(b"\0")
        while not data and (more := file.read(CHUNK)):
            data = more.lstrip(b"\0")


def _unzstd(file: IO[bytes]) -> Iterator[bytes]:
    """A zstd file of one or more frames."""
    # The one-shot object says whether a frame is complete, which the library's reader does not; fed a little at a
    # time it cannot give much more than 16 MB at once (a 4-byte block may stand for 128 KiB).
    step = 512
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = unpacker.decompressobj()
    fresh = True
    while data := file.read(CHUNK):
        at = 0
        out: list[bytes] = []
        size = 0
        while at < len(data):
            part = data[at : at + step]
            at += len(part)
            while part:
                try:
                    piece = frame.decompress(part)
                except zstandard.ZstdError as error:
                    if out:
                        yield b"".join(out)
                    raise Fault("corrupt", f"not valid zstd data ({error})") from error
                fresh = False
                out.append(piece)
                size += len(piece)
                part = b""
                if frame.eof:
                    part = frame.unused_data
                    frame = unpacker.decompressobj()
                    fresh = True
            if size >= CHUNK:
                yield b"".join(out)
                out, size = [], 0
        if size:
            yield b"".join(out)
    if not fresh:
        raise Fault("truncated", "the zstd file is cut: its end is missing")


def _members(path: str, file: IO[bytes]) -> Iterator[Stream]:
    """The members of a zip archive that are named like logs."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError, EOFError, OverflowError) as error:
        yield Stream(path, _broken(Fault("truncated", f"the zip archive is cut or not one ({error})")))
        return
    infos = sorted(
        (info for info in archive.infolist() if not info.is_dir() and named_like_log(os.path.basename(info.filename))),
        key=lambda info: info.filename,
    )
    for info in infos:
        yield Stream(f"{path}/{info.filename}", _member(archive, info))
    if not infos:
        raise SourceError(f"{path}: an archive without logs (looked for {' '.join(SUFFIXES)})")


def _broken(fault: Fault) -> Iterator[bytes]:
    raise fault
    yield b""


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if info.flag_bits & 1:
        raise Fault("corrupt", "an encrypted member of the archive: unpack it first")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The other methods can give gigabytes at once.
        raise Fault("corrupt", "a member of the archive is packed by a method other than deflate: unpack it first")
    try:
        with archive.open(info) as member:
            yield from _unpacked(io.BufferedReader(member, CHUNK), info.filename)  # type: ignore[arg-type]
    except EOFError as error:
        raise Fault("truncated", "the member of the archive is cut") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError) as error:
        raise Fault("corrupt", f"a member of the archive does not unpack ({error})") from error
