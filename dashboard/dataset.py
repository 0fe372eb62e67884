"""The data set on show: which file it is, whether it can be read, and cached answers to queries.

The data set is the file named by the environment variable KWX_DB.  Every answer is cached by (the file behind the
link, query, parameters), so a newly loaded data set shows at the next run of a page.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from analytics import warehouse
from analytics.one_round import from_data_set

VARIABLE = "KWX_DB"


@dataclass(frozen=True)
class State:
    """What there is to show: kind "unset", "missing", "unreadable", "empty" or "ready"; a few counts."""

    kind: str
    path: str = ""
    version: str = ""  # of the file behind the link
    error: str = ""
    counts: dict[str, Any] | None = None


def stamp() -> tuple[str, int, int] | None:
    """Real path, size and change time of the data set behind the link; None when there is none."""
    path = os.environ.get(VARIABLE, "")
    try:
        real = Path(path).resolve()
        status = real.stat()
    except (OSError, ValueError):
        return None
    return (str(real), status.st_size, status.st_mtime_ns) if path and real.is_file() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _connection(key: tuple[str, int, int]) -> Any:
    return warehouse.connect(key[0])


@st.cache_data(max_entries=512, show_spinner=False)
def _select(key: tuple[str, int, int], sql: str, parameters: tuple) -> pl.DataFrame:
    answer = pl.from_arrow(_connection(key).cursor().sql(sql, params=list(parameters)).to_arrow_table())
    assert isinstance(answer, pl.DataFrame)
    return answer


def _key() -> tuple[str, int, int]:
    key = stamp()
    if key is None:
        raise FileNotFoundError(os.environ.get(VARIABLE, ""))
    return key


def select(sql: str, *parameters: Any) -> pl.DataFrame:
    """The rows of a query; FileNotFoundError when the data set has gone since state() looked."""
    return _select(_key(), sql, parameters)


@st.cache_data(max_entries=512, show_spinner=False)
def _ask(key: tuple[str, int, int], name: str, _function: Callable[..., Any], arguments: tuple, named: dict) -> Any:
    with _connection(key).cursor() as cursor:
        return _function(cursor, *arguments, **named)


def ask(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function of analytics answers that takes a connection first; cached by its name and arguments."""
    return _ask(_key(), f"{function.__module__}.{function.__qualname__}", function, arguments, named)


def state() -> State:
    """What there is to show; never raises."""
    path = os.environ.get(VARIABLE, "")
    if not path:
        return State("unset")
    key = stamp()
    if key is None:
        return State("missing", path)
    try:
        counts = select(
            """
            SELECT coalesce(sum(records), 0)::BIGINT AS records, coalesce(sum(rejects), 0)::BIGINT AS rejects,
                (SELECT count(*) FROM rounds) AS rounds
            FROM sources
            """
        ).row(0, named=True)
    except Exception as error:  # whatever the file holds instead of a data set
        return State("unreadable", path, error=str(error).splitlines()[0])
    version = Path(key[0]).name.rsplit(".", 1)[-1]
    return State("ready" if counts["rounds"] else "empty", path, version, counts=counts)


@st.cache_data(max_entries=64, show_spinner=False)
def _round(key: tuple[str, int, int], ident: str) -> dict[str, list[dict[str, Any]]]:
    return dict(from_data_set(key[0], ident))


def round_tables(ident: str) -> dict[str, list[dict[str, Any]]]:
    """Everything stored of one round, as row dicts by table; `ident` is site/game/round.  IdError."""
    return _round(_key(), ident)
