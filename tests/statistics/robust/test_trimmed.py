"""Trimmed and winsorized means: near the statistic, whatever lies beyond; the interval covers."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from modicum import query
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.grids import RadiusGrid
from modicum.privacy.event import PureDP, event_of
from modicum.privacy.split import BudgetSplit
from modicum.runtime.replay import Run
from modicum.statistics.robust.trimmed import LevelPlan
from modicum.statistics.tails.drawn_interval import distances
from tests.statistics.order.test_quantile import SHAPES, WITHIN, answers


def exact(statistic: str, data, trim: float) -> float:
    if statistic == "trimmed_mean":
        return float(stats.trim_mean(data, trim))
    ordered, m = np.sort(data), math.floor(round(trim * len(data), 9))
    return float(np.clip(data, ordered[m], ordered[len(data) - m - 1]).mean())


def question(statistic: str, trim=0.1, **options):
    options = {"within": WITHIN, "epsilon": 1} | options
    return getattr(query, statistic)(trim=trim, **options)


STATISTICS = pytest.mark.parametrize("statistic", ["trimmed_mean", "winsorized_mean"])


def coverage(statistic, shape, n, *, trim=0.1, sets, releases) -> tuple[float, float]:
    """Shares of intervals that hold the statistic, and of answers that are ok."""
    held, fine = [], []
    for i in range(sets):
        data = SHAPES[shape](np.random.default_rng([i, n]), n)
        truth = exact(statistic, data, trim)
        for answer in answers(question(statistic, trim), data, releases, (shape, n, i)):
            lower, upper = answer.error_model.interval(0.95, 3)
            slack = 1e-12 * abs(truth)  # the reference is a float
            held.append(lower - slack <= truth <= upper + slack)
            fine.append(answer.status.words == "ok")
    return float(np.mean(held)), float(np.mean(fine))


@STATISTICS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "n", [2, 300, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 30, 5000))]
)
@pytest.mark.one_in(8)
def test_the_interval_covers(statistic, shape, n) -> None:
    held, _ = coverage(statistic, shape, n, sets=2, releases=8)
    assert held >= 0.8  # 16 intervals


@pytest.mark.slow
@STATISTICS
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [30, 300, 2000, 50_000])
@pytest.mark.parametrize("trim", [0.05, 0.3])
def test_coverage_over_many_data_sets(statistic, shape, n, trim) -> None:
    held, _ = coverage(statistic, shape, n, trim=trim, sets=20, releases=20)
    assert held >= 0.93  # 400 intervals: a standard error of 1.1 %


@STATISTICS
@pytest.mark.parametrize("shape", ["normal", "far", "income", "pareto 1.5", "uniform"])
@pytest.mark.one_in(6)
def test_large_data_are_ok_and_the_error_is_of_one_record(statistic, shape) -> None:
    """Of the scale 2/ε times what one record moves, which is the width between the cuts / n."""
    n = 20_000
    data = SHAPES[shape](np.random.default_rng(3), n)
    truth, found = exact(statistic, data, 0.1), answers(question(statistic), data, 30)
    assert all(answer.status.words == "ok" for answer in found)
    low, high = np.quantile(data, [0.1, 0.9])
    error = np.mean([abs(float(answer.value) - truth) for answer in found])
    assert error < 2 / 0.7 * (high - low) / n * 2


@pytest.mark.one_in(2)
@STATISTICS
def test_what_lies_beyond_does_not_matter(statistic) -> None:
    data = np.random.default_rng(3).normal(size=5000)
    wild = np.where(np.arange(5000) % 50 == 0, 1e9, data)
    plain, other = (
        [float(a.value) for a in answers(question(statistic), x, 20)] for x in (data, wild)
    )
    assert np.ptp(other) < 3 * np.ptp(plain)
    assert abs(np.mean(other) - exact(statistic, wild, 0.1)) < 0.01


@STATISTICS
@pytest.mark.one_in(2)
def test_a_range_and_a_step_that_are_coarse(statistic) -> None:
    """A mean between two integers is as near to one as to the other; nothing far is likely."""
    coins = np.repeat([0.0, 1.0], [5000, 5000])
    for within in ((-1e9, 1e9), (-1e15, 1e15)):
        found = answers(question(statistic, within=within, step=1.0), coins, 20)
        assert {float(a.value) for a in found} == {0.0, 1.0}
        for answer in found:
            lower, upper = answer.error_model.interval(0.95, 3)
            assert lower <= 0.5 <= upper <= 3


@pytest.mark.one_in(2)
@STATISTICS
def test_few_records_are_told(statistic) -> None:
    _, fine = coverage(statistic, "normal", 100, sets=2, releases=10)
    assert fine == 0
    data = np.random.default_rng(0).normal(size=200)
    found = answers(question(statistic, level=None), data, 10)
    assert all(a.status.words.startswith("too little data") for a in found)


@STATISTICS
def test_an_end_of_the_range_is_told(statistic) -> None:
    """It takes a level that the records do not suffice for, while they do for the point."""
    data = np.random.default_rng(0).normal(size=20_000)
    (answer,) = answers(question(statistic), data, 1)
    far = replace(answer.error_model, radius=answer.error_model.lattice.last)
    assert answer.status.words == answer.error_model.status.words == "ok"
    assert far.status.words.startswith("the interval reaches an end of the range")
    assert WITHIN[1] in far.interval(0.95, None) or WITHIN[0] in far.interval(0.95, None)


@pytest.mark.one_in(2)
@STATISTICS
def test_constant_columns_are_answered_exactly(statistic) -> None:
    for within in (WITHIN, (7, 1e9), (-1e9, 7)):
        for answer in answers(question(statistic, within=within), np.full(5000, 7.0), 10):
            assert answer.value == pytest.approx(7, abs=1e-6)
            assert answer.status.words == "ok"
            lower, upper = answer.error_model.interval(0.95, 3)
            assert lower <= 7 <= upper <= lower + 1e-5


@STATISTICS
def test_levels(statistic) -> None:
    data = np.random.default_rng(0).normal(size=20_000)
    (sure,) = answers(question(statistic, level=0.999), data, 1)
    drawn = sure.error_model.interval(0.999, None)
    assert sure.error_model.interval(0.5, 3) == drawn
    assert sure.error_model.interval(0.9999, 3) == WITHIN
    (point,) = answers(question(statistic, level=None), data, 1)
    assert point.error_model.interval(0.5, 3) == WITHIN
    assert "level=None" in point.error_model.assumption(3)


@pytest.mark.parametrize("epsilon", ["0.001", "1e-9"])
def test_a_tiny_budget_is_refused_before_the_data_are_read(epsilon) -> None:
    with pytest.raises(InvalidArgument, match="larger budget"):
        answers(question("trimmed_mean", epsilon=epsilon), np.arange(9.0), 1)


@STATISTICS
@pytest.mark.parametrize("epsilon", [150, 250, 1000, 10**6])
def test_of_a_large_epsilon_no_weight_is_left_far_away(statistic, epsilon) -> None:
    """From the law: the expected distance falls with ε, and all but stays from 200 on."""
    data = tuple(np.random.default_rng(0).gamma(2, 10, 500).tolist())

    def distance(epsilon: float) -> float:
        asked = question(statistic, epsilon=epsilon)
        run = Run(asked, asked.event, Remembered(data))
        run.give((500,))
        return float(run.waiting.distance() * asked.lattice.step)

    assert distance(epsilon) < 1.01 * distance(100) < 0.01


def test_constants_of_a_run() -> None:
    """The aim and the caps follow from arguments alone; the proof's inequalities hold."""
    lattice = Lattice.within(WITHIN)
    for level in (0.95, 0.9999):
        plan = LevelPlan.of(lattice, BudgetSplit(PureDP(1)), level)
        radii = len(RadiusGrid.between(1, lattice.width, per_octave=4).radii)
        assert radii * math.exp(-0.19 * plan.aim) <= (1 - level) * (1 + 1e-9)
        assert plan.radius_cap >= plan.aim
        assert (lattice.width + 1) * math.exp(-0.3 * plan.length_bound) <= 0.0500001


@STATISTICS
@pytest.mark.parametrize(("n", "rare"), [(1500, 1e-3), (3000, 1e-4), (20_000, 1e-4)])
def test_an_interval_has_a_width(statistic, n, rare) -> None:
    """Radii a thousand times too small are hardly ever drawn, if there are records enough."""
    data = np.random.default_rng(n).normal(size=n)
    asked = question(statistic)
    run = Run(asked, event_of(asked.budget), Remembered(tuple(data)))
    entropy, drawn = SeededEntropy(f"{statistic} {n}"), 0
    while run.trail[-1][0] != "radius of the interval":
        drawn = run.waiting.sample(entropy)
        drawn = drawn if isinstance(drawn, int) else drawn[0]
        run.give(drawn if run.trail[-1][0] != "count" else (drawn,))
    point = drawn * asked.lattice.step
    radii = np.array(distances(max(asked.lattice.last - drawn, drawn - asked.lattice.first)).radii)
    missed = abs(point - exact(statistic, data, 0.1)) / asked.lattice.step
    chances = np.exp([run.waiting.log_density(k) for k in range(len(radii))])
    assert chances.sum() == pytest.approx(1)
    assert chances[radii < missed].sum() < 0.05
    assert chances[radii < missed / 1000].sum() < rare
