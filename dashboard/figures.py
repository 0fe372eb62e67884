"""Statistics of the registry on screen: names, explanations, values in their unit, cards with n and interval."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from analytics import metrics
from dashboard import screen
from dashboard.queries import behind
from dashboard.screen import FEW, percent, t

SIGNED = re.compile(r"(^|_)(net|result|luck|adjusted|worth)(_|$)")  # statistics that can be gains and losses


def name(id: str) -> str:
    """A statistic's name."""
    return getattr(metrics.get(id), screen.lang())


def stakes(value: float, digits: int = 2) -> str:
    """Base stakes with their sign; what rounds to nothing is nothing."""
    return signed(round(value, digits) + 0.0, digits)


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, the minus as wide as the plus, as pictures and lists draw it."""
    return f"{value:+,.{digits}f}".replace("-", "−")


def hint(id: str) -> str:
    """What a tooltip says of a statistic: numerator over denominator, unit, and what it must not be taken for."""
    one = metrics.get(id)
    note = getattr(one, f"note_{screen.lang()}")
    formula = f"{one.numerator} ÷ {one.denominator}"
    if one.kind == "quantile":
        formula = t("methods.quantile_of", share=one.quantile, column=one.numerator)
    return " · ".join(filter(None, (formula, t(f"unit.{one.unit}"), note)))


def shown(id: str, value: float | None) -> str:
    """A value in its statistic's unit."""
    one = metrics.get(id)
    if value is None:
        return t("app.none")
    if one.unit == "share":
        return percent(value)
    digits = 4 if one.unit == "draws" else 2
    return stakes(value, digits) if SIGNED.search(id) else f"{value:.{digits}f}"


def cell(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The estimate cell of a listing for a row of measure.metrics."""
    id = row["metric"]
    return screen.estimate(
        row["value"], row["low"], row["high"], row["n"] < FEW, lambda value: shown(id, value), bool(SIGNED.search(id))
    )


def cards(rows: Iterable[Mapping[str, Any]], columns: int, links: Mapping[str, Mapping[str, Any]]) -> None:
    """One card a row of measure.metrics; links: parameters of the rounds behind it, by statistic."""
    given = list(rows)
    for start in range(0, len(given), columns):
        for place, row in zip(st.columns(columns), given[start : start + columns], strict=False):
            id = row["metric"]
            with place, st.container(gap=None):
                st.metric(name(id), shown(id, row["value"]), help=hint(id))
                span = ""
                if row["low"] is not None:
                    span = f"{shown(id, row['low']).removesuffix('%')} – {shown(id, row['high'])} · "
                few = f" · {t('app.few')}" if row["n"] < FEW else ""
                st.caption(f"{span}n = {row['n']:,}{few}")
                if id in links:
                    screen.link("rounds", t("overview.show_rounds"), **links[id])


def counted(id: str, where: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of the rounds that a statistic's numerator counts."""
    return {"behind": behind.code("stat", id), **where}
