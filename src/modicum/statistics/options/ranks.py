"""Options of statistics that are told by ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.statistics.spec import (
    LARGEST_DENOMINATOR,
    MOST_QUANTILES,
    Options,
    checked_level,
    checked_rank,
    in_percent,
)

__all__ = ["FINE", "QuantileOption", "QuantilesOption", "RangeOption"]

FINE = 30  # 2^30 points of a lattice integer: enough for 10^9 equal records


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
        return cls(checked_rank(q), checked_level(level))


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
        low, high = checked_rank(between[0]), checked_rank(between[1])
        if low >= high:
            raise InvalidArgument(f"between must be (lower q, higher q), got {between!r}")
        return cls((low, high), checked_level(level))


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
    fine: int = FINE

    @classmethod
    def of(cls, q: object, level: object) -> QuantilesOption:
        """Check both; intervals of every level follow from what is counted for one.

        Raises
        ------
        InvalidArgument
            Unless q is a sequence of 1 to 1000 numbers in (0, 1), increasing, and ``level`` is
            ``None`` or in [0.95, 1).

        Examples
        --------
        >>> QuantilesOption.of([0.25, "1/3"], 0.95).qs
        (Fraction(1, 4), Fraction(1, 3))
        """
        if isinstance(q, str | bytes) or not isinstance(q, Iterable):
            raise InvalidArgument(f"q must be a list such as [0.25, 0.5, 0.75], got {q!r}")
        exact = [_near(each) if isinstance(each, float) else _exact(each) for each in q]
        if math.lcm(*(each.denominator for each in exact)) > LARGEST_DENOMINATOR:
            unit = LARGEST_DENOMINATOR
            exact = [Fraction(round(each * unit), unit) for each in exact]
        if not 1 <= len(exact) <= MOST_QUANTILES:
            raise InvalidArgument(
                f"q must hold 1 to {MOST_QUANTILES} numbers, got {len(exact)}: for more, ask for "
                "a cdf or a histogram"
            )
        if not all(0 < each < 1 for each in exact):
            raise InvalidArgument(
                "each q must lie strictly between 0 and 1, got "
                f"{_listed(exact)}{in_percent(exact[:10])}"
            )
        if not all(a < b for a, b in pairwise(exact)):
            raise InvalidArgument("the q must increase, got " + _listed(exact))
        return cls(tuple(exact), checked_level(level) is not None)


def _exact(q: Any) -> Fraction:
    return as_fraction(q, "q").limit_denominator(LARGEST_DENOMINATOR)


_near = lru_cache(maxsize=1024)(_exact)


def _listed(numbers: Sequence[Fraction]) -> str:
    shown = ", ".join(f"{float(each):g}" for each in numbers[:10])
    return f"[{shown}{', ...' if len(numbers) > 10 else ''}]"
