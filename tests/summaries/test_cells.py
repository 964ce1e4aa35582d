"""Cell tables against plain Python: counts, sums, edges, clipped sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.cells import Cells, CellSummary
from tests.reference import summaries as twin
from tests.summaries.cases import LATTICES, chunked, lattices, reduce, small_chunks

EDGES = st.lists(st.integers(0, 40) | st.integers(0, 2**53), min_size=1, max_size=6, unique=True)


@st.composite
def questions(draw) -> tuple[Lattice, Cells]:
    lattice = draw(lattices)
    centre = draw(st.integers(lattice.first, lattice.last) | st.just(0))
    return lattice, Cells(centre, tuple(sorted(draw(EDGES))))


@given(chunked(), questions())
def test_equal_to_plain_python(column, question: tuple[Lattice, Cells]) -> None:
    values, chunks = column
    lattice, asked = question
    expected = twin.cells(twin.integers(values, lattice), asked.centre, asked.edges)
    with small_chunks():
        summary = reduce(asked, lattice, chunks)
        parts = [reduce(asked, lattice, [chunk]) for chunk in chunks]
    assert (summary.counts, summary.sums) == expected
    merged = parts[0]
    for part in parts[1:]:
        merged = part.merge(merged)
    assert merged == summary == CellSummary.from_bytes(summary.to_bytes())


@given(chunked(), questions())
def test_edges_answer_what_tails_answer(column, question: tuple[Lattice, Cells]) -> None:
    values, chunks = column
    lattice, asked = question
    q = twin.integers(values, lattice)
    summary = reduce(asked, lattice, chunks)
    upper = [asked.centre + edge for edge in asked.edges]
    lower = [asked.centre - edge for edge in asked.edges]
    assert summary.above_many(upper) == [sum(x > t for x in q) for t in upper]
    assert summary.below_many(lower) == [sum(x < t for x in q) for t in lower]
    for lo in (*lower, lattice.first, lattice.first - 1):
        for hi in (*upper, lattice.last, lattice.last + 1):
            if lo <= hi:
                assert summary.covers(lo, hi)
                assert summary.clipped_sum(lo, hi) == sum(twin.clip(x, lo, hi) for x in q)
    assert summary.count == len(q)
    assert summary.clipped_sum(lattice.first, lattice.last) == sum(q)


@given(chunked(), lattices, EDGES)
def test_sizes(column, lattice: Lattice, edges: list[int]) -> None:
    asked = Cells(0, tuple(sorted(edges)))
    q = twin.integers(column[0], lattice)
    summary = reduce(asked, lattice, column[1])
    expected = [sum(abs(x) > t for x in q) for t in asked.edges]
    assert summary.magnitude_above_many(asked.edges) == expected


def test_bounds_inside_a_cell_are_not_covered() -> None:
    summary = reduce(Cells(2, (0, 4, 9)), LATTICES[0], [[1.0]])
    assert summary.covers(-2, 11)
    for lo, hi in ((-3, 11), (-2, 10), (3, 11), (-2, 1), (11, -2)):
        assert not summary.covers(lo, hi)
        with pytest.raises(InvalidArgument):
            summary.clipped_sum(lo, hi)
    with pytest.raises(InvalidArgument, match="no edge"):
        summary.above(3)
    with pytest.raises(InvalidArgument, match="no edge"):
        summary.below(7)
    with pytest.raises(InvalidArgument, match="centre is 2"):
        summary.magnitude_above_many([4])


def test_sums_beyond_64_bits() -> None:
    lattice = Lattice.within((-(2.0**51), 2.0**51))
    x = np.where(np.arange(150_000) % 3 == 0, -(2.0**51), 2.0**51)
    summary = reduce(Cells(0, (0, 1, 2**51)), lattice, [x])
    assert summary.sums == (0, -50_000 * 2**51, 0, 0, 0, 100_000 * 2**51, 0)


@pytest.mark.parametrize("edges", [(), (-1, 2), (2, 2), (3, 1)])
def test_edges_increase(edges: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgument, match="edges"):
        Cells(0, edges)
