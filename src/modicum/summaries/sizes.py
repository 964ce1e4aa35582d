"""How many records have a size in each octave, before anything is known of their scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy
from modicum.exact.lattice import Lattice
from modicum.exact.octaves import OCTAVES
from modicum.summaries.base import CHUNK, Accumulator, AdditiveSummary, Reduction, ranged
from modicum.summaries.synthetic import SyntheticTable


@dataclass(frozen=True, slots=True)
class OctaveCounts(Reduction["OctaveSummary"]):
    """Counts records by their octave; rows of several columns by that of their largest value.

    Their lattice is that of octaves, :data:`~modicum.exact.octaves.OCTAVES`, and no other.
    """

    def begin(self, *_: object) -> _OctavePass:
        return _OctavePass()

    def synthetic(
        self, table: SyntheticTable, lattice: Lattice | None, _entropy: Entropy, /
    ) -> OctaveSummary:
        counts = np.zeros(ranged(lattice, "this reduction needs").last + 1, dtype=np.int64)
        np.add.at(counts, table.q, table.weights)
        return OctaveSummary(tuple(counts.tolist()))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OctaveSummary(AdditiveSummary):
    """Sensitive numbers of records, octave by octave."""

    kind: ClassVar[str] = "octaves"

    counts: tuple[int, ...]


class _OctavePass(Accumulator[OctaveSummary]):
    def __init__(self) -> None:
        self._counts = np.zeros(OCTAVES.last + 1, dtype=np.int64)

    def update(self, x: NDArray[np.float64], /) -> None:
        for start in range(0, len(x), CHUNK):
            part = x[start : start + CHUNK]
            if part.ndim == 2:  # rows without missing values
                part = np.abs(part).max(axis=1, initial=0.0)
            self._counts += OCTAVES.counts(part)

    def finish(self) -> OctaveSummary:
        return OctaveSummary(tuple(self._counts.tolist()))
