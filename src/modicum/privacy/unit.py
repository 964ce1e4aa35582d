"""The privacy unit: who is protected, and what other notions of neighbours would cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from modicum.errors import InvalidArgument
from modicum.privacy.event import BoundedRange, Concentrated, Event, Pure

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
        """
        match event:
            case Pure(epsilon):
                return Pure(epsilon / self.rows)
            case BoundedRange(eta):
                return BoundedRange(eta / self.rows)
            case Concentrated(rho):
                return Concentrated(rho / Fraction(self.rows) ** 2)

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
    2 ε (4 ρ) under swap.

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
