-- Grain: one row per stage from records read to clean rounds, in order.
-- Units: n counted; of_records = n / records, 0-1, null on an empty data set.
SELECT
    step,
    stage,
    n,
    n / nullif(max(n) FILTER (stage = 'records') OVER (), 0) AS of_records
FROM (
    SELECT 1 AS step, 'records' AS stage, CAST(coalesce(sum(records), 0) AS BIGINT) AS n FROM sources
    UNION ALL
    SELECT 2, 'repeats', CAST(coalesce(sum(repeats), 0) AS BIGINT) FROM sources
    UNION ALL
    SELECT 3, 'rejects', CAST(coalesce(sum(rejects), 0) AS BIGINT) FROM sources
    UNION ALL
    SELECT 4, 'rounds', count(*) FROM rounds
    UNION ALL
    SELECT 5, 'violation', count(*) FROM rounds WHERE verdict = 'violation'
    UNION ALL
    SELECT 6, 'mismatch', count(*) FROM rounds WHERE verdict = 'mismatch'
    UNION ALL
    SELECT 7, 'unpaid', count(*) FROM rounds WHERE verdict = 'unpaid'
    UNION ALL
    SELECT 8, 'clean', count(*) FROM rounds WHERE verdict = 'clean'
)
ORDER BY step
