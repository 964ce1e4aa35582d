"""Linear regression of the last of several columns on the others: of many rows, or of few.

Of many rows a fit from noisy products of columns is moved by noisy gradients (``refined_fit.py``).

Products of columns take d²/2 noisy numbers; where noise would hide directions of the columns, that
is far more than a fit needs. There a fit is chosen out of a public list, by what it leaves of the
explained column, and the next list lies closer about it ([moments.12] to [moments.14]). Derivations
are on docs/research/proofs/moments.md, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.scores import LossScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis, Floats, Intervals
from modicum.releases.status import USABLE, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import NoOption, checked_population
from modicum.statistics.vectors import moments
from modicum.statistics.vectors.refined_fit import NO_ENDS, SEEN, refined_fit
from modicum.statistics.vectors.standardised import (
    ColumnState,
    StandardisedColumns,
    standardised_columns,
)
from modicum.stored.codec import storable
from modicum.summaries import base
from modicum.summaries.second_moments import FIT_BITS, RESIDUAL, FitList, FitLosses, Scaling

NOTHING = Status(
    "few_records",
    "too little data for this budget: no column rises above the noise, every slope is 0",
)
LITTLE = Status(
    "few_records", "too little data for this budget: the fit may be worse than a constant"
)
GOAL = Status(
    "few_records", "too little data for this budget: the explained column is lost in the noise"
)
HEAVY = Status("heavy_tail", "some values of the explained column are far from the rest")
SCATTERED = Status("clipped", "too many values of the explained column are far from the rest")


@texts.documented
def linear_regression(
    columns: Sequence[str] | None = None,
    *,
    target: str | None = None,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
    population: bool = False,
) -> Query[ArrayRelease]:
    """Ask for a linear regression of one column on others, with no bounds to guess.

    Parameters
    ----------
    columns : list of str, optional
        Names of the explaining columns of a table, at most 499. Leave it and ``target`` out for an
        array of shape (n, d): its last column is explained by the others.
    target : str, optional
        Name of the explained column.
    {columns_within}
    {cost}
        How it is spent is as for :func:`covariance`.
    {step}
    population : bool
        Whether the rows are a random sample, and ``release.confidence_interval()`` is wanted, for
        the coefficients of least squares of the population that they come from, whatever the spread
        of the residuals depends on. It takes at most 8 % of what the last step of the fit has.

    {returns_rows}
        The answer is the intercept and the slopes.

    {raises}
        If names are not different or no text, or the range exceeds ±1e150; if there are columns
        without a target or the reverse, or a target among the columns.

    Notes
    -----
    {missing_rows}

    Singular data are no error. With rows times ε of 200 times the square of the number of
    explaining columns or more, noisy products of columns give a first fit, and noisy sums of what
    each row pulls it with, its residual times its columns, the step from there to least squares;
    columns whose spread is lost in the noise have slope 0, and ``release.status`` says so. With
    fewer rows, a fit is drawn from public lists by its squared residuals, each cut off at a public
    part of the released spread; then ``release.method`` is ``"listed fits"``, the code
    ``"unseen"``, and intervals have no ends. ``interval()`` is for least squares of these rows, and
    ``confidence_interval()``, with ``population=True``, for that of their population.

    Examples
    --------
    >>> linear_regression(["age", "bmi"], target="cost", within=(-1e6, 1e6), epsilon=1).statistic
    'linear_regression'
    """
    cost = chosen_budget(epsilon, rho, budget)
    if (columns is None) != (target is None):
        raise InvalidArgument("columns and target go together; leave both out for an array")
    names = spec.column_names(columns)
    if names.names is not None:
        if not isinstance(target, str):
            raise InvalidArgument(f"target must be a column name, got {as_given(target)}")
        if target in names.names:
            raise InvalidArgument(f"the target {target!r} is among the columns: leave it out there")
        names = spec.column_names((*names.names, target))
    lattice = spec.chosen_squared_range(within, step, "a regression")
    options = OfPopulation() if checked_population(population) else NoOption()
    return moments.moments_of(LINEAR_REGRESSION, names, lattice, cost, options)


@dataclass(frozen=True, slots=True)
class OfPopulation(NoOption):
    """The rows are a sample, and their population is asked about."""

    population: ClassVar[bool] = True


def noisy_regression(
    columns: base.Columns, lattice: Lattice, event: Event, options: NoOption
) -> Steps[ArrayEstimate]:
    """Regress the last column on the others."""
    scaled = yield from standardised_columns(columns, lattice, event, goal=True)
    axis = Axis.of(term=("intercept", *scaled.labels[:-1]))
    if few_rows(scaled):
        status = LITTLE if is_little(scaled) else _status(scaled, ~scaled.state.lost)
        listed = yield from listed_fit(scaled)
        values = moments.exact_values(listed.coefficients)
        return ArrayEstimate(
            values, (axis,), listed, NO_ENDS if status.ok else status, "listed fits"
        )
    error_model = yield from refined_fit(scaled, population=options.population)
    status = _status(scaled, np.append(error_model.kept, error_model.moments.seen(SEEN)[-1]))
    of_fit = error_model.status()
    if status.ok or (status.code in USABLE and of_fit.code not in USABLE):
        status = of_fit
    return ArrayEstimate(
        moments.exact_values(error_model.coefficients), (axis,), error_model, status
    )


def _status(scaled: StandardisedColumns, used: NDArray[np.bool_]) -> Status:
    """Say what is left out; the last column is the explained one."""
    state = scaled.state
    if state.scattered[-1]:
        return SCATTERED
    if not used[-1]:
        return GOAL
    status = state.status(scaled.labels[:-1], used[:-1], "slope 0", NOTHING)
    return HEAVY if status.ok and state.unbounded[-1] else status


# ---- Few rows

# The constants of [moments.13] and [moments.14], found by simulation.
# Lists lose less than products up to rows times epsilon of so many times the squared number of
# slopes: by the first while lists grow as rows get fewer, by the second where they are shortest.
_FEW, _FEW_OF_MANY = 200, 80
_CERTAIN = 160.0  # η times rows of a list from which on more lists are better than a better choice
_MOST_LISTS = 24
_FIRST, _TIMID = 0.3, 0.06  # spread of the first slopes, at most, and times a root of η n in all
_SQUARE = 0.3  # twice the mean square of a column in half-widths, about
_LITTLE = 16  # below, a fit is worse than a constant about as often as not
_LEVELS, _LEVEL, _CERTAIN_LEVEL = 0.6, Fraction(1, 10), 60.0  # spread of levels; share, or η n
_STAY = 4
_CAP = 384  # 3/8 of a half-width: far residuals are few, and their noise less
_WORK, _LISTED = 1 << 23, (256, 4096)  # fits times rows; fits
_SHOWN = 4


@storable
@dataclass(frozen=True, slots=True)
class ListedFit:
    """Error model of the fit that was chosen last.

    ``scaling`` has the centres and half-widths, ``count`` is the noisy number of records, ``lists``
    the number of lists, ``chosen`` the intercept and slopes in half-widths, in units of 2^-12, and
    ``none_seen`` whether the noisy number of records cannot be distinguished from 0.
    """

    labels: tuple[str, ...]
    lattice: Lattice
    scaling: Scaling
    state: ColumnState
    count: int
    lists: int
    chosen: tuple[int, ...]
    none_seen: bool = False

    @property
    def few_seen(self) -> bool:
        return self.none_seen

    @property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, in the units of the data."""
        units, point = self.scaling.units(self.lattice), self.scaling.middles(self.lattice)
        chosen = np.ldexp(np.array(self.chosen, dtype=np.float64), -FIT_BITS)
        point[-1] += chosen[0] * units[-1]
        slopes = chosen[1:] * (units[-1] / units[:-1])
        return np.concatenate([[point[-1] - slopes @ point[:-1]], slopes])

    def intervals(self, _level: float, _tail: float | None) -> Intervals:
        """Return no bounds: nothing is known of the directions that a choice leaves open."""
        free = np.full(len(self.chosen), math.inf)
        return Intervals(-free, free)

    def population_intervals(self, level: float, tail: float | None) -> Intervals:
        """Return no bounds either."""
        return self.intervals(level, tail)

    @property
    def condition(self) -> str:
        return "nothing: it has no bounds"

    def assumption(self, _tail: float | None) -> str:
        return (
            "interval() has no bounds: with so few rows for this budget a good fit is chosen from "
            "lists of fits, and others may be as good. Rows times epsilon of about 200 times the "
            "square of the number of columns are enough for products of columns, which have "
            "intervals."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "rows": self.count,
            "lists": self.lists,
            "half_widths": self.scaling.units(self.lattice).tolist(),
            "centres": self.scaling.middles(self.lattice).tolist(),
            "share_far": self.state.share_far,
        }


def few_rows(scaled: StandardisedColumns) -> bool:
    """[moments.14] Tell whether noise would hide directions of the columns in their products."""
    most = _FEW_OF_MANY if scaled.count * _LISTED[0] > _WORK else _FEW
    return float(scaled.split.scale) * scaled.count < most * (scaled.width - 1) ** 2


def listed_fit(scaled: StandardisedColumns) -> Steps[ListedFit]:
    """Spend all that is left on a choice from one list after another."""
    middle = (0,) * scaled.width
    split, lost = scaled.split, scaled.state.lost
    idle = tuple((1 + np.flatnonzero(lost[:-1] | lost[-1])).tolist())
    lists = _lists(scaled)
    size = min(max(_WORK // scaled.count, _LISTED[0]), _LISTED[1])
    for number, (part, spread, free, stay, cap) in enumerate(lists):
        units = max(1, round(spread * (1 << FIT_BITS)))
        fits = FitList(middle, units, size, number, free, idle)
        losses = yield from read(scaled.ask(FitLosses(scaled.scaling, fits, cap)))
        score = LossScore(np.array(losses.totals), cap**2, stay * size or 1)
        share = split.rest() if number + 1 == len(lists) else split.share(part)
        mechanism = split.spend(Exponential(score, *share.ranged))  # [moments.12]
        listed = fits.fits()
        chosen = yield from draw(f"fit of list {number + 1}", mechanism, partial(_words, listed))
        middle = tuple(listed[chosen].tolist())
    return ListedFit(
        labels=scaled.labels,
        lattice=scaled.lattice,
        scaling=scaled.scaling,
        state=scaled.state,
        count=scaled.count,
        lists=len(lists),
        chosen=middle,
        none_seen=scaled.none_seen,
    )


def is_little(scaled: StandardisedColumns) -> bool:
    """Tell whether lists say so little that the fit may be worse than none."""
    return scaled.none_seen or _heard(scaled) < _LITTLE * (scaled.width - 1)


def _heard(scaled: StandardisedColumns) -> float:
    """Rows times the bounded range that is left: what all lists together can tell."""
    left = Fraction(scaled.split.left, scaled.split.total)
    return scaled.count * float(scaled.split.share(left).range)


def _lists(scaled: StandardisedColumns) -> list[tuple[Fraction, float, int, int, int]]:
    """Plan all lists [moments.13].

    Of each: share, spread, free components, weight of staying in list lengths, cap of residuals.
    """
    split, rows, slopes = scaled.split, scaled.count, scaled.width - 1
    level = min(_LEVEL, split.part_for_range(_CERTAIN_LEVEL / rows))
    left = Fraction(split.left, split.total) - level
    affordable = int(left / split.part_for_range(_CERTAIN / rows))
    lists = min(max(affordable, 1), slopes + 2, _MOST_LISTS)
    certain = rows * float(split.share(left / lists).range)
    first = min(_FIRST, _TIMID * math.sqrt(_heard(scaled) / slopes))
    last = min(first, _CAP / RESIDUAL / math.sqrt(_SQUARE * certain))
    spreads = np.geomspace(first, last, lists).tolist()
    later = [
        (left / lists, spread, scaled.width, 0 if number else _STAY, _CAP)
        for number, spread in enumerate(spreads)
    ]
    return [(level, _LEVELS, 1, 0, RESIDUAL), *later]


def _words(listed: base.Integers, chosen: int) -> str:
    """Coefficients in half-widths; the first ones if there are many."""
    shown = np.ldexp(listed[chosen].astype(np.float64), -FIT_BITS)[:_SHOWN]
    more = ", ..." if len(listed[chosen]) > _SHOWN else ""
    return f"({', '.join(f'{each:.3g}' for each in shown)}{more}) half-widths"


LINEAR_REGRESSION: spec.Row[NoOption, ArrayRelease] = spec.Row(
    "linear_regression",
    "moments",
    (NoOption(), OfPopulation()),
    "moments",
    "linear regression of a column on others, with intervals",
    lambda columns, lattice, event, options: noisy_regression(
        columns, spec.ranged(lattice), event, options
    ),
    ArrayRelease,
    of_rows=True,
    # Simulated errors cross at half to twice as many columns as those of covariances, by the
    # number of rows.
    turn=Fraction(3, 2),
    lattice_of=spec.with_squares,
)


EXPLAINED_LOSS = "the share of the explained variance, R², that is lost"


def explained_loss(run: Any) -> float:
    """Share of the explained variance that a regression loses against the best one."""
    y = run.x[:, -1]
    table = np.column_stack([np.ones(len(y)), run.x[:, :-1]])
    best = np.linalg.lstsq(table, y, rcond=None)[0]
    squares = [float(np.mean((y - table @ each) ** 2)) for each in (run.values, best)]
    return (squares[0] - squares[1]) / max(float(np.var(y)), math.ulp(0.0))


STATISTICS = (
    spec.Declaration(
        linear_regression,
        (LINEAR_REGRESSION,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> x[:, 1] += 70 * x[:, 0]
>>> found = modicum.linear_regression(x, within=(-1e6, 1e6), epsilon=1)
>>> found.labels, 40 < found[1] < 100
(('intercept', 'column 0'), True)""",
        command="people.csv age,height --target weight --within=-1e6,1e6 --epsilon 1",
        options={
            "target": "the explained column",
            "r2": "share of the explained column's variance",
            "target_sd": "its standard deviation",
            "population": "the rows are a random sample: also buy intervals for its population",
        },
        tail=True,
        plan=spec.Planned(
            "a linear regression",
            spec.error_between(
                "linear_regression(within=(-1e6, 1e6), sd=[1, 9], r2=0.5, n=5000, epsilon=1)",
                "0",
                "0.1",
            ),
            command="--within=-1e6,1e6 --sd 12,9 --r2 0.5 --n 1e4 --epsilon 1",
            error=explained_loss,
            data="regression",
            meaning=EXPLAINED_LOSS,
            without=("target",),
        ),
    ),
)
