"""Compressed files and archives to pieces of their bytes: gzip, zstd, and the members of a zip archive.

Each step is bounded in what it can give at once, so a file that expands a million times takes no more memory than
another.  A file that is cut or damaged gives what comes before that place and then raises Fault.
"""

import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO

import zstandard

CHUNK = 1 << 18  # bytes read at a time
STEP = 512  # compressed bytes unpacked at a time
PACKED = (".gz", ".zst", ".zip")


class Fault(Exception):
    """Why a stream ends early: a reject code (truncated, corrupt) and a message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def packed_as(file: IO[bytes]) -> str | None:
    """ "gzip", "zstd", "zip" or None, by the first bytes of a file that can be peeked at."""
    magic = file.peek(4)[:4]  # type: ignore[attr-defined]
    if magic[:2] == b"\x1f\x8b":
        return "gzip"
    if magic == b"\x28\xb5\x2f\xfd" or (magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5):  # a frame, or one to skip
        return "zstd"
    return "zip" if magic in (b"PK\x03\x04", b"PK\x05\x06") else None


def unpacked(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The decompressed pieces of a file that is plain, gzip or zstd."""
    packed = packed_as(file)
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
    inflate = zlib.decompressobj(wbits=31)
    fresh = True
    while data := file.read(CHUNK):
        # A failing call gives nothing of what it unpacked, so each gets little.
        for part in _parts(data):
            while part:
                if fresh and not (part := part.lstrip(b"\0")):
                    break
                fresh = False
                try:
                    piece = inflate.decompress(part, CHUNK)
                except zlib.error as error:
                    raise Fault("corrupt", f"not valid gzip data ({error})") from error
                if piece:
                    yield piece
                part = inflate.unconsumed_tail
                if inflate.eof:
                    part = inflate.unused_data
                    inflate = zlib.decompressobj(wbits=31)
                    fresh = True
    if not fresh:
        raise Fault("truncated", "the gzip file is cut: its end is missing")


def _parts(data: bytes) -> Iterator[bytes]:
    return (data[at : at + STEP] for at in range(0, len(data), STEP))


def _unzstd(file: IO[bytes]) -> Iterator[bytes]:
    """A zstd file of one or more frames."""
    # The one-shot object says whether a frame is complete, which the library's reader does not; fed a little at a
    # time it cannot give much more than 16 MB at once (a 4-byte block may stand for 128 KiB).
    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    frame = unpacker.decompressobj()
    fresh = True
    while data := file.read(CHUNK):
        for part in _parts(data):
            while part:
                try:
                    piece = frame.decompress(part)
                except zstandard.ZstdError as error:
                    raise Fault("corrupt", f"not valid zstd data ({error})") from error
                fresh = False
                if piece:
                    yield piece
                part = b""
                if frame.eof:
                    part = frame.unused_data
                    frame = unpacker.decompressobj()
                    fresh = True
    if not fresh:
        raise Fault("truncated", "the zstd file is cut: its end is missing")


def archive_members(file: IO[bytes], wanted: Callable[[str], bool]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, pieces) of the members of a zip archive that are wanted, by name; Fault when there is no archive."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OverflowError) as error:
        raise Fault("truncated", f"the zip archive is cut or not one ({error})") from error
    for info in sorted(archive.infolist(), key=lambda info: info.filename):
        if not info.is_dir() and wanted(info.filename):
            yield info.filename, _member(archive, info)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    if info.flag_bits & 1:
        raise Fault("corrupt", "an encrypted member of the archive: unpack it first")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        # The other methods can give gigabytes at once.
        raise Fault("corrupt", "a member of the archive is packed by a method other than deflate: unpack it first")
    try:
        with archive.open(info) as member:
            yield from unpacked(io.BufferedReader(member, CHUNK), info.filename)  # type: ignore[arg-type]
    except EOFError as error:
        raise Fault("truncated", "the member of the archive is cut") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, ValueError) as error:
        raise Fault("corrupt", f"a member of the archive does not unpack ({error})") from error
