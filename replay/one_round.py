"""One round out of logs: its rows of every table, for `kwx show`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc

from ingest.events import digest64
from ingest.read import Reader
from replay.batch import Replayer
from replay.games import check_games

Tables = Mapping[str, list[dict[str, Any]]]


class IdError(ValueError):
    """A text that is no round's ID, or the ID of a round that is not there."""


def parse(ident: str) -> tuple[str, str, int]:
    """(site, game, round) of an ID "site/game/round", each part URL-escaped; the site may be empty.  IdError."""
    parts = [unquote(part) for part in ident.split("/")]
    if len(parts) != 3 or not parts[1] or not parts[2].isdecimal():
        raise IdError(f"{ident!r} is no round: expected site/game/round, each part URL-escaped, round a number")
    return parts[0], parts[1], int(parts[2])


def write(row: Mapping[str, Any]) -> str:
    """The ID of a row of `rounds`."""
    return "/".join(quote(str(part), safe="") for part in (row["site"] or "", row["game"], row["round"]))


def from_logs(reader: Reader, ident: str) -> Tables:
    """The round's rows by table, as problems.TABLES names them; "raw" holds its record as written.

    The reader must keep raw records.  Only batches that hold rounds of the same game are replayed; the game level is
    judged over all of them.  IdError when the logs have no such round.
    """
    site, game, number = parse(ident)
    round_id, game_key = digest64(site, game, number), digest64(site, game)
    replayer = Replayer()
    found: dict[str, list[dict[str, Any]]] = {}
    same_game: list[pa.Table] = []
    for batch in reader:
        if not pc.any(pc.equal(batch.rounds["game_key"], pa.scalar(game_key, pa.uint64()))).as_py():
            continue
        out = replayer.feed(batch.rounds)
        same_game.append(_where(out["rounds"], "game_key", game_key))
        if (raw := _where(batch.rounds, "round_id", round_id)).num_rows:
            found = {name: _where(table, "round_id", round_id).to_pylist() for name, table in out.items()}
            found["raw"] = [{"raw": raw["raw"][0].as_py(), "byte": raw["byte"][0].as_py()}]
    if not found:
        near = f"; the game has the rounds {_numbers(same_game)}" if same_game else ""
        raise IdError(f"no round {ident} in these logs{near}")
    late = _where(check_games(pa.concat_tables(same_game)), "round_id", round_id).to_pylist()
    found["problems"] += late
    if any(problem["kind"] == "violation" for problem in late):
        found["rounds"][0]["verdict"] = "violation"
    return found


def _where(table: Any, column: str, value: int) -> Any:
    return table.filter(pc.equal(table[column], pa.scalar(value, pa.uint64())))


def _numbers(tables: list[pa.Table]) -> str:
    numbers = sorted(number for table in tables for number in table["round"].to_pylist())
    return ", ".join(map(str, numbers[:12])) + (", …" if len(numbers) > 12 else "")
