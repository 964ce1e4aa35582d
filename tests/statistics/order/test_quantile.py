"""Quantiles: what is estimated, how near in rank, and that the interval covers it."""

import math
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum import query
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.privacy.event import PureDP
from modicum.privacy.split import BudgetSplit
from modicum.privacy.unit import Unit
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import USABLE
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.statistics.order.quantile import RankPlan

WITHIN = (-1e9, 1e9)
SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "far": lambda rng, n: 1e6 + rng.normal(size=n),
    "income": lambda rng, n: rng.lognormal(10.8, 0.9, n),
    "pareto 1.5": lambda rng, n: rng.pareto(1.5, n) + 1,
    "uniform": lambda rng, n: rng.random(n),
    "ages": lambda rng, n: np.clip(np.round(rng.normal(40, 22, n)), 0, 120),
    "coins": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "constant": lambda rng, n: np.full(n, 5.0),
    # Nothing between the two halves: the ends have the whole way to go, or next to nothing.
    "gap": lambda rng, n: np.repeat([-1e8, 1e8], [n // 2, n - n // 2]) + rng.random(n),
    "edge of the range": lambda rng, n: rng.choice([-1e9, 0, 1e9], n),
}


class Remembering:
    """Reads each summary once: many releases of the same data."""

    def __init__(self, data) -> None:
        self._source, self._kept = open_source(data), {}

    def read(self, reads, entropy):
        for ask in reads:
            if ask not in self._kept:
                (self._kept[ask],) = read(self._source, [ask], entropy)
        return [self._kept[ask] for ask in reads]


def answers(question, data, releases: int, seed: object = 0) -> list[ScalarEstimate]:
    reader, entropy = Remembering(data), SeededEntropy(repr(seed))
    return [
        run({"a": question}, reader, unit=Unit(), charge=lambda: None, entropy=entropy)["a"].answer
        for _ in range(releases)
    ]


def quantiles(data, q: Fraction) -> tuple[float, float]:
    """Lowest and highest point whose ranks hold q n."""
    ordered, rank = np.sort(data), q * len(data)
    return float(ordered[math.ceil(rank) - 1]), float(ordered[math.floor(rank)])


def rank_error(data, t: float, q: Fraction) -> float:
    below, upto = (data < t).sum(), (data <= t).sum()
    return max(0.0, float(below - q * len(data)), float(q * len(data) - upto))


def coverage(shape, q, n, *, epsilon="1", level=0.95, sets, releases) -> tuple[float, float]:
    """Shares of answers that are not wrong with a code of ok, and of those that are ok."""
    question = query.quantile(q=q, within=WITHIN, epsilon=epsilon, level=level)
    held, fine = [], []
    for i in range(sets):
        data = SHAPES[shape](np.random.default_rng([i, n]), n)
        lowest, highest = quantiles(data, q)
        for answer in answers(question, data, releases, (shape, q, n, i)):
            lower, upper = answer.error_model.interval(level, 3)
            fine.append(answer.status.code == "ok")
            held.append(not fine[-1] or (lower <= highest and lowest <= upper))
    return float(np.mean(held)), float(np.mean(fine))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "n", [2, 100, 1000, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 30, 300, 20_000))]
)
@pytest.mark.one_in(3)
def test_the_interval_covers_the_quantile(shape, n) -> None:
    """Or the answer is not ok, as that of few records: only the noise is random."""
    for q in (Fraction(1, 2), Fraction(9, 10)):
        held, _ = coverage(shape, q, n, sets=4, releases=10)
        assert held >= 0.87  # 40 intervals


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [30, 200, 1000, 5000, 100_000])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 100)])
def test_coverage_over_many_data_sets(shape, n, q) -> None:
    held, _ = coverage(shape, q, n, sets=20, releases=20)
    assert held >= 0.9  # values far apart are the hardest, see [quantile.13]


@pytest.mark.parametrize("shape", ["normal", "income", "ages", "pareto 1.5"])
def test_large_data_are_ok_and_tightly_covered(shape) -> None:
    held, fine = coverage(shape, Fraction(9, 10), 20_000, sets=3, releases=10)
    assert held >= 0.9
    assert fine == 1
    data = SHAPES[shape](np.random.default_rng(1), 20_000)
    question = query.quantile(q=0.9, within=WITHIN, epsilon=1)
    for answer in answers(question, data, 10):
        ranks = [(data < end).sum() for end in answer.error_model.interval(0.95, 3)]
        tied = max(np.unique(data, return_counts=True)[1])
        assert ranks[1] - ranks[0] < 200 + 2 * tied


@pytest.mark.parametrize("level", [None, 0.95])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10)])
def test_the_rank_error_is_small_whatever_the_range(q, level) -> None:
    """Of the scale 2 m / ε, as where the range is tight."""
    data = np.random.default_rng(2).normal(0, 1e6, 20_000)
    means = []
    for within in ((-1e15, 1e15), (-1e9, 1e9), (-1e7, 1e7)):
        question = query.quantile(q=q, within=within, epsilon=1, level=level)
        errors = [rank_error(data, float(a.value), q) for a in answers(question, data, 80, within)]
        means.append(np.mean(errors))
    scale = 2 * float(max(q, 1 - q)) / (0.95 if level is None else 0.67)
    assert max(means) < 1.5 * scale


def usable(data, question, releases: int = 40) -> float:
    return float(np.mean([a.status.code in USABLE for a in answers(question, data, releases)]))


def test_a_median_of_a_hundred_ages_is_usable_and_one_of_ten_is_not() -> None:
    rng = np.random.default_rng(0)
    ages = np.clip(np.round(rng.normal(45, 20, 300)), 0, 94)
    shares = [
        usable(ages[:n], query.median(within=(0, 100), epsilon=1)) for n in (3, 10, 30, 100, 300)
    ]
    assert shares == sorted(shares)  # more rows never make it less usable
    assert shares[0] <= 0.1
    assert shares[1] <= 0.1
    assert shares[3] >= 0.9
    budgets = [usable(ages[:100], query.median(within=(0, 100), epsilon=e)) for e in (0.1, 0.3, 1)]
    assert budgets == sorted(budgets)


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(3, 4)])
def test_an_interval_is_some_ten_times_as_long_as_the_error(q) -> None:
    data = np.random.default_rng(1).normal(size=2000)
    found = answers(query.quantile(q=q, within=(-50, 50), epsilon=1), data, 100)
    truth = np.quantile(data, float(q))
    errors = [abs(float(a.value) - truth) for a in found]
    halves = [a.error_model.interval(0.95, 3) for a in found]
    half = np.median([(upper - lower) / 2 for lower, upper in halves])
    assert half <= 15 * np.median(errors)
    assert np.mean([lower <= truth <= upper for lower, upper in halves]) >= 0.93


def test_few_records_are_told_without_an_interval() -> None:
    question = query.median(within=WITHIN, epsilon=1, level=None)
    assert usable(np.arange(30.0), question) < 0.3
    assert usable(np.arange(999.0), question) == 1


def test_an_end_of_the_range_is_told() -> None:
    """Enough records for the 0.99 quantile, but not for the interval's upper end."""
    data = np.random.default_rng(0).normal(size=2500)
    question = query.quantile(q=0.99, within=(-2, 4), step=2**-10, epsilon=1)
    found = answers(question, data, 60)
    reached = [a for a in found if a.error_model.interval(0.95, 3).upper == 4]
    assert len(reached) > 3
    for answer in reached:
        assert answer.status.words.startswith("the interval reaches an end of the range")


def test_ties_are_answered_exactly() -> None:
    data = np.repeat([0.0, 34.0, 90.0], [2000, 9000, 2000])
    for answer in answers(query.median(within=WITHIN, epsilon=1), data, 20):
        assert answer.value == 34
        lower, upper = answer.error_model.interval(0.95, 3)
        assert upper - lower == 2.0**-21  # half a step of rounding on each side


def test_a_range_that_ends_at_the_quantile() -> None:
    data = np.full(5000, 7.0)
    for within in ((7, 1e9), (-1e9, 7)):
        for answer in answers(query.median(within=within, epsilon=1), data, 10):
            assert answer.value == 7
            assert answer.status.code == "range_end"
            assert "end 7 of the range" in answer.status.words


@pytest.mark.parametrize("within", [(0, 1e9), (-1e9, 0), (0, 1)], ids=str)
def test_a_natural_end_of_the_range_is_no_surprise(within) -> None:
    """0 is that of counts and amounts, and 0 and 1 are those of shares."""
    data = np.full(5000, 0.0 if 0 in within and 1 not in within else 1.0)
    for answer in answers(query.median(within=within, epsilon=1), data, 5):
        assert answer.value == data[0]
        assert answer.status.words == "ok"


def test_levels() -> None:
    data = np.random.default_rng(0).normal(size=20_000)
    (sure,) = answers(query.median(within=WITHIN, epsilon=1, level=0.999), data, 1)
    drawn = sure.error_model.interval(0.999, None)
    assert sure.error_model.interval(0.5, 3) == drawn
    assert sure.error_model.interval(0.9999, 3) == WITHIN
    (point,) = answers(query.median(within=WITHIN, epsilon=1, level=None), data, 1)
    assert point.error_model.interval(0.5, 3) == WITHIN
    assert "level=None" in point.error_model.assumption(3)
    assert abs(float(point.value)) < 0.1


@pytest.mark.parametrize(
    ("q", "exact"),
    [
        (0.9, Fraction(9, 10)),
        ("0.9", Fraction(9, 10)),
        (1 / 3, Fraction(1, 3)),
        (Fraction(1, 7), Fraction(1, 7)),
        ("2/3", Fraction(2, 3)),
        (0.123456789, Fraction(123456789, 10**9)),
        (1e-9, Fraction(1, 10**9)),
    ],
)
def test_q_is_read_exactly(q, exact) -> None:
    (answer,) = answers(query.quantile(q=q, within=WITHIN, epsilon=1), np.arange(9.0), 1)
    assert answer.error_model.q == exact


@pytest.mark.parametrize("epsilon", ["1e-6", "1e-9"])
def test_a_tiny_budget_is_refused_before_the_data_are_read(epsilon) -> None:
    question = query.median(within=WITHIN, epsilon=epsilon)
    with pytest.raises(InvalidArgument, match="larger budget"):
        answers(question, np.arange(9.0), 1)


def test_constants_of_a_run() -> None:
    """Shares, shifts and caps follow from arguments alone."""
    lattice = Lattice.within(WITHIN)
    for q in (Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000)):
        for level in (0.95, 0.9999):
            plan = RankPlan.of(lattice, BudgetSplit(PureDP(Fraction(1))), q, level)
            rate = 0.44 / (2 * float(max(q, 1 - q)))
            assert math.exp(-rate * plan.shift) <= 1.001 * (1 - level)
            # What is capped weighs e^-60, with all pairs and whatever their prior.
            assert rate * plan.end_cap >= 60 + 2 * math.log(4 * 52) + 2 * math.log(lattice.width)
            assert plan.reach >= max(plan.cap, plan.end_cap + plan.shift)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n", [10_000, 20_000])
@pytest.mark.parametrize("shape", ["normal", "exponential", "ages"])
def test_an_interval_of_a_high_quantile_ends_near_the_data_or_at_the_range(shape, n) -> None:
    """With a hundred or two of records beyond it; what is further is said."""
    rng = np.random.default_rng(n)
    x = {
        "normal": lambda: rng.normal(size=n),
        "exponential": lambda: rng.exponential(size=n),
        "ages": lambda: np.clip(np.round(rng.normal(40, 22, n)), 0, 120),
    }[shape]()
    truth, widths = np.quantile(x, 0.99, method="inverted_cdf"), []
    held = 0
    for seed in range(20):
        curator = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy(f"high {seed}"))
        found = curator.quantile(q=0.99, epsilon=1)
        lower, upper = found.interval()
        held += lower <= truth <= upper
        if found.code == "ok":
            widths.append(upper - truth)
    assert held >= 19
    assert len(widths) >= (10 if n == 10_000 else 19)
    assert np.median(widths) <= 4 * truth
    assert max(widths) <= 300 * truth
    assert n == 10_000 or np.median(widths) <= truth / 2
