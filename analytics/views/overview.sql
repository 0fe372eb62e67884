-- Grain: one row, the health of the whole data set.
-- Units: counts of records, rounds, problems; mispaid in points; shares 0-1, null on an empty data set.
SELECT
    s.sources,
    s.records,
    s.repeats,
    s.rejects,
    r.rounds,
    r.clean,
    r.violation,
    r.mismatch,
    r.unpaid,
    r.settlement_only,
    r.games,
    r.events,
    p.violations,
    p.mismatches,
    r.mispaid_rounds,
    r.mispaid,
    t.accounts,
    r.first_ms,
    r.last_ms,
    r.clean / nullif(r.rounds, 0) AS clean_share,
    s.rejects / nullif(s.records, 0) AS reject_share
FROM (
    SELECT
        count(*) AS sources,
        CAST(coalesce(sum(records), 0) AS BIGINT) AS records,
        CAST(coalesce(sum(repeats), 0) AS BIGINT) AS repeats,
        CAST(coalesce(sum(rejects), 0) AS BIGINT) AS rejects
    FROM sources
) AS s
CROSS JOIN (
    SELECT
        count(*) AS rounds,
        count(*) FILTER (verdict = 'clean') AS clean,
        count(*) FILTER (verdict = 'violation') AS violation,
        count(*) FILTER (verdict = 'mismatch') AS mismatch,
        count(*) FILTER (verdict = 'unpaid') AS unpaid,
        count(*) FILTER (coverage = 'settlement_only') AS settlement_only,
        count(DISTINCT game_key) AS games,
        CAST(coalesce(sum(events_count), 0) AS BIGINT) AS events,
        count(*) FILTER (mispaid > 0) AS mispaid_rounds,
        CAST(coalesce(sum(mispaid), 0) AS BIGINT) AS mispaid,
        min(time_ms) AS first_ms,
        max(time_ms) AS last_ms
    FROM rounds
) AS r
CROSS JOIN (
    SELECT
        count(*) FILTER (kind = 'violation') AS violations,
        count(*) FILTER (kind = 'mismatch') AS mismatches
    FROM problems
) AS p
CROSS JOIN (
    SELECT count(*) AS accounts
    FROM (SELECT DISTINCT rounds.site, seats.player FROM seats JOIN rounds USING (round_id))
) AS t
