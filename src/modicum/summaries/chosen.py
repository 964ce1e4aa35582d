"""Secret subsamples of one part of the data, which can be moved and merged with another part's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.summaries import membership
from modicum.summaries.base import Fields, Integers, Sensitive, pack
from modicum.summaries.membership import members

__all__ = ["ChosenRows"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChosenRows(Sensitive):
    """Independent Poisson subsamples of rate 2^-level of the records of one part.

    Attributes
    ----------
    level : int
    records : int
        How many records there are, where the level follows from their number; 0 if it was asked
        for.
    subsamples : tuple of int64 array
        Lattice integers.

    Notes
    -----
    [R4] Parts of level L1 and L2 are merged by a Poisson choice of rate 2^-(L - L1) of the one and
    2^-(L - L2) of the other, L = max(L1, L2, level kept of all their records). As in [R2] of
    :class:`~modicum.summaries.records.RecordSummary`, the rates multiply, and L depends on numbers
    of records only, never on who was chosen. So however the parts are merged, the result is a
    Poisson subsample of the whole of rate 2^-L, and it stays as small as one part's.
    """

    level: int
    records: int
    subsamples: tuple[Integers, ...]

    def merge(self, other: ChosenRows, entropy: Entropy) -> ChosenRows:
        """Return subsamples of both parts, thinned to their common level."""
        if len(self.subsamples) != len(other.subsamples):
            raise InvalidArgument("parts to be merged must hold the same number of subsamples")
        records = self.records + other.records
        level = max(self.level, other.level, membership.kept_level(records))
        pairs = zip(self._thinned(level, entropy), other._thinned(level, entropy), strict=True)
        return ChosenRows(level, records, tuple(np.concatenate(pair) for pair in pairs))

    def to_bytes(self) -> bytes:
        return pack("chosen", self.level, self.records, len(self.subsamples), *self.subsamples)

    @classmethod
    def from_bytes(cls, data: bytes) -> ChosenRows:
        fields = Fields("chosen", data)
        level, records, length = (fields.integer() for _ in range(3))
        subsamples = tuple(fields.array() for _ in range(length))
        fields.end()
        return cls(level, records, subsamples)

    def _thinned(self, level: int, entropy: Entropy) -> list[Integers]:
        deeper = level - self.level
        return [q[members(len(q), deeper, entropy)] for q in self.subsamples]
