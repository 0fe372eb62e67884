"""The dashboard without a browser: every page in both languages on every kind of data set, filters, links, words."""

import json
import re
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import sample_warehouse
from streamlit.testing.v1 import AppTest

from analytics import schema, warehouse
from dashboard import bundle, charts, i18n, tiles
from ingest.events import ENDS, FANS, VERBS
from ingest.rejects import REJECT_CODES
from replay import problems, rules_text
from replay import trace as frame_maker

FOLDER = Path(i18n.__file__).parent.parent
PAGES = ("overview", "rounds", "payouts", "data", "rules", "start")
WITHOUT_DATA = ("rules", "start")  # pages that answer their question whatever the data set
LANGUAGES = ("zh", "en")
EVIL = "<script>window.evil=1</script>\"'`$x$ **b** :smile: [l](javascript:1) \u202eabc\u202c 🀄é"
AppFactory = Callable[..., AppTest]


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Paths by kind of data set: none at all, a file that is something else, empty, one round, many, hostile text."""
    folder = tmp_path_factory.mktemp("datasets")
    logs = sample_warehouse.logs()
    hostile = [{**log, "site": EVIL, "game": EVIL + log["game"], "players": [EVIL, "", "a/b?c#d"]} for log in logs[:12]]
    made = {
        "empty": {},
        "one": {"one.jsonl": logs[:1]},
        "hostile": {f"{EVIL}.jsonl": [*hostile, EVIL, "x" * 9000]},
    }
    for name, sources in made.items():
        reader = sample_warehouse.FakeReader(sources)
        warehouse.load(
            reader, folder / name, replayer=sample_warehouse.FakeReplayer(), check_games=sample_warehouse.lost_rounds
        )
    sample_warehouse.build(folder / "many")
    (folder / "garbage").write_bytes(b"not a data set" * 500)
    return {name: folder / name for name in ("missing", "garbage", *made, "many")}


@pytest.fixture
def app(datasets: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> AppFactory:
    """Runs a page: app("rounds", "many", lang="en", verdict="violation")."""

    def run(page: str, dataset: str | None, /, **address: str | list[str]) -> AppTest:
        if dataset is None:
            monkeypatch.delenv("KWX_DB", raising=False)
        else:
            monkeypatch.setenv("KWX_DB", str(datasets[dataset]))
        test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page(f"page/{page}.py")
        for name, value in {"lang": "en", **address}.items():
            test.query_params[name] = value
        return clean(test.run())

    return run


def clean(test: AppTest) -> AppTest:
    """The same, after making sure that nothing went wrong."""
    assert not test.exception, [error.message for error in test.exception]
    assert not test.error
    return test


def walk(test: AppTest) -> Iterator[Any]:
    """Every element of the main area."""
    waiting = list(test.main.children.values())
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting[:0] = getattr(node, "children", {}).values()


def component(test: AppTest, key: str) -> dict[str, Any]:
    """The data that a component of ours was given."""
    found = [json.loads(node.proto.json) for node in walk(test) if node.type == "bidi_component" and node.key == key]
    assert len(found) == 1, key
    return found[0]


def charted(test: AppTest) -> list[Any]:
    return [node.proto for node in walk(test) if node.type == "vega_lite_chart"]


def listed(test: AppTest) -> list[str]:
    return [dict(parse_qsl(row["id"]))["round"] for row in component(test, "rounds")["rows"]]


# Every page on every data set


@pytest.mark.parametrize("dataset", [None, "missing", "garbage", "empty", "one", "many", "hostile"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_explains_itself(app: AppFactory, page: str, language: str, dataset: str | None) -> None:
    test = app(page, dataset, lang=language)
    assert test.title[0].value == i18n.words(language)[f"page.{page}"]
    if page in WITHOUT_DATA:
        assert not test.info
        return
    kind = {None: "unset", "garbage": "unreadable"}.get(dataset, dataset)
    if kind in ("unset", "missing", "unreadable", "empty"):
        assert test.subheader[0].value == i18n.words(language)[f"state.{kind}"]
    if kind == "one":
        assert i18n.words(language)["state.one"] in [info.value for info in test.info]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_app_names_its_pages(datasets: dict[str, Path], monkeypatch: pytest.MonkeyPatch, language: str) -> None:
    monkeypatch.setenv("KWX_DB", str(datasets["many"]))
    test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60)
    test.query_params["lang"] = language
    clean(test.run())
    assert test.title[0].value == i18n.words(language)["page.overview"]
    other = "en" if language == "zh" else "zh"
    test.sidebar.segmented_control(key="language").set_value(other)
    clean(test.run())
    assert test.title[0].value == i18n.words(other)["page.overview"]
    assert test.query_params["lang"] == other


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", ["overview", "payouts", "data", "rules"])
def test_every_chart_has_words_and_numbers(app: AppFactory, page: str, language: str) -> None:
    test = app(page, "many", lang=language)
    found = charted(test)
    assert found and all(len(chart.alt) > 20 for chart in found)
    assert len(found) == len({chart.alt for chart in found})
    assert len(test.dataframe) == len(found)


def test_a_newly_loaded_data_set_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(count: int) -> None:
        reader = sample_warehouse.FakeReader({"log.jsonl": sample_warehouse.logs()[:count]})
        parts = {"replayer": sample_warehouse.FakeReplayer(), "check_games": sample_warehouse.lost_rounds}
        warehouse.load(reader, tmp_path / "db", **parts)

    monkeypatch.setenv("KWX_DB", str(tmp_path / "db"))
    test = AppTest.from_file(str(FOLDER / "app.py"), default_timeout=60).switch_page("page/overview.py")
    test.query_params["lang"] = "en"
    assert clean(test.run()).subheader[0].value == i18n.words("en")["state.missing"]
    for count in (5, 9):
        load(count)
        assert clean(test.run()).metric[0].value == str(count)


# The list of rounds


@pytest.fixture(scope="session")
def rounds(datasets: dict[str, Path]) -> list[dict[str, Any]]:
    """Rows of view `round_list` of the data set "many", in its order."""
    with warehouse.connect(datasets["many"]) as connection:
        return connection.sql("SELECT * FROM round_list").to_arrow_table().to_pylist()


FILTERS = {
    "verdict": ("violation", lambda row: row["verdict"] == "violation"),
    "code": ("points", lambda row: "points" in (row["codes"] or [])),
    "multiple": ("8", lambda row: (row["multiple"] or 0) >= 8),
    "reveal": ("True", lambda row: row["revealed"] > 0),
    "double": ("True", lambda row: row["winners"] > 1),
    "since": ("2026-05-03", lambda row: row["day"] is not None and str(row["day"]) >= "2026-05-03"),
    "until": ("2026-05-02", lambda row: row["day"] is not None and str(row["day"]) <= "2026-05-02"),
    "site": ("oracle", lambda row: row["site"] == "oracle"),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_the_address(app: AppFactory, rounds: list[dict[str, Any]], name: str) -> None:
    value, fits = FILTERS[name]
    expected = [row["id"] for row in rounds if fits(row)]
    assert expected
    test = app("rounds", "many", **{name: value})
    assert listed(test) == expected[:25]
    assert f"{len(expected):,} rounds" in [caption.value for caption in test.caption]
    assert test.query_params[name] == value


def test_filters_on_player_fans_and_ruleset(app: AppFactory, rounds: list[dict[str, Any]]) -> None:
    player, ruleset = rounds[30]["players"][1], rounds[30]["ruleset"]
    test = app("rounds", "many", player=player)
    assert listed(test) == [row["id"] for row in rounds if player in row["players"]][:25]
    test = app("rounds", "many", ruleset=ruleset)
    assert listed(test) == [row["id"] for row in rounds if row["ruleset"] == ruleset][:25]
    both = {"full_flush", "reveal"}
    test = app("rounds", "many", fan=sorted(both))
    assert listed(test) == [row["id"] for row in rounds if both <= set(row["fans"] or [])][:25]


def test_orders(app: AppFactory, rounds: list[dict[str, Any]]) -> None:
    largest = sorted(rounds, key=lambda row: -(row["multiple"] or 0))[:25]
    by_id = {row["id"]: row for row in rounds}
    found = [by_id[id]["multiple"] for id in listed(app("rounds", "many", sort="multiple"))]
    assert found == [row["multiple"] for row in largest]
    times = [by_id[id]["time_ms"] for id in listed(app("rounds", "many", sort="newest"))]
    assert times == sorted((row["time_ms"] for row in rounds if row["time_ms"]), reverse=True)[:25]


def test_widgets_write_the_address(app: AppFactory) -> None:
    test = app("rounds", "many", page="3")
    test.selectbox(key="filter-verdict").set_value("violation")
    clean(test.run())
    assert test.query_params["verdict"] == "violation"
    assert "page" not in test.query_params
    test.multiselect(key="filter-fan").set_value(["reveal"])
    test.checkbox(key="filter-double").set_value(True)
    clean(test.run())
    assert test.query_params["fan"] in ("reveal", ["reveal"])
    assert test.query_params["double"] == "True"
    next(button for button in test.button if button.label == i18n.words("en")["rounds.clear"]).click()
    clean(test.run())
    assert dict(test.query_params) == {"lang": "en"}
    assert len(listed(test)) == 25


@pytest.mark.parametrize(
    "address",
    [
        {"verdict": "no such"}, {"multiple": "-3"}, {"multiple": "many"}, {"since": "yesterday"},
        {"until": "0001-01-01"},
        {"fan": ["no", "such"]}, {"sort": "; DROP TABLE rounds"}, {"page": "-1"}, {"page": "1e9"}, {"page": "99999999"},
        {"ruleset": EVIL}, {"reveal": "maybe"}, {"lang": "xx"},
    ],
)  # fmt: skip
def test_nonsense_in_the_address_is_ignored(app: AppFactory, address: dict[str, str]) -> None:
    assert listed(app("rounds", "many", **address))


def test_an_unknown_player_finds_nothing(app: AppFactory) -> None:
    test = app("rounds", "many", player=EVIL)
    assert test.info[0].value == i18n.words("en")["rounds.nothing"]


def test_pages_of_the_list(app: AppFactory, rounds: list[dict[str, Any]]) -> None:
    test = app("rounds", "many", page="2")
    assert listed(test) == [row["id"] for row in rounds[25:50]]
    next(button for button in test.button if button.key == "page-forth").click()
    assert listed(clean(test.run())) == [row["id"] for row in rounds[50:75]]
    assert test.query_params["page"] == "3"


# One round


def test_a_round_opens_at_its_event(app: AppFactory, rounds: list[dict[str, Any]]) -> None:
    row = next(row for row in rounds if "tile_not_held" in (row["codes"] or []))
    seen = component(app("rounds", "many", round=row["id"], event="12"), "viewer")
    assert seen["frames"][seen["start"]]["no"] == 12
    assert [problem["at"] for problem in seen["problems"]] == [(len(seen["frames"]) - 1) // 2 + 1]
    assert seen["players"] == row["players"]
    assert seen["frames"][-1]["money"] == row["points"]
    assert component(app("rounds", "many", round=row["id"]), "viewer")["start"] == 0
    beyond = component(app("rounds", "many", round=row["id"], event="9999"), "viewer")
    assert beyond["start"] == len(beyond["frames"]) - 1


@pytest.mark.parametrize("id", ["oracle/none/0", "a/b", "a/b/c", "/", EVIL, "a/b/" + "9" * 40, "%ff/%00/1"])
def test_a_round_that_is_not_there(app: AppFactory, id: str) -> None:
    test = app("rounds", "many", round=id, event="x", pov="7")
    assert not [node for node in walk(test) if node.type == "bidi_component"]
    assert len(test.button) == 1


def test_frames_keep_every_tile(datasets: dict[str, Path], rounds: list[dict[str, Any]]) -> None:
    with warehouse.connect(datasets["many"]) as connection:
        rows = connection.sql("SELECT * FROM rounds").to_arrow_table().to_pylist()
        hands = {row["id"]: row for row in rounds}
        keys = {row["round_id"]: row["id"] for row in rounds}
    for row in rows:
        steps = frame_maker.frames(row, "back")
        assert [frame["no"] for frame in steps[1:]] == list(range(len(row["events"])))
        wins = 0
        for frame in steps:
            wins += frame["verb"] == "w"
            count = frame["wall_left"]
            for seat in frame["seats"]:
                assert seat["hand"] == sorted(seat["hand"], key=lambda name: (name[1], name[0]))
                count += len(seat["hand"]) + (seat["drawn"] is not None)
                count += sum(3 if meld["kind"] == "pung" else 4 - meld["robbed"] for meld in seat["melds"])
                count += sum(discard["taken"] is None for discard in seat["river"])
            assert count == 84 + (wins > 1), (keys[row["round_id"]], frame["no"])
        for seat, hand in zip(steps[-1]["seats"], hands[keys[row["round_id"]]]["hands"], strict=True):
            won = [seat["drawn"]] if seat["drawn"] and len(seat["hand"]) + 1 > len(hand) else []
            assert len(seat["hand"]) + (seat["drawn"] is not None) - len(won) == len(hand)


# Payouts and data quality


def test_a_payout_shows_where_it_differs(app: AppFactory, rounds: list[dict[str, Any]]) -> None:
    row = next(row for row in rounds if row["mispaid"])
    test = app("payouts", "many", case=row["id"])
    alts = [chart.alt for chart in charted(test)][:3]
    for seat, alt in enumerate(alts):
        assert f"recomputed {row['points'][seat]:,}, recorded {row['recorded_points'][seat]:,}" in alt
    shown = component(test, "mispaid")
    assert shown["selected"] == row["id"]
    for _, seats, recorded, points, *_ in (line["cells"] for line in shown["rows"]):
        assert [seat["points"] for seat in seats] == [a - b for a, b in zip(recorded, points, strict=True)] != [0, 0, 0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_tables_keep_is_checked_on_demand(app: AppFactory, language: str) -> None:
    test = app("data", "many", lang=language)
    assert not [node for node in walk(test) if node.type == "bidi_component" and node.key == "kept-list"]
    test.toggle(key="kept").set_value(True)
    rows = component(test.run(), "kept-list")["rows"]
    names = list(i18n.group(language, "invariant").values())
    assert [row["cells"][0] for row in rows] == names and all(row["id"] is None for row in rows)
    assert all((row["cells"][3] == 0) == (row["cells"][1][0]["kind"] == "clean") for row in rows)


def test_a_rejected_record_is_shown_as_written(app: AppFactory) -> None:
    rows = component(app("data", "hostile"), "rejects-list")["rows"]
    assert [row["cells"][4] for row in rows][0] == EVIL
    shown = [app("data", "hostile", record=row["id"]).code[0].value for row in rows]
    assert shown == [EVIL, "x" * 4000]
    app("data", "hostile", record="0 0 nothing")
    only = component(app("data", "many", reject="bad_json"), "rejects-list")["rows"]
    assert len(only) == 2


def test_names_are_text_never_markup(app: AppFactory, datasets: dict[str, Path]) -> None:
    with warehouse.connect(datasets["hostile"]) as connection:
        id = connection.execute("SELECT id FROM round_list ORDER BY round").fetchone()[0]
    for page, address in [*((page, {}) for page in PAGES), ("rounds", {"round": id})]:
        test = app(page, "hostile", **address)
        for node in walk(test):
            if node.type == "page_link":
                assert "evil" not in node.proto.label
            if node.type in ("markdown", "caption", "title", "subheader", "header", "metric", "button"):
                assert "evil" not in str(node.proto), (page, node.type)
            if node.type == "html":
                assert "<script" not in node.proto.body
    assert component(app("rounds", "hostile", round=id), "viewer")["players"] == [EVIL, "", "a/b?c#d"]


# Words, tiles, settings


def test_languages_say_the_same() -> None:
    zh, en = (i18n.words(language) for language in LANGUAGES)
    assert list(zh) == list(en)
    for key in zh:
        assert sorted(re.findall(r"{\w+}", zh[key])) == sorted(re.findall(r"{\w+}", en[key])), key
        assert zh[key].strip() and en[key].strip()


def test_every_code_has_a_word() -> None:
    known = {
        "verdict": problems.VERDICTS, "verdict_more": problems.VERDICTS, "code": problems.CODES,
        "cause": problems.CAUSES,
        "end": (*ENDS, *problems.BY), "fan": FANS, "reject": REJECT_CODES, "verb": tuple(VERBS),
        "invariant": re.findall(r"SELECT \d+(?: AS place)?, '(\w+)'", schema.views()["invariants"]),
    }  # fmt: skip
    for group, codes in known.items():
        assert set(codes) <= set(i18n.group("en", group)), group
    assert set(charts.VERDICTS) <= set(i18n.group("en", "verdict"))


def test_every_text_is_used_and_every_used_text_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.rglob("*.py")))
    known = i18n.words("en")
    used = set(re.findall(r'\bt\(\s*"([a-z_.]+)"', sources))
    assert used <= set(known)
    script = bundle.script(FOLDER / "replayer" / "viewer.js")
    for key in known:
        group, _, last = key.partition(".")
        literal = f'"{key}"' in sources or f"'{key}'" in sources
        spoken = rf"""["']{group}\.["'{{]|, "{group}"\)|(word|headings)\("{group}\""""
        dynamic = group != "viewer" and re.search(spoken, sources)
        viewer = group == "viewer" and re.search(rf"\btext\.{last}\b", script)
        assert literal or dynamic or viewer, key


def test_tiles_are_drawings_of_their_own() -> None:
    drawings = tiles.sprite()
    assert len(set(drawings.values())) == 31
    for drawing in drawings.values():
        assert "<text" not in drawing and "http" not in drawing and "href" not in drawing
        xml.fromstring(f"<g>{drawing}</g>")
    strip = xml.fromstring(tiles.strip(["1p", "", "5z"], 42))
    assert strip.get("width") == "70" and strip.get("height") == "42"


def test_settings_keep_to_this_machine() -> None:
    import tomllib

    settings = tomllib.loads((FOLDER / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["browser"]["gatherUsageStats"] is False
    assert settings["server"]["address"] == "127.0.0.1"
    for path in sorted(FOLDER.rglob("*.*")):
        if path.suffix in (".js", ".css", ".html"):
            found = re.findall(r"https?://[^\s\"']+", path.read_text(encoding="utf-8"))
            assert set(found) <= {"http://www.w3.org/2000/svg"}, path.name


# Rules


def test_the_matrix_marks_what_differs_from_base(app: AppFactory) -> None:
    test = app("rules", None, topic="fan")
    known = [row["id"] for row in rules_text.listing() if row["playable"]]
    changed = {
        (row["key"], ident) for ident in known for row in rules_text.explanation(ident)
        if row["value"] != row["base"] and row["key"].startswith("fan.")
    }  # fmt: skip
    assert f": {len(changed)} values" in charted(test)[0].alt
    assert len(test.dataframe[0].value) == len(changed)


def test_a_ruleset_is_explained_and_two_are_compared(app: AppFactory) -> None:
    first, second = "hubei", "parlour"
    test = app("rules", "many", ruleset=second)
    shown = component(test, "explained")["rows"]
    changed = [row for row in rules_text.explanation(second) if row["value"] != row["base"]]
    assert [row["cells"][1] for row in shown] == [row["key"] for row in changed]
    test = app("rules", "many", ruleset=second, all="True")
    assert len(component(test, "explained")["rows"]) == len(rules_text.explanation(second))
    test = app("rules", "many", ruleset=second, other=first)
    keys = [row["key"] for row in rules_text.difference(second, first)]
    assert [row["cells"][1] for row in component(test, "compared")["rows"]] == keys
