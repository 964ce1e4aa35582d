"""Which columns their intervals hold, as far as released numbers tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.statistics.noise_quantile import noise_quantile
from modicum.status import OK, Status
from modicum.summaries.second_moments import WHOLE, Norm

__all__ = ["HeldColumns"]

Flags = NDArray[np.bool_]

UNSURE = Status(
    "few_records",
    "too little data for this budget: some columns have no interval, others may have a wrong one",
)
_CHANCE = 0.01  # that noise alone makes any column look far
_MOST = 1 / 50  # share of the rows; with more far ones a column is left out
# A tail of index 3 has 1/64 of what is beyond two half-widths beyond eight; of an interval that
# was found at most a quarter of the rows are beyond two.
_POWER = 1 / 256


@dataclass(frozen=True, slots=True)
class HeldColumns:
    """What is known of the columns beside their intervals.

    Attributes
    ----------
    missed : tuple of bool
        Whether no interval was found.
    sure : bool
        Whether a column of which nothing is heard has none, but for one in a hundred.
    far : tuple of int
        Noisy numbers of rows with a value further than eight half-widths, in units of
        1 / ``WHOLE``; a row that is far in several columns is divided among them.
    deviation : float
        Standard deviation of the noise of each, in rows.
    norm : {"l1", "l2"}
        Its kind.
    rows : int
        The noisy number of rows.
    """

    missed: tuple[bool, ...]
    sure: bool
    far: tuple[int, ...]
    deviation: float
    norm: Norm
    rows: int

    @property
    def scattered(self) -> Flags:
        """Columns with an interval and so many far values that it cannot stand for them."""
        found: Flags = self._far(_MOST) & ~np.array(self.missed)
        return found

    @property
    def lost(self) -> Flags:
        """Columns that are to be left out."""
        found: Flags = np.array(self.missed) | self._far(_MOST)
        return found

    @property
    def unbounded(self) -> Flags:
        """Columns with more far values than a tail of index 3 has; those without an interval."""
        found: Flags = np.array(self.missed) | self._far(_POWER)
        return found

    @property
    def share_far(self) -> list[float]:
        """Released shares of far rows, at least 0."""
        return [max(each, 0) / WHOLE / self.rows for each in self.far]

    def status(self, names: Sequence[str], used: Flags, what: str, none: Status) -> Status:
        """Say which of the first columns are not used, and why.

        Parameters
        ----------
        names : sequence of str
            Of the first columns, or all.
        used : bool array
            For each of them.
        what : str
            What a column has that is not used.
        none : Status
            For no column at all that is.
        """
        scattered, heavy = (each[: len(names)] for each in (self.scattered, self.unbounded))
        if not used.any():
            return none
        if any(self.missed) and not self.sure:
            return UNSURE
        parts = [
            f"{why}: {', '.join(found)}"
            for why, chosen in (
                ("lost in the noise", ~used & ~scattered),
                ("too many values far from the rest", scattered),
            )
            if (found := [name for name, each in zip(names, chosen, strict=True) if each])
        ]
        if parts:
            return Status("partial", f"some columns have {what}; {'; '.join(parts)}")
        if heavy.any():
            tails = ", ".join(name for name, each in zip(names, heavy, strict=True) if each)
            return Status("heavy_tail", f"some values are far from the rest: {tails}")
        return OK

    def _far(self, share: float) -> Flags:
        """Tell the columns with more far rows than such a share, whatever the noise."""
        noise = noise_quantile(self.norm, _CHANCE / len(self.far)) * self.deviation
        found: Flags = np.array(self.far) / WHOLE > share * self.rows + noise
        return found
