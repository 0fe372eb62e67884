"""Paths to streams: what is found, how it is unpacked, what is said of broken files, and how much memory it takes."""

import gzip
import io
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import zstandard

from ingest.read import Reader
from ingest.sources import LINE_LIMIT, TOO_LONG, UNENDED, WHOLE, SourceError, Stream, expand, named_like_log, streams

DATA = Path(__file__).parent / "data"
LOG = (DATA / "hubei.jsonl").read_bytes()
LINES = LOG.splitlines()

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def read(*paths: Path | str, **asked: object) -> tuple[list[dict], list[dict], list[dict]]:
    """Rounds, rejects and sources as rows."""
    reader = Reader([str(path) for path in paths], **asked)
    batches = list(reader)
    rounds = [row for batch in batches for row in batch.rounds.to_pylist()]
    rejects = [row for batch in batches for row in batch.rejects.to_pylist()]
    sources = reader.sources().to_pylist()
    for source in sources:
        assert source["records"] == source["rounds"] + source["repeats"] + source["rejects"]
    assert sum(source["rounds"] for source in sources) == len(rounds)
    assert sum(source["rejects"] for source in sources) == len(rejects)
    return rounds, rejects, sources


@pytest.mark.parametrize("suffix", PACK)
def test_plain_and_packed_files_give_the_same_stream(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    path.write_bytes(PACK[suffix](LOG))
    rounds, rejects, [source] = read(path)
    assert [row["byte"] for row in rounds] == [LOG.index(line) for line in LINES]
    assert [row["line"] for row in rounds] == list(range(1, len(LINES) + 1))
    assert not rejects
    assert (source["bytes"], source["sha256"]) == (len(LOG), sha256(LOG).hexdigest())
    assert (source["source"], source["format"]) == (str(path), "kwx")


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_several_members_or_frames_are_one_stream(tmp_path: Path, suffix: str) -> None:
    half = LOG.index(LINES[2])
    path = tmp_path / "log"  # what a file is, its bytes say
    path.write_bytes(PACK[suffix](LOG[:half]) + PACK[suffix](LOG[half:]))
    assert len(read(path)[0]) == len(LINES)


def test_zeros_may_follow_a_gzip_file(tmp_path: Path) -> None:
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(LOG) + bytes(2000))
    assert len(read(path)[0]) == len(LINES) and not read(path)[1]


def test_zip_members_are_sources_in_sorted_order(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    inside = {
        "b.jsonl": LINES[0] + b"\n",
        "a/c.jsonl.gz": gzip.compress(LINES[1]),
        "a/b.jsonl.zst": zstandard.compress(LINES[2]),
        "README.md": b"words",
        "__MACOSX/._b.jsonl": b"\0\1",
        ".hidden.jsonl": b"no",
    }
    path.write_bytes(zipped(inside))
    rounds, rejects, sources = read(path)
    assert [source["source"] for source in sources] == [
        f"{path}/{name}" for name in ("a/b.jsonl.zst", "a/c.jsonl.gz", "b.jsonl")
    ]
    assert len(rounds) == 3 and not rejects


def test_folders_and_patterns_are_walked_in_sorted_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.csv", "a/b.sql.gz", "a/notes.md", ".git/c.jsonl", "x.labels.jsonl", "c.PARQUET"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    notes: list[str] = []
    names = [os.path.relpath(path, tmp_path) for path in expand([str(tmp_path)], notes)]
    assert names == ["a/b.sql.gz", "a/z.csv", "b.jsonl", "c.PARQUET"]
    assert notes == [f"{tmp_path}: 2 files that are not named like logs were left out"]
    found = expand([str(tmp_path / "**" / "*.csv"), "-", str(tmp_path / "?.jsonl")])
    assert found == [str(tmp_path / "a" / "z.csv"), "-", str(tmp_path / "b.jsonl")]


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path: Path) -> None:
    path = tmp_path / "day[1].jsonl"
    path.write_bytes(LOG)
    assert expand([str(path)]) == [str(path)]


@pytest.mark.parametrize(
    ("name", "taken"),
    [("a.jsonl", True), ("A.JSON.GZ", True), ("a.zip", True), ("a.csv.zst", True), ("a.labels.jsonl", False),
     ("a.gz", False), ("a.md", False), ("jsonl", False)],
)  # fmt: skip
def test_names_of_logs(name: str, taken: bool) -> None:
    assert named_like_log(name) is taken


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (LOG, gzip.compress(LOG), zstandard.compress(LOG)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        rounds, _, [source] = read("-")
        assert len(rounds) == len(LINES) and source["source"] == "-"


def test_what_cannot_be_read_is_said_in_words(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "words.zip").write_bytes(zipped({"README.md": b""}))
    for path, words in (
        (tmp_path / "none.jsonl", "no such file or folder"),
        (tmp_path / "*.none", "no file matches the pattern"),
        (empty, "a folder without logs"),
        (tmp_path / "words.zip", "an archive without logs"),
    ):
        with pytest.raises(SourceError, match=words) as error:
            list(Reader([path]))
        assert str(path) in str(error.value)


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the system's answer is given here."""
    path = tmp_path / "log.jsonl"
    path.touch(0)

    def refused(*arguments: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(SourceError, match="ermission"):
        list(Reader([path]))


def test_an_empty_file_is_a_source_without_records(tmp_path: Path) -> None:
    for name, data, words in (
        ("a", b"", "an empty file"),
        ("b", b"\n \r\n\t\n", "no records"),
        ("c.gz", b"", "an empty file"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        reader = Reader([path])
        assert not list(reader)
        assert reader.notes == [f"{path}: {words}"]
        assert reader.sources().to_pylist()[0]["records"] == 0


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.97, 0.999])
def test_a_cut_compressed_file_keeps_what_came_before(tmp_path: Path, suffix: str, kept: float) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    noisy = b"".join(b'%b,"_n":"%b"}\n' % (line[:-1], sha256(line).hexdigest().encode()) for line in LINES)
    packed = PACK[suffix](noisy)
    path.write_bytes(packed[: int(len(packed) * kept)])
    rounds, rejects, _ = read(path)
    assert len(rounds) <= len(LINES) and (rounds or kept < 0.99)  # zstd gives whole blocks
    assert [row["code"] for row in rejects] == ["truncated"]
    assert "cut" in rejects[0]["message"]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_damage_in_the_middle_ends_the_stream(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    noise = [b"".join(sha256(line + b"%d" % at).hexdigest().encode() for at in range(999)) for line in LINES]
    noisy = b"".join(b'%b,"_n":"%b"}\n' % (line[:-1], more) for line, more in zip(LINES, noise, strict=True))
    packed = bytearray(PACK[suffix](noisy))
    packed[len(packed) // 2] ^= 0x55
    path.write_bytes(packed)
    rounds, rejects, _ = read(path)
    assert rounds
    assert rejects[-1]["code"] in ("corrupt", "truncated")
    assert f"not valid {'gzip' if suffix == '.gz' else 'zstd'} data" in rejects[-1]["message"]


@pytest.mark.parametrize(
    ("name", "data", "code", "words"),
    [
        ("log.jsonl.gz", b"not packed", "corrupt", "named like a gzip file"),
        ("log.zst", b"not packed", "corrupt", "named like a zstd file"),
        ("log.zip", b"not packed", "corrupt", "named like a zip file"),
        ("log.zip", zipped({"a.jsonl": LOG})[:-30], "truncated", "zip archive is cut"),
        ("log.zip", zipped({"a.zip": zipped({"b.jsonl": LOG})}), "corrupt", "archive inside an archive"),
        ("log.zip", zipped({"a.jsonl": LOG}, zipfile.ZIP_BZIP2), "corrupt", "other than deflate"),
        ("log.zip", zipped({"a.jsonl": LOG}, zipfile.ZIP_STORED).replace(b"kwx", b"kwy", 1), "corrupt", "CRC"),
    ],
)
def test_archives_that_do_not_unpack(tmp_path: Path, name: str, data: bytes, code: str, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    _, rejects, _ = read(path)
    assert rejects[-1]["code"] == code
    assert words in rejects[-1]["message"]


def test_a_zip_that_asks_for_a_password(tmp_path: Path) -> None:
    data = bytearray(zipped({"a.jsonl": LOG}))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "log.zip"
    path.write_bytes(data)
    assert "encrypted" in read(path)[1][0]["message"]


def lines_of(data: bytes, size: int, limit: int = LINE_LIMIT) -> list[tuple]:
    """The lines of data that comes in pieces of a size."""
    stream = Stream("x", (data[at : at + size] for at in range(0, len(data), size)))
    return [tuple(line) for lines in stream.lines(limit) for line in lines]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_do_not_depend_on_the_pieces(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.sources.CHUNK", size)
    monkeypatch.setattr("ingest.sources.HEAD", 0)
    monkeypatch.setattr("ingest.sources.RAW_LIMIT", 5)  # never above the limit of a line
    data = b"\xef\xbb\xbfone\r\n\r\n  \ntwo\n" + b"y" * 30 + b"\nthree \r\nz"
    assert lines_of(data, size, limit=20) == [
        (1, 3, b"one", WHOLE),
        (4, 13, b"two", WHOLE),
        (5, 17, b"yyyyy", TOO_LONG),
        (6, 48, b"three ", WHOLE),
        (7, 56, b"z", UNENDED),
    ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_text_is_named(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LOG.decode().encode(encoding))
    rounds, rejects, _ = read(path)
    assert not rounds
    assert {row["code"] for row in rejects} == {"not_utf8"}
    assert "save it as UTF-8" in rejects[0]["message"]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/log\xff.jsonl"
    with open(path, "wb") as file:
        file.write(LOG)
    assert read(os.fsdecode(path))[2][0]["source"].endswith("log\\xff.jsonl")


PEAK = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from ingest.read import Reader
list(Reader([sys.argv[3]]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reader = Reader([sys.argv[2]])
codes = [code for batch in reader for code in batch.rejects.column("code").to_pylist()]
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) // 1024, *sorted(set(codes)), reader.sources()["bytes"].to_pylist()[0])
"""


def peak(path: Path) -> list[str]:
    """Megabytes that reading a file adds to a process, the codes it gives, the bytes it unpacks to."""
    arguments = [sys.executable, "-c", PEAK, str(DATA.parent.parent), str(path), str(DATA / "hubei.jsonl")]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.split()


def test_a_line_of_a_gigabyte_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.zst"
    with open(path, "wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packed:
        packed.write(b'{"kwx":1,"game":"')
        for _ in range(1024):
            packed.write(b"x" * (1 << 20))
    megabytes, *codes, size = peak(path)
    assert codes == ["too_long"] and int(size) > 1 << 30
    assert int(megabytes) < 100


@pytest.mark.parametrize(
    "member", [b"\0" * (1 << 20), b"\n" * (1 << 20), b"[" * (1 << 19) + b"\n"], ids=["0", "n", "["]
)
def test_bombs_take_little_memory(tmp_path: Path, member: bytes) -> None:
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("a.jsonl", "w") as file,
    ):
        for _ in range(100):
            file.write(member)
    megabytes, *codes, size = peak(path)
    assert codes in (["too_long"], [], ["bad_json"]) and int(size) == 100 * len(member)
    assert int(megabytes) < 100


def test_streams_of_a_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        next(streams(str(tmp_path)))
