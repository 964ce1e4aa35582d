"""Different values of records, and where they stand among all records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from modicum.summaries.base import Integers

__all__ = ["Ranked"]


class Ranked(NamedTuple):
    """Different values of records in increasing order, and where they stand among all records.

    Attributes
    ----------
    values, before, ties : int64 arrays
        Each value, the number of records below it, and the number of those that have it: none, if
        it was asked for and is no record's.
    """

    values: Integers
    before: Integers
    ties: Integers

    def __repr__(self) -> str:
        """Return the name only: the values are data."""
        return "Ranked()"

    @classmethod
    def joined(cls, parts: Sequence[Ranked]) -> Ranked:
        """Put what is known of different values together."""
        if len(parts) == 1:
            return parts[0]
        values, places = np.unique(
            np.concatenate([part.values for part in parts]), return_index=True
        )
        before = np.concatenate([part.before for part in parts])[places]
        ties = np.concatenate([part.ties for part in parts])[places]
        return cls(values, before, ties)

    def between(self, start: int, stop: int) -> Ranked:
        """Return the values of which a record is at a position from start to stop (exclusive)."""
        first = int(np.searchsorted(self.before + self.ties, start, side="right"))
        last = int(np.searchsorted(self.before, stop, side="left"))
        values, before, ties = (column[first:last] for column in self)
        if (held := ties > 0).all():
            return Ranked(values, before, ties)
        return Ranked(values[held], before[held], ties[held])

    def around(self, value: int, count: int) -> tuple[int, int, int]:
        """Say what these tell of a value's place among ``count`` records.

        Returns
        -------
        fewest, most, ties : int
            Between so many and so many are below it. If both are equal, so many have it.
        """
        i = int(np.searchsorted(self.values, value))
        if i < len(self.values):
            below = int(self.before[i])
            if self.values[i] == value:
                return below, below, int(self.ties[i])
        else:
            below = count
        return (int(self.before[i - 1] + self.ties[i - 1]) if i else 0), below, 0

    def covers(self, start: int, stop: int) -> bool:
        """Whether every position from start to stop (exclusive) is that of one of these values."""
        if start >= stop:
            return True
        if not len(self.values):
            return False
        ends = self.before + self.ties
        joined = bool((self.before[1:] == ends[:-1]).all())
        return joined and int(self.before[0]) <= start and stop <= int(ends[-1])
