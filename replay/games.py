"""The game level: rounds of one game in order (rules.md section 5, "Dealer"; log-format.md section 1, `prev`).

A round is judged against the one before it in its game: the dealer that the round before makes, the raise that it
leaves, the round numbers without a gap, the chain of line digests, the table that they are played at (the same rules,
options, suits and base).  A game may start in the middle: its first seen round is judged only by what the rules alone
say.
"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from replay import ruleset
from replay.messages import WORDS
from replay.problems import PROBLEMS

FACTS = ("raise_on_dice", "first_dealer", "raises", "accumulates")
TABLE = ("ruleset", "options", "suits", "base")  # what a game keeps
# What this level reads of a round.
READS = (
    "round_id", "game_key", "round", *TABLE, "dealer", "dice", "raise", "raise_from", "next_dealer", "next_dealer_if",
    "raise_next", "prev", "line_sha256",
)  # fmt: skip
NAMES = ("round_id", "source", "record", "line", "site", "game", "round")  # what names a round in a problem's row


def check_games(rounds: pa.Table) -> pa.Table:
    """Problems of the game level, ordered by game, round and code.

    rounds: the columns READS of problems.ROUNDS, and those of NAMES that the problems shall name; any order, whole
    games or parts of them.
    """
    if rounds.num_rows == 0:
        return PROBLEMS.empty_table()
    order = np.lexsort((whole(rounds, "round"), rounds["game_key"].to_numpy()))
    table = rounds if (order[1:] > order[:-1]).all() else rounds.take(pa.array(order))
    key = table["game_key"].to_numpy()
    number = whole(table, "round")
    n = table.num_rows
    follows = np.zeros(n, bool)
    follows[1:] = key[1:] == key[:-1]
    gap = follows.copy()
    gap[1:] &= number[1:] != number[:-1] + 1
    next_to = follows & ~gap
    found: list[tuple[int, str, str, str, int | None, list[str]]] = []
    for row in np.nonzero(gap)[0].tolist():
        found.append((row, "lost_round", str(number[row]), str(number[row - 1] + 1), None, []))

    dealer, facts = whole(table, "dealer"), rule_facts(table)
    expected = before(whole(table, "next_dealer"))
    first = ~follows & (number == 0) & (facts["first_dealer"] >= 0)
    expected = np.where(first, facts["first_dealer"], np.where(next_to, expected, -1))
    why = table["next_dealer_if"]
    for row in np.nonzero((expected >= 0) & (dealer != expected))[0].tolist():
        named = (why[row - 1].as_py() or []) if next_to[row] else []
        keys = [change.rpartition(":")[0] for change in named if change.endswith(f":{dealer[row]}")]
        found.append((row, "wrong_dealer", str(dealer[row]), str(expected[row]), int(dealer[row]), sorted(keys)))

    found += wrong_raises(table, facts, number, next_to)
    found += changed_tables(table, follows)
    found += broken_chains(table, key, follows, next_to)
    found.sort(key=lambda item: item[:2])
    return as_problems(table, found)


def wrong_raises(
    table: pa.Table, facts: dict[str, np.ndarray], number: np.ndarray, next_to: np.ndarray
) -> list[tuple]:
    """Rows whose logged raise is none that the round before and the dice can make.

    Where the round before is missing it may have left a doubling or none; where the dice are, they may have been equal.
    """
    dice = pc.list_flatten(table["dice"].combine_chunks().fill_null([0, 1])).to_numpy().reshape(-1, 2)
    least = facts["raise_on_dice"] * (dice[:, 0] == dice[:, 1])
    most = np.where(table["dice"].is_null().to_numpy(), facts["raise_on_dice"], least)
    carried = np.where(next_to, before(whole(table, "raise_next")), np.where(number == 0, 0, -1))
    known = carried >= 0
    least, most = least + np.where(known, carried, 0), most + np.where(known, carried, 1)
    most[~known & (facts["accumulates"] > 0)] = np.iinfo(np.int64).max
    least, most = np.where(facts["raises"] > 0, least, 0), np.where(facts["raises"] > 0, most, 0)
    logged = pc.equal(table["raise_from"], "logged").fill_null(False).to_numpy()
    raised = whole(table, "raise")
    wrong = logged & ((raised < least) | (raised > most))
    nearest = np.where(raised < least, least, most)
    rows = np.nonzero(wrong)[0].tolist()
    return [(row, "wrong_raise", str(raised[row]), str(nearest[row]), None, []) for row in rows]


def changed_tables(table: pa.Table, follows: np.ndarray) -> list[tuple]:
    """Rows that are not played under the rules, options, suits or base of the round before them in their game."""
    found = []
    for name in TABLE:
        words = table[name].combine_chunks().cast(pa.string()).dictionary_encode()
        codes = words.indices.fill_null(-1).to_numpy()
        changed = follows & (codes != before(codes))
        found += [(row, name) for row in np.nonzero(changed)[0].tolist()]
    first = dict(reversed(found))  # the first of TABLE that changed speaks for the row
    shown = {name: table[name] for name in TABLE}
    return [
        (row, "changed_table", f"{name} {shown[name][row]}", f"{name} {shown[name][row - 1]}", None, [])
        for row, name in first.items()
    ]


def whole(table: pa.Table, name: str) -> np.ndarray:
    """A number column as int64, nulls as -1."""
    return table[name].combine_chunks().fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def before(values: np.ndarray) -> np.ndarray:
    """The value of the row before, -1 for the first."""
    return np.concatenate([[-1], values[:-1]])


def rule_facts(table: pa.Table) -> dict[str, np.ndarray]:
    """FACTS of each row's rules: 0/1, and the first dealer (-1: any)."""
    columns = [table[name].combine_chunks().cast(pa.string()).dictionary_encode() for name in ("ruleset", "options")]
    words = [column.dictionary.to_pylist() for column in columns]
    codes = [column.indices.to_numpy() for column in columns]
    pairs, rows = np.unique(codes[0].astype(np.int64) * len(words[1]) + codes[1], return_inverse=True)
    facts = {name: np.zeros(len(pairs), np.int64) for name in FACTS}
    for place, pair in enumerate(pairs.tolist()):
        id, options = divmod(pair, len(words[1]))
        values = ruleset.load(words[0][id], json.loads(words[1][options])).values
        facts["raise_on_dice"][place] = values["side.raise_on_dice"]
        facts["raises"][place] = values["side.raise"]
        facts["accumulates"][place] = values["side.raise_accumulates"]
        facts["first_dealer"][place] = 0 if values["dealer.first"] == "seat_0" else -1
    return {name: values[rows] for name, values in facts.items()}


def broken_chains(table: pa.Table, key: np.ndarray, follows: np.ndarray, next_to: np.ndarray) -> list[tuple]:
    """Rows whose `prev` is not the digest of the row before, or missing in a game that chains its rounds."""
    prev = table["prev"].combine_chunks()
    if prev.null_count == len(prev):
        return []
    chained = set(key[prev.is_valid().to_numpy(zero_copy_only=False)].tolist())
    digests = table["line_sha256"].to_pylist()
    found = []
    for row, value in enumerate(prev.to_pylist()):
        if int(key[row]) not in chained or not follows[row]:
            continue
        if value is None:
            found.append((row, "chain_broken", "none", digests[row - 1] or "a digest", None, []))
        elif next_to[row] and digests[row - 1] is not None and value.lower() != digests[row - 1]:
            found.append((row, "chain_broken", value, digests[row - 1], None, []))
    return found


def as_problems(table: pa.Table, found: list[tuple[int, str, str, str, int | None, list[str]]]) -> pa.Table:
    """Rows of the problems table."""
    if not found:
        return PROBLEMS.empty_table()
    rows = pa.array([item[0] for item in found])
    taken = {name: table[name].combine_chunks().take(rows) for name in NAMES if name in table.column_names}
    made = {
        "kind": ["violation"] * len(found), "code": [item[1] for item in found], "event": [None] * len(found),
        "seat": [item[4] for item in found], "logged": [item[2] for item in found],
        "expected": [item[3] for item in found],
        "message": [WORDS[code][1].format(logged=a, expected=b, seat=s) for _, code, a, b, s, _ in found],
        "explained_by": [item[5] for item in found],
    }  # fmt: skip
    arrays = []
    for field in PROBLEMS:
        if field.name in taken:
            column = taken[field.name]
        else:
            column = pa.array(made[field.name]) if field.name in made else pa.nulls(len(found), field.type)
        arrays.append(
            column.cast(field.type) if not pa.types.is_dictionary(field.type) else as_words(column, field.type)
        )
    return pa.Table.from_arrays(arrays, schema=PROBLEMS)


def as_words(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A text column as a dictionary column of `kind`."""
    return column.cast(pa.string()).dictionary_encode().cast(kind)
