"""The command line: parses arguments, calls the packages, prints; no logic of its own.

Machine output goes to stdout, messages and progress to stderr.  Exit codes: 0 fine, 1 problems found, 2 wrong usage or
unreadable input, 130 interrupted.  The packages are imported inside the commands: `kwx --help` needs none of them.
Source: cli.md.
"""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ingest.read import Reader

app = typer.Typer(
    help="Replays, checks and analyses recorded Ka Wu Xing (卡五星) mahjong rounds.",
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip

Logs = Annotated[
    list[str], typer.Argument(metavar="LOGS", help="Files, folders, globs, .gz .zst .zip; - is standard input.")
]
Site = Annotated[str | None, typer.Option(metavar="S", help="The site that rounds belong to whose log names none.")]
Users = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="CSV game,seat,account[,from_round]: who sat where."
    ),
]
Rules = Annotated[str | None, typer.Option(metavar="ID", help="Take this ruleset, whatever the log says.")]
Choice = Annotated[list[str] | None, typer.Option("--option", metavar="K=V", help="A room option; may be repeated.")]
Db = Annotated[Path, typer.Option(metavar="FILE", help="The DuckDB file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Machine output, one JSON object a line.")]
Port = Annotated[int | None, typer.Option(metavar="N", min=0, max=65535, help="TCP port on loopback; 0: a free one.")]


PACKAGES = ("kwx", "__main__", "ingest", "replay", "analytics", "dashboard")


class UsageError(Exception):
    """A wrong argument; the message says which and what was expected."""


def main(arguments: list[str] | None = None) -> None:
    """The console script `kwx`; always ends in SystemExit, and an expected error is one line on stderr."""
    if hasattr(signal, "SIGPIPE") and arguments is None:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `kwx … | head` ends as other Unix tools do
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still shows the line
    try:
        app(arguments, prog_name="kwx")
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        # An error class of our own is a clear message about wrong input; anything else is a fault of ours.
        if type(error).__module__.split(".")[0] not in PACKAGES:
            raise
        fail(str(error))


def fail(message: str) -> None:
    """Prints an error and exits with 2."""
    print(f"kwx: {message}", file=sys.stderr)
    raise SystemExit(2)


def say(message: str) -> None:
    """A message for people, on stderr."""
    print(message, file=sys.stderr)


def options(rules: str | None, choices: list[str] | None) -> dict[str, Any] | None:
    """--option K=V as a dict, checked against the ruleset when one is named; UsageError says what was expected."""
    from replay import ruleset

    chosen: dict[str, Any] = {}
    for choice in choices or ():
        key, equals, value = choice.partition("=")
        if not equals or not key:
            raise UsageError(f"--option {choice}: expected K=V, for example score.cap=16")
        try:
            chosen[key] = json.loads(value)
        except (ValueError, RecursionError):
            chosen[key] = value
        if key not in ruleset.BASE:
            raise UsageError(f"--option {choice}: unknown key {key!r}{ruleset.hint(key, ruleset.BASE)}")
    if rules is not None and (wrong := ruleset.check(rules, chosen)):
        raise UsageError(f"--rules {rules}: {wrong[2]}")
    return chosen or None


def reader(
    logs: list[str], site: str | None, users: Path | None, rules: str | None, choices: list[str] | None, **more: Any
) -> "Reader":
    """The reader of the logs that a command was given."""
    from ingest.read import Reader
    from replay import ruleset

    return Reader(
        logs, site=site, users=users, rules=rules, options=options(rules, choices), check_rules=ruleset.check, **more
    )


@contextmanager
def progress(what: str, printing: bool = False) -> Iterator[Callable[[int], None]]:
    """A counter of rounds on a terminal, silent elsewhere; gives the function that adds to it.

    printing: lines are printed meanwhile, so a terminal that shows them shows no counter.
    """
    if sys.stderr.isatty():
        from replay.jit import first_run

        if first_run():
            say("compiling the engine for this machine, once: this takes half a minute")
    if not sys.stderr.isatty() or printing and sys.stdout.isatty():
        yield lambda rounds: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description} {task.completed:,.0f} rounds"), TimeElapsedColumn()
    bar = Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda rounds: bar.advance(task, rounds)


def write(value: Any) -> None:
    """One JSON object as one line of machine output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


COUNTS = ("records", "rounds", "repeats", "rejects", "clean", "violation", "mismatch", "unpaid")


def in_words(counts: dict[str, Any]) -> str:
    """The closing line of `run` and `check`."""
    return ", ".join(f"{counts[name]:,} {name}" for name in COUNTS)


def found(counts: dict[str, Any]) -> int:
    """The exit code: 1 when there are problems; unpaid rounds alone are none."""
    return int(any(counts[name] for name in ("rejects", "violation", "mismatch")))


@app.command()
def demo(
    rounds: Annotated[int, typer.Option(metavar="N", min=10, help="Simulated rounds.")] = 3000,
    serve: Annotated[bool, typer.Option("--serve/--no-serve", help="Open the dashboard at the end.")] = True,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where to put logs and data set.")] = Path("kwx-demo"),
    port: Port = None,
) -> None:
    """Sample rounds with planted faults, checked and shown.

    Plays rounds by itself, plants a few faults in them, adds recordings of public servers, runs the whole pipeline into
    DIR, prints what it planted and what was found, and opens the dashboard.
    """
    from analytics import demo

    with progress("working") as step:
        made = demo.make(folder, rounds, step)
    print("planted in the simulated rounds:")
    for fault, seen in made.planted:
        print(f"  {'found' if seen else 'NOT FOUND':<10} {fault.source}:{fault.line}: {fault.code}: {fault.what}")
    print("found in the recordings of public servers:")
    for code, count in made.recorded.items():
        print(f"  {count:>5}  {code}")
    print(f"{made.db}: {in_words(made.summary)}")
    print(f"look closer: kwx check {folder / 'logs'}")
    if made.example:
        print(f"             kwx show {made.example} --db {made.db}")
    if serve and made.complete:
        _serve(made.db, port)
    raise SystemExit(0 if made.complete else 1)


@app.command()
def run(
    logs: Logs, db: Db, site: Site = None, users: Users = None, rules: Rules = None, option: Choice = None,
    parquet: Annotated[Path | None, typer.Option(metavar="DIR", help="Also write the data set as Parquet.")] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """The main job: logs into a data set.

    Reads logs, replays and checks every round, and loads all of it into a DuckDB file in one step. The same logs again
    change nothing, new ones are added; a dashboard that is open moves on by itself.
    """
    from analytics import export, warehouse

    source = reader(logs, site, users, rules, option)
    with progress("replayed") as step:
        summary = warehouse.load(source, db, progress=step)
    for note in source.notes:
        say(note)
    if parquet is not None:
        export.write(db, parquet)
    if as_json:
        write({"kind": "summary", **summary})
    else:
        print(f"{in_words(summary)}; {db} {'is complete' if summary['changed'] else 'holds all of it already'}")
    raise SystemExit(found(summary))


@app.command()
def check(
    logs: Logs, site: Site = None, users: Users = None, rules: Rules = None, option: Choice = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Print every reject, violation and mismatch.

    One line each, file:line:event: code: message ("-" for an event: the whole round), and a closing count. --rules and
    --option test a claim about which rules were played.
    """
    from replay.check import problems

    source = reader(logs, site, users, rules, option)
    summary: dict[str, Any] = {}
    with progress("checked", printing=True) as step:
        for row in problems(source, step):
            if row["kind"] == "summary":
                summary = row
            elif as_json:
                write(row)
            else:
                event = "-" if row["event"] is None else row["event"]
                because = f" [explained by {' or '.join(row['explained_by'])}]" if row["explained_by"] else ""
                print(f"{row['source']}:{row['line']}:{event}: {row['code']}: {row['message']}{because}")
    for note in source.notes:
        say(note)
    if as_json:
        write(summary)
    else:
        print(in_words(summary))
    raise SystemExit(found(summary))


def _serve(db: Path, port: int | None) -> None:
    """Serves the dashboard; does not return."""
    from dashboard import serve

    serve.serve(db, port)


@app.command()
def show(
    ident: Annotated[str, typer.Argument(metavar="ID", help="site/game/round, each part URL-escaped.")],
    logs: Annotated[list[str] | None, typer.Argument(metavar="LOGS", help="Where the round stands.")] = None,
    db: Annotated[Path | None, typer.Option(metavar="FILE", help="Take the round from this data set.")] = None,
    event: Annotated[int | None, typer.Option(metavar="N", help="Only the table after event N.")] = None,
    pov: Annotated[int | None, typer.Option(metavar="SEAT", min=0, max=2, help="What this seat could see.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an evidence file instead.")] = None,
    site: Site = None, users: Users = None, rules: Rules = None, option: Choice = None,
) -> None:  # fmt: skip
    """One round, step by step.

    Events, hands, waits with live tiles, fans, every payment, and the problems where they happened.
    """
    if bool(logs) == (db is not None):
        raise UsageError("show: give either LOGS or --db FILE")
    if db is not None:
        from analytics.one_round import from_data_set

        tables = from_data_set(db, ident)
    else:
        from replay.one_round import from_logs

        tables = from_logs(reader(logs, site, users, rules, option, keep_raw=True), ident)
    if html is not None:
        from dashboard import evidence

        evidence.write(html, tables)
        return
    from replay.show_text import render

    sys.stdout.write(render(tables, event, pov))


@app.command()
def fit(logs: Logs, site: Site = None, users: Users = None, as_json: AsJson = False) -> None:
    """Which rules were played.

    Rounds explained per ruleset, whatever the log claims, and per one or two changed keys; best first.
    """
    from replay.fit import fit as explained

    for one in explained(reader(logs, site, users, None, None)):
        if as_json:
            write(one._asdict())
        else:
            print(f"{one.explained:>7} of {one.rounds}  {' '.join([one.ruleset, *one.changes])}")


def _print(answers: Iterator[dict[str, Any]]) -> None:
    """One JSON line for each answer; exit 1 when one of them is an error."""
    wrong = 0
    for answer in answers:
        wrong += "error" in answer
        write(answer)
    raise SystemExit(1 if wrong else 0)


Files = Annotated[list[str] | None, typer.Argument(metavar="FILES", help="JSON lines; none: standard input.")]


@app.command()
def score(
    files: Files = None,
    rules: Annotated[str | None, typer.Option(metavar="ID", help="The ruleset where a line names none.")] = None,
    option: Choice = None,
) -> None:
    """Score winning hands, JSON lines in and out.

    In: id, concealed, melds, win, by, revealed, after_kong, last_tile, and rules and options, which stand in place of
    the flags (docs/log-format.md, section 4).
    Out: {"id", "multiple", "fans"}, both null when it is no win, or {"id", "error"}.
    """
    from replay.score import answers, score_line

    chosen = options(rules, option)
    _print(answers(files or ["-"], lambda hand: score_line(hand, rules, chosen)))


@app.command()
def waits(files: Files = None) -> None:
    """Find what completes hands, JSON lines in and out.

    In: id, concealed, melds. Out: {"id", "waits"} or {"id", "error"}.
    """
    from replay.score import answers, waits_line

    _print(answers(files or ["-"], waits_line))


@app.command()
def rules(
    ident: Annotated[str | None, typer.Argument(metavar="ID", help="Explain this ruleset, key by key.")] = None,
    diff: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help="Compare two rulesets.")] = None,
    file: Annotated[Path | None, typer.Option("--check", metavar="FILE", help="Check a ruleset data file.")] = None,
    option: Choice = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """List, explain, compare or check rulesets."""
    from replay import rules_text

    if sum(choice is not None for choice in (ident, diff, file)) > 1:
        raise UsageError("rules: give one of ID, --diff and --check")
    if file is not None:
        rows, shown = [], f"{file}: fine, examples that hold: {rules_text.check_file(file)}\n"
    elif diff is not None:
        rows, shown = rules_text.difference(*diff), rules_text.difference_text(*diff)
    elif ident is not None:
        chosen = options(None, option)
        rows, shown = rules_text.explanation(ident, chosen), rules_text.explanation_text(ident, chosen)
    else:
        rows, shown = rules_text.listing(), rules_text.listing_text()
    if as_json:
        for row in rows:
            write(row)
    else:
        sys.stdout.write(shown)


@app.command()
def simulate(
    rules: Annotated[str, typer.Option(metavar="ID", help="The ruleset to play.")],
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="How many rounds.")],
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="The same seed gives the same bytes.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=".jsonl, .jsonl.gz/.zst, .parquet.")],
    option: Choice = None,
) -> None:
    """Play rounds by itself and log them.

    Walls, commitments and results included; the same seed gives the same bytes.
    """
    from replay import simulate

    with progress("played") as step:
        simulate.write(output, rules, options(rules, option), rounds, seed, progress=step)


@app.command()
def convert(
    logs: Logs,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=".jsonl, .jsonl.gz/.zst, .parquet.")],
    site: Site = None, users: Users = None,
) -> None:  # fmt: skip
    """Write logs of any format as a kwx log.

    Without loss; what can't be read as a round is named on stderr.
    """
    from ingest.write import write as write_rounds

    source = reader(logs, site, users, None, None, keep_raw=True)

    def refused(rejects: Any) -> None:
        for row in rejects.to_pylist():
            say(f"{row['source']}:{row['line']}:-: {row['code']}: {row['message']}")

    with progress("written", printing=True) as step:
        write_rounds(source, output, step, refused)
    totals = {name: sum(source.sources()[name].to_pylist()) for name in ("records", "rounds", "repeats", "rejects")}
    for note in source.notes:
        say(note)
    say(", ".join(f"{count:,} {name}" for name, count in totals.items()))
    raise SystemExit(int(totals["rejects"] > 0))


@app.command()
def dashboard(db: Db, port: Port = None) -> None:
    """Show a data set in the browser.

    On this machine only; Ctrl-C ends it.
    """
    _serve(db, port)


if __name__ == "__main__":
    main()
