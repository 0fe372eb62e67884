"""The command line as a user meets it: what is printed where, and with which exit code."""

import gzip
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from cli.arguments import progress, reader

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data"
BROKEN = DATA / "broken"
ROUNDS = DATA / "cases" / "rounds.jsonl.gz"
KEYS = ["kind", "code", "source", "record", "line", "site", "game", "round", "event", "seat", "logged", "expected"]
KEYS += ["message", "explained_by"]
SUMMARY = ["kind", "records", "rounds", "repeats", "rejects", "clean", "violation", "mismatch", "unpaid"]
COMMANDS = ("demo", "run", "audit", "dashboard", "check", "show", "fit", "simulate", "convert")
COMMANDS += ("player", "score", "waits", "rules")


def process(*arguments: str, **more: object) -> subprocess.Popen:
    """`kwx ARGUMENTS` in a process of its own."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.Popen([sys.executable, str(ROOT / "kwx.py"), *arguments], **pipes)


def test_help_lists_the_commands(cli) -> None:
    listed = cli("--help").out.split("Commands:\n")[1].splitlines()
    assert [line.split()[0] for line in listed if line] == list(COMMANDS)


def test_help_is_quick_because_it_needs_no_package() -> None:
    code = (
        "import atexit, sys, kwx\n"
        "heavy = {'ingest', 'replay', 'analytics', 'dashboard', 'numpy', 'pyarrow', 'numba', 'duckdb', 'rich'}\n"
        "atexit.register(lambda: print(heavy & set(sys.modules), file=sys.stderr))\n"
        "kwx.main(['--help'])"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "set()\n")


def test_checking_loads_neither_pandas_nor_linear_algebra() -> None:
    code = (
        "import atexit, sys, kwx\n"
        "large = {'pandas', 'scipy.linalg', 'streamlit', 'duckdb', 'polars'}\n"
        "atexit.register(lambda: print(large & set(sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['kwx', 'check', {str(BROKEN / 'points.jsonl')!r}]\n"
        "kwx.main()"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (1, "set()\n")


def test_a_terminal_shows_rounds_their_rate_and_the_time_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    log = tmp_path / "log.jsonl.gz"
    log.write_bytes(gzip.compress((BROKEN / "points.jsonl").read_bytes()))
    source = reader([str(log)], None, None, None, None)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress("read", source=source) as step:
        for batch in source:
            step(batch.rounds.num_rows + 1999)
    assert source.read_bytes == source.total_bytes() == log.stat().st_size
    shown = re.sub(r"\x1b\[[0-9;?]*\w", "", screen.getvalue())
    assert re.search(r"read 2,000 rounds, [\d,]+ a second 0:00:\d\d ━+ 0?0:00 left", shown)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0 and f"Usage: kwx {command}" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ruls"], "Did you mean 'rules'?"),
        (["check"], "Missing argument 'LOGS'"),
        (["check", "missing.jsonl"], "missing.jsonl: no such file or folder"),
        (["check", "no/*.jsonl"], "no/*.jsonl: no file matches the pattern"),
        (["check", "-", "--option", "score.cap"], "--option score.cap: expected K=V"),
        (["check", "-", "--option", "score.cup=8"], "unknown key 'score.cup', did you mean 'score.cap'?"),
        (["check", "-", "--rules", "hubai"], "did you mean 'hubei'?"),
        (["check", "-", "--rules", "hubei", "--option", "score.cap=5"], "expected one of 0, 4, 8, 16, 32"),
        (["check", "-", "--rules", "hubei", "--option", "score.cap=" + "[" * 9999], "expected one of 0, 4, 8, 16, 32"),
        (["check", "-", "--users", "missing.csv"], "missing.csv"),
        (["rules", "hubai"], "unknown ruleset 'hubai', did you mean 'hubei'?"),
        (["rules", "hubei", "--diff", "hubei", "suizhou"], "give one of ID, --diff and --check"),
        (["rules", "--check", "missing.toml"], "missing.toml"),
        (["score", "--rules", "hubai"], "did you mean 'hubei'?"),
        (["score", "missing.jsonl"], "missing.jsonl: no such file or folder"),
        (["run", "-"], "Missing option '--db'"),
        (["run", "missing.jsonl", "--db", "x.duckdb"], "missing.jsonl: no such file or folder"),
        (["dashboard", "--db", "missing.duckdb"], "missing.duckdb"),
        (["show", "a/b", "--db", "missing.duckdb"], "'a/b' is no round: expected site/game/round"),
        (["show", "a/b/1", "--db", "missing.duckdb"], "missing.duckdb: no such data set"),
        (["show", "a/b/1"], "give either LOGS or --db FILE"),
        (["simulate", "--rules", "hubei", "--rounds", "0", "--seed", "1", "-o", "x.jsonl"], "--rounds"),
        (["simulate", "--rules", "hubei", "--rounds", "1", "--seed", "1", "-o", "x.csv"], "x.csv"),
        (["convert", "missing.jsonl", "-o", "x.jsonl"], "missing.jsonl: no such file or folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_one_clear_message(cli, tmp_path, monkeypatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err and "Traceback" not in ran.err
    assert list(tmp_path.iterdir()) == []


def test_rules_are_listed_explained_and_compared(cli) -> None:
    listed = cli("rules")
    assert listed.code == 0 and "hubei" in listed.out and "湖北" in listed.out
    one = cli("rules", "hubei")
    assert "* fan.last_tile_draw = 2" in one.out and "海底捞月" in one.out
    assert "score.cap = 16" in cli("rules", "hubei", "--option", "score.cap=16").out
    two = cli("rules", "--diff", "hubei", "suizhou", "--json")
    assert two.code == 0 and '"key":"fan.last_tile_draw"' in two.out


def test_a_reader_that_goes_away_is_no_error() -> None:
    run = process("rules", "hubei", "--json")
    run.stdout.read(1)
    run.stdout.close()
    assert run.stderr.read() == b""
    run.wait()


def test_output_without_utf8(tmp_path) -> None:
    run = process("rules", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    out, err = run.communicate()
    assert (run.returncode, err) == (0, b"") and b"hubei" in out


def lines(count: int) -> list[str]:
    """The first rounds of the cases, all of them clean."""
    return gzip.decompress(ROUNDS.read_bytes()).decode().splitlines()[:count]


@pytest.fixture
def broken(tmp_path) -> Path:
    """A log with a mispaid round, a repeat, a duplicate and a cut line among clean ones."""
    some = lines(8)
    row = json.loads(some[3])
    first, second, third = row["result"]["points"]
    row["result"]["points"] = [first + 5, second - 5, third]
    some[3] = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join([*some, some[0], lines(4)[3], some[5][:200]]), encoding="utf-8")
    return path


def test_check_prints_one_line_a_problem(cli, broken: Path) -> None:
    ran = cli("check", broken)
    found = [line.split(": ")[:2] for line in ran.out.splitlines()]
    assert ran.code == 1 and ran.err == ""
    assert found[:3] == [
        [f"{broken}:4:-", "points"], [f"{broken}:10:-", "duplicate_round"], [f"{broken}:11:-", "truncated"],
    ]  # fmt: skip
    assert ran.out.splitlines()[-1] == (
        "11 records, 8 rounds, 1 repeats, 2 rejects, 7 clean, 0 violation, 1 mismatch, 0 unpaid"
    )


def test_check_json_has_exactly_the_documented_keys(cli, broken: Path) -> None:
    *rows, summary = map(json.loads, cli("check", broken, "--json").out.splitlines())
    assert [list(row) for row in rows] == [KEYS] * 3
    assert [row["kind"] for row in rows] == ["mismatch", "reject", "reject"]
    assert (rows[0]["record"], rows[0]["round"], rows[0]["event"]) == (3, json.loads(lines(4)[3])["round"], None)
    assert list(summary) == SUMMARY
    assert summary["records"] == summary["rounds"] + summary["repeats"] + summary["rejects"]


def test_check_of_clean_rounds_and_of_another_claim(cli, tmp_path) -> None:
    path = tmp_path / "clean.jsonl"
    path.write_text("\n".join(lines(24)) + "\n", encoding="utf-8")
    assert cli("check", path).code == 0
    claimed = [json.loads(line) for line in cli("check", path, "--option", "score.cap=4", "--json").out.splitlines()]
    assert claimed[-1]["mismatch"] > 0
    assert any("score.cap" in change for row in claimed[:-1] for change in row["explained_by"])


def test_unpaid_rounds_alone_are_fine(cli, tmp_path) -> None:
    row = {key: value for key, value in json.loads(lines(1)[0]).items() if key != "result"}
    ran = cli("check", "-", "--json", stdin=json.dumps(row).encode())
    assert (ran.code, json.loads(ran.out)["unpaid"]) == (0, 1)


def test_run_loads_once_and_says_so(cli, broken: Path, tmp_path) -> None:
    db = tmp_path / "a.duckdb"
    first, second = (cli("run", broken, "--db", db, "--json") for _ in range(2))
    assert (first.code, second.code) == (1, 1)
    one, two = json.loads(first.out), json.loads(second.out)
    assert (one["changed"], two["changed"], two["digest"]) == (True, False, one["digest"])
    assert (one["rounds"], one["repeats"], two["rounds"], two["repeats"]) == (8, 1, 0, 9)
    assert "holds all of it already" in cli("run", broken, "--db", db).out


def test_run_writes_parquet(cli, tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines(8)) + "\n", encoding="utf-8")
    ran = cli("run", path, "--db", tmp_path / "a.duckdb", "--parquet", tmp_path / "parquet")
    assert ran.code == 0 and list((tmp_path / "parquet" / "rounds").rglob("*.parquet"))


def test_convert_keeps_every_byte(cli, tmp_path) -> None:
    text = "\n".join(lines(20)) + "\n"
    (tmp_path / "a.jsonl").write_text(text, encoding="utf-8")
    for first, second in (("b.jsonl.gz", "c.jsonl"), ("b.jsonl.zst", "d.jsonl"), ("b.parquet", "e.jsonl")):
        assert cli("convert", tmp_path / "a.jsonl", "-o", tmp_path / first).code == 0
        assert cli("convert", tmp_path / first, "-o", tmp_path / second).code == 0
        assert (tmp_path / second).read_text(encoding="utf-8") == text


def test_convert_names_what_it_leaves_out(cli, broken: Path, tmp_path) -> None:
    ran = cli("convert", broken, "-o", tmp_path / "out.jsonl")
    assert (ran.code, ran.out) == (1, "")
    assert f"{broken}:11:-: truncated" in ran.err and "11 records, 8 rounds, 1 repeats, 2 rejects" in ran.err


@pytest.mark.parametrize("command", ["score", "waits"])
def test_score_and_waits_answer_line_by_line(cli, command: str) -> None:
    cases = gzip.decompress((DATA / "cases" / f"{command}.jsonl.gz").read_bytes()).splitlines()[:40]
    asked = [json.loads(case) for case in cases]
    ran = cli(command, stdin=b"\n".join(cases))
    assert (ran.code, ran.err) == (0, "")
    for case, line in zip(asked, ran.out.splitlines(), strict=True):
        if command == "waits":
            assert json.loads(line) == {"id": case["id"], "waits": case["expect"]}
        else:
            expected = case["expect"] or {"multiple": None, "fans": None}
            assert json.loads(line) == {"id": case["id"], **expected}


def test_score_answers_every_wrong_line_and_goes_on(cli) -> None:
    good = {"id": "g", "concealed": "4688p123789s", "melds": ["pung 9p"], "win": "5p", "by": "discard"}
    wrong = [
        b"{", b"[1]", b"\xff\xfe", b"1" * 5000, b"[" * 100_000, b'{"id":NaN}',
        b'{"id":' + b"[" * 900 + b"]" * 900 + b"}",
        json.dumps(good | {"id": "rules", "rules": "hubai"}).encode(),
        json.dumps(good | {"id": "option", "options": {"score.cup": 8}}).encode(),
        json.dumps(good | {"id": "count", "concealed": "4688p"}).encode(),
        json.dumps(good | {"id": "fifth", "concealed": "9999p123789s", "melds": ["pung 9p"]}).encode(),
    ]  # fmt: skip
    ran = cli("score", "--rules", "hubei", stdin=b"\n".join([*wrong, json.dumps(good).encode()]) + b"\n\n")
    *errors, last = map(json.loads, ran.out.splitlines())
    assert (ran.code, ran.err) == (1, "")
    assert [error["id"] for error in errors] == [None] * 7 + ["rules", "option", "count", "fifth"]
    assert all(list(error) == ["id", "error"] for error in errors)
    assert last == {"id": "g", "multiple": 2, "fans": ["ka_wu_xing"]}


def test_score_of_a_file_that_breaks_off(cli, tmp_path) -> None:
    packed = (DATA / "cases" / "score.jsonl.gz").read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    ran = cli("score", tmp_path / "a.jsonl.gz")
    assert ran.code == 1 and "is cut" in json.loads(ran.out.splitlines()[-1])["error"]


def test_the_flags_of_score_yield_to_the_line(cli) -> None:
    hand = {"id": 1, "concealed": "9s", "melds": ["pung 5z", "pung 6z", "pung 7z", "pung 1p"], "win": "9s"}
    owns = ({}, {"options": {"score.cap": 16}}, {"options": {}}, {"rules": "xiangyang"})
    hands = [hand | {"by": "discard"} | own for own in owns]
    asked = b"\n".join(json.dumps(hand).encode() for hand in hands)
    ran = cli("score", "--rules", "hubei", "--option", "score.cap=32", stdin=asked)
    assert [json.loads(line)["multiple"] for line in ran.out.splitlines()] == [32, 16, 64, 32]


def test_interrupted_is_130_and_leaves_nothing(tmp_path) -> None:
    with process("convert", "-", "-o", "out.jsonl", cwd=tmp_path, stdin=subprocess.PIPE) as run:
        run.stdin.write(lines(1)[0].encode() + b"\n")
        run.stdin.flush()
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert list(tmp_path.iterdir()), "it never began to write"
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
        assert (run.stdout.read(), run.stderr.read()) == (b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_show_is_the_same_from_logs_and_from_a_data_set(cli, broken: Path, tmp_path) -> None:
    row = json.loads(lines(4)[3])
    ident = f"{row['site']}/{row['game']}/{row['round']}"
    cli("run", broken, "--db", tmp_path / "a.duckdb")
    text = cli("show", ident, broken)
    assert (text.code, text.err) == (0, "") and text.out == cli("show", ident, "--db", tmp_path / "a.duckdb").out
    assert text.out.startswith(f"{ident}   mismatch\n{broken}:4\n")
    assert "!! mismatch points" in text.out
    events = len(row["events"].split(" "))
    assert len([line for line in text.out.splitlines() if line[:4].strip().isdecimal()]) == events
    beyond = cli("show", ident, broken, "--event", events)
    assert f"no event {events} in this round; it has 0 to {events - 1}" in beyond.err
    assert "wall" in cli("show", ident, broken, "--event", 0).out
    other = cli("show", f"{row['site']}/{row['game']}/99", broken)
    assert other.code == 2 and "the game has the rounds 0, 1, 2" in other.err


def test_show_hides_what_a_seat_cannot_see(cli, tmp_path) -> None:
    row = json.loads(lines(1)[0])
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")
    ident = f"{row['site']}/{row['game']}/{row['round']}"
    shown = cli("show", ident, tmp_path / "a.jsonl", "--pov", 1).out.splitlines()
    dealt = [line.split()[2] for line in shown if line.startswith("  seat ")]
    assert [set(hand) == {"?"} for hand in dealt] == [True, False, True]


def test_show_writes_an_evidence_file(cli, tmp_path) -> None:
    row = json.loads(lines(1)[0]) | {"game": "<b>&", "players": ["<script>x</script>", "b", "c"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row), encoding="utf-8")
    ran = cli("show", f"{row['site']}/%3Cb%3E%26/{row['round']}", tmp_path / "a.jsonl", "--html", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (ran.code, ran.out) == (0, "")
    assert "<script" not in page and "&lt;script&gt;" in page and "http" not in page.replace("http-equiv", "")
    assert page.count("<tr") > len(row["events"].split(" "))
    assert cli("show", "a/b/1", tmp_path / "a.jsonl", "--html", tmp_path / "b.html").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.jsonl"]


def test_dashboard_serves_on_loopback_until_ended(cli, tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text("\n".join(lines(8)) + "\n", encoding="utf-8")
    assert cli("run", tmp_path / "a.jsonl", "--db", tmp_path / "a.duckdb").code == 0
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = cli("dashboard", "--db", tmp_path / "a.duckdb", "--port", port)
        assert refused.code == 2 and f"port {port}" in refused.err
    with process("dashboard", "--db", str(tmp_path / "a.duckdb"), "--port", str(port)) as run:
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    assert answer.status == 200
                break
            except OSError:
                assert run.poll() is None and time.monotonic() < deadline, run.communicate()
                time.sleep(0.2)
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=30)


def test_simulate_writes_the_same_bytes_and_nothing_wrong(cli, tmp_path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        ran = cli("simulate", "--rules", "hubei", "--rounds", 40, "--seed", 7, "-o", tmp_path / name)
        assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    checked = cli("check", tmp_path / "a.jsonl")
    assert checked.code == 0 and checked.out.startswith("40 records, 40 rounds, 0 repeats, 0 rejects, 40 clean")
    wrong = cli("simulate", "--rules", "hubai", "--rounds", 1, "--seed", 7, "-o", tmp_path / "c.jsonl")
    assert wrong.code == 2 and "did you mean 'hubei'?" in wrong.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl"]
