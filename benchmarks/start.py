"""What a user waits for before anything is done: --help, a warm check, the first compile, the first demo.

python benchmarks/start.py
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report

TEN = 10  # rounds that are checked
KWX = [sys.executable, "-c", "import sys, kwx; kwx.main()"]


def took(*arguments: str, **environment: str) -> tuple[float, float]:
    """(wall, CPU) seconds of a command, its own processes included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    settings = os.environ | {"PYTHONPATH": str(report.ROOT)} | environment
    run = subprocess.run([*KWX, *arguments], env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode > 1:
        raise SystemExit(f"kwx {' '.join(arguments)}: {run.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured() -> tuple[str, dict[str, tuple[float, float]]]:
    """The section, and (wall, CPU) seconds by what was done."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ten = folder / "ten.jsonl"
        lines = (report.ROOT / "tests" / "data" / "hubei.jsonl").read_bytes().splitlines(keepends=True)
        ten.write_bytes(b"".join(lines[:TEN]))
        check, cache = ("check", str(ten)), {"KWX_CACHE": str(folder / "cache")}
        took("--help")
        found = {"`kwx --help`": took("--help"), "`kwx check` of ten rounds, nothing compiled": took(*check, **cache)}
        took(*check, **cache)
        found["`kwx check` of ten rounds, compiled"] = took(*check, **cache)
        demo = ("demo", "--no-serve", "--folder", str(folder / "demo"))
        found["`kwx demo --no-serve`, nothing compiled"] = took(*demo, KWX_CACHE=str(folder / "other"))
    rows = [(what, f"{wall:.2f}", f"{cpu:.2f}") for what, (wall, cpu) in found.items()]
    return report.table(("command", "s", "CPU s"), rows), found


if __name__ == "__main__":
    print(report.machine("numba") + "\n\n" + measured()[0])
