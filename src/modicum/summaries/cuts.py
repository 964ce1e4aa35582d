"""The records around the two cut points of a trimmed mean, and the exact sum between them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.cuts_pass import CutsPass, Found

__all__ = ["CutSummary", "Cuts"]


@dataclass(frozen=True, slots=True)
class Cuts:
    """Ask for the records near the cut points of n sorted records, and the sum between these.

    The cut points are the positions m = floor(share n), from 0, and n - m; near means up to
    ``reach`` positions before and after. Passes are as for
    :class:`~modicum.summaries.window.RankWindow`.

    Attributes
    ----------
    share : Fraction
        In [0, 1/2).
    reach : int
        At least 1.
    """

    share: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 <= self.share < Fraction(1, 2):
            raise InvalidArgument(f"share must lie in [0, 1/2), got {self.share}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> _Pass:
        if lattice is None:
            raise InvalidArgument("ranks need a range: lattice must not be None")
        return _Pass(self, CutsPass(self.cuts, self.reach, lattice, rows))

    def cuts(self, count: int) -> tuple[int, int]:
        """Return the cut points of ``count`` records.

        Examples
        --------
        >>> Cuts(Fraction(1, 10), 5).cuts(99), Cuts(Fraction(0), 5).cuts(99)
        ((9, 90), (0, 99))
        """
        lower = count * self.share.numerator // self.share.denominator
        return lower, count - lower

    def summary(self, found: Found) -> CutSummary:
        """Return what was found as a summary."""
        return CutSummary(found.count, found.low, found.high, found.middle, self.share, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CutSummary(Sensitive):
    """Sorted records around both cut points of :class:`Cuts`, and the exact sum between these.

    Two of them cannot be merged: which records are near a cut point of the union does not follow
    from those near the cut points of its parts.

    Attributes
    ----------
    count : int
        Number n of records.
    low, high : sorted int64 arrays
        Records at the positions max(0, m - reach) to min(n, m + reach), exclusive, and the same
        around n - m.
    middle : int
        Exact sum of the records at the positions m to n - m, exclusive.
    share, reach
        Public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("share", "reach")

    count: int
    low: Integers
    high: Integers
    middle: int
    share: Fraction
    reach: int

    def cut(self, count: int) -> int:
        """Number of records before the lower cut point of ``count`` records."""
        return Cuts(self.share, self.reach).cuts(count)[0]

    def mirrored(self) -> CutSummary:
        """Return the same of the negated records."""
        return CutSummary(
            self.count, -self.high[::-1], -self.low[::-1], -self.middle, self.share, self.reach
        )

    def to_bytes(self) -> bytes:
        public = (self.share.numerator, self.share.denominator, self.reach)
        return pack("cuts", *public, self.count, self.middle, self.low, self.high)

    @classmethod
    def from_bytes(cls, data: bytes) -> CutSummary:
        fields = Fields("cuts", data)
        numerator, denominator, reach, count, middle = (fields.integer() for _ in range(5))
        low, high = fields.array(), fields.array()
        fields.end()
        return cls(count, low, high, middle, Fraction(numerator, denominator), reach)


class _Pass:
    reads = True

    def __init__(self, asked: Cuts, passing: CutsPass) -> None:
        self._asked = asked
        self._passing = passing

    def update(self, x: NDArray[np.float64], /) -> None:
        self._passing.update(x)

    def finish(self) -> CutSummary:
        return self._asked.summary(self._passing.finish())
