"""The lowest and the highest records, and the exact sum of all between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Fields, Integers, Rows, Sensitive, pack
from modicum.summaries.kernel import Quantiser, exact_sum
from modicum.summaries.tails_pass import Ends, TailsPass

__all__ = ["TailSummary", "Tails"]

_BEYOND = 1 << 62  # further out than any lattice integer


@dataclass(frozen=True, slots=True)
class Tails:
    """Ask for the ``keep`` lowest and highest records and the exact sum of the rest.

    Every count and clipped sum whose bounds leave at most ``keep`` records outside on each side
    follows from it, so one pass serves estimators that choose their bounds later.

    Attributes
    ----------
    keep : int
        At least 1.
    """

    keep: int

    def __post_init__(self) -> None:
        if self.keep < 1:
            raise InvalidArgument(f"keep must be at least 1, got {self.keep}")

    def begin(self, lattice: Lattice | None, _rows: Rows | None = None, /) -> _Pass:
        return _Pass(self.keep, TailsPass(self.keep, Quantiser(lattice)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TailSummary(Sensitive):
    """Both ends of a column in full, and the sum of its middle, on lattice integers.

    Attributes
    ----------
    count : int
        Number n of records.
    low : sorted int64 array
        The min(n, keep) lowest.
    high : sorted int64 array
        The min(n - len(low), keep) highest of the others.
    middle_sum, middle_count : int
        Of the records in neither.
    keep : int
        Public; all else is sensitive.
    """

    public: ClassVar[tuple[str, ...]] = ("keep",)

    count: int
    low: Integers
    high: Integers
    middle_sum: int
    middle_count: int
    keep: int

    def lowest(self) -> Integers:
        """Return the min(n, keep) lowest records, sorted."""
        return self.low

    def highest(self) -> Integers:
        """Return the min(n, keep) highest records, sorted."""
        if self.middle_count:
            return self.high
        return np.concatenate([self.low, self.high])[-self.keep :]

    def above(self, t: int) -> int:
        """Return min(keep, number of records > t)."""
        return self.above_many([t])[0]

    def below(self, t: int) -> int:
        """Return min(keep, number of records < t)."""
        return self.below_many([t])[0]

    def magnitude_above(self, t: int) -> int:
        """Return min(keep, number of records of size > t)."""
        return self.magnitude_above_many([t])[0]

    # If there is a middle, a count that reaches into it exceeds `keep` on that end alone, so it
    # is enough to count in both ends and to cut at `keep`.

    def above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return :meth:`above` of many thresholds."""
        return self._capped(self._count_above(_thresholds(t)))

    def below_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return :meth:`below` of many thresholds."""
        return self._capped(self._count_below(_thresholds(t)))

    def magnitude_above_many(self, t: Sequence[int] | Integers) -> list[int]:
        """Return :meth:`magnitude_above` of many thresholds, each at least 0."""
        thresholds = _thresholds(t)
        return self._capped(self._count_above(thresholds) + self._count_below(-thresholds))

    def total(self) -> int:
        """Return the exact sum of all records."""
        return exact_sum(self.low) + self.middle_sum + exact_sum(self.high)

    def covers(self, lo: int, hi: int) -> bool:
        """Whether every record outside [lo, hi] is certainly among the kept ones."""
        if lo > hi:
            return False
        return not self.middle_count or bool(lo <= self.low[-1] and self.high[0] <= hi)

    def clipped_sum(self, lo: int, hi: int) -> int:
        """Return the exact sum of the records clipped to bounds that are covered."""
        if not self.covers(lo, hi):
            raise InvalidArgument("the kept records do not cover these bounds: make a second pass")
        return self.middle_sum + sum(_clipped(end, lo, hi) for end in (self.low, self.high))

    def merge(self, other: Self) -> TailSummary:
        self._check_same(other)
        # [T3] A middle lies between full ends, so the ends of the union are among the kept.
        kept = np.sort(np.concatenate([self.low, self.high, other.low, other.high]))
        ends = Ends.of_sorted(kept, self.keep, self.count + other.count)
        middle_sum = self.middle_sum + other.middle_sum + exact_sum(ends.rest)
        middle_count = self.middle_count + other.middle_count + len(ends.rest)
        return TailSummary(
            self.count + other.count, ends.low, ends.high, middle_sum, middle_count, self.keep
        )

    def to_bytes(self) -> bytes:
        numbers = (self.keep, self.count, self.middle_count, self.middle_sum)
        return pack("tails", *numbers, self.low, self.high)

    @classmethod
    def from_bytes(cls, data: bytes) -> TailSummary:
        fields = Fields("tails", data)
        keep, count, middle_count, middle_sum = (fields.integer() for _ in range(4))
        low, high = fields.array(), fields.array()
        fields.end()
        return cls(count, low, high, middle_sum, middle_count, keep)

    def _capped(self, counts: Integers) -> list[int]:
        capped: list[int] = np.minimum(counts, self.keep).tolist()
        return capped

    def _count_above(self, thresholds: Integers) -> Integers:
        kept = len(self.low) + len(self.high)
        inside: Integers = np.searchsorted(self.low, thresholds, side="right")
        inside = inside + np.searchsorted(self.high, thresholds, side="right")
        return kept - inside

    def _count_below(self, thresholds: Integers) -> Integers:
        below: Integers = np.searchsorted(self.low, thresholds, side="left")
        return below + np.searchsorted(self.high, thresholds, side="left")


class _Pass:
    reads = True

    def __init__(self, keep: int, kernel: TailsPass) -> None:
        self._keep = keep
        self._kernel = kernel

    def update(self, x: NDArray[np.float64], /) -> None:
        self._kernel.update(x)

    def finish(self) -> TailSummary:
        low, high, middle_sum, middle_count = self._kernel.finish()
        count = len(low) + len(high) + middle_count
        return TailSummary(count, low, high, middle_sum, middle_count, self._keep)


def _thresholds(t: Sequence[int] | Integers) -> Integers:
    if isinstance(t, np.ndarray):
        return t
    try:
        return np.array(t, dtype=np.int64)
    except OverflowError:
        return np.array([min(max(each, -_BEYOND), _BEYOND) for each in t], dtype=np.int64)


def _clipped(q: Integers, lo: int, hi: int) -> int:
    """Sum sorted integers clipped to [lo, hi]."""
    start, stop = q.searchsorted(lo), q.searchsorted(hi, side="right")
    return lo * int(start) + exact_sum(q[start:stop]) + hi * int(len(q) - stop)
