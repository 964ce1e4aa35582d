"""Local sensitivities at a distance against brute force; Propositions 2.1 and 2.2 in numbers."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum import theory
from modicum.errors import InvalidArgument
from modicum.research.theory.arguments import chosen
from tests.reference.radii import exchanged

GRID = (0.0, 1.0, 3.0, 4.0, 10.0)
STATISTICS = ["mean", "median", theory.Quantile(0.9), theory.TrimmedMean(1)]
every_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=str)


def tried(data, statistic, steps) -> list[float]:
    """By trying all data sets of the grid."""
    found, ball, rim = [], {data}, {data}
    for _ in range(steps):
        here = max(
            theory.modulus(each, statistic, 1, within=(0, 10), neighbours="swap") for each in rim
        )
        found.append(max([here, *found[-1:]]))
        rim = {other for each in rim for other in exchanged(each, GRID)} - ball
        ball |= rim
        rim = rim or ball
    return found


@every_statistic
def test_sensitivities_are_what_trying_everything_finds(statistic) -> None:
    sets = [*list(combinations_with_replacement(GRID, 4))[::3], (0.0, 1.0, 3.0, 3.0, 10.0)]
    for data in sets:
        found = theory.local_sensitivities(data, statistic, 3, within=(0, 10))
        assert found == pytest.approx(tried(data, statistic, 3))


def neighbours():
    rng = np.random.default_rng(3)
    for n in (5, 12, 30):
        for _ in range(20):
            x = np.sort(rng.lognormal(0, 1, n).clip(0, 10))
            y = x.copy()
            y[rng.integers(n)] = rng.choice([0.0, 10.0, rng.random() * 10])
            yield x, np.sort(y)


@every_statistic
def test_they_fulfil_the_conditions_of_theorem_1(statistic) -> None:
    """Proposition 2.1 with distance k - 1."""
    for x, y in neighbours():
        a, b = (theory.local_sensitivities(z, statistic, 25, within=(0, 10)) for z in (x, y))
        moved = [chosen(statistic).value(z) for z in (x, y)]
        assert abs(moved[0] - moved[1]) <= min(a[0], b[0]) + 1e-12
        assert (a[:-1] <= b[1:] + 1e-12).all()
        assert (b[:-1] <= a[1:] + 1e-12).all()


@every_statistic
@pytest.mark.parametrize("beta", [0.05, 0.5])
def test_smooth_sensitivity_is_smooth(statistic, beta) -> None:
    for x, y in neighbours():
        a, b = (theory.local_sensitivities(z, statistic, 40, within=(0, 10)) for z in (x, y))
        one, other = (theory.smooth_radii(z, beta, largest=10.0) for z in (a, b))
        assert one[0] >= a[0] * (1 - 1e-12)
        assert one[0] <= math.exp(beta) * other[0] * (1 + 1e-12)
        # And so are its radii, 1, 2, ... steps away (Proposition 2.2).
        assert (one[:-1] <= other[1:] * (1 + 1e-12)).all()
        assert one[0] == theory.smooth_sensitivity(a, beta, largest=10.0)


def smooth_error(radii_of, epsilon: float, beta: float) -> float:
    """E|z - c| over S/ε for radii at most S e^(β k), S = 1."""
    steps = np.arange(1, round(400 / epsilon))
    return theory.radial_error(radii_of(steps, beta), epsilon, largest=1e-9) * epsilon


SMOOTH = {
    "constant": lambda k, beta: np.ones(len(k)),
    "growing": lambda k, beta: np.exp(np.minimum(beta * k, 600)),
    "late": lambda k, beta: np.where(k > 3 / beta, np.exp(np.minimum(beta * k, 600)), 1.0),
    "one jump": lambda k, beta: np.where(k > 2 / beta, math.exp(2), 1.0),
}


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5, 1.0, 2.0, 3.0])
def test_proposition_2_2(epsilon) -> None:
    """E|z - c| <= (16/3) exp(ε/3) S/ε with β = ε/8; with β = ε/2 there is no such bound."""
    limit = 16 / 3 * math.exp(epsilon / 3)
    worst = max(smooth_error(radii, epsilon, epsilon / 8) for radii in SMOOTH.values())
    assert 2 < worst <= limit
    x, y = math.exp(-epsilon / 2), math.exp(epsilon / 8)
    a, b = x * y, x * y * y
    closed = (y / (y - 1)) * (b / (1 - b) - a / (1 - a)) / (x / (1 - x))
    assert closed * epsilon <= limit
    assert smooth_error(SMOOTH["growing"], epsilon, epsilon / 2) > 100 * limit


def test_the_error_is_that_of_the_law() -> None:
    """Against sums over a fine lattice, in one and in two dimensions (L1)."""
    radii, epsilon, unit = [1.0, 0.5, 3.0], 2.0, 60
    ends = np.cumsum([0, *(round(r * unit) for r in radii), *[4 * unit] * 40])
    for dimension in (1, 2):
        distance = np.arange(1, ends[-1] + 1)
        points = 2 * np.ones(len(distance)) if dimension == 1 else 4 * distance
        shells = np.searchsorted(ends, distance, side="left")
        weights = points * np.exp(-epsilon / 2 * shells)
        exact = float(weights @ distance / weights.sum()) / unit
        found = theory.radial_error(radii, epsilon, largest=4.0, dimension=dimension)
        assert found == pytest.approx(exact, rel=0.02)


def test_the_median_pays_for_not_knowing_its_length() -> None:
    """Proof page, [radial.6]: k gaps in the k-th radius, where lengths allow k gaps in all."""
    x = np.arange(2001.0)
    radii = theory.local_sensitivities(x, "median", 600, within=(0, 2000))
    assert radii[:500].tolist() == list(range(1, 501))
    for epsilon in (0.1, 0.2, 0.4):
        error = theory.radial_error(radii, epsilon, largest=2000.0)
        known = theory.radial_error(np.ones(600), epsilon, largest=1.0)
        assert error == pytest.approx(12 / epsilon**2, rel=0.2)
        assert known == pytest.approx(2 / epsilon, rel=0.2)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (
            lambda: theory.local_sensitivities([1], theory.Location(3), 1, within=(0, 2)),
            "known for",
        ),
        (lambda: theory.local_sensitivities([1], theory.TrimmedMean(1), 1, within=(0, 2)), "of 1"),
        (lambda: theory.local_sensitivities([1], "median", -1, within=(0, 2)), "steps"),
        (lambda: theory.local_sensitivities([3], "median", 1, within=(0, 2)), "every record"),
        (lambda: theory.smooth_sensitivity([1], 0, largest=1), "beta"),
        (lambda: theory.radial_error([1], 0, largest=1), "epsilon"),
        (lambda: theory.radial_error([1], 1, largest=1, dimension=0), "dimension"),
    ],
)
def test_refusals(call, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        call()
