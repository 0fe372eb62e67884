"""The Parquet twin of the kwx log: lossless, and every value of a file that is not ours checked."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_ingest_sources import DATA, LINES, read

from ingest.read import Reader
from ingest.write import write as convert


@pytest.mark.parametrize("keep", [True, False])
def test_the_parquet_twin_is_lossless(tmp_path: Path, keep: bool) -> None:
    path = tmp_path / "twin.parquet"
    convert(Reader([DATA / "hubei.jsonl"], keep_raw=keep), path)
    plain, _, _ = read(DATA / "hubei.jsonl", keep_raw=keep)
    twin, rejects, [source] = read(path, keep_raw=keep)
    place = {"source": str(path), "byte": None}
    assert not rejects and source["format"] == "kwx-parquet"
    assert twin == [row | place for row in plain]
    # A round of the log and of its twin is one round.
    assert read(DATA / "hubei.jsonl", path)[2][1]["repeats"] == len(LINES)


def test_a_rejected_round_of_a_twin_shows_its_record_as_written(tmp_path: Path) -> None:
    other = LINES[0].replace(b'"base":1', b'"base": 2 ')
    (tmp_path / "a.jsonl").write_bytes(other + b"\n")
    convert(Reader([tmp_path / "a.jsonl"], keep_raw=True), tmp_path / "twin.parquet")
    _, [reject], _ = read(DATA / "hubei.jsonl", tmp_path / "twin.parquet")
    assert (reject["code"], reject["record"]) == ("duplicate_round", 0)
    assert reject["raw"].encode() == other


def changed(**columns: Any) -> bytes:
    """The twin of the sample with the values of some columns put in row 1."""
    table = pa.Table.from_batches(list(Reader([DATA / "hubei.jsonl"]))[0:1][0][:1])
    for name, value in columns.items():
        values = table.column(name).to_pylist()
        values[1] = value
        at = table.schema.get_field_index(name)
        kind = table.schema.field(name).type
        plain = pa.string() if pa.types.is_dictionary(kind) else kind
        table = table.set_column(at, name, pa.array(values, plain))
    out = pa.BufferOutputStream()
    pq.write_table(table, out)
    return out.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"dealer": 3}, "bad_value"), ({"dealer": None}, "missing_key"), ({"base": 0}, "bad_value"),
        ({"deal": bytes(42)}, "bad_tile"), ({"deal": b"\xff" * 42}, "bad_tile"), ({"wall": b"\x15" * 44}, "bad_tile"),
        ({"events": [1 << 31]}, "bad_token"), ({"events": [3]}, "bad_token"),
        ({"events": [31 << 6 | 3 << 11]}, "bad_token"),
        ({"events": [None]}, "bad_type"), ({"times": [1]}, "bad_count"), ({"suits": "xy"}, "bad_value"),
        ({"players": ["a", None, "c"]}, "bad_type"), ({"piao": [0, 0, -1]}, "bad_value"), ({"raise": 99}, "bad_value"),
        ({"result_wins": [{"seat": 4, "tile": 0}]}, "bad_value"),
        ({"result_wins": [{"seat": 0, "tile": 21}]}, "bad_value"),
        ({"result_wins": [{"seat": 0, "tile": 1, "fans": 1 << 63}]}, "bad_value"), ({"options": "x"}, "bad_json"),
        ({"options": "[]"}, "bad_type"), ({"rules": None}, "missing_key"), ({"extra": "{"}, "bad_json"),
        ({"extra": '{"x":1}'}, "bad_json"), ({"proof_order": "1p"}, "bad_tile"), ({"proof_deal": "x"}, "bad_value"),
        ({"prev": "x"}, "bad_value"), ({"time": "noon"}, "bad_value"), ({"time_ms": 1 << 60}, "bad_value"),
        ({"game": ""}, "bad_value"), ({"players": ["a", "b", "c" * 129]}, "bad_value"),
        ({"piao_from": "x"}, "bad_value"),
        ({"result_end": 9}, "bad_value"),
    ],
)  # fmt: skip
def test_values_of_a_parquet_file_are_checked(tmp_path: Path, columns: dict[str, Any], code: str) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(changed(**columns))
    rounds, rejects, _ = read(path)
    assert len(rounds) == len(LINES) - 1
    assert [(row["record"], row["code"]) for row in rejects] == [(1, code)]


def test_other_parquet_files(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    assert [row["code"] for row in read(path)[1]] == ["unknown_key"] * 2
    whole = changed()
    path.write_bytes(whole[: len(whole) // 2])
    assert [row["code"] for row in read(path)[1]] == ["corrupt"]
    path.write_bytes(b"PAR1")
    assert [row["code"] for row in read(path)[1]] == ["corrupt"]
    path.write_bytes(pa.compress(whole, "gzip", asbytes=True))
    assert len(read(path)[0]) == len(LINES)


def test_an_interrupt_while_the_file_is_opened_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*asked: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "ParquetWriter", interrupted)  # made when the file is there
    with pytest.raises(KeyboardInterrupt):
        convert(Reader([DATA / "hubei.jsonl"]), tmp_path / "twin.parquet")
    assert list(tmp_path.iterdir()) == []
