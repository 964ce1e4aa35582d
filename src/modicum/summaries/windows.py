"""The records around several ranks, found in the passes of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.summaries.base import Rows, Sensitive
from modicum.summaries.window_pass import Ranked, WindowPass, count_around

__all__ = ["RankWindows", "WindowsSummary"]


@dataclass(frozen=True, slots=True)
class RankWindows:
    """Ask for the records whose rank is within ``reaches[i]`` of q_i n, for every i.

    Passes are those of :class:`~modicum.summaries.window.RankWindow`, for all together.

    Attributes
    ----------
    qs : tuple of Fraction
        In (0, 1), increasing.
    reaches : tuple of int
        Each at least 1.
    """

    qs: tuple[Fraction, ...]
    reaches: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.qs or not all(0 < q < 1 for q in self.qs):
            raise InvalidArgument(f"each q must lie strictly between 0 and 1, got {self.qs}")
        if len(self.reaches) != len(self.qs) or min(self.reaches) < 1:
            raise InvalidArgument(f"each reach must be at least 1, got {self.reaches}")

    def begin(self, lattice: Lattice | None, rows: Rows | None = None, /) -> _Pass:
        if lattice is None:
            raise InvalidArgument("ranks need a range: lattice must not be None")
        return _Pass(self, lattice, rows)

    def ranks(self, count: int) -> list[tuple[int, int]]:
        """Return the windows as positions from, to (exclusive) among ``count`` sorted records."""
        centres = [count * q.numerator // q.denominator for q in self.qs]
        return [
            (max(0, centre - reach), min(count, centre + reach + 1))
            for centre, reach in zip(centres, self.reaches, strict=True)
        ]


class WindowsSummary(Sensitive):
    """Values around several ranks, and where they stand among all records.

    What is not among them is found by another pass over the rows, when it is asked for; with
    generous windows that is rare.

    Parameters
    ----------
    count : int
        Number n of records (sensitive, as all else).
    known : Ranked
        Values in increasing order, with their ranks and ties.
    lattice : Lattice
    rows : Rows or None
        For what is not known; without them all records are.
    """

    __slots__ = ("_known", "_lattice", "_rows", "count")
    public: ClassVar[tuple[str, ...]] = ()

    def __init__(self, count: int, known: Ranked, lattice: Lattice, rows: Rows | None) -> None:
        self.count = count
        self._known = known
        self._lattice = lattice
        self._rows = rows

    def place(self, value: int) -> tuple[int, int]:
        """Return the number of records below a value, and of those that have it."""
        values, before, ties = self._known
        i = int(np.searchsorted(values, value))
        if i < len(values) and values[i] == value:
            return int(before[i]), int(ties[i])
        above = int(before[i]) if i < len(values) else self.count
        if (int(before[i - 1] + ties[i - 1]) if i else 0) == above:
            return above, 0  # no records lie between the neighbours that are known
        assert self._rows is not None
        found = count_around(value, self._lattice, self._rows)
        self._learn(Ranked(*(np.array([number]) for number in (value, *found))))
        return found

    def between(self, start: int, stop: int) -> Ranked:
        """Return the values of the records at positions from start to stop (exclusive)."""
        start, stop = max(start, 0), min(stop, self.count)
        values, before, ties = self._known
        first = int(np.searchsorted(before + ties, start, side="right"))
        last = int(np.searchsorted(before, stop, side="left"))
        found = Ranked(values[first:last], before[first:last], ties[first:last])
        if start >= stop or self._complete(found, start, stop):
            return found
        passing = WindowPass(lambda _: [(start, stop)], self._lattice, self._rows)
        assert self._rows is not None
        self._rows.feed(passing)
        self._learn(passing.finish()[1][0])
        return self.between(start, stop)

    @staticmethod
    def _complete(found: Ranked, start: int, stop: int) -> bool:
        """Whether every position from start to stop is that of a known value."""
        if not len(found.values):
            return False
        ends = found.before + found.ties
        joined = bool((found.before[1:] == ends[:-1]).all())
        return joined and int(found.before[0]) <= start and stop <= int(ends[-1])

    def _learn(self, more: Ranked) -> None:
        self._known = joined([self._known, more])


def joined(parts: list[Ranked]) -> Ranked:
    """Put what is known of different values together."""
    values, places = np.unique(np.concatenate([part.values for part in parts]), return_index=True)
    before = np.concatenate([part.before for part in parts])[places]
    ties = np.concatenate([part.ties for part in parts])[places]
    return Ranked(values, before, ties)


def _everything(count: int) -> list[tuple[int, int]]:
    """Positions to know if there is no further pass."""
    return [(0, count)]


class _Pass:
    reads = True

    def __init__(self, asked: RankWindows, lattice: Lattice, rows: Rows | None) -> None:
        ranks = asked.ranks if rows is not None else _everything
        self._passing = WindowPass(ranks, lattice, rows)
        self._lattice = lattice
        self._rows = rows

    def update(self, x: NDArray[np.float64], /) -> None:
        self._passing.update(x)

    def finish(self) -> WindowsSummary:
        count, parts = self._passing.finish()
        return WindowsSummary(count, joined(parts), self._lattice, self._rows)
