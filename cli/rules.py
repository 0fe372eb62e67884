"""Commands about the rules: score and waits of single hands, and the rulesets themselves."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.arguments import AsJson, Choice, UsageError, app, options, write


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
