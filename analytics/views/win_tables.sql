-- Grain: one row per win, as in win_rounds, but for the account, whose join costs most where nobody asks for it.
-- Units: multiple without payers' factors; points from all payers; position: seats after the dealer, 0 the dealer.
SELECT
    wins.round_id,
    wins.win_no,
    rounds.game_key,
    rounds.site,
    rounds.ruleset,
    rounds.options,
    rounds.base,
    CAST(make_timestamp(rounds.time_ms * 1000) AS DATE) AS day,
    wins.seat,
    CAST((wins.seat - rounds.dealer + 3) % 3 AS TINYINT) AS position,
    wins."by",
    wins.fans,
    wins.multiple,
    wins.points
FROM wins
JOIN rounds ON rounds.round_id = wins.round_id
WHERE rounds."end" IS NOT NULL
ORDER BY wins.round_id, wins.win_no
