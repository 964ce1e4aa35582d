"""Floating-point grids number integers in order, and a stretched range its places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.mechanisms.grids import FloatGrid, RangeWarp

BITS = st.integers(0, 40)
LATTICE = st.integers(-(2**51), 2**51)
STRETCHES = [
    RangeWarp(0, 1, 2),
    RangeWarp(5, 3, 4),
    RangeWarp(-3, 0, 5),
    RangeWarp(7, 4, 0),
    RangeWarp(),
]


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


@pytest.mark.parametrize("bits", [0, 2, 12])
@pytest.mark.parametrize("count", [1, 5, 4096, 4097, 50_000])
def test_the_first_points(bits: int, count: int) -> None:
    count = min(count, 40 << bits)
    assert (FloatGrid(bits).first(count) == FloatGrid(bits).points(np.arange(count))).all()


def test_small_integers_are_all_there() -> None:
    grid = FloatGrid(3)
    assert [grid.point(i) for i in range(-16, 17)] == list(range(-16, 17))


@pytest.mark.parametrize("warp", STRETCHES, ids=str)
def test_places_follow_each_other_and_are_found_again(warp) -> None:
    reach = min(1 << (warp.near + warp.octaves), 200)
    values = np.arange(warp.centre - reach, warp.centre + reach + 1)
    starts = warp.starts(values)
    assert starts.tolist() == [warp.start(t) for t in values.tolist()]
    assert (np.diff(starts) >= 1).all()
    for t, start, stop in zip(values.tolist(), starts.tolist(), starts[1:].tolist(), strict=False):
        assert [warp.value(place) for place in range(start, stop)] == [t] * (stop - start)


def test_every_octave_has_as_many_places_as_half_of_the_near_part() -> None:
    warp = RangeWarp(0, 4, 6)
    ends = [warp.start(t) for t in (0, *(2**k for k in range(4, 11)))]
    assert np.diff(ends).tolist() == [1024] + [512] * 6


@pytest.mark.parametrize("near", [3, 20, 50])
@pytest.mark.parametrize("centre", [-(2**51), 12345, 2**51])
def test_the_widest_range_fits(near, centre) -> None:
    ends = (-(2**51), 2**51)
    warp = RangeWarp.about(centre, near, ends)
    for t in (*ends, ends[1] + 1, 0, 12345, 2**50 - 1, -(2**50) - 1):
        assert warp.value(warp.start(t)) == t
        assert warp.start(t + 1) - warp.start(t) == 1 or warp.octaves
        assert int(warp.starts(np.array([t]))[0]) == warp.start(t)
    places = warp.start(ends[1] + 1) - warp.start(ends[0])
    assert places <= (ends[1] - ends[0] + 1) << 7  # what the joint law's cap counts on
    assert places < 2**62


def test_without_octaves_places_are_integers() -> None:
    values = np.array([-(2**51), -1, 0, 3, 2**51])
    assert RangeWarp().starts(values).tolist() == values.tolist()
    assert RangeWarp.about(4, 10, (0, 100)).octaves == 0
