"""The compile decorators: options, and where machine code is kept.

numba's own cache looks only at the file of the function it compiles, so a change in a *called* file would not be seen.
Here a source file's functions are kept in a folder that is named by a digest of the file and of every file of ours
that it imports, directly or not, of base.toml (from which the rules record is made) and of the versions that shape
machine code: a stale hit is impossible, an edit elsewhere costs nothing, and equal sources share one folder wherever
they lie and whenever they were written.  KWX_CACHE names the folder of these folders, KWX_JIT=0 runs everything as
plain Python (debugging, coverage, the equality test of both).
"""

import hashlib
import os
import pickle
import re
import shutil
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching

from replay.compiling import InnerCompiler

F = TypeVar("F", bound=Callable[..., Any])

COMPILED = os.environ.get("KWX_JIT", "1") != "0"
HERE = Path(__file__).resolve().parent
RULES = HERE / "rulesets" / "base.toml"
IMPORT = re.compile(
    r"^[ \t]*(?:from (?:replay|ingest)((?:\.\w+)*) import (\([^)]*\)|[^\n]*)|import (?:replay|ingest)\.([\w.]+))", re.M
)
KEPT_DAYS = 30  # without use
DAMAGED = pickle.UnpicklingError, EOFError, ValueError, TypeError, IndexError, KeyError, AttributeError, ImportError


@cache
def imported(path: Path) -> frozenset[Path]:
    """The source files of replay and ingest that a source file imports itself."""
    found = set()
    for match in IMPORT.finditer(path.read_text(encoding="utf-8")):
        for root in (HERE, HERE.parent / "ingest"):
            base = root.joinpath(*(match[1] or "." + (match[3] or "")).split(".")[1:])
            named = [base.with_suffix(".py"), base / "__init__.py"]
            named += [base / f"{name}.py" for name in re.findall(r"\w+", match[2] or "")]
            found.update(one for one in named if one.is_file())
    return frozenset(found)


@cache
def sources(path: Path) -> tuple[Path, ...]:
    """A source file of replay or ingest and all those that it imports, directly or not; sorted."""
    found, waiting = {path}, [path]
    while waiting:
        more = imported(waiting.pop()) - found
        found |= more
        waiting += more
    return tuple(sorted(found))


@cache
def content(path: Path) -> bytes:
    """A file's name and bytes."""
    return path.name.encode() + b"\0" + path.read_bytes()


@cache
def digest(path: Path) -> str:
    """Sixteen hex digits over everything that the machine code of a source file's functions is made of."""
    made = hashlib.sha256()
    for one in (*sources(path), RULES):
        made.update(content(one))
    made.update(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    return made.hexdigest()[:16]


def _base() -> Path | None:
    """The folder of the caches, KWX_CACHE or in the user's cache folder; None when it can't be written."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = Path(os.environ.get("KWX_CACHE") or os.path.join(home, "kwx"))
    try:
        base.mkdir(parents=True, exist_ok=True)
        probe = base / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return base


CACHE = _base() if COMPILED else None


@cache
def folder(path: Path) -> Path:
    """Where the machine code of a source file is kept; made, and marked as used, when first asked for."""
    assert CACHE is not None
    kept = CACHE / digest(path)
    if not kept.is_dir():
        kept.mkdir(exist_ok=True)
        remove_unused(CACHE)
    elif time.time() - kept.stat().st_mtime > 86_400:
        os.utime(kept)
    return kept


def remove_unused(base: Path) -> None:
    """Remove the folders of digests that nothing has used for a month; a process that still holds one goes on."""
    for one in base.iterdir():
        if re.fullmatch(r"[0-9a-f]{16}", one.name):
            try:
                if time.time() - one.stat().st_mtime > KEPT_DAYS * 86_400:
                    shutil.rmtree(one, ignore_errors=True)
            except FileNotFoundError:  # another process was first
                continue


class _Locator(caching._CacheLocator):
    """Tells numba our folder for functions of ours."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator | None":
        path = Path(py_file).resolve()
        return cls(path) if path.parent == HERE else None

    def get_cache_path(self) -> str:
        return str(folder(self._path))

    def get_source_stamp(self) -> str:
        return digest(self._path)

    def get_disambiguator(self) -> str:
        return self._path.stem


caching.CacheImpl._locator_classes.insert(0, _Locator)


class _CacheFile(caching.IndexDataCacheFile):
    """numba's, but a file that was cut off, as after a power cut, is one that is not there: it is made again."""

    def _load_index(self) -> dict:
        try:
            return super()._load_index()
        except DAMAGED:
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except DAMAGED as error:
            raise FileNotFoundError(name) from error  # numba compiles then


caching.IndexDataCacheFile = _CacheFile


def first_run() -> bool:
    """Whether the engine still has to be compiled on this machine, which takes half a minute."""
    return COMPILED and (CACHE is None or next(folder(HERE / "loop.py").glob("loop.run-*.nbi"), None) is None)


def jit(function: F) -> F:
    """Compile to machine code without the GIL; integers wrap and no index is checked, so callers check ranges."""
    return _compile(function)


def inner(function: F) -> F:
    """The same for functions that only compiled ones call: without a Python entry they compile a third faster."""
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=InnerCompiler)


def inlined(function: F) -> F:
    """The same for functions of the hot path with few callers: they become part of their callers."""
    return _compile(
        function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, pipeline_class=InnerCompiler
    )


def _compile(function: F, **options: Any) -> F:
    if not COMPILED:
        return function
    compiled = numba.njit(cache=CACHE is not None, nogil=True, error_model="numpy", **options)(function)
    template = compiled.get_call_template

    def one_specialisation(args: tuple, kws: dict) -> Any:
        # numba would compile a function anew for each constant it is called with (50 times for a flag).
        return template(
            tuple(numba.types.unliteral(arg) for arg in args),
            {name: numba.types.unliteral(arg) for name, arg in kws.items()},
        )

    compiled.get_call_template = one_specialisation
    return compiled


def record(dtype: np.dtype) -> np.record:
    """One zeroed structured record whose fields read as attributes, compiled or not."""
    return np.zeros(1, dtype).view(np.recarray)[0]
