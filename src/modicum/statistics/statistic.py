"""What the location estimator has to know of a statistic that follows the order of the data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Protocol

from modicum.errors import InvalidArgument
from modicum.summaries.base import Integers
from modicum.summaries.cells import CellSummary

__all__ = ["MonotoneStatistic", "SignedLengths", "excess", "is_number"]

_MOST_GROWTH = 15.0


class SignedLengths(Protocol):
    """How many records each value is from the statistic, in 1/unit of a record."""

    def at(self, t: Integers) -> Integers:
        """Lengths of lattice integers: negative below the statistic, nondecreasing, capped.

        One record more or less changes each by at most the unit.
        """


class MonotoneStatistic(ABC):
    """A statistic that never falls when a record is raised.

    Attributes
    ----------
    name : str
        For messages and cards.
    growth : float
        A record at distance r pulls like r^growth for large r; 0 if its pull is bounded.
    width : float or None
        For a bounded pull, a distance from which it hardly changes.
    """

    __slots__ = ()

    name: str
    growth: float
    width: float | None
    whole: ClassVar[bool] = False
    """Whether lengths are whole numbers of records; then they are counted in halves."""

    @property
    def bounded(self) -> bool:
        """Whether far records count no more than near ones."""
        return self.growth == 0

    def excess(self, tail: float) -> float:
        """Mean excess of a record's pull beyond a clipping bound (see :func:`excess`)."""
        return excess(self.growth, tail)

    @abstractmethod
    def check(self, span: float) -> None:
        """Try the statistic on public data, up to a distance ``span``.

        Raises
        ------
        InvalidArgument
        """

    @abstractmethod
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
    ) -> SignedLengths:
        """Lengths for the records of cells, clipped to ``ends``; additions are between them.

        Parameters
        ----------
        step : float
            Unit of the data in which a lattice step is counted.
        unit, cap : int
            Lengths are counted in 1/unit of a record, up to ``cap``.
        trimmed : int
            If positive, this many records are deleted on each side by rank, and those beyond
            ``ends`` too, in place of clipping.
        towards : int
            1 or -1: lengths from a statistic that is surely no less, or no more, than that of
            the records. 0: as near as cells tell.
        """

    def check_numbers(self) -> None:
        """Check growth and width.

        Raises
        ------
        InvalidArgument
            If one is no number, or they do not fit each other.
        """
        if not (is_number(self.growth) and 0 <= self.growth <= _MOST_GROWTH):
            raise InvalidArgument(
                f"growth must be a number from 0 (bounded) to {_MOST_GROWTH:g}, got {self.growth!r}"
            )
        if self.growth > 0 and self.width is not None:
            raise InvalidArgument("width is for a bounded statistic: leave it out, or growth=0")
        if self.growth == 0 and not (is_number(self.width) and self.width > 0):  # type: ignore[operator]
            raise InvalidArgument(
                "a bounded statistic (growth=0) needs width=, a positive distance from which a "
                f"record's pull hardly changes, got {self.width!r}"
            )


def excess(growth: float, tail: float) -> float:
    """Mean excess of a pull beyond a clipping bound, in units of that at the bound.

    For a pull of r^g and P(X > r s) = s^-a it is E[(X / r)^g] - 1 = g / (a - g).
    """
    if growth == 0:
        return 0.0
    return growth / (tail - growth) if tail > growth else math.inf


def is_number(x: object) -> bool:
    """Whether it is a finite number, and no bool."""
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
