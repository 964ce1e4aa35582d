"""Losses of listed fits against their definition in whole numbers; the lists themselves."""

import hashlib
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from modicum.exact.lattice import Lattice
from modicum.summaries.second_moments import FitList, FitLosses, RowTotals, Scaling

LATTICE = Lattice(-(2.0**20), 2.0**20, 2.0**-10)
SCALING = Scaling((300, -5000, 1 << 20), (7, 14, 20))
RNG = np.random.default_rng(3)
X = np.concatenate(
    [
        np.ldexp(RNG.normal(size=(60, 3)) * [2.0**8, 2.0**14, 2.0**20] + SCALING.centres, -10),
        [[2.0**20, 2.0**20, -(2.0**20)], [-(2.0**20), 0.0, 0.0], [0.0, 2.0**18, 0.0]],
    ]
)
CAP = 384
MOST_LOSS = CAP**2
FITS = FitList((100, 4096, -2000), 3000, 40, 1, 3)


def losses(x: np.ndarray, fits: FitList = FITS) -> RowTotals:
    asked = FitLosses(SCALING, fits, CAP).begin(LATTICE)
    asked.update(x)
    return asked.finish()


def row(values: np.ndarray) -> list[int]:
    """Distances from the centres in 2^-12 half-widths, towards zero, at most 1024 of them."""
    found = []
    for value, centre, shift in zip(values, SCALING.centres, SCALING.shifts, strict=True):
        z = int(value * 1024) - centre
        size = min(floor(Fraction(abs(z) << 12, 1 << shift)), 1 << 22)
        found.append(size if z >= 0 else -size)
    return found


def loss(fit: list[int], values: np.ndarray) -> int:
    *x, y = row(values)
    if any(a and abs(b) == 1 << 22 for a, b in zip(fit[1:], x, strict=True)):
        return MOST_LOSS
    left = fit[0] * 4096 + sum(a * b for a, b in zip(fit[1:], x, strict=True)) - y * 4096
    return min(round(Fraction(abs(left), 1 << 14)), CAP) ** 2


def test_losses_are_those_of_whole_numbers() -> None:
    grid = np.rint(X * 1024) / 1024
    listed = FITS.fits().tolist()
    expected = [sum(loss(fit, values) for values in grid) for fit in listed]
    assert list(losses(grid).totals) == expected
    assert len(set(expected)) > 20


def test_a_far_value_counts_for_fits_that_use_its_column() -> None:
    """However little: two that cancel each other here are as bad."""
    far = np.array([[2.0**20, 2.0**20, 1024.0]])
    level = FitList((0, 0, 0), 1, 2, 0, 1)
    assert losses(far, level).totals[0] < MOST_LOSS
    for slopes in ((1, 0), (0, -1), (1, -1)):
        assert losses(far, FitList((0, *slopes), 1, 2, 0, 1)).totals[0] == MOST_LOSS


def test_a_row_adds_no_more_than_the_most() -> None:
    single = np.array([losses(X[[k]]).totals for k in range(len(X))])
    assert single.min() >= 0
    assert single.max() == MOST_LOSS
    assert single.sum(axis=0).tolist() == list(losses(X).totals)


def test_order_and_parts_do_not_matter() -> None:
    whole = losses(X)
    parts = losses(X[40:]).merge(losses(X[:40][::-1]))
    assert parts == whole
    assert RowTotals.from_bytes(whole.to_bytes()) == whole
    assert not any(losses(X[:0]).totals)


def test_a_list_is_the_same_everywhere() -> None:
    """Its digest, by which a platform that made others would be found out."""
    found = FitList((0,) * 11, 1229, 4096, 2, 11).fits()
    digest = hashlib.sha256(found.astype("<i8").tobytes()).hexdigest()
    assert digest.startswith("7971713b86a50eb7")
    assert not np.array_equal(found, FitList((0,) * 11, 1229, 4096, 3, 11).fits())


def test_a_list_has_the_spread_that_it_says() -> None:
    found = FitList((0,) * 6, 1000, 4096, 0, 6).fits()
    assert not found[0].any()
    dense = found[np.arange(4096) % 8 < 4][1:]
    for place, times in enumerate((1, 0.5, 1, 2)):
        each = found[8 + place :: 8]
        assert each.std() == pytest.approx(1000 * times, rel=0.05)
        assert np.abs(each.mean()) < 60 * times
    assert (dense != 0).mean() > 0.99
    left = (found[np.arange(4096) % 8 >= 4] == 0).mean()
    assert left == pytest.approx(0.5, abs=0.02)


def test_only_free_components_differ() -> None:
    found = FitList((5, 6, 7), 1000, 64, 0, 1).fits()
    assert np.unique(found[:, 1:], axis=0).tolist() == [[6, 7]]
    assert len(np.unique(found[:, 0])) > 30
