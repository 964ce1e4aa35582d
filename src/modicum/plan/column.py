"""What the plans of a column's statistics have in common: a guess of the data, and a search."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from modicum.exact.lattice import Lattice
from modicum.plan.card import Plan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.table import Table
from modicum.plan.task import Task
from modicum.plan.trial import Truth
from modicum.privacy.budget import Budget
from modicum.privacy.unit import Unit, checked_unit
from modicum.runners.request import Question

__all__ = ["Guess", "Wanted", "planned"]

P = TypeVar("P", bound=Plan)


class Guess(NamedTuple):
    """The data, as far as public knowledge goes."""

    shape: ShapeName
    sd: float
    mean: float | None


class Wanted(NamedTuple):
    """What is given; of the first three, ``None`` is to be found."""

    price: Budget | None
    n: int | None
    error: float | None
    unit: Unit | None


def planned(
    make: Callable[..., P],
    question: Callable[..., Question[Any]],
    truth: Callable[[Table, Fraction], Truth],
    lattice: Lattice,
    guess: Guess,
    wanted: Wanted,
    **own: object,
) -> P:
    """Plan a question.

    Parameters
    ----------
    make : type of Plan
    question : callable
        Everything but ``budget=`` is bound.
    truth : callable
        The statistic of a synthetic table, given the step of its integers (see
        :class:`~modicum.plan.task.Task`).
    lattice : Lattice
    guess : Guess
    wanted : Wanted
    **own
        Fields that only this plan has.

    Raises
    ------
    InvalidArgument
        As :meth:`Task.solve <modicum.plan.task.Task.solve>`; for a bad guess or unit.
    """
    data = shape_of(guess.shape, sd=guess.sd, mean=guess.mean, lattice=lattice)
    step, unit = Fraction(lattice.step), checked_unit(wanted.unit)
    task = Task(question, lambda table: truth(table, step), data, lattice, unit)
    found = task.solve(wanted.price, wanted.n, wanted.error)
    asked = question(budget=found.price)
    fields = found.fields(asked.statistic, asked.method, unit, wanted.error)
    return make(**fields, shape=data, lattice=lattice, **own)
