"""Columns, lattices and chunkings that summaries are tested on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import strategies as st

from modicum.exact.lattice import Lattice
from modicum.summaries import base, cells, sums, tails
from modicum.summaries.base import Reduction

INF, NAN = float("inf"), float("nan")
NASTY = [1.5, NAN, INF, -INF, -0.0, 5e-324, 1e308, -(2.0**63), 2.0**63 - 1024, 2.0**64]

LATTICES = [
    Lattice.within((-1e9, 1e9)),
    Lattice.within((-(2.0**51), 2.0**51)),  # integers as large as they get
    Lattice.within((100.0, 101.5)),
    Lattice.within((-8.0, 8.0), step=2.0),
    Lattice.within((-1e-300, 1e300)),
]

numbers = st.one_of(
    st.floats(width=64),
    st.floats(-10, 10),
    st.sampled_from(NASTY),
    st.sampled_from([0.0, 3.0, -3.0, 100.25]),
)
columns = st.lists(numbers, max_size=120)
lattices = st.sampled_from(LATTICES)


@st.composite
def chunked(draw, column=columns) -> tuple[list[float], list[list[float]]]:
    """A column, and its values in another order, cut into chunks."""
    values = draw(column)
    order = draw(st.permutations(values))
    cuts = sorted(draw(st.lists(st.integers(0, len(values)), max_size=4)))
    return values, [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]


def reduce(reduction: Reduction, lattice: Lattice | None, chunks: Sequence[Sequence[float]]):
    accumulator = reduction.begin(lattice)
    for chunk in chunks:
        accumulator.update(np.asarray(chunk, dtype=np.float64))
    return accumulator.finish()


@contextmanager
def small_chunks() -> Iterator[None]:
    """Chunks of 16 values and rows of 8, so that short columns take every path."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, tails, sums, cells):
            patch.setattr(module, "CHUNK", 16)
        patch.setattr(sums, "BLOCK", 8)
        patch.setattr(base, "ROW", 8)
        patch.setattr(tails, "ROW", 8)
        yield
