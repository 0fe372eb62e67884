-- Grain: one row per round and seat, over rounds with a recomputed end: what the statistics of accounts add up.
-- Units: 0/1 or counts; points in the stake's unit, gains and losses both positive; turns in tiles drawn by the table.
-- position: seats after the dealer, 0 the dealer itself.  played: not aborted; an aborted round counts for points,
-- kong points and fee only.  Of what wins pay (win, piao, horse, kan, run_touch_eight) a loss is by self-draw, by
-- deal-in, or other: by another's deal-in.  From hands on: of rounds with facts (table facts).  Luck of draws is hits less
-- their chances, in 2^-26 draws, of which chances are whole numbers; luck and adjusted are in millionths of base stakes.
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
    CAST(rounds."end" = 'draw' AS INTEGER) AS exhausted,
    CAST(rounds."end" = 'draw' AND seats.ready_at_end AS INTEGER) AS ready_exhausted,
    CAST(seats.won AS INTEGER) AS wins,
    CAST(seats.self_drew AS INTEGER) AS self_draws,
    CAST(coalesce(w."by" = 'rob_kong', false) AS INTEGER) AS rob_kong_wins,
    CAST(seats.won AND rounds.winners > 1 AS INTEGER) AS double_wins,
    coalesce(w.multiple, 0) AS win_multiples,
    coalesce(w.points, 0) AS win_points,
    CAST(seats.dealt_in AS INTEGER) AS deal_ins,
    CAST(coalesce(p.next, false) AS INTEGER) AS deal_ins_next,
    CAST(coalesce(p.previous, false) AS INTEGER) AS deal_ins_previous,
    CAST(coalesce(p.robbed, false) AS INTEGER) AS robbed_kongs,
    CAST(coalesce(p.revealed, false) AS INTEGER) AS deal_ins_revealed,
    CAST(coalesce(f.self_drawn, false) AND NOT seats.self_drew AS INTEGER) AS paid_self_draws,
    CAST(seats.dealt_in AS INTEGER) * coalesce(l.win_loss, 0) AS deal_in_points,
    CAST(coalesce(f.self_drawn, false) AS INTEGER) * coalesce(l.win_loss, 0) AS self_draw_loss,
    CAST(NOT seats.dealt_in AND NOT coalesce(f.self_drawn, false) AS INTEGER) * coalesce(l.win_loss, 0) AS other_loss,
    coalesce(l.kong_gain, 0) AS kong_gain,
    coalesce(l.kong_loss, 0) AS kong_loss,
    coalesce(l.draw_gain, 0) AS draw_gain,
    coalesce(l.draw_loss, 0) AS draw_loss,
    coalesce(l.fee, 0) AS fee,
    seats.points,
    CAST(CASE WHEN rounds."end" <> 'aborted' THEN seats.pungs ELSE 0 END + coalesce(k.exposed, 0) > 0 AS INTEGER) AS called,
    CAST(CASE WHEN rounds."end" <> 'aborted' THEN seats.pungs ELSE 0 END AS INTEGER) AS pungs,
    CAST(k.n IS NOT NULL AS INTEGER) AS konged,
    coalesce(k.exposed, 0) AS exposed_kongs,
    coalesce(k.added, 0) AS added_kongs,
    coalesce(k.concealed, 0) AS concealed_kongs,
    CAST(v.seat IS NOT NULL AS INTEGER) AS reveals,
    CAST(coalesce(v."order" = 1, false) AS INTEGER) AS first_reveals,
    CAST(coalesce(v."order" > 1, false) AS INTEGER) AS chasing_reveals,
    CAST(coalesce(v."order" = 1 AND o.reveals > 1, false) AS INTEGER) AS chased_reveals,
    coalesce(v.turn, 0) AS reveal_turns,
    coalesce(v.live, 0) AS reveal_live,
    CAST(v.seat IS NOT NULL AND seats.won AS INTEGER) AS reveal_wins,
    CAST(v.seat IS NOT NULL AND seats.self_drew AS INTEGER) AS reveal_self_draws,
    CAST(v.seat IS NOT NULL AND seats.dealt_in AS INTEGER) AS reveal_deal_ins,
    CAST(v.seat IS NOT NULL AND rounds."end" = 'draw' AS INTEGER) AS reveal_exhausted,
    CAST(v.seat IS NOT NULL AS INTEGER) * seats.points AS reveal_points,
    CAST(coalesce(v."order" = 1, false) AS INTEGER) * seats.points AS first_reveal_points,
    CAST(coalesce(v."order" > 1, false) AS INTEGER) * seats.points AS chasing_reveal_points,
    CAST(coalesce(v."order" = 1 AND o.reveals > 1, false) AS INTEGER) * seats.points AS chased_reveal_points,
    CAST(v.seat IS NOT NULL AND rounds."end" = 'draw' AS INTEGER) * coalesce(l.draw_loss, 0) AS reveal_draw_loss,
    CAST(v.seat IS NULL AND rounds."end" <> 'aborted' AS INTEGER) AS unrevealed,
    CAST(v.seat IS NULL AND rounds."end" <> 'aborted' AS INTEGER) * seats.points AS unrevealed_points,
    CAST(h.seat IS NOT NULL AS INTEGER) AS hands,
    CAST(coalesce(h.start_tiles = 13, false) AS INTEGER) AS hands_of_13,
    CASE WHEN h.start_tiles = 13 THEN CAST(h.start_shanten AS INTEGER) ELSE 0 END AS start_shanten_of_13,
    CAST(coalesce(h.start_tiles = 14, false) AS INTEGER) AS hands_of_14,
    CASE WHEN h.start_tiles = 14 THEN CAST(h.start_shanten AS INTEGER) ELSE 0 END AS start_shanten_of_14,
    CAST(h.ready_turn IS NOT NULL AS INTEGER) AS ready,
    CAST(coalesce(h.ready_turn, 0) AS INTEGER) AS ready_turns,
    CAST(coalesce(h.ready_live_own, 0) AS INTEGER) AS ready_live,
    CAST(h.ready_turn IS NOT NULL AND seats.won AS INTEGER) AS ready_wins,
    CAST(h.seat IS NOT NULL AND seats.dealt_in AS INTEGER) AS hands_dealt_in,
    CAST(coalesce(h.dealt_in_ready, false) AS INTEGER) AS dealt_in_ready,
    CAST(coalesce(h.wins_offered, 0) AS INTEGER) AS wins_offered,
    CAST(coalesce(h.wins_missed, 0) AS INTEGER) AS wins_missed,
    CAST(coalesce(h.kongs_offered, 0) AS INTEGER) AS kongs_offered,
    CAST(coalesce(h.kongs_declined, 0) AS INTEGER) AS kongs_declined,
    CAST(coalesce(h.pungs_offered, 0) AS INTEGER) AS pungs_offered,
    CAST(coalesce(h.pungs_declined, 0) AS INTEGER) AS pungs_declined,
    CAST(coalesce(h.discards_into_revealed, 0) AS INTEGER) AS discards_into_revealed,
    CAST(coalesce(h.dangerous_discards, 0) AS INTEGER) AS dangerous_discards,
    CAST(coalesce(h.careless_discards, 0) AS INTEGER) AS careless_discards,
    CAST(coalesce(h.draws, 0) AS INTEGER) AS draws,
    CAST(coalesce(h.useful_draws, 0) AS INTEGER) AS useful_draws,
    CAST(coalesce(h.useful_draws - h.useful_expected, 0) * 67108864 AS BIGINT) AS useful_luck,
    CAST(coalesce(h.ready_draws, 0) AS INTEGER) AS ready_draws,
    CAST(coalesce(h.ready_hits, 0) AS INTEGER) AS ready_hits,
    CAST(coalesce(h.ready_hits - h.ready_expected, 0) * 67108864 AS BIGINT) AS ready_luck,
    CAST(coalesce(h.draws_behind, 0) AS INTEGER) AS replacements,
    CAST(coalesce(h.replacement_hits, 0) AS INTEGER) AS replacement_hits,
    CAST(coalesce(h.replacement_hits - h.replacement_expected, 0) * 67108864 AS BIGINT) AS replacement_luck,
    CAST(h.seat IS NOT NULL AND rounds.base > 0 AS INTEGER) AS lucked,
    CAST(CASE WHEN rounds.base > 0 THEN coalesce(h.tiles_worth, 0) ELSE 0 END AS INTEGER) AS luck,
    CASE
        WHEN h.seat IS NOT NULL AND rounds.base > 0
            THEN CAST(round(1000000 * (seats.points / rounds.base)) AS BIGINT) - h.tiles_worth
        ELSE 0
    END AS adjusted
FROM seats
JOIN rounds ON rounds.round_id = seats.round_id
LEFT JOIN wins AS w ON w.round_id = seats.round_id AND w.seat = seats.seat
LEFT JOIN (
    SELECT
        round_id,
        from_seat AS seat,
        bool_or((seat - from_seat + 3) % 3 = 1) AS next,
        bool_or((seat - from_seat + 3) % 3 = 2) AS previous,
        bool_or("by" = 'rob_kong') AS robbed,
        bool_or(revealed) AS revealed
    FROM wins
    WHERE from_seat IS NOT NULL
    GROUP BY round_id, from_seat
) AS p ON p.round_id = seats.round_id AND p.seat = seats.seat
LEFT JOIN (SELECT round_id, true AS self_drawn FROM wins WHERE "by" = 'self_draw') AS f ON f.round_id = seats.round_id
LEFT JOIN (
    SELECT
        round_id,
        seat,
        CAST(sum(-points) FILTER (points < 0 AND cause IN ('win', 'piao', 'horse', 'kan', 'run_touch_eight')) AS BIGINT)
            AS win_loss,
        CAST(sum(points) FILTER (points > 0 AND starts_with(cause, 'kong_')) AS BIGINT) AS kong_gain,
        CAST(sum(-points) FILTER (points < 0 AND starts_with(cause, 'kong_')) AS BIGINT) AS kong_loss,
        CAST(sum(points) FILTER (points > 0 AND cause IN ('draw', 'no_safe_tile')) AS BIGINT) AS draw_gain,
        CAST(sum(-points) FILTER (points < 0 AND cause IN ('draw', 'no_safe_tile')) AS BIGINT) AS draw_loss,
        CAST(sum(-points) FILTER (cause = 'fee') AS BIGINT) AS fee
    FROM (
        SELECT round_id, from_seat AS seat, cause, -points AS points FROM ledger
        UNION ALL
        SELECT round_id, to_seat AS seat, cause, points FROM ledger WHERE to_seat IS NOT NULL
    )
    GROUP BY round_id, seat
) AS l ON l.round_id = seats.round_id AND l.seat = seats.seat
LEFT JOIN (
    SELECT
        round_id,
        seat,
        count(*) AS n,
        count(*) FILTER (kind = 'exposed') AS exposed,
        count(*) FILTER (kind = 'added') AS added,
        count(*) FILTER (kind = 'concealed') AS concealed
    FROM kongs
    WHERE NOT robbed
    GROUP BY round_id, seat
) AS k ON k.round_id = seats.round_id AND k.seat = seats.seat AND rounds."end" <> 'aborted'
LEFT JOIN reveals AS v ON v.round_id = seats.round_id AND v.seat = seats.seat AND rounds."end" <> 'aborted'
LEFT JOIN (SELECT round_id, count(*) AS reveals FROM reveals GROUP BY round_id) AS o ON o.round_id = seats.round_id
LEFT JOIN facts AS h ON h.round_id = seats.round_id AND h.seat = seats.seat AND rounds."end" <> 'aborted'
WHERE rounds."end" IS NOT NULL
ORDER BY rounds.round_id, seats.seat
