"""Plan what is counted between public cuts; a distribution function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from modicum import request as ask
from modicum.estimators.options import CutsOption
from modicum.exact.lattice import Lattice
from modicum.plan.card import CutsPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit
from modicum.runners.request import ArrayRequest

__all__ = ["cdf", "cuts_plan"]


def cdf(
    *,
    points: Sequence[float],
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
) -> CutsPlan:
    """Plan a distribution function: the mean error of a share, or the ε or n that it needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.cdf`.

    Examples
    --------
    >>> cdf(points=[5, 10, 20], sd=10, n=20_000, epsilon=1).error < 0.001
    True
    """
    cuts = CutsOption.of(points, "points", least=1, infinite=False)

    def truth(table: Table, ends: tuple[int, ...]) -> tuple[Fraction, ...]:
        upto = np.cumsum(table.counts([end + 1 for end in ends]))
        return tuple(Fraction(int(count), int(upto[-1])) for count in upto[:-1])

    return cuts_plan(
        partial(ask.cdf, points=points, step=step),
        truth,
        cuts,
        cuts.lattice("points", step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )


def cuts_plan(
    question: Callable[..., ArrayRequest],
    truth: Callable[[Table, tuple[int, ...]], tuple[Fraction, ...]],
    cuts: CutsOption,
    lattice: Lattice,
    guess: Guess,
    wanted: Wanted,
) -> CutsPlan:
    """Plan a question, given what its truth is at the cuts' integers."""
    ends = tuple(int(q) for q in lattice.quantise(np.array(cuts.cuts)))
    return planned(
        CutsPlan,
        question,
        lambda table, _: truth(table, ends),
        lattice,
        guess,
        wanted,
        cuts=cuts.cuts,
    )
