"""The lattice of logarithms: how exact it is, what is refused, and what values beyond it get."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.exact.log_lattice import LogLattice, _logarithms
from modicum.sources.reader import ColumnRows
from modicum.summaries.base import CHUNK, Quantiser
from modicum.summaries.cells import Cells
from modicum.summaries.grouped import summary_of_sorted
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.sums import ClippedSum

X = np.exp(np.random.default_rng(3).uniform(-708, 708, CHUNK))


def test_logarithms_are_near_those_of_numpy() -> None:
    ends = [5e-324, 2.0**-1022, math.nextafter(1, 0), 1.0, math.sqrt(0.5), 1.7976931348623157e308]
    for x in (X, np.array(ends), np.linspace(0.5, 2, 999)):
        for lo in (1.0, 0.7, 1e-9):
            found, known = _logarithms(x, lo), np.log(x) - np.log(lo)
            assert np.abs(found - known).max() <= 2.0**-50 * max(1.0, np.abs(known).max())


def test_logarithms_in_a_narrow_range_are_as_exact() -> None:
    x = np.linspace(1e9, 1.001e9, 999)
    assert np.abs(_logarithms(x, 1e9) - np.log1p((x - 1e9) / 1e9)).max() <= 2.0**-52


def test_a_logarithm_depends_on_its_value_alone() -> None:
    whole = _logarithms(X, 0.3)
    assert (_logarithms(X[::-1].copy(), 0.3)[::-1] == whole).all()
    assert (_logarithms(X[1::3], 0.3) == whole[1::3]).all()
    assert all(_logarithms(X[i : i + 1], 0.3)[0] == whole[i] for i in range(99))


@pytest.mark.parametrize("within", [(1, 1e9), (1e-9, 1e9), (0.999, 1.0), (5e-324, 1e307), (2, 4)])
def test_the_step_has_room_for_errors_of_logarithms(within) -> None:
    lattice = LogLattice.within(within)
    width = math.log(within[1]) - math.log(within[0])
    assert 2.0**-47 * max(1.0, width) <= lattice.step <= 2.0**-46 * max(1.0, width)
    assert abs(lattice.last * lattice.step - width) <= lattice.step
    assert (lattice.value(0), lattice.value(lattice.last + 1)) == within


def test_values_beyond_the_range_are_clamped_whatever_the_others_are() -> None:
    lattice = LogLattice.within((0.5, 8.0))
    values = np.array([-np.inf, -3.0, -0.0, 0.0, 5e-324, 0.5, np.nan, 8.0, 1e300, np.inf])
    assert lattice.quantise(values).tolist() == [0] * 6 + [lattice.last] * 3
    assert lattice.numbers.last == lattice.last == 4 * round(math.log(2) / lattice.step)


def test_summaries_read_the_same_integers() -> None:
    lattice = LogLattice.within((1e-3, 1e6))
    quantiser = Quantiser(lattice)
    found = quantiser.integers(quantiser.bits(X)).copy()
    assert (found == lattice.quantise(X)).all()
    inside = (X > 1e-3) & (X < 1e6)
    back = np.array([lattice.value(int(q)) for q in found[inside]])
    assert np.abs(back / X[inside] - 1).max() < 2 * lattice.step


@pytest.mark.parametrize(
    "asked", [Cells(9, (1, 1 << 40)), ClippedSum(0, 9), RankWindow(Fraction(1, 2), 7)]
)
def test_records_that_are_held_are_read_once(asked) -> None:
    lattice = LogLattice.within((1e-3, 1e6))
    accumulator = asked.begin(lattice, ColumnRows(SeededEntropy("held")))
    accumulator.update(X)
    held = np.sort(lattice.quantise(X))
    assert (
        summary_of_sorted(asked, lattice, held, None).to_bytes() == accumulator.finish().to_bytes()
    )


@pytest.mark.parametrize("within", [(0, 1), (-1, 1), (-2, -1), (1, 1), (2, 1), (1, math.inf)])
def test_a_range_without_logarithms_is_refused(within) -> None:
    with pytest.raises(InvalidArgument, match="within must be"):
        LogLattice.within(within)


def test_any_lattice_stands_for_one_of_logarithms() -> None:
    lattice = LogLattice.of(Lattice(-8.0, 8.0, 1.0))
    assert (lattice.first, lattice.last, lattice.step) == (0, 16, 1.0)
    assert lattice.quantise(np.exp(np.arange(-9.0, 10))).tolist() == [0, *range(17), 16]
    assert LogLattice.of(lattice) is lattice
