"""Plan an expectile, Huber's location, or a location by powers of distances."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from modicum import request as ask
from modicum.estimators.location_evidence import LocationEvidence
from modicum.estimators.score import (
    checked_power,
    checked_tau,
    expectile_score,
    huber_score,
    power_score,
)
from modicum.estimators.score_table import Reals
from modicum.exact.lattice import Lattice
from modicum.plan.card import MeanPlan
from modicum.plan.column import Guess, Wanted, planned
from modicum.plan.shapes import ShapeName
from modicum.plan.table import Table
from modicum.plan.task import open_price
from modicum.privacy.budget import Budget, Number
from modicum.privacy.unit import Unit
from modicum.release import Answer

__all__ = ["expectile", "huber_location", "lp_location"]

_HALVINGS = 64


def expectile(
    *,
    tau: float,
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
) -> MeanPlan:
    """Plan an expectile: its error, or the ε or the number of rows that an error needs.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.expectile`.

    Examples
    --------
    >>> found = expectile(tau=0.9, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 50 < found.error < 5000
    True
    """
    psi = expectile_score(checked_tau(tau)).psi
    return planned(
        MeanPlan,
        partial(ask.expectile, tau=tau, within=within, step=step, level=level),
        crossing(psi),
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )


def lp_location(
    *,
    p: float,
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
) -> MeanPlan:
    """Plan a location by p-th powers, for 1 < p <= 8; for p = 2 better plan a mean.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.lp_location`.

    Examples
    --------
    >>> found = lp_location(p=1.5, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 5 < found.error < 500
    True
    """
    psi = power_score(checked_power(p)).psi
    return planned(
        MeanPlan,
        partial(ask.lp_location, p=p, within=within, step=step, level=level),
        crossing(psi),
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )


def huber_location(
    *,
    width: float | None = None,
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
) -> MeanPlan:
    """Plan Huber's location.

    Parameters are as for :func:`modicum.plan.mean` and :func:`modicum.huber_location`. Without a
    width the error is that against the location with the width that was released.

    Examples
    --------
    >>> found = huber_location(width=5e4, within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1)
    >>> 1 < found.error < 100
    True
    """

    def truth(table: Table, size: Fraction) -> Callable[[Answer], Fraction]:
        def released(answer: Answer) -> Fraction:
            assert isinstance(answer.evidence, LocationEvidence)
            assert answer.evidence.width is not None
            return crossing(huber_score(answer.evidence.width).psi)(table, size)

        return released

    return planned(
        MeanPlan,
        partial(ask.huber_location, width=width, within=within, step=step, level=level),
        truth,
        Lattice.within(within, step),
        Guess(shape, sd, mean),
        Wanted(open_price(epsilon, rho, budget), n, error, unit),
    )


def crossing(psi: Callable[[Reals], Reals]) -> Callable[[Table, Fraction], Fraction]:
    """Return the truth of a location: where the scores of a table add up to 0."""

    def truth(table: Table, size: Fraction) -> Fraction:
        x: Reals = table.q.astype(np.float64) * float(size)
        lo, hi = float(x[0]), float(x[-1])
        for _ in range(_HALVINGS):
            middle = (lo + hi) / 2
            above = float(psi(x - middle) @ table.weights) > 0
            lo, hi = (middle, hi) if above else (lo, middle)
        return Fraction((lo + hi) / 2)

    return truth
