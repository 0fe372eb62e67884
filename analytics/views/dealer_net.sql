-- Grain: one row per ruleset, base stake and role (dealer, other), over rounds with a recomputed end.
-- Units: points recomputed, summed over n seats; mean and standard error in base stakes per round.
SELECT
    ruleset,
    base,
    role,
    n,
    points,
    sqrt((squares - points * points / n) / nullif(n - 1, 0) / n) / nullif(base, 0) AS standard_error,
    points / nullif(n, 0) / nullif(base, 0) AS mean
FROM (
    SELECT
        rounds.ruleset,
        rounds.base,
        CASE WHEN seats.is_dealer THEN 'dealer' ELSE 'other' END AS role,
        count(seats.points) AS n,
        CAST(coalesce(sum(seats.points), 0) AS BIGINT) AS points,
        CAST(coalesce(sum(CAST(seats.points AS HUGEINT) * seats.points), 0) AS DOUBLE) AS squares
    FROM seats
    JOIN rounds USING (round_id)
    WHERE rounds."end" IS NOT NULL
    GROUP BY ALL
)
ORDER BY ruleset, base, role
