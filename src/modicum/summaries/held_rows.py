"""Every row of several columns, held: for statistics that have to see them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import Quantiser
from modicum.summaries.spread_counts import quantised

__all__ = ["HeldRows", "RowsSummary"]


@dataclass(frozen=True, slots=True)
class HeldRows:
    """Ask for all rows, rounded to the lattice: 8 bytes a number are held.

    Attributes
    ----------
    width : int
        How many columns there have to be.
    """

    width: int

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _RowsPass:
        return _RowsPass(self.width, Quantiser(lattice))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RowsSummary(Sensitive):
    """The rows, in an order that does not depend on how they came.

    Attributes
    ----------
    rows : int64 array, shape (n, width)
        Lattice integers, sorted by the first column, then by the second, and so on (sensitive).
    """

    rows: Integers

    def merge(self, other: Self) -> RowsSummary:
        self._check_same(other)
        if self.rows.shape[1] != other.rows.shape[1]:
            raise InvalidArgument("cannot merge rows of different widths")
        return RowsSummary(_in_order(np.concatenate([self.rows, other.rows])))

    def to_bytes(self) -> bytes:
        return pack("held-rows", self.rows.shape[1], self.rows.ravel())

    @classmethod
    def from_bytes(cls, data: bytes) -> RowsSummary:
        fields = Fields("held-rows", data)
        width = fields.integer()
        rows = fields.array().reshape(-1, width)
        fields.end()
        return cls(rows)


class _RowsPass:
    reads = True

    def __init__(self, width: int, quantiser: Quantiser) -> None:
        self._width, self._quantiser = width, quantiser
        self._kept: list[Integers] = [np.empty((0, width), dtype=np.int64)]

    def update(self, x: NDArray[np.float64], /) -> None:
        if x.shape[1:] != (self._width,):
            found = x.shape[1] if x.ndim > 1 else 1
            raise InvalidArgument(f"the statistic is of {self._width} columns, got {found}")
        self._kept += quantised(self._quantiser, x)

    def finish(self) -> RowsSummary:
        return RowsSummary(_in_order(np.concatenate(self._kept)))


def _in_order(rows: Integers) -> Integers:
    return rows[np.lexsort(rows.T[::-1])]
