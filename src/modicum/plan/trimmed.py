"""Plan a trimmed or a winsorized mean."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from modicum import request as ask
from modicum.estimators.options import TrimOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import TrimmedPlan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.table import Table
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit
from modicum.runners.request import Request
from modicum.summaries.cuts import Cuts

__all__ = ["trimmed_mean", "winsorized_mean"]


def trimmed_mean(
    *,
    trim: Number,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> TrimmedPlan:
    """Plan a trimmed mean: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.trimmed_mean`.

    Examples
    --------
    >>> found = trimmed_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """
    return _planned(
        "trimmed_mean",
        ask.trimmed_mean,
        {"trim": trim, "within": within, "step": step, "level": level},
        {"shape": shape, "sd": sd, "mean": mean},
        {"price": open_price(epsilon, rho, budget), "n": n, "error": error},
        unit,
    )


def winsorized_mean(
    *,
    trim: Number,
    within: tuple[float, float],
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    level: float | None = 0.95,
    unit: Unit | None = None,
) -> TrimmedPlan:
    """Plan a winsorized mean; as :func:`trimmed_mean`.

    Examples
    --------
    >>> found = winsorized_mean(trim=0.1, within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1)
    >>> 1 < found.error < 200
    True
    """
    return _planned(
        "winsorized_mean",
        ask.winsorized_mean,
        {"trim": trim, "within": within, "step": step, "level": level},
        {"shape": shape, "sd": sd, "mean": mean},
        {"price": open_price(epsilon, rho, budget), "n": n, "error": error},
        unit,
    )


def _planned(
    statistic: str,
    question: Callable[..., Request],
    asked: dict[str, Any],
    guess: dict[str, Any],
    wanted: dict[str, Any],
    unit: Unit | None,
) -> TrimmedPlan:
    lattice = Lattice.within(asked["within"], asked["step"])
    data = shape_of(guess["shape"], sd=guess["sd"], mean=guess["mean"], lattice=lattice)
    trim = TrimOption.of(asked["trim"], asked["level"]).trim

    def truth(table: Table) -> Fraction:
        middle = table.between(*Cuts(trim, 1).cuts(table.rows))
        return middle.mean() * Fraction(lattice.step)

    task = Task(partial(question, **asked), truth, data, lattice, checked_unit(unit))
    found = task.solve(wanted["price"], wanted["n"], wanted["error"])
    fields = found.fields(statistic, "inverse-sensitivity", task.unit, wanted["error"])
    return TrimmedPlan(**fields, shape=data, lattice=lattice, trim=trim)
