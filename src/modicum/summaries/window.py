"""The records around a rank, without sorting or holding the others."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Accumulator, Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.sift import Sifted
from modicum.summaries.window_pass import WindowPass

__all__ = ["RankWindow", "WindowSummary"]


@dataclass(frozen=True, slots=True)
class RankWindow:
    """Ask for the records whose rank is within ``reach`` of q n, and for the number n of all.

    Up to 10^6 rows, and where rows can be fetched by their position, one pass is enough; long
    streams take two. Beyond 10^8 rows, and once in a thousand times, it takes one more.

    Attributes
    ----------
    q : Fraction
        In (0, 1).
    reach : int
        At least 1.
    """

    q: Fraction
    reach: int

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {self.q}")
        if self.reach < 1:
            raise InvalidArgument(f"reach must be at least 1, got {self.reach}")

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> _Pass:
        if lattice is None:
            raise InvalidArgument("ranks need a range: lattice must not be None")
        return _Pass(self, WindowPass([self.ranks], lattice, rows))

    def ranks(self, count: int) -> tuple[int, int]:
        """Return the window as positions from, to (exclusive) among ``count`` sorted records.

        Examples
        --------
        >>> RankWindow(Fraction(9, 10), 3).ranks(100), RankWindow(Fraction(9, 10), 3).ranks(3)
        ((87, 94), (0, 3))
        """
        centre = count * self.q.numerator // self.q.denominator
        return max(0, centre - self.reach), min(count, centre + self.reach + 1)

    def summary(self, found: Sifted) -> WindowSummary:
        """Return the summary of all records, after a search that has found these."""
        start, stop = self.ranks(found.count)
        return WindowSummary(found.count, start, found.window(start, stop), self.q, self.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WindowSummary(Sensitive):
    """Sorted records at the positions of a :class:`RankWindow`.

    Two of them cannot be merged: which records are near rank q n of the union does not follow
    from those near rank q n of its parts.

    Attributes
    ----------
    count : int
        Number n of records.
    below : int
        Number of records before the window.
    values : sorted int64 array
        The window.
    q, reach
        Public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("q", "reach")

    count: int
    below: int
    values: Integers
    q: Fraction
    reach: int

    def mirrored(self) -> WindowSummary:
        """Return the same of the negated records, for 1 - q."""
        above = self.count - self.below - len(self.values)
        return WindowSummary(self.count, above, -self.values[::-1], 1 - self.q, self.reach)

    def to_bytes(self) -> bytes:
        numbers = (self.q.numerator, self.q.denominator, self.reach, self.count, self.below)
        return pack("window", *numbers, self.values)

    @classmethod
    def from_bytes(cls, data: bytes) -> WindowSummary:
        fields = Fields("window", data)
        numerator, denominator, reach, count, below = (fields.integer() for _ in range(5))
        values = fields.array()
        fields.end()
        return cls(count, below, values, Fraction(numerator, denominator), reach)


class _Pass:
    reads = True

    def __init__(self, asked: RankWindow, passing: WindowPass) -> None:
        self._asked = asked
        self._passing = passing

    def update(self, x: np.ndarray[tuple[int], np.dtype[np.float64]], /) -> None:
        self._passing.update(x)

    def further(self) -> Accumulator[object] | None:
        return self._passing.further()

    def finish(self) -> WindowSummary:
        (sifted,) = self._passing.finish()
        return self._asked.summary(sifted)
