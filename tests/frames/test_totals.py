"""One record a person: exact for any lattice and any number of rows."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modicum.errors import CopyRefused
from modicum.exact.lattice import Lattice
from modicum.frames.totals import PersonTotals
from tests.reference.people import combined

LATTICES = [
    Lattice.within((-8, 8), step=1),
    Lattice.within((-1e9, 1e9)),
    Lattice.within((-1e300, 1e300)),
    Lattice.within((4.5, 12.25), step=0.5),
    Lattice.within((0.3, 0.7), step=0.25),
]
NASTY = [0.0, -0.0, 1.5, -1.5, 1e9, -1e9, 1e300, float("inf"), -float("inf"), float("nan"), 5e-324]
values = st.one_of(st.sampled_from(NASTY), st.floats(-1e12, 1e12))
tables = st.lists(st.tuples(st.integers(-1, 4), values), max_size=40)


@given(rows=tables, lattice=st.sampled_from(LATTICES), cut=st.integers(0, 40))
@pytest.mark.parametrize("rule", ["mean", "sum"])
def test_records_are_those_of_plain_python(rule, rows, lattice, cut) -> None:
    totals = PersonTotals(lattice)
    codes = np.array([code for code, _ in rows], dtype=np.int64)
    x = np.array([value for _, value in rows])
    for part in (slice(cut), slice(cut, None)):
        totals.add(codes[part], x[part])
    records = totals.records(rule, 5)
    assert len(records) == 5
    plain = [(None if code < 0 else code, None, value) for code, value in rows]
    # On the way to a summary a record is rounded again, which changes nothing.
    assert sorted(lattice.quantise(records).tolist()) == combined(plain, lattice, rule)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_person_with_millions_of_rows_at_the_end_of_the_range(sign) -> None:
    """The sum, 2^21 · 2^51, is beyond int64."""
    lattice = Lattice.within((-(2.0**51), 2.0**51))
    assert lattice.last == 2**51
    totals = PersonTotals(lattice)
    for _ in range(32):
        totals.add(np.zeros(1 << 16, np.int64), np.full(1 << 16, sign * 2.0**51))
    totals.add(np.array([0, 1]), np.array([0.0, 1.0]))
    n = 2**21
    mean = (sign * n * 2**51) // (n + 1)
    assert totals.records("mean", 2).tolist() == [mean, 1]
    assert totals.records("sum", 2).tolist() == [sign * 2.0**51, 1]


def test_without_a_lattice_only_presence_counts() -> None:
    totals = PersonTotals(None)
    totals.add(np.array([0, 2, 2, -1]), np.array([float("inf"), float("nan"), 5.0, 1.0]))
    np.testing.assert_equal(totals.records("mean", 4), [0.0, np.nan, 0.0, np.nan])
    assert PersonTotals(LATTICES[0]).records("sum", 0).tolist() == []


def test_totals_show_and_give_away_nothing() -> None:
    totals = PersonTotals(LATTICES[0])
    totals.add(np.array([0]), np.array([7.0]))
    assert repr(totals) == "PersonTotals()"
    for leak in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(CopyRefused):
            leak(totals)
