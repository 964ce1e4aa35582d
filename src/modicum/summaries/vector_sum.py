"""The exact sum of rows that are clipped to a ball about a public point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.vector_frame import Floats, FrameView, VectorFrame

__all__ = ["ClippedVectors", "VectorSummary"]


@dataclass(frozen=True, slots=True)
class ClippedVectors:
    """Ask for the sum of rows clipped to a radius, in integers.

    Each row adds integers whose norm is at most
    :data:`~modicum.summaries.vector_frame.BOUND`, which stands for the radius. One row more or
    less moves the sum by no more than that.

    Attributes
    ----------
    frame : VectorFrame
    radius : int
        Released or public, positive, in the frame's units.
    """

    frame: VectorFrame
    radius: int

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise InvalidArgument(f"the radius must be positive, got {self.radius}")

    @property
    def scaled(self) -> VectorFrame:
        """The frame in whose units the sum is counted."""
        return self.frame.clipped(self.radius)

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _VectorPass:
        if lattice is None:
            raise InvalidArgument("clipped vectors need a range: lattice must not be None")
        return _VectorPass(self.scaled.view(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VectorSummary(Sensitive):
    """How many rows there are, and the sum of their clipped integers.

    Attributes
    ----------
    count : int
        Sensitive.
    totals : tuple of int
        One for each component, of any size. Sensitive.
    """

    count: int
    totals: tuple[int, ...]

    def merge(self, other: Self) -> VectorSummary:
        self._check_same(other)
        if len(self.totals) != len(other.totals):
            raise InvalidArgument("cannot merge sums of vectors of another width")
        totals = tuple(a + b for a, b in zip(self.totals, other.totals, strict=True))
        return VectorSummary(self.count + other.count, totals)

    def to_bytes(self) -> bytes:
        return pack("vectors", self.count, len(self.totals), *self.totals)

    @classmethod
    def from_bytes(cls, data: bytes) -> VectorSummary:
        fields = Fields("vectors", data)
        count, width = fields.integer(), fields.integer()
        summary = cls(count, tuple(fields.integer() for _ in range(width)))
        fields.end()
        return summary


class _VectorPass:
    """Integers of at most 2^26 each: a block's float64 sums are exact for up to 2^27 rows.

    The sums of a pass are below 2^63 for up to 2^36 rows; more are in parts.
    """

    reads = True

    def __init__(self, view: FrameView) -> None:
        self._view = view
        self._count = 0
        self._totals: Integers = np.zeros(1, dtype=np.int64)

    def update(self, x: Floats, /) -> None:
        if not len(x):
            self._totals = self._totals + np.zeros(x.shape[1], dtype=np.int64)
            return
        self._count += len(x)
        sums = np.ones(len(x)) @ self._view.clipped(x)
        self._totals = self._totals + sums.astype(np.int64)

    def finish(self) -> VectorSummary:
        return VectorSummary(self._count, tuple(self._totals.tolist()))
