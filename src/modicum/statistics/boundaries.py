"""A monotone statistic that brings its own level boundaries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.statistics.crossing import trimmed_by_rank
from modicum.statistics.score_table import Reals
from modicum.statistics.statistic import MonotoneStatistic
from modicum.statistics.trials import grown, shown
from modicum.statistics.unheard import unheard
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

__all__ = ["Boundaries"]

_HALF = 2  # whole lengths k become 2k - 1 halves
_CHECKED_LEVELS = (6, 12)  # for small data sets also more than they have records
_CHECKED_RECORDS = 3


class Boundaries(MonotoneStatistic):
    """Base of statistics for :func:`modicum.monotone` that know their own level boundaries.

    Write a subclass with the attributes ``name``, ``growth`` and ``width`` (as of
    :class:`Score`) and the method :meth:`ends`.

    Examples
    --------
    >>> class Median(Boundaries):
    ...     name, growth, width = "median", 0, 1.0
    ...
    ...     def ends(self, places, counts, lo, hi, levels):
    ...         records = np.repeat(places, counts)
    ...         padded = np.concatenate([[lo] * (levels + 1), records, [hi] * (levels + 1)])
    ...         k, n = np.arange(levels), len(records)
    ...         return (
    ...             padded[np.maximum((n + 1 - k) // 2 + levels, 0)],
    ...             padded[np.minimum((n + k) // 2 + levels + 1, len(padded) - 1)],
    ...         )
    >>> Median().check(100.0)
    """

    __slots__ = ()
    whole: ClassVar[bool] = True

    @abstractmethod
    def ends(
        self, places: Reals, counts: Integers, lo: float, hi: float, levels: int
    ) -> tuple[Reals, Reals]:
        """Lowest and highest value after adding or removing k records, k = 0, ..., levels - 1.

        Parameters
        ----------
        places : float64 array
            Increasing: the different values of the records.
        counts : int64 array
            How many records have each; there may be none.
        lo, hi : float
            Records are, and may be added, between them.
        levels : int

        Returns
        -------
        lows, highs : (levels,) arrays
            *You promise*, for any two data sets D and D' of which one has one record more, and
            for every k: ``lows'[k + 1] <= lows[k]`` and ``highs'[k + 1] >= highs[k]``, and
            ``lows[k] <= highs[k]``. The ends of what k changes can reach do this for every
            statistic; a bound that is not exact may not. The promise includes that the method
            never fails, on any data: it returns finite numbers for no records, one, ties, and
            records at both ends. Privacy hangs on it: a failure voids the guarantee.
            :meth:`check` tries some hundred data sets. If the method fails on the data all the
            same, all candidates count as equally good, which is no private answer to it; but no
            error or warning tells of data.
        """

    def check(self, span: float) -> None:
        """Try the promise on some hundred public data sets: tiny, large, tied, extreme.

        It proves nothing about all others.

        Raises
        ------
        InvalidArgument
            With a data set on which the method fails, or two that break the promise.
        """
        self.check_numbers()
        known: dict[tuple[bytes, int], tuple[Reals, Reals]] = {}

        def tried(records: Reals, levels: int) -> tuple[Reals, Reals]:
            key = (records.tobytes(), levels)
            if key not in known:
                known[key] = self._tried(records, span, levels)
            return known[key]

        for few, more, levels in self._pairs(span):
            here, there = tried(few, levels), tried(more, levels)
            if not (_held(here, there) and _held(there, here)):
                raise InvalidArgument(
                    f"the level boundaries of {self.name} break their promise: compare the records "
                    f"{shown(few)} with {shown(more)} between {-span / 2:g} and {span / 2:g}"
                )

    def _pairs(self, span: float) -> Iterator[tuple[Reals, Reals, int]]:
        points = (-span / 2, -span / 8, 0.0, span / 2)
        for size in range(_CHECKED_RECORDS):
            for data in combinations_with_replacement(points, size):
                for x in points:
                    for levels in _CHECKED_LEVELS:
                        yield np.array(data), np.sort([*data, x]), levels
        for few, more in grown(span):
            yield few, more, _CHECKED_LEVELS[0]

    def _tried(self, records: Reals, span: float, levels: int) -> tuple[Reals, Reals]:
        places, counts = np.unique(records.astype(np.float64), return_counts=True)
        try:
            with unheard():
                found = self.ends(places, counts, -span / 2, span / 2, levels)
                lows, highs = (np.asarray(each, dtype=np.float64) for each in found)
        except Exception as error:
            raise InvalidArgument(
                f"{self.name} failed for the records {shown(records)}, and may fail for none: "
                f"{error}"
            ) from error
        if lows.shape != (levels,) or highs.shape != lows.shape:
            raise InvalidArgument(
                f"{self.name} must return {levels} lows and as many highs, got shapes "
                f"{lows.shape} and {highs.shape}"
            )
        if not (np.isfinite(lows).all() and np.isfinite(highs).all()):
            raise InvalidArgument(
                f"{self.name} has ends that are not finite for the records {shown(records)}"
            )
        if not (lows <= highs).all():
            raise InvalidArgument(
                f"{self.name} has lows above highs for the records {shown(records)}"
            )
        return lows, highs

    def lengths(
        self,
        cells: CellSummary,
        ends: tuple[int, int],
        step: float,
        *,
        unit: int,
        cap: int,
        trimmed: int = 0,
        towards: int = 0,
    ) -> BoundaryLengths:
        """Lengths in halves; each record is moved to the middle or an end of its cell."""
        assert unit == _HALF
        edges = np.array(cells.edges, dtype=np.int64)
        middles, halves = (edges[:-1] + edges[1:]) / 2.0, np.diff(edges) * (towards / 2.0)
        lower, upper = (halves - middles)[::-1], middles + halves
        places = np.concatenate([lower, [0.0], upper]) + cells.centre
        counts = np.array(cells.counts[1:-1], dtype=np.int64)
        if trimmed:
            counts = trimmed_by_rank(counts, trimmed)
            counts[(places < ends[0]) | (places > ends[1])] = 0
        clipped = np.clip(places, *ends)
        heads = np.flatnonzero(np.diff(clipped, prepend=-np.inf))
        gathered = np.add.reduceat(counts, heads)
        there = gathered > 0
        levels = cap // _HALF + 1
        lo, hi = ends[0] * step, ends[1] * step
        try:
            with unheard():
                found = self.ends(clipped[heads][there] * step, gathered[there], lo, hi, levels)
                lows, highs = (np.asarray(each, dtype=np.float64).reshape(levels) for each in found)
                fine = bool(np.isfinite(lows).all() and np.isfinite(highs).all())
        except Exception:  # noqa: BLE001 -- whether it fails may depend on the data
            fine = False
        if not fine:
            lows, highs = np.full(levels, lo), np.full(levels, hi)
        lows, highs = np.minimum.accumulate(lows), np.maximum.accumulate(highs)
        return BoundaryLengths(lows, highs, step, cap)


def _held(one: tuple[Reals, Reals], other: tuple[Reals, Reals]) -> bool:
    return bool((other[0][1:] <= one[0][:-1]).all() and (other[1][1:] >= one[1][:-1]).all())


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoundaryLengths:
    """Signed lengths from level ends, in halves of a record: 0, ±1, ±3, ±5, ...

    Attributes
    ----------
    lows, highs : float64 arrays
        Ends of the level sets (secret).
    step : float
    cap : int
    """

    lows: Reals
    highs: Reals
    step: float
    cap: int

    def at(self, t: Integers) -> Integers:
        """Lengths of lattice integers."""
        x = t * self.step
        above = np.searchsorted(self.highs, x, side="left")
        below = np.searchsorted(-self.lows, -x, side="left")
        found = np.maximum(2 * above - 1, 0) - np.maximum(2 * below - 1, 0)
        lengths: Integers = np.clip(found, -self.cap, self.cap)
        return lengths
