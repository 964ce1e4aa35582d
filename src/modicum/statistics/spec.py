"""One row of the table of estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeVar

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Finding, Record, Release
from modicum.runners.request import Query
from modicum.statistics.options import Options
from modicum.steps import Steps
from modicum.summaries.base import Columns

__all__ = ["Row", "ranged"]

Chosen = TypeVar("Chosen", bound=Options)
R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class Row(Generic[Chosen, R_co]):
    """One way to answer one statistic.

    Attributes
    ----------
    statistic, method : str
        Names; a statistic's first row is its default method.
    kinds : tuple of str
        Budgets it accepts.
    needs_range : bool
        Whether ``within=`` is required.
    options : tuple of Options
        Those to audit and test; the first is the default.
    proof : str
        Page in docs/proofs, without ending.
    summary : str
        One line for lists.
    begin : callable
        ``begin(place, lattice, event, options)`` starts a run.
    release : type of Record
        What an answer is released as.
    of_rows : bool
        Whether it reads rows that are vectors; then ``place`` is :class:`Columns`.
    turn : Fraction or None
        Where a budget of (ε, δ) is spent as ρ, see :class:`~modicum.runners.request.Query`.
        ``None``: nowhere.
    """

    statistic: str
    method: str
    kinds: tuple[Kind, ...]
    needs_range: bool
    options: tuple[Chosen, ...]
    proof: str
    summary: str
    begin: Callable[[Any, Lattice | None, Event, Chosen], Steps[Finding[R_co]]]
    release: type[Record] = Release
    of_rows: bool = False
    turn: Fraction | None = None

    def request(
        self, place: str | Columns | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Query[R_co]:
        """Build a checked query.

        Raises
        ------
        InvalidArgument
            If the budget's kind or an option does not fit the method.
        """
        where = f"{self.statistic} with method={self.method!r}"
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{where} takes budgets of kind {' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        options.check(self.options, where)
        if self.of_rows and not isinstance(place, Columns):
            place = Columns(None if place is None else (place,))
        return Query(
            self.statistic,
            self.method,
            place,
            lattice,
            budget,
            lambda event: self.begin(place, lattice, event, options),
            self.release,
            options,
            options.ranged,
            self.turn,
        )


def ranged(lattice: Lattice | None) -> Lattice:
    """Return the lattice of a row that needs a range, and so has one."""
    assert lattice is not None
    return lattice
