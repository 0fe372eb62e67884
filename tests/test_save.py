"""Tables as files: the same table, the same bytes; nothing lost, nothing run by a spreadsheet."""

import io
import json
from datetime import date

import polars as pl
import pytest

from analytics import save

TABLE = pl.DataFrame(
    {
        "player": ["u1", None, '=SUM(A1)"x"', "名,字\n2"],
        "day": [date(2026, 5, 1), None, date(2026, 5, 2), date(2026, 5, 3)],
        "n": [1, 2, None, 2**53 + 1],
        "value": [0.1, float("nan"), None, -1e-9],
        "fans": [["reveal"], [], None, ["all_pungs", "reveal"]],
        "hand": [b"\x00\x01", b"", None, b"\x14"],
        "won": [True, False, None, True],
    }
)


def test_parquet_keeps_everything() -> None:
    found = pl.read_parquet(io.BytesIO(save.as_bytes(TABLE, "parquet")))
    assert found.equals(TABLE) and found.schema == TABLE.schema


def test_json_is_what_json_can_say() -> None:
    rows = json.loads(save.as_bytes(TABLE, "json"))
    assert [row["player"] for row in rows] == TABLE["player"].to_list()
    assert rows[0] == {"player": "u1", "day": "2026-05-01", "n": 1, "value": 0.1, "fans": ["reveal"], "hand": [0, 1],
                       "won": True}  # fmt: skip
    assert rows[3]["n"] == 2**53 + 1 and rows[1]["value"] is None and rows[2]["fans"] is None


def test_csv_reads_back_and_runs_nothing() -> None:
    text = save.as_bytes(TABLE, "csv").decode()
    assert text.splitlines()[0] == "player,day,n,value,fans,hand,won" and "\r" not in text
    found = pl.read_csv(io.BytesIO(text.encode()), infer_schema=False)
    assert found["player"].to_list() == ["u1", None, "'=SUM(A1)\"x\"", "名,字\n2"]
    assert found["n"].to_list() == ["1", "2", None, str(2**53 + 1)]
    assert json.loads(found["fans"][3]) == ["all_pungs", "reveal"] and found["fans"][2] is None
    assert float(found["value"][0]) == 0.1 and found["day"][1] is None


@pytest.mark.parametrize("kind", save.KINDS)
def test_the_same_bytes(kind: str) -> None:
    pieces = pl.concat([TABLE[:1], TABLE[1:3], TABLE[3:]], rechunk=False)
    assert save.as_bytes(pieces, kind) == save.as_bytes(TABLE, kind)
    assert save.as_bytes(TABLE.clear(), kind) == save.as_bytes(TABLE[:0], kind)


def test_other_kinds_are_told() -> None:
    with pytest.raises(save.SaveError, match="xlsx"):
        save.as_bytes(TABLE, "xlsx")
