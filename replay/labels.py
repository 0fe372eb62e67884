"""Labels: what was planted in a simulated log and what it did, for those who grade an audit.  Nothing else reads them.

One JSON object each: first the planted ({"label": "cheat" or "honest", …}), then every act ({"label": "act", …}) in
the order of the log, last how often each was done ({"label": "sum", …}).
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ingest.tiles import NAMES, SUITS
from ingest.whole import write_whole
from replay.cheats import Cheat


class Labels:
    """Collects labels as batches are played."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._cheats: Sequence[Cheat] = ()
        self._acts: list[int] = []
        self._rounds: list[int] = []

    def begin(self, cheats: Sequence[Cheat]) -> None:
        """What is planted; the acts name it by its number in this list."""
        self._cheats = cheats
        self._acts, self._rounds = [0] * len(cheats), [0] * len(cheats)
        for number, cheat in enumerate(cheats):
            self.rows.append(
                {
                    "label": "honest" if cheat.kind.honest else "cheat", "planted": number, "name": cheat.kind.name,
                    "accounts": cheat.accounts, "arguments": cheat.values, "what": cheat.kind.what,
                    "checks": list(cheat.kind.checks), "breaks": list(cheat.kind.breaks),
                }
            )  # fmt: skip

    def add(self, columns: dict[str, Any], acts: np.recarray, suits: np.ndarray) -> None:
        """The acts (cheat_record.ACT[]) of a batch whose columns of ROUNDS are these."""
        if not len(acts):
            return
        players = columns["players"].to_pylist()
        last: dict[int, int] = {}
        for row, plan, event, seat, was, now in sorted(acts.tolist(), key=lambda act: (act[0], act[2], act[1])):
            cheat = self._cheats[plan]
            act: dict[str, Any] = {
                "label": "act", "planted": plan, "name": cheat.kind.name, "game": columns["game"][row],
                "round": int(columns["round"][row]), "event": event if event >= 0 else None,
            }  # fmt: skip
            if 0 <= seat < 3:
                act |= {"seat": seat, "account": players[row][seat]}
            if cheat.kind.shows:
                tiles = NAMES[SUITS[suits[row]]] if cheat.kind.shows == "tile" else None
                act |= {"was": _shown(was, tiles), "now": _shown(now, tiles)}
            self.rows.append(act)
            self._acts[plan] += 1
            self._rounds[plan] += last.get(plan) != row
            last[plan] = row

    def end(self) -> None:
        """How often each was done, and in how many rounds."""
        for number, cheat in enumerate(self._cheats):
            self.rows.append(
                {"label": "sum", "planted": number, "name": cheat.kind.name, "acts": self._acts[number],
                 "rounds": self._rounds[number]}
            )  # fmt: skip


def write(path: str, labels: Labels) -> None:
    """Write labels as JSON lines, whole or not at all."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in labels.rows)
    write_whole(path, "".join(lines))


def _shown(value: int, tiles: tuple[str, ...] | None) -> int | str | None:
    if tiles is None:
        return value
    return tiles[value] if value >= 0 else None
