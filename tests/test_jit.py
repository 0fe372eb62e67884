"""Where machine code is kept: never stale, shared by equal sources, cleaned up, and never needed."""

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay import jit

REPLAY = Path(jit.__file__).parent
COMPILING = [path for path in sorted(REPLAY.glob("*.py")) if "\nfrom replay.jit import" in path.read_text("utf-8")]
TOY = {
    "limits.py": "LIMIT = 3\n",
    "step.py": "from replay.jit import inner\nfrom replay.limits import LIMIT\n\n\n"
               "@inner\ndef step(n):\n    return n + LIMIT\n",
    "walk.py": "from replay.jit import jit\nfrom replay.step import step\n\n\n"
               "@jit\ndef walk(n):\n    return step(n) * 2\n",
    "other.py": "UNUSED = 1\n",
}  # fmt: skip


def imported(path: Path) -> set[Path]:
    """Our files that a file imports, read from its syntax."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)] if isinstance(
            node, ast.ImportFrom) else [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            one = REPLAY.parent.joinpath(*name.split(".")).with_suffix(".py")
            if one.is_file() and one.parent.name in ("replay", "ingest", "formats"):
                found.add(one)
    return found


def test_the_digest_covers_every_imported_file() -> None:
    assert {"loop.py", "table.py", "hand.py", "settlement.py", "selfplay.py"} <= {path.name for path in COMPILING}
    for path in COMPILING:
        known = set(jit.sources(path))
        for one in known:
            assert imported(one) <= known, (path.name, one.name)
    engine = {one.name for one in jit.sources(REPLAY / "loop.py")}
    assert {"ruleset.py", "rulefile.py", "events.py", "tiles.py"} <= engine


def test_what_only_puts_out_does_not_compile_the_engine_anew() -> None:
    engine = {one.name for one in jit.sources(REPLAY / "loop.py")}
    assert not engine & {"outputs.py", "messages.py", "batch.py", "check.py", "simulate.py", "trace.py"}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A small package `replay`: the real jit.py and compiling.py, a compiled function, one it calls, and a constant."""
    package = tmp_path / "src" / "replay"
    (package / "rulesets").mkdir(parents=True)
    (package / "rulesets" / "base.toml").write_text("", encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    for name in ("jit.py", "compiling.py"):
        shutil.copy(REPLAY / name, package)
    for name, text in TOY.items():
        (package / name).write_text(text, encoding="utf-8")
    return package


def walk(package: Path, **environment: str) -> tuple[int, int]:
    """What the toy's function gives for 1 in a new process, and how often it was found in the cache."""
    code = "from replay.walk import walk; print(walk(1), sum(walk.stats.cache_hits.values()))"
    settings = os.environ | {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"} | environment
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=settings, cwd=package.parent, capture_output=True, text=True, check=True)
    value, hits = run.stdout.split()
    return int(value), int(hits)


def test_machine_code_is_kept_and_never_stale(toy: Path, tmp_path: Path) -> None:
    cache = {"KWX_CACHE": str(tmp_path / "cache")}
    assert walk(toy, **cache) == (8, 0)
    (toy / "other.py").write_text("UNUSED = 2\n", encoding="utf-8")
    moved = shutil.copytree(toy.parent, tmp_path / "elsewhere") / "replay"
    os.utime(moved / "walk.py", (1, 1))
    assert walk(moved, **cache) == (8, 1)
    (toy / "limits.py").write_text("LIMIT = 4\n", encoding="utf-8")  # in neither of the functions' files
    assert walk(toy, **cache) == (10, 0)


def test_without_a_folder_that_can_be_written_it_runs_uncached(toy: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert walk(toy, KWX_CACHE=str(tmp_path / "file" / "cache")) == (8, 0)


@pytest.mark.parametrize(("suffix", "kept"), [("nbi", 0), ("nbi", 60), ("nbc", 60)])
def test_files_that_were_cut_off_are_made_again(toy: Path, tmp_path: Path, suffix: str, kept: int) -> None:
    cache = {"KWX_CACHE": str(tmp_path / "cache")}
    assert walk(toy, **cache) == (8, 0)
    files = list((tmp_path / "cache").glob(f"*/*.{suffix}"))
    assert len(files) == 2
    for path in files:
        path.write_bytes(path.read_bytes()[:kept])
    assert walk(toy, **cache) == (8, 0)
    assert walk(toy, **cache) == (8, 1)


def test_only_old_folders_of_ours_are_removed(tmp_path: Path) -> None:
    long_ago = time.time() - (jit.KEPT_DAYS + 1) * 86_400
    for name in ("0123456789abcdef", "fedcba9876543210", "somebody's"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "loop.nbi").touch()
    for name in ("0123456789abcdef", "somebody's"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    jit.remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fedcba9876543210", "somebody's"]
