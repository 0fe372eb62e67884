"""A set of logs in parts that machines read apart: files, and byte ranges of large plain ones.

Only a format of which each line is a record by itself (BY_LINE) is cut, and only when it is not packed.  A line belongs
to the range in which it begins.  Reading the parts one after the other gives what reading the whole gives, but for
`record` and `line`, which count from the beginning of a range, and the digest of a source that was cut.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import IO, Any, NamedTuple

import numpy as np

from ingest import formats, objects
from ingest.known import Sift
from ingest.read import Reader
from ingest.sources import HEAD, SourceError, Stream, shown, streams, wide_encoding
from ingest.unpack import CHUNK, PACKED, packed_as

PART = 1 << 27  # bytes of a part, about


class Piece(NamedTuple):
    """A file, or a range of one: `name` as it was given, `place` where every machine finds it, `size` of the file in
    bytes; `start` and `stop` of a range, None for a whole file."""

    name: str
    place: str
    size: int
    start: int | None = None
    stop: int | None = None


def planned(files: Sequence[str], part_bytes: int = PART) -> list[list[Piece]]:
    """The parts of files (as `expand` gives them), in order: each some files, or one range of a file.

    SourceError for standard input, which one machine alone can read, and for a file that can't be opened.
    """
    parts: list[list[Piece]] = []
    held: list[Piece] = []
    for name, size in zip(files, _sizes(files), strict=True):
        place = name if objects.is_url(name) else os.path.abspath(name)
        whole = Piece(name, place, size)
        if size > part_bytes and _by_line(whole):
            parts += [held] if held else []
            held = []
            cuts = [*range(0, size, part_bytes), size]
            if len(cuts) > 2 and cuts[-1] - cuts[-2] < part_bytes // 2:
                del cuts[-2]
            parts += [[whole._replace(start=a, stop=b)] for a, b in zip(cuts, cuts[1:], strict=False)]
            continue
        if held and sum(map(_weight, held)) + _weight(whole) > part_bytes:
            parts.append(held)
            held = []
        held.append(whole)
    return [*parts, held] if held else parts


def _weight(piece: Piece) -> int:
    """About how many bytes there are to read."""
    return piece.size * (5 if piece.place.lower().endswith(PACKED) else 1)


def _sizes(files: Sequence[str]) -> list[int]:
    """Bytes of each file."""
    sizes = []
    for name in files:
        if name == "-":
            raise SourceError("-: standard input can't be read by workers; name files")
        try:
            sizes.append(objects.size(name) if objects.is_url(name) else os.stat(name).st_size)
        except OSError as error:
            raise SourceError(f"{name}: {objects.said(error)}") from error
    return sizes


def _by_line(piece: Piece) -> bool:
    """Whether a file may be cut between any two of its lines."""
    if piece.place.lower().endswith(PACKED):
        return False
    with _opened(piece) as file:
        if packed_as(file) is not None:
            return False
        head = file.read(HEAD)
    module = next((module for module in formats.modules() if module.sniff(head)), None)
    return getattr(module, "BY_LINE", False) and wide_encoding(head) is None


@contextmanager
def _opened(piece: Piece) -> Iterator[IO[bytes]]:
    """The file of a piece, seekable; SourceError when it can't be read or is no longer what was planned."""
    try:
        remote = objects.is_url(piece.place)
        with objects.opened(piece.place, seekable=True) if remote else open(piece.place, "rb") as file:
            _check(piece)
            yield file
            _check(piece)
    except OSError as error:
        raise SourceError(f"{piece.name}: {objects.said(error)}") from error


def _check(piece: Piece) -> None:
    place = piece.place
    size = objects.size(place) if objects.is_url(place) else os.stat(place).st_size
    if size != piece.size:
        raise SourceError(f"{piece.name}: has {size} bytes, {piece.size} when the work was shared out: it changed")


class PartReader(Reader):
    """Reads one part.  After iterating, `seen` holds what decided about repeats, `lines` the line endings of a range.

    seen: a list of (round_id, content, marked, first, same), arrays over the rounds of each batch before the repeats
    were taken out.
    """

    def __init__(self, part: Sequence[Piece], **asked: Any) -> None:
        super().__init__([], **asked)
        self.seen: list[tuple[np.ndarray, ...]] = []
        self.lines = 0
        self._part = part
        self._sift = _Watched(self.seen)

    def repeats(self, ids: np.ndarray, standing: np.ndarray, contents: np.ndarray) -> None:
        """Before iterating: rounds, with the contents that stand for them, and marked contents of earlier parts."""
        self._sift.rounds.add(ids, standing)
        self._sift.contents.add(contents, contents)

    def _streams(self) -> Iterator[Stream]:
        for piece in self._part:
            if piece.start is None:
                _check(piece)
                for stream in streams(piece.place):
                    stream.name = shown(piece.name) + stream.name.removeprefix(shown(piece.place))
                    yield stream
                _check(piece)
            else:
                yield from self._range(piece)

    def _range(self, piece: Piece) -> Iterator[Stream]:
        with _opened(piece) as file:
            head = file.read(HEAD)
            first = _first_line(file, piece.start or 0)
            yield Stream(piece.name, self._pieces(file, first, piece), start=first, head=head)

    def _pieces(self, file: IO[bytes], at: int, piece: Piece) -> Iterator[bytes]:
        """The lines that begin at `at` or later and before the end of the range."""
        stop = piece.stop or piece.size
        ended = at >= stop
        while at < stop and (data := file.read(min(CHUNK, stop - at))):
            self.lines += data.count(b"\n")
            at += len(data)
            ended = data.endswith(b"\n")
            yield data
        while not ended and (data := file.readline(CHUNK)):  # the line that goes on beyond it
            ended = data.endswith(b"\n")
            self.lines += ended
            yield data


class _Watched(Sift):
    """Keeps what it was asked and what it decided."""

    def __init__(self, seen: list[tuple[np.ndarray, ...]]) -> None:
        super().__init__()
        self._seen = seen

    def decide(self, ids: np.ndarray, contents: np.ndarray, marked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, same = super().decide(ids, contents, marked)
        self._seen.append((ids.copy(), contents.copy(), marked, first, same))  # a view would keep the whole batch
        return first, same


def _first_line(file: IO[bytes], start: int) -> int:
    """Moves a file to the first line that begins at `start` or later, and says where that is."""
    if start == 0:
        file.seek(0)
        return 0
    file.seek(start - 1)
    at = start - 1
    while data := file.readline(CHUNK):
        at += len(data)
        if data.endswith(b"\n"):
            break
    return at


def digest(piece: Piece) -> str:
    """The SHA-256 of a whole file, in hex."""
    state = sha256()
    with _opened(piece) as file:
        while data := file.read(CHUNK):
            state.update(data)
    return state.hexdigest()
