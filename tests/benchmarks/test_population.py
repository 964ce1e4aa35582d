"""The benchmark of intervals for populations, on next to nothing."""

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
