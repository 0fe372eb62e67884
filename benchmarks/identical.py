"""Whether two versions of the engine say the same: digests of every output table over sound and falsified rounds.

    python benchmarks/identical.py [--rounds 48000] [--rules ID …] [--seed S] [--against FILE] > FILE

`--rounds` is a ruleset's.  They are simulated in four tempers of play, without room options and with drawn ones.  In
one of six rounds something is changed at random: an event, the order of events, a tile of the deal or the wall, a
recorded value.  In every third batch half of the rounds lack their wall; in every other third all lack piao, raise and
hidden triplets, and some lack all draws and are settled from their last hands.  Of every part the first hundred rounds
are also explained.  One JSON line a ruleset; `--against` compares with an earlier version's lines, exit code 1 when
they differ.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from simulated import TEMPERS, drawn

from ingest.events import ABORTED, DISCARD, DRAW, REPLACEMENT, REVEAL, ROUNDS, WIN
from ingest.tiles import KINDS, NO_TILE, PAD
from replay import ruleset, simulate
from replay.batch import Replayer

TAMPERED = 6  # one of so many rounds
EXPLAINED = 100
BATCH_ROUNDS = 1024
EVENT_CHANGES = ("tile", "seat", "verb", "any", "swap", "drop", "repeat", "cut", "insert", "hide")
VALUE_CHANGES = ("deal", "wall", "points", "kongs", "fee", "end", "dealer", "base", "raise", "piao", "win")


def changed_events(rng: np.random.Generator, events: np.ndarray, how: str) -> np.ndarray:
    """One round's events, uint32[n], with one change."""
    events = events.copy()
    at = int(rng.integers(len(events)))
    if how == "tile":
        events[at] = events[at] & ~np.uint32(31 << 6) | int(rng.integers(KINDS + 1) % 32) << 6
    elif how == "seat":
        events[at] = events[at] & ~np.uint32(3) | int(rng.integers(4))
    elif how == "verb":
        events[at] = events[at] & ~np.uint32(15 << 2) | int(rng.integers(ABORTED + 1)) << 2
    elif how == "any":
        events[at] = int(rng.integers(1 << 13))
    elif how == "swap":
        other = max(at - 1, 0)
        events[[at, other]] = events[[other, at]]
    elif how == "drop":
        events = np.delete(events, at)
    elif how == "repeat":
        events = np.insert(events, at, events[at])
    elif how == "cut":
        events = events[:at]
    elif how == "insert":
        events = np.insert(events, at, np.uint32(rng.integers(3) | rng.integers(ABORTED + 1) << 2
                                                 | rng.integers(KINDS) << 6 | rng.integers(4) << 11))  # fmt: skip
    else:
        reveals = np.nonzero(events >> 2 & 15 == REVEAL)[0]
        if len(reveals):
            events[reveals[0]] ^= np.uint32(1) << np.uint32(6 + rng.integers(KINDS))
    # A reader lets no other tile through, and only draws without one.
    verbs, tiles = events >> 2 & 15, events >> 6 & 31
    needs = ((verbs >= DISCARD) & (verbs < REVEAL)) | (verbs == WIN)
    events = np.where(needs & (tiles >= KINDS), events - (tiles - tiles % KINDS << 6), events)
    return np.where(~needs & (verbs != REVEAL) & (tiles >= KINDS), events | NO_TILE << 6, events)


def changed_value(rng: np.random.Generator, row: dict[str, Any], how: str) -> None:
    """One change of what a round records, in place."""
    seat = int(rng.integers(3))
    step = int(rng.integers(1, 3))
    if how in ("deal", "wall") and row[how] is not None:
        at = int(rng.integers(len(row[how])))
        row[how] = row[how][:at] + bytes([int(rng.integers(KINDS))]) + row[how][at + 1 :]
    elif how in ("points", "kongs"):
        values = row["result_" + how]
        values[seat] += step
        values[(seat + step) % 3] -= step
    elif how == "fee":
        row["result_fee"] += 1
    elif how == "end":
        row["result_end"] = int(rng.integers(4))
    elif how == "dealer":
        row["dealer"] = seat
    elif how == "base":
        row["base"] += step
    elif how == "raise":
        row["raise"] = step
    elif how == "piao" and row["piao"] is not None:
        row["piao"][seat] += step
    elif how == "win" and row["result_wins"]:
        win = row["result_wins"][0]
        name = ("seat", "from", "tile", "fans", "multiple")[int(rng.integers(5))]
        win[name] = seat if name in ("seat", "from") else int(rng.integers(KINDS))


def replaced(rounds: pa.RecordBatch, rows: np.ndarray, change: Callable[[int, dict[str, Any]], None]) -> pa.RecordBatch:
    """The batch with `change(row, values)` applied to some of its rows."""
    if len(rows) == 0:
        return rounds
    listed = rounds.take(pa.array(rows)).to_pylist()
    for row, values in zip(rows.tolist(), listed, strict=True):
        change(row, values)
    both = pa.Table.from_batches([rounds, pa.RecordBatch.from_pylist(listed, ROUNDS)])
    order = np.arange(len(rounds))
    order[rows] = len(rounds) + np.arange(len(rows))
    return both.take(pa.array(order)).combine_chunks().to_batches()[0]


def tampered(rng: np.random.Generator, rounds: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with one change in some rounds."""

    def change(_: int, row: dict[str, Any]) -> None:
        if rng.integers(3) and row["events"]:
            how = EVENT_CHANGES[int(rng.integers(len(EVENT_CHANGES)))]
            row["events"] = changed_events(rng, np.array(row["events"], np.uint32), how).tolist()
            row["times"] = None
        else:
            changed_value(rng, row, VALUE_CHANGES[int(rng.integers(len(VALUE_CHANGES)))])

    return replaced(rounds, np.nonzero(rng.integers(TAMPERED, size=len(rounds)) == 0)[0], change)


def without(rounds: pa.RecordBatch, names: tuple[str, ...], rows: np.ndarray) -> pa.RecordBatch:
    """The batch with nulls in some columns of some rows."""
    for name in names:
        at = rounds.schema.get_field_index(name)
        column = pc.if_else(pa.array(rows), pa.scalar(None, rounds.schema.field(at).type), rounds[name])
        rounds = rounds.set_column(at, rounds.schema.field(at), column)
    return rounds


def settled(rng: np.random.Generator, rounds: pa.RecordBatch, hands: list[bytes], rows: np.ndarray) -> pa.RecordBatch:
    """Some rounds without wall and drawn tiles, settled from the hands they ended with."""

    def change(at: int, row: dict[str, Any]) -> None:
        events = np.array(row["events"], np.uint32)
        draws = (events >> 2 & 15 == DRAW) | (events >> 2 & 15 == REPLACEMENT)
        row["events"] = np.where(draws, events | NO_TILE << 6, events).tolist()
        last = [hand[:14] + bytes([PAD]) * (14 - len(hand)) for hand in hands[3 * at : 3 * at + 3]]
        waits = rng.integers(1 << KINDS, size=3).tolist() if rng.integers(20) == 0 else None
        row["settlement"] = {"hands": b"".join(last), "waits": waits, "next_dealer": row["dealer"] if waits else None}
        row["wall"] = row["proof_order"] = row["proof_commit"] = None
        row["coverage"] = "settlement_only"

    return replaced(rounds, rows, change)


def treated(
    rng: np.random.Generator, batches: Iterator[pa.RecordBatch], replayer: Replayer
) -> Iterator[pa.RecordBatch]:
    """The rounds as they are replayed, and in every third batch of another kind."""
    for number, batch in enumerate(batches):
        if number % 3 == 1:
            batch = without(batch, ("wall", "proof_order", "proof_commit"), rng.integers(2, size=len(batch)) == 0)
        elif number % 3 == 2:
            hands = replayer.feed(batch)["seats"]["hand"].to_pylist()
            all_rows = np.ones(len(batch), bool)
            batch = settled(rng, batch, hands, np.nonzero(rng.integers(4, size=len(batch)) == 0)[0])
            batch = without(batch, ("piao", "piao_from", "raise", "raise_from", "hidden_from"), all_rows)
        yield tampered(rng, batch)


def add_table(digest: Any, table: pa.Table) -> None:
    """A table's values into a digest, whatever their chunks, dictionaries and the bytes under nulls."""
    for name in table.column_names:
        digest.update(f"{name} {table.schema.field(name).type}".encode())
        add_column(digest, table[name].combine_chunks())


def add_column(digest: Any, column: pa.Array) -> None:
    if isinstance(column, pa.ChunkedArray):  # no chunk at all
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    digest.update(np.packbits(column.is_null().to_numpy(zero_copy_only=False)).tobytes())
    column = column.drop_null()
    if pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
        digest.update(pc.list_value_length(column).to_numpy().tobytes())
        add_column(digest, column.flatten())
    elif pa.types.is_binary(column.type) or pa.types.is_string(column.type):
        digest.update(pc.binary_length(column).to_numpy().tobytes())
        digest.update("".join(column.to_pylist()).encode() if pa.types.is_string(column.type)
                      else b"".join(column.to_pylist()))  # fmt: skip
    elif pa.types.is_fixed_size_binary(column.type):
        digest.update(b"".join(column.to_pylist()))
    else:
        digest.update(column.to_numpy(zero_copy_only=False).tobytes())


def run(ident: str, rounds: int, seed: int) -> dict[str, Any]:
    """One ruleset: counts and a digest of its rounds and of each table."""
    options_rng = random.Random(f"{ident} {seed}")
    replayer, explaining = Replayer(explain=False), Replayer()
    parts = [(temper, options) for temper in TEMPERS for options in ({}, drawn(ident, options_rng))]
    digests: dict[str, Any] = {"input": sha256()}
    verdicts: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    events = 0
    for part, (temper, options) in enumerate(parts):
        rng = np.random.default_rng([seed, part])
        count = rounds // len(parts)
        batches = simulate.simulate(
            ident, count, seed + part, options, policy=TEMPERS[temper], batch_rounds=min(BATCH_ROUNDS, count // 3)
        )
        for number, batch in enumerate(treated(rng, batches, replayer)):
            add_column(digests["input"], batch["events"])
            outs = [replayer.feed(batch)]
            if number == 0:
                outs.append(explaining.feed(batch.slice(0, EXPLAINED)))
            for out in outs:
                for name, table in out.items():
                    add_table(digests.setdefault(name, sha256()), table)
            verdicts.update(outs[0]["rounds"]["verdict"].to_pylist())
            codes.update(outs[0]["problems"]["code"].to_pylist())
            events += len(batch["events"].flatten())
    return {
        "rules": ident, "count": sum(verdicts.values()), "events": events, "verdicts": dict(sorted(verdicts.items())),
        "codes": len(codes), **{name: digest.hexdigest()[:16] for name, digest in digests.items()},
    }  # fmt: skip


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=48_000)
    parser.add_argument("--rules", nargs="*", default=ruleset.ids())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--against", type=Path)
    chosen = parser.parse_args()
    before = {}
    if chosen.against:
        listed = [json.loads(line) for line in chosen.against.read_text(encoding="utf-8").splitlines()]
        before = {row["rules"]: row for row in listed}
    differ = 0
    for ident in chosen.rules:
        row = run(ident, chosen.rounds, chosen.seed)
        print(json.dumps(row), flush=True)
        if chosen.against and before.get(ident) != row:
            differ += 1
            names = [name for name in row if before.get(ident, {}).get(name) != row[name]]
            print(f"{ident}: {', '.join(names)} differ", file=sys.stderr)
    return 1 if differ else 0


if __name__ == "__main__":
    raise SystemExit(main())
