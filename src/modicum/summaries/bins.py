"""How many records lie between public cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import CHUNK

__all__ = ["BinCounts", "BinSummary"]


@dataclass(frozen=True, slots=True)
class BinCounts:
    """Ask for the number of records below the first cut, from it to the next, ..., from the last.

    Attributes
    ----------
    cuts : tuple of int
        Lattice integers, increasing; a record on a cut is above it.
    """

    cuts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.cuts or any(a >= b for a, b in zip(self.cuts, self.cuts[1:], strict=False)):
            raise InvalidArgument(f"cuts must increase, got {len(self.cuts)} of them")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _Pass:
        if lattice is None:
            raise InvalidArgument("bins need a range: lattice must not be None")
        return _Pass(self.cuts, lattice)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinSummary(Sensitive):
    """Numbers of records between cuts.

    Attributes
    ----------
    cuts : tuple of int
        Public.
    counts : tuple of int
        One more than there are cuts; sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("cuts",)

    cuts: tuple[int, ...]
    counts: tuple[int, ...]

    def merge(self, other: Self) -> BinSummary:
        self._check_same(other)
        pairs = zip(self.counts, other.counts, strict=True)
        return BinSummary(self.cuts, tuple(a + b for a, b in pairs))

    def to_bytes(self) -> bytes:
        return pack("bins", np.array(self.cuts), np.array(self.counts))

    @classmethod
    def from_bytes(cls, data: bytes) -> BinSummary:
        fields = Fields("bins", data)
        cuts, counts = fields.array(), fields.array()
        fields.end()
        return cls(tuple(cuts.tolist()), tuple(counts.tolist()))


class _Pass:
    reads = True

    def __init__(self, cuts: tuple[int, ...], lattice: Lattice) -> None:
        self._cuts = np.array(cuts, dtype=np.int64)
        self._lattice = lattice
        self._counts: Integers = np.zeros(len(cuts) + 1, dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            q = self._lattice.quantise(x[start : start + CHUNK])
            q.sort()  # cheaper than to look up every record among the cuts
            places = np.searchsorted(q, self._cuts, side="left")
            self._counts += np.diff(places, prepend=0, append=len(q))

    def finish(self) -> BinSummary:
        return BinSummary(tuple(self._cuts.tolist()), tuple(self._counts.tolist()))
