"""How strong accounts are, from luck-adjusted results against whom they played: what checks 18, 20 and 22 measure by.

Of a round's three results, less the luck of the tiles, each is expected to be the account's strength less the mean
strength of the three, and what passes from one to another a third of the difference.  Strengths are drawn from a normal
distribution whose spread is found beside them, so that ordinary skill is not taken for anything else; each is known
only so well, and that is carried along.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import cg

from analytics.fairness.payers import people
from analytics.fairness.tables import FAIR, PEOPLE, Tables
from replay import luck

STEPS = 8  # of finding the spread of strengths
SHARE = 2 / 3  # of its own strength in an account's result
FIELDS = (
    "start_tiles", "start_shanten", "useful_draws", "useful_expected", "ready_hits", "ready_expected",
    "replacement_hits", "replacement_expected",
)  # fmt: skip


class Results(NamedTuple):
    """Rounds that three named accounts played with luck known; money in standard deviations of its ruleset."""

    names: np.ndarray  # of the accounts
    round_id: np.ndarray
    game: np.ndarray  # number of the game, from 0
    account: np.ndarray  # int64[n, 3], by seat
    net: np.ndarray  # float64[n, 3], luck-adjusted, sums to 0
    flow: np.ndarray  # float64[n, 3], what seat s + 1 got from seat s, luck-adjusted
    scale: np.ndarray  # base stakes that a standard deviation is, of each round


class Strengths(NamedTuple):
    """Of each account, in standard deviations of a round's result."""

    value: np.ndarray
    rounds: np.ndarray
    prior: float  # variance of a round's result over the variance of strengths, in rounds
    each: float  # variance of a round's result that strength doesn't explain

    @property
    def variance(self) -> np.ndarray:
        """How well each is known."""
        return self.each / (SHARE * self.rounds + self.prior)


_kept: "WeakKeyDictionary[Tables, tuple[Results, Strengths] | None]" = WeakKeyDictionary()


def of(tables: Tables) -> tuple[Results, Strengths] | None:
    """Results and strengths of a data set, worked out once; None without such rounds."""
    if tables not in _kept:
        found = results(tables) if tables.has("facts") else None
        _kept[tables] = (found, strengths(found)) if found is not None and len(found.net) else None
    return _kept[tables]


def results(tables: Tables) -> Results:
    """The rounds in order of round_id."""
    fields = ", ".join(f"f.{name}" for name in FIELDS)
    found = tables.arrow(
        f"""
        SELECT round_id, game_key, base, ruleset, p.number, s.points, {fields}
        FROM seats AS s JOIN rounds USING (round_id) JOIN {PEOPLE} AS p USING (player)
        JOIN facts AS f ON f.round_id = s.round_id AND f.seat = s.seat
        WHERE {FAIR} AND base > 0 ORDER BY round_id, s.seat
        """
    )
    column = {name: found[name].to_numpy() for name in found.column_names if name != "ruleset"}
    rules, which = np.unique(found["ruleset"].to_numpy(zero_copy_only=False), return_inverse=True)
    first, sizes = np.unique(column["round_id"], return_index=True, return_counts=True)[1:]
    at = first[sizes == 3][:, None] + np.arange(3)
    rows = {name: values[at] for name, values in column.items()}
    rules, which = np.unique(rules[which[at[:, 0]]], return_inverse=True)
    del found, column  # the largest of what is held here
    worth = luck.worth(rows, which, [str(one) for one in rules]) / luck.MILLION
    net = rows["points"] / rows["base"]
    net = net - net.mean(axis=1, keepdims=True) - worth
    flow = flows(tables, rows["round_id"][:, 0]) / rows["base"] - (np.roll(worth, -1, axis=1) - worth) / 3
    spread = np.array([net[which == at].std() for at in range(len(rules))])
    scale = np.maximum(spread, 1e-9)[which]
    game = np.unique(rows["game_key"][:, 0], return_inverse=True)[1]
    return Results(people(tables), rows["round_id"][:, 0], game, rows["number"], net / scale[:, None],
                   flow / scale[:, None], scale)  # fmt: skip


def flows(tables: Tables, ids: np.ndarray) -> np.ndarray:
    """What passed from seat s to seat s + 1 in each of the rounds: float64[n, 3] in points."""
    steps = ", ".join(
        f"sum(CASE WHEN from_seat = {seat} AND to_seat = {(seat + 1) % 3} THEN points "
        f"WHEN from_seat = {(seat + 1) % 3} AND to_seat = {seat} THEN -points ELSE 0 END)::BIGINT AS flow{seat}"
        for seat in range(3)
    )
    query = f"SELECT round_id, {steps} FROM ledger WHERE to_seat IS NOT NULL GROUP BY round_id ORDER BY round_id"
    found = tables.arrow(query)
    paid = found["round_id"].to_numpy()
    out = np.zeros((len(ids), 3))
    if len(paid):
        place = np.minimum(np.searchsorted(paid, ids), len(paid) - 1)
        for seat in range(3):
            out[:, seat] = np.where(paid[place] == ids, found[f"flow{seat}"].to_numpy()[place], 0)
    return out


def met(results: Results, accounts: int) -> csr_matrix:
    """Rounds that each two accounts played together."""
    one, other = (results.account[:, seats].ravel() for seats in ((0, 1, 2, 1, 2, 0), (1, 2, 0, 0, 1, 2)))
    return csr_matrix((np.ones(len(one)), (one, other)), (accounts, accounts))


def strengths(results: Results, used: np.ndarray | None = None) -> Strengths:
    """Strengths from the rounds (or those `used`, bool[n]): the largest posterior, and the spread that fits it."""
    if used is not None:
        results = Results(results.names, *(values[used] for values in results[1:]))
    accounts = len(results.names)
    together = met(results, accounts)
    rounds = np.bincount(results.account.ravel(), minlength=accounts).astype(float)
    right = np.bincount(results.account.ravel(), results.net.ravel(), accounts)
    # A result is the own strength less the mean of three: the normal equations of Σ over seats.
    base = diags(rounds * SHARE) - together / 3
    each, prior = 1.0, 100.0
    value = np.zeros(accounts)
    for step in range(STEPS):
        value, _ = cg(base + diags(np.full(accounts, prior)), right, x0=value, rtol=1e-8, maxiter=500)
        mine = value[results.account]
        away = results.net - (mine - mine.mean(axis=1, keepdims=True))
        each = float((away**2).sum()) / max(2 * len(away), 1)
        seen = rounds > 0
        variance = each / (SHARE * rounds + prior)
        spread = float((value[seen] ** 2 + variance[seen]).mean()) if seen.any() else 1.0
        if step + 1 < STEPS:
            prior = each / max(spread, 1e-6)
    return Strengths(value, rounds, prior, each)
