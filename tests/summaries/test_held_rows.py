"""Rows that are held: their order, merging, and what is refused."""

import numpy as np
import pytest

from modicum.errors import CopyRefused, InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.second_moments import RowsInMemory, RowsSummary

LATTICE = Lattice(-8.0, 8.0, 0.5)


def summary_of(*chunks) -> RowsSummary:
    reading = RowsInMemory(2).begin(LATTICE)
    for chunk in chunks:
        reading.update(np.ascontiguousarray(chunk))
    return reading.finish()


def test_any_order_chunks_and_parts_give_the_same() -> None:
    x = np.random.default_rng(0).normal(0, 5, (300, 2))
    whole = summary_of(x)
    order = sorted(map(tuple, (np.round(x.clip(-8, 8) * 2)).astype(int).tolist()))
    assert list(map(tuple, whole.rows.tolist())) == order
    assert summary_of(x[200:], x[:0], x[:200]) == whole
    assert summary_of(x[:7]).merge(summary_of(x[7:])) == whole
    assert RowsSummary.from_bytes(whole.to_bytes()) == whole
    assert summary_of().merge(whole) == whole


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="of 2 columns, got 3"):
        summary_of(np.zeros((1, 3)))
    other = RowsInMemory(1).begin(LATTICE).finish()
    with pytest.raises(InvalidArgument, match="different widths"):
        summary_of().merge(other)
    with pytest.raises(InvalidArgument, match="needs a range"):
        RowsInMemory(1).begin(None)
    with pytest.raises(CopyRefused):
        summary_of().__reduce_ex__(2)
    assert "7" not in repr(summary_of(np.full((1, 2), 7.0)))
