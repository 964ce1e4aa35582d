"""Sums of three powers: exact for any integers, chunks and order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.summaries.sums import ClippedPowers, PowerSummary
from tests.reference.summaries import integers
from tests.summaries.cases import LATTICES, chunked, lattices, reduce, small_chunks


def known(lattice, values, lo, hi, centre) -> PowerSummary:
    distances = [min(max(q, lo), hi) - centre for q in integers(values, lattice)]
    first, second, third = (sum(d**k for d in distances) for k in (1, 2, 3))
    return PowerSummary(len(distances), (first, second, third))


@given(chunked(), lattices, st.data())
def test_the_sums_are_exact(column, lattice, data) -> None:
    values, chunks = column
    lo, centre, hi = sorted(data.draw(st.integers(lattice.first, lattice.last)) for _ in range(3))
    asked = ClippedPowers(lo, hi, centre)
    with small_chunks():
        summary = reduce(asked, lattice, chunks)
        empty = reduce(asked, lattice, [])
    assert summary == known(lattice, values, lo, hi, centre)
    assert summary.merge(empty) == summary == PowerSummary.from_bytes(summary.to_bytes())
    assert summary.merge(summary).totals[2] == 2 * summary.totals[2]


def test_many_of_the_largest_distances_do_not_overflow() -> None:
    lattice = LATTICES[1]
    asked = ClippedPowers(lattice.first, lattice.last, lattice.first)
    x = np.full(300_000, lattice.hi)
    count, reach = len(x), lattice.width
    expected = PowerSummary(count, (count * reach, count * reach**2, count * reach**3))
    assert reduce(asked, lattice, [x]) == expected


def test_the_centre_lies_between_the_bounds() -> None:
    with pytest.raises(InvalidArgument, match="centre must lie between"):
        ClippedPowers(0, 4, 5)
