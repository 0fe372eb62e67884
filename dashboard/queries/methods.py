"""Every statistic of the registry over the data set, a group at a time."""

from typing import Any

import polars as pl

from analytics import measure, metrics
from dashboard.dataset import ask

Where = dict[str, Any]


def one(id: str, where: Where) -> dict[str, Any] | None:
    """The row of measure.metrics of a single statistic; None when nothing is counted."""
    found = ask(measure.metrics, (id,), (), where)
    return found.row(0, named=True) if found.height else None


def group(name: str, where: Where) -> pl.DataFrame:
    """metric, k, n, value, low, high of the statistics of a group that have an n; a quantile has no k."""
    members = [one for one in metrics.registry().values() if one.group == name]
    sums = tuple(one.id for one in members if one.kind != "quantile")
    columns = ["metric", "k", "n", "value", "low", "high"]
    parts = [ask(measure.metrics, sums, (), where).select(columns)] if sums else []
    for one in members:
        if one.kind == "quantile":
            found = ask(measure.quantile, one.id, (), where)
            parts.append(found.with_columns(metric=pl.lit(one.id), k=pl.lit(None, pl.Float64)).select(columns))
    order = {one.id: place for place, one in enumerate(members)}
    return pl.concat(parts).sort(pl.col("metric").replace_strict(order, return_dtype=pl.Int64))
