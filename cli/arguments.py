"""What the commands share: their options as types, the reader they make of them, progress, machine output."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from analytics.cluster.merge import Merged
    from ingest.mask import Mask
    from ingest.read import Reader

app = typer.Typer(
    help="Replays, checks and analyses recorded Ka Wu Xing (卡五星) mahjong rounds.",
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip

Logs = Annotated[
    list[str], typer.Argument(metavar="LOGS", help="Files, folders, globs, s3://…, .gz .zst .zip; -: standard input.")
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
MaskKey = Annotated[
    str | None,
    typer.Option("--mask", metavar="KEY", help="Write accounts as pseudonyms under this key, or @FILE that holds it."),
]
Port = Annotated[int | None, typer.Option(metavar="N", min=0, max=65535, help="TCP port on loopback; 0: a free one.")]


class UsageError(Exception):
    """A wrong argument; the message says which and what was expected."""


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
    from replay import ruleset, scan

    return Reader(
        logs, site=site, users=users, rules=rules, options=options(rules, choices), check_rules=ruleset.check,
        scanner=scan.fastest, **more,
    )  # fmt: skip


def masking(key: str | None) -> "Mask | None":
    """--mask KEY or --mask @FILE; MaskError when the key is too short to mask anything."""
    from ingest.mask import Mask

    if key is None:
        return None
    return Mask(Path(key[1:]).read_text(encoding="utf-8").strip() if key.startswith("@") else key)


@contextmanager
def progress(
    what: str, printing: bool = False, source: "Reader | Merged | None" = None, rounds: int | None = None
) -> Iterator[Callable[[int], None]]:
    """Rounds done, their rate and the time left on a terminal, silent elsewhere; gives the function that adds rounds.

    printing: lines are printed meanwhile, so a terminal that shows them shows no counter.  The time left is told by
    the bytes of the files that `source` has read, or by the number of rounds that there will be.
    """
    if sys.stderr.isatty():
        from replay.jit import first_run

        if first_run():
            say("compiling the engine for this machine, once: this takes up to half a minute")
    if not sys.stderr.isatty() or printing and sys.stdout.isatty():
        yield lambda more: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    total = source.total_bytes() if source is not None else rounds
    columns: list[Any] = [SpinnerColumn(), TextColumn("{task.description} {task.fields[told]}"), TimeElapsedColumn()]
    if total:
        columns += [BarColumn(20), TimeRemainingColumn(compact=True), TextColumn("left")]
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    count = 0
    with bar:
        task = bar.add_task(what, total=total, told="")

        def step(more: int) -> None:
            nonlocal count
            count += more
            rate = count / max(bar.tasks[0].elapsed or 0, 0.1)
            done = source.read_bytes if source is not None else count
            bar.update(task, completed=done, told=f"{count:,} rounds, {rate:,.0f} a second")

        yield step


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """What is being worked on, with the time so far, on a terminal, silent elsewhere; gives the function to tell it."""
    if not sys.stderr.isatty():
        yield lambda what: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.completed} checks, {task.description}"), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False)
    with bar:
        task = bar.add_task("begins")
        yield lambda what: bar.update(task, description=what, advance=1)


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
