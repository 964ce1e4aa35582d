"""The options of an estimator: frozen, and checked where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from modicum.errors import InvalidArgument, as_given
from modicum.exact import rational

LARGEST_DENOMINATOR = 10**9
MOST_QUANTILES = 1000
LEAST_LEVEL = 0.95  # the summary shows an interval at this level


class Options:
    """Base of an estimator's options: frozen, checked where they are made."""

    __slots__ = ()

    ranged: ClassVar[bool] = True
    """Whether a public range goes with them, and not only cuts that imply one."""
    population: ClassVar[bool] = False
    """Whether the answer is about a population, of which the records are a random sample."""

    @property
    def spare(self) -> Fraction:
        """Share of the values on which an answer hardly depends, if they are far from the others.

        A range that is found need not hold more than the others.
        """
        return Fraction(0)

    @property
    def strength(self) -> float:
        """Least strength with which the end of a range is sought, if more than that of the row."""
        return 0.0

    def check(self, listed: Sequence[Options], where: str) -> None:
        """Refuse a value that is not ``listed`` by its row; ``where`` names the row."""


@dataclass(frozen=True, slots=True)
class NoOption(Options):
    """Nothing to choose."""


def checked_rank(q: object) -> Fraction:
    """Read a q, within 10^-18 of the argument; losses then are exact in int64."""
    if isinstance(q, list | tuple) or (isinstance(q, str) and "," in q):
        raise InvalidArgument(f"q must be one number, got {as_given(q)}: `quantiles` takes several")
    exact = rational.as_fraction(q, "q").limit_denominator(LARGEST_DENOMINATOR)  # type: ignore[arg-type]
    if not 0 < exact < 1:
        raise InvalidArgument(
            f"q must lie strictly between 0 and 1, got {as_given(q)}{in_percent([exact])}"
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
            f"got {as_given(level)}"
        )
    return float(level)  # type: ignore[arg-type]


def checked_population(population: object) -> bool:
    """Read whether a question is about a population."""
    if not isinstance(population, bool):
        raise InvalidArgument(f"population must be True or False, got {as_given(population)}")
    return population
