-- Grain: one row per ruleset and kind of win (self_draw, discard, rob_kong).
-- Units: wins counted; multiple_sum in multiples, points in the stake's unit; share 0-1 of the ruleset's n wins.
SELECT
    ruleset,
    "by",
    count(*) AS wins,
    count(*) FILTER (wins.revealed) AS revealed,
    CAST(coalesce(sum(wins.multiple), 0) AS BIGINT) AS multiple_sum,
    CAST(coalesce(sum(wins.points), 0) AS BIGINT) AS points,
    CAST(sum(count(*)) OVER (PARTITION BY ruleset) AS BIGINT) AS n,
    count(*) / nullif(sum(count(*)) OVER (PARTITION BY ruleset), 0) AS share
FROM wins
JOIN rounds USING (round_id)
GROUP BY ruleset, "by"
ORDER BY ruleset, "by"
