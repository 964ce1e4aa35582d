"""A checked question: which statistic, of which column, at what price, and how to answer it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Generic, Self, TypeVar

from modicum.array_release import ArrayRelease
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.accountant import approx_to_zcdp
from modicum.privacy.budget import Budget, Kind
from modicum.privacy.event import Approximate, Concentrated, Event, event_of
from modicum.release import Finding, Record, Release
from modicum.steps import Steps
from modicum.summaries.columns import Columns

__all__ = ["ArrayRequest", "Question", "Request"]

R_co = TypeVar("R_co", bound=Record, covariant=True)


@dataclass(frozen=True, slots=True)
class Question(Generic[R_co]):
    """One statistic asked for, with arguments already checked, and the kind of its release.

    Attributes
    ----------
    statistic, method : str
        Names for the release.
    column : str or None
        The column, ``None`` for a one-dimensional array, for rows, or with ``columns``.
    lattice : Lattice or None
        The public range and step.
    budget : Budget
        What the whole release may cost the privacy unit.
    begin : callable
        Starts a fresh run of the estimator, given the event one row may cost.
    options : object
        What else was chosen; its repr says all of it.
    ranged : bool
        Whether the range was given; if not, it is one that the options imply.
    columns : Columns or None
        The columns of vectors, if it is a question about these.
    turn : Fraction or None
        From ``turn`` ε²/(4 ρ) columns on, zCDP of size ρ gives smaller errors than pure ε.
    rho : Fraction or None
        If the budget is (ε, δ), and what is drawn is ρ-zCDP, which implies it; see
        :meth:`of_width`.
    """

    statistic: str
    method: str
    column: str | None
    lattice: Lattice | None
    budget: Budget
    begin: Callable[[Event], Steps[Finding[R_co]]] = field(repr=False)
    options: object = None
    ranged: bool = True
    columns: Columns | None = None
    turn: Fraction | None = None
    rho: Fraction | None = None

    @property
    def event(self) -> Event:
        """What the release costs the privacy unit."""
        if self.rho is None:
            return event_of(self.budget)
        return Approximate(self.budget.amount, self.budget.delta)

    @property
    def allowance(self) -> Event:
        """What all draws cost the privacy unit, from which :attr:`event` follows."""
        return self.event if self.rho is None else Concentrated(self.rho)

    def of_width(self, width: int, kind: Kind) -> Self:
        """Return the question as it is answered from so many columns and charged to a budget.

        A budget of (ε, δ) holds releases that are pure ε-DP, charged as (ε, 0), and releases that
        are ρ-zCDP, charged as (ε, δ). Which of them gives the smaller error follows from the
        number of columns: the noise of pure ε is calibrated to L1 norms, and that of ρ to L2 norms.

        Parameters
        ----------
        width : int
            Number of columns, which is public.
        kind : {"pure", "zcdp", "approx"}
            Of the budget that pays; only one of kind ``"approx"`` can pay for a δ.
        """
        if self.turn is None or kind != "approx" or not self.budget.delta:
            return self
        try:
            rho = approx_to_zcdp(self.budget).amount
        except InvalidArgument:  # the budget holds no ρ
            return self
        epsilon = self.budget.amount
        return replace(self, rho=rho) if 4 * rho * width >= self.turn * epsilon**2 else self

    @property
    def place(self) -> str | Columns | None:
        """What is read: the column, or the columns of vectors."""
        return self.column if self.columns is None else self.columns

    release: ClassVar[type[Record]] = Record
    """What its answer is released as."""


@dataclass(frozen=True, slots=True)
class Request(Question[Release]):
    """A question that is answered by one number; attributes as for :class:`Question`."""

    release: ClassVar[type[Record]] = Release


@dataclass(frozen=True, slots=True)
class ArrayRequest(Question[ArrayRelease]):
    """A question that is answered by several numbers; attributes as for :class:`Question`."""

    release: ClassVar[type[Record]] = ArrayRelease
