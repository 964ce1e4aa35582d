"""Sums of clipped squares against plain Python integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.grouped import summary_of_sorted
from modicum.summaries.sums import ClippedSquares, SquareSummary
from tests.reference import summaries as twin
from tests.summaries.cases import LATTICES, NAN, chunked, lattices, reduce, small_chunks


@given(chunked(), lattices, st.data())
def test_the_sum_is_exact_in_any_order(column, lattice, data) -> None:
    values, chunks = column
    q = twin.integers(values, lattice)
    ends = st.integers(lattice.first, lattice.last)
    lo, centre, hi = sorted(data.draw(ends) for _ in range(3))
    asked = ClippedSquares(lo, hi, centre)
    with small_chunks():
        summary = reduce(asked, lattice, chunks)
        parts = [reduce(asked, lattice, [chunk]) for chunk in chunks]
    assert summary.count == len(q)
    assert summary.total == sum((twin.clip(x, lo, hi) - centre) ** 2 for x in q)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged == summary == SquareSummary.from_bytes(summary.to_bytes())
    assert summary_of_sorted(asked, lattice, np.array(q, dtype=np.int64)) == summary


def test_the_largest_distances_do_not_overflow() -> None:
    lattice = Lattice.within((-(2.0**51), 2.0**51))
    asked = ClippedSquares(lattice.first, lattice.last, lattice.first)
    x = np.full(300_000, 2.0**51)
    assert reduce(asked, lattice, [x]).total == 300_000 * 2**104
    odd = np.full(200_001, 2.0**51 - 1)
    assert reduce(asked, lattice, [odd]).total == 200_001 * (2**52 - 1) ** 2


def test_infinite_values_are_clamped_and_missing_ones_dropped() -> None:
    asked = ClippedSquares(-3, 4, 1)
    summary = reduce(asked, LATTICES[3], [[float("inf"), float("-inf"), NAN, -NAN]])
    assert (summary.count, summary.total) == (2, 9 + 16)


@pytest.mark.parametrize("asked", [(2, 1, 2), (0, 5, 6), (0, 5, -1)])
def test_the_centre_lies_between_the_bounds(asked) -> None:
    with pytest.raises(InvalidArgument, match="between the bounds"):
        ClippedSquares(*asked)


def test_the_bounds_lie_within_the_range() -> None:
    with pytest.raises(InvalidArgument, match="within the range"):
        ClippedSquares(-100, 0, 0).begin(LATTICES[3])
