"""The data set on show: which file it is, whether it can be read, and cached answers to queries.

The data set is the one of the data folder that the address names (`set`), else the file named by the environment
variable KWX_DB.  Every answer is cached by (the file behind the link, query, parameters), so a newly loaded data set
shows at the next run of a page.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from analytics import schema, warehouse
from analytics.one_round import from_data_set
from dashboard import library

VARIABLE, PARAMETER = library.SERVED, "set"


@dataclass(frozen=True)
class State:
    """What there is to show: kind "unset", "missing", "unreadable", "empty" or "ready"; a few counts."""

    kind: str
    path: str = ""
    version: str = ""  # of the file behind the link
    error: str = ""
    counts: dict[str, Any] | None = None


def chosen() -> str | None:
    """The name of the data folder's data set on show; None for the one that is served."""
    for name in (st.query_params.get(PARAMETER), st.session_state.get(PARAMETER)):
        if name and library.path(name) is not None:
            return name
    return None


def show(name: str | None) -> None:
    """Shows a data set of the data folder, or with None the one that is served, from the next run on."""
    st.session_state[PARAMETER] = name
    if name is None:
        st.query_params.pop(PARAMETER, None)
    else:
        st.query_params[PARAMETER] = name


def path() -> str:
    """The file of the data set on show, "" for none."""
    name = chosen()
    return str(library.path(name)) if name else os.environ.get(VARIABLE, "")


def stamp() -> tuple[str, int, int] | None:
    """Real path, size and change time of the data set behind the link; None when there is none."""
    named = path()
    try:
        real = Path(named).resolve()
        status = real.stat()
    except (OSError, ValueError):
        return None
    return (str(real), status.st_size, status.st_mtime_ns) if named and real.is_file() else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _connection(key: tuple[str, int, int]) -> Any:
    return warehouse.connect(key[0])


@st.cache_data(max_entries=8, show_spinner=False)
def _is_current(key: tuple[str, int, int]) -> bool:
    return schema.is_current(_connection(key).cursor())


@st.cache_data(max_entries=512, show_spinner=False)
def _select(key: tuple[str, int, int], sql: str, parameters: tuple) -> pl.DataFrame:
    answer = pl.from_arrow(_connection(key).cursor().sql(sql, params=list(parameters)).to_arrow_table())
    assert isinstance(answer, pl.DataFrame)
    return answer


def _key() -> tuple[str, int, int]:
    key = stamp()
    if key is None:
        raise FileNotFoundError(path())
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
    named = path()
    if not named:
        return State("unset")
    key = stamp()
    if key is None:
        return State("missing", named)
    try:
        if not _is_current(key):
            return State("unreadable", named, error="it was made by another version of kwx; load its logs again")
        counts = select(
            """
            SELECT coalesce(sum(records), 0)::BIGINT AS records, coalesce(sum(rejects), 0)::BIGINT AS rejects,
                (SELECT count(*) FROM rounds) AS rounds
            FROM sources
            """
        ).row(0, named=True)
    except Exception as error:  # whatever the file holds instead of a data set
        return State("unreadable", named, error=str(error).splitlines()[0])
    version = Path(key[0]).name.rsplit(".", 1)[-1]
    return State("ready" if counts["rounds"] else "empty", named, version, counts=counts)


@st.cache_data(max_entries=64, show_spinner=False)
def _round(key: tuple[str, int, int], ident: str) -> dict[str, list[dict[str, Any]]]:
    return dict(from_data_set(key[0], ident))


def round_tables(ident: str) -> dict[str, list[dict[str, Any]]]:
    """Everything stored of one round, as row dicts by table; `ident` is site/game/round.  IdError."""
    return _round(_key(), ident)
