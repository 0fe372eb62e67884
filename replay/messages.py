"""Problems in words: what was logged, what was expected, one sentence (log-format.md section 3).

The kernel notes a problem as numbers; what they are depends on its code.  Texts are English and name tiles in MPSZ.
"""

import numpy as np

from ingest.events import ENDS, unpack_fans
from ingest.tiles import NAMES, SUITS
from replay.problems import CODES

TILE, SEAT, NUMBER, FANS, END, POINTS, SUIT, SCALAR, DUE, TILES = range(10)

# What the seat that is due has to do, by phase of the table (replay.state).
DUE_WORDS = (
    "to act in its turn (win, kong, reveal or discard)",
    "to draw, unless the discard is claimed",
    "to take its replacement, unless the kong is robbed",
    "to take its replacement",
    "or another seat to win the same tile",
    "nothing more",
)

# code: (what the two numbers are, sentence); {logged} and {expected} are their texts, {seat} the seat.
WORDS: dict[str, tuple[int, str]] = {
    "not_your_turn": (DUE, "seat {seat} acts out of turn; due: {expected}"),
    "tile_not_held": (TILE, "seat {seat} does not hold {logged}"),
    "wrong_discard": (TILE, "the discard of {logged} is marked wrongly: the tile drawn is {expected}"),
    "fifth_tile": (TILE, "more than four copies of {logged}"),
    "draw_not_from_wall": (TILE, "seat {seat} draws {logged}; the wall gives {expected}"),
    "wrong_replacement": (TILE, "seat {seat} takes {logged} as its replacement; the wall gives {expected}"),
    "bad_claim": (TILE, "the table does not offer seat {seat} this claim"),
    "kong_too_late": (TILE, "the kong of {logged} may not be made now; the tile drawn is {expected}"),
    "kong_held": (TILE, "the kong of {logged} was held before the replacement draw and must wait for the next turn"),
    "kong_on_empty_wall": (TILE, "a kong of {logged} with no tile left to replace it"),
    "missed_win_lock": (TILE, "seat {seat} wins {logged} after it let another win pass"),
    "not_ready": (TILE, "seat {seat} reveals a hand that is not ready"),
    "reveal_not_allowed": (NUMBER, "seat {seat} may not reveal now (tiles left {logged}, needed {expected})"),
    "bad_hidden": (TILE, "seat {seat} may not keep a triplet of {logged} face down"),
    "changed_after_reveal": (TILE, "the revealed hand of seat {seat} changes"),
    "fed_revealed": (TILE, "seat {seat} discards {logged}, which a revealed seat wins on"),
    "safe_tile_held": (TILE, "seat {seat} holds a safe tile, so the round does not end"),
    "not_a_win": (TILE, "the hand of seat {seat} is not complete with {logged}"),
    "below_minimum": (NUMBER, "the win of seat {seat} has multiple {logged}, below the table's minimum"),
    "dead_hand": (TILE, "seat {seat} has a short hand and can neither win nor reveal"),
    "claim_order": (SEAT, "winners stand in seat order from the payer, each once"),
    "must_discard_drawn": (TILE, "the last tile drawn ({expected}) must be discarded, not {logged}"),
    "missing_event": (DUE, "an event is missing before this one; due: {expected}"),
    "event_after_end": (SCALAR, "the round has ended before this event"),
    "wrong_suits": (SUIT, "the ruleset plays dots and bamboo"),
    "wrong_piao": (NUMBER, "seat {seat} has piao {logged}; at most {expected} is allowed"),
    "wrong_base": (NUMBER, "base stake {logged}; the table's is {expected}"),
    "deal_not_from_order": (SCALAR, "deal or wall do not follow from the committed order"),
    "commit_mismatch": (SCALAR, "the commitment is not the digest of salt and order"),
    "seed_mismatch": (SCALAR, "the committed order is not what the named shuffle makes of the salt"),
    "wrong_dealer": (SEAT, "seat {logged} deals; the round before makes seat {expected} dealer"),
    "wrong_raise": (NUMBER, "raise {logged}; the round before and the dice make it {expected}"),
    "lost_round": (NUMBER, "round {logged} follows; round {expected} is missing"),
    "chain_broken": (SCALAR, "`prev` is not the digest of the round before"),
    "changed_table": (SCALAR, "a game keeps its table: {logged}, but {expected} in the round before"),
    "points": (POINTS, "recorded points {logged}, recomputed {expected}"),
    "fans": (FANS, "recorded fans {logged}, recomputed {expected}"),
    "multiple": (NUMBER, "recorded multiple {logged}, recomputed {expected}"),
    "payer": (SEAT, "recorded payer {logged}, recomputed {expected}"),
    "winner": (SEAT, "recorded winner {logged}, recomputed {expected}"),
    "tile": (TILE, "recorded winning tile {logged}, recomputed {expected}"),
    "end": (END, "recorded end {logged}, recomputed {expected}"),
    "kongs": (POINTS, "recorded kong points {logged}, recomputed {expected}"),
    "horse": (NUMBER, "horse points recorded per payer {logged}, recomputed {expected}"),
    "fee": (NUMBER, "recorded fee {logged}, recomputed {expected}"),
    "ledger": (NUMBER, "the recorded ledger has seat {seat} pay {logged} where {expected} is due"),
    "waits": (TILES, "recorded waits of seat {seat} {logged}, recomputed {expected}"),
    "next_dealer": (SEAT, "seat {logged} is recorded to deal next, recomputed {expected}"),
}
NOTHING = "none"


def of(kind: int, number: int, suits: int) -> str:
    """One of the two numbers of a problem as text."""
    if kind == FANS:
        return ", ".join(unpack_fans(number)) or NOTHING if number >= 0 else NOTHING
    if kind == DUE:
        return f"seat {number & 3} {DUE_WORDS[number >> 2]}" if number >= 0 else NOTHING
    if number < 0 and kind in (TILE, SEAT, END):
        return NOTHING
    if kind == TILES:
        return " ".join(name for bit, name in enumerate(NAMES[SUITS[suits]]) if number >> bit & 1) or NOTHING
    if kind == TILE:
        return NAMES[SUITS[suits]][number] if number < 21 else NOTHING
    if kind == END:
        return ENDS[number]
    if kind == SUIT:
        return SUITS[number]
    return str(number)


def words(problem: np.record, prepared: np.record, result: np.record) -> tuple[str, str, str]:
    """(logged, expected, message) of one kernel problem, with its round's input and result."""
    code = CODES[problem.code]
    kind, sentence = WORDS[code]
    if kind == POINTS:
        field = "kong_net" if code == "kongs" else "points"
        recorded = prepared.kongs if code == "kongs" else prepared.points
        logged, expected = str(recorded.tolist()), str(result[field].tolist())
    else:
        logged = of(kind, int(problem.logged), int(prepared.suits))
        expected = of(kind, int(problem.expected), int(prepared.suits))
    if code == "missing_event" and problem.event < 0:
        logged, expected, sentence = NOTHING, "w, e or z", "the round has no end"
    message = sentence.format(logged=logged, expected=expected, seat=int(problem.seat))
    return logged, expected, message
