"""Neighbouring data sets, and the reader that serves them."""

import numpy as np
import pytest

from modicum import audit
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum, Count


def test_all_multisets_and_all_further_records() -> None:
    pairs = audit.neighbours((2, 0, 1), 3)
    assert len(pairs) == 3 * (1 + 3 + 6)
    assert len(set(pairs)) == len(pairs)
    for data, neighbour in pairs:
        assert len(neighbour) == len(data) + 1
        left = list(neighbour)
        for x in data:
            left.remove(x)
        assert len(left) == 1


@pytest.mark.parametrize(("points", "records"), [((), 2), ((1.0,), 0)])
def test_nothing_to_compare(points, records) -> None:
    with pytest.raises(InvalidArgument, match="max_records"):
        audit.neighbours(points, records)


@pytest.mark.parametrize("data", [(), (1.0, float("nan"), 2.0), np.array([1.0, 2.0])])
def test_a_summary_is_read_once(data) -> None:
    lattice = Lattice(-8.0, 8.0, 1.0)
    reads = [Read(None, None, Count()), Read(None, lattice, ClippedSum(-8, 8))]
    reader = Remembered(data)
    first = reader.read(reads, SYSTEM)
    again = reader.read(reads[::-1], SYSTEM)
    assert [first[0] is again[1], first[1] is again[0]] == [True, True]
    present = [x for x in data if not np.isnan(x)]
    assert (first[0].count, first[1].total) == (len(present), sum(present))
