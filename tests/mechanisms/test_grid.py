"""The floating-point grid is a monotone numbering of integers with few leading digits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modicum.mechanisms.grids import FloatGrid

BITS = st.integers(0, 40)
LATTICE = st.integers(-(2**51), 2**51)


@given(BITS, st.integers(-(10**6), 10**6))
def test_numbers_and_points_are_inverse(bits: int, number: int) -> None:
    grid = FloatGrid(bits)
    assert grid.number(grid.point(number)) == number
    assert grid.point(number) < grid.point(number + 1)


@given(BITS, LATTICE)
def test_rounding_is_towards_zero_and_relative(bits: int, q: int) -> None:
    point = FloatGrid(bits).point(FloatGrid(bits).number(q))
    assert (q - point) * (1 if q >= 0 else -1) >= 0
    assert abs(q - point) * 2**bits <= max(abs(q) - 1, 0)


@given(BITS, st.lists(LATTICE, max_size=20))
def test_the_vectorised_form_is_the_same(bits: int, q: list[int]) -> None:
    grid = FloatGrid(bits)
    assert grid.numbers(np.array(q, dtype=np.int64)).tolist() == [grid.number(x) for x in q]


def test_small_integers_are_all_there() -> None:
    grid = FloatGrid(3)
    assert [grid.point(i) for i in range(-16, 17)] == list(range(-16, 17))
