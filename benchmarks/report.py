"""What the benchmarks share: CPU seconds, versions, tables in Markdown, and the sections of benchmarks/RESULTS.md."""

import os
import platform
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).with_name("RESULTS.md")
sys.path.insert(0, str(ROOT))


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best(work: Callable[[], object], times: int = 3) -> float:
    """CPU seconds of the best of some calls."""
    return min(cpu(work) for _ in range(times))


def machine(*packages: str) -> str:
    """Python, cores, load and the versions of packages, in one line."""
    named = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"Python {platform.python_version()}, {named}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table; columns but the first are set to the right where all their values begin with a digit."""
    heads, lines = list(heads), [[str(value) for value in row] for row in rows]
    right = [at and all(re.match(r"[\d-]", line[at]) for line in lines) for at in range(len(heads))]
    ruler = "|".join("---:" if one else "---" for one in right)
    return "\n".join([f"| {' | '.join(heads)} |", f"|{ruler}|", *(f"| {' | '.join(line)} |" for line in lines)])


def put(heading: str, text: str, after: str | None = None) -> None:
    """Make `text` the section of RESULTS.md under this heading ("# …"): in its place, else behind `after` or first."""
    parts = re.split(r"(?m)^(?=# )", RESULTS.read_text(encoding="utf-8"))
    titles = [part.partition("\n")[0] for part in parts]
    section = f"# {heading}\n\n{text.strip()}\n\n"
    if f"# {heading}" in titles:
        parts[titles.index(f"# {heading}")] = section
    else:
        parts.insert(titles.index(f"# {after}") + 1 if f"# {after}" in titles else 0, section)
    RESULTS.write_text("".join(parts).rstrip("\n") + "\n", encoding="utf-8")


def peak() -> float:
    """The most memory of this process so far, in MB: its own, where getrusage on Linux starts from its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text()).group(1)) / 1024  # type: ignore[union-attr]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
