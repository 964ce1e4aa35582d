"""Bits, rows and limbs: sums stay exact at the largest integers there are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.summaries.base import CHUNK, ROW, Quantiser, exact_sum, sum_of_rows
from tests.reference import summaries as twin
from tests.summaries.cases import LATTICES, columns, lattices


@given(columns, lattices)
def test_bits_are_the_lattice(column: list[float], lattice) -> None:
    quantiser = Quantiser(lattice)
    q = quantiser.integers(quantiser.bits(np.array(column, dtype=np.float64)))
    assert sorted(q.tolist()) == twin.integers(column, lattice)
    assert q.tolist() == lattice.quantise(np.array(column, dtype=np.float64)).tolist()


@pytest.mark.parametrize("lattice", LATTICES)
def test_lifted_floats_have_the_bits(lattice) -> None:
    quantiser = Quantiser(lattice)
    for q in (lattice.first, lattice.last, (lattice.first + lattice.last) // 2):
        x = np.array([lattice.value(q)])
        assert quantiser.bits(x).view(np.float64)[0] == quantiser.lifted(q)


def test_bits_leave_no_warning() -> None:
    signalling = np.array([0x7FF0000000000001], dtype=np.uint64).view(np.float64)
    with np.errstate(all="raise"):
        quantiser = Quantiser(LATTICES[-1])
        assert len(quantiser.integers(quantiser.bits(signalling))) == 0
        quantiser.bits(np.array([1.7e308, np.inf]))


def test_values_need_a_lattice() -> None:
    with pytest.raises(InvalidArgument, match="lattice must not be None"):
        Quantiser(None)


@pytest.mark.parametrize("value", [2**52, 2**52 - 1])
@pytest.mark.parametrize("length", [0, 1, ROW, ROW + 1, CHUNK])
def test_rows_do_not_overflow(value: int, length: int) -> None:
    assert sum_of_rows(np.full(length, value, dtype=np.uint64)) == value * length
    for signed in (value // 2, -(value // 2)):
        assert sum_of_rows(np.full(length, signed)) == signed * length


@given(st.lists(st.integers(-(2**52), 2**52)))
def test_two_limbs_add_up(values: list[int]) -> None:
    assert exact_sum(np.array(values, dtype=np.int64)) == sum(values)


@pytest.mark.parametrize("value", [2**51, -(2**51), 2**52, -(2**52)])
def test_long_sums_do_not_overflow(value: int) -> None:
    assert exact_sum(np.full(10**5, value)) == 10**5 * value
