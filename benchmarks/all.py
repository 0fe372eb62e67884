"""The whole table of speed in one run on this machine, written to benchmarks/RESULTS.md.

    python benchmarks/all.py [--rules hubei] [--most 1000000] [--others FOLDER] [--print]

What one core does with a log, readers of JSON beside ours, replay tools of other games beside ours, sizes from 1,000
rounds to `--most` (10,000,000 takes some ten minutes and 20 GB of disk) on two cores and one, and what a user waits for
at the start.  Some minutes in all.  `--others` names a folder that keeps the virtual environment of the other games'
tools; `--print` shows everything and writes nothing.  Other sections of RESULTS.md stay: they are of runs of their own.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import one_core
import other_engines
import report
import scaling
import start

ROUNDS, FLOOR_ROUNDS = 50_000, 245_760
ABOUT = {
    "Speed": "`python benchmarks/all.py`: all down to \"Start\" is of the same run, so that the ratios count.",
    "One core": "CPU seconds of one thread, the best of three (loading once). \"Validated\" is the bytes of an NDJSON "
                "log to verdicts, ledger and all other tables, every rule on. The plain log has walls and results, the "
                "other also a commitment a round (one SHA-256) and thinking times.",
    "Bytes to columns": "The readers beside ours parse JSON and check nothing; ours checks every key, tile, token and "
                        "range, decodes them, and takes three hashes (source, line, identity). CPU seconds of one "
                        "thread, the best of three.",
    "Beside replay tools of other games": "One thread each, from the text of a log to the end of the tool's checks; "
                                          "each reads logs of its own game by random players. kwx: the plain log.",
    "Sizes and cores": "The whole pipeline, without facts, of plain logs; DuckDB merely loads the same file with "
                       "read_json on as many threads.",
    "Steps of a load": "One after the other, one thread, beside DuckDB merely loading the file. Bare inserts of the "
                       "finished tables are what no load into them can do without.",
    "Start": "The commands of a user, in new processes; \"nothing compiled\": an empty cache.",
}  # fmt: skip


def said(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def told(script: str, rules: str, rounds: int) -> str:
    """What a benchmark prints in a process of its own, without its first line."""
    command = [sys.executable, Path(__file__).with_name(script), "--rounds", str(rounds), "--rules", rules]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.partition("\n\n")[2]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rules", default="hubei")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of the logs of one core")
    parser.add_argument("--most", type=int, default=1_000_000, help="rounds of the largest size, 10,000 at least")
    parser.add_argument("--seconds", type=float, default=4, help="CPU seconds to measure each tool for, at least")
    parser.add_argument("--others", type=Path, help="folder of the virtual environment of other games' tools")
    parser.add_argument("--print", action="store_true", help="write nothing")
    chosen = parser.parse_args()
    sections = {}
    machine = report.machine("duckdb", "numba", "polars", "pyarrow", "numpy") + f"; {chosen.rules}"
    said("start …")
    sections["Start"], waits = start.measured()
    said("one core …")
    sections["One core"], events, compiled = one_core.measured(chosen.rounds, chosen.rules)
    said("readers …")
    sections["Bytes to columns"] = told("reading.py", chosen.rules, chosen.rounds)
    said("steps of a load …")
    sections["Steps of a load"] = told("floor.py", chosen.rules, min(chosen.most, FLOOR_ROUNDS))
    said("other games' tools …")
    tools, speeds = other_engines.measured(chosen.rounds, chosen.seconds, chosen.others, chosen.rules)
    sections["Beside replay tools of other games"] = tools
    said("sizes …")
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000, 10_000_000) if size <= chosen.most]
    sections["Sizes and cores"], found = scaling.measured(sizes, list(scaling.CORES), chosen.rules)
    sections["Speed"] = machine + "\n\n" + aims(events, compiled, speeds, found, waits)
    before = None
    for heading, about in ABOUT.items():
        text = f"{about}\n\n{sections[heading]}"
        print(f"# {heading}\n\n{text}\n")
        if not chosen.print:
            report.put(heading, text, before)
        before = heading


def aims(
    events: float,
    compiled: float,
    speeds: dict[str, float],
    found: dict[tuple[int, int], dict[str, float]],
    waits: dict[str, tuple[float, float]],
) -> str:
    """What was to be reached, and what is."""
    most = max(rounds for rounds, _ in found)
    large, small = found[most, 2], found[most // 10, 2]
    rows = [("validated events a second and core", "8 M", f"{events / 1e6:.2f} M")]
    for name, times in (("libriichi (mjai)", 25), ("RiichiEnv, apply_event", 80), ("RiichiEnv, replay", 80)):
        if name in speeds:
            rows.append((f"times {name}", f"{times}", f"{speeds['kwx'] / speeds[name]:.1f}"))
    rows += [
        (f"pipeline of {most:,} rounds against DuckDB merely loading, s", "1.5 times",
         f"{large['wall'] / large['merely_wall']:.1f} times"),
        (f"{most:,} rounds end to end, 2 cores", "15 s a million", f"{large['wall']:.1f} s"),
        ("its memory", "2 GB", f"{large['memory'] / 1000:.2f} GB"),
        ("its memory against that of a tenth of the rounds", "flat",
         f"{large['memory'] / small['memory']:.2f} times"),
        ("the kernel compiled against uncompiled", "50 times", f"{compiled:,.0f} times"),
        ("first demo, nothing compiled", "60 s", f"{waits['`kwx demo --no-serve`, nothing compiled'][0]:.0f} s"),
        ("warm check of ten rounds", "2 s", f"{waits['`kwx check` of ten rounds, compiled'][0]:.2f} s"),
        ("`kwx --help`", "0.3 s", f"{waits['`kwx --help`'][0]:.2f} s"),
    ]  # fmt: skip
    return report.table(("what", "aim", "here"), rows)


if __name__ == "__main__":
    main()
