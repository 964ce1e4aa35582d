"""Variance and standard deviation with no bounds: squares about a rough mean, clipped privately.

[variance.1] count    a noisy count drives the schedule;
[variance.2] centre   a private median, from a secret subsample, or a public value that most records
                      have;
[variance.3] radii    on each side of it, the least width with few records outside;
[variance.4] rough    a rough mean m of the data clipped to those bounds, and a second count;
[variance.5] squares  the sum of squares about m and what it lacks of the largest, with most of the
                      budget.

The variance is E (x - m)² - (mean - m)², and the last term is far below the noise, so nothing has
to be spent on it. docs/research/proofs/variance.md has the proofs, with the same labels. The
error model holds released quantities and public noise distributions only.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import Status, alike
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, read
from modicum.statistics import spec, texts
from modicum.statistics.means.found_spread import spread_in_window
from modicum.statistics.means.squares import ConstantErrorModel, VarianceErrorModel, noisy_squares
from modicum.statistics.options import NoOption
from modicum.statistics.ranges import search
from modicum.statistics.ranges.bounds import Bounds, Rough, Setting, count_away, rough_mean
from modicum.statistics.ranges.window import in_window
from modicum.statistics.tails import tail_index
from modicum.statistics.tails.outside import (
    Counted,
)
from modicum.summaries.sums import ClippedSquares


@texts.documented
def var(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for the variance of a column, with no bounds to guess.

    It is the mean of the squared distances from the mean, divided by n and not by n - 1, as
    ``numpy.var`` is.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}

    {returns}

    {raises}
        If the range exceeds ±1e150, whose square is too large for a number.

    Notes
    -----
    {missing}

    The noise follows the square of the largest distances from the mean that more than a few records
    have; what lies beyond is clipped, which makes heavy tails look lighter than they are.

    Examples
    --------
    >>> var("income", within=(-1e9, 1e9), epsilon=1).statistic
    'var'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_squared_range(within, step, "a variance", "; ask for std")
    return VARIANCE.query(spec.column_name(column), lattice, cost, NoOption())


@texts.documented
def std(
    column: str | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask for the standard deviation of a column, with no bounds to guess.

    It is the root of the variance, see :func:`var`.

    Parameters
    ----------
    {column}
    {found_within}
    {cost}
    {step}

    {returns}

    {raises}

    Notes
    -----
    {missing}

    Examples
    --------
    >>> std("income", within=(-1e9, 1e9), rho="0.1").statistic
    'std'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = spec.chosen_range(within, step)
    return STD.query(spec.column_name(column), lattice, cost, NoOption())


def adaptive_variance(
    column: str | None, lattice: Lattice, event: Event, *, root: bool
) -> Steps[ScalarEstimate]:
    """Estimate a variance, or its ``root``; the draws cost exactly ``event``."""
    here = Setting(column, lattice, BudgetSplit(event))
    found = yield from find_spread(here)
    rough, bounds = found.rough, found.bounds
    if rough is None:
        elsewhere, noise = yield from count_away(here, bounds.elsewhere)
        single = ConstantErrorModel(
            lattice, bounds.lo, bounds.hi, found.first, max(elsewhere, 0), noise, root
        )
        return ScalarEstimate(single.value, single, _alike(single, bounds.hi, single.status))

    squares = yield from read(here.ask(ClippedSquares(bounds.lo, bounds.hi, rough.value)))
    error_model = yield from noisy_squares(
        here, squares, bounds, rough, partial(VarianceErrorModel, root=root, constant=found.at_home)
    )
    status = error_model.judged(found.n0, found.status)
    if found.at_home:
        status = _alike(error_model, 0, status)
    return ScalarEstimate(error_model.value, error_model, status)


def _alike(
    error_model: ConstantErrorModel | VarianceErrorModel, point: int, status: Status
) -> Status:
    """Say that nearly all records seem to be at a point, if the interval is about the range."""
    lattice, value = error_model.lattice, float(error_model.value)
    power = 1 if error_model.root else 2
    lower, upper = (end ** (1 / power) for end in error_model.interval(0.95, tail_index.USUAL))
    size = value ** (1 / power) or lattice.value(point)
    found = alike(lattice, size, (lower, upper), equal=not value)
    return found if status.ok else status


class Spread(NamedTuple):
    """[variance.1] to [variance.4] Where the data are: released, but for ``bounds.elsewhere``.

    ``first`` is the first noisy count ``n0`` as an estimate. Without a rough mean all records seem
    to have one value. ``at_home``: most records have one public value, and only the range is left
    for the others.
    """

    n0: int
    first: Counted
    bounds: Bounds
    rough: Rough | None
    at_home: bool
    status: Status


def find_spread(here: Setting) -> Steps[Spread]:
    """[variance.1] to [variance.4] Find clipping bounds, and a rough mean within them."""
    n0, first, _, place = yield from search.locate_data(here, shape=False, filled=False)
    bounds = Bounds.of_range(here.lattice) if place.bounds is None else place.bounds
    if place.way == "single":
        return Spread(n0, first, bounds, None, False, place.status)
    rough = yield from rough_mean(here, bounds, place.schedule, first)  # [variance.4]
    at_home = place.way == "range" and place.centre is not None
    return Spread(n0, first, bounds, rough, at_home, place.status)


VARIANCE = spec.Row(
    "var",
    "adaptive",
    (NoOption(),),
    "variance",
    "variance with noise on the scale of the data's own spread",
    lambda column, lattice, event, options: adaptive_variance(column, lattice, event, root=False),
    lattice_of=spec.with_squares,
    of_any=partial(in_window, partial(spread_in_window, root=False)),
    strength=spec.FOR_FAR_VALUES,
)

STD = spec.Row(
    "std",
    "adaptive",
    (NoOption(),),
    "variance",
    "standard deviation with noise on the scale of the data's own spread",
    lambda column, lattice, event, options: adaptive_variance(column, lattice, event, root=True),
    of_any=partial(in_window, partial(spread_in_window, root=True)),
    strength=spec.FOR_FAR_VALUES,
)


_LARGEST = "The largest records decide, so the shape matters more than for a mean."


STATISTICS = (
    spec.Declaration(
        var,
        (VARIANCE,),
        spec.shows_between("var", "within=(-1e9, 1e9), ", 3.2e7, 3.5e7),
        command="people.parquet income --within=-1e9,1e9 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            "a variance",
            spec.error_between(
                'var(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")',
                "0",
                "0.01 * 5e4**2",
            ),
            command="--within=-1e9,1e9 --n 1e5 --sd 5e4 --epsilon 1",
            truth=lambda run: run.table.variance() * run.step**2,
            note=_LARGEST,
        ),
    ),
    spec.Declaration(
        std,
        (STD,),
        spec.shows_between("std", "within=(-1e9, 1e9), ", 5700, 5850),
        command="people.parquet income --within=-1e9,1e9 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            "a standard deviation",
            spec.error_between(
                'std(within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1, shape="normal")',
                "0",
                "0.005 * 5e4",
            ),
            command="--within=-1e9,1e9 --n 1e5 --sd 5e4 --error 500",
            truth=lambda run: Fraction(math.sqrt(run.table.variance())) * run.step,
            note=_LARGEST,
        ),
    ),
)
