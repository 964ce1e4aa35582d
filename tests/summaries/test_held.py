"""A summary of held records is that of a pass over them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.exact.entropy import SeededEntropy
from modicum.summaries.cells import Cells
from modicum.summaries.grouped import summary_of_sorted
from modicum.summaries.order_statistics import RankWindow
from modicum.summaries.subsample import Records
from modicum.summaries.sums import ClippedSum, Count
from modicum.summaries.tails import Tails
from tests.summaries.cases import columns, lattices, reduce

REDUCTIONS = [
    Count(),
    Tails(1),
    Tails(7),
    Tails(1000),
    ClippedSum(-3, 4),
    ClippedSum(0, 0),
    ClippedSum(-(10**30), 5),
    ClippedSum(10**20, 10**30),
    Cells(0, (0, 1, 5, 2**40)),
    Cells(-7, (3,)),
    RankWindow(Fraction(1, 2), 2),
    RankWindow(Fraction(9, 10), 1000),
]


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=repr)
@given(columns, lattices)
@pytest.mark.one_in(6)
def test_held_records_give_the_same_summary(reduction, column, lattice) -> None:
    q = np.sort(lattice.quantise(np.array(column, dtype=np.float64)))
    assert summary_of_sorted(reduction, lattice, q) == reduce(reduction, lattice, [column])


@given(columns, lattices, st.integers(1, 3))
def test_held_records_are_all_there(column, lattice, subsamples) -> None:
    q = np.sort(lattice.quantise(np.array(column, dtype=np.float64)))
    records = summary_of_sorted(Records(subsamples), lattice, q)
    assert np.array_equal(np.sort(records.all()), q)
    assert set(records.thin(1, SeededEntropy(1)).tolist()) <= set(q.tolist())
