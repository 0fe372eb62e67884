"""The registry of statistics: each defined once, in metrics.toml, for queries, pages, tooltips and docs/metrics.md.

`python -m analytics.metrics docs/metrics.md` writes the page; a test keeps it current.
"""

import re
import sys
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "metrics.toml"
KINDS = ("rate", "mean", "quantile")
UNITS = {
    "share": "0 to 1",
    "stakes": "base stakes: points divided by the table's base stake, so that tables add up",
    "multiple": "the winner's own multiple",
    "tiles": "tiles",
    "pungs": "pungs",
    "kongs": "kongs",
    "discards": "own discards",
    "steps": "steps to a ready hand (shanten)",
    "draws": "useful draws, or hits, beyond what chance gives",
}
GROUPS = {
    "results": "How rounds end",
    "points": "What they bring",
    "calls": "Pungs and kongs",
    "reveals": "Reveals",
    "hands": "Hands",
    "luck": "What the tiles brought",
}
SUM = re.compile(r"[a-z_0-9]+( [+-] [a-z_0-9]+)*")  # columns that are added and subtracted


class MetricError(ValueError):
    """A statistic, split or filter that does not exist, or a registry that is wrong; the message says which."""


@dataclass(frozen=True)
class Metric:
    """One statistic: a sum over another, of columns of seat_rounds; a quantile: of a column of wins."""

    id: str
    group: str
    kind: str
    numerator: str
    denominator: str
    unit: str
    zh: str
    en: str
    note_zh: str = ""
    note_en: str = ""
    quantile: float | None = None
    scale: int = 1  # how many of the numerator make one of the unit
    signed: bool = False  # whether the numerator may be negative

    @property
    def in_stakes(self) -> bool:
        """Whether the numerator is in points, to be divided by the base stake."""
        return self.unit == "stakes" and self.scale == 1


@cache
def registry() -> dict[str, Metric]:
    """All statistics by id, in the order of the file.  MetricError when the file is wrong."""
    return read(tomllib.loads(FILE.read_text(encoding="utf-8")))


def read(entries: dict[str, dict]) -> dict[str, Metric]:
    """Entries of the file as statistics."""
    found = {}
    known = {field.name for field in fields(Metric)}
    for name, entry in entries.items():
        if wrong := sorted(set(entry) - known):
            raise MetricError(f"metric {name}: unknown key {wrong[0]}")
        try:
            metric = Metric(id=name, **entry)
        except TypeError as error:
            raise MetricError(f"metric {name}: {str(error).split('() ')[-1]}") from error
        for what, value, choices in (
            ("kind", metric.kind, KINDS), ("unit", metric.unit, UNITS), ("group", metric.group, GROUPS),
        ):  # fmt: skip
            if value not in choices:
                raise MetricError(f"metric {name}: {what} {value!r}, expected one of {', '.join(choices)}")
        if (metric.kind == "quantile") != (metric.quantile is not None) or (metric.kind == "rate") != (
            metric.unit == "share"
        ):
            raise MetricError(f"metric {name}: kind {metric.kind} does not go with its unit or quantile")
        if metric.scale < 1 or (metric.scale > 1 and metric.kind != "mean"):
            raise MetricError(f"metric {name}: scale {metric.scale} does not go with its kind")
        for expression in (metric.numerator, metric.denominator):
            if not SUM.fullmatch(expression):
                raise MetricError(f"metric {name}: {expression!r} is no sum of columns")
        if bool(metric.note_zh) != bool(metric.note_en):
            raise MetricError(f"metric {name}: a note in one language only")
        found[name] = metric
    return found


def get(name: str) -> Metric:
    """The statistic of that id."""
    if name not in registry():
        raise MetricError(f"no statistic {name!r}")
    return registry()[name]


INTRODUCTION = """# Statistics

Written by `python -m analytics.metrics docs/metrics.md` from `analytics/metrics.toml`; a test keeps it current.

Each statistic is one sum over another (n), both of columns of the view `seat_rounds`; integers are summed first and
divided last. Rounds count when their replay reached an end, whatever their verdict; aborted ones count for points only.
Every answer has n and a 95 % interval:

- **rate**: Wilson's interval, with n divided by the design effect. Rounds of a game depend on each other (the winner
  deals next) and so do the seats of a round; the game is the unit of sampling. With fewer than 20 games the
  effect is not estimated and plain Wilson stands; with fewer than 10 cases for or against it is at least 1.
- **mean**: a quotient of two sums with a t interval, variance by the delta method over games, widened on the side where
  the skewness of payments makes it too short (Hall's transformation). Where what is paid is rare (in fewer than 10
  games, counted by k² / Σk², and in less than half of them) it is the gamma interval of a sum of Poisson counts, with
  one payment more thinkable than was seen; where nothing was paid at all there is no interval. None of what cannot be
  negative goes below 0.
  `benchmarks/INTERVALS.md` has how often they hold.
- **quantile**: the value at rank ⌈q n⌉, the interval between two ranks that hold it whatever the distribution.

Points of tables with different stakes add up in *stakes*: points divided by the table's base stake.

Leaderboards draw each account towards the cohort (empirical Bayes, fitted by moments): a beta prior for rates, a normal
one for means; an account seen little stays near the cohort's mean. Percentiles are among accounts with at least the
stated n, ties counted half.

Every statistic can be split and filtered by site, ruleset, stake (`base`), account, seat, position after the dealer,
dealer or not, opponent, UTC day and month, and run cumulatively or over a rolling window of days or games.

**Fans** (`analytics/fan_statistics.py`): how often a fan stands in a win, the mean multiple and mean win with it, and
its *contribution*. A win's points are shared among its fans by logarithm: where fans multiply, a fan of value 4 gets
twice what one of value 2 gets; where they add up, the sum is shared in proportion to the values, and the reveal, which
multiplies it, gets its part of the logarithm. A win without a fan is `plain`. All of it is given that a hand won: it
says nothing of hands that aimed at a fan in vain. Wins are taken as independent of each other. Of those,
`analytics/pursuit.py` tells: near a fan (two tiles from ready for it), aimed (one), ready, won, and the mean result of
all that aimed beside those that never did, with games as clusters.

**Reveals** (`analytics/reveal_statistics.py`): results by live tiles and turn; first, chased, chasing; and hands that
revealed when they became ready against those that did not then, matched by turn and live tiles. That is all it holds
equal. It asks about the moment of becoming ready, not whether a hand was ever revealed: one that wins with its next
tile had no time for it, and would make not revealing look good. Reveals and shanten by turn are read off a fixed
sample of rounds in large data sets; n says of how many.
"""


def page() -> str:
    """docs/metrics.md."""
    parts = [INTRODUCTION]
    for group, title in GROUPS.items():
        members = [metric for metric in registry().values() if metric.group == group]
        if not members:
            continue
        parts.append(f"## {title}\n")
        parts.append("| id | 中文 | English | kind | numerator / denominator | unit |\n|---|---|---|---|---|---|")
        for one in members:
            scale = f" / {one.scale:,}" if one.scale > 1 else ""
            formula = f"`{one.numerator}`{scale} / `{one.denominator}`"
            if one.kind == "quantile":
                formula = f"{one.quantile:g} quantile of `{one.numerator}` over `{one.denominator}`"
            parts.append(f"| `{one.id}` | {one.zh} | {one.en} | {one.kind} | {formula} | {one.unit} |")
        notes = [f"- `{one.id}`: {one.note_en} {one.note_zh}" for one in members if one.note_en]
        parts.append("\n" + "\n".join(notes) + "\n" if notes else "")
    parts.append("## Units\n\n" + "\n".join(f"- **{unit}**: {meaning}" for unit, meaning in UNITS.items()))
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
