"""The corrected lengths of Asi and Duchi (2020), Lemma 4.1, are what trying everything finds."""

from fractions import Fraction

import numpy as np
import pytest

from tests.reference.swap import Exchanges, length, trimmed

FAR = 500


@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 1), (5, 1), (5, 2)])
def test_data_without_bounds(n, m) -> None:
    """Beyond m exchanges any value is reached: records may lie as far as is needed."""
    space = Exchanges((-FAR, 0, 1, 3, FAR), n)
    checked = 0
    for data in space.all:
        if max(map(abs, data)) == FAR:
            continue
        for t in (Fraction(k, 2) for k in range(-4, 11)):
            assert length(data, m, t, (-np.inf, np.inf)) == space.crossing(data, m, t)
            checked += 1
    assert checked > 100


@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 1), (5, 1), (5, 2)])
def test_data_with_bounds(n, m) -> None:
    """The paper's m + 1 is too few where one record at the bound does not carry the mean to t."""
    space, more = Exchanges((0, 1, 2, 4), n), 0
    for data in space.all:
        for t in (Fraction(k, 2) for k in range(9)):
            found = length(data, m, t, (0, 4))
            assert found == space.crossing(data, m, t)
            more += found > m + 1
    assert (more > 0) == (n - 2 * m >= 2)


@pytest.mark.parametrize("rho", [Fraction(1, 2), Fraction(1)])
def test_smooth_lengths(rho) -> None:
    """len of t moved by rho towards the trimmed mean is the least of all within rho."""
    space, m = Exchanges((0, 1, 2, 4), 4), 1
    for data in space.all:
        value = trimmed(data, m)
        for t in (Fraction(k, 2) for k in range(9)):
            moved = min(max(value, t - rho), t + rho)
            near = [t + Fraction(j, 4) for j in range(-int(4 * rho), int(4 * rho) + 1)]
            if value not in near:  # then a point of the grid is the nearest one
                moved = min(near, key=lambda s: abs(s - value))
            least = min(length(data, m, s, (0, 4)) for s in [*near, moved] if 0 <= s <= 4)
            assert length(data, m, moved, (0, 4)) == least
