"""Tails: equal to sorting everything, in any order and any cut; counts and clipped sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.sums import BinCounts
from modicum.summaries.tails import Tails, TailSummary
from tests.reference import summaries as twin
from tests.summaries.cases import INF, LATTICES, NAN, chunked, lattices, reduce, small_chunks

KEEPS = st.integers(1, 12)


def matches(summary: TailSummary, expected: twin.TailTwin) -> bool:
    held = (summary.count, summary.middle_sum, summary.middle_count)
    wanted = (expected.count, expected.middle_sum, expected.middle_count)
    ends = (summary.low.tolist(), summary.high.tolist())
    return held == wanted and ends == (expected.low, expected.high)


@given(chunked(), lattices, KEEPS)
def test_equal_to_sorting(column, lattice: Lattice, keep: int) -> None:
    values, chunks = column
    expected = twin.TailTwin.of(twin.integers(values, lattice), keep)
    with small_chunks():
        assert matches(reduce(Tails(keep), lattice, chunks), expected)


@given(chunked(), lattices, KEEPS)
def test_merging_is_reading_together(column, lattice: Lattice, keep: int) -> None:
    values, chunks = column
    whole = reduce(Tails(keep), lattice, [values])
    with small_chunks():
        parts = [reduce(Tails(keep), lattice, [chunk]) for chunk in chunks]
    forwards = parts[0]
    for part in parts[1:]:
        forwards = forwards.merge(part)
    backwards = parts[-1]
    for part in reversed(parts[:-1]):
        backwards = part.merge(backwards)
    assert forwards.to_bytes() == backwards.to_bytes() == whole.to_bytes()


def total(summary: TailSummary, lattice: Lattice) -> int:
    return summary.clipped_sum(lattice.first, lattice.last)


@given(chunked(), lattices, KEEPS, st.lists(st.integers(-20, 20), min_size=1))
def test_counts_beyond_thresholds(column, lattice: Lattice, keep: int, offsets: list[int]) -> None:
    values, chunks = column
    q = twin.integers(values, lattice)
    summary = reduce(Tails(keep), lattice, chunks)
    marks = [each + offset for each in (*q, 0, lattice.first, lattice.last) for offset in offsets]
    assert summary.above_many(marks) == [min(keep, sum(x > t for x in q)) for t in marks]
    assert summary.below_many(np.array(marks)) == [min(keep, sum(x < t for x in q)) for t in marks]
    sizes = [abs(t) for t in marks]
    beyond = [min(keep, sum(abs(x) > t for x in q)) for t in sizes]
    assert summary.magnitude_above_many(sizes) == beyond
    assert total(summary, lattice) == sum(q)
    assert summary.lowest().tolist() == q[:keep]
    assert summary.highest().tolist() == q[max(0, len(q) - keep) :]


@given(chunked(), lattices, KEEPS, st.integers(-5, 5), st.integers(-5, 5))
def test_clipped_sums(column, lattice: Lattice, keep: int, below: int, above: int) -> None:
    values, chunks = column
    q = twin.integers(values, lattice)
    summary = reduce(Tails(keep), lattice, chunks)
    marks = [*q, lattice.first, lattice.last]
    for lo in (mark + below for mark in marks):
        for hi in (mark + above for mark in marks):
            outside = max(sum(x < lo for x in q), sum(x > hi for x in q))
            if summary.covers(lo, hi):
                assert summary.clipped_sum(lo, hi) == sum(twin.clip(x, lo, hi) for x in q)
            else:
                assert lo > hi or outside >= keep
                with pytest.raises(InvalidArgument):
                    summary.clipped_sum(lo, hi)


@given(chunked(), lattices, KEEPS)
def test_bytes_bring_it_back(column, lattice: Lattice, keep: int) -> None:
    summary = reduce(Tails(keep), lattice, column[1])
    again = TailSummary.from_bytes(summary.to_bytes())
    assert again == summary
    assert again.merge(summary) == summary.merge(summary)


def test_thresholds_of_any_size() -> None:
    summary = reduce(Tails(3), LATTICES[0], [[1.0, 2.0]])
    assert summary.above_many([-(10**30), 10**30]) == [2, 0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("keep", [1, 500, 40_000])
@pytest.mark.parametrize("shape", ["random", "ascending", "descending", "outward", "constant",
                                   "two values", "clamped", "missing", "largest"])  # fmt: skip
def test_many_rows_in_any_order(shape: str, keep: int) -> None:
    rows = 300_000
    rng = np.random.default_rng(7)
    x = rng.standard_normal(rows)
    lattice = LATTICES[0]
    if shape == "ascending":
        x = np.sort(x)
    elif shape == "descending":
        x = -np.sort(-x)
    elif shape == "outward":
        x = x[np.argsort(np.abs(x))]
    elif shape == "constant":
        x[:] = math.pi
    elif shape == "two values":
        x = np.where(x > 1, 3.25, -1e300)
    elif shape == "clamped":
        x = np.exp(150 * x) * np.sign(rng.standard_normal(rows))
        x[::7] = INF
        lattice = LATTICES[1]
    elif shape == "missing":
        x[x > 0.5] = NAN
    elif shape == "largest":
        x = np.where(x > 1, -(2.0**51), 2.0**51)
        lattice = LATTICES[1]
    q = np.sort(lattice.quantise(x))
    expected = twin.TailTwin.of(q.tolist(), keep)
    cuts = np.array_split(x, [1, 70_001, 70_002, 190_000])
    assert matches(reduce(Tails(keep), lattice, cuts), expected)
    assert matches(reduce(Tails(keep), lattice, [x[::-1]]), expected)


def test_float_sums_would_depend_on_the_order() -> None:
    values = [1e16, 1.0, -1e16, 1.0]
    lattice = Lattice.within((-1e16, 1e16), step=8.0)
    finer = Lattice.within((-(2.0**51), 2.0**51))
    assert total(reduce(Tails(1), lattice, [values]), lattice) == 0
    assert total(reduce(Tails(1), finer, [[2.0**51, 1.0, -(2.0**51), 1.0]]), finer) == 2
    assert sum(values) != sum(sorted(values))


def test_keep_is_at_least_one() -> None:
    with pytest.raises(InvalidArgument, match="keep"):
        Tails(0)


def test_only_equal_parameters_merge() -> None:
    one, two = (reduce(Tails(keep), LATTICES[0], [[1.0]]) for keep in (1, 2))
    with pytest.raises(InvalidArgument, match="parameters differ"):
        one.merge(two)


@pytest.mark.parametrize("keep", [1, 3, 40])
def test_records_between_edges_follow_where_the_kept_ones_tell(keep) -> None:
    rng, lattice = np.random.default_rng(keep), Lattice.within((-64, 64), 1)
    told = 0
    for _ in range(200):
        x = np.round(rng.normal(rng.integers(-9, 9), rng.choice([0, 2, 20]), rng.integers(0, 60)))
        tails, edges = reduce(Tails(keep), lattice, [x]), np.unique(rng.integers(-30, 30, 4))
        asked = BinCounts(tuple(edges.tolist()))
        found = asked.follows_from(tails)
        told += found is not None
        assert found is None or found.counts == reduce(asked, lattice, [x]).counts
    assert told > (20 if keep == 1 else 90)
