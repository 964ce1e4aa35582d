"""Secret subsamples of the records of one part of the data, in a form that can travel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Rows
from modicum.summaries.chosen import ChosenRows
from modicum.summaries.pools import PassingRows, PoissonPass

__all__ = ["PartRecords", "PartSubsample", "of_part"]


@dataclass(frozen=True, slots=True)
class PartRecords:
    """Ask a part for its share of :class:`~modicum.summaries.records.Records`.

    Attributes
    ----------
    subsamples : int
    """

    subsamples: int

    def begin(
        self, lattice: Lattice | None, rows: Rows | None = None, /
    ) -> Accumulator[ChosenRows]:
        known, part = of_part(lattice, rows)
        return PassingRows(known, self.subsamples, part.entropy)


@dataclass(frozen=True, slots=True)
class PartSubsample:
    """Ask a part for its share of one Poisson subsample of a given rate.

    Attributes
    ----------
    level : int
        The rate is 2^-level.
    """

    level: int

    def begin(
        self, lattice: Lattice | None, rows: Rows | None = None, /
    ) -> Accumulator[ChosenRows]:
        known, part = of_part(lattice, rows)
        return _SubsamplePass(PoissonPass(known, self.level, part.entropy))


class _SubsamplePass:
    reads = True

    def __init__(self, choosing: PoissonPass) -> None:
        self._choosing = choosing

    def update(self, x: NDArray[np.float64], /) -> None:
        self._choosing.update(x)

    def finish(self) -> ChosenRows:
        # No number of records: the level was asked for, and merging must not deepen it.
        return ChosenRows(self._choosing.level, 0, (self._choosing.finish(),))


def of_part(lattice: Lattice | None, rows: Rows | None) -> tuple[Lattice, Rows]:
    """Return the range and the rows of a part; without them its records cannot be chosen."""
    if lattice is None or rows is None:
        raise InvalidArgument("records need a range and randomness: lattice and rows are missing")
    return lattice, rows
