"""A checked question: which statistic, of which column, at what price, and how to answer it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget
from modicum.privacy.event import Event
from modicum.release import Answer
from modicum.steps import Steps

__all__ = ["Request"]


@dataclass(frozen=True, slots=True)
class Request:
    """One statistic asked for, with arguments already checked.

    Attributes
    ----------
    statistic, method : str
        Names for the release.
    column : str or None
        The column, ``None`` for a one-dimensional array or for rows.
    lattice : Lattice or None
        The public range and step.
    budget : Budget
        What the whole release may cost the privacy unit.
    begin : callable
        Starts a fresh run of the estimator, given the event one row may cost.
    options : object
        What else was chosen; its repr says all of it.
    """

    statistic: str
    method: str
    column: str | None
    lattice: Lattice | None
    budget: Budget
    begin: Callable[[Event], Steps[Answer]] = field(repr=False)
    options: object = None
