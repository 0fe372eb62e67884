"""One round out of a data set, in the same shape as out of logs."""

from pathlib import Path

from analytics import warehouse
from ingest.events import digest64
from replay.one_round import IdError, Tables, parse

ORDER = {
    "rounds": "round_id", "seats": "seat", "wins": "win_no", "win_fans": "win_no, fan", "kongs": "kong_no",
    "reveals": "seat", "ledger": "n", "problems": "event NULLS LAST, code, seat",
}  # fmt: skip


def from_data_set(db_path: str | Path, ident: str) -> Tables:
    """The round's rows by table; "raw" is empty, a data set keeps no records.  IdError, WarehouseError."""
    key = digest64(*parse(ident))
    found = {}
    with warehouse.connect(db_path) as connection:
        for table, order in ORDER.items():
            cursor = connection.execute(f"SELECT * FROM {table} WHERE round_id = ? ORDER BY {order}", [key])
            names = [column[0] for column in cursor.description]
            found[table] = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    if not found["rounds"]:
        raise IdError(f"no round {ident} in {db_path}")
    return found | {"raw": []}
