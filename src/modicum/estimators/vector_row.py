"""A row of the table of estimators for a statistic of several columns together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from modicum.array_release import ArrayRelease
from modicum.estimators.row import ArrayRow, Chosen, ranged
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Event
from modicum.release import Finding
from modicum.runners.request import ArrayRequest
from modicum.steps import Steps
from modicum.summaries.base import Columns

__all__ = ["VectorRow", "vector_row"]

Begin = Callable[[Columns, Lattice, Event, Chosen], Steps[Finding[ArrayRelease]]]


@dataclass(frozen=True, slots=True)
class VectorRow(ArrayRow[Chosen]):
    """One way to answer one statistic of rows that are vectors; made by :func:`vector_row`.

    Attributes
    ----------
    of_rows : callable
        ``of_rows(columns, lattice, event, options)`` starts a run; ``begin`` starts one on an
        array.
    turn : Fraction or None
        Where a budget of (ε, δ) is spent as ρ, see :class:`~modicum.runners.request.Question`.
        ``None``: nowhere.
    """

    of_rows: Begin[Chosen]
    turn: Fraction | None = None

    def request(
        self, column: str | None, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> ArrayRequest:
        """Build a checked request of one column, or of an array."""
        return self.request_rows(
            Columns(None if column is None else (column,)), lattice, budget, options
        )

    def request_rows(
        self, columns: Columns, lattice: Lattice | None, budget: Budget, options: Chosen
    ) -> ArrayRequest:
        """Build a checked request; errors as for :meth:`~modicum.estimators.row.Row.request`."""
        self._begin(None, lattice, budget, options)
        return ArrayRequest(
            self.statistic,
            self.method,
            None,
            lattice,
            budget,
            lambda event: self.of_rows(columns, ranged(lattice), event, options),
            options,
            columns=columns,
            turn=self.turn,
        )


def vector_row(
    statistic: str,
    method: str,
    options: tuple[Chosen, ...],
    summary: str,
    of_rows: Begin[Chosen],
    kinds: tuple[Kind, ...] = ("pure", "zcdp", "approx"),
    proof: str | None = None,
    turn: Fraction | None = None,
) -> VectorRow[Chosen]:
    """Make a row with a range for all components; its page has the statistic's name by default."""
    return VectorRow(
        statistic,
        method,
        kinds,
        True,
        options,
        proof or statistic,
        summary,
        lambda _column, lattice, event, chosen: of_rows(Columns(), ranged(lattice), event, chosen),
        of_rows,
        turn,
    )
