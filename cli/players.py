"""Commands about one account: player."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.arguments import AsJson, Db, MaskKey, UsageError, app, masking, say, write

ACTIONS = {
    "win": "win", "pass": "pass", "pung": "pung {}", "kong_exposed": "kong {}", "kong_added": "add {} to the pung",
    "kong_concealed": "concealed kong {}", "discard": "discard {}", "no_safe_tile": "end: no safe tile",
}  # fmt: skip
NOTES = {
    "win_passed": "a win passed", "kong_passed": "a kong passed", "pung_passed": "a pung passed",
    "into_revealed": "a discard that a revealed hand waits for", "further": "further from ready than need be",
    "fewer_useful": "fewer useful tiles than need be", "narrow_wait": "a wait with fewer live tiles than another",
}  # fmt: skip


@app.command()
def player(
    account: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account, as the logs name it.")],
    db: Db,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Review so many of its latest rounds.")] = 100,
    rollouts: Annotated[
        int, typer.Option(metavar="N", min=32, help="Rollouts of each option of the decisions listed.")
    ] = 1000,
    worst: Annotated[int, typer.Option(metavar="N", min=1, help="List so many decisions, the costliest first.")] = 20,
    site: Annotated[str | None, typer.Option(metavar="S", help="The account's site, where several have it.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Write tables: statistics, opponents, rounds, fans, pursuit, decisions, options."
        ),
    ] = None,
    kinds: Annotated[
        list[str] | None, typer.Option("--as", metavar="KIND", help="csv (the default), parquet, json; repeatable.")
    ] = None,
    mask: MaskKey = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """One account's statistics and its costliest decisions.

    Every decision of its own is compared with its other options by playing the round on from what the account could
    see, many times. Who plays on is kwx's own policy in all three seats: docs/review.md says how strong it is.
    """
    from analytics import player_tables
    from analytics import save as files
    from analytics.player import report

    if kinds and save is None:
        raise UsageError("player: --as goes with --save")
    for kind in kinds or ():
        if kind not in files.KINDS:
            raise UsageError(f"--as {kind}: expected one of {', '.join(files.KINDS)}")
    masked = masking(mask)
    with _remaining() as step:
        found = report(
            db, account, site=site, rounds=rounds, rollouts=rollouts, worst=worst, mask=masked, progress=step
        )
    if save is not None:
        made = files.write(save, player_tables.tables(db, account, found, site, masked), kinds or ["csv"])
        say(f"{len(made)} files in {save}")
    if as_json:
        write({"kind": "account", **{key: found[key] for key in ("account", "site", "luck", "review")}})
        for kind, rows in (("statistic", "statistics"), ("opponent", "opponents"), ("decision", "worst")):
            for one in found[rows]:
                write({"kind": kind, **one})
    else:
        sys.stdout.write("\n".join([*_head(found), "", *_worst(found["worst"])]) + "\n")


@contextmanager
def _remaining() -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left on a terminal, a line every tenth elsewhere; gives the function told (done, in all)."""
    if not sys.stderr.isatty():
        yield _tenth
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from replay.jit import first_run

    if first_run():
        say("compiling the engine for this machine, once: this takes up to half a minute")
    columns = TextColumn("reviewing"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("reviewing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _tenth(done: int, total: int) -> None:
    """A line whenever another tenth of the work is done: a log of a long run shows that it goes on."""
    if 10 * done // total > 10 * (done - 1) // total:
        say(f"reviewing: {done:,} of at least {total:,} pieces of work done")


def plain(text: str) -> str:
    """Text from a log for a terminal: what does not print stands as its code."""
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in text)


def _head(found: dict[str, Any]) -> list[str]:
    review = found["review"]
    name = plain(found["account"]) + (f" at {plain(found['site'])}" if found["site"] else "")
    return [
        name,
        *_statistics(found["statistics"]),
        *_luck(found["luck"]),
        "",
        f"reviewed: the latest {review['rounds']:,} rounds, {review['decisions']:,} decisions, "
        f"{review['discards']:,} of them discards",
        *(f"  left out: {count:,} rounds, {why}" for why, count in review["skipped"].items()),
        *(f"  {count:,} times {NOTES[note]}" for note, count in review["notes"].items()),
        f"the {review['refined']:,} most doubtful, played out: {review['loss_per_round']:.2f} ± "
        f"{review['loss_per_round_error']:.2f} stakes a round below the best options found (± one standard error)",
        "  kwx's own policy plays all three seats on: what it would gain, not what the best player would",
    ]


def _statistics(rows: list[dict[str, Any]]) -> list[str]:
    """One line a statistic: value, 95 % interval, n, how many of the other accounts are lower."""
    from analytics.metrics import registry

    known, lines = registry(), []
    for row in rows:
        one = known[row["metric"]]
        scale, unit = (100, "%") if one.unit == "share" else (1, one.unit)
        ends = [f"{scale * row[end]:.2f}" if row[end] is not None else "?" for end in ("value", "low", "high")]
        rank = "" if row["percentile"] is None else f", above {row['percentile']:.0%} of {row['of']} accounts"
        lines.append(f"  {one.en:<44} {ends[0]:>7} {unit} ({ends[1]} to {ends[2]}), n {row['n']:,}{rank}")
    return lines


def _luck(found: dict[str, Any] | None) -> list[str]:
    """What of the net the tiles brought, where the log knows the draws."""
    if found is None:
        return []
    ends = [f"{found[name]:+.2f}" if found[name] is not None else "?" for name in ("adjusted_low", "adjusted_high")]
    return [
        f"  of {found['net']:+.2f} stakes a round, the tiles were worth {found['luck']:+.2f}; luck-adjusted result "
        f"{found['adjusted']:+.2f} ({ends[0]} to {ends[1]}), n {found['n']:,}"
    ]


def _worst(rows: list[dict[str, Any]]) -> list[str]:
    if not rows:
        return ["no decision in which another option did better"]
    lines = ["the costliest decisions; * clearly so: three standard errors or more"]
    for number, row in enumerate(rows, 1):
        played, best = row["options"][row["played"]], row["options"][row["best"]]
        star = "*" if row["flagged"] else " "
        lines.append(
            f"{number:>3}{star} {row['loss_stakes']:6.2f} ± {row['loss_stakes_error']:.2f} stakes (n {row['n']:,})  "
            f"{_action(played)}, better: {_action(best)}"
        )
        told = [NOTES[note] for note in row["notes"]]
        lines.append(
            f"     {played['value']:+.2f} against {best['value']:+.2f} points" + "".join(f"; {one}" for one in told)
        )
        lines.append(f"     {plain(row['id'])} at event {row['no']}, seat {row['seat']}, {row['wall_left']} tiles left")
    return lines


def _action(option: dict[str, Any]) -> str:
    text = ACTIONS[option["action"]].format(option["tile"])
    return f"reveal and {text}" if option["reveal"] else text
