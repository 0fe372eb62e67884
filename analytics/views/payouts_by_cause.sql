-- Grain: one row per site, ruleset and mismatch code.
-- Units: problems and rounds counted; explained are problems that one rule change explains; mispaid in points, of
-- those rounds (a round with two codes stands under both).
SELECT
    site,
    ruleset,
    code,
    count(*) AS rounds,
    CAST(sum(problems) AS BIGINT) AS problems,
    CAST(sum(explained) AS BIGINT) AS explained,
    CAST(coalesce(sum(mispaid), 0) AS BIGINT) AS mispaid
FROM (
    SELECT
        rounds.site,
        rounds.ruleset,
        problems.code,
        rounds.round_id,
        rounds.mispaid,
        count(*) AS problems,
        count(*) FILTER (len(problems.explained_by) > 0) AS explained
    FROM problems
    JOIN rounds USING (round_id)
    WHERE problems.kind = 'mismatch'
    GROUP BY ALL
)
GROUP BY site, ruleset, code
ORDER BY site NULLS FIRST, ruleset, code
