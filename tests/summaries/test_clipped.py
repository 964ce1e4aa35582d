"""Clipped sums and counts against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.sums import ClippedSum, ClippedSummary, Count, CountSummary
from tests.reference import summaries as twin
from tests.summaries.cases import LATTICES, NAN, chunked, lattices, reduce, small_chunks


@st.composite
def bounds(draw, lattice: Lattice) -> tuple[int, int]:
    reach = st.integers(lattice.first - 3, lattice.last + 3) | st.integers(-(2**70), 2**70)
    lo, hi = sorted((draw(reach), draw(reach)))
    return lo, hi


@given(chunked(), lattices, st.data())
def test_equal_to_plain_python(column, lattice: Lattice, data) -> None:
    values, chunks = column
    lo, hi = data.draw(bounds(lattice))
    q = twin.integers(values, lattice)
    with small_chunks():
        summary = reduce(ClippedSum(lo, hi), lattice, chunks)
        parts = [reduce(ClippedSum(lo, hi), lattice, [chunk]) for chunk in chunks]
    assert summary == ClippedSummary(len(q), sum(twin.clip(x, lo, hi) for x in q))
    merged = parts[0]
    for part in parts[1:]:
        merged = part.merge(merged)
    assert merged == summary == ClippedSummary.from_bytes(summary.to_bytes())


@given(chunked())
def test_counts(column) -> None:
    values, chunks = column
    expected = CountSummary(sum(x == x for x in values))
    parts = [reduce(Count(), None, [chunk]) for chunk in chunks]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert reduce(Count(), LATTICES[0], chunks) == expected == merged
    assert CountSummary.from_bytes(expected.to_bytes()) == expected


@pytest.mark.parametrize("ends", [(-(2**51), 2**51), (-(2**51), -(2**51)), (2**51, 2**51), (0, 5)])
def test_sums_beyond_64_bits(ends: tuple[int, int]) -> None:
    lattice = Lattice.within((-(2.0**51), 2.0**51))
    x = np.full(200_000, 2.0**51)
    x[0] = NAN
    assert reduce(ClippedSum(*ends), lattice, [x]).total == ends[1] * 199_999
    assert reduce(ClippedSum(*ends), lattice, [-x]).total == ends[0] * 199_999


def test_reversed_bounds_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="lo=2, hi=1"):
        ClippedSum(2, 1)


def test_an_infinite_chunk_is_not_missing() -> None:
    summary = reduce(ClippedSum(-8, 8), LATTICES[3], [[float("inf"), float("-inf"), NAN, -NAN]])
    assert summary == ClippedSummary(2, 0)
