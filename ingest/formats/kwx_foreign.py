"""The private keys of scanned rows, and what "_source" gives back to a round that was converted from another format."""

from typing import Any

import numpy as np
import pyarrow as pa

from ingest.events import ROUNDS
from ingest.formats import kwx_rows as kw
from ingest.formats.kwx_columns import restored
from ingest.formats.kwx_json import load
from ingest.formats.kwx_turned import Columns
from ingest.notation import decode_wall
from ingest.rejects import Reject
from ingest.tiles import ALL_TILES

USUAL = {"piao_from": "logged", "raise_from": "logged", "hidden_from": "logged", "coverage": "full"}


class Foreign:
    """Looks at the private keys of the rows that are `accepted`, bool[n]; `plain`: which rows need no closer look."""

    def __init__(self, columns: Columns, accepted: np.ndarray) -> None:
        self.plain = np.ones(len(accepted), bool)
        self._sources: dict[int, dict[str, Any]] = {}
        self._orders: dict[int, tuple[str, str]] = {}  # an order of tiles that nobody committed to
        starts, sizes = columns.text(kw.EXTRA)
        lengths, suits, proved = columns["last"] - columns["first"], columns["suits"], columns.text(kw.ORDER)[1]
        for row in np.flatnonzero(accepted & (sizes >= 0)).tolist():
            data = columns.block.data[starts[row] : starts[row] + sizes[row]]
            try:
                private = load("{" + data.tobytes().decode() + "}")
            except Reject:
                self.plain[row] = False
                continue
            source = private.get("_source")
            if type(source) is dict:
                self._sources[row] = source
                numbers, order, deal = (source.get(name) for name in ("event_no", "proof_order", "proof_deal"))
                self.plain[row] = type(numbers) is not list or len(numbers) == lengths[row]
                if proved[row] < 0 and type(order) is str and deal in ("one", "four"):
                    self._orders[row] = order, deal
                    # The order has a say in which suits these are, but for the first two.
                    self.plain[row] &= suits[row] == 0
            self.plain[row] &= all(key.startswith("_") for key in private)
        if self._orders:
            orders = [order for order, _ in self._orders.values()]
            self.plain[list(self._orders)] &= decode_wall(orders, np.zeros(len(orders), np.uint8), ALL_TILES)[1]

    def columns(self, table: dict[str, Any], columns: Columns, rows: np.ndarray) -> dict[str, Any]:
        """The columns of `table` that are others with what the sources of the rows say; `rows`: those of the table."""
        sources = [self._sources.get(row) for row in rows.tolist()] if self._sources else []
        if not any(sources):
            return {}
        more = [restored(source) if source else {} for source in sources]
        out: dict[str, Any] = {name: [one.get(name, usual) for one in more] for name, usual in USUAL.items()}
        # Absent means none, unless a foreign round says that its log does not tell.
        for name, bit in (("piao", kw.HAS_PIAO), ("raise", kw.HAS_RAISE)):
            untold = np.array([come != "logged" for come in out[f"{name}_from"]]) & (columns["has"] & bit == 0)
            if untold.any():
                there = pa.array(np.where(untold, -1, np.arange(len(rows))), mask=untold)
                out[name] = table[name].take(there)
        out["event_no"] = pa.array([one.get("event_no") for one in more], ROUNDS.field("event_no").type)
        if self._orders:
            for side, name in enumerate(("proof_order", "proof_deal")):
                logged = table[name].to_pylist()
                out[name] = [self._orders[row][side] if row in self._orders else text
                             for row, text in zip(rows.tolist(), logged, strict=True)]  # fmt: skip
        return out
