"""Logs through real worker processes: the same data set as on one machine, whatever dies on the way."""

import contextlib
import gzip
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import cloudpickle
import object_store
import pytest
import sample_warehouse
from distributed import Client, Scheduler

from analytics import export, warehouse
from analytics.cluster import partition, work, workers
from analytics.cluster.load import load
from analytics.cluster.merge import Merged
from analytics.cluster.work import Asked
from analytics.cluster.workers import ClusterError, connected
from ingest import objects
from ingest.parts import planned
from ingest.read import Reader
from ingest.write import write as convert
from replay import ruleset, scan
from replay.simulate import write as simulate

DATA = Path(__file__).parent / "data"
PART = 15_000  # bytes: the large log below becomes eight parts or more
BROKEN = ("bad_json", "bad_token", "chain_broken", "not_utf8", "points", "unknown_rules", "wrong_dealer")
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Cluster(NamedTuple):
    """Two worker processes on loopback, a client of their scheduler, and a store that they reach."""

    address: str
    client: Client
    store: object_store.Store


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with object_store.running() as store, connected("local:2") as made:
        store.bucket("shared")
        with Client(made._client.scheduler.address, set_as_default=False) as client:
            client.wait_for_workers(2)
            yield Cluster(client.scheduler.address, client, store)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs whose records repeat, contradict and follow one another across every border that there is."""
    folder = tmp_path_factory.mktemp("logs")
    simulate(folder / "played.jsonl", "hubei", None, 80, 5)
    played = (folder / "played.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "played.jsonl").unlink()
    broken = [(DATA / "broken" / f"{code}.jsonl").read_bytes() for code in BROKEN]
    hubei = (DATA / "hubei.jsonl").read_bytes().splitlines(keepends=True)
    other = [line.replace(b'"players":["', b'"players":["not-') for line in hubei]  # the same rounds told otherwise
    large = [
        *played[:40], b"\n\n", *hubei, *broken, *played[10:20], *other[:3], b"\xff not a record\r\n", *played[41:70],
        *hubei[3:6], b" \n", *played[38:41],
    ]  # fmt: skip
    (folder / "a-large.jsonl").write_bytes(b"".join(large)[:-1])  # a round is missing, one comes late, no last ending
    (folder / "b-packed.jsonl.gz").write_bytes(gzip.compress(b"".join([*played[60:], *other[2:6]]), mtime=0))
    rows = gzip.decompress((DATA / "node_kwx" / "hg_04_sz_cap16.rows.jsonl.gz").read_bytes()).splitlines(keepends=True)
    # Games whose piao is inferred from all of their rounds, of which the file before has some.
    (folder / "c-rows.jsonl").write_bytes(b"".join(rows[: len(rows) // 2 : 2]))
    (folder / "d-rows.jsonl").write_bytes(b"".join(rows))
    for letter, name in (("e", "archives"), ("f", "records")):  # the same records in another shape
        shutil.copy(DATA / "kws_archive" / f"ky_01_three_cap32.{name}.jsonl.gz", folder / f"{letter}-{name}.jsonl.gz")
    convert(Reader([DATA / "suizhou.jsonl"], keep_raw=True), folder / "g-twin.parquet")
    shutil.copy(DATA / "suizhou.jsonl", folder / "h-suizhou.jsonl")
    (folder / "i-empty.jsonl").touch()
    (folder / "j-cut.jsonl.gz").write_bytes(gzip.compress(b"".join(played[70:]))[:-400])
    (folder / "notes.md").touch()
    return folder


class One(NamedTuple):
    """What one machine makes of the logs."""

    db: Path
    tables: dict[str, list[tuple]]
    summary: warehouse.Summary
    notes: list[str]


@pytest.fixture(scope="module")
def one(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> One:
    db = tmp_path_factory.mktemp("one") / "kwx.duckdb"
    reader = Reader([logs], check_rules=ruleset.check, scanner=scan.fastest)
    summary = warehouse.load(reader, db)
    return One(db, sample_warehouse.dump(db), summary, reader.notes)


def same(db: Path, one: One) -> None:
    """Table by table, then by digest."""
    found = sample_warehouse.dump(db)
    for name, rows in one.tables.items():
        assert found[name] == rows, name
    assert warehouse.digest(db) == one.summary["digest"]


def test_the_logs_of_these_tests_have_what_is_to_be_tested(logs: Path, one: One) -> None:
    codes = {row[8] for row in one.tables["problems"]}
    assert {"chain_broken", "lost_round", "wrong_dealer", "points"} <= codes
    assert one.summary["repeats"] > 60 and one.summary["rounds"] > 120
    refused = [row for row in one.tables["rejects"] if row[4] == "duplicate_round"]
    assert len({row[0] for row in refused}) == 2  # in the same file and in another one
    large = logs / "a-large.jsonl"
    ranges = planned([str(large)], PART)
    assert len(ranges) >= 8 and {piece.name for [piece] in ranges} == {str(large)}


def test_the_same_data_set_as_on_one_machine(cluster: Cluster, logs: Path, one: One, tmp_path: Path) -> None:
    db, shared = tmp_path / "kwx.duckdb", tmp_path / "shared"
    told: list[int] = []
    seen: list[int] = []

    @contextlib.contextmanager
    def watched(merged: Merged) -> Iterator[Callable[[int], None]]:
        yield lambda rounds: (told.append(rounds), seen.append(merged.read_bytes))
        assert seen == sorted(seen) and seen[0] > 0
        assert merged.read_bytes == merged.total_bytes() == sum(path.stat().st_size for path in logs.glob("?-*"))

    summary, notes = load([str(logs)], db, cluster.address, shared=str(shared), watched=watched, part_bytes=PART)
    assert (summary, notes) == (one.summary, one.notes)
    same(db, one)
    assert sum(told) == summary["rounds"]
    assert list(shared.iterdir()) == []  # nothing stays
    assert export.write(db, tmp_path / "there") == export.write(one.db, tmp_path / "here")
    here, there = ({path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.*"))}
                   for folder in (tmp_path / "here", tmp_path / "there"))  # fmt: skip
    assert here == there


def test_logs_that_come_later_and_again(
    cluster: Cluster, logs: Path, one: One, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "kwx.duckdb"
    monkeypatch.chdir(logs.parent)
    first = [str(logs / name) for name in ("a-large.jsonl", "c-rows.jsonl", "e-archives.jsonl.gz")]
    warehouse.load(Reader(first, check_rules=ruleset.check), db)
    summary, _ = load([str(logs)], db, cluster.address, part_bytes=PART * 2)
    assert summary["changed"] and 0 < summary["rounds"] < one.summary["rounds"]
    found = sample_warehouse.dump(db)
    for name in one.tables:
        if name not in ("sources", "rejects"):  # those name what each load read
            assert found[name] == one.tables[name], name
    summary, _ = load([str(logs)], db, cluster.address)
    assert not summary["changed"] and summary["rounds"] == 0
    assert summary["repeats"] == one.summary["records"] - one.summary["rejects"]
    assert not list(tmp_path.glob("*.parts"))


def dies_half_way(after: int) -> None:
    """On a worker: it kills itself when it has made `after` files of a partition visible."""
    publish = partition.Partition._publish
    published: list[str] = []

    def dies(self: partition.Partition, name: str) -> None:
        if len(published) == after:
            os.kill(os.getpid(), signal.SIGKILL)
        publish(self, name)
        published.append(name)

    partition.Partition._publish = dies  # type: ignore[method-assign]


def test_what_a_killed_worker_had_is_done_again_and_nothing_twice(
    cluster: Cluster, logs: Path, one: One, tmp_path: Path
) -> None:
    before = cluster.client.run(os.getpid)
    doomed, _ = sorted(before)
    cluster.client.run(dies_half_way, 20, workers=[doomed])  # in its second partition or third
    db = tmp_path / "kwx.duckdb"
    summary, notes = load([str(logs)], db, cluster.address, part_bytes=PART)
    assert (summary, notes) == (one.summary, one.notes)
    same(db, one)
    cluster.client.wait_for_workers(2)
    assert before[doomed] not in cluster.client.run(os.getpid).values()
    assert list(tmp_path.glob("*.parts")) == []


def test_through_an_object_store_from_the_command_line(
    cluster: Cluster, logs: Path, one: One, tmp_path: Path, cli
) -> None:
    for name in ("b-packed.jsonl.gz", "c-rows.jsonl", "g-twin.parquet", "h-suizhou.jsonl", "j-cut.jsonl.gz"):
        with open(logs / name, "rb") as file:
            objects.put(f"s3://shared/logs/{name}", file)
    asked = ["run", "s3://shared/logs", "--no-facts", "--json"]
    here = cli(*asked, "--db", tmp_path / "one")
    cluster.store.asked.clear()
    there = cli(*asked, "--db", tmp_path / "many", "--workers", cluster.address, "--shared", "s3://shared/parts",
                "--parquet", "s3://shared/export")  # fmt: skip
    assert here == there and there.code == 1 and '"records":' in there.out
    assert sample_warehouse.dump(tmp_path / "one") == sample_warehouse.dump(tmp_path / "many")
    assert any(asked == "PUT" and "/shared/parts/" in path for asked, path in cluster.store.asked)
    assert objects.listing("s3://shared/parts") == []
    assert len(objects.listing("s3://shared/export")) > 10


def test_users_and_claims_reach_the_workers(cluster: Cluster, logs: Path, tmp_path: Path, cli) -> None:
    users = tmp_path / "users.csv"
    game = first_game(logs / "d-rows.jsonl")
    users.write_text(f"game,seat,account\n{game},0,seen\n", encoding="utf-8")
    asked = ["run", logs / "d-rows.jsonl", "--users", users, "--site", "s", "--rules", "parlour", "--no-facts"]
    here = cli(*asked, "--db", tmp_path / "one")
    there = cli(*asked, "--db", tmp_path / "many", "--workers", cluster.address)
    assert here.out.replace("/one", "/many") == there.out and here.code == there.code
    found = sample_warehouse.dump(tmp_path / "many")
    assert found == sample_warehouse.dump(tmp_path / "one")
    assert any("seen" in row for row in found["seats"])


def first_game(path: Path) -> str:
    """The id of the first game of a log."""
    return next(iter(Reader([path]))).rounds["game"][0].as_py()


def test_work_that_kills_every_worker_ends_in_words(cluster: Cluster, logs: Path, tmp_path: Path) -> None:
    def allow(number: int, dask_scheduler: Scheduler) -> int:
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, number
        return before

    before = cluster.client.run_on_scheduler(allow, 0)
    try:
        cluster.client.run(dies_half_way, 0)
        with pytest.raises(ClusterError, match="^part-[0-9a-f]{16}: each of the 1 workers that tried it died"):
            load([str(logs / "c-rows.jsonl")], tmp_path / "db", cluster.address)
    finally:
        cluster.client.run_on_scheduler(allow, before)
        cluster.client.wait_for_workers(2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["db.lock"]


def test_another_version_is_refused(cluster: Cluster, logs: Path, tmp_path: Path, cli) -> None:
    def run_version(code) -> None:
        from analytics.cluster import work

        work.code = code

    asked = ["run", logs / "c-rows.jsonl", "--db", tmp_path / "db", "--workers", cluster.address]
    [worker, _] = sorted(cluster.client.run(os.getpid))
    here = work.code()
    cluster.client.run(run_version, lambda: "0123456789abcdef", workers=[worker])
    try:
        ran = cli(*asked)
        assert ran.code == 2 and ran.err.count("\n") == 1
        assert f"worker {worker} runs another version of kwx (0123456789abcdef, here {work.code()})" in ran.err
    finally:
        cluster.client.run(run_version, lambda: here, workers=[worker])
    task = work.Task(0, planned([str(logs / "c-rows.jsonl")])[0], Asked(), str(tmp_path), "0" * 16)
    with pytest.raises(work.VersionError, match=f"another version of kwx: {work.code()}, expected 0000000000000000"):
        cluster.client.submit(work.work, task).result()  # a worker that has come later


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """The address of something that is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=lambda: contextlib.suppress(OSError) and server.accept(), daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


def test_what_is_no_address_ends_the_process(logs: Path, tmp_path: Path) -> None:
    """A client of dask's that fails over its address would leave a thread behind that the process waits for."""
    command = [sys.executable, "-m", "kwx", "run", str(logs / "c-rows.jsonl"), "--db", str(tmp_path / "db")]
    ran = subprocess.run([*command, "--workers", "4"], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2 and "--workers 4: no scheduler answers there" in ran.stderr.splitlines()[-1]


def test_what_cannot_be_used_is_said_in_words(
    cluster: Cluster, logs: Path, tmp_path: Path, cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.3)
    log, db = logs / "c-rows.jsonl", tmp_path / "db"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    for more, words in (
        (["--workers", closed], f"--workers {closed}: no scheduler answers there"),
        (["--workers", "nonsense://x"], "--workers nonsense://x: no scheduler answers there"),
        (["--workers", "local:0"], "--workers local:0: expected local:N"),
        (["--shared", tmp_path], "--shared goes with --workers"),
        (["--workers", cluster.address, "--shared", log], f"{log}/"),
        (["--workers", cluster.address, "-"], "standard input can't be read by workers"),
    ):
        ran = cli("run", log, "--db", db, *more)
        assert ran.code == 2 and words in ran.err.splitlines()[-1], ran
    monkeypatch.setattr(partition, "make", lambda folder: None)  # as if the workers had another file system
    ran = cli("run", log, "--db", db, "--workers", cluster.address)
    words = "No such file or directory; workers and the machine that asks must share the folder"
    assert ran.code == 2 and words in ran.err
    assert not db.exists()
