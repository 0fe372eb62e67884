"""Object stores: what stands behind an s3:// URL, opened for reading and for writing.

The library does what is common to all of them: credentials come from its own chain alone (environment, profile,
container or instance role; never from a URL of ours), the region is the bucket's, AWS_ENDPOINT_URL names another
server, and requests that fail for a while are repeated.  Keys are read as paths: a prefix is a folder.
"""

import fnmatch
import io
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

SCHEME = "s3://"
AHEAD = 1 << 23  # bytes of one request when an object is read from its beginning to its end
SEEK = 1 << 22  # and when it is read here and there
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_MAGIC = re.compile(r"[*?\[]")
_AWS = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))? during (\w+) operation: (.*)", re.S)
CREDENTIALS = (
    "access denied, or no credentials (looked for in the environment, AWS_ACCESS_KEY_ID and the like, in the profile "
    "that AWS_PROFILE names, and in the machine's role)"
)
WORDS = {
    "ACCESS_DENIED": CREDENTIALS,
    "INVALID_ACCESS_KEY_ID": "access denied: the store does not know the access key",
    "SIGNATURE_DOES_NOT_MATCH": "access denied: the secret key is not the one of the access key",
    "INVALID_SIGNATURE": "access denied: the secret key is not the one of the access key",
    "EXPIRED_TOKEN": "access denied: the credentials have expired",
    "NO_SUCH_BUCKET": "no such bucket",
    "NO_SUCH_KEY": "no such object",
    "RESOURCE_NOT_FOUND": "no such object",
}


def is_url(path: str) -> bool:
    """Whether a path is the URL of an object or a prefix."""
    return path.startswith(SCHEME)


def split(url: str) -> tuple[str, str]:
    """Bucket and key of a URL; OSError when it names no bucket."""
    bucket, _, key = url.removeprefix(SCHEME).partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise OSError(None, f"expected {SCHEME}BUCKET/KEY, and {bucket!r} is no name of a bucket")
    if "//" in key:
        raise OSError(None, "a key with an empty part between two slashes is not read")
    return bucket, key


@lru_cache(maxsize=64)
def _store(bucket: str) -> "FileSystem":
    from pyarrow.fs import FileSystem

    return FileSystem.from_uri(SCHEME + bucket)[0]  # finds the bucket's region


def store(url: str) -> tuple["FileSystem", str]:
    """The file system of a URL and the path in it."""
    bucket, key = split(url)
    return _store(bucket), f"{bucket}/{key}".rstrip("/")


def said(error: OSError) -> str:
    """What an error of a file or of the store says, in words; the caller names the path."""
    if error.strerror and not error.strerror.startswith("Path does not exist"):
        return error.strerror
    if isinstance(error, FileNotFoundError):
        return "no such object"
    if found := _AWS.search(str(error)):
        code, status, operation, details = found.groups()
        if code == "UNKNOWN" and status == "403":
            code = "ACCESS_DENIED"
        if code == "NETWORK_CONNECTION":
            return f"the store cannot be reached: {details.rpartition('Details: ')[2]}"
        return WORDS.get(code, f"{code} in {operation}: {details}")
    return str(error)


def expand(url: str, named_like_log: Callable[[str], bool]) -> tuple[list[str], int]:
    """The objects behind a key, a prefix or a pattern (* ? [] within a name, ** across), and how many were left out.

    They come in the order in which a folder of the same files would; below a prefix only those named like a log.
    No objects when nothing is there; the OSError of the store when it refuses.
    """
    files, path = store(url)
    bucket, _, key = path.partition("/")
    if key and files.get_file_info(path).is_file:
        return [url], 0
    pattern = key.split("/")
    fixed = next((at for at, part in enumerate(pattern) if _MAGIC.search(part)), len(pattern))
    below = _below(files, "/".join([bucket, *pattern[:fixed]]).rstrip("/"))
    if not below and files.get_file_info(bucket).type.name == "NotFound":
        raise OSError(None, WORDS["NO_SUCH_BUCKET"])
    hits: dict[str, list[str]] = {}
    left_out = 0
    for found in below:
        parts = found.split("/")[1:]
        ends = range(1, len(parts) + 1) if key else [0]
        hit = next((end for end in ends if not key or _matches(parts[:end], pattern)), None)
        if hit is None or any(part.startswith(".") for part in parts[hit:-1]):
            continue
        if hit == len(parts) or named_like_log(parts[-1]):
            hits.setdefault("/".join(parts[:hit]), []).append(SCHEME + found)
        else:
            left_out += 1
    return [found for hit in sorted(hits) for found in hits[hit]], left_out


def _below(files: "FileSystem", path: str) -> list[str]:
    """The paths of all objects below a prefix, as a walk from folder to folder gives them."""
    from pyarrow.fs import FileSelector

    selector = FileSelector(path, recursive=True, allow_not_found=True)
    found = [info.path for info in files.get_file_info(selector) if info.is_file]
    return sorted(found, key=lambda path: path.split("/"))


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Whether a key matches a pattern, both in parts; as in the shell, hidden names only when it says the dot."""
    if not pattern or not parts:
        return not parts and all(part == "**" for part in pattern)
    if parts[0].startswith(".") and not pattern[0].startswith("."):
        return False
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def size(url: str) -> int:
    """Bytes of an object; OSError when there is none."""
    files, path = store(url)
    info = files.get_file_info(path)
    if not info.is_file:
        raise OSError(None, "no such object")
    return info.size


@contextmanager
def opened(url: str, seekable: bool = False) -> Iterator[IO[bytes]]:
    """An object as a binary file that can be peeked at; read from the beginning to the end unless it is `seekable`."""
    files, path = store(url)
    if seekable:
        with files.open_input_file(path) as raw, io.BufferedReader(raw, SEEK) as file:  # type: ignore[type-var]
            yield file  # type: ignore[misc]
    else:
        with files.open_input_stream(path, buffer_size=AHEAD) as raw, io.BufferedReader(raw) as file:  # type: ignore[type-var]
            yield file  # type: ignore[misc]


def put(url: str, file: IO[bytes]) -> None:
    """Stores the rest of a file under a key, whole or not at all; OSError when the store refuses."""
    files, path = store(url)
    try:
        with files.open_output_stream(path) as out:
            shutil.copyfileobj(file, out, AHEAD)
    except BaseException:
        with suppress(OSError):  # the library completes what it is made to close
            files.delete_file(path)
        raise


def listing(url: str) -> list[str]:
    """The URLs of all objects below a prefix."""
    return [SCHEME + path for path in _below(*store(url))]


def remove(url: str) -> None:
    """Deletes an object."""
    files, path = store(url)
    files.delete_file(path)
