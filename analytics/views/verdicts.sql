-- Grain: one row per ruleset.
-- Units: counts of rounds and events; mispaid in points; clean_share 0-1 of rounds.
SELECT
    ruleset,
    count(*) AS rounds,
    count(*) FILTER (verdict = 'clean') AS clean,
    count(*) FILTER (verdict = 'unpaid') AS unpaid,
    count(*) FILTER (verdict = 'mismatch') AS mismatch,
    count(*) FILTER (verdict = 'violation') AS violation,
    CAST(coalesce(sum(events_count), 0) AS BIGINT) AS events,
    count(*) FILTER (mispaid > 0) AS mispaid_rounds,
    CAST(coalesce(sum(mispaid), 0) AS BIGINT) AS mispaid,
    count(*) FILTER (verdict = 'clean') / nullif(count(*), 0) AS clean_share
FROM rounds
GROUP BY ruleset
ORDER BY ruleset
