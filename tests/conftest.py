"""Fixtures that several test files share, and the whole suite on all cores."""

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from browser_session import home, page, sets, window  # noqa: F401 - fixtures
from sample_statistics import measured, measured_lines, measured_slow  # noqa: F401 - fixtures

import kwx


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs on all cores, if pytest-xdist is there; files and tests that are named run in one process.

    `-n` and `--dist` say otherwise.  Here rather than in addopts, so that `-p no:xdist` still works.
    """
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return  # workers come through here too: without this each would start workers of its own, for ever
    option = config.option
    whole = config.args_source is not config.ArgsSource.ARGS
    if whole and not option.collectonly and getattr(option, "numprocesses", 0) is None:
        option.numprocesses = "auto"
        if option.dist == "no":
            option.dist = "worksteal"


def pytest_sessionstart(session: pytest.Session) -> None:
    """The engine is compiled once, before the workers start, and not by each of them beside the others."""
    if getattr(session.config.option, "tx", None):
        compile_engine()


def compile_engine() -> None:
    """The kernels that most tests use, into the cache of this machine; nothing to do when they stand there."""
    from ingest.read import Reader
    from replay import ruleset, scan
    from replay.batch import Replayer
    from replay.jit import first_run
    from replay.review import review
    from replay.simulate import simulate

    if not first_run():
        return
    broken = Path(__file__).parent / "data" / "broken"
    replayer = Replayer(facts=True)
    for batch in simulate("parlour", 1, 1):
        review({name: rows.to_pylist() for name, rows in replayer.feed(batch).items()}, 0, 32)
    for log in ("points", "ledger"):  # with events, and with a settlement alone
        for batch in Reader([broken / f"{log}.jsonl"], check_rules=ruleset.check, scanner=scan.fastest):
            replayer.feed(batch.rounds)


@dataclass(frozen=True)
class Ran:
    """What one run of the command line gave."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs `kwx ARGUMENTS` in this process, with `stdin` as its standard input."""

    def run(*arguments: object, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            kwx.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(ended.value.code or 0, out, err)

    return run
