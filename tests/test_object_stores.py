"""Logs and exports in an object store: the same as in a folder, and what is said when the store does not give them."""

import gzip
import io
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import object_store
import pyarrow.parquet as pq
import pytest
import sample_warehouse
import zstandard

from analytics import export, target, warehouse
from ingest import objects
from ingest.read import Reader
from ingest.sources import SourceError, expand, streams
from ingest.write import Output
from ingest.write import write as convert

DATA = Path(__file__).parent / "data"
LOG = (DATA / "hubei.jsonl").read_bytes()
LINES = LOG.splitlines(keepends=True)


@pytest.fixture(scope="module")
def store() -> Iterator[object_store.Store]:
    with object_store.running() as store:
        store.bucket("logs")
        yield store


def put(url: str, data: bytes) -> None:
    objects.put(url, io.BytesIO(data))


def get(url: str) -> bytes:
    with objects.opened(url) as file:
        return file.read()


@pytest.fixture(scope="module")
def tree(store: object_store.Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same files in a folder and below s3://logs/tree."""
    folder = tmp_path_factory.mktemp("tree")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("b.jsonl", LINES[3])
        archive.writestr("a.jsonl.gz", gzip.compress(LINES[4]))
    files = {
        "a/x.jsonl": LINES[0] + b"broken\n", "a.jsonl.gz": gzip.compress(LINES[1]), "a-b/y.zst": b"left out",
        "a-b/y.log.zst": zstandard.compress(LINES[2]), "漢 %41.jsonl": LINES[0], "z[1].zip": packed.getvalue(),
        ".hidden/x.jsonl": LOG, "a/x.labels.jsonl": LOG, "empty.jsonl": b"", "cut.gz.jsonl": gzip.compress(LOG)[:-99],
        "rows.gz.jsonl": (DATA / "node_kwx" / "hg_04_sz_cap16.rows.jsonl.gz").read_bytes(),
    }  # fmt: skip
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    convert(Reader([DATA / "hubei.jsonl"], keep_raw=True), folder / "twin.parquet")
    for path in folder.rglob("*"):
        if path.is_file():
            put(f"s3://logs/tree/{path.relative_to(folder)}", path.read_bytes())
    return folder


def read(place: str) -> tuple[list[dict], list[dict], list[dict], list[str]]:
    """Rounds, rejects, sources and notes, with paths relative to the place."""
    reader = Reader([place])
    batches = list(reader)
    tables = [
        [row for batch in batches for row in batch.rounds.to_pylist()],
        [row for batch in batches for row in batch.rejects.to_pylist()],
        reader.sources().to_pylist(),
    ]
    for table in tables:
        for row in table:
            row["source"] = row["source"].removeprefix(place)
    return *tables, [note.removeprefix(place).replace("objects", "files") for note in reader.notes]


def test_a_prefix_reads_as_the_folder_does(tree: Path) -> None:
    here, there = read(str(tree)), read("s3://logs/tree")
    assert len(here[0]) > 4 and here[1] and len(here[2]) > 8
    assert here == there
    assert read("s3://logs/tree/")[2]


@pytest.mark.parametrize(
    "pattern", ["*.jsonl*", "a*/*.log.zst", "**/x.jsonl", "**/*.gz", "z[[]1].zip", "?/x.jsonl", "a*", ".hidden/*", "*"]
)
def test_patterns_match_as_in_a_folder(tree: Path, pattern: str) -> None:
    found = [path.removeprefix("s3://logs/tree/") for path in expand([f"s3://logs/tree/{pattern}"])]
    assert found == [os.path.relpath(path, tree) for path in expand([str(tree / pattern)])]


def test_a_bucket_and_a_key_that_looks_like_a_pattern(tree: Path) -> None:
    assert set(expand(["s3://logs/tree"])) <= set(expand(["s3://logs"]))
    assert expand(["s3://logs/tree/z[1].zip"]) == ["s3://logs/tree/z[1].zip"]
    assert expand(["s3://logs/tree/a/x.labels.jsonl"])  # a key given by name may have any name


def test_objects_are_read_in_pieces_and_failures_on_the_way_are_told(
    store: object_store.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "AHEAD", 1 << 20)
    url = "s3://logs/large/big.jsonl"
    put(url, LOG * ((5 << 20) // len(LOG)))
    store.asked.clear()
    for stream in streams(url):
        assert sum(map(len, stream.chunks())) == stream.bytes > 4 << 20
    assert 5 <= store.asked.count(("GET", "/logs/large/big.jsonl")) <= 8
    with pytest.raises(SourceError, match="^s3://logs/large/big.jsonl: no such object"):
        for stream in streams(url):
            for number, _ in enumerate(stream.chunks()):
                if number == 2:
                    objects.remove(url)


def test_the_library_repeats_what_fails_for_a_while(store: object_store.Store) -> None:
    put("s3://logs/retry/a.jsonl", LOG)
    store.asked.clear()
    store.fail = 1
    for stream in streams("s3://logs/retry/a.jsonl"):
        assert b"".join(stream.chunks()) == LOG
    assert store.fail == 0 and store.asked[0] == store.asked[1]


def test_what_cannot_be_read_is_said_in_words(store: object_store.Store, tree: Path) -> None:
    put("s3://logs/words/notes.md", b"")
    for url, words in (
        ("s3://no-such-bucket/a.jsonl", "no such bucket"),
        ("s3://no-such-bucket", "no such bucket"),
        ("s3://logs/none.jsonl", "no such object"),
        ("s3://logs/none/*.jsonl", "no such object, prefix or match"),
        ("s3://logs/words", "1 objects below it, none named like a log"),
        ("s3://key:secret@logs/a.jsonl", "is no name of a bucket"),
        ("s3://", "expected s3://BUCKET/KEY"),
        ("s3://logs/a//b", "an empty part"),
    ):
        with pytest.raises(SourceError, match=words) as error:
            list(Reader([url]))
        assert str(error.value).startswith(f"{url}: ")


def test_a_store_that_refuses_or_is_not_there(
    store: object_store.Store, tree: Path, monkeypatch: pytest.MonkeyPatch, cli
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    objects._store.cache_clear()
    for url in ("s3://logs/tree/a/x.jsonl", "s3://logs/tree/*"):
        ran = cli("check", url)
        assert ran.code == 2 and not ran.out
        assert ran.err.startswith(f"kwx: {url}: access denied, or no credentials") and ran.err.count("\n") == 1
    objects._store.cache_clear()
    other = OSError(
        "When getting information for key 'a' in bucket 'b': AWS Error NETWORK_CONNECTION during HeadObject operation: "
        "curlCode: 7, Could not connect to server; Details: Failed to connect to 127.0.0.1 port 9"
    )  # what the library says after six seconds of trying
    assert objects.said(other) == "the store cannot be reached: Failed to connect to 127.0.0.1 port 9"


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_converted_objects_are_the_files(store: object_store.Store, tmp_path: Path, suffix: str, cli) -> None:
    for place in (str(tmp_path), "s3://logs/converted"):
        assert cli("convert", DATA / "hubei.jsonl", "-o", f"{place}/log{suffix}").code == 0
    assert get(f"s3://logs/converted/log{suffix}") == (tmp_path / f"log{suffix}").read_bytes()


def test_a_conversion_that_fails_stores_nothing(store: object_store.Store, cli) -> None:
    with pytest.raises(ZeroDivisionError), Output("s3://logs/half/log.jsonl") as output:
        for batch in Reader([DATA / "hubei.jsonl"]):
            output.add(batch.rounds)
        raise ZeroDivisionError
    with pytest.raises(OSError), objects.opened("s3://logs/half/log.jsonl"):
        pass
    ran = cli("convert", DATA / "hubei.jsonl", "-o", "s3://no-such-bucket/log.jsonl")
    assert (ran.code, ran.err.splitlines()[-1]) == (2, "kwx: s3://no-such-bucket/log.jsonl: no such bucket")


def test_an_upload_that_breaks_off_leaves_no_object(store: object_store.Store) -> None:
    class Breaks(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise KeyboardInterrupt
            return super().read(1000)

    with pytest.raises(KeyboardInterrupt):
        objects.put("s3://logs/half/broken", Breaks(bytes(5000)))
    assert objects.listing("s3://logs/half") == []


def test_an_export_is_the_same_in_a_bucket(store: object_store.Store, tmp_path: Path) -> None:
    db = sample_warehouse.build(tmp_path / "kwx.duckdb")
    place = "s3://logs/export/of/rounds"
    counts = export.write(db, place)
    assert counts == export.write(db, tmp_path / "here")
    files = {path.relative_to(tmp_path / "here").as_posix(): path.read_bytes()
             for path in (tmp_path / "here").rglob("*.*")}  # fmt: skip
    assert {url.removeprefix(f"{place}/"): get(url) for url in objects.listing(place)} == files
    files_in, path = objects.store(f"{place}/rounds")
    assert pq.read_table(path, filesystem=files_in).num_rows == counts["rounds"]

    put(f"{place}/rounds/ruleset=gone/part-0.parquet", b"of an earlier export")
    objects.remove(f"{place}/{target.MARK}")
    put(f"{place}/{target.UNDER_WAY}", b"{}")  # an export that broke off
    export.write(db, place)
    assert {url.removeprefix(f"{place}/"): get(url) for url in objects.listing(place)} == files
    assert json.loads(get(f"{place}/{target.MARK}"))["digest"] == warehouse.digest(db)


def test_an_export_replaces_nothing_else(store: object_store.Store, tmp_path: Path, cli) -> None:
    put("s3://logs/letters/letter.txt", b"keep")
    ran = cli("run", DATA / "hubei.jsonl", "--db", tmp_path / "db", "--parquet", "s3://logs/letters")
    assert (ran.code, ran.err) == (2, "kwx: s3://logs/letters: holds other objects and is no Parquet export of kwx\n")
    assert not (tmp_path / "db").exists()  # told before the load
    assert get("s3://logs/letters/letter.txt") == b"keep"
