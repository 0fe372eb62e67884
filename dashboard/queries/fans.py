"""Fans: what they bring, which come together, what became of hands that aimed at them, a hand to look at for each."""

from typing import Any

import polars as pl

from analytics import fan_statistics
from analytics import pursuit as aims
from dashboard import data
from dashboard.dataset import ask, select

Where = dict[str, Any]


def fans(where: Where) -> pl.DataFrame:
    """As fan_statistics.fans over all that the filters leave."""
    return ask(fan_statistics.overview, where)["fans"]


def by_ruleset(where: Where) -> pl.DataFrame:
    """As fan_statistics.fans, split by ruleset."""
    return ask(fan_statistics.overview, where)["by_ruleset"]


def together(where: Where) -> pl.DataFrame:
    """As fan_statistics.together."""
    return ask(fan_statistics.overview, where)["together"]


def multiples(where: Where) -> pl.DataFrame:
    """One row per multiple: wins, capped (those that their table's cap cut or just reached), n, share."""
    frame = ask(fan_statistics.overview, where)["multiples"]
    if not frame.height:
        return pl.DataFrame(schema={"multiple": pl.Int64, "wins": pl.Int64, "capped": pl.Int64, "n": pl.Int64})
    return (
        frame.group_by("multiple")
        .agg(pl.col("wins").sum(), pl.col("wins").filter("capped").sum().alias("capped"), pl.col("n").first())
        .with_columns(share=pl.col("wins") / pl.col("n"))
        .sort("multiple")
    )


def pursuit(where: Where) -> pl.DataFrame:
    """As pursuit.pursuit: hands that came near to each fan, most aimed at first."""
    return ask(aims.pursuit, (), where)


def examples(where: Where) -> pl.DataFrame:
    """One win per fan, what is needed to draw its hand: fan, id, event, seat, tile, hand, and of its round."""
    frame = ask(fan_statistics.overview, where)["examples"]
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
