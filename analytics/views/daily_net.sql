-- Grain: one row per site, account and UTC day; day null for rounds without a time, last.
-- Units: points: recomputed net; recorded: net as the platform paid it, over the rounds_recorded that say so.
SELECT
    rounds.site,
    seats.player,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    count(*) AS rounds,
    count(*) FILTER (seats.won) AS wins,
    CAST(coalesce(sum(seats.points), 0) AS BIGINT) AS points,
    count(seats.recorded_points) AS rounds_recorded,
    CAST(sum(seats.recorded_points) AS BIGINT) AS recorded
FROM seats
JOIN rounds USING (round_id)
GROUP BY ALL
ORDER BY rounds.site NULLS FIRST, seats.player, day NULLS LAST
