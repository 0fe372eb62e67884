-- Grain: one row per reveal, over rounds with a recomputed end that were not aborted.
-- Units: turn in tiles drawn by the table; live: tiles of the waits that the seat could not see; chased: another seat
-- revealed later; points net of the round, recomputed.
SELECT
    reveals.round_id,
    rounds.game_key,
    rounds.site,
    rounds.ruleset,
    rounds.base,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    seats.player,
    reveals.seat,
    CAST((reveals.seat - rounds.dealer + 3) % 3 AS TINYINT) AS position,
    reveals."order",
    reveals."order" < o.last AS chased,
    reveals.turn,
    reveals.live,
    seats.won,
    seats.dealt_in,
    rounds."end" = 'draw' AS exhausted,
    seats.points
FROM reveals
JOIN rounds ON rounds.round_id = reveals.round_id
JOIN seats ON seats.round_id = reveals.round_id AND seats.seat = reveals.seat
JOIN (SELECT round_id, max("order") AS last FROM reveals GROUP BY round_id) AS o ON o.round_id = reveals.round_id
WHERE rounds."end" <> 'aborted'
ORDER BY reveals.round_id, reveals.seat
