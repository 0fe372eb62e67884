"""Two accounts at one table, round by round: what went from the first to the second, deal-ins, wins passed.

Sums in base stakes, which tables of any stake share.  Deal-ins stand beside what the seats alone lead to expect: of all
wins off a discard with one winner, the share that the seat after the winner pays, and the one before.  Check 19 expects
more finely; this is for looking.
"""

from collections.abc import Callable

import polars as pl

_TOGETHER = """
WITH a AS (SELECT round_id, seat FROM seats WHERE player = ?), b AS (SELECT round_id, seat FROM seats WHERE player = ?),
together AS (
    SELECT round_id, a.seat AS a, b.seat AS b, r.game_key, r.round, r.time_ms, r.base, r.winners,
        r.events, concat_ws('/', url_encode(coalesce(r.site, '')), url_encode(r.game), CAST(r.round AS VARCHAR)) AS id
    FROM a JOIN b USING (round_id) JOIN rounds AS r USING (round_id) WHERE a.seat <> b.seat
),
paid AS (
    SELECT t.round_id, sum(CASE WHEN l.from_seat = t.a AND l.to_seat = t.b THEN l.points
                                WHEN l.from_seat = t.b AND l.to_seat = t.a THEN -l.points ELSE 0 END) AS points
    FROM together AS t JOIN ledger AS l USING (round_id) GROUP BY t.round_id
),
won AS (
    SELECT t.round_id, w.from_seat = t.a AS gave, (t.a - t.b + 3) % 3 AS relative
    FROM together AS t JOIN wins AS w ON w.round_id = t.round_id AND w.seat = t.b
    WHERE w."by" = 'discard' AND t.winners = 1
),
passed AS (
    SELECT t.round_id FROM together AS t JOIN facts AS f ON f.round_id = t.round_id AND f.seat = t.a
    WHERE f.first_missed_event IS NOT NULL AND (t.events[f.first_missed_event + 1] & 3) = t.b
        AND ((t.events[f.first_missed_event + 1] >> 2) & 15) IN (2, 3)
)
SELECT t.id, t.time_ms, round(coalesce(paid.points, 0) / greatest(coalesce(t.base, 1), 1), 3) AS transfer,
    won.gave, won.relative, passed.round_id IS NOT NULL AS passed
FROM together AS t LEFT JOIN paid USING (round_id) LEFT JOIN won USING (round_id) LEFT JOIN passed USING (round_id)
ORDER BY t.time_ms NULLS FIRST, t.game_key, t.round, t.round_id
"""
_SHARES = """
SELECT (w.from_seat - w.seat + 3) % 3 AS relative, count(*)::BIGINT AS n
FROM wins AS w JOIN rounds AS r USING (round_id) WHERE w."by" = 'discard' AND r.winners = 1 GROUP BY 1 ORDER BY 1
"""


def history(select: Callable[..., pl.DataFrame], giver: str, taker: str) -> pl.DataFrame:
    """One row a round with both, by time: n (1, 2, …), id, time_ms, transfer (base stakes from giver to taker), dealt
    (the taker won off a discard and the giver gave it; null without such a win), expected (its chance by seats alone),
    passed (the giver let a win off the taker's discard go).

    select: gives the rows of a query with its parameters.
    """
    counts = select(_SHARES)
    total = max(counts["n"].sum(), 1)
    share = {relative: n / total for relative, n in counts.iter_rows()}
    return select(_TOGETHER, giver, taker).with_row_index("n", 1).select(
        "n", "id", "time_ms", "transfer", "passed", dealt="gave",
        expected=pl.col("relative").replace_strict(share, default=0.0, return_dtype=pl.Float64),
    )  # fmt: skip
