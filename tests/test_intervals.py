"""Intervals from sums: against textbook values, a plain computation, and their level on simulated games."""

import math

import numpy as np
import pytest
from scipy import stats

from analytics import intervals
from analytics.intervals import Sums


def sums_of(games: list[tuple[float, float]]) -> Sums:
    """The sums of one cell from each game's k and n."""
    k, n = (np.array(column, float) for column in zip(*games, strict=True))
    parts = (k.sum(), n.sum(), (n != 0).sum(), (k * k).sum(), (k * n).sum(), (n * n).sum())
    return Sums(*(np.array([float(part)]) for part in parts))


def test_quantiles_of_t() -> None:
    assert pytest.approx(stats.norm.ppf(0.975)) == intervals.Z
    for freedom in (4, 5, 10, 19, 100, 10_000):
        assert intervals.t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.004)


def test_wilson_is_the_textbooks() -> None:
    for k, n in ((0, 10), (1, 10), (7, 19), (10, 10), (400, 1000)):
        found = intervals.wilson(np.array([k]), np.array([n]))
        expected = stats.binomtest(k, n).proportion_ci(0.95, "wilson")
        assert (found.low[0], found.high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)
    nothing = intervals.wilson(np.array([0]), np.array([0]))
    assert all(math.isnan(part[0]) for part in nothing)


def test_independent_trials_need_no_correction() -> None:
    rng = np.random.default_rng(3)
    games = [(float(rng.binomial(12, 0.3)), 12.0) for _ in range(4000)]
    assert intervals.effect(sums_of(games))[0] == pytest.approx(1, abs=0.08)
    assert intervals.effect(sums_of([(3 * k, 3 * n) for k, n in games]))[0] == pytest.approx(3, abs=0.2)
    assert intervals.effect(sums_of(games[:19]))[0] == 1
    assert intervals.effect(sums_of([(1.0, 12.0)] * 9 + [(0.0, 12.0)] * 400))[0] == 1


def test_a_mean_of_games_is_a_mean() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(2, 5, 60)
    found = intervals.mean(sums_of([(value, 1.0) for value in values]))
    low, high = stats.t.interval(0.95, 59, values.mean(), values.std(ddof=1) / 60**0.5)
    assert (found.value[0], found.low[0], found.high[0]) == pytest.approx((values.mean(), low, high), rel=1e-6)
    alone = intervals.mean(sums_of([(3.0, 2.0)]))
    assert alone.value[0] == 1.5 and math.isnan(alone.low[0])


def cubed(games: list[tuple[float, float]]) -> Sums:
    """The sums of one cell with those of cubes."""
    k, n = (np.array(column, float) for column in zip(*games, strict=True))
    cubes = (k**3, k * k * n, k * n * n, n**3)
    return sums_of(games)._replace(
        **{name: np.array([part.sum()]) for name, part in zip(Sums._fields[6:], cubes, strict=True)}
    )


def test_skewness_is_that_of_the_residuals() -> None:
    rng = np.random.default_rng(6)
    games = [(float(k), float(n)) for k, n in zip(rng.exponential(3, 80), rng.integers(1, 9, 80), strict=True)]
    r = sum(k for k, _ in games) / sum(n for _, n in games)
    rest = np.array([k - r * n for k, n in games])
    expected = (rest**3).mean() / (rest**2).mean() ** 1.5
    assert intervals.skewness(cubed(games))[0] == pytest.approx(expected)
    assert intervals.skewness(cubed([(2.0 * n, n) for _, n in games]))[0] == 0


def test_a_skewed_mean_is_widened_to_the_side_of_its_tail() -> None:
    """Hall's cubic, solved for the studentised mean, gives back the quantile of t."""
    rng = np.random.default_rng(7)
    games = [(float(k), 1.0) for k in rng.exponential(1, 40) ** 2]
    plain, wide = intervals.mean(sums_of(games)), intervals.mean(cubed(games))
    assert wide.low[0] == plain.low[0] and wide.high[0] > plain.high[0]
    skew = intervals.skewness(cubed(games))[0]
    error = float(np.sqrt(intervals.variance(sums_of(games)))[0])
    t = (wide.value[0] - wide.high[0]) / error
    cubic = t + skew / 40**0.5 * (t * t / 3 + 1 / 6) + (skew / 3) ** 2 * t**3 / (3 * 40)
    assert cubic == pytest.approx(-intervals.t_quantile(39), rel=1e-6)
    mirrored = intervals.mean(cubed([(-k, n) for k, n in games]))
    assert (mirrored.low[0], mirrored.high[0]) == pytest.approx((-wide.high[0], -wide.low[0]))


def test_rare_payments_have_the_interval_of_counts() -> None:
    """Three payments of one size in 400 games: Garwood's interval for a Poisson count of three; of none, none."""
    found = intervals.mean(cubed([(5.0, 2.0)] * 3 + [(0.0, 2.0)] * 397), signed=False)
    low, high = stats.chi2.ppf(0.025, 6) / 2, stats.chi2.ppf(0.975, 8) / 2
    assert (found.value[0] * 160, found.low[0] * 160, found.high[0] * 160) == pytest.approx((3, low, high))
    nothing = intervals.mean(cubed([(0.0, 2.0)] * 400), signed=False)
    assert nothing.value[0] == 0 and math.isnan(nothing.low[0]) and math.isnan(nothing.high[0])
    often = cubed([(5.0, 2.0), (4.0, 2.0), (6.0, 2.0)] * 2)
    assert intervals.mean(often, signed=False).high[0] == intervals.mean(often).high[0] < 4


def test_intervals_of_rare_and_skewed_payments_cover() -> None:
    rng = np.random.default_rng(8)
    held, told = {"t": 0, "rare": 0, "t of skewed": 0, "skewed": 0}, 0
    for _ in range(300):
        rare = np.where(rng.random(120) < 0.03, rng.integers(1, 6, 120), 0).astype(float)
        found = intervals.mean(cubed([(k, 3.0) for k in rare]), signed=False)
        if not math.isnan(found.low[0]):
            told += 1
            held["rare"] += found.low[0] <= 0.03 <= found.high[0]
            plain = intervals.mean(sums_of([(k, 3.0) for k in rare]))
            held["t"] += plain.low[0] <= 0.03 <= plain.high[0]
        skewed = 2.0 ** rng.geometric(0.62, 60)
        games = [(float(k), 1.0) for k in np.minimum(skewed, 64)]
        wide, plain = intervals.mean(cubed(games), signed=False), intervals.mean(sums_of(games))
        truth = sum(min(2.0**j, 64) * 0.62 * 0.38 ** (j - 1) for j in range(1, 60))
        held["t of skewed"] += plain.low[0] <= truth <= plain.high[0]
        held["skewed"] += wide.low[0] <= truth <= wide.high[0]
    assert told > 250 and held["rare"] / told > 0.95 > 0.9 > held["t"] / told
    assert held["skewed"] > 0.9 * 300 and held["skewed"] > held["t of skewed"] + 0.02 * 300


@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_intervals_cover_when_games_are_clusters(shared: float) -> None:
    """Rates and means of rounds that hang together within a game: 95 % intervals hold the truth 95 times in 100."""
    rng = np.random.default_rng(5)
    held = {"rate": 0, "mean": 0}
    for _ in range(400):
        n = rng.integers(8, 17, 150)
        mood = rng.normal(0, shared, 150)
        chance = 1 / (1 + np.exp(-(mood - 0.7)))
        wins = rng.binomial(n, chance)
        truth = float((1 / (1 + np.exp(-(rng_free_mood() * shared - 0.7)))).mean())
        found = intervals.rate(sums_of(list(zip(wins, n, strict=True))))
        held["rate"] += found.low[0] <= truth <= found.high[0]
        found = intervals.mean(sums_of(list(zip(wins * 3.0, n, strict=True))))
        held["mean"] += found.low[0] <= 3 * truth <= found.high[0]
    for name, count in held.items():
        assert 0.92 <= count / 400 <= 0.98, name


def rng_free_mood() -> np.ndarray:
    """Standard normal moods, one per equal share of probability."""
    return stats.norm.ppf((np.arange(4000) + 0.5) / 4000)


def test_quantile_ranks_hold_the_quantile() -> None:
    rng = np.random.default_rng(6)
    for n in (30, 500):
        middle, low, high = intervals.quantile_ranks(n, 0.9)
        held = 0
        for _ in range(1000):
            values = np.sort(rng.random(n))
            held += values[low - 1] <= 0.9 <= values[high - 1]
        assert held / 1000 >= 0.93 and low <= middle <= high <= n
    assert intervals.quantile_ranks(1, 0.9) == (1, 1, 1)


@pytest.mark.parametrize("is_rate", [True, False])
def test_shrinkage_finds_the_cohort_and_beats_the_raw_values(is_rate: bool) -> None:
    rng = np.random.default_rng(7)
    accounts = 400
    truth = rng.beta(30, 60, accounts) if is_rate else rng.normal(0.1, 0.3, accounts)
    rounds = rng.integers(1, 60, accounts) * 10  # ten a game
    cells = []
    for rate, n in zip(truth, rounds, strict=True):
        won = rng.binomial(10, rate, n // 10) if is_rate else rng.normal(10 * rate, 4 * 10**0.5, n // 10)
        cells.append(sums_of([(float(k), 10.0) for k in won]))
    sums = Sums(*(np.concatenate(column) for column in list(zip(*cells, strict=True))[:6]))
    found = intervals.shrink(sums, is_rate)
    spread = (30 * 60 / 90**2 / 91) ** 0.5 if is_rate else 0.3
    assert found.mean == pytest.approx(1 / 3 if is_rate else 0.1, abs=0.04)
    assert found.spread == pytest.approx(spread, rel=0.15)
    assert found.prior == pytest.approx(90 if is_rate else 16 / 0.09, rel=0.35)
    raw = sums.k / sums.n
    assert ((found.value - truth) ** 2).mean() < 0.7 * ((raw - truth) ** 2).mean()
    held = ((found.low <= truth) & (truth <= found.high)).mean()
    assert 0.91 <= held <= 0.98


def test_accounts_that_differ_by_chance_only_are_one() -> None:
    one = sums_of([(3.0, 10.0), (4.0, 10.0), (2.0, 10.0)])
    same = one.each(lambda part: np.repeat(part, 5))
    for is_rate in (True, False):
        found = intervals.shrink(same, is_rate)
        assert found.spread == 0 and math.isinf(found.prior)
        assert (found.value == found.mean).all()
    empty = intervals.shrink(Sums(*(np.zeros(0) for _ in range(6))), True)
    assert math.isnan(empty.mean) and len(empty.value) == 0
