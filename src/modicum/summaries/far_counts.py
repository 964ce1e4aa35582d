"""How many rows are far from the interval of each column, at the price of one count for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import Quantiser
from modicum.summaries.outer import Frame
from modicum.summaries.spread_counts import quantised

__all__ = ["WHOLE", "FarCounts", "FarSummary"]

WHOLE = 1 << 10
"""What one row adds to the counts of all columns, at most."""


@dataclass(frozen=True, slots=True)
class FarCounts:
    """Ask how many rows are far in each column, as :meth:`Frame.far` has it.

    A row that is far in k columns adds ``WHOLE // k`` to each of them.
    """

    frame: Frame

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _FarPass:
        return _FarPass(self.frame, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FarSummary(Sensitive):
    """The counts, in units of 1 / ``WHOLE`` (sensitive)."""

    counts: Integers

    def merge(self, other: Self) -> FarSummary:
        self._check_same(other)
        return FarSummary(self.counts + other.counts)

    def to_bytes(self) -> bytes:
        return pack("far-counts", self.counts)

    @classmethod
    def from_bytes(cls, data: bytes) -> FarSummary:
        fields = Fields("far-counts", data)
        summary = cls(fields.array())
        fields.end()
        return summary


class _FarPass:
    reads = True

    def __init__(self, frame: Frame, quantiser: Quantiser) -> None:
        self._frame, self._quantiser = frame, quantiser
        self._counts = np.zeros(len(frame.centres), dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for q in quantised(self._quantiser, x):
            far = self._frame.far(q)
            far = far[far.any(axis=1)]
            self._counts += (far * (WHOLE // far.sum(axis=1, keepdims=True))).sum(axis=0)

    def finish(self) -> FarSummary:
        return FarSummary(self._counts)
