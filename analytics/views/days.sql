-- Grain: one row per UTC day and ruleset; day null for rounds without a time, last.
-- Units: counts of rounds; mispaid in points.
SELECT
    CAST(make_timestamp(time_ms * 1000) AS DATE) AS day,
    ruleset,
    count(*) AS rounds,
    count(*) FILTER (verdict = 'clean') AS clean,
    count(*) FILTER (verdict = 'unpaid') AS unpaid,
    count(*) FILTER (verdict = 'mismatch') AS mismatch,
    count(*) FILTER (verdict = 'violation') AS violation,
    CAST(coalesce(sum(mispaid), 0) AS BIGINT) AS mispaid
FROM rounds
GROUP BY ALL
ORDER BY day NULLS LAST, ruleset
