-- Grain: one row per round and seat with facts, over rounds that were not aborted: the course of the hand.
-- Units: shanten after each own discard, in order; position: seats after the dealer, 0 the dealer.
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
    facts.start_tiles,
    facts.start_shanten,
    facts.shanten
FROM facts
JOIN rounds ON rounds.round_id = facts.round_id
JOIN seats ON seats.round_id = facts.round_id AND seats.seat = facts.seat
WHERE rounds."end" <> 'aborted'
ORDER BY facts.round_id, facts.seat
