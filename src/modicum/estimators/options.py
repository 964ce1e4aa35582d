"""The options of estimators: what a request may choose besides the column, range and price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.estimators.schedule import Clusters
from modicum.exact.rational import as_fraction

__all__ = ["ClusterOption", "NoOption", "Options", "QuantileOption", "TrimOption"]

_LARGEST_DENOMINATOR = 10**9
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
        # Within 10^-18 of what was asked; losses then are exact in int64.
        exact = as_fraction(q, "q").limit_denominator(_LARGEST_DENOMINATOR)  # type: ignore[arg-type]
        if not 0 < exact < 1:
            raise InvalidArgument(f"q must lie strictly between 0 and 1, got {q!r}")
        return cls(exact, _checked_level(level))


@dataclass(frozen=True, slots=True)
class TrimOption(Options):
    """Which share of the records a mean leaves out on each side, and the level of its interval.

    Attributes
    ----------
    trim : Fraction
    level : float or None
        ``None``: no interval is drawn.
    """

    trim: Fraction
    level: float | None

    @classmethod
    def of(cls, trim: object, level: object) -> TrimOption:
        """Check both.

        Raises
        ------
        InvalidArgument
            Unless 0 < trim < 1/2, and ``level`` is ``None`` or in [0.95, 1).

        Examples
        --------
        >>> TrimOption.of(0.1, 0.95).trim
        Fraction(1, 10)
        """
        exact = as_fraction(trim, "trim").limit_denominator(_LARGEST_DENOMINATOR)  # type: ignore[arg-type]
        if not 0 < exact < Fraction(1, 2):
            raise InvalidArgument(
                "trim is the share left out on each side, strictly between 0 and 1/2 "
                f"(0: a mean; 1/2: a median), got {trim!r}"
            )
        return cls(exact, _checked_level(level))


def _checked_level(level: object) -> float | None:
    if level is None:
        return None
    number = isinstance(level, int | float) and not isinstance(level, bool)
    if not (number and LEAST_LEVEL <= level < 1):  # type: ignore[operator]
        raise InvalidArgument(
            f"level must be a number from {LEAST_LEVEL} up to 1, or None to draw no interval, "
            f"got {level!r}"
        )
    return float(level)  # type: ignore[arg-type]
