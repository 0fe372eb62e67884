"""Fans: what they bring, which come together, what became of hands that aimed at them, a hand to look at for each."""

from typing import Any

import polars as pl

from analytics import fan_statistics, selection
from dashboard import data
from dashboard.dataset import ask, select

MOST = 60_000  # rounds whose aims are counted
Where = dict[str, Any]


def fans(where: Where) -> pl.DataFrame:
    """As fan_statistics.fans over all that the filters leave."""
    return ask(fan_statistics.fans, (), where)


def by_ruleset(where: Where) -> pl.DataFrame:
    """As fan_statistics.fans, split by ruleset."""
    return ask(fan_statistics.fans, ("ruleset",), where)


def together(where: Where) -> pl.DataFrame:
    """As fan_statistics.together."""
    return ask(fan_statistics.together, (), where)


def multiples(where: Where) -> pl.DataFrame:
    """One row per multiple: wins, capped (those that their table's cap cut or just reached), n, share."""
    frame = ask(fan_statistics.multiples, (), where)
    if not frame.height:
        return pl.DataFrame(schema={"multiple": pl.Int64, "wins": pl.Int64, "capped": pl.Int64, "n": pl.Int64})
    return (
        frame.group_by("multiple")
        .agg(pl.col("wins").sum(), pl.col("wins").filter("capped").sum().alias("capped"), pl.col("n").first())
        .with_columns(share=pl.col("wins") / pl.col("n"))
        .sort("multiple")
    )


def pursuit(where: Where) -> pl.DataFrame:
    """Hands that came near to a fan, of about MOST rounds at most, most aimed at first.

    fan; near (it was two steps away or fewer), aimed, ready for it, won with it: seats of rounds; n: all of them;
    result of those that aimed, with low and high, and of the others, both in base stakes a round.
    """
    upto = ask(selection.sample, MOST)
    sql, values = data.Filter(**where).where()
    sampled = "true" if upto is None else f"r.round_id <= CAST({upto} AS UBIGINT)"
    return select(
        f"""
        WITH seat AS MATERIALIZED (
            SELECT round_id, seat, s.points / r.base AS net
            FROM rounds AS r JOIN seats AS s USING (round_id)
            WHERE r.base > 0 AND r."end" IS NOT NULL AND {sampled} AND ({sql})
                AND round_id IN (SELECT round_id FROM facts)
        )
        SELECT *, aimed_sum / nullif(aimed, 0) AS result,
            result - 1.96 * error AS low, result + 1.96 * error AS high,
            (all_sum - aimed_sum) / nullif(n - aimed, 0) AS other
        FROM (
            SELECT *, sqrt(greatest(squares - aimed_sum * aimed_sum / nullif(aimed, 0), 0) / nullif(aimed - 1, 0)
                / aimed) AS error
            FROM (
                SELECT fan, count(*) AS near, count(aimed_turn) AS aimed, count(ready_turn) AS ready,
                    count(*) FILTER (won) AS won,
                    round(coalesce(sum(net) FILTER (aimed_turn IS NOT NULL), 0), 6) AS aimed_sum,
                    round(coalesce(sum(net * net) FILTER (aimed_turn IS NOT NULL), 0), 6) AS squares
                FROM aims JOIN seat USING (round_id, seat) GROUP BY fan
            )
            CROSS JOIN (SELECT count(*) AS n, round(coalesce(sum(net), 0), 6) AS all_sum FROM seat)
        )
        WHERE near > 0 ORDER BY aimed DESC, near DESC, fan
        """,
        *values,
    )


def examples(where: Where) -> pl.DataFrame:
    """One win per fan, what is needed to draw its hand: fan, id, event, seat, tile, hand, and of its round."""
    frame = ask(fan_statistics.examples, where)
    rounds = ", ".join(str(key) for key in sorted(set(frame["round_id"].to_list()))) if frame.height else "0"
    found = select(
        f"""
        SELECT {data.ID} AS id, w.round_id, w.win_no, w.seat, w.tile, w.event, s.hand, r.suits, r.deal, r.events
        FROM (SELECT * FROM wins WHERE round_id IN ({rounds})) AS w
        JOIN (SELECT * FROM rounds WHERE round_id IN ({rounds})) AS r USING (round_id)
        JOIN (SELECT * FROM seats WHERE round_id IN ({rounds})) AS s ON s.round_id = w.round_id AND s.seat = w.seat
        ORDER BY w.round_id, w.win_no
        """
    )
    return frame.join(found, on=["round_id", "win_no"], how="inner", maintain_order="left")
