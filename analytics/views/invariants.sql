-- Grain: one row per invariant that tables must keep between them, over rounds with a recomputed end.
-- Units: broken: rounds that break it, of n rounds that it says something of; holds where broken is 0.
WITH
r AS (SELECT round_id, winners, multiple FROM rounds WHERE "end" IS NOT NULL),
s AS (
    SELECT
        round_id,
        sum(points) AS points,
        count(*) FILTER (won) AS won,
        count(*) FILTER (dealt_in) AS dealt_in,
        count(*) FILTER (self_drew) AS self_drew,
        count(*) FILTER (revealed) AS revealed,
        sum(kong_points) AS kong_points
    FROM seats
    GROUP BY round_id
),
w AS (
    SELECT
        round_id,
        count(*) AS wins,
        count(DISTINCT seat) AS winners,
        count(DISTINCT from_seat) AS payers,
        count(*) FILTER ("by" = 'self_draw') AS self_drawn,
        count(*) FILTER ("by" = 'rob_kong') AS robbed,
        max(multiple) AS multiple,
        sum(points) AS points,
        sum(len(fans)) AS fans
    FROM wins
    GROUP BY round_id
),
l AS (
    SELECT
        round_id,
        sum(points) FILTER (cause = 'fee') AS fee,
        sum(points) FILTER (cause IN ('win', 'piao', 'horse', 'kan', 'run_touch_eight')) AS won,
        count(*) FILTER (points <= 0) AS nothing,
        count(*) FILTER (to_seat IS NULL AND cause <> 'fee') AS nobody
    FROM ledger
    GROUP BY round_id
),
p AS (
    SELECT wins.round_id, count(*) FILTER (seats.dealt_in IS NOT TRUE OR wins.seat = wins.from_seat) AS wrong
    FROM wins
    LEFT JOIN seats ON seats.round_id = wins.round_id AND seats.seat = wins.from_seat
    WHERE wins.from_seat IS NOT NULL
    GROUP BY wins.round_id
),
n AS (
    SELECT seats.round_id, count(*) FILTER (seats.points <> coalesce(l.points, 0)) AS wrong
    FROM seats
    LEFT JOIN (
        SELECT round_id, seat, CAST(sum(points) AS BIGINT) AS points
        FROM (
            SELECT round_id, from_seat AS seat, -points AS points FROM ledger
            UNION ALL
            SELECT round_id, to_seat AS seat, points FROM ledger WHERE to_seat IS NOT NULL
        )
        GROUP BY round_id, seat
    ) AS l ON l.round_id = seats.round_id AND l.seat = seats.seat
    GROUP BY seats.round_id
),
k AS (
    SELECT
        wins.round_id,
        count(*) FILTER (kongs.seat IS NULL) AS wrong
    FROM wins
    LEFT JOIN kongs
        ON kongs.round_id = wins.round_id AND kongs.robbed AND kongs.kind = 'added'
        AND kongs.seat = wins.from_seat AND kongs.tile = wins.tile AND kongs.points = 0
    WHERE wins."by" = 'rob_kong'
    GROUP BY wins.round_id
),
g AS (
    SELECT round_id, count(*) FILTER (robbed) AS robbed, sum(CASE WHEN robbed THEN points ELSE 0 END) AS paid
    FROM kongs
    GROUP BY round_id
),
v AS (SELECT round_id, count(*) AS revealed, max("order") AS last FROM reveals GROUP BY round_id),
f AS (SELECT round_id, sum("count") AS fans FROM win_fans GROUP BY round_id),
one AS (
    SELECT
        r.winners,
        coalesce(w.wins, 0) AS wins,
        coalesce(w.robbed, 0) > 0 AS robbed,
        coalesce(v.revealed, 0) AS reveals,
        r.winners <> coalesce(w.wins, 0) OR coalesce(w.wins, 0) <> coalesce(w.winners, 0) OR s.won <> r.winners AS wins_broken,
        s.points <> -coalesce(l.fee, 0) AS points_broken,
        coalesce(n.wrong, 0) > 0 AS seats_broken,
        coalesce(l.nothing, 0) + coalesce(l.nobody, 0) > 0 AS ledger_broken,
        coalesce(w.points, 0) <> coalesce(l.won, 0) AS paid_broken,
        s.dealt_in <> coalesce(w.payers, 0) OR coalesce(p.wrong, 0) > 0 AS payers_broken,
        s.self_drew <> coalesce(w.self_drawn, 0) OR (coalesce(w.self_drawn, 0) > 0 AND w.wins > 1) AS drawn_broken,
        coalesce(k.wrong, 0) > 0 OR (coalesce(w.robbed, 0) > 0) <> (coalesce(g.robbed, 0) > 0) AS robbed_broken,
        r.multiple IS DISTINCT FROM w.multiple AS multiple_broken,
        coalesce(w.fans, 0) <> coalesce(f.fans, 0) AS fans_broken,
        s.kong_points <> 0 OR coalesce(g.paid, 0) <> 0 AS kongs_broken,
        s.revealed <> coalesce(v.revealed, 0) OR coalesce(v.last, 0) <> coalesce(v.revealed, 0) AS reveals_broken
    FROM r
    JOIN s USING (round_id)
    LEFT JOIN w USING (round_id)
    LEFT JOIN l USING (round_id)
    LEFT JOIN p USING (round_id)
    LEFT JOIN n USING (round_id)
    LEFT JOIN k USING (round_id)
    LEFT JOIN g USING (round_id)
    LEFT JOIN v USING (round_id)
    LEFT JOIN f USING (round_id)
)
SELECT
    name,
    broken = 0 AS holds,
    broken,
    n
FROM (
    SELECT 1 AS place, 'points_sum_to_the_fee' AS name, count(*) FILTER (points_broken) AS broken, count(*) AS n FROM one
    UNION ALL
    SELECT 2, 'points_are_the_ledger', count(*) FILTER (seats_broken), count(*) FROM one
    UNION ALL
    SELECT 3, 'payments_have_both_ends', count(*) FILTER (ledger_broken), count(*) FROM one
    UNION ALL
    SELECT 4, 'wins_are_the_winners', count(*) FILTER (wins_broken), count(*) FROM one
    UNION ALL
    SELECT 5, 'double_win_once_per_winner', count(*) FILTER (wins_broken AND winners > 1), count(*) FILTER (winners > 1)
    FROM one
    UNION ALL
    SELECT 6, 'double_win_has_one_payer', count(*) FILTER (payers_broken AND winners > 1), count(*) FILTER (winners > 1)
    FROM one
    UNION ALL
    SELECT 7, 'wins_are_paid', count(*) FILTER (paid_broken), count(*) FILTER (wins > 0) FROM one
    UNION ALL
    SELECT 8, 'deal_ins_are_the_payers', count(*) FILTER (payers_broken), count(*) FILTER (wins > 0) FROM one
    UNION ALL
    SELECT 9, 'self_draws_are_alone', count(*) FILTER (drawn_broken), count(*) FILTER (wins > 0) FROM one
    UNION ALL
    SELECT 10, 'robbed_kong_pays_the_konger', count(*) FILTER (robbed_broken), count(*) FILTER (robbed) FROM one
    UNION ALL
    SELECT 11, 'multiple_is_the_largest', count(*) FILTER (multiple_broken), count(*) FROM one
    UNION ALL
    SELECT 12, 'fans_are_listed', count(*) FILTER (fans_broken), count(*) FILTER (wins > 0) FROM one
    UNION ALL
    SELECT 13, 'kongs_sum_to_zero', count(*) FILTER (kongs_broken), count(*) FROM one
    UNION ALL
    SELECT 14, 'reveals_are_in_order', count(*) FILTER (reveals_broken), count(*) FILTER (reveals > 0) FROM one
)
ORDER BY place
