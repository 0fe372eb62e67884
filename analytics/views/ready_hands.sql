-- Grain: one row per round and seat whose hand was ready at some time, over rounds with facts that were not aborted.
-- Units: turn: own discards made when first ready; live: tiles of its waits that the seat could not see then, live_true:
-- those still in the wall; revealed:
-- at that turn or later; at_once: no tile was drawn between; points net of the round, recomputed.
SELECT
    facts.round_id,
    rounds.game_key,
    rounds.site,
    rounds.ruleset,
    rounds.base,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    seats.player,
    facts.seat,
    CAST((facts.seat - rounds.dealer + 3) % 3 AS TINYINT) AS position,
    facts.ready_turn AS turn,
    facts.ready_live_own AS live,
    facts.ready_live_true AS live_true,
    reveals.seat IS NOT NULL AS revealed,
    coalesce(reveals.wall_left = facts.ready_left, false) AS at_once,
    seats.won,
    seats.dealt_in,
    seats.points
FROM facts
JOIN rounds ON rounds.round_id = facts.round_id
JOIN seats ON seats.round_id = facts.round_id AND seats.seat = facts.seat
LEFT JOIN reveals ON reveals.round_id = facts.round_id AND reveals.seat = facts.seat
WHERE facts.ready_turn IS NOT NULL AND rounds."end" <> 'aborted'
ORDER BY facts.round_id, facts.seat
