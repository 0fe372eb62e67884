"""The one compile decorator: options, and a cache folder keyed by a digest of the kernel's sources.

numba's own cache looks only at the file of the function it compiles, so a change in a *called* file would not be
seen.  Keying the folder by all sources of this package makes a stale hit impossible.  KWX_CACHE names another
folder, KWX_JIT=0 runs everything as plain Python (debugging, coverage, the equality test of both).
"""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# What of ingest is compiled in: constants and the shapes of records.
INGEST = ("events.py", "tiles.py", "formats/kwx_record.py", "formats/kwx_rows.py")

COMPILED = os.environ.get("KWX_JIT", "1") != "0"


def sources_digest() -> str:
    """Sixteen hex digits over every Python source and rule file here and the versions that shape machine code."""
    digest = hashlib.sha256()
    here = Path(__file__).parent
    read = [here.parent / "ingest" / name for name in INGEST]
    for path in sorted([*here.glob("*.py"), here / "rulesets" / "base.toml", *read]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    return digest.hexdigest()[:16]


def _writable_cache() -> Path | None:
    """The first folder that can be written: KWX_CACHE, the user's cache folder; None runs uncached."""
    named = os.environ.get("KWX_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for base in [named] if named else [os.path.join(home, "kwx")]:
        folder = Path(base) / sources_digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".probe{os.getpid()}"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        return folder
    return None


CACHE = _writable_cache() if COMPILED else None
if CACHE is not None:
    numba.config.CACHE_DIR = str(CACHE)


def first_run() -> bool:
    """Whether the engine still has to be compiled on this machine, which takes half a minute."""
    return COMPILED and (CACHE is None or next(CACHE.glob("*/*.nbi"), None) is None)


def jit(function: F) -> F:
    """Compile to machine code without the GIL; integers wrap and no index is checked, so callers check ranges."""
    return _compile(function)


def inner(function: F) -> F:
    """The same for functions that only compiled ones call: without a Python entry they compile a third faster."""
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def small(function: F) -> F:
    """The same for functions of a few lines: they are put into those that call them."""
    return _compile(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def _compile(function: F, **options: bool) -> F:
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
