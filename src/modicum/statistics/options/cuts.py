"""Options of histograms and distribution functions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.statistics.options.ranks import FINE
from modicum.statistics.spec import MOST_QUANTILES, Options

__all__ = ["BinsOption", "CutsOption"]

_MOST_CUTS = 10_000


@dataclass(frozen=True, slots=True)
class BinsOption(Options):
    """How many bins of about equally many records.

    Attributes
    ----------
    bins : int
    fine : int
        As for :class:`QuantilesOption`.
    """

    bins: int
    fine: int = FINE

    @classmethod
    def of(cls, bins: object) -> BinsOption:
        """Check the number.

        Raises
        ------
        InvalidArgument
            Unless it is a whole number from 2 to 1000.
        """
        whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
        if not whole or not 2 <= bins <= MOST_QUANTILES:  # type: ignore[operator]
            raise InvalidArgument(
                f"bins must be a whole number from 2 to {MOST_QUANTILES}, got {bins!r}"
            )
        return cls(int(bins))  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class CutsOption(Options):
    """Public edges of bins, or points, in the unit of the data."""

    cuts: tuple[float, ...]

    ranged: ClassVar[bool] = False

    @classmethod
    def of(cls, cuts: object, name: str, *, least: int, infinite: bool) -> CutsOption:
        """Check them.

        Parameters
        ----------
        name : str
            Of the argument.
        least : int
            How many there must be.
        infinite : bool
            Whether the first and the last may be infinite.

        Raises
        ------
        InvalidArgument
            Unless they are at most 10,000 numbers, increasing, and one of them is finite.

        Examples
        --------
        >>> CutsOption.of([0, 0.5, math.inf], "edges", least=2, infinite=True).cuts
        (0.0, 0.5, inf)
        """
        if isinstance(cuts, str | bytes) or not isinstance(cuts, Iterable):
            raise InvalidArgument(f"{name} must be a list of numbers, got {cuts!r}")
        read = tuple(_float(each, name) for each in cuts)
        if not least <= len(read) <= _MOST_CUTS:
            raise InvalidArgument(
                f"{name} must be {least} to {_MOST_CUTS} numbers, got {len(read)}"
            )
        inner = read[1:-1] if infinite else read
        if not all(map(math.isfinite, inner)) or not any(map(math.isfinite, read)):
            ends = "but for the first and the last, and not all infinite" if infinite else ""
            raise InvalidArgument(f"{name} must be finite {ends}".rstrip())
        if not all(a < b for a, b in pairwise(read)):
            raise InvalidArgument(f"{name} must increase")
        return cls(read)

    def lattice(self, name: str, step: float | None) -> Lattice:
        """Return a lattice that reaches beyond the finite ones, so that what is outside stays so.

        Raises
        ------
        InvalidArgument
            If two of them are one on it, or its step is refused.
        """
        finite = [cut for cut in self.cuts if math.isfinite(cut)]
        room = max(abs(finite[0]), abs(finite[-1]), finite[-1] - finite[0], 1.0)
        lattice = Lattice.within((finite[0] - room, finite[-1] + room), step)
        if len(set(lattice.quantise(np.array(finite)).tolist())) < len(finite):
            raise InvalidArgument(
                f"two of the {name} are one number at a step of {lattice.step:g}, to which values "
                "are rounded: give a finer step or coarser " + name
            )
        return lattice


def _float(value: object, name: str) -> float:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or value != value:  # noqa: PLR0124 -- NaN
        raise InvalidArgument(f"{name} must be numbers, got {value!r}")
    return float(value) + 0.0  # type: ignore[arg-type]
