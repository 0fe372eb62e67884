-- Grain: one row per ruleset and fan of the hand that any hand came near to, over rounds with facts that were not aborted.
-- Units: n, near, aimed, ready, won in seats (one seat of one round); means and the error in base stakes a round.
SELECT
    ruleset,
    fan,
    n,
    near,
    aimed,
    ready,
    won,
    aimed_sum / nullif(aimed, 0) AS aimed_mean,
    sqrt(greatest(aimed_squares - aimed_sum * aimed_sum / nullif(aimed, 0), 0) / nullif(aimed - 1, 0) / aimed)
        AS aimed_error,
    ready_sum / nullif(ready, 0) AS ready_mean,
    won_sum / nullif(won, 0) AS won_mean,
    (all_sum - aimed_sum) / nullif(n - aimed, 0) AS other_mean
FROM (
    SELECT
        ruleset,
        fan,
        CAST(sum(near) AS BIGINT) AS near,
        CAST(sum(aimed) AS BIGINT) AS aimed,
        CAST(sum(ready) AS BIGINT) AS ready,
        CAST(sum(won) AS BIGINT) AS won,
        list_sum(list(aimed_points / nullif(base, 0) ORDER BY base)) AS aimed_sum,
        list_sum(list(aimed_squares / nullif(base, 0) / base ORDER BY base)) AS aimed_squares,
        list_sum(list(ready_points / nullif(base, 0) ORDER BY base)) AS ready_sum,
        list_sum(list(won_points / nullif(base, 0) ORDER BY base)) AS won_sum
    FROM (
        SELECT
            rounds.ruleset,
            rounds.base,
            aims.fan,
            count(*) AS near,
            count(aims.aimed_turn) AS aimed,
            count(aims.ready_turn) AS ready,
            count(*) FILTER (aims.won) AS won,
            coalesce(sum(seats.points) FILTER (aims.aimed_turn IS NOT NULL), 0) AS aimed_points,
            coalesce(sum(CAST(seats.points AS HUGEINT) * seats.points) FILTER (aims.aimed_turn IS NOT NULL), 0)
                AS aimed_squares,
            coalesce(sum(seats.points) FILTER (aims.ready_turn IS NOT NULL), 0) AS ready_points,
            coalesce(sum(seats.points) FILTER (aims.won), 0) AS won_points
        FROM aims
        JOIN rounds USING (round_id)
        JOIN seats USING (round_id, seat)
        WHERE rounds."end" <> 'aborted'
        GROUP BY ALL
    )
    GROUP BY ruleset, fan
)
JOIN (
    SELECT
        ruleset,
        CAST(sum(n) AS BIGINT) AS n,
        list_sum(list(points / nullif(base, 0) ORDER BY base)) AS all_sum
    FROM (
        SELECT rounds.ruleset, rounds.base, count(*) AS n, sum(seats.points) AS points
        FROM facts
        JOIN rounds USING (round_id)
        JOIN seats USING (round_id, seat)
        WHERE rounds."end" <> 'aborted'
        GROUP BY ALL
    )
    GROUP BY ruleset
) USING (ruleset)
ORDER BY ruleset, fan
