"""The audit of a data set as a report: what was found in plain words, every row, and what it was made from.

Nothing here depends on the clock or on where files lie: the same data set and version give the same bytes.
Source: fairness.md, Contract; architecture.md, "report.py".
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from analytics import schema, warehouse
from analytics.fairness import battery, result
from analytics.fairness.result import Result
from ingest.mask import Mask

LANGUAGES = ("zh", "en")
BETWEEN = re.compile("( [→↔] )")  # the accounts of a pair
FOUND = ("flagged", "biased", "review", "escalated")  # states that end with exit code 1
STANDING = ("escalated", "review", "noted")  # states of accounts and pairs that are listed one by one


class Report(NamedTuple):
    """An audit and what it was made from."""

    rows: list[Result]
    facts: dict[str, Any]  # digests, version, counts

    @property
    def found(self) -> bool:
        """Whether anything is to be looked at."""
        return any(row.status in FOUND for row in self.rows)


@cache
def texts() -> dict[str, dict[str, dict[str, str]]]:
    """Title, finding and limits of each kind of row: [name][language][which]."""
    path = Path(battery.__file__).parent / "texts.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def words() -> dict[str, dict[str, str]]:
    """The report's own words by language."""
    return tomllib.loads((Path(__file__).parent / "report.toml").read_text(encoding="utf-8"))


def make(
    db_path: str | Path,
    confirm: bool | str | Path = False,
    step: Callable[[str], None] = lambda name: None,
    mask: Mask | None = None,
) -> Report:
    """Runs the audit; with a mask accounts stand as pseudonyms, those of masked logs.

    An audit of masked logs says the same, but that p-values of counts are randomised by names, so by others there.
    confirm: as of battery.run.  WarehouseError, BatchError.
    """
    rows = battery.run(db_path, confirm, step)
    rows = result.ordered([masked(row, mask) for row in rows] if mask else rows)
    with warehouse.connect(db_path) as connection:
        counts = schema.arrow(
            connection,
            """
            SELECT (SELECT count(*) FROM rounds) AS rounds, (SELECT count(DISTINCT game_key) FROM rounds) AS games,
                (SELECT count(DISTINCT player) FROM seats WHERE player <> '') AS accounts,
                (SELECT count(*) FROM rejects) AS rejects
            """,
        ).to_pylist()[0]
        digest = schema.digest(connection)
        rulesets = schema.arrow(
            connection,
            "SELECT ruleset, ruleset_digest AS digest, count(*) AS rounds FROM rounds GROUP BY ALL ORDER BY ALL",
        ).to_pylist()
        sources = schema.arrow(
            connection, "SELECT source, sha256, rounds FROM sources ORDER BY source, sha256"
        ).to_pylist()
        names = addresses(connection, rows)
    facts = {
        "version": version("kwx"), "digest": digest, "confirm": bool(confirm), **counts, "rulesets": rulesets,
        "sources": sources, "names": names,
    }  # fmt: skip
    if not isinstance(confirm, bool):
        with warehouse.connect(confirm) as connection:
            rounds = schema.rows(connection, "SELECT count(*) FROM rounds")[0][0]
            facts["second"] = {"digest": schema.digest(connection), "rounds": rounds}
    return Report(rows, facts)


def masked(row: Result, mask: Mask) -> Result:
    """The row with the accounts that it is about, one or a pair, as pseudonyms; in their order, as it was."""
    if not personal(row) or row.subject is None:
        return row
    if row.scope == "account":
        return row.but(subject=mask.name(row.subject))
    parts = BETWEEN.split(row.subject)
    return row.but(subject="".join(part if BETWEEN.fullmatch(part) else mask.name(part) for part in parts))


def addresses(connection: Any, rows: Iterable[Result]) -> dict[int, str]:
    """The IDs (site/game/round) of the rounds that rows with a finding give as evidence."""
    told = (row for row in rows if row.status in (*FOUND, *STANDING))
    wanted = sorted({int(one) for row in told for one in row.evidence[: result.EVIDENCE]})
    if not wanted:
        return {}
    found = connection.execute(
        "SELECT round_id, concat_ws('/', url_encode(coalesce(site, '')), url_encode(game), round::VARCHAR) "
        "FROM rounds WHERE round_id IN (SELECT unnest(?::UBIGINT[])) ORDER BY round_id",
        [wanted],
    ).fetchall()
    return dict(found)


def title(row: Result, language: str) -> str:
    """A row's name for people."""
    return texts().get(row.name, {}).get(language, {}).get("title", row.name)


def verdict(report: Report, language: str) -> list[str]:
    """The whole in plain words, most important first."""
    say, rows = words()[language], report.rows
    lines = []
    for family, key in (("log", "log_faults"), ("shuffle", "shuffle_faults")):
        bad = [row for row in rows if row.family == family and row.status in FOUND and row.scope in ("global", "seat")]
        if bad:
            named = say["joint"].join(f"{title(row, language)} ({weight(row)})" for row in bad)
            lines.append(say[key].format(n=len(bad), named=named))
    if any(row.status == "biased" for row in rows):
        lines.append(say["biased"])
    elif any(row.family == "shuffle" and row.status == "flagged" for row in rows):
        lines.append(say["unconfirmed"])
    for status in ("escalated", "review"):
        told = [row for row in rows if row.status == status]
        if told:
            named = say["joint"].join(sorted({title(row, language) for row in told}))
            lines.append(say[status].format(n=len({row.subject or "" for row in told}), named=named))
    if not lines:
        lines.append(say["nothing"])
    if beside := sum(row.status == "noted" for row in rows):
        lines.append(say["noted"].format(n=beside))
    lines += could(rows, language)
    idle = sorted({title(row, language) for row in rows if row.status == "not_run" and row.scope == "global"})
    if idle:
        lines.append(say["idle"].format(n=len(idle), named=say["joint"].join(idle)))
    return lines


def weight(row: Result) -> str:
    """How much a row that failed found: hits of cases, or its adjusted p."""
    if row.family == "log":
        return f"{row.statistic or 0:,.0f} / {row.n:,}"
    return f"p = {number(row.p_adjusted if row.p_adjusted is not None else row.p)}"


def could(rows: Sequence[Result], language: str) -> list[str]:
    """What the checks would have found."""
    say, out = words()[language], []
    for name, key in (("kind_by_place", "could_places"), ("kind_by_hand", "could_hands"), ("tiles", "could_log")):
        row = next((row for row in rows if row.name == name and row.detectable is not None), None)
        if row is not None and not (name == "kind_by_hand" and out):
            out.append(say[key].format(n=row.n, effect=f"{100 * row.detectable:.2g} %"))
    luck = sorted(row.detectable for row in rows if row.name == "draw_luck" and row.detectable is not None)
    if luck:
        out.append(say["could_luck"].format(n=len(luck), effect=f"{100 * luck[len(luck) // 2]:.2g} %"))
    pairs = next((row for row in rows if row.name == "deal_in_share" and row.scope == "global"), None)
    if pairs is not None and pairs.detectable is not None:
        out.append(say["could_pairs"].format(n=pairs.n, effect=f"{100 * pairs.detectable:.2g} %"))
    return out


def board(report: Report, language: str = "en") -> str:
    """The terminal's board: the verdict, global rows, and of accounts and pairs those that stand out."""
    lines = [f"* {line}" for line in verdict(report, language)] + [""]
    heads = ("effect", 12), ("adjusted p", 11), ("seen from", 11)
    lines.append(f"{'':>2} {'check':<34} {'status':<10} {'n':>11} {' '.join(f'{h:>{w}}' for h, w in heads)}  about")
    shown = [row for row in report.rows if not personal(row) or row.status in STANDING]
    for row in shown:
        about = row.scope if row.subject is None else f"{row.scope} {row.subject}"
        p = row.p_adjusted if row.p_adjusted is not None else row.p
        cells = f"{number(row.effect):>12} {number(p):>11} {number(row.detectable):>11}"
        lines.append(
            f"{row.check or '-':>2} {title(row, language):<34.34} {row.status:<10} {row.n:>11,} {cells}  {about}"
            + (f" ({row.why})" if row.why else "")
        )
    others = [row for row in report.rows if personal(row) and row.status not in STANDING]
    for (check, name, status), count in sorted(Counter((row.check, row.name, row.status) for row in others).items()):
        named = texts().get(name, {}).get(language, {}).get("title", name)
        lines.append(f"{check:>2} {named:<34.34} {status:<10} {count:>11,} accounts or pairs")
    return "\n".join(lines) + "\n"


def personal(row: Result) -> bool:
    """Whether a row is about one account or pair."""
    return row.scope in ("account", "pair")


def number(value: float | None) -> str:
    """A number in few digits; "-" for none."""
    return "-" if value is None else f"{value:.3g}"


def lines(report: Report) -> Iterable[str]:
    """`kwx audit --json`: one JSON object a row, then the facts."""
    for row in result.table(report.rows).to_pylist():
        row["evidence"] = [report.facts["names"].get(one, f"{one:016x}") for one in row["evidence"]]
        yield json.dumps({"kind": "result", **row}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    facts = {name: value for name, value in report.facts.items() if name != "names"}
    summary = {
        "found": report.found,
        **{status: sum(row.status == status for row in report.rows) for status in result.STATUSES},
    }
    yield json.dumps({"kind": "summary", **facts, **summary}, ensure_ascii=False, separators=(",", ":"))
