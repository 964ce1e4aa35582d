"""Plan a histogram."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from modicum import request as ask
from modicum.estimators.options import BinsOption, CutsOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import BinsPlan, CutsPlan
from modicum.plan.cuts import cuts_plan
from modicum.plan.shapes import ShapeName, shape_of
from modicum.plan.table import Table
from modicum.plan.task import Task, open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit, checked_unit

__all__ = ["histogram"]


def histogram(
    *,
    edges: Sequence[float] | None = None,
    bins: int | None = None,
    within: tuple[float, float] | None = None,
    sd: float,
    n: int | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    error: float | None = None,
    shape: ShapeName = "lognormal",
    mean: float | None = None,
    step: float | None = None,
    unit: Unit | None = None,
) -> CutsPlan | BinsPlan:
    """Plan a histogram: the mean error of a bin's count, or the ε that it needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.histogram`.

    Examples
    --------
    >>> round(histogram(edges=[0, 10, 20, 30], sd=10, n=20_000, epsilon="0.1").error)
    10
    >>> round(histogram(bins=10, within=(0, 1e6), sd=10, n=20_000, epsilon="0.1").error)
    13
    """
    price = open_price(epsilon, rho, budget)
    ask.histogram(edges=edges, bins=bins, within=within, step=step, epsilon=1)  # checks them
    if edges is not None:
        return cuts_plan(
            "histogram",
            partial(ask.histogram, edges=edges, step=step),
            _counts,
            CutsOption.of(edges, "edges", least=2, infinite=True),
            "edges",
            step,
            (shape, sd, mean),
            (price, n, error, unit),
        )
    assert within is not None
    question = partial(ask.histogram, bins=bins, within=within, step=step)
    chosen, lattice = BinsOption.of(bins), Lattice.within(within, step)
    data = shape_of(shape, sd=sd, mean=mean, lattice=lattice)
    task = Task(question, lambda _: None, data, lattice, checked_unit(unit))
    found = task.solve(price, n, error)
    fields = found.fields("histogram", "drawn", task.unit, error)
    return BinsPlan(**fields, shape=data, lattice=lattice, bins=chosen.bins)


def _counts(table: Table, ends: tuple[int, ...]) -> tuple[Fraction, ...]:
    counts = table.counts((*ends[:-1], ends[-1] + 1))
    return tuple(Fraction(count) for count in counts[1:-1])
