"""The words for what is wrong with a round, and the Arrow schemas of everything that replay puts out.

A *violation* breaks the rules, a *mismatch* is a recorded value that differs from the recomputed one
(log-format.md section 3).  Codes are stable words; their numbers are only this version's.
"""

import pyarrow as pa

from ingest.events import CAUSES

VIOLATIONS = (
    "not_your_turn",  # another seat was to act
    "tile_not_held",  # the tile is not in the hand
    "wrong_discard",  # `y` of a tile that was not drawn, or `x` of the drawn tile alone
    "fifth_tile",  # more than four copies of a kind
    "draw_not_from_wall",  # the draw differs from the recorded wall, or the wall was empty
    "wrong_replacement",  # the replacement differs from the recorded wall
    "bad_claim",  # a pung, kong, win or refusal that the table does not offer
    "kong_too_late",  # an added kong of a tile that was not just drawn
    "kong_held",  # a second held kong in one turn
    "kong_on_empty_wall",
    "missed_win_lock",  # a win after a missed one
    "not_ready",  # a reveal of a hand that is not ready
    "reveal_not_allowed",  # a reveal at the wrong time, or with too few tiles left
    "bad_hidden",  # hidden triplets that are not held, or not allowed
    "changed_after_reveal",  # a revealed hand that changes
    "fed_revealed",  # a discard that feeds a revealed hand though a safe tile was held
    "safe_tile_held",  # the round ended for want of a safe tile, and there was one
    "not_a_win",  # the hand is not complete
    "below_minimum",  # the win is worth less than the table asks
    "dead_hand",  # a short hand wins or reveals
    "claim_order",  # winners not in seat order from the payer, or the same winner twice
    "must_discard_drawn",  # the last tile drawn had to be discarded
    "missing_event",  # something had to happen before this event, or the round has no end
    "event_after_end",
    "wrong_suits",  # suits that the ruleset does not play
    "wrong_piao",  # piao beyond what the table allows
    "wrong_base",  # base stake other than the table's
    "deal_not_from_order",  # deal or wall differ from the committed order
    "seed_mismatch",  # the order is not the one that the named shuffle makes of the salt
    "commit_mismatch",
    "wrong_dealer",
    "wrong_raise",
    "lost_round",
    "chain_broken",
    "changed_table",  # other rules, options, suits or base than the round before in the game
)
MISMATCHES = (
    "points", "fans", "multiple", "payer", "winner", "tile", "end", "kongs", "horse", "fee", "ledger", "waits",
    "next_dealer",
)  # fmt: skip
CODES = VIOLATIONS + MISMATCHES
CODE = {word: number for number, word in enumerate(CODES)}
FIRST_MISMATCH = len(VIOLATIONS)

VERDICTS = ("violation", "mismatch", "unpaid", "clean")  # first that holds
CAUSE = {word: number for number, word in enumerate(CAUSES)}
BY = ("self_draw", "discard", "rob_kong")
KONGS = ("exposed", "added", "concealed")

DICT = pa.dictionary(pa.int32(), pa.string())

# One row a readable round.
ROUNDS = pa.schema(
    [
        ("round_id", pa.uint64()), ("game_key", pa.uint64()), ("content", pa.uint64()),
        ("source", DICT), ("record", pa.int64()), ("line", pa.int64()),
        ("site", DICT), ("game", pa.string()), ("round", pa.int64()), ("time_ms", pa.int64()),
        ("ruleset", DICT), ("options", DICT), ("ruleset_digest", DICT), ("suits", DICT),
        ("dealer", pa.int8()), ("dice", pa.list_(pa.int8(), 2)),
        ("base", pa.int64()), ("raise", pa.int32()), ("raise_from", DICT), ("piao_from", DICT), ("hidden_from", DICT),
        ("coverage", DICT), ("verdict", DICT), ("proof", DICT),  # none | tiles | wall | commitment | seed
        ("end", DICT),  # recomputed; null when the log has no end
        ("winners", pa.int8()), ("multiple", pa.int64()),  # largest multiple of the round's wins, null without one
        ("draws", pa.int16()), ("wall_left", pa.int16()),
        ("next_dealer", pa.int8()), ("raise_next", pa.int32()),  # null when the round stands incomplete
        ("next_dealer_if", pa.list_(pa.string())),  # "key=value:seat" of dealer keys that would name another seat
        ("prev", pa.string()), ("line_sha256", pa.string()),
        ("events_count", pa.int32()),
        ("mispaid", pa.int64()),  # half the sum of |recorded - recomputed| points; null when nothing was recorded
        ("state_digest", pa.uint64()),
        ("deal", pa.binary(42)), ("wall", pa.binary(44)),
        ("events", pa.list_(pa.uint32())), ("event_no", pa.list_(pa.int32())), ("times", pa.list_(pa.int32())),
    ]
)  # fmt: skip
SEATS = pa.schema(
    [
        ("round_id", pa.uint64()), ("seat", pa.int8()), ("player", pa.string()), ("is_dealer", pa.bool_()),
        ("piao", pa.int32()), ("points", pa.int64()), ("recorded_points", pa.int64()), ("kong_points", pa.int64()),
        ("won", pa.bool_()), ("self_drew", pa.bool_()), ("dealt_in", pa.bool_()), ("revealed", pa.bool_()),
        ("pungs", pa.int8()), ("kongs", pa.int8()), ("ready_at_end", pa.bool_()),
        ("deal", pa.binary()),  # kinds dealt, 13 or 14
        ("hand", pa.binary()),  # concealed kinds at the end, ascending
    ]
)  # fmt: skip
WINS = pa.schema(
    [
        ("round_id", pa.uint64()), ("win_no", pa.int8()), ("seat", pa.int8()), ("from_seat", pa.int8()),
        ("tile", pa.uint8()), ("by", DICT), ("event", pa.int32()), ("turn", pa.int16()),  # tiles drawn so far
        ("multiple", pa.int64()), ("fans", pa.list_(pa.string())), ("revealed", pa.bool_()), ("points", pa.int64()),
        ("recorded_multiple", pa.int64()), ("recorded_fans", pa.list_(pa.string())),
    ]
)  # fmt: skip
WIN_FANS = pa.schema(
    [("round_id", pa.uint64()), ("win_no", pa.int8()), ("fan", DICT), ("count", pa.int8()), ("value", pa.int32())]
)
KONG_ROWS = pa.schema(
    [
        ("round_id", pa.uint64()), ("kong_no", pa.int8()), ("event", pa.int32()), ("seat", pa.int8()), ("kind", DICT),
        ("tile", pa.uint8()), ("from_seat", pa.int8()), ("chain", pa.int8()), ("points", pa.int64()),
        ("robbed", pa.bool_()),
    ]
)  # fmt: skip
REVEALS = pa.schema(
    [
        ("round_id", pa.uint64()), ("seat", pa.int8()), ("order", pa.int8()), ("event", pa.int32()),
        ("turn", pa.int16()), ("wall_left", pa.int16()), ("waits", pa.uint32()), ("live", pa.int8()),
        ("hidden", pa.uint32()),
    ]
)  # fmt: skip
LEDGER = pa.schema(
    [
        ("round_id", pa.uint64()), ("n", pa.int16()), ("cause", DICT), ("from_seat", pa.int8()),
        ("to_seat", pa.int8()), ("points", pa.int64()),
    ]
)  # fmt: skip
PROBLEMS = pa.schema(
    [
        ("round_id", pa.uint64()), ("source", DICT), ("record", pa.int64()), ("line", pa.int64()),
        ("site", DICT), ("game", pa.string()), ("round", pa.int64()),
        ("kind", DICT), ("code", DICT), ("event", pa.int32()), ("seat", pa.int8()),
        ("logged", pa.string()), ("expected", pa.string()), ("message", pa.string()),
        ("table", pa.string()),  # a one-line picture of the table before the event
        ("explained_by", pa.list_(pa.string())),
    ]
)  # fmt: skip
TABLES = {
    "rounds": ROUNDS, "seats": SEATS, "wins": WINS, "win_fans": WIN_FANS, "kongs": KONG_ROWS, "reveals": REVEALS,
    "ledger": LEDGER, "problems": PROBLEMS,
}  # fmt: skip
