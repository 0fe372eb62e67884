-- Grain: one row per round, seat and cause with a ledger row: the steps of a payout waterfall.
-- Units: points: net of the cause for the seat, recomputed; n ledger rows behind it.
SELECT
    round_id,
    seat,
    cause,
    count(*) AS n,
    CAST(sum(points) AS BIGINT) AS points
FROM (
    SELECT round_id, from_seat AS seat, cause, -points AS points FROM ledger WHERE from_seat IS NOT NULL
    UNION ALL
    SELECT round_id, to_seat AS seat, cause, points FROM ledger WHERE to_seat IS NOT NULL
)
GROUP BY round_id, seat, cause
ORDER BY round_id, seat, cause
