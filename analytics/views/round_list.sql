-- Grain: one row per round, in the order of site, game and round.
-- Units: id is site/game/round, each part URL-escaped; lists players, points, recorded_points, hands in seat order;
-- points in the stake's unit; codes are the round's problems, sorted, each once; fans those of all its wins.
SELECT
    concat_ws('/', url_encode(coalesce(rounds.site, '')), url_encode(rounds.game), CAST(rounds.round AS VARCHAR)) AS id,
    rounds.round_id,
    rounds.game_key,
    rounds.site,
    rounds.game,
    rounds.round,
    rounds.time_ms,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    rounds.ruleset,
    rounds.suits,
    rounds.dealer,
    rounds.base,
    rounds.verdict,
    rounds.coverage,
    rounds."end",
    rounds.winners,
    rounds.multiple,
    rounds.mispaid,
    rounds.source,
    rounds.line,
    [s0.player, s1.player, s2.player] AS players,
    [s0.points, s1.points, s2.points] AS points,
    [s0.recorded_points, s1.recorded_points, s2.recorded_points] AS recorded_points,
    CAST(s0.revealed AS BIGINT) + CAST(s1.revealed AS BIGINT) + CAST(s2.revealed AS BIGINT) AS revealed,
    [s0.hand, s1.hand, s2.hand] AS hands,
    w.fans,
    p.codes
FROM rounds
LEFT JOIN seats AS s0 ON s0.round_id = rounds.round_id AND s0.seat = 0
LEFT JOIN seats AS s1 ON s1.round_id = rounds.round_id AND s1.seat = 1
LEFT JOIN seats AS s2 ON s2.round_id = rounds.round_id AND s2.seat = 2
LEFT JOIN (
    SELECT round_id, list(DISTINCT fan ORDER BY fan) AS fans FROM win_fans GROUP BY round_id
) AS w ON w.round_id = rounds.round_id
LEFT JOIN (
    SELECT round_id, list(DISTINCT code ORDER BY code) AS codes FROM problems GROUP BY round_id
) AS p ON p.round_id = rounds.round_id
ORDER BY rounds.site NULLS FIRST, rounds.game, rounds.round
