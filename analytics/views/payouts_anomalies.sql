-- Grain: one row per complete round and seat whose recorded points differ from the recomputed ones.
-- Units: points in the stake's unit; difference = recorded - recomputed, what the seat got too much; codes are the
-- round's mismatches, sorted; explained_by the rule changes of which each alone explains one of them.
SELECT
    concat_ws('/', url_encode(coalesce(rounds.site, '')), url_encode(rounds.game), CAST(rounds.round AS VARCHAR)) AS id,
    seats.round_id,
    seats.seat,
    rounds.site,
    rounds.game,
    rounds.round,
    rounds.ruleset,
    rounds.time_ms,
    seats.player,
    rounds.verdict,
    p.codes,
    p.explained_by,
    seats.recorded_points,
    seats.points,
    seats.recorded_points - seats.points AS difference
FROM seats
JOIN rounds USING (round_id)
LEFT JOIN (
    SELECT
        round_id,
        list(DISTINCT code ORDER BY code) AS codes,
        list_sort(list_distinct(flatten(list(explained_by)))) AS explained_by
    FROM problems
    WHERE kind = 'mismatch'
    GROUP BY round_id
) AS p USING (round_id)
WHERE rounds.mispaid > 0 AND seats.recorded_points <> seats.points
ORDER BY rounds.site NULLS FIRST, rounds.game, rounds.round, seats.seat
