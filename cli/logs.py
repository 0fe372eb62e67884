"""Commands that take logs and make none of them a data set: check, show, fit, simulate, convert."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.arguments import (
    AsJson,
    Choice,
    Logs,
    MaskKey,
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
    write,
)


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
    with progress("checked", printing=True, source=source) as step:
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


def _list_cheats(wanted: bool) -> None:
    """Prints the cheats and ends."""
    if wanted:
        from replay.cheats import listing_text

        sys.stdout.write(listing_text())
        raise typer.Exit


@app.command()
def simulate(
    rules: Annotated[str, typer.Option(metavar="ID", help="The ruleset to play.")],
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="How many rounds.")],
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="The same seed gives the same bytes.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help=".jsonl, .jsonl.gz/.zst, .parquet.")],
    option: Choice = None,
    accounts: Annotated[
        int | None,
        typer.Option(metavar="N", min=3, help="A population of so many, who differ in strength, hours, stakes, speed."),
    ] = None,
    cheat: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:K=V,…", help="Plant a cheat; may be repeated. Labels go to FILE.labels.jsonl."),
    ] = None,
    list_cheats: Annotated[
        bool, typer.Option("--list-cheats", help="List the cheats and stop.", callback=_list_cheats, is_eager=True)
    ] = False,
) -> None:
    """Play rounds by itself and log them.

    Walls, commitments and results included; the same seed gives the same bytes.
    """
    chosen = options(rules, option)
    with progress("played", rounds=rounds) as step:
        if accounts is None and not cheat:
            from replay import simulate

            simulate.write(output, rules, chosen, rounds, seed, progress=step)
        else:
            from replay import crooked

            crooked.write(output, rules, chosen, rounds, seed, cheats=cheat or (), accounts=accounts, progress=step)


@app.command()
def convert(
    logs: Logs,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help=".jsonl, .jsonl.gz/.zst, .parquet; also s3://….")
    ],
    site: Site = None, users: Users = None, mask: MaskKey = None,
) -> None:  # fmt: skip
    """Write logs of any format as a kwx log.

    Without loss; what can't be read as a round is named on stderr. With --mask without accounts, and without what may
    tell them: private keys and the chain of lines.
    """
    from ingest.write import write as write_rounds

    masked = masking(mask)
    source = reader(logs, site, users, None, None, keep_raw=masked is None)

    def refused(rejects: Any) -> None:
        for row in rejects.to_pylist():  # a message may quote the record
            say(f"{row['source']}:{row['line']}:-: {row['code']}" + ("" if masked else f": {row['message']}"))

    with progress("written", printing=True, source=source) as step:
        write_rounds(source, output, step, refused, masked)
    totals = {name: sum(source.sources()[name].to_pylist()) for name in ("records", "rounds", "repeats", "rejects")}
    for note in source.notes:
        say(note)
    say(", ".join(f"{count:,} {name}" for name, count in totals.items()))
    raise SystemExit(int(totals["rejects"] > 0))
