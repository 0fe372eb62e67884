-- Grain: one row per ruleset, role (dealer, other) and statistic, over rounds with a recomputed end.
-- Units: k of n seats; rate = k / n, low and high its 95 % Wilson interval, all 0-1.
SELECT
    ruleset,
    role,
    statistic,
    k,
    n,
    (k + 1.9207 - 1.96 * sqrt(k * (n - k) / nullif(n, 0) + 0.9604)) / nullif(n + 3.8416, 0) AS low,
    (k + 1.9207 + 1.96 * sqrt(k * (n - k) / nullif(n, 0) + 0.9604)) / nullif(n + 3.8416, 0) AS high,
    k / nullif(n, 0) AS rate
FROM (
    UNPIVOT (
        SELECT
            rounds.ruleset,
            CASE WHEN seats.is_dealer THEN 'dealer' ELSE 'other' END AS role,
            count(*) AS n,
            count(*) FILTER (seats.won) AS win,
            count(*) FILTER (seats.self_drew) AS self_draw,
            count(*) FILTER (seats.dealt_in) AS deal_in,
            count(*) FILTER (seats.revealed) AS reveal,
            count(*) FILTER (seats.kongs > 0) AS kong
        FROM seats
        JOIN rounds USING (round_id)
        WHERE rounds."end" IS NOT NULL
        GROUP BY ALL
    )
    ON win, self_draw, deal_in, reveal, kong INTO NAME statistic VALUE k
)
ORDER BY ruleset, statistic, role
