"""The variance and the standard deviation: the questions, and the table of how they are answered.

The steps are those of found_spread.py, in a range that is given or in none.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.releases.release import Release, ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps
from modicum.statistics import spec, texts
from modicum.statistics.means.found_spread import spread_in_window
from modicum.statistics.options import NoOption
from modicum.statistics.ranges.window import in_window


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


def _of_column(
    column: str | None, lattice: Lattice, event: Event, _: NoOption, *, root: bool
) -> Steps[ScalarEstimate]:
    return in_window(partial(spread_in_window, root=root), column, event, lattice)


VARIANCE = spec.Row(
    "var",
    "adaptive",
    (NoOption(),),
    "variance",
    "variance with noise on the scale of the data's own spread",
    partial(_of_column, root=False),
    lattice_of=spec.with_squares,
    by_window=True,
    strength=spec.FOR_FAR_VALUES,
)

STD = spec.Row(
    "std",
    "adaptive",
    (NoOption(),),
    "variance",
    "standard deviation with noise on the scale of the data's own spread",
    partial(_of_column, root=True),
    by_window=True,
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
