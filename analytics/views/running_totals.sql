-- Grain: one row per round and seat: where its account stands in the game after the round, by site, game and round.
-- Units: points: recomputed net, fees in; needed: what the account must have brought so as never to fall below zero.
SELECT
    site,
    game,
    round,
    round_id,
    seat,
    player,
    points,
    total,
    CASE WHEN paid_rounds = played THEN paid END AS recorded_total,
    CAST(greatest(0, -min(total) OVER so_far) AS BIGINT) AS needed
FROM (
    SELECT
        rounds.site,
        rounds.game,
        rounds.game_key,
        rounds.round,
        round_id,
        seats.seat,
        seats.player,
        seats.points,
        CAST(sum(seats.points) OVER account AS BIGINT) AS total,
        CAST(sum(seats.recorded_points) OVER account AS BIGINT) AS paid,
        count(seats.recorded_points) OVER account AS paid_rounds,
        count(*) OVER account AS played
    FROM seats
    JOIN rounds USING (round_id)
    WINDOW account AS (
        PARTITION BY rounds.game_key, seats.player ORDER BY rounds.round, seats.seat ROWS UNBOUNDED PRECEDING
    )
)
WINDOW so_far AS (PARTITION BY game_key, player ORDER BY round, seat ROWS UNBOUNDED PRECEDING)
ORDER BY site NULLS FIRST, game, round, seat
