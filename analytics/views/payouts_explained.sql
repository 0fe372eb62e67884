-- Grain: one row per ruleset and rule change (key=value) that alone explains a mismatch.
-- Units: counts of mismatches and of rounds.
SELECT
    ruleset,
    change,
    count(*) AS problems,
    count(DISTINCT round_id) AS rounds
FROM (
    SELECT rounds.ruleset, problems.round_id, unnest(problems.explained_by) AS change
    FROM problems
    JOIN rounds USING (round_id)
    WHERE problems.kind = 'mismatch'
)
GROUP BY ruleset, change
ORDER BY ruleset, problems DESC, change
