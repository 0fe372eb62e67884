-- Grain: one row per event of a round, in order of play.  Unpacked from rounds.events when asked for.
-- Units: n 0-based; tile a kind 0-20, null for none; ms since the event before; hidden one bit a kind.
SELECT
    round_id,
    n,
    CASE WHEN event_no IS NULL THEN n ELSE event_no[n + 1] END AS event_no,
    CASE WHEN event & 3 < 3 THEN CAST(event & 3 AS TINYINT) END AS seat,
    substr('drxypkcalwnez', CAST((event >> 2) & 15 AS INTEGER) + 1, 1) AS verb,
    CASE WHEN (event >> 2) & 15 <> 8 AND (event >> 6) & 31 < 31 THEN CAST((event >> 6) & 31 AS UTINYINT) END AS tile,
    CASE WHEN (event >> 2) & 15 <> 8 AND (event >> 11) & 3 < 3 THEN CAST((event >> 11) & 3 AS TINYINT) END AS source,
    CASE WHEN (event >> 2) & 15 = 8 THEN event >> 6 END AS hidden,
    times[n + 1] AS ms
FROM (
    SELECT
        round_id,
        event_no,
        times,
        unnest(events) AS event,
        CAST(unnest(range(len(events))) AS INTEGER) AS n
    FROM rounds
)
ORDER BY round_id, n
