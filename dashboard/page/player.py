"""Player: an account's net and what luck had in it, its place among all, what it did; without one, the list."""

from typing import Any

import polars as pl
import streamlit as st

from analytics import metrics
from dashboard import data, figures, filters, player_review, screen
from dashboard.graphs import player as graphs
from dashboard.listing import listing
from dashboard.queries import behind
from dashboard.queries import player as queries
from dashboard.screen import FEW, estimate, headings, percent, picture, spoken, t

CARDS = ("net", "luck_adjusted_net", "win_rate", "deal_in_rate", "reveal_rate", "win_value")
ROLLING = ("net", "win_rate", "deal_in_rate", "reveal_rate", "kong_rate")
BOARD = ("net", "luck_adjusted_net", "win_rate", "deal_in_rate", "reveal_rate")
LARGEST = 3


class Account:
    """Who is looked at, and what of it; links to rounds carry all of it."""

    def __init__(self, player: str, site: str | None, where: dict[str, Any]) -> None:
        self.player, self.site = player, site
        self.where = {name: value for name, value in where.items() if name != "site"}
        self.link = {**self.where, "player": player} | ({"site": site} if site else {})
        self.key = (player, site, self.where)


def board(where: dict[str, Any]) -> None:
    """All accounts by a statistic, drawn towards the mean of all; each opens its page."""
    name = filters.read("by", filters.one_of(BOARD)) or BOARD[0]
    st.segmented_control(
        t("player.by"), BOARD, format_func=figures.name, required=True, **filters.bind("by", name, "board")
    )
    found = queries.board(name, where)
    if not found.height:
        st.info(t("player.nobody", n=queries.LEAST))
        return
    offset = screen.pager("board", found.height, data.PAGE_ROWS)
    ranked(name, found.slice(offset, data.PAGE_ROWS))
    rows, several = [], found["site"].n_unique() > 1
    for row in found.slice(offset, data.PAGE_ROWS).iter_rows(named=True):
        form = _form(name)
        cells = [
            row["player"] or t("app.none"), *([row["site"] or t("app.none")] if several else []), row["place"],
            estimate(row["shrunk"], row["shrunk_low"], row["shrunk_high"], row["n"] < FEW, form),
            estimate(row["value"], row["low"], row["high"], row["n"] < FEW, form), row["n"],
        ]  # fmt: skip
        rows.append((str(offset + len(rows)), screen.address("player", player=row["player"], site=row["site"]), cells))
    kinds = ("text", *(["text"] if several else []), "number", "estimate", "estimate", "number")
    names = ("player", *(["site"] if several else []), "place", "shrunk", "value", "n")
    hints = {"shrunk": t("player.shrunk_hint"), "value": figures.hint(name)}
    columns = [(kind, t(f"player_column.{one}"), hints.get(one, "")) for kind, one in zip(kinds, names, strict=True)]
    opened = listing("board", columns, rows, caption=t("player.board"), labels={})
    if opened:
        row = found.row(int(opened), named=True)
        screen.go("player", player=row["player"], site=row["site"])
    screen.downloads(found, "accounts")
    st.caption(t("player.board_note", n=queries.LEAST))


def ranked(name: str, found: pl.DataFrame) -> None:
    """The estimates of a page of the list as a picture."""
    rows = list(found.iter_rows(named=True))
    frame = found.select("player", "site", "place", "n").with_columns(
        label=pl.Series([f"{row['place']} · {row['player'] or ''}" for row in rows]),
        value=found["shrunk"], low=found["shrunk_low"], high=found["shrunk_high"], few=found["n"] < FEW,
        text=pl.Series([figures.shown(name, row["shrunk"]) for row in rows]),
        href=pl.Series([screen.address("player", player=row["player"], site=row["site"]) for row in rows]),
    )  # fmt: skip
    parts = spoken(list(frame.select("label", "text").head(3).iter_rows()))
    columns = headings("player_column", "place", "player", "site", "value", "low", "high", "n")
    alt = t("player.board_alt", name=figures.name(name), parts=parts)
    picture(graphs.ranked(frame, figures.name(name), metrics.get(name).unit == "share"), frame, alt, columns, "board")


def _form(id: str) -> Any:
    return lambda value: figures.shown(id, value)


def hero(who: Account, rounds: int) -> None:
    """Net so far, the same less what the tiles were worth, and how far chance alone would take it."""
    found = queries.line(*who.key, rounds)
    frame = found.with_columns(
        href=pl.Series([screen.address("rounds", round=id) for id in found["id"]]),
        day=pl.Series([screen.when(ms) for ms in found["time_ms"]]),
    )
    last = found.row(-1, named=True)
    parts = [
        (t("player.net"), figures.signed(last["total"], 1)),
        (t("player.adjusted"), figures.signed(last["adjusted_total"], 1)),
    ]
    chart = graphs.net(frame, t("player.net"), t("player.adjusted"), t("player.rounds"), t("player.stakes"),
                       found.height <= 400)  # fmt: skip
    columns = headings("player_column", "id", "day", "n", "net", "total", "adjusted_total", "fan_low", "fan_high")
    picture(chart, frame, t("player.hero_alt", n=rounds, parts=spoken(parts)), columns, "net")
    step = t("player.step_round") if rounds <= queries.STEPWISE else t("player.step_game")
    st.caption(f"{t('app.n', n=rounds)} {t('player.hero_note')} {step}")


def standing(who: Account, found: pl.DataFrame) -> None:
    """Where the account stands, statistic by statistic."""
    st.subheader(t("player.standing"))
    groups = [name for name in metrics.GROUPS if name != "luck"]
    group = filters.read("group", filters.one_of(groups)) or groups[0]
    st.segmented_control(
        t("methods.group"), groups, format_func=lambda one: t(f"methods_group.{one}"), required=True,
        label_visibility="collapsed", **filters.bind("group", group),
    )  # fmt: skip
    rows = [row for row in found.iter_rows(named=True) if metrics.get(row["metric"]).group == group]
    placed = [row for row in rows if row["percentile"] is not None]
    left, right = st.columns(2, gap="large")
    with left:
        if placed:
            frame = pl.DataFrame(
                [(figures.name(row["metric"]), row["percentile"], row["of"], figures.shown(row["metric"], row["value"]),
                  row["n"], row["n"] < FEW, screen.address("rounds", **figures.counted(row["metric"], who.link)))
                 for row in placed],
                ["label", "percentile", "of", "text", "n", "few", "href"], orient="row",
            )  # fmt: skip
            parts = spoken([(row["label"], percent(row["percentile"])) for row in frame.iter_rows(named=True)])
            columns = headings("player_column", "label", "percentile", "of", "text", "n")
            alt = t("player.standing_alt", parts=parts)
            picture(graphs.strips(frame, t("player.percentile")), frame, alt, columns, "standing")
            st.caption(t("player.standing_note", n=FEW, of=max(row["of"] for row in placed)))
        else:
            st.write(t("player.alone", n=FEW))
    with right:
        lines = []
        for row in rows:
            id = row["metric"]
            cells = [figures.name(id), figures.cell(row), figures.shown(id, row["cohort"]), row["n"]]
            lines.append((id, screen.address("rounds", **figures.counted(id, who.link)), cells))
        kinds, names = ("text", "estimate", "text", "number"), ("label", "value", "cohort", "n")
        columns = [(kind, t(f"player_column.{one}")) for kind, one in zip(kinds, names, strict=True)]
        opened = listing("statistics", columns, lines, caption=t("player.standing"), labels={})
        screen.downloads(found, "statistics")
        if opened:
            screen.go("rounds", **figures.counted(opened, who.link))


def course(who: Account) -> None:
    """A statistic over the last games."""
    heading = st.empty()
    id = filters.read("curve", filters.one_of(ROLLING)) or ROLLING[0]
    st.segmented_control(
        t("player.by"), ROLLING, format_func=figures.name, required=True, label_visibility="collapsed",
        **filters.bind("curve", id),
    )  # fmt: skip
    found = queries.rolling(*who.key, id)
    window = min(queries.WINDOW, found.height)
    heading.subheader(t("player.rolling", n=window))
    # the first games' own intervals would stretch the axis beyond everything that follows
    frame = found.slice(queries.WINDOW - 1) if found.height >= 2 * queries.WINDOW else found
    last = frame.row(-1, named=True)
    form = ".1%" if metrics.get(id).unit == "share" else "+.2f"
    chart = graphs.rolling(frame, t("player.games"), figures.name(id), form)
    alt = t("player.rolling_alt", name=figures.name(id), n=window, value=figures.shown(id, last["rolling"]))
    columns = headings("player_column", "number", "rolling", "rolling_low", "rolling_high", "rolling_n", "cumulative")
    picture(chart, frame, alt, columns, "rolling")
    st.caption(t("player.rolling_note", n=found.height))


def fans(who: Account) -> None:
    """The account's own fans."""
    st.subheader(t("page.fans"))
    found = queries.fans(*who.key)
    if not found.height:
        st.write(t("overview.no_wins"))
        return
    lines = []
    for row in found.iter_rows(named=True):
        few, plain = row["wins"] < FEW, row["fan"] == "plain"
        cells = [
            t("fans.plain") if plain else screen.fan(row["fan"]), row["wins"],
            estimate(row["share"], row["share_low"], row["share_high"], few, percent),
            estimate(row["value"], row["value_low"], row["value_high"], few, "{:.2f}".format),
            estimate(row["contribution"], row["contribution_low"], row["contribution_high"], few, percent),
        ]  # fmt: skip
        code = behind.code("plain") if plain else behind.code("fan", row["fan"])
        lines.append((code, screen.address("rounds", **who.link, behind=code), cells))
    kinds = ("text", "number", "estimate", "estimate", "estimate")
    names = ("label", "wins", "share", "value", "contribution")
    columns = [(kind, t(f"fans_column.{one}")) for kind, one in zip(kinds, names, strict=True)]
    opened = listing("own-fans", columns, lines, caption=t("page.fans"), labels={})
    if opened:
        screen.go("rounds", **who.link, behind=opened)
    screen.downloads(found, "fans")


def opponents(who: Account) -> None:
    """Who sat at a table with the account, and what passed between them."""
    st.subheader(t("player.opponents"))
    found = queries.opponents(*who.key)
    offset = screen.pager("opponents", found.height, data.PAGE_ROWS)
    lines = []
    for row in found.slice(offset, data.PAGE_ROWS).iter_rows(named=True):
        few = row["rounds"] < FEW
        cells = [
            row["opponent"] or t("app.none"), row["rounds"],
            estimate(row["net"], row["net_low"], row["net_high"], few, figures.stakes, signed=True),
            estimate(row["win_rate"], row["win_rate_low"], row["win_rate_high"], few, percent),
            row["won_from"], row["dealt_to"],
            figures.stakes(row["got"] - row["paid"], 1),
        ]  # fmt: skip
        at = str(offset + len(lines))
        lines.append((at, screen.address("player", player=row["opponent"], site=who.site), cells))
    kinds = ("text", "number", "estimate", "estimate", "number", "number", "text")
    names = ("opponent", "rounds", "net_with", "win_rate", "won_from", "dealt_to", "passed")
    columns = [(kind, t(f"player_column.{one}")) for kind, one in zip(kinds, names, strict=True)]
    opened = listing("opponents", columns, lines, caption=t("player.opponents"), labels={})
    if opened:
        screen.go("player", player=found["opponent"][int(opened)], site=who.site)
    screen.downloads(found, "opponents")
    st.caption(t("player.opponents_note"))


def largest(who: Account) -> None:
    """The largest gains and losses, drawn."""
    st.subheader(t("player.largest"))
    lines = []
    for row in queries.largest(*who.key, LARGEST).iter_rows(named=True):
        wins = row["wins"] or []
        fans = [{"label": screen.fan(fan)} for win in wins for fan in win["fans"] or []]
        seats = zip(row["players"], row["points"], strict=True)
        cells = [
            screen.place(row), {"value": figures.stakes(row["net"], 1), "sign": 1 if row["net"] > 0 else -1},
            [{"seat": seat, "name": name or "", "points": points} for seat, (name, points) in enumerate(seats)],
            fans or [{"label": screen.word("end", row["end"] or "unknown")}], screen.winning_hands(row, wins) or None,
        ]  # fmt: skip
        lines.append((row["id"], screen.address("rounds", round=row["id"]), cells))
    kinds, names = ("place", "estimate", "seats", "chips", "hands"), ("round", "net", "players", "fans", "hand")
    titles = {"net": t("player_column.net")}
    columns = [(kind, titles.get(one) or t(f"column.{one}")) for kind, one in zip(kinds, names, strict=True)]
    opened = listing("largest", columns, lines, caption=t("player.largest"), labels=screen.tile_labels())
    if opened:
        screen.go("rounds", round=opened)


def chosen() -> tuple[str | None, str | None, dict[str, Any]]:
    """The account of the address, its site, and the other filters."""
    place = st.columns([2, 3])[0]
    player = place.selectbox(
        t("rounds.player"), data.players(), index=None, placeholder=t("player.all"), accept_new_options=True,
        **filters.bind("player", filters.read("player"), "opponents"),
    )  # fmt: skip
    where = filters.of_statistics("opponents")
    if player is None:
        return None, None, where
    sites = queries.sites(player)
    site = where.get("site") if where.get("site") in sites else next(iter(sites), None)
    return player, site, where


def page() -> None:
    """The list, or one account."""
    st.title(t("player.title"))
    if screen.ready() is None:
        return
    player, site, where = chosen()
    if player is None:
        st.write(t("player.lead"))
        board(where)
        return
    who = Account(player, site, where)
    screen.line(player, "font-size:1.4rem;font-weight:600", "h2")
    found = queries.table(*who.key)
    rows = {row["metric"]: row for row in found.iter_rows(named=True)}
    if "net" not in rows:
        st.info(t("player.unknown"))
        return
    net = rows["net"]
    adjusted = rows.get("luck_adjusted_net")
    values = {"value": figures.stakes(net["value"], 3), "n": net["n"]}
    if adjusted:
        st.subheader(t("player.hero", adjusted=figures.stakes(adjusted["value"], 3), **values))
    else:
        st.subheader(t("player.hero_plain", **values))
    hero(who, net["n"])
    links = {id: figures.counted(id, who.link) for id in CARDS if id in rows and "net" not in id}
    figures.cards([rows[id] for id in CARDS if id in rows], 3, links)
    screen.link("rounds", t("player.every_round"), **who.link)
    standing(who, found)
    course(who)
    largest(who)
    fans(who)
    opponents(who)
    player_review.panel(player, site)


page()
