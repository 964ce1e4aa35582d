"""What a request for a location may choose."""

from __future__ import annotations

from dataclasses import dataclass

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.statistics.monotone_statistic import MonotoneStatistic, is_number
from modicum.statistics.options import LEAST_LEVEL, Options

__all__ = ["LocationOption"]


@dataclass(frozen=True, slots=True)
class LocationOption(Options):
    """Which location, and the confidence level of its interval.

    Attributes
    ----------
    statistic : MonotoneStatistic or None
        ``None``: Huber's location with a width found privately.
    level : float or None
        ``None``: the ends of the interval are not drawn.
    """

    statistic: MonotoneStatistic | None
    level: float | None

    @classmethod
    def of(
        cls, statistic: MonotoneStatistic | None, level: object, lattice: Lattice
    ) -> LocationOption:
        """Check both.

        Raises
        ------
        InvalidArgument
            If the statistic is none on this range, or ``level`` is not ``None`` or in [0.95, 1).
        """
        if level is not None and not (is_number(level) and LEAST_LEVEL <= level < 1):  # type: ignore[operator]
            raise InvalidArgument(
                f"level must be a number from {LEAST_LEVEL} up to 1, or None to draw no interval, "
                f"got {level!r}"
            )
        if statistic is not None:
            if not isinstance(statistic, MonotoneStatistic):
                raise InvalidArgument(
                    "statistic must be a modicum.Score, or an instance of a subclass of "
                    f"modicum.Boundaries, got {type(statistic).__name__}"
                )
            statistic.check(min(2 * (lattice.hi - lattice.lo), 1e300))
        return cls(statistic, None if level is None else float(level))  # type: ignore[arg-type]
