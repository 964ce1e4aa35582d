"""The options of estimators: what a request may choose besides the column, range and price."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from modicum.errors import InvalidArgument
from modicum.estimators.schedule import Clusters
from modicum.exact.lattice import Lattice
from modicum.exact.rational import as_fraction

__all__ = [
    "BinsOption",
    "ClusterOption",
    "CutsOption",
    "NoOption",
    "Options",
    "QuantileOption",
    "QuantilesOption",
    "RangeOption",
]

_LARGEST_DENOMINATOR = 10**9
_MOST_QUANTILES = 1000
_MOST_CUTS = 10_000
_FINE = 30  # 2^30 points of a lattice integer: enough for 10^9 equal records
LEAST_LEVEL = 0.95  # the card shows an interval at this level


class Options:
    """Base of an estimator's options: frozen, checked where they are made."""

    __slots__ = ()

    def check(self, listed: Sequence[Options], where: str) -> None:
        """Refuse a value that a row of the registry does not accept.

        Parameters
        ----------
        listed : sequence of Options
            Those of the row.
        where : str
            The row, for the message.
        """


@dataclass(frozen=True, slots=True)
class NoOption(Options):
    """Nothing to choose."""


@dataclass(frozen=True, slots=True)
class ClusterOption(Options):
    """Whether a small distant cluster may be clipped away."""

    clusters: Clusters

    def check(self, listed: Sequence[Options], where: str) -> None:
        """Refuse what is not listed.

        Raises
        ------
        InvalidArgument
        """
        if self not in listed:
            known = ", ".join(repr(o.clusters) for o in listed if isinstance(o, ClusterOption))
            raise InvalidArgument(
                f"clusters must be one of {known} for {where}, got {self.clusters!r}"
            )


@dataclass(frozen=True, slots=True)
class QuantileOption(Options):
    """Which quantile, and the confidence level of its interval.

    Attributes
    ----------
    q : Fraction
    level : float or None
        ``None``: the ends of the interval are not drawn.
    """

    q: Fraction
    level: float | None

    @classmethod
    def of(cls, q: object, level: object) -> QuantileOption:
        """Check both.

        Raises
        ------
        InvalidArgument
            Unless 0 < q < 1, and ``level`` is ``None`` or in [0.95, 1).

        Examples
        --------
        >>> QuantileOption.of(0.9, 0.95).q, QuantileOption.of(1 / 3, None).q
        (Fraction(9, 10), Fraction(1, 3))
        """
        return cls(_rank(q), _level(level))


@dataclass(frozen=True, slots=True)
class RangeOption(Options):
    """Between which quantiles, and the confidence level of the interval.

    Attributes
    ----------
    between : (Fraction, Fraction)
    level : float or None
        ``None``: the ends of the interval are not drawn.
    """

    between: tuple[Fraction, Fraction]
    level: float | None

    @classmethod
    def of(cls, between: object, level: object) -> RangeOption:
        """Check both.

        Raises
        ------
        InvalidArgument
            Unless ``between`` is two numbers in (0, 1) that increase, and ``level`` is ``None`` or
            in [0.95, 1).

        Examples
        --------
        >>> RangeOption.of((0.1, "0.9"), None).between
        (Fraction(1, 10), Fraction(9, 10))
        """
        if not isinstance(between, tuple | list) or len(between) != 2:
            raise InvalidArgument(f"between must be a pair of numbers, got {between!r}")
        low, high = _rank(between[0]), _rank(between[1])
        if low >= high:
            raise InvalidArgument(f"between must be (lower q, higher q), got {between!r}")
        return cls((low, high), _level(level))


@dataclass(frozen=True, slots=True)
class QuantilesOption(Options):
    """Which quantiles, and whether intervals are wanted.

    Attributes
    ----------
    qs : tuple of Fraction
        Increasing.
    interval : bool
    fine : int
        Points of a lattice integer, as a power of two: enough for 10^9 equal records. An audit
        takes few.
    """

    qs: tuple[Fraction, ...]
    interval: bool
    fine: int = _FINE

    @classmethod
    def of(cls, q: object, interval: object) -> QuantilesOption:
        """Check both.

        Raises
        ------
        InvalidArgument
            Unless q is a sequence of 1 to 1000 numbers in (0, 1), increasing, and ``interval`` is
            a bool.

        Examples
        --------
        >>> QuantilesOption.of([0.25, "1/3"], True).qs
        (Fraction(1, 4), Fraction(1, 3))
        """
        if isinstance(q, str | bytes) or not isinstance(q, Iterable):
            raise InvalidArgument(f"q must be a list such as [0.25, 0.5, 0.75], got {q!r}")
        exact = [as_fraction(each, "q").limit_denominator(_LARGEST_DENOMINATOR) for each in q]
        if math.lcm(*(each.denominator for each in exact)) > _LARGEST_DENOMINATOR:
            unit = _LARGEST_DENOMINATOR
            exact = [Fraction(round(each * unit), unit) for each in exact]
        if not 1 <= len(exact) <= _MOST_QUANTILES:
            raise InvalidArgument(
                f"q must hold 1 to {_MOST_QUANTILES} numbers, got {len(exact)}: for more, ask for "
                "a cdf or a histogram"
            )
        if not all(0 < each < 1 for each in exact):
            raise InvalidArgument("each q must lie strictly between 0 and 1, got " + _listed(exact))
        if not all(a < b for a, b in pairwise(exact)):
            raise InvalidArgument("the q must increase, got " + _listed(exact))
        if not isinstance(interval, bool):
            raise InvalidArgument(f"interval must be True or False, got {interval!r}")
        return cls(tuple(exact), interval)


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
    fine: int = _FINE

    @classmethod
    def of(cls, bins: object) -> BinsOption:
        """Check the number.

        Raises
        ------
        InvalidArgument
            Unless it is a whole number from 2 to 1000.
        """
        whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
        if not whole or not 2 <= bins <= _MOST_QUANTILES:  # type: ignore[operator]
            raise InvalidArgument(
                f"bins must be a whole number from 2 to {_MOST_QUANTILES}, got {bins!r}"
            )
        return cls(int(bins))  # type: ignore[call-overload]


@dataclass(frozen=True, slots=True)
class CutsOption(Options):
    """Public edges of bins, or points, in the unit of the data."""

    cuts: tuple[float, ...]

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


def _listed(numbers: Sequence[Fraction]) -> str:
    shown = ", ".join(f"{float(each):g}" for each in numbers[:10])
    return f"[{shown}{', ...' if len(numbers) > 10 else ''}]"


def _rank(q: object) -> Fraction:
    """Read a q, within 10^-18 of what was asked; losses then are exact in int64."""
    exact = as_fraction(q, "q").limit_denominator(_LARGEST_DENOMINATOR)  # type: ignore[arg-type]
    if not 0 < exact < 1:
        raise InvalidArgument(f"q must lie strictly between 0 and 1, got {q!r}")
    return exact


def _level(level: object) -> float | None:
    if level is None:
        return None
    number = isinstance(level, int | float) and not isinstance(level, bool)
    if not number or not LEAST_LEVEL <= level < 1:  # type: ignore[operator]
        raise InvalidArgument(
            f"level must be a number from {LEAST_LEVEL} up to 1, or None to draw no interval, "
            f"got {level!r}"
        )
    return float(level)  # type: ignore[arg-type]
