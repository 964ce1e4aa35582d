"""What the options of estimators share: checked, public, and part of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction

__all__ = [
    "LARGEST_DENOMINATOR",
    "LEAST_LEVEL",
    "MOST_QUANTILES",
    "NoOption",
    "Options",
    "checked_level",
    "checked_rank",
    "in_percent",
]

LARGEST_DENOMINATOR = 10**9
MOST_QUANTILES = 1000
LEAST_LEVEL = 0.95  # the card shows an interval at this level


class Options:
    """Base of an estimator's options: frozen, checked where they are made."""

    __slots__ = ()

    ranged: ClassVar[bool] = True
    """Whether a public range goes with them, and not only cuts that imply one."""

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


def checked_rank(q: object) -> Fraction:
    """Read a q, within 10^-18 of what was asked; losses then are exact in int64."""
    if isinstance(q, list | tuple) or (isinstance(q, str) and "," in q):
        raise InvalidArgument(f"q must be one number, got {q!r}: `quantiles` takes several")
    exact = as_fraction(q, "q").limit_denominator(LARGEST_DENOMINATOR)  # type: ignore[arg-type]
    if not 0 < exact < 1:
        raise InvalidArgument(
            f"q must lie strictly between 0 and 1, got {q!r}{in_percent([exact])}"
        )
    return exact


def in_percent(qs: Sequence[Fraction]) -> str:
    """Say what several q would be if they were meant in percent; nothing if they cannot be."""
    if not all(1 < each < 100 for each in qs):
        return ""
    return ": in percent that is q = " + ", ".join(f"{float(each / 100):g}" for each in qs)


def checked_level(level: object) -> float | None:
    """Read the level of an interval: ``None`` or in [0.95, 1)."""
    if level is None:
        return None
    number = isinstance(level, int | float) and not isinstance(level, bool)
    if not number or not LEAST_LEVEL <= level < 1:  # type: ignore[operator]
        raise InvalidArgument(
            f"level must be a number from {LEAST_LEVEL} up to 1, or None to draw no interval, "
            f"got {level!r}"
        )
    return float(level)  # type: ignore[arg-type]
