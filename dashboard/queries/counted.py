"""What each statistic's numerator counts, from the tables themselves: the view seat_rounds takes seconds.

Columns of seat_rounds (and differences of two) → the seats whose value is not 0, as SELECT round_id, seat.
"""

from analytics import metrics

_WIN = "('win', 'piao', 'horse', 'kan', 'run_touch_eight')"
_DRAW = "('draw', 'no_safe_tile')"
_DRAWN = "round_id IN (SELECT round_id FROM rounds WHERE \"end\" = 'draw')"
_SELF_DRAWN = "round_id IN (SELECT round_id FROM wins WHERE \"by\" = 'self_draw')"
_STAKED = "round_id IN (SELECT round_id FROM rounds WHERE base > 0)"
_CHASED = 'round_id IN (SELECT round_id FROM reveals WHERE "order" = 2)'
_LOST = f"SELECT DISTINCT round_id, from_seat AS seat FROM ledger WHERE points > 0 AND cause IN {_WIN}"
_PAID_DRAW = f"SELECT DISTINCT round_id, from_seat AS seat FROM ledger WHERE points > 0 AND cause IN {_DRAW}"
_DEALER_IN = "SELECT round_id, from_seat AS seat FROM wins WHERE from_seat IS NOT NULL"
_SHOWN = "SELECT round_id, seat FROM reveals JOIN seats USING (round_id, seat) WHERE "


def _lost(condition: str) -> str:
    return f"SELECT round_id, seat FROM seats SEMI JOIN ({_LOST}) USING (round_id, seat) WHERE {condition}"


def _of(table: str, condition: str) -> str:
    return f"SELECT round_id, seat FROM {table} WHERE {condition}"


_DEAL_IN_POINTS = _lost("dealt_in")
_EXPOSED = _of("kongs", "kind = 'exposed' AND NOT robbed")
_DRAW_NET = f"""
    SELECT round_id, seat FROM (
        SELECT round_id, from_seat AS seat, -points AS points FROM ledger WHERE cause IN {_DRAW}
        UNION ALL
        SELECT round_id, to_seat AS seat, points FROM ledger WHERE cause IN {_DRAW}
    ) GROUP BY round_id, seat HAVING sum(points) <> 0
"""
NUMERATORS = {
    "wins": _of("seats", "won"),
    "self_draws": _of("seats", "self_drew"),
    "rob_kong_wins": _of("wins", "\"by\" = 'rob_kong'"),
    "double_wins": _of("wins", "round_id IN (SELECT round_id FROM rounds WHERE winners > 1)"),
    "deal_ins": _of("seats", "dealt_in"),
    "paid_self_draws": _of("seats", f"NOT self_drew AND {_SELF_DRAWN}"),
    "robbed_kongs": f"{_DEALER_IN} AND \"by\" = 'rob_kong'",
    "exhausted": _of("seats", _DRAWN),
    "ready_exhausted": _of("seats", f"ready_at_end AND {_DRAWN}"),
    "deal_ins_next": f"{_DEALER_IN} AND (wins.seat - from_seat + 3) % 3 = 1",
    "deal_ins_previous": f"{_DEALER_IN} AND (wins.seat - from_seat + 3) % 3 = 2",
    "deal_ins_revealed": f"{_DEALER_IN} AND revealed",
    "points": _of("seats", "points <> 0"),
    "win_multiples": _of("wins", "multiple <> 0"),
    "win_points": _of("wins", "points <> 0"),
    "deal_in_points": _DEAL_IN_POINTS,
    "self_draw_loss": _lost(_SELF_DRAWN),
    "other_loss": _lost(f"NOT dealt_in AND NOT {_SELF_DRAWN}"),
    "win_points - deal_in_points": f"{_of('wins', 'points <> 0')} UNION ALL {_DEAL_IN_POINTS}",
    "kong_gain - kong_loss": _of("seats", "kong_points <> 0"),
    "draw_gain - draw_loss": _DRAW_NET,
    "draw_loss": _PAID_DRAW,
    "fee": "SELECT round_id, from_seat AS seat FROM ledger WHERE cause = 'fee' AND points <> 0",
    "called": f"{_of('seats', 'pungs > 0')} UNION ALL {_EXPOSED}",
    "pungs": _of("seats", "pungs > 0"),
    "konged": _of("kongs", "NOT robbed"),
    **{f"{kind}_kongs": _of("kongs", f"kind = '{kind}' AND NOT robbed") for kind in ("exposed", "added", "concealed")},
    "reveals": _of("reveals", "true"),
    "first_reveals": _of("reveals", '"order" = 1'),
    "chased_reveals": _of("reveals", f'"order" = 1 AND {_CHASED}'),
    "reveal_turns": _of("reveals", "turn <> 0"),
    "reveal_live": _of("reveals", "live <> 0"),
    "reveal_wins": _SHOWN + "won",
    "reveal_self_draws": _SHOWN + "self_drew",
    "reveal_deal_ins": _SHOWN + "dealt_in",
    "reveal_exhausted": _of("reveals", _DRAWN),
    "reveal_points": _SHOWN + "points <> 0",
    "first_reveal_points": _SHOWN + 'points <> 0 AND "order" = 1',
    "chasing_reveal_points": _SHOWN + 'points <> 0 AND "order" > 1',
    "chased_reveal_points": _SHOWN + f'points <> 0 AND "order" = 1 AND {_CHASED}',
    "reveal_draw_loss": f"SELECT round_id, seat FROM reveals SEMI JOIN ({_PAID_DRAW}) USING (round_id, seat) "
                        f"WHERE {_DRAWN}",
    "unrevealed_points": _of("seats ANTI JOIN reveals USING (round_id, seat)", "points <> 0"),
    "start_shanten_of_13": _of("facts", "start_tiles = 13 AND start_shanten <> 0"),
    "start_shanten_of_14": _of("facts", "start_tiles = 14 AND start_shanten <> 0"),
    "ready": _of("facts", "ready_turn IS NOT NULL"),
    "ready_turns": _of("facts", "ready_turn > 0"),
    "ready_live": _of("facts", "ready_live_own > 0"),
    "ready_wins": "SELECT round_id, seat FROM facts JOIN seats USING (round_id, seat) "
                  "WHERE ready_turn IS NOT NULL AND won",
    "dealt_in_ready": _of("facts", "dealt_in_ready"),
    "wins_missed": _of("facts", "wins_missed > 0"),
    "kongs_declined": _of("facts", "kongs_declined > 0"),
    "pungs_declined": _of("facts", "pungs_declined > 0"),
    "dangerous_discards": _of("facts", "dangerous_discards > 0"),
    "careless_discards": _of("facts", "careless_discards > 0"),
    "useful_luck": _of("facts", "useful_draws <> useful_expected"),
    "ready_hits": _of("facts", "ready_hits > 0"),
    "ready_luck": _of("facts", "ready_hits <> ready_expected"),
    "replacement_luck": _of("facts", "replacement_hits <> replacement_expected"),
    "luck": _of("facts", f"tiles_worth <> 0 AND {_STAKED}"),
    "adjusted": "SELECT round_id, seat FROM facts JOIN seats USING (round_id, seat) "
                "JOIN (SELECT round_id, base FROM rounds WHERE base > 0) USING (round_id) "
                "WHERE CAST(round(1000000 * (points / base)) AS BIGINT) <> tiles_worth",
}  # fmt: skip


def seats_of(metric: str) -> str:
    """The seats of rounds that add to a statistic's numerator, as SQL."""
    return NUMERATORS[metrics.get(metric).numerator]
