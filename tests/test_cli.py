"""The command line as a user meets it: what is printed where, and with which exit code."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = ("demo", "run", "check", "show", "score", "waits", "rules", "simulate", "convert", "dashboard")


def process(*arguments: str, **more: object) -> subprocess.Popen:
    """`kwx ARGUMENTS` in a process of its own."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.Popen([sys.executable, str(ROOT / "kwx.py"), *arguments], **pipes)


def test_help_lists_the_commands_and_needs_no_package() -> None:
    started = time.perf_counter()
    run = process("--help")
    out, err = run.communicate()
    assert time.perf_counter() - started < 1  # 0.1 s on an idle machine; imports would cost several seconds
    assert (run.returncode, err) == (0, b"")
    assert [line.split()[0] for line in out.decode().split("Commands:\n")[1].splitlines() if line] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli, command: str) -> None:
    ran = cli(command, "--help")
    assert ran.code == 0 and f"Usage: kwx {command}" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ruls"], "Did you mean 'rules'?"),
        (["check"], "Missing argument 'LOGS...'"),
        (["check", "missing.jsonl"], "missing.jsonl: no such file or folder"),
        (["check", "no/*.jsonl"], "no/*.jsonl: no file matches the pattern"),
        (["check", "-", "--option", "score.cap"], "--option score.cap: expected K=V"),
        (["check", "-", "--option", "score.cup=8"], "unknown key 'score.cup', did you mean 'score.cap'?"),
        (["check", "-", "--rules", "hubai"], "did you mean 'hubei'?"),
        (["check", "-", "--rules", "hubei", "--option", "score.cap=5"], "expected one of 0, 4, 8, 16, 32"),
        (["rules", "hubai"], "unknown ruleset 'hubai', did you mean 'hubei'?"),
        (["rules", "hubei", "--diff", "hubei", "suizhou"], "give one of ID, --diff and --check"),
        (["rules", "--check", "missing.toml"], "missing.toml"),
        (["score", "--rules", "hubai"], "did you mean 'hubei'?"),
        (["score", "missing.jsonl"], "missing.jsonl: no such file or folder"),
        (["run", "-"], "Missing option '--db'"),
        (["run", "missing.jsonl", "--db", "x.duckdb"], "missing.jsonl: no such file or folder"),
        (["dashboard", "--db", "missing.duckdb"], "missing.duckdb"),
        (["show", "a/b", "--db", "missing.duckdb"], "a/b"),
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
