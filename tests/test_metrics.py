"""The registry: complete, in two languages, strict about its file, and its page current."""

from pathlib import Path

import duckdb
import pytest

from analytics import metrics, schema
from analytics.measure import totals
from analytics.sittings import counts, create

ROOT = Path(__file__).parent.parent
FINE = {"group": "results", "kind": "rate", "numerator": "wins", "denominator": "played", "unit": "share",
        "zh": "胡", "en": "win"}  # fmt: skip


def test_every_statistic_can_be_computed() -> None:
    with duckdb.connect() as connection:
        schema.create_tables(connection)
        schema.create_views(connection)
        create(connection)
        known = {*counts(connection), "points", "multiple", "wins"}
        for one in metrics.registry().values():
            names = {name for part in (one.numerator, one.denominator) for name in part.split() if name not in "+-"}
            assert names <= known, one.id
            if one.kind != "quantile":
                assert sum(totals(connection, [one])[1][0].n) == 0


def test_names_differ_and_are_said_twice() -> None:
    found = metrics.registry().values()
    for language in ("zh", "en"):
        names = [getattr(one, language) for one in found]
        assert len(set(names)) == len(names) and all(names)
    assert all(any("\u4e00" <= letter <= "\u9fff" for letter in one.zh) for one in found)


def test_the_page_is_current() -> None:
    """`python -m analytics.metrics docs/metrics.md` writes it."""
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == metrics.page()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numerater": "wins"}, "unknown key numerater"),
        ({"kind": "median"}, "kind 'median'"),
        ({"unit": "apples"}, "unit 'apples'"),
        ({"group": "fate"}, "group 'fate'"),
        ({"scale": 1000}, "scale 1000 does not go"),
        ({"numerator": "wins; DROP TABLE rounds"}, "is no sum of columns"),
        ({"unit": "stakes"}, "does not go with its unit"),
        ({"quantile": 0.9}, "does not go with its unit"),
        ({"note_en": "x"}, "one language only"),
    ],
)
def test_a_wrong_entry_is_told(change: dict, message: str) -> None:
    assert metrics.read({"win": FINE})["win"].en == "win"
    with pytest.raises(metrics.MetricError, match=message):
        metrics.read({"win": FINE | change})
    with pytest.raises(metrics.MetricError, match="missing"):
        metrics.read({"win": {name: value for name, value in FINE.items() if name != "zh"}})
