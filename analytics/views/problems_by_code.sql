-- Grain: one row per kind (violation, mismatch), code and ruleset.
-- Units: counts of problems and of rounds; explained are problems that one rule change explains.
SELECT
    problems.kind,
    problems.code,
    rounds.ruleset,
    count(*) AS problems,
    count(DISTINCT problems.round_id) AS rounds,
    count(*) FILTER (len(problems.explained_by) > 0) AS explained
FROM problems
JOIN rounds USING (round_id)
GROUP BY ALL
ORDER BY problems.kind, problems DESC, problems.code, rounds.ruleset
