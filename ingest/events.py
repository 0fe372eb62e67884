"""Verbs, packed event codes and the Arrow schema of rounds: the contract between ingest and replay.

One event is one unsigned 32-bit number, low bits first:

    bits 0-1 seat   2-5 verb   6-10 tile kind (31: none)   11-12 seat claimed from or paying (3: none)

A reveal (`l`) has no tile and no source: its bits 6-26 are the set of triplets kept face down, one bit a kind.
Round ends `e` and `z` carry seat 3.  A draw whose tile the log lacks has none.  Source: log-format.md section 1.
"""

from hashlib import blake2b

import numpy as np
import pyarrow as pa

from ingest.tiles import NO_TILE, PAD

VERBS = "drxypkcalwnez"
DRAW, REPLACEMENT, DISCARD, DISCARD_DRAWN, PUNG, KONG, CONCEALED_KONG, ADDED_KONG, REVEAL, WIN = range(10)
DECLINE, EXHAUSTED, ABORTED = range(10, 13)
NO_SEAT = 3

# Fans in the order of the fan table (rules.md section 4); a fan's code is its index.  Lists of fans travel as
# one 63-bit number, three bits (a count 0-7) a fan: a fan that counts twice stands twice.
FANS = (
    "all_pungs", "full_flush", "seven_pairs", "dragon_seven_pairs", "double_dragon_seven_pairs",
    "triple_dragon_seven_pairs", "three_dragons_seven_pairs", "little_three_dragons", "big_three_dragons",
    "ka_wu_xing", "ming_si_gui", "an_si_gui", "shou_zhua_yi", "after_kong_draw", "after_kong_discard",
    "kong_on_kong", "rob_kong", "last_tile_draw", "last_tile_discard", "reveal",
)  # fmt: skip
FAN_CODE = {fan: code for code, fan in enumerate(FANS)}
FAN_BITS = 3

ENDS = ("win", "draw", "no_safe_tile", "aborted")  # code of result_end = index
COVERAGE = ("full", "settlement_only")


def pack(seat: int, verb: int, tile: int = NO_TILE, source: int = NO_SEAT) -> int:
    """One event as its packed number; works on NumPy arrays too."""
    return seat | verb << 2 | tile << 6 | source << 11


def pack_reveal(seat: int, hidden: int = 0) -> int:
    """A reveal with the set of hidden triplets (one bit a kind)."""
    return seat | REVEAL << 2 | hidden << 6


def pack_fans(fans: list[str]) -> int:
    """Fan ids to the packed multiset; KeyError on an unknown id, ValueError when they are not in table order."""
    codes = [FAN_CODE[fan] for fan in fans]
    if codes != sorted(codes):
        raise ValueError("fans are not in the order of the fan table")
    return sum(1 << FAN_BITS * code for code in codes)


def unpack_fans(packed: int) -> list[str]:
    """The inverse of pack_fans."""
    return [fan for code, fan in enumerate(FANS) for _ in range(packed >> FAN_BITS * code & 7)]


def token(event: int, suits_names: tuple[str, ...]) -> str:
    """One packed event as its kwx-log token, for example "2p3s0"; `suits_names` is tiles.NAMES[suits]."""
    seat, verb, tile, source = event & 3, event >> 2 & 15, event >> 6 & 31, event >> 11 & 3
    letter = VERBS[verb]
    if verb in (EXHAUSTED, ABORTED):
        return letter
    if verb == REVEAL:
        hidden = event >> 6
        return f"{seat}l" + "".join(name for kind, name in enumerate(suits_names) if hidden >> kind & 1)
    out = f"{seat}{letter}"
    if tile != NO_TILE:
        out += suits_names[tile]
    if source != NO_SEAT:
        out += str(source)
    return out


DICT = pa.dictionary(pa.int32(), pa.string())
WIN_TYPE = pa.struct(
    [
        ("seat", pa.int8()),
        ("from", pa.int8()),  # payer; null on a self-draw
        ("tile", pa.uint8()),
        ("fans", pa.uint64()),  # packed multiset; null where the log names none
        ("multiple", pa.int64()),
    ]
)

# Why points move: the words of the ledger.
CAUSES = (
    "win", "kong_exposed", "kong_added", "kong_concealed", "piao", "horse", "kan", "run_touch_eight", "draw",
    "no_safe_tile", "fee",
)  # fmt: skip
# A recorded payment; `cause` is one of CAUSES.
LINE_TYPE = pa.struct([("cause", pa.string()), ("from", pa.int8()), ("to", pa.int8()), ("points", pa.int64())])
# What a recorded win was worth to one payer.
SHARE_TYPE = pa.struct(
    [
        ("seat", pa.int8()),
        ("from", pa.int8()),
        ("fans", pa.uint64()),  # packed multiset; a reveal of either side is in it
        ("values", pa.list_(pa.int64())),  # written beside the fans, in the order of the fan table
        ("multiple", pa.int64()),  # as recorded: before the cap
    ]
)
# Where a round's log has neither wall nor drawn tiles (coverage "settlement_only"), its draws are events without a
# tile, and this tells the hands that the round ended with, and what the log recorded of its settlement.
SETTLEMENT_TYPE = pa.struct(
    [
        ("hands", pa.binary(42)),  # concealed tiles, as `deal`; a self-drawn winning tile is in its hand
        ("waits", pa.list_(pa.uint32())),  # kinds that each of the three hands waits for, one bit a kind; or null
        ("next_dealer", pa.int8()),
        ("shares", pa.list_(SHARE_TYPE)),
        ("lines", pa.list_(LINE_TYPE)),  # the ledger of the settled round
        ("kong_lines", pa.list_(LINE_TYPE)),  # kongs as they fell due, whatever became of them
    ]
)

# One row a readable round.  Columns that a log may lack are null when it does.
ROUNDS = pa.schema(
    [
        ("round_id", pa.uint64()),  # digest64(site, game, round)
        ("game_key", pa.uint64()),  # digest64(site, game)
        ("content", pa.uint64()),  # digest of the record as written: tells a repeat from a duplicate_round
        ("source", DICT),  # path as given, archive members as "file.zip/member"
        ("format", DICT),  # "kwx", "node-kwx", …
        ("record", pa.int64()),  # 0-based record of the source
        ("line", pa.int64()),  # 1-based line
        ("byte", pa.int64()),  # offset of the record's first byte in the decompressed source
        ("site", DICT),
        ("game", pa.string()),
        ("round", pa.int64()),
        ("time", pa.string()),  # as written
        ("time_ms", pa.int64()),  # UTC milliseconds
        ("rules", DICT),
        ("options", DICT),  # canonical JSON object of room options
        ("suits", DICT),
        ("players", pa.list_(pa.string(), 3)),
        ("dealer", pa.int8()),
        ("dice", pa.list_(pa.int8(), 2)),
        ("piao", pa.list_(pa.int32(), 3)),  # null: not recorded, to be solved per game
        ("piao_from", DICT),  # logged | config | inferred | ambiguous
        ("base", pa.int64()),
        ("raise", pa.int32()),  # null: not recorded, carried from the preceding rounds
        ("raise_from", DICT),
        ("hidden_from", DICT),
        ("deal", pa.binary(42)),  # 3 hands × 14 kinds, 255 = none (13-tile hands)
        ("wall", pa.binary(44)),  # kinds in draw order
        ("proof_scheme", pa.string()),  # "sha256", or "sha256+" and the name of a shuffle
        ("proof_commit", pa.string()),
        ("proof_salt", pa.string()),
        ("proof_order", pa.string()),  # 84 tiles as written (it is hashed as written)
        ("proof_deal", pa.string()),  # "one" | "four"
        ("events", pa.list_(pa.uint32())),
        ("event_no", pa.list_(pa.int32())),  # the source's own number of each event; null: 0, 1, 2, …
        ("times", pa.list_(pa.int32())),
        ("result_end", pa.int8()),
        ("result_points", pa.list_(pa.int64(), 3)),
        ("result_wins", pa.list_(WIN_TYPE)),
        ("result_kongs", pa.list_(pa.int64(), 3)),
        ("result_fee", pa.int64()),
        ("prev", pa.string()),
        ("line_sha256", pa.string()),  # of the record's bytes without line ending; filled where a chain needs it
        ("coverage", DICT),
        ("settlement", SETTLEMENT_TYPE),  # null where the events tell all
        ("extra", pa.string()),  # JSON object of the keys that start with "_"
        ("raw", pa.large_string()),  # the record as written; filled only when the reader is asked to keep it
    ]
)


def digest64(*parts: str | int) -> int:
    """The stable 64-bit digest behind every round_id: BLAKE2b of the parts, each closed by a zero byte."""
    data = b"".join(str(part).encode("utf-8", "surrogatepass") + b"\0" for part in parts)
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def unpack(events: np.ndarray) -> dict[str, np.ndarray]:
    """Packed events to columns seat, verb, tile (255: none), source (255: none), hidden; one element an event."""
    verb = events >> 2 & 15
    reveal = verb == REVEAL
    tile = np.where(reveal, NO_TILE, events >> 6 & 31)
    source = np.where(reveal, NO_SEAT, events >> 11 & 3)
    return {
        "seat": (events & 3).astype(np.uint8),
        "verb": verb.astype(np.uint8),
        "tile": np.where(tile == NO_TILE, PAD, tile).astype(np.uint8),
        "source": np.where(source == NO_SEAT, PAD, source).astype(np.uint8),
        "hidden": np.where(reveal, events >> 6, 0).astype(np.uint32),
    }

