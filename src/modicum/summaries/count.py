"""The number of records that are not missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Rows, Sensitive, pack

__all__ = ["Count", "CountSummary"]


@dataclass(frozen=True, slots=True)
class Count:
    """Ask for the number of non-missing values (of rows, where no column is named)."""

    def begin(self, _lattice: Lattice | None, _rows: Rows | None = None, /) -> _CountPass:
        return _CountPass()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CountSummary(Sensitive):
    """A count.

    Attributes
    ----------
    count : int
        Sensitive.
    """

    count: int

    def merge(self, other: Self) -> CountSummary:
        self._check_same(other)
        return CountSummary(self.count + other.count)

    def to_bytes(self) -> bytes:
        return pack("count", self.count)

    @classmethod
    def from_bytes(cls, data: bytes) -> CountSummary:
        fields = Fields("count", data)
        summary = cls(fields.integer())
        fields.end()
        return summary


class _CountPass:
    reads = True

    def __init__(self) -> None:
        self._count = 0

    def update(self, x: NDArray[np.float64], /) -> None:
        self._count += len(x) - int(np.count_nonzero(np.isnan(x)))

    def finish(self) -> CountSummary:
        return CountSummary(self._count)
