"""The pages of statistics without a browser: in both languages, on an empty data set, one round, several hundred."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import duckdb
import polars as pl
import pytest
from streamlit.testing.v1 import AppTest
from test_dashboard import EVIL, FOLDER, LANGUAGES, charted, clean, component, walk

from analytics import measure, metrics, reveal_statistics, warehouse
from analytics.sittings import rows_of
from dashboard import i18n, player_review
from dashboard.queries import behind, pace, reveal, seats
from dashboard.queries.counted import seats_of
from ingest.read import Reader
from replay import ruleset, simulate

PAGES = ("fans", "reveal", "pace", "seats", "methods", "player")
Show = Callable[..., AppTest]


@pytest.fixture(scope="module")
def folder(measured: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data sets by kind: empty, one round, rounds of accounts with names like markup, and the suite's measured one."""
    made = tmp_path_factory.mktemp("pages")
    (made / "empty.jsonl").write_text("not a round\n", encoding="utf-8")
    simulate.write(made / "one.jsonl", "hubei", {}, 1, 5)
    simulate.write(made / "hostile.jsonl", "hubei", {}, 12, 5)
    lines = [json.loads(line) for line in (made / "hostile.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [EVIL, "=1+1", "a/b?c#d"]
    hostile = [json.dumps(line | {"players": names, "site": EVIL}, ensure_ascii=False) for line in lines]
    (made / "hostile.jsonl").write_text("\n".join(hostile) + "\n", encoding="utf-8")
    for kind in ("empty", "one", "hostile"):
        warehouse.load(Reader([str(made / f"{kind}.jsonl")], check_rules=ruleset.check), made / kind)
    many = measured.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()[0][0]
    return {kind: made / kind for kind in ("empty", "one", "hostile")} | {"many": Path(many)}


@pytest.fixture
def show(folder: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Show:
    """Runs a page: show("fans", "many", lang="en", ruleset="hubei")."""

    def run(page: str, kind: str, /, **address: str | list[str]) -> AppTest:
        monkeypatch.setenv("KWX_DB", str(folder[kind]))
        test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page(f"page/{page}.py")
        for name, value in {"lang": "en", **address}.items():
            test.query_params[name] = value
        return clean(test.run())

    return run


@pytest.mark.parametrize("kind", ["empty", "one", "many"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_pages_explain_themselves(show: Show, page: str, language: str, kind: str) -> None:
    test = show(page, kind, lang=language)
    words = i18n.words(language)
    assert test.title[0].value == words[f"page.{page}"]
    if kind == "empty":
        assert test.subheader[0].value == words["state.empty"]
    elif kind == "one":
        assert words["state.one"] in [info.value for info in test.info]
    else:
        found = charted(test)
        assert (found or page in ("methods", "player")) and all(len(chart.alt) > 20 for chart in found)
        assert len({chart.alt for chart in found}) == len(found) == len(test.dataframe)


@pytest.mark.parametrize("page", PAGES)
def test_names_stay_text(show: Show, page: str) -> None:
    for node in walk(show(page, "hostile")):
        if node.type == "page_link":
            assert "evil" not in node.proto.label
        if node.type in ("markdown", "caption", "title", "subheader", "header", "metric", "button"):
            assert "evil" not in str(node.proto), (page, node.type)
        if node.type == "html":
            assert "<script" not in node.proto.body


# What stands behind a mark


def test_conditions_in_the_address() -> None:
    for text in ("reveal.3.5", "role.chased", "fan.full_flush", "aim.full_flush.ready", "stat.win_rate", "shanten.1.0"):
        assert behind.parse(text) == text
    for text in ("", "reveal", "reveal.3", "reveal.9.1", "reveal.x.1", "reveal.3.5.1", "fan.no", "stat.win_value_p90",
                 "role.chased'--", "shanten.1.99", EVIL):  # fmt: skip
        with pytest.raises(ValueError):
            behind.parse(text)


CONDITIONS = {
    "fan.reveal": "SELECT round_id, seat FROM wins WHERE 'reveal' IN fans",
    "reveal.3.4": "SELECT round_id, seat FROM reveals WHERE live = 3 AND turn BETWEEN 12 AND 14",
    "role.chasing": 'SELECT round_id, seat FROM reveals WHERE "order" > 1',
    "role.chased": 'SELECT a.round_id, a.seat FROM reveals AS a, reveals AS b '
                   'WHERE a.round_id = b.round_id AND a."order" = 1 AND b."order" = 2',
    "waiting.2.kept": "SELECT f.round_id, f.seat FROM facts AS f WHERE ready_live_own = 2 AND NOT EXISTS "
                      "(FROM reveals AS v WHERE v.round_id = f.round_id AND v.seat = f.seat)",
    "shanten.2.1": "SELECT round_id, seat FROM facts WHERE shanten[2] = 1",
    "start.13.2": "SELECT round_id, seat FROM facts WHERE start_tiles = 13 AND start_shanten = 2",
    "reached.win.5": "SELECT round_id, seat FROM wins WHERE turn < 18",
    "waiting.3.won": "SELECT w.round_id, w.seat FROM wins AS w, facts AS f WHERE w.round_id = f.round_id "
                     "AND w.seat = f.seat AND ready_live_own = 3",
    "plain": "SELECT round_id, seat FROM wins AS w WHERE NOT EXISTS (FROM win_fans AS f "
             "WHERE f.round_id = w.round_id AND f.win_no = w.win_no)",
    "pair.reveal.all_pungs": "SELECT a.round_id, seat FROM win_fans AS a, win_fans AS b, wins AS w "
                             "WHERE a.fan = 'reveal' AND b.fan = 'all_pungs' AND a.round_id = b.round_id "
                             "AND a.win_no = b.win_no AND w.round_id = a.round_id AND w.win_no = a.win_no",
    "dealt.2": "SELECT b.round_id, b.dealer AS seat FROM rounds AS a, rounds AS b WHERE a.game_key = b.game_key "
               "AND a.round + 1 = b.round AND a.dealer = b.dealer AND b.next_dealer = b.dealer "
               "AND a.\"end\" <> 'aborted' AND (a.game_key, a.round - 1, a.dealer) NOT IN "
               "(SELECT (game_key, round, dealer) FROM rounds WHERE \"end\" <> 'aborted')",
    "others.win": "SELECT round_id, s.seat FROM wins AS s JOIN rounds AS r USING (round_id) WHERE s.seat <> r.dealer",
    "ended.discard": "SELECT round_id, seat FROM seats WHERE round_id IN "
                     "(SELECT round_id FROM wins WHERE \"by\" = 'discard')",
    "seat.net.2": "SELECT round_id, seat FROM seats WHERE seat = 2 AND points <> 0",
    "position.net.1": "SELECT round_id, (dealer + 1) % 3 AS seat FROM rounds WHERE (round_id, (dealer + 1) % 3) IN "
                      "(SELECT (round_id, seat) FROM seats WHERE points <> 0)",
    "seat.win.1": "SELECT round_id, seat FROM wins WHERE seat = 1",
    "position.deal_in.0": "SELECT round_id, dealer AS seat FROM rounds WHERE "
                          "(round_id, dealer) IN (SELECT round_id, from_seat FROM wins)",
    "flow.0.2": "SELECT round_id, to_seat AS seat FROM ledger WHERE from_seat = 0 AND to_seat = 2",
    "relative.1.0": "SELECT l.round_id, to_seat AS seat FROM ledger AS l, rounds AS r WHERE l.round_id = r.round_id "
                    "AND to_seat = dealer AND from_seat = (dealer + 1) % 3",
    "aim.seven_pairs.ready": "SELECT round_id, seat FROM aims WHERE fan = 'seven_pairs' AND ready_turn IS NOT NULL",
    "stat.win_rate": "SELECT round_id, seat FROM wins",
    "stat.reveal_rate": "SELECT round_id, seat FROM reveals",
}  # fmt: skip


@pytest.mark.parametrize("code", CONDITIONS)
def test_rounds_behind_a_mark(measured: duckdb.DuckDBPyConnection, code: str) -> None:
    seats = set(measured.execute(CONDITIONS[code]).fetchall())
    ended = {key for (key,) in measured.execute("SELECT round_id FROM rounds WHERE \"end\" <> 'aborted'").fetchall()}
    who = {(key, seat): player for key, seat, player in
           measured.execute("SELECT round_id, seat, player FROM seats").fetchall()}  # fmt: skip
    assert seats, code
    sql, values = behind.condition(code, None)
    found = measured.execute(f"SELECT round_id FROM rounds AS r WHERE {sql}", values).fetchall()
    assert sorted(key for (key,) in found) == sorted({key for key, _ in seats} & ended)
    player = sorted({who[at] for at in seats if at[0] in ended})[0]
    sql, values = behind.condition(code, player)
    found = measured.execute(f"SELECT round_id FROM rounds AS r WHERE {sql}", values).fetchall()
    assert sorted(key for (key,) in found) == sorted({at[0] for at in seats if who[at] == player} & ended)


def test_a_mark_lists_its_rounds(show: Show) -> None:
    test = show("rounds", "many", behind="role.chasing", ruleset="hubei")
    words = i18n.words("en")
    assert words["behind.role"].format(a=words["behind_word.chasing"]) in str(
        [node.proto for node in walk(test) if node.type == "markdown"]
    )
    assert all(len(row["cells"][1]) == 3 for row in component(test, "rounds")["rows"])
    next(button for button in test.button if button.label == words["rounds.drop_behind"]).click()
    clean(test.run())
    assert dict(test.query_params) == {"lang": "en", "ruleset": "hubei"}
    assert show("rounds", "many", behind="no.such").button


# Fans


def test_fans_open_their_rounds(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    rows = component(show("fans", "many", ruleset="hubei"), "fans")["rows"]
    stakes = measured.execute(
        "SELECT fan, count(*) FROM win_fans JOIN rounds USING (round_id) WHERE ruleset = 'hubei' GROUP BY fan"
    ).fetchall()
    asked = {row["id"].removeprefix("fan "): parse_qs(urlsplit(row["href"]).query) for row in rows}
    assert {code for code, _ in stakes} == set(asked) - {"plain"}
    for (code, wins), row in ((one, row) for one in stakes for row in rows if row["id"] == f"fan {one[0]}"):
        assert row["cells"][1] == wins
        assert asked[code] == {"lang": ["en"], "fan": [code], "ruleset": ["hubei"]}
        assert len([tile for group in row["cells"][6][0]["tiles"] for tile in group]) >= 14


# Reveal


def test_reveals_open_their_rounds(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    show("reveal", "many")
    frame = reveal.against_not({})
    assert frame["ruleset"][0] is None and frame["ruleset"].n_unique() == frame.height > 1
    cells = reveal.grid({}).filter(pl.col("live") == 3)
    row = cells.row(by_predicate=pl.col("n") == cells["n"].max(), named=True)
    listed = show("rounds", "many", behind=behind.code("reveal", row["live"], row["turn"]))
    asked = f"SELECT count(DISTINCT round_id) FROM reveals WHERE live = 3 AND turn // 3 = {row['turn']}"
    n = measured.execute(asked).fetchall()[0][0]
    assert i18n.words("en")["rounds.found"].format(n=n) in [caption.value for caption in listed.caption]


# Pace


def test_the_course_of_hands(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    show("pace", "many")
    ended = "round_id IN (SELECT round_id FROM rounds WHERE \"end\" <> 'aborted' AND ruleset = 'hubei')"
    found = {(row["event"], row["turn"]): row for row in pace.course({"ruleset": "hubei"}).iter_rows(named=True)}
    n = measured.execute(f"SELECT count(*) FROM facts WHERE {ended}").fetchall()[0][0]
    wins = [turn for (turn,) in measured.execute(f"SELECT turn FROM wins WHERE {ended}").fetchall()]
    shown = [turn for (turn,) in measured.execute(f"SELECT turn FROM reveals WHERE {ended}").fetchall()]
    for event, turns in (("win", wins), ("reveal", shown)):
        for turn in range(14):
            assert found[event, turn]["k"] == sum(drawn < 3 * turn + 3 for drawn in turns), (event, turn)
        assert found[event, 14]["k"] == len(turns) and found[event, 14]["n"] == n
    ready = measured.execute(f"SELECT count(*) FROM facts WHERE ready_turn IS NOT NULL AND {ended}").fetchall()[0][0]
    assert found["ready", 14]["share"] == ready / n


def test_dealt_hands_add_up(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    show("pace", "many")
    found = pace.dealt({"ruleset": "hubei"})
    for tiles, hands in ((13, 2), (14, 1)):
        part = found.filter(tiles=tiles)
        n = measured.execute("SELECT count(*) FROM rounds WHERE ruleset = 'hubei' AND \"end\" <> 'aborted'").fetchall()
        assert part["k"].sum() == part["n"][0] == hands * n[0][0]
        assert part["exact"].sum() == pytest.approx(1)
        mean = float((part["exact"] * part["shanten"]).sum())
        assert mean == pytest.approx({13: 2.4292, 14: 1.9442}[tiles], abs=1e-4)


def test_wins_by_live_tiles(measured: duckdb.DuckDBPyConnection) -> None:
    found = reveal_statistics.wins_by_live(measured)
    split = reveal_statistics.by_live(measured).with_columns(wins=pl.col("win_rate") * pl.col("n"))
    both = split.group_by("live").agg(pl.col("wins").sum(), pl.col("n").sum()).sort("live")
    assert found["live"].to_list() == both["live"].to_list() and found["n"].to_list() == both["n"].to_list()
    assert found["win_rate"].to_list() == pytest.approx((both["wins"] / both["n"]).to_list())


# Seats


def test_who_pays_whom(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    show("seats", "many")
    ended = measured.execute(
        "SELECT round_id, dealer, base FROM rounds WHERE \"end\" <> 'aborted' AND ruleset = 'hubei'"
    ).fetchall()
    rounds = {key: (dealer, base) for key, dealer, base in ended}
    for by in ("seat", "position"):
        passed: dict[tuple[int, int], float] = {}
        for key, payer, payee, points in measured.execute(
            "SELECT round_id, from_seat, to_seat, points FROM ledger WHERE to_seat IS NOT NULL"
        ).fetchall():
            if key in rounds:
                dealer, base = rounds[key]
                first = dealer if by == "position" else 0
                pair = ((payer - first) % 3, (payee - first) % 3)
                passed[pair] = passed.get(pair, 0) + points / base
        found = seats.flows({"ruleset": "hubei"}, by)
        assert found["n"].unique().to_list() == [len(rounds)]
        for payer, payee, stakes in found.select("payer", "payee", "stakes").iter_rows():
            assert stakes == pytest.approx(100 * passed.pop((payer, payee)) / len(rounds))
        assert not passed


def test_how_long_a_dealer_stays(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    show("seats", "many")
    counts: dict[int, list[int]] = {}
    before: tuple = (None, None, None)
    dealt = 0
    for game, number, dealer, after in measured.execute(
        "SELECT game_key, round, dealer, next_dealer FROM rounds WHERE \"end\" <> 'aborted' ORDER BY game_key, round"
    ).fetchall():
        dealt = dealt + 1 if before == (game, number - 1, dealer) else 1
        before = (game, number, dealer)
        if after is not None:
            cell = counts.setdefault(min(dealt, 8), [0, 0])
            cell[0] += after == dealer
            cell[1] += 1
    found = seats.streaks({})
    assert {row["dealt"]: [row["k"], row["n"]] for row in found.iter_rows(named=True)} == counts
    assert len(counts) > 3
    assert found["model"][0] == sum(k for k, _ in counts.values()) / sum(n for _, n in counts.values())


# Methods


@pytest.mark.parametrize("group", metrics.GROUPS)
def test_every_statistic_is_worked_out(show: Show, measured: duckdb.DuckDBPyConnection, group: str) -> None:
    rows = component(show("methods", "many", group=group), "methods")["rows"]
    members = [one for one in metrics.registry().values() if one.group == group]
    assert [row["cells"][0] for row in rows] == [one.en for one in members]
    for one, row in zip(members, rows, strict=True):
        found = measure.metrics(measured, [one.id]) if one.kind != "quantile" else measure.quantile(measured, one.id)
        assert found.height == 1 or row["id"] is None
        if found.height and one.kind != "quantile":
            k, n = (part.replace(",", "") for part in row["cells"][3].split(" = ")[0].split(" ÷ "))
            assert (float(k), int(n)) == (pytest.approx(found["k"][0], abs=0.006), found["n"][0])
            assert row["cells"][4]["value"] == row["cells"][3].split(" = ")[1]


@pytest.mark.parametrize("topic", ["rate", "mean", "quantile", "fans", "lift", "pursuit", "matched", "luck", "dealer"])
def test_other_methods_are_worked_out(show: Show, topic: str) -> None:
    texts = [node.value for node in show("methods", "many", topic=topic).markdown]
    assert i18n.words("en")[f"methods_text.{topic}"] in texts
    assert any("Here:" in text for text in texts)


# Player


def somebody(connection: duckdb.DuckDBPyConnection) -> str:
    asked = "SELECT player FROM seats JOIN rounds USING (round_id) WHERE site = 'simulated' GROUP BY player"
    return connection.execute(f"{asked} ORDER BY count(*) DESC, player LIMIT 1").fetchall()[0][0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_account(show: Show, measured: duckdb.DuckDBPyConnection, language: str) -> None:
    player = somebody(measured)
    test = show("player", "many", lang=language, player=player, site="simulated")
    found = charted(test)
    assert len(found) == 3 == len({chart.alt for chart in found}) and all(len(chart.alt) > 20 for chart in found)
    net = measured.execute(
        "SELECT sum(points / base), count(*) FROM seats JOIN rounds USING (round_id) "
        "WHERE player = ? AND site = 'simulated'",
        [player],
    ).fetchall()[0]
    assert f"{net[0]:+,.1f}" in found[0].alt and f"{net[1]:,}" in found[0].alt
    rows = component(test, "statistics")["rows"]
    assert all(parse_qs(urlsplit(row["href"]).query)["player"] == [player] for row in rows)
    wins = next(row for row in rows if row["id"] == "win_rate")
    listed = show("rounds", "many", player=player, site="simulated", behind="stat.win_rate")
    k = measured.execute(
        "SELECT count(*) FROM wins JOIN seats USING (round_id, seat) JOIN rounds USING (round_id) "
        "WHERE player = ? AND site = 'simulated' AND \"end\" <> 'aborted'",
        [player],
    ).fetchall()[0][0]
    assert i18n.words("en")["rounds.found"].format(n=k) in [caption.value for caption in listed.caption]
    assert wins["cells"][3] > k
    drawn = component(test, "largest")["rows"]
    assert [row["cells"][1]["sign"] for row in drawn] == sorted(
        (row["cells"][1]["sign"] for row in drawn), reverse=True
    )
    assert {seat["name"] for row in drawn for seat in row["cells"][2]} >= {player}


def test_the_list_of_accounts_opens_them(show: Show, measured: duckdb.DuckDBPyConnection) -> None:
    rows = component(show("player", "many", by="win_rate"), "board")["rows"]
    assert [row["cells"][-4] for row in rows] == list(range(1, len(rows) + 1)) and len(rows) > 5
    asked = parse_qs(urlsplit(rows[0]["href"]).query)
    assert asked["player"] == [rows[0]["cells"][0]]
    assert charted(show("player", "many", player=asked["player"][0], site=asked["site"][0]))


@pytest.mark.parametrize("name", [EVIL, "=1+1", "a/b?c#d"])
def test_an_account_with_any_name(show: Show, name: str) -> None:
    test = show("player", "hostile", player=name, site=EVIL)
    assert len(charted(test)) >= 2
    for node in walk(test):
        if node.type in ("markdown", "caption", "title", "subheader", "header", "metric", "button"):
            assert "evil" not in str(node.proto), node.type
        if node.type == "html":
            assert "<script" not in node.proto.body


def test_nobody_of_that_name(show: Show) -> None:
    assert i18n.words("en")["player.unknown"] in [info.value for info in show("player", "many", player="no one").info]


def test_decisions_are_played_out_on_request(
    show: Show, measured: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_review, "ROUNDS", 2)
    monkeypatch.setattr(player_review, "ROLLOUTS", 32)
    player = somebody(measured)
    test = show("player", "many", player=player, site="simulated")
    words = i18n.words("en")
    next(button for button in test.button if button.label == words["player.review_start"]).click()
    clean(test.run())
    for _ in range(200):
        if not any(button.label == words["player.review_stop"] for button in test.button):
            break
        time.sleep(0.1)
        clean(test.run())
    rows = component(test, "worst")["rows"]
    assert rows and all(parse_qs(urlsplit(row["href"]).query)["pov"] for row in rows)


# Statistics and the rounds behind them


COUNTED = [one.id for one in metrics.registry().values() if one.kind != "quantile"]


def test_rounds_that_a_statistic_counts(measured: duckdb.DuckDBPyConnection) -> None:
    measured.execute(f"CREATE OR REPLACE TEMP TABLE counted AS FROM {rows_of('seat_rounds')} WHERE played = 1")
    for metric in COUNTED:
        asked = f"SELECT DISTINCT round_id, seat FROM counted WHERE {metrics.get(metric).numerator} <> 0 ORDER BY ALL"
        seats = f"({seats_of(metric)}) SEMI JOIN counted USING (round_id)"
        sql = f"SELECT DISTINCT round_id, seat FROM {seats} ORDER BY ALL"
        assert measured.execute(sql).fetchall() == measured.execute(asked).fetchall(), metric
        sql, values = behind.condition(f"stat.{metric}", None)
        n = measured.execute(f"SELECT count(*) FROM rounds AS r WHERE {sql}", values).fetchall()[0][0]
        assert n == measured.execute(f"SELECT count(DISTINCT round_id) FROM ({asked})").fetchall()[0][0], metric
