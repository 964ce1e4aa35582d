"""The records of one part of the data within a bracket, in a form that can travel."""

from __future__ import annotations

from dataclasses import dataclass

from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Rows
from modicum.summaries.part_records import of_part
from modicum.summaries.sift import Sift, Sifted

__all__ = ["PartWindow"]


@dataclass(frozen=True, slots=True)
class PartWindow:
    """Ask a part for its share of a :class:`~modicum.summaries.window.RankWindow`.

    Attributes
    ----------
    lo, hi : int
        The bracket. It follows from random samples, and tells about the data as they do.
    most : int
        Records within it that may be held; of more, a sample is.
    """

    lo: int
    hi: int
    most: int

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> Accumulator[Sifted]:
        known, part = of_part(lattice, rows)
        return Sift(known, part.entropy, (self.lo, self.hi), self.most)
