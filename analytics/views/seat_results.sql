-- Grain: one row per round and seat, over rounds with a recomputed end: what came of it, for statistics of few rounds.
-- Units: as seat_rounds, whose columns of these names say the same; it reads fewer tables.
SELECT
    rounds.round_id,
    rounds.game_key,
    rounds.site,
    rounds.ruleset,
    rounds.base,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    rounds.time_ms,
    seats.player,
    seats.seat,
    CAST((seats.seat - rounds.dealer + 3) % 3 AS TINYINT) AS position,
    1 AS rounds,
    CAST(rounds."end" <> 'aborted' AS INTEGER) AS played,
    CAST(seats.won AS INTEGER) AS wins,
    CAST(seats.dealt_in AS INTEGER) AS deal_ins,
    seats.points,
    CAST(h.seat IS NOT NULL AS INTEGER) AS hands,
    CAST(h.seat IS NOT NULL AND rounds.base > 0 AS INTEGER) AS lucked,
    CAST(CASE WHEN rounds.base > 0 THEN coalesce(h.tiles_worth, 0) ELSE 0 END AS INTEGER) AS luck
FROM seats
JOIN rounds ON rounds.round_id = seats.round_id
LEFT JOIN facts AS h ON h.round_id = seats.round_id AND h.seat = seats.seat AND rounds."end" <> 'aborted'
WHERE rounds."end" IS NOT NULL
ORDER BY rounds.round_id, seats.seat
