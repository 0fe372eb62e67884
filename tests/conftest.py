"""Fixtures that several test files share."""

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

import kwx


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
