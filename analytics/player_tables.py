"""The tables of one account, as files would have them: what `kwx player --save` writes."""

from pathlib import Path
from typing import Any

import polars as pl

from analytics import accounts, fan_statistics, player, pursuit, series, warehouse
from ingest.mask import Mask

TILES = ("useful", "waits")  # of an option: tiles and how many copies the seat can't see


def tables(
    db_path: str | Path, account: str, found: dict[str, Any], site: str | None = None, mask: Mask | None = None
) -> dict[str, pl.DataFrame]:
    """Name and table: statistics, opponents, rounds (net and luck-adjusted, so far), fans, pursuit, decisions, options.

    account, site and mask as of player.report, found: what it made of them.  decisions are the costliest; options has a
    row for each option of each, `option` its place there, and tiles with their live copies as structs.  Under a mask
    opponents are pseudonyms; nothing else names an account.  PlayerError, WarehouseError.
    """
    with warehouse.connect(db_path) as connection:
        account, site = player.known(connection, account, site, mask)
        mine = {"player": account, "site": site}
        out = {
            "statistics": accounts.account_table(connection, account, site),
            "opponents": accounts.opponents(connection, account, site),
            "rounds": series.net_line(connection, account, site),
            "fans": fan_statistics.fans(connection, (), mine),
            "pursuit": pursuit.pursuit(connection, (), mine),
        }
    if mask:
        names = [name and mask.name(name) for name in out["opponents"]["opponent"]]
        out["opponents"] = out["opponents"].with_columns(pl.Series("opponent", names, pl.String()))
    return out | _decisions(found["worst"])


def _decisions(worst: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    """Decisions without their options, and the options of all of them."""
    options = []
    for row in worst:
        where = {name: row[name] for name in ("id", "event", "seat")}
        for place, option in enumerate(row["options"]):
            tiles = {name: [dict(zip(("tile", "live"), one, strict=True)) for one in option[name]] for name in TILES}
            options.append(where | {"option": place} | option | tiles)
    rows = [{name: value for name, value in row.items() if name != "options"} for row in worst]
    return {
        name: pl.DataFrame(those, infer_schema_length=None)
        for name, those in (("decisions", rows), ("options", options))
    }
