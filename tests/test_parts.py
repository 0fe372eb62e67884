"""Logs in parts: each line in exactly one, and together what the whole gives."""

import gzip
from hashlib import sha256
from pathlib import Path

import pytest

from ingest.formats.kwx_rows import Scanner
from ingest.parts import PartReader, Piece, digest, planned
from ingest.read import Reader
from ingest.sources import LINE_LIMIT, SourceError
from replay.scan import fastest

DATA = Path(__file__).parent / "data"
LINES = (DATA / "hubei.jsonl").read_bytes().splitlines(keepends=True)
MARK = b"\xef\xbb\xbf"


SCANNERS = {"exact": None, "scanned": fastest}


def whole(path: Path) -> tuple[list[dict], list[dict], dict]:
    reader = Reader([path])
    batches = list(reader)
    return (
        [row for batch in batches for row in batch.rounds.to_pylist()],
        [row for batch in batches for row in batch.rejects.to_pylist()],
        reader.sources().to_pylist()[0],
    )


def joined(path: Path, size: int, scanner: Scanner | None) -> tuple[list[dict], list[dict], dict]:
    """The same from parts of `size` bytes."""
    rounds, rejects = [], []
    lines = records = read = 0
    for part in planned([str(path)], size):
        reader = PartReader(part, scanner=scanner)
        for batch in reader:
            for row in (new := batch.rounds.to_pylist()) + (wrong := batch.rejects.to_pylist()):
                row["line"] += lines
                row["record"] += records
            rounds += new
            rejects += wrong
        [source] = reader.sources().to_pylist()
        records += source["records"]
        read += source["bytes"]
        lines += reader.lines
    source |= {"bytes": read, "sha256": digest(part[0]), "records": records, "repeats": 0}
    return rounds, rejects, source | {"rounds": len(rounds), "rejects": len(rejects)}


LOGS = {
    "plain": b"".join(LINES),
    "no ending": b"".join(LINES)[:-1],
    "cut": b"".join(LINES)[:-40],
    "mark": MARK + b"".join(LINES),
    "mark inside": LINES[0] + MARK + LINES[1] + LINES[2],
    "blank lines": b"\n \n" + b"\r\n\n".join(LINES) + b"\n\n\n",
    "other bytes": LINES[0] + b"\xff\xfe broken\n" + LINES[1] + b'{"kwx":1,"game":"\xff"}\n' + LINES[2],
    "long line": LINES[0] + b"[" * (LINE_LIMIT + 9000) + b"\n" + LINES[1] + b"\n" + LINES[2],
    "nothing but blanks": b'{"kwx":' + b"\n" * 5000,
}


@pytest.mark.parametrize("scanner", SCANNERS)
@pytest.mark.parametrize("name", LOGS)
def test_ranges_give_what_the_whole_gives(name: str, scanner: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOGS[name])
    expected = whole(path)
    size, first = len(LOGS[name]), len(LINES[0])
    # at a line's first byte, before and behind it; inside; one line in several parts; in the blanks at the end
    sizes = {1500, first - 1, first, first + 1, size // 3, size - 2, size}
    for part in sizes if size < 1 << 20 else {size // 9, 65536}:
        assert joined(path, part, SCANNERS[scanner]) == expected, part


def test_every_line_is_in_one_part_wherever_it_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"kwx":1}\n' + b"".join(b"%d\n" % number * (number % 3) for number in range(60)))
    size = path.stat().st_size
    everything = [row["raw"] for row in whole(path)[1]]
    for at in range(1, size):
        pieces = [Piece("x", str(path), size, 0, at), Piece("x", str(path), size, at, size)]
        found = [row["raw"] for piece in pieces for batch in PartReader([piece]) for row in batch.rejects.to_pylist()]
        assert found == everything, at


def test_only_what_may_be_cut_is_cut(tmp_path: Path) -> None:
    data = b"".join(LINES)
    files = {
        "a.jsonl": data, "b.jsonl": LINES[0], "c.jsonl": LINES[1], "d.jsonl.gz": gzip.compress(data),
        "e.jsonl": gzip.compress(data * 2), "f.jsonl": data.decode().encode("utf-16"), "g.csv": b"game,record\n" * 999,
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    parts = planned([str(tmp_path / name) for name in files], part_bytes=len(data) // 2)
    assert [[Path(piece.name).name for piece in part] for part in parts] == [
        ["a.jsonl"], ["a.jsonl"], ["b.jsonl", "c.jsonl"], ["d.jsonl.gz"], ["e.jsonl"], ["f.jsonl"], ["g.csv"],
    ]  # fmt: skip
    assert [(piece.start, piece.stop) for [piece] in parts[:2]] == [
        (0, len(data) // 2), (len(data) // 2, len(data)),
    ]  # fmt: skip
    assert {piece.start for part in parts[2:] for piece in part} == {None}
    assert digest(parts[0][0]) == sha256(data).hexdigest()


def test_what_workers_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="standard input can't be read by workers"):
        planned(["-"])
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINES[0])
    for size in (10, len(LINES[0])):
        [*_, part] = planned([str(path)], size)
        path.write_bytes(path.read_bytes() + LINES[1])
        with pytest.raises(SourceError, match="it changed"):
            list(PartReader(part))
