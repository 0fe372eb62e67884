"""The rows of a scanned block column by column, and the texts that they point at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.formats import kwx_rows as kw
from ingest.formats.kwx_rows import ROW, Block, Scanner


class Raws(Sequence):
    """The bytes of lines of a block, made when they are asked for."""

    def __init__(self, data: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> None:
        self._data, self._starts, self._stops = data, starts, stops

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, row: Any) -> bytes:
        return self._data[self._starts[row] : self._stops[row]].tobytes()


def texts(
    data: np.ndarray, starts: np.ndarray, sizes: np.ndarray, scanner: Scanner, kind: pa.DataType | None = None
) -> pa.Array:
    """The texts [start, start + size) of a block as an array, null where a size is negative."""
    there = sizes >= 0
    full = there.all()
    lengths = sizes if full else np.where(there, sizes, 0)
    offsets = np.zeros(len(sizes) + 1, np.int64 if kind == pa.large_string() else np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return pa.Array.from_buffers(
        kind or pa.string(), len(sizes),
        [None if full else bits(there), pa.py_buffer(offsets), pa.py_buffer(scanner.gather(data, starts, lengths))],
    )  # fmt: skip


def bits(there: np.ndarray) -> pa.Buffer:
    """The validity bitmap of a column."""
    return pa.py_buffer(np.packbits(there, bitorder="little"))


class Columns:
    """The rows of a block column by column: int64[n], or int64[k, n] where a row has k values."""

    def __init__(self, block: Block, scanner: Scanner) -> None:
        self.block, self.scanner = block, scanner
        self.rows = block.rows[: block.place[kw.COUNT]]
        self._words = scanner.turn(self.rows)

    def keep(self, kept: np.ndarray) -> None:
        """Leave out rows: bool[n] of all of the block's."""
        self.rows, self._words = self.rows[kept], np.compress(kept, self._words, axis=1)

    def __getitem__(self, name: str) -> np.ndarray:
        kind, place = ROW.fields[name][:2]  # type: ignore[index]
        words = kind.itemsize // 8
        return self._words[place // 8] if words == 1 else self._words[place // 8 : place // 8 + words]

    def text(self, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Starts and sizes of a text."""
        both = self["text"]
        return both[2 * which], both[2 * which + 1]

    def repeated(self, which: int) -> tuple[np.ndarray, list[str]]:
        """A text column that repeats itself: code of each row, and the distinct texts; "" where there is none."""
        starts, sizes = self.text(which)
        sizes, data = np.maximum(sizes, 0), self.block.data
        codes, firsts = self.scanner.codes(data, starts, sizes)
        return codes, [data[starts[at] : starts[at] + sizes[at]].tobytes().decode() for at in firsts.tolist()]

    def texts(self, which: int) -> pa.Array:
        """A text column, null where there is none."""
        starts, sizes = self.text(which)
        return pa.nulls(len(sizes), pa.string()) if (sizes < 0).all() else texts(
            self.block.data, starts, sizes, self.scanner)  # fmt: skip
