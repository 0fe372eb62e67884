"""Every statistic equals a slow reading of the raw lines, intervals included; filters and comparisons too."""

import json
import math
import re
from collections import defaultdict
from datetime import date
from pathlib import Path

import duckdb
import pytest
from oracle_facts import facts
from sample_statistics import filled
from scipy import stats

from analytics import intervals, measure, metrics
from analytics.measure import metric
from ingest.events import digest64
from replay import ruleset

FROM, TO = date(2026, 1, 3), date(2026, 1, 5)
FACTS = ("hands", "luck")  # groups that come of the facts of each seat
SUMMED = [one.id for one in metrics.registry().values() if one.kind != "quantile" and one.group not in FACTS]
HANDS = [one.id for one in metrics.registry().values() if one.group in FACTS]
RARE = {"careless_discard_rate", "missed_win_rate", "declined_kong_rate", "dangerous_discard_rate"}


def plain(one: metrics.Metric, rows: list[dict]) -> tuple | None:
    """(k, n, games, value, low, high) of a statistic over rows of the slow reading, by the formulas as they stand."""

    def summed(row: dict, part: str) -> int:
        part = part.replace("kong_gain - kong_loss", "kong_net")
        return sum(int(sign + "1") * row[name] for sign, name in re.findall(r"(?:^|([+-]) )(\w+)", part))

    games: dict = defaultdict(lambda: [0.0, 0])
    for row in rows:
        game = games[row["site"], row["game"]]
        game[0] += summed(row, one.numerator) / (row["base"] if one.in_stakes else 1)
        game[1] += summed(row, one.denominator)
    k, n = sum(k for k, _ in games.values()), sum(n for _, n in games.values())
    g = sum(n != 0 for _, n in games.values())
    if n == 0:
        return None
    value = k / n
    spread = sum((k - value * n) ** 2 for k, n in games.values()) / n**2 * g / (g - 1) if g > 1 else math.nan
    t = float(intervals.t_quantile(g - 1))
    if one.kind == "mean":
        return k, n, g, value, *ends(one, list(games.values()), value, spread**0.5, t)
    z = intervals.Z
    trials = n
    if g >= 20 and 0 < k < n:
        trials = n / max(0.05 if min(k, n - k) >= 10 else 1, spread / (value * (1 - value) / n) * (t / z) ** 2)
    middle = (value + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * (value * (1 - value) / trials + z * z / (4 * trials**2)) ** 0.5
    return k, n, g, value, max(middle - half, 0), min(middle + half, 1)


def ends(one: metrics.Metric, games: list, value: float, error: float, t: float) -> tuple[float, float]:
    """The interval of a mean, as docs/metrics.md says it."""
    games = [(k, n) for k, n in games if n]
    g, paid = len(games), sum(k * k for k, _ in games)
    k = sum(k for k, _ in games)
    if not one.signed and g > 1 and (k == 0 or (k * k / paid < 10 and 2 * k * k / paid < g)):
        if k == 0:
            return math.nan, math.nan
        n, size = sum(n for _, n in games), paid / k
        low = stats.gamma.ppf(0.025, k * k / paid) * size / n
        more, squares = k + size, paid + size**2
        return low, stats.gamma.ppf(0.975, more**2 / squares) * squares / more / n
    low, high = value - t * error, value + t * error
    rest = [k - value * n for k, n in games]
    squares = sum(one * one for one in rest)
    if g > 1 and squares > 1e-9 * paid:
        skew = sum(one**3 for one in rest) / g / (squares / g) ** 1.5
        if abs(skew) > 1e-5:

            def hall(q: float) -> float:
                inside = 1 + skew * (q / g**0.5 - skew / (6 * g))
                return 3 * g**0.5 / skew * (math.copysign(abs(inside) ** (1 / 3), inside) - 1)

            low, high = min(low, value - error * hall(t)), max(high, value - error * hall(-t))
    return low if one.signed or math.isnan(low) else max(low, 0), high


SPLITS = [(), ("ruleset",), ("site", "player"), ("seat", "position"), ("base", "dealer"), ("day",)]


@pytest.mark.parametrize("by", SPLITS, ids=str)
def test_statistics_equal_a_slow_reading(
    measured: duckdb.DuckDBPyConnection, measured_slow: list[dict], by: tuple
) -> None:
    more = {"dealer": lambda row: row["position"] == 0}
    cells = defaultdict(list)
    for row in measured_slow:
        cells[tuple(more[name](row) if name in more else row[name] for name in by)].append(row)
    found = {}
    for row in measure.metrics(measured, SUMMED, by).iter_rows():
        found[row[: len(by)], row[len(by)]] = row[len(by) + 1 :]
    expected = {
        (cell, name): answer
        for cell, rows in cells.items() for name in SUMMED
        if (answer := plain(metrics.get(name), rows)) is not None
    }  # fmt: skip
    assert found.keys() == expected.keys()
    assert [cell for cell, _ in found] == sorted(cell for cell, _ in found)
    for key, (k, n, games, *values) in expected.items():
        assert found[key][1:3] == (n, games), key
        exact = [math.nan if value is None else value for value in (found[key][0], *found[key][3:])]
        assert exact == pytest.approx([k, *values], rel=1e-9, abs=1e-9, nan_ok=True), key


def hands_of(log: dict) -> list[dict]:
    """What a round adds to the statistics of hands, by the literal player of facts, per seat."""
    rows = []
    found = facts(log, ruleset.load(log["rules"], log.get("options", {})).values)[0]
    winners, payers = ({win.get(name) for win in log["result"]["wins"]} for name in ("seat", "from"))
    for seat, hand in enumerate(found):
        ready = hand["ready_turn"] is not None
        rows.append({
            "hands": 1, "hands_of_13": hand["start_tiles"] == 13, "hands_of_14": hand["start_tiles"] == 14,
            "start_shanten_of_13": hand["start_shanten"] * (hand["start_tiles"] == 13),
            "start_shanten_of_14": hand["start_shanten"] * (hand["start_tiles"] == 14),
            "ready": ready, "ready_turns": hand["ready_turn"] or 0, "ready_live": hand["ready_live_own"] or 0,
            "ready_wins": ready and seat in winners, "hands_dealt_in": seat in payers,
            **{name: int(hand[name]) for name in (
                "dealt_in_ready", "wins_offered", "wins_missed", "kongs_offered", "kongs_declined", "pungs_offered",
                "pungs_declined", "discards_into_revealed", "dangerous_discards", "careless_discards",
                "draws", "useful_draws", "ready_draws", "ready_hits", "replacement_hits",
            )},
            "replacements": hand["draws_behind"],
            **{f"{name}_luck": (1 << 26) * hits_less_chances(hand, name)
               for name in ("useful", "ready", "replacement")},
            "lucked": 1,
            "luck": hand["tiles_worth"],
            "adjusted": 1e6 * log["result"]["points"][seat] / log["base"] - hand["tiles_worth"],
        })  # fmt: skip
    return rows


def hits_less_chances(hand: dict, name: str) -> float:
    return hand[f"{name}_{'draws' if name == 'useful' else 'hits'}"] - hand[f"{name}_expected"]


def test_statistics_of_hands_equal_an_oracle(measured: duckdb.DuckDBPyConnection, measured_lines: list[Path]) -> None:
    expected: dict = defaultdict(lambda: [0, 0])
    rounds = []
    for path in measured_lines:
        for line in path.read_text(encoding="utf-8").splitlines()[:7]:
            log = filled(json.loads(line))
            rounds.append(digest64(log["site"], log["game"], log["round"]))
            for row in hands_of(log):
                for name in HANDS:
                    cell = expected[digest64(log["site"], log["game"]), name]
                    cell[0] += row[metrics.get(name).numerator] / metrics.get(name).scale
                    cell[1] += row[metrics.get(name).denominator]
    found = measure.metrics(measured, HANDS, ["game"], {"round_id": rounds, "end": ("win", "draw")})
    cells = {row[:2]: row[2:4] for row in found.iter_rows()}
    assert cells.keys() == {key for key, cell in expected.items() if cell[1]}
    for key, (k, n) in cells.items():
        assert n == expected[key][1] and k == pytest.approx(expected[key][0], rel=1e-9, abs=1e-4), key
    assert set(found.filter(found["k"] != 0)["metric"]) >= set(HANDS) - RARE


def test_something_of_everything_was_counted(measured: duckdb.DuckDBPyConnection) -> None:
    found = measure.metrics(measured, SUMMED)
    nothing = set(found.filter(found["k"] == 0)["metric"])
    assert nothing <= {"net", "kong_net", "draw_net", "other_loss", "chased_reveal_result"}
    assert set(found["metric"]) == set(SUMMED)


@pytest.mark.parametrize(
    ("where", "keeps"),
    [
        ({"player": "u3"}, lambda row: row["player"] == "u3"),
        ({"player": ["u3", "u4"], "dealer": False}, lambda row: row["player"] in ("u3", "u4") and row["position"] > 0),
        ({"ruleset": "hubei", "seat": (0, 2)}, lambda row: row["ruleset"] == "hubei" and row["seat"] != 1),
        ({"since": FROM, "until": TO}, lambda row: FROM <= row["day"] <= TO),
        ({"position": 1, "base": 1}, lambda row: row["position"] == 1 and row["base"] == 1),
        ({"player": []}, lambda row: False),
        ({"verdict": ("clean", "unpaid"), "site": "simulated"}, lambda row: row["site"] == "simulated"),
        ({"end": "draw"}, lambda row: row["exhausted"]),
        ({"site": None}, lambda row: False),
    ],
)  # fmt: skip
def test_filters(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict], where: dict, keeps) -> None:
    kept = [row for row in measured_slow if keeps(row)]
    found = measure.metrics(measured, ["net", "win_rate", "reveal_live"], (), where)
    expected = {name: plain(metrics.get(name), kept) for name in ("net", "win_rate", "reveal_live")}
    assert set(found["metric"]) == {name for name, answer in expected.items() if answer}
    for name, *values in found.iter_rows():
        assert values == pytest.approx(list(expected[name]), rel=1e-9, abs=1e-9), name


def test_opponents_see_the_same_rounds(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    rounds = [measured_slow[place : place + 3] for place in range(0, len(measured_slow), 3)]
    expected = defaultdict(list)
    for seats in rounds:
        for row in seats:
            if row["player"] == "u3":
                for other in seats:
                    if other is not row:
                        expected[other["player"]].append(row)
    for name in ("net", "deal_in_rate"):
        found = metric(measured, name, ["opponent"], {"player": "u3"})
        assert found["opponent"].to_list() == sorted(expected)
        for opponent, *values in found.iter_rows():
            assert values == pytest.approx(list(plain(metrics.get(name), expected[opponent])), rel=1e-9, abs=1e-9)
        both = metric(measured, name, [], {"player": "u3", "opponent": "u5"})
        assert both.rows()[0] == found.filter(found["opponent"] == "u5").rows()[0][1:]


def test_quantiles(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    for name, worth in (("win_multiple_p90", lambda row: row["win_multiples"]),
                        ("win_value_p90", lambda row: row["win_points"] / row["base"])):  # fmt: skip
        found = {row[0]: row[1:] for row in measure.quantile(measured, name, ["ruleset"]).iter_rows()}
        for rules in {row["ruleset"] for row in measured_slow}:
            values = sorted(worth(row) for row in measured_slow if row["ruleset"] == rules and row["wins"])
            n = len(values)
            half = 1.96 * math.sqrt(n * 0.09)
            ranks = (math.ceil(0.9 * n), math.floor(0.9 * n - half), min(n, math.ceil(0.9 * n + half) + 1))
            assert found[rules] == (n, *(pytest.approx(values[rank - 1]) for rank in ranks))


def test_groups_compared_share_their_games(measured: duckdb.DuckDBPyConnection, measured_slow: list[dict]) -> None:
    found = measure.compare(measured, ["net", "win_rate"], {"dealer": True}, {"dealer": False}).rows(named=True)
    games: dict = defaultdict(lambda: defaultdict(lambda: [0.0, 0]))
    for row in measured_slow:
        for name, k in (("net", row["points"] / row["base"]), ("win_rate", row["wins"])):
            cell = games[name, row["site"], row["game"]][row["position"] == 0]
            cell[0] += k
            cell[1] += row["rounds" if name == "net" else "played"]
    for answer in found:
        own = [game for (name, *_), game in games.items() if name == answer["metric"]]
        totals = {side: [sum(game[side][part] for game in own) for part in (0, 1)] for side in (True, False)}
        rates = {side: k / n for side, (k, n) in totals.items()}
        off = [sum((1 if side else -1) * (game[side][0] - rates[side] * game[side][1]) / totals[side][1]
                   for side in (True, False)) for game in own]  # fmt: skip
        # Each side's own variance carries its own correction for few games; all games hold both sides here.
        spread = math.sqrt(sum(part * part for part in off))
        assert answer["difference"] == pytest.approx(rates[True] - rates[False])
        assert (answer["high"] - answer["low"]) / 2 == pytest.approx(2 * spread, rel=0.05)
        assert (answer["n_a"], answer["n_b"]) == (totals[True][1], totals[False][1])


def test_wrong_names_are_told(measured: duckdb.DuckDBPyConnection) -> None:
    for call in (
        lambda: metric(measured, "luck"), lambda: metric(measured, "net", ["weather"]),
        lambda: metric(measured, "net", [], {"x": 1}), lambda: metric(measured, "net", ["verdict"]),
        lambda: metric(measured, "win_value_p90"), lambda: measure.quantile(measured, "net"),
    ):  # fmt: skip
        with pytest.raises(metrics.MetricError):
            call()
