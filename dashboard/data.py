"""The queries of the dashboard: its only SQL besides the views of the data set.

Answers are polars frames in a stated order; points are integers; shares carry their n.
"""

from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl

from dashboard.dataset import select
from dashboard.queries import behind

PAGE_ROWS = 25
SORTS = {
    "log": "r.site NULLS FIRST, r.game, r.round",
    "newest": "r.time_ms DESC NULLS LAST, r.site NULLS FIRST, r.game, r.round",
    "multiple": "r.multiple DESC NULLS LAST, r.site NULLS FIRST, r.game, r.round",
    "mispaid": "r.mispaid DESC NULLS LAST, r.site NULLS FIRST, r.game, r.round",
}
ID = "concat_ws('/', url_encode(coalesce(r.site, '')), url_encode(r.game), CAST(r.round AS VARCHAR))"


@dataclass(frozen=True)
class Filter:
    """Which rounds to list; every field that is empty lets all through.  Days are UTC, both ends included."""

    player: str | None = None
    fans: tuple[str, ...] = ()  # every one of them, in the round's wins together
    multiple: int | None = None  # at least
    reveal: bool = False
    double: bool = False
    code: str | None = None  # of a problem
    verdict: str | None = None
    ruleset: str | None = None
    site: str | None = None
    since: date | None = None
    until: date | None = None
    sort: str = "log"
    behind: str | None = None  # what of a picture they stand behind (queries.behind)

    def __bool__(self) -> bool:
        """Whether anything is filtered out."""
        return any(getattr(self, field.name) for field in fields(self) if field.name != "sort")

    def where(self) -> tuple[str, list[Any]]:
        """The SQL condition on `rounds AS r` and its parameters."""
        parts: list[tuple[str, list[Any]]] = []
        if self.player:
            parts.append(("r.round_id IN (SELECT round_id FROM seats WHERE player = ?)", [self.player]))
        for fan in self.fans:
            parts.append(("r.round_id IN (SELECT round_id FROM win_fans WHERE fan = ?)", [fan]))
        if self.multiple:
            parts.append(("r.multiple >= ?", [self.multiple]))
        if self.reveal:
            parts.append(("r.round_id IN (SELECT round_id FROM reveals)", []))
        if self.double:
            parts.append(("r.winners > 1", []))
        if self.code:
            parts.append(("r.round_id IN (SELECT round_id FROM problems WHERE code = ?)", [self.code]))
        if self.behind:
            parts.append(behind.condition(self.behind, self.player))
        for column in ("verdict", "ruleset", "site"):
            if getattr(self, column):
                parts.append((f"r.{column} = ?", [getattr(self, column)]))
        if self.since:
            parts.append(("r.time_ms >= ?", [_milliseconds(self.since)]))
        if self.until:
            parts.append(("r.time_ms < ?", [_milliseconds(self.until + timedelta(days=1))]))
        return " AND ".join(sql for sql, _ in parts) or "true", [value for _, values in parts for value in values]


def _milliseconds(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)


# Overview


def overview() -> dict[str, Any]:
    """The one row of view `overview`."""
    return select("SELECT * FROM overview").row(0, named=True)


def rulesets() -> list[str]:
    """Ids of the rulesets played, sorted."""
    return select("SELECT DISTINCT ruleset FROM rounds ORDER BY ruleset")["ruleset"].to_list()


def rounds_by_ruleset() -> pl.DataFrame:
    """ruleset, rounds; most first."""
    return select("SELECT ruleset, count(*) AS rounds FROM rounds GROUP BY ruleset ORDER BY rounds DESC, ruleset")


def verdicts() -> pl.DataFrame:
    """One row per ruleset: rounds by verdict."""
    return select("SELECT * FROM verdicts ORDER BY ruleset")


def ends(ruleset: str | None) -> pl.DataFrame:
    """How rounds end: end (a win by its kind, rounds counted once), rounds, share, n; most frequent first."""
    return select(
        """
        SELECT how AS "end", count(*) AS rounds, sum(count(*)) OVER ()::BIGINT AS n,
            count(*) / sum(count(*)) OVER () AS share
        FROM (
            SELECT coalesce(CASE WHEN r."end" = 'win' THEN w."by" END, r."end", 'unknown') AS how
            FROM rounds AS r LEFT JOIN wins AS w ON w.round_id = r.round_id AND w.win_no = 0
            WHERE coalesce(r.ruleset = ?, true)
        )
        GROUP BY how ORDER BY rounds DESC, how
        """,
        ruleset,
    )


def dealer(ruleset: str | None) -> pl.DataFrame:
    """Dealer against others: statistic, role, k of n seats, rate with its 95 % Wilson interval (low, high)."""
    return select(
        """
        SELECT statistic, role, k, n, k / n AS rate,
            greatest(0, (k + 1.9207 - 1.96 * sqrt(k * (n - k) / n + 0.9604)) / (n + 3.8416)) AS low,
            least(1, (k + 1.9207 + 1.96 * sqrt(k * (n - k) / n + 0.9604)) / (n + 3.8416)) AS high
        FROM (
            SELECT statistic, role, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n
            FROM dealer_against_others WHERE coalesce(ruleset = ?, true) GROUP BY statistic, role
        )
        WHERE n > 0 ORDER BY statistic, role
        """,
        ruleset,
    )


def days(ruleset: str | None) -> pl.DataFrame:
    """Per UTC day with a time: rounds; moved and mispaid in base stakes, which tables of any stake share."""
    return select(
        """
        WITH r AS (
            SELECT round_id, mispaid, base, CAST(make_timestamp(time_ms * 1000) AS DATE) AS day
            FROM rounds WHERE time_ms IS NOT NULL AND base > 0 AND coalesce(ruleset = ?, true)
        )
        SELECT day, count(*) AS rounds, coalesce(any_value(moved), 0) AS moved,
            coalesce(round(sum(mispaid / base), 2), 0) AS mispaid
        FROM r LEFT JOIN (
            SELECT day, round(sum(points / base), 2) AS moved
            FROM seats JOIN r USING (round_id) WHERE points > 0 GROUP BY day
        ) USING (day)
        GROUP BY day ORDER BY day
        """,
        ruleset,
    )


def largest_wins(ruleset: str | None, count: int) -> pl.DataFrame:
    """The wins of the largest multiple, then points: facts of the win, and what of its round draws the hand."""
    return select(
        f"""
        WITH top AS MATERIALIZED (
            SELECT * FROM wins
            WHERE ?::VARCHAR IS NULL OR round_id IN (SELECT round_id FROM rounds WHERE ruleset = ?)
            ORDER BY multiple DESC NULLS LAST, points DESC NULLS LAST, round_id, win_no LIMIT ?
        )
        SELECT {ID} AS id, top.seat, top.tile, top.event, top.fans, top.multiple, top.points, s.player, s.hand,
            r.ruleset, r.suits, r.time_ms, r.deal, r.events
        FROM top
        JOIN (SELECT * FROM rounds WHERE round_id IN (SELECT round_id FROM top)) AS r USING (round_id)
        JOIN (SELECT * FROM seats WHERE round_id IN (SELECT round_id FROM top)) AS s
            ON s.round_id = top.round_id AND s.seat = top.seat
        ORDER BY top.multiple DESC NULLS LAST, top.points DESC NULLS LAST, top.round_id, top.win_no
        """,
        ruleset,
        ruleset,
        count,
    )


# Rounds


def players() -> list[str]:
    """The accounts with most rounds, up to 1000, for suggestions."""
    answer = select(
        "SELECT player FROM seats WHERE player <> '' GROUP BY player ORDER BY count(*) DESC, player LIMIT 1000"
    )
    return answer["player"].to_list()


def choices(column: str) -> list[str]:
    """The values there are to filter on: column "site", "fan", "code", "verdict" or "ruleset"; sorted."""
    table = {"fan": "win_fans", "code": "problems"}.get(column, "rounds")
    answer = select(f"SELECT DISTINCT {column} AS v FROM {table} WHERE {column} IS NOT NULL ORDER BY v")
    return answer["v"].to_list()


def count_rounds(chosen: Filter) -> int:
    """How many rounds fit."""
    where, values = chosen.where()
    return select(f"SELECT count(*) AS n FROM rounds AS r WHERE {where}", *values)["n"][0]


def list_rounds(chosen: Filter, offset: int, limit: int = PAGE_ROWS) -> pl.DataFrame:
    """One page of rounds: id, facts, and lists of players and points by seat, wins (structs by win_no), codes, event.

    event: of the first problem (of the code that is filtered on), None where it is the whole round.
    """
    where, values = chosen.where()
    return select(
        f"""
        WITH place AS MATERIALIZED (
            SELECT round_id, row_number() OVER (ORDER BY {SORTS[chosen.sort]}) AS place
            FROM (SELECT * FROM rounds AS r WHERE {where} ORDER BY {SORTS[chosen.sort]} LIMIT ? OFFSET ?) AS r
        ),
        page AS MATERIALIZED (
            SELECT {ID} AS id, r.* FROM rounds AS r WHERE round_id IN (SELECT round_id FROM place)
        ),
        seat AS MATERIALIZED (
            SELECT round_id, seat, player, points, hand FROM seats WHERE round_id IN (SELECT round_id FROM place)
        ),
        win AS MATERIALIZED (SELECT * FROM wins WHERE round_id IN (SELECT round_id FROM place))
        SELECT id, time_ms, ruleset, suits, "end", verdict, deal, events, s.players, s.points, w.wins, p.codes, p.event
        FROM place
        JOIN page USING (round_id)
        LEFT JOIN (
            SELECT round_id, list(player ORDER BY seat) AS players, list(points ORDER BY seat) AS points
            FROM seat GROUP BY round_id
        ) AS s USING (round_id)
        LEFT JOIN (
            SELECT round_id, list(
                {{'seat': seat, 'tile': tile, 'multiple': multiple, 'fans': fans, 'hand': hand}}
                ORDER BY win_no) AS wins
            FROM win JOIN seat USING (round_id, seat) GROUP BY round_id
        ) AS w USING (round_id)
        LEFT JOIN (
            SELECT round_id, list(DISTINCT code ORDER BY code) AS codes,
                min(event) FILTER (coalesce(code = ?, true)) AS event
            FROM problems WHERE round_id IN (SELECT round_id FROM place) GROUP BY round_id
        ) AS p USING (round_id)
        ORDER BY place.place
        """,
        *values,
        limit,
        offset,
        chosen.code,
    )


def neighbours(game_key: int, number: int) -> tuple[str | None, str | None]:
    """Ids of the rounds before and after in the same game."""
    found: list[str | None] = []
    for sign, order in (("<", "DESC"), (">", "ASC")):
        rows = select(
            f"SELECT {ID} AS id FROM rounds AS r WHERE game_key = ? AND round {sign} ? "
            f"ORDER BY round {order}, round_id LIMIT 1",
            game_key,
            number,
        )
        found.append(rows["id"][0] if rows.height else None)
    return found[0], found[1]


# Payouts


def payout_counts() -> dict[str, Any]:
    """Rounds compared, mispaid, with a mismatch, with one that a single rule change explains; points mispaid."""
    return select(
        """
        SELECT count(mispaid) AS compared, count(*) FILTER (mispaid > 0) AS mispaid_rounds,
            coalesce(sum(mispaid), 0)::BIGINT AS mispaid,
            (SELECT count(DISTINCT round_id) FROM problems WHERE kind = 'mismatch') AS mismatch_rounds,
            (SELECT count(DISTINCT round_id) FROM problems
                WHERE kind = 'mismatch' AND len(explained_by) > 0) AS explained
        FROM rounds
        """
    ).row(0, named=True)


def count_mispaid() -> int:
    """Rounds whose recorded points differ from the recomputed ones."""
    return select("SELECT count(*) AS n FROM rounds WHERE mispaid > 0")["n"][0]


def list_mispaid(offset: int, limit: int = PAGE_ROWS) -> pl.DataFrame:
    """Mispaid rounds, most first: id, facts, lists by seat (players, recorded, points), codes, explained_by, event."""
    return select(
        f"""
        WITH page AS MATERIALIZED (
            SELECT {ID} AS id, round_id, ruleset, time_ms, mispaid
            FROM rounds AS r WHERE mispaid > 0 ORDER BY {SORTS["mispaid"]} LIMIT ? OFFSET ?
        )
        SELECT page.*, s.players, s.recorded, s.points, p.codes, p.explained_by, p.event
        FROM page
        LEFT JOIN (
            SELECT round_id, list(player ORDER BY seat) AS players, list(points ORDER BY seat) AS points,
                list(recorded_points ORDER BY seat) AS recorded
            FROM seats WHERE round_id IN (SELECT round_id FROM page) GROUP BY round_id
        ) AS s USING (round_id)
        LEFT JOIN (
            SELECT round_id, list(DISTINCT code ORDER BY code) AS codes, min(event) AS event,
                list_sort(list_distinct(flatten(list(explained_by)))) AS explained_by
            FROM problems WHERE kind = 'mismatch' AND round_id IN (SELECT round_id FROM page) GROUP BY round_id
        ) AS p USING (round_id)
        ORDER BY mispaid DESC, id
        """,
        limit,
        offset,
    )


def mispaid_by(what: str) -> pl.DataFrame:
    """Mispaid rounds by "code", "site", "build" (ruleset and digest) or "change": label, rounds, mispaid."""
    sources = {
        "code": "SELECT DISTINCT p.code AS label, round_id FROM problems AS p WHERE kind = 'mismatch'",
        "site": "SELECT coalesce(site, '') AS label, round_id FROM rounds WHERE mispaid > 0",
        "build": "SELECT concat_ws(' ', ruleset, ruleset_digest) AS label, round_id FROM rounds WHERE mispaid > 0",
        "change": "SELECT DISTINCT unnest(explained_by) AS label, round_id FROM problems WHERE kind = 'mismatch'",
    }
    return select(
        f"""
        SELECT label, count(*) AS rounds, coalesce(sum(mispaid), 0)::BIGINT AS mispaid
        FROM ({sources[what]}) JOIN rounds USING (round_id) GROUP BY label ORDER BY rounds DESC, label
        """
    )


def mispaid_accounts(limit: int) -> pl.DataFrame:
    """Accounts by points got too much (+) or too little (−): player, site, rounds mispaid, difference, n rounds."""
    return select(
        """
        WITH top AS MATERIALIZED (
            SELECT s.player, r.site, count(*) AS rounds, sum(s.recorded_points - s.points)::BIGINT AS difference
            FROM (SELECT * FROM seats WHERE recorded_points <> points) AS s
            JOIN (SELECT round_id, site FROM rounds WHERE mispaid > 0) AS r USING (round_id)
            GROUP BY s.player, r.site
            ORDER BY abs(sum(s.recorded_points - s.points)) DESC, s.player, r.site LIMIT ?
        )
        SELECT top.*, (
            SELECT count(*) FROM seats JOIN rounds USING (round_id)
            WHERE seats.player = top.player AND rounds.site IS NOT DISTINCT FROM top.site
                AND seats.recorded_points IS NOT NULL
        ) AS n
        FROM top ORDER BY abs(difference) DESC, player, site
        """,
        limit,
    )


# Data quality


def funnel() -> dict[str, int]:
    """Count of each stage of view `funnel`."""
    return dict(select("SELECT stage, n FROM funnel ORDER BY step").iter_rows())


def rejects_by_code() -> pl.DataFrame:
    """code, rejects; most first."""
    return select(
        "SELECT code, sum(rejects)::BIGINT AS rejects FROM rejects_by_code GROUP BY code ORDER BY 2 DESC, code"
    )


def count_rejects(code: str | None) -> int:
    """Rejected records, of one code or all."""
    return select("SELECT count(*) AS n FROM rejects WHERE coalesce(code = ?, true)", code)["n"][0]


def list_rejects(code: str | None, offset: int, limit: int = PAGE_ROWS) -> pl.DataFrame:
    """One page of rejects in the order of source and record; `head` is the start of the raw record."""
    return select(
        """
        SELECT source, sha256, record, line, code, field, message, left(raw, 160) AS head
        FROM rejects WHERE coalesce(code = ?, true) ORDER BY source, sha256, record LIMIT ? OFFSET ?
        """,
        code,
        limit,
        offset,
    )


def reject(source: str, sha256: str | None, record: int) -> dict[str, Any] | None:
    """One reject with its raw record; None when there is none."""
    rows = select(
        "SELECT * FROM rejects WHERE source = ? AND record = ? AND sha256 IS NOT DISTINCT FROM ? LIMIT 1",
        source,
        record,
        sha256,
    )
    return rows.row(0, named=True) if rows.height else None


def problems_by_code() -> pl.DataFrame:
    """kind, code, problems, rounds, explained; most rounds first."""
    return select(
        """
        SELECT kind, code, sum(problems)::BIGINT AS problems, sum(rounds)::BIGINT AS rounds,
            sum(explained)::BIGINT AS explained
        FROM problems_by_code GROUP BY kind, code ORDER BY kind DESC, rounds DESC, code
        """
    )


def invariants() -> pl.DataFrame:
    """name, holds, broken of n rounds: what tables keep between them."""
    return select("SELECT name, holds, broken, n FROM invariants")


def count_sources() -> int:
    """How many sources were read."""
    return select("SELECT count(*) AS n FROM sources")["n"][0]


def list_sources(offset: int, limit: int = PAGE_ROWS) -> pl.DataFrame:
    """One page of `sources`, in the order of their names."""
    return select("SELECT * FROM sources ORDER BY source, sha256 LIMIT ? OFFSET ?", limit, offset)
