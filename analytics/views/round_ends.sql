-- Grain: one row per ruleset and way a round ended; "end" null where the log has no end, last.
-- Units: counts of rounds; double_wins are rounds with two winners; share 0-1 of the ruleset's n rounds.
SELECT
    ruleset,
    "end",
    count(*) AS rounds,
    count(*) FILTER (winners > 1) AS double_wins,
    CAST(sum(count(*)) OVER (PARTITION BY ruleset) AS BIGINT) AS n,
    count(*) / nullif(sum(count(*)) OVER (PARTITION BY ruleset), 0) AS share
FROM rounds
GROUP BY ruleset, "end"
ORDER BY ruleset, "end" NULLS LAST
