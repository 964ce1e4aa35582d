"""A monotone statistic that brings its own level boundaries."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.estimators.crossing import trimmed_by_rank
from modicum.estimators.score_table import Reals
from modicum.estimators.statistic import MonotoneStatistic
from modicum.estimators.unheard import unheard
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

__all__ = ["Boundaries"]

_HALF = 2  # whole lengths k become 2k - 1 halves
_CHECKED_LEVELS = 6
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
            statistic; a bound that is not exact may not. Privacy hangs on it. :meth:`check`
            tries small data sets. If the method fails on the data, or returns something else
            than finite numbers, all candidates count as equally good: no error may tell of data,
            and no warning does: they are not heard.
        """

    def check(self, span: float) -> None:
        """Try the promise on all data sets of up to three records at four places.

        Raises
        ------
        InvalidArgument
            With two data sets that break it.
        """
        self.check_numbers()
        points = (-span / 2, -span / 8, 0.0, span / 2)
        for size in range(_CHECKED_RECORDS):
            for data in combinations_with_replacement(points, size):
                here = self._tried(data, span)
                for x in points:
                    more = tuple(sorted((*data, x)))
                    there = self._tried(more, span)
                    if not (_held(here, there) and _held(there, here)):
                        raise InvalidArgument(
                            f"the level boundaries of {self.name} break their promise: compare "
                            f"the records {data} with {more} between {-span / 2:g} and "
                            f"{span / 2:g}"
                        )

    def _tried(self, data: tuple[float, ...], span: float) -> tuple[Reals, Reals]:
        tally = Counter(data)
        places = np.array(sorted(tally), dtype=np.float64)
        counts = np.array([tally[x] for x in sorted(tally)], dtype=np.int64)
        try:
            found = self.ends(places, counts, -span / 2, span / 2, _CHECKED_LEVELS)
            lows, highs = (np.asarray(each, dtype=np.float64) for each in found)
        except Exception as error:
            raise InvalidArgument(f"{self.name} failed for the records {data}: {error}") from error
        if lows.shape != (_CHECKED_LEVELS,) or highs.shape != lows.shape:
            raise InvalidArgument(
                f"{self.name} must return {_CHECKED_LEVELS} lows and as many highs, got shapes "
                f"{lows.shape} and {highs.shape}"
            )
        if not (lows <= highs).all():
            raise InvalidArgument(f"{self.name} has lows above highs for the records {data}")
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
