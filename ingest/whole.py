"""A file that appears whole under its name or not at all: written beside it, then put in its place."""

import os
from pathlib import Path


class WholeError(Exception):
    """A file that cannot be written; the message names it and says why."""


def write_whole(path: str | Path, content: str | bytes, error: type[Exception] = WholeError) -> None:
    """Writes bytes, or a text as UTF-8; `error`, naming the file, for what the system refuses."""
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.replace(partial, path)
    except OSError as refused:
        raise error(f"{path}: {refused.strerror}") from refused
    finally:
        partial.unlink(missing_ok=True)
