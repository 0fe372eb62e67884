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
    s.players,
    s.points,
    s.recorded_points,
    s.revealed,
    s.hands,
    w.fans,
    p.codes
FROM rounds
LEFT JOIN (
    SELECT
        round_id,
        list(player ORDER BY seat) AS players,
        list(points ORDER BY seat) AS points,
        list(recorded_points ORDER BY seat) AS recorded_points,
        count(*) FILTER (revealed) AS revealed,
        list(hand ORDER BY seat) AS hands
    FROM seats
    GROUP BY round_id
) AS s USING (round_id)
LEFT JOIN (
    SELECT round_id, list(DISTINCT fan ORDER BY fan) AS fans FROM win_fans GROUP BY round_id
) AS w USING (round_id)
LEFT JOIN (
    SELECT round_id, list(DISTINCT code ORDER BY code) AS codes FROM problems GROUP BY round_id
) AS p USING (round_id)
ORDER BY rounds.site NULLS FIRST, rounds.game, rounds.round
