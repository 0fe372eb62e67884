-- Grain: one row per win, largest points first.
-- Units: multiple without payers' factors; points from all payers of this win; hand: concealed kinds at the end.
SELECT
    concat_ws('/', url_encode(coalesce(rounds.site, '')), url_encode(rounds.game), CAST(rounds.round AS VARCHAR)) AS id,
    wins.round_id,
    wins.win_no,
    rounds.site,
    rounds.ruleset,
    rounds.suits,
    rounds.time_ms,
    rounds.base,
    rounds.verdict,
    seats.player,
    wins.seat,
    wins.from_seat,
    wins.tile,
    wins."by",
    wins.event,
    wins.fans,
    wins.revealed,
    seats.hand,
    wins.multiple,
    wins.points
FROM wins
JOIN rounds USING (round_id)
JOIN seats ON seats.round_id = wins.round_id AND seats.seat = wins.seat
ORDER BY wins.points DESC NULLS LAST, wins.multiple DESC NULLS LAST, wins.round_id, wins.win_no
