"""One row of the table of estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.estimators.options import Options
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Finding, Record, Release
from modicum.runners.request import ArrayRequest, Request
from modicum.steps import Steps

__all__ = ["AnyRow", "ArrayRow", "Row", "ranged"]

Chosen = TypeVar("Chosen", bound=Options)
R = TypeVar("R", bound=Record)


@dataclass(frozen=True, slots=True)
class AnyRow(Generic[Chosen, R]):
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
        ``begin(column, lattice, event, options)`` starts a run.
    """

    statistic: str
    method: str
    kinds: tuple[Kind, ...]
    needs_range: bool
    options: tuple[Chosen, ...]
    proof: str
    summary: str
    begin: Callable[[str | None, Lattice | None, Event, Chosen], Steps[Finding[R]]]

    def _begin(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Callable[[Event], Steps[Finding[R]]]:
        """Check the budget's kind and the options, and return what starts a run.

        Raises
        ------
        InvalidArgument
            If one of them does not fit the method.
        """
        where = f"{self.statistic} with method={self.method!r}"
        if budget.kind not in self.kinds:
            raise InvalidArgument(
                f"{where} takes budgets of kind {' or '.join(self.kinds)}, got {budget.kind!r}"
            )
        options.check(self.options, where)

        return lambda event: self.begin(column, lattice, event, options)


@dataclass(frozen=True, slots=True)
class Row(AnyRow[Chosen, Release]):
    """One way to answer one statistic with one number; attributes as for :class:`AnyRow`."""

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> Request:
        """Build a checked request.

        Raises
        ------
        InvalidArgument
            If the budget's kind or an option does not fit the method.
        """
        begin = self._begin(column, lattice, budget, options)
        return Request(self.statistic, self.method, column, lattice, budget, begin, options)


@dataclass(frozen=True, slots=True)
class ArrayRow(AnyRow[Chosen, ArrayRelease]):
    """One way to answer one statistic with several numbers; attributes as for :class:`AnyRow`."""

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> ArrayRequest:
        """Build a checked request; errors as for :meth:`Row.request`."""
        begin = self._begin(column, lattice, budget, options)
        names = self.statistic, self.method, column, lattice, budget
        return ArrayRequest(*names, begin, options, options.ranged)


def ranged(lattice: Lattice | None) -> Lattice:
    """Return the lattice of a row that needs a range, and so has one."""
    assert lattice is not None
    return lattice
