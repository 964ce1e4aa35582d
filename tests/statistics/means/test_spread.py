"""Variances and standard deviations: errors and coverage."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import query
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import LaplaceNoise
from modicum.statistics.means.squares import VarianceErrorModel, spread_interval
from modicum.statistics.ranges.bounds import Rough
from modicum.statistics.tails.outside import Counted, NoisyTerm, Outside
from modicum.statistics.tails.rings import NOT_COUNTED
from tests.statistics.order.test_quantile import answers

WITHIN = (-1e9, 1e9)
SHAPES = {
    "normal": lambda rng, n: rng.normal(1000, 1, n),
    "income": lambda rng, n: rng.lognormal(10.8, 0.9, n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "t of 4": lambda rng, n: rng.standard_t(4, n),
    "pareto 3.5": lambda rng, n: rng.pareto(3.5, n) + 1,
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
}


def outcomes(question, truth, shape, n, *, sets, releases):
    """Relative errors, and whether the interval holds the truth, or the code is not ok."""
    errors, held = [], []
    for i in range(sets):
        data = SHAPES[shape](np.random.default_rng([31, i]), n)
        real = truth(data)
        for answer in answers(question, data, releases, (shape, n, i)):
            lower, upper = answer.error_model.interval(0.95, 3)
            held.append(lower <= real <= upper or answer.status.code != "ok")
            errors.append(float(answer.value) / real - 1)
    return np.array(errors), float(np.mean(held))


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize(
    ("shape", "most"),
    [("normal", 0.002), ("income", 0.04), ("uniform", 0.001), ("exponential", 0.01)],
)
@pytest.mark.one_in(2)
def test_the_standard_deviation_is_near(shape, most, cost) -> None:
    question = query.std(within=WITHIN, **cost)
    errors, held = outcomes(question, np.std, shape, 20_000, sets=9, releases=5)
    assert np.median(abs(errors)) < most
    assert held > 0.85  # 45 intervals


@pytest.mark.slow
@pytest.mark.parametrize("n", [2000, 30_000])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_of_a_spread_covers(shape, n) -> None:
    for question, truth in (
        (query.std(within=WITHIN, epsilon=1), np.std),
        (query.var(within=WITHIN, rho="0.5"), np.var),
    ):
        _, held = outcomes(question, truth, shape, n, sets=25, releases=6)
        assert held > 0.93


def test_a_variance_is_the_square_of_its_deviation() -> None:
    data = SHAPES["income"](np.random.default_rng(1), 5000)
    one = answers(query.var(within=WITHIN, epsilon=1), data, 1, "same")[0]
    other = answers(query.std(within=WITHIN, epsilon=1), data, 1, "same")[0]
    assert float(other.value) ** 2 == pytest.approx(float(one.value), rel=1e-12)
    ends, roots = (a.error_model.interval(0.95, 3) for a in (one, other))
    assert [root**2 for root in roots] == pytest.approx(list(ends))


def error_model(**changed) -> VarianceErrorModel:
    noise = NoisyTerm(LaplaceNoise(Fraction(100)), 1.0)
    plain = {
        "lattice": Lattice.within((-1024, 1024), 1),
        "root": False,
        "lo": -10,
        "hi": 10,
        "rough": Rough(0, Counted(Fraction(1000), (noise,)), NoisyTerm(noise.noise, 1e-3)),
        "sums": (30_000, 70_000),
        "noise": noise,
        "outside": Outside((10, 10), 1024, 21, 2.0, 4.0),
        "centre": 0,
        "rings": replace(NOT_COUNTED, scale=1.0),
        "given": True,
        "constant": False,
    }
    return VarianceErrorModel(**(plain | changed))


def test_the_interval_follows_the_noise_and_the_tail() -> None:
    """30 % of 100: the noise moves either sum by a few hundred."""
    found = error_model()
    assert found.value == 30
    lower, upper = found.interval(0.95, None)
    assert 20 < lower < 30 < upper < 40
    heavy, light = found.interval(0.95, 3).upper, found.interval(0.95, 8).upper
    assert upper < light < heavy < 1024**2
    ended = error_model(lattice=Lattice.within((-10, 10), 1))
    assert ended.interval(0.95, 2) == pytest.approx(found.interval(0.95, None))
    assert found.interval(0.95, 2).upper == 1024**2
    assert "public range" in found.assumption(2)
    assert error_model(sums=(-5, -5)).value == 0


@pytest.mark.parametrize("root", [True, False])
def test_an_interval_never_ends_below_its_start(root) -> None:
    """Half of the range is the largest standard deviation, whatever the noise says."""
    lattice, half = Lattice(0.0, 100.0, 1.0), 50.0 if root else 2500.0
    for least, most in ((60.0, 60.0), (3.0, 70.0), (60.0, 50.0), (0.0, 0.0)):
        lower, upper = spread_interval(lattice, least**2, most**2, root=root)
        assert 0 <= lower <= upper <= half


def test_sums_of_nothing_leave_the_clipping_bounds() -> None:
    lower, upper = error_model(sums=(-50_000, -50_000)).interval(0.95, None)
    assert lower == 0
    assert upper == pytest.approx(10.5**2)


@pytest.mark.parametrize("value", [0.0, 7.0, -1e9, 1e6 + 0.125])
def test_constant_data_have_no_spread(value) -> None:
    data = np.full(3000, value)
    for question in (query.std(within=WITHIN, epsilon=1), query.iqr(within=WITHIN, epsilon=1)):
        for answer in answers(question, data, 3):
            assert float(answer.value) <= 0.01 * max(1.0, abs(value))
            assert answer.error_model.interval(0.95, 3).lower == 0


def test_a_variance_of_an_unbounded_range_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="ask for std"):
        query.var(within=(-1e200, 1e200), epsilon=1)
    assert query.std(within=(-1e200, 1e200), epsilon=1).statistic == "std"
