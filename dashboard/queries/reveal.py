"""Reveals: what they brought by live tiles, turn and order, what they cost, and against not revealing."""

from typing import Any

import polars as pl

from analytics import measure, reveal_statistics
from dashboard.dataset import ask

FIGURES = ("reveal_rate", "reveal_result", "reveal_win_rate", "reveal_deal_in_rate", "reveal_exhausted_rate",
           "reveal_draw_loss")  # fmt: skip
Where = dict[str, Any]


def figures(where: Where) -> pl.DataFrame:
    """As measure.metrics: how often, what came after, what a reveal costs when the wall runs out."""
    return ask(measure.metrics, FIGURES, (), where)


def grid(where: Where) -> pl.DataFrame:
    """As reveal_statistics.grid: results by live tiles and turn."""
    return ask(reveal_statistics.grid, (), where)


def orders(where: Where) -> pl.DataFrame:
    """As reveal_statistics.orders: alone, chased, chasing."""
    return ask(reveal_statistics.orders, (), where)


def by_live(where: Where) -> pl.DataFrame:
    """As reveal_statistics.by_live: ready hands, revealed or not, by live tiles."""
    return ask(reveal_statistics.by_live, (), where)


def against_not(where: Where) -> pl.DataFrame:
    """As reveal_statistics.against_not: by ruleset, and of all together in a row whose ruleset is null, first."""
    every = ask(reveal_statistics.against_not, (), where)
    by = ask(reveal_statistics.against_not, ("ruleset",), where)
    if not every.height:
        return every.with_columns(ruleset=pl.lit(None, pl.String))
    first = every.with_columns(ruleset=pl.lit(None, pl.String)).select("ruleset", *every.columns)
    return pl.concat([first, by.select(first.columns)]) if by.height > 1 else first
