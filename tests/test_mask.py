"""Masked accounts: the same pseudonym everywhere, no name left over, nothing else changed."""

import hashlib
import hmac
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analytics.fairness.result import Result
from analytics.report import masked
from ingest.mask import Mask, MaskError

DATA = Path(__file__).parent / "data"
KEY = "a key that is long"
NAMES = ["张三 <b>", "u'; DROP", "\u202eevil\x1b[31m"]


def write_log(path: Path) -> list[dict]:
    """Four rounds of one game with telling names, private keys and a chain, and a record that is no round."""
    lines, prev = [], None
    source = (DATA / "demo.jsonl").read_text(encoding="utf-8").splitlines() if (DATA / "demo.jsonl").exists() else None
    for record in [json.loads(line) for line in source or simulated()]:
        record |= {"players": NAMES, "_chat": f"{NAMES[0]}: 你好"}
        if prev:
            record["prev"] = prev
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        prev = hashlib.sha256(lines[-1].encode()).hexdigest()
    path.write_text("\n".join([*lines, f'{{"kwx":1,"players":"{NAMES[0]}"}}']) + "\n", encoding="utf-8")
    return [json.loads(line) for line in lines]


def simulated() -> list[str]:
    from replay.simulate import simulate

    return [raw for batch in simulate("hubei", 4, 3, lines=True) for raw in batch["raw"].to_pylist()]


def test_a_pseudonym_is_the_keyed_digest_of_the_name():
    mask = Mask(KEY)
    for name in NAMES:
        assert mask.name(name) == "p" + hmac.new(KEY.encode(), name.encode(), "sha256").hexdigest()[:16]
    assert len({Mask(key).name(name) for key in (KEY, KEY + "2") for name in NAMES}) == 6
    column = pa.array([NAMES[0], None, NAMES[0], NAMES[1]])
    plain = [mask.name(NAMES[0]), None, mask.name(NAMES[0]), mask.name(NAMES[1])]
    assert mask.names(column).to_pylist() == plain
    assert mask.names(column.dictionary_encode()).to_pylist() == plain
    assert mask.names(pa.chunked_array([column[:1], column[1:]])).to_pylist() == plain


def test_a_short_key_is_refused(cli, tmp_path):
    with pytest.raises(MaskError):
        Mask("1234567")
    write_log(tmp_path / "a.jsonl")
    ran = cli("convert", tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl", "--mask", "short")
    assert ran.code == 2 and "the key has 5 characters, expected at least 8" in ran.err
    ran = cli("run", tmp_path / "a.jsonl", "--db", tmp_path / "a.duckdb", "--mask", KEY)
    assert ran.code == 2 and "--mask is for the data set that --parquet writes" in ran.err


def test_convert_leaves_no_name_and_changes_nothing_else(cli, tmp_path):
    records = write_log(tmp_path / "a.jsonl")
    (tmp_path / "key").write_text(KEY + "\n")
    ran = cli("convert", tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl", "--mask", f"@{tmp_path / 'key'}")
    assert ran.code == 1 and "missing_key" in ran.err  # the record that is no round
    text = (tmp_path / "b.jsonl").read_text(encoding="utf-8")
    assert not [name for name in NAMES if name in text or name in ran.err or name in ran.out]
    names = [Mask(KEY).name(name) for name in NAMES]
    for line, record in zip(text.splitlines(), records, strict=True):
        kept = {key: value for key, value in record.items() if key not in ("prev", "_chat")}
        assert json.loads(line) == kept | {"players": names}
    assert cli("check", tmp_path / "b.jsonl").out.startswith("4 records, 4 rounds, 0 repeats, 0 rejects, 4 clean")
    cli("convert", tmp_path / "a.jsonl", "-o", tmp_path / "b.parquet", "--mask", KEY)
    cli("convert", tmp_path / "b.parquet", "-o", tmp_path / "c.jsonl")
    assert (tmp_path / "c.jsonl").read_text(encoding="utf-8") == text


def test_an_export_holds_pseudonyms(cli, tmp_path):
    write_log(tmp_path / "a.jsonl")
    cli("run", tmp_path / "a.jsonl", "--db", tmp_path / "a.duckdb", "--parquet", tmp_path / "out", "--mask", KEY)
    seats = pq.read_table(tmp_path / "out" / "seats")
    assert set(seats["player"].to_pylist()) == {Mask(KEY).name(name) for name in NAMES}
    rejects = pq.read_table(tmp_path / "out" / "rejects")
    assert rejects.num_rows == 1 and rejects["code"].to_pylist() == ["missing_key"]
    assert rejects["raw"].to_pylist() == rejects["message"].to_pylist() == [None]
    for path in (tmp_path / "out").rglob("*.parquet"):
        table = pq.read_table(path, partitioning=None)
        assert not [name for name in NAMES if name in str(table.to_pydict())], path


# counts whose p-values are randomised within a count's step, by the name of the account or pair
RANDOMISED = (
    "missing_losses", "dealer_of_account", "deal_in_share", "kong_gifts", "pung_gifts", "passed_wins", "seating",
)  # fmt: skip


def test_the_audit_of_masked_logs_is_the_masked_audit(cli, tmp_path):
    ran = cli(
        "simulate", "--rules", "hubei", "--rounds", 300, "--seed", 5, "--accounts", 12, "-o", tmp_path / "a.jsonl"
    )
    assert ran.code == 0
    assert cli("convert", tmp_path / "a.jsonl", "-o", tmp_path / "b.jsonl", "--mask", KEY).code == 0
    for name in "ab":
        assert cli("run", tmp_path / f"{name}.jsonl", "--db", tmp_path / f"{name}.duckdb").code == 0
    report = tmp_path / "a.html"
    masked = cli("audit", "--db", tmp_path / "a.duckdb", "--json", "--report", report, "--mask", KEY)
    of_masked = cli("audit", "--db", tmp_path / "b.duckdb", "--json")
    rows = [[json.loads(line) for line in ran.out.splitlines()[:-1]] for ran in (masked, of_masked)]
    about = [row["subject"] for row in rows[0] if row["scope"] in ("account", "pair")]
    assert len(about) > 12 and Mask(KEY).name("u3") in about
    assert len(rows[0]) == len(rows[1])
    for one, other in zip(*rows, strict=True):  # sums over accounts run in the order of their names
        drawn = ("p", "p_adjusted") if one["name"] in RANDOMISED else ()
        one, other = ({name: value for name, value in row.items() if name not in drawn} for row in (one, other))
        rest = {name: value for name, value in other.items() if isinstance(value, float)}
        assert one | rest == other
        assert {name: one[name] for name in rest} == pytest.approx(rest, rel=1e-6, abs=1e-9), one["name"]
    for text in (masked.out, report.read_text(encoding="utf-8")):
        assert not re.search(r"\bu([1-9]|1[0-2])\b", text)


def test_both_accounts_of_a_pair_are_masked():
    row = Result(19, "deal_ins", "pair", "pair", "u1 → u → 2", n=3)
    assert masked(row, Mask(KEY)).subject == " → ".join(map(Mask(KEY).name, ("u1", "u", "2")))
    assert masked(row.but(subject="a ↔ b"), Mask(KEY)).subject == " ↔ ".join(map(Mask(KEY).name, "ab"))
    assert masked(row.but(scope="global", subject="role"), Mask(KEY)).subject == "role"
