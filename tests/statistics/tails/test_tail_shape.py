"""The family of a tail: its quantiles beyond two radii that are known."""

import math

import pytest
from scipy import optimize, stats

from modicum.statistics.tails.tail_shape import Ranks, TailShape, exponential_radius

EXPECTED = 1e5
RANKS = Ranks.of(EXPECTED)


def radius(law, share: float) -> float:
    """Distance from the median that a share of the data exceeds."""
    median = law.ppf(0.5)

    def excess(r: float) -> float:
        return law.sf(median + r) + law.cdf(median - r) - share

    return optimize.brentq(excess, 0, 1e12, xtol=1e-14, rtol=1e-14)


def shape_of(law) -> TailShape:
    seen = math.log(radius(law, RANKS.outer) / radius(law, RANKS.inner))
    reference = math.log(exponential_radius(RANKS.outer) / exponential_radius(RANKS.inner))
    return TailShape(seen / reference, RANKS, EXPECTED)


@pytest.mark.parametrize(
    ("law", "within"),
    [
        (stats.uniform(), 0.05),
        (stats.norm(), 0.10),
        (stats.laplace(), 0.10),
        (stats.expon(), 0.01),
        (stats.weibull_min(0.7), 0.25),
        (stats.lognorm(0.9), 0.15),
        (stats.pareto(2.5), 0.20),
        (stats.pareto(1.5), 0.25),
    ],
)
def test_few_records_are_as_far_out_as_the_family_says(law, within) -> None:
    """From 50 records per unit of noise to 3, and the index where there are 50."""
    tail = shape_of(law)
    truth = radius(law, 3 / EXPECTED) / radius(law, 50 / EXPECTED)
    assert math.log(tail.ratio(50, 3)) == pytest.approx(math.log(truth), abs=within)
    near = radius(law, 51 / EXPECTED), radius(law, 49 / EXPECTED)
    index = math.log(51 / 49) / math.log(near[1] / near[0])
    # Beyond an index of 30 the data have an end.
    assert min(tail.index(50), 30) == pytest.approx(min(index, 30), rel=0.35)


def test_the_family_is_exponential_at_a_weight_of_one_and_grows_with_it() -> None:
    around = [TailShape(1 + x, RANKS, EXPECTED).ratio(100, 1) for x in (-1e-6, 0, 1e-6)]
    assert around == pytest.approx([around[1]] * 3, rel=1e-4)
    ratios = [TailShape(w / 10, RANKS, EXPECTED).ratio(100, 1) for w in range(1, 40)]
    assert ratios == sorted(ratios)


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0, 1.5, 2.2])
@pytest.mark.parametrize("strength", [10.0, 70.0, 200.0])
def test_a_radius_is_drawn_where_its_score_is_stationary(weight, strength) -> None:
    tail = TailShape(weight, RANKS, EXPECTED)
    records = tail.beyond(strength)
    most = RANKS.outer * EXPECTED
    assert records == pytest.approx(min(strength / tail.index(records), most), rel=1e-6)
    assert tail.widening(strength) >= 1
    # Fewer records beyond the drawn radius leave less to widen.
    assert tail.widening(strength) <= tail.widening(2 * strength)


def test_a_heavier_tail_is_trusted_as_far_as_it_shows() -> None:
    few, many = Ranks.of(1e4), Ranks.of(1e6)
    assert (few.clear, many.clear) == (0.0, 1.0)
    assert TailShape(2.0, few, 1e4).trusted().weight == 1.0
    assert TailShape(2.0, many, 1e6).trusted().weight == 2.0
    assert TailShape(0.5, few, 1e4).trusted().weight == 0.5
    assert TailShape(-3.0, few, 1e4).trusted().weight > 0
