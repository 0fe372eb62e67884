"""Stored rounds that have no facts, as the replay takes rounds: for data sets that were loaded without."""

from collections.abc import Iterator

import duckdb
import pyarrow as pa

from analytics import schema
from ingest.formats import rounds_batch

BATCH_ROUNDS = 4096
# Rounds that have facts when they are asked for: their replay came to an end, and the log names the draws.
WITHOUT = (
    """(SELECT * FROM rounds WHERE coverage = 'full' AND "end" IS NOT NULL AND round_id NOT IN """
    "(SELECT round_id FROM facts)) AS without"
)
RULES = "ruleset, options, ruleset_digest"
# What a log left open is open again (replay.inputs): which triplets a reveal hides is told by what was paid.
ROUNDS = (
    "SELECT round_id, game_key, without.round, ruleset AS rules, options, suits, dealer, dice, base, "
    "coalesce(raise, 0) AS raise, raise_from, piao_from, deal, wall, events, "
    "CASE WHEN hidden_from IN ('logged', 'config') THEN hidden_from END AS hidden_from, piao, result_points "
    f"FROM {WITHOUT} SEMI JOIN known USING ({RULES}) JOIN "
    "(SELECT round_id, list(coalesce(piao, 0) ORDER BY seat) AS piao, "
    "nullif(list(recorded_points ORDER BY seat), [NULL, NULL, NULL]) AS result_points "
    "FROM seats GROUP BY round_id) USING (round_id) ORDER BY round_id"
)


class Stored:
    """The rounds without facts that were stored before the connection's transaction, in batches.

    `changed` counts those that are left out because their ruleset is not what it was when they were stored.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.changed = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with self._connection.cursor() as before:  # sees nothing of the load that goes on, so reads while it writes
            query = f"SELECT {RULES}, count(*) FROM {WITHOUT} GROUP BY ALL ORDER BY ALL"
            known = []
            for ident, options, digest, count in schema.rows(before, query):
                if _digest(ident, options) == digest:
                    known.append({"ruleset": ident, "options": options, "ruleset_digest": digest})
                else:
                    self.changed += count
            if not known:
                return
            before.register("known", pa.Table.from_pylist(known))
            for batch in before.sql(ROUNDS).to_arrow_reader(BATCH_ROUNDS):
                if batch.num_rows:
                    columns = {name: batch[name] for name in batch.schema.names}
                    yield rounds_batch(columns | {"coverage": "full"}, batch.num_rows)


def _digest(ident: str, options: str) -> str | None:
    """The digest of a ruleset with options as this version has it, None where it has none such."""
    from replay import inputs, ruleset

    try:
        return ruleset.load(ident, inputs.options(options)).digest
    except ruleset.RulesetError:
        return None
