"""A checked question: which statistic, of which column, at what price, and how to answer it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from modicum.array_release import ArrayRelease
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget
from modicum.privacy.event import Event
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
