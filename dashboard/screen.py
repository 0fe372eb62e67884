"""What every page shares: the language, links, explanations of what is missing, and how text from logs is shown.

Text from logs (names, ids, paths) never goes through Markdown: use `line`, a chart, or a listing.
"""

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import unquote, urlencode

import altair as alt
import polars as pl
import streamlit as st

from analytics import save
from dashboard import dataset, i18n
from ingest.tiles import NAMES
from replay import ruleset, trace
from replay.one_round import IdError
from replay.rulefile import BASE, RulesetError

SEATS = (("#6d4bb5", "5px"), ("#0f766e", "50%"), ("#b03a72", "9px 2px"))  # as in the style sheets of the components
ANCHORS = 200  # marks of a picture that are links for the keyboard too
FEW = 100  # observations below which shares are shown with a warning


def lang() -> str:
    """The language to speak: the address's, else the one last used in this session, else the browser's."""
    for chosen in (st.query_params.get("lang"), st.session_state.get("lang")):
        if chosen in i18n.LANGUAGES:
            return chosen
    return "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def keep_language() -> str:
    """Keeps the language, and the data set, in the session and in the address, whatever page comes next; the language.
    """
    name = dataset.chosen()
    if name != st.session_state.get(dataset.PARAMETER) or name != st.query_params.get(dataset.PARAMETER):
        dataset.show(name)
    chosen = lang()
    st.session_state["lang"] = chosen
    if st.query_params.get("lang") != chosen:
        st.query_params["lang"] = chosen
    return chosen


def t(key: str, **values: Any) -> str:
    """The text of a key in this session's language; integers get thousands separators."""
    text = i18n.words(lang())[key]
    shown = {name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()}
    return text.format(**shown) if values else text


def word(group: str, code: str | None) -> str:
    """The word for a code of data, such as a verdict or a cause; the code itself where there is none."""
    if code is None:
        return t("app.none")
    return i18n.words(lang()).get(f"{group}.{code}", code)


def fan(code: str) -> str:
    """The short name of a fan; the rules' own where the dashboard has none."""
    short = word("fan", code)
    return getattr(BASE[f"fan.{code}"], lang()) if short == code and f"fan.{code}" in BASE else short


def rules_name(id: str) -> str:
    """The name of a ruleset; its id where it is not loaded."""
    try:
        return ruleset.load(id).name[lang()]
    except (RulesetError, KeyError):
        return id


def tile_labels() -> dict[str, str]:
    """What each tile name is called, for readers who cannot see the drawings and for tooltips."""
    words = i18n.group(lang(), "tile")
    numerals = dict(enumerate("一二三四五六七八九", 1)) if lang() == "zh" else {}
    out = {name: words[name] for name in ("5z", "6z", "7z", "back")}
    for suit in "mps":
        for rank in range(1, 10):
            out[f"{rank}{suit}"] = words[suit].format(rank=numerals.get(rank, rank))
    return out


def tile_names(kinds: Iterable[int] | None, suits: str | None) -> list[str]:
    """Kinds to tile names, [] for None."""
    names = NAMES[suits or "ps"]
    return [names[kind] for kind in kinds or b"" if kind < len(names)]


def round_name(id: str) -> str:
    """A round's ID for reading: its parts as they stand in the log."""
    return " / ".join(unquote(part) for part in id.split("/") if part)


def place(row: Mapping[str, Any]) -> dict[str, str]:
    """The place cell of a listing for a row with id, ruleset and time_ms."""
    more = f"{rules_name(row['ruleset'])} · {when(row['time_ms'])}"
    return {"label": round_name(row["id"]), "more": more}


def find_round(id: str) -> dict[str, list[dict[str, Any]]] | None:
    """The rows of a round by table; None when the address names no round of the data set."""
    try:
        return dataset.round_tables(id)
    except IdError:
        return None


def winning_hands(row: Mapping[str, Any], wins: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The hands of a round's wins for a listing: concealed tiles, melds, and the winning tile apart."""
    melds = trace.melds(row)
    out = []
    for win in wins:
        held, tile = list(win["hand"] or b""), win["tile"]
        if len(held) % 3 == 2 and tile in held:
            held.remove(tile)
        groups = [tile_names(held, row["suits"]), *melds[win["seat"]], tile_names([tile], row["suits"])]
        out.append({"seat": win["seat"], "tiles": [group for group in groups if group]})
    return out


def percent(share: float | None) -> str:
    """A share 0-1 as text; one that is not quite all or nothing never reads as all or nothing."""
    if share is None:
        return t("app.none")
    if 0 < share < 0.001 or 0.999 < share < 1:
        return f"{share:.3%}"
    return f"{share:.1%}"


def estimate(
    value: float | None,
    low: float | None,
    high: float | None,
    few: bool,
    form: Callable[[float], str],
    signed: bool = False,
) -> dict[str, Any] | None:
    """The estimate cell of a listing: a value, its interval below, pale where few observations are behind it."""
    if value is None:
        return None
    known = low is not None and high is not None
    span = f"{form(low).removesuffix('%')} – {form(high)}" if known else ""
    sign = 0 if not signed or (known and low <= 0 <= high) else 1 if value > 0 else -1
    return {"value": form(value), "more": span, "few": few, "sign": sign}


def headings(group: str, *columns: str) -> dict[str, str]:
    """Titles of a table's columns from the texts of a page."""
    return {column: t(f"{group}.{column}") for column in columns}


def when(time_ms: int | None) -> str:
    """UTC date and minute of a round."""
    if time_ms is None:
        return t("app.unknown_day")
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M}"


def line(text: str, style: str = "", tag: str = "div") -> None:
    """One line of text, log text included, as text and not as markup, its direction kept to itself."""
    lines((text, style), tag=tag)


def lines(*each: tuple[str, str], tag: str = "div") -> None:
    """Lines of (text, CSS style) under one another; as `line`."""
    st.html("".join(
        f'<{tag} style="margin:0;padding:0;overflow-wrap:anywhere;{style}"><bdi>{html.escape(text)}</bdi></{tag}>'
        for text, style in each
    ))  # fmt: skip


def seat_line(seat: int, player: str) -> None:
    """A seat in its colour and shape, and who sits there."""
    colour, radius = SEATS[seat]
    badge = (
        f'<span style="display:inline-grid;place-items:center;width:20px;height:20px;margin-right:8px;color:#fff;'
        f'font-size:12px;font-weight:700;background:{colour};border-radius:{radius}">{seat}</span>'
    )
    st.html(f'<div style="overflow-wrap:anywhere;font-weight:600">{badge}<bdi>{html.escape(player)}</bdi></div>')


def address(page: str, **parameters: Any) -> str:
    """The address of a view, relative to the app."""
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"{page}?{urlencode({**kept(), **given}, doseq=True)}"


def kept() -> dict[str, str]:
    """What every address of the app says: the language, and the data set where it isn't the one that is served."""
    name = dataset.chosen()
    return {"lang": lang()} | ({dataset.PARAMETER: name} if name else {})


def _texts(parameters: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Parameters of an address as texts; lists stay lists, None is left out."""
    return {
        name: [str(one) for one in value] if isinstance(value, list | tuple) else str(value)
        for name, value in parameters.items()
        if value is not None
    }


def link(page: str, label: str, **parameters: Any) -> None:
    """A link to another view of the app; the label is our own text, never a log's."""
    given = _texts(parameters)
    st.page_link(f"page/{page}.py", label=f"→ {label}", query_params={**kept(), **given})


def go(page: str, **parameters: Any) -> None:
    """Opens another view of the app."""
    given = _texts(parameters)
    st.switch_page(f"page/{page}.py", query_params={**kept(), **given})


def ready(empty_is_fine: bool = False, leads: bool = True) -> dataset.State | None:
    """The state of the data set if there is something to show; else explains why not and returns None.

    leads: where there is none, link to the page that makes one.
    """
    found = dataset.state()
    if found.kind in ("unset", "missing", "unreadable"):
        st.subheader(t(f"state.{found.kind}"))
        more = i18n.words(lang())[f"state.{found.kind}_more"]
        if found.kind == "unset":
            st.markdown(more)
        else:
            line(more.format(path=found.path, error=found.error).replace("`", ""))
        if leads:
            link("start", t("state.start"))
        return None
    counts = found.counts or {}
    if found.kind == "empty":
        st.subheader(t("state.empty"))
        st.write(t("state.empty_more", records=counts["records"], rejects=counts["rejects"]))
        return found if empty_is_fine else None
    if counts["rounds"] == 1:
        st.info(t("state.one"))
    elif counts["rounds"] < FEW:
        st.caption(t("state.few"))
    return found


def picture(
    chart: alt.TopLevelMixin,
    frame: pl.DataFrame,
    description: str,
    headings: Mapping[str, str],
    name: str,
    width: Any = None,
) -> None:
    """A chart with its description for screen readers and, folded, its numbers as a table and as files.

    A column `href` of the frame, an address in the app, is what a row of the table and a mark of the chart open.
    name: of the files, unlike any other picture's of the page; their columns keep the names that they have in `frame`.
    """
    st.altair_chart(chart, alt=description, width=width)
    with st.expander(t("app.data_table"), type="compact", icon=":material/table_rows:"):  # a popover is no stop of Tab
        shown, links = frame.select(list(headings)), [pl.col("href")] if "href" in frame.columns else []
        st.dataframe(
            shown.rename(dict(headings)).with_columns(frame.select(links)), hide_index=True, alt=description,
            column_config={"href": st.column_config.LinkColumn(t("app.behind"), display_text="→")},
        )  # fmt: skip
        if links:
            _anchors(frame.filter(pl.col("href").is_not_null()).head(ANCHORS), list(headings)[:2])
        downloads(shown, name)


def _anchors(frame: pl.DataFrame, labels: list[str]) -> None:
    """What the marks of a picture open as links for the keyboard, which reaches neither marks nor cells of a table."""
    told = frame.select(labels).cast(pl.String).fill_null("–").iter_rows()
    links = "".join(
        f'<a style="color:inherit" href="{html.escape(href)}"><bdi>'
        f"{html.escape(' · '.join(dict.fromkeys(parts)))}</bdi></a>"
        for href, parts in zip(frame["href"], told, strict=True)
    )
    style = "display:flex;flex-wrap:wrap;gap:.2rem .9rem;overflow-wrap:anywhere;font-size:.85rem"
    st.html(f'<div style="{style}"><span>{html.escape(t("app.behind"))}:</span>{links}</div>')


def downloads(table: pl.DataFrame, name: str) -> None:
    """Buttons that save a table as each kind of file; the file is made when it is asked for."""
    with st.container(horizontal=True, gap="xsmall"):
        for kind in save.KINDS:
            st.download_button(
                f"{t('app.save')} {kind.upper()}", partial(save.as_bytes, table, kind), f"kwx-{name}.{kind}",
                key=f"save-{name}-{kind}", on_click="ignore", type="tertiary", icon=":material/download:",
            )  # fmt: skip


def pager(key: str, total: int, rows: int) -> int:
    """Buttons to turn pages of a listing, the page number kept in the address; the offset of the first row."""
    try:
        page = max(0, int(st.query_params.get(key, "1")) - 1)
    except ValueError:
        page = 0
    page = min(page, max(0, (total - 1) // rows))

    def turn(to: int) -> None:
        st.query_params[key] = str(to + 1)

    if total > rows:
        back, middle, forth = st.columns([1, 2, 1], vertical_alignment="center")
        back.button(t("app.previous"), key=f"{key}-back", disabled=page == 0, on_click=turn, args=(page - 1,))
        middle.caption(t("app.page_of", first=page * rows + 1, last=min(total, (page + 1) * rows), total=total))
        last = (page + 1) * rows >= total
        forth.button(t("app.following"), key=f"{key}-forth", disabled=last, on_click=turn, args=(page + 1,))
    return page * rows


def spoken(parts: Sequence[tuple[str, Any]]) -> str:
    """Label and value pairs for a chart's description."""
    joint = "；" if lang() == "zh" else "; "
    return joint.join(f"{label} {value}" for label, value in parts)
