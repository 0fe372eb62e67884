"""Commands that make a data set, judge one or show one: demo, run, audit, dashboard."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.arguments import (
    AsJson,
    Choice,
    Db,
    Logs,
    MaskKey,
    Port,
    Rules,
    Site,
    UsageError,
    Users,
    app,
    found,
    in_words,
    masking,
    options,
    progress,
    reader,
    say,
    steps,
    write,
)


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
    parquet: Annotated[
        str | None, typer.Option(metavar="DIR", help="Also write the data set as Parquet: a folder, or s3://….")
    ] = None,
    mask: MaskKey = None,
    facts: Annotated[bool, typer.Option("--facts/--no-facts", help="Find the facts of each seat and draw.")] = True,
    workers: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Share the work: a dask scheduler, tcp://HOST:8786, or local:N."),
    ] = None,
    shared: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where the workers' partitions go: a folder of all, or s3://….")
    ] = None,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """The main job: logs into a data set.

    Reads logs, replays and checks every round, and loads all of it into a DuckDB file in one step. The same logs again
    change nothing, new ones are added; a dashboard that is open moves on by itself. --mask is for the Parquet data set.
    """
    from analytics import export, target, warehouse

    if mask is not None and parquet is None:
        raise UsageError("run: --mask is for the data set that --parquet writes")
    masked = masking(mask)
    if parquet is not None:
        target.target(parquet)  # a place that can't take it is told before the work
    if workers is None and shared is not None:
        raise UsageError("run: --shared goes with --workers")
    if workers is None:
        source = reader(logs, site, users, rules, option)
        with progress("replayed", source=source) as step:
            summary = warehouse.load(source, db, facts=facts, progress=step)
        notes = source.notes
    else:
        from analytics.cluster.load import load
        from analytics.cluster.work import Asked

        named = (users.name, users.read_bytes()) if users is not None else None
        asked = Asked(site, named, rules, options(rules, option), facts)
        summary, notes = load(
            logs, db, workers, shared=shared, asked=asked, watched=lambda merged: progress("merged", source=merged)
        )
    for note in notes:
        say(note)
    if summary["facts"]:
        say(f"the facts of {summary['facts']:,} rounds that were loaded without them are added")
    if summary["without_facts"]:
        say(
            f"{summary['without_facts']:,} rounds stay without facts, as their ruleset has changed since they were "
            "loaded: load their logs into a new file"
        )
    if parquet is not None:
        export.write(db, parquet, masked)
    if as_json:
        write({"kind": "summary", **summary})
    else:
        print(f"{in_words(summary)}; {db} {'is complete' if summary['changed'] else 'holds all of it already'}")
    raise SystemExit(found(summary))


@app.command()
def audit(
    db: Db,
    report: Annotated[Path | None, typer.Option(metavar="FILE.html", help="Write the report.")] = None,
    as_json: AsJson = False,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Test what the shuffle fails again on other games.")
    ] = False,
    confirm_with: Annotated[
        Path | None, typer.Option("--confirm-with", metavar="FILE", help="The same, on another data set.")
    ] = None,
    mask: MaskKey = None,
) -> None:
    """Is the shuffle fair, is anyone cheating?

    Runs the fairness battery on a data set: the verdict, each check with n, effect, adjusted p and the smallest effect
    that it would have seen. Exit code 1 when the log is at fault, the shuffle fails, or somebody should be reviewed.
    """
    from analytics import report as audits
    from analytics import report_html

    if confirm and confirm_with is not None:
        raise UsageError("audit: give one of --confirm and --confirm-with")
    masked = masking(mask)
    with steps() as step:
        made = audits.make(db, confirm_with or confirm, step, masked)
    if report is not None:
        report_html.write(report, made)
    if as_json:
        for line in audits.lines(made):
            print(line)
    else:
        sys.stdout.write(audits.board(made))
    raise SystemExit(int(made.found))


@app.command()
def dashboard(
    db: Annotated[Path | None, typer.Option(metavar="FILE", help="The DuckDB file.")] = None, port: Port = None
) -> None:
    """Show a data set in the browser.

    On this machine only; Ctrl-C ends it. Without --db it begins with a demo or with logs from the browser, which go to
    the folder kwx-data beside the data set, or here (KWX_DATA names another one).
    """
    _serve(db, port)


def _serve(db: Path | None, port: int | None) -> None:
    """Serves the dashboard; does not return."""
    from dashboard import serve

    serve.serve(db, port)
