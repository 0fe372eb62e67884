"""A sample of benchmarks/fairness_calibration.py: honest corpora with look-alikes through the whole battery."""

import numpy as np
from fairness_played import honest
from scipy.stats import binomtest

from analytics.fairness import battery, power
from analytics.fairness.tables import Tables

CORPORA = (27, 8)  # of two rulesets, with look-alikes, the first with gaps too


def test_honest_corpora_name_nobody_and_their_p_values_are_no_smaller_than_chance() -> None:
    small, seen = 0, 0
    for n in CORPORA:
        of = honest(n, 2200)
        rows = battery.results(Tables(of.db))
        named = [(row.name, row.subject) for row in rows if row.status in ("flagged", "biased", "review", "escalated")]
        assert named == [], n
        assert not {row.subject for row in rows if row.status == "review"} & set(of.alike)
        values = np.array([row.p for row in rows if row.p is not None and row.family not in ("control", "log")])
        small, seen = small + int((values <= 0.05).sum()), seen + len(values)
        ran = {row.name for row in rows if row.status == "passed"}
        assert {"draw_luck", "hidden_waits", "time_shape", "dealer_of_account", "start_luck", "past_net"} <= ran
        assert ("missing_losses" in ran) == of.gaps
    assert seen > 400 and binomtest(small, seen, 0.05, alternative="greater").pvalue > 0.001


def test_what_the_page_shows_of_power_is_what_was_measured() -> None:
    """Where a row tells its own arithmetic, it is near what was found; cheats of the planned size are found."""
    away, whole = [], 0
    for curve in power.curves():
        for points in curve.sizes.values():
            assert [point.rounds for point in points] == sorted(point.rounds for point in points)
            for point in points:
                assert 0 <= point.found <= point.repetitions
                if point.expected is not None:
                    spread = (point.expected * (1 - point.expected) * point.repetitions + 1) ** 0.5
                    away.append((point.found - point.expected * point.repetitions) / spread)
                    whole += point.repetitions
    assert whole > 500 and abs(np.mean(away)) < 0.5 and np.percentile(np.abs(away), 90) < 3
    for curve in power.curves():  # a row that says of itself that it finds a cheat finds it
        last = [points[-1] for points in curve.sizes.values()]
        told = [point for point in last if point.expected is None or point.expected >= 0.9]
        assert not told or max(point.found / point.repetitions for point in told) >= 0.75, curve.row
