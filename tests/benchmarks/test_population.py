"""The benchmark of intervals for populations, on next to nothing."""

import numpy as np

from benchmarks import population_quantiles, population_slopes
from benchmarks.population import LEAST_USABLE, SHAPES, Effort, measure, population


def test_a_case_counts_releases_that_can_be_used() -> None:
    cell = measure("uniform", 400, "2", 10, known=True)
    assert cell.usable == 1
    assert cell.covered >= 0.7
    assert 1 < cell.width < 1.5
    lost = measure("Bernoulli 2 %", 200, "0.2", 5, known=False)
    assert lost.usable < LEAST_USABLE
    assert lost.row[-1] == "-"


def test_all_populations_are_measured() -> None:
    text, targets = population(Effort(rows=((500, True),), budgets=("3",), releases=2))
    assert all(shape in text for shape in SHAPES)
    assert len(targets) == 2


def test_slopes_are_measured_in_every_population() -> None:
    case = population_slopes.Case(6000, 1, "ρ = 0.5")
    text, targets = population_slopes.population_slopes(population_slopes.Effort((case,), (), 2))
    assert all(shape in text for shape in population_slopes.SHAPES)
    assert len(targets) == 2
    few = population_slopes.Case(200, 2, "ε = 0.5")
    lost = population_slopes.measure("normal", few, 3)
    assert lost.usable < LEAST_USABLE
    assert lost.row[-1] == "-"


def test_coefficients_of_a_population_are_those_that_samples_tend_to() -> None:
    """The parabola's too, which is not a line."""
    for shape, sample in population_slopes.SHAPES.items():
        x, y, truth = sample(np.random.default_rng(1), 200_000, 2)
        found, errors = population_slopes.sandwich(x, y)
        assert (np.abs(found - truth) < 4.5 * errors).all(), shape


def test_several_quantiles_are_measured_in_every_population() -> None:
    case = population_quantiles.Case(4000, 5, "ρ = 0.5")
    effort = population_quantiles.Effort((case,), 2)
    text, targets = population_quantiles.population_quantiles(effort)
    assert all(shape in text for shape in population_quantiles.SHAPES)
    assert len(targets) == 1
    for sample, quantile in population_quantiles.SHAPES.values():
        x = sample(np.random.default_rng(1), 100_000)
        for q in population_quantiles.NUMBERS[29]:
            at = quantile(q)
            assert np.mean(x < at - 1e-9) - 0.01 < q < np.mean(x <= at + 1e-9) + 0.01
