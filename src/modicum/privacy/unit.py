"""The privacy unit: who is protected, and what other notions of neighbours would cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.exact.enclosure import exp_above, exp_below
from modicum.privacy.event import Approximate, BoundedRange, Concentrated, Event, Pure

__all__ = ["NEIGHBOURS", "Unit", "swap_event", "unit_of"]

NEIGHBOURS = "add-remove"
"""Neighbouring data sets differ by one unit's rows being present or absent."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One protected person, who owns at most ``rows`` rows of the table.

    The bound is a declaration by the caller: rows are not matched to persons.
    """

    rows: int = 1

    def __post_init__(self) -> None:
        """Refuse a bound that is no positive integer."""
        if type(self.rows) is not int or self.rows < 1:
            raise InvalidArgument(f"rows must be a positive integer, got {self.rows!r}")

    def per_row(self, event: Event) -> Event:
        """Return the event one row may cost so that the whole unit costs ``event``.

        Group privacy: a unit of m rows costs m ε, and m² ρ in zCDP, when each row costs ε or ρ.
        When each row costs (ε, δ), a unit costs (m ε, δ (1 + e^ε + ... + e^((m-1) ε))); the δ of a
        row is rounded down.
        """
        match event:
            case Pure(epsilon):
                return Pure(epsilon / self.rows)
            case BoundedRange(eta):
                return BoundedRange(eta / self.rows)
            case Concentrated(rho):
                return Concentrated(rho / Fraction(self.rows) ** 2)
            case Approximate(epsilon, delta):
                if self.rows == 1:
                    return event
                # 1 + e^x + ... + e^((m-1) x) = (e^(m x) - 1) / (e^x - 1), x = ε / m.
                one = exp_below(epsilon / self.rows, _DIGITS) - 1
                return Approximate(
                    epsilon / self.rows, _down(delta * one / (exp_above(epsilon, _DIGITS) - 1))
                )

    def __str__(self) -> str:
        return "one row" if self.rows == 1 else f"one person with at most {self.rows} rows"


def unit_of(*, rows: int = 1) -> Unit:
    """Declare the privacy unit.

    Parameters
    ----------
    rows : int
        The most rows that one person can own in the table. The guarantee is then for the
        person; each row is released with 1/rows of ε (1/rows² of ρ).

    Raises
    ------
    InvalidArgument
        If ``rows`` is not a positive integer.

    Examples
    --------
    >>> unit_of(rows=5)
    Unit(rows=5)
    """
    return Unit(rows)


def swap_event(event: Event) -> Event:
    """Price of the same release when neighbours replace one unit instead of adding one.

    A swap is one removal and one addition, so an add-remove event of size ε (ρ) costs at most
    2 ε (4 ρ) under swap, and one of (ε, δ) at most (2 ε, (1 + e^ε) δ).

    Examples
    --------
    >>> swap_event(Pure(Fraction(1)))
    Pure(epsilon=Fraction(2, 1))
    """
    match event:
        case Pure(epsilon):
            return Pure(2 * epsilon)
        case BoundedRange(eta):
            return BoundedRange(2 * eta)
        case Concentrated(rho):
            return Concentrated(4 * rho)
        case Approximate(epsilon, delta):
            return Approximate(2 * epsilon, -_down(-delta * (1 + exp_above(epsilon))))


_DIGITS = 40
_BITS = 200


def _down(x: Fraction) -> Fraction:
    """Round down to 2^-200, so that an irrational bound does not carry a long fraction on."""
    return Fraction(math.floor(x * 2**_BITS), 2**_BITS)
