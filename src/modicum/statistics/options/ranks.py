"""The option of trimmed means."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.statistics.spec import (
    LARGEST_DENOMINATOR,
    Options,
    checked_level,
)

__all__ = ["TrimOption"]


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
        exact = as_fraction(trim, "trim").limit_denominator(LARGEST_DENOMINATOR)  # type: ignore[arg-type]
        if not 0 < exact < Fraction(1, 2):
            raise InvalidArgument(
                "trim is the share left out on each side, strictly between 0 and 1/2 "
                f"(0: a mean; 1/2: a median), got {trim!r}"
            )
        return cls(exact, checked_level(level))
