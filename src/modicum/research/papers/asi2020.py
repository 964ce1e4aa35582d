"""Asi and Duchi 2020: instance-optimality by inverse sensitivity.

The mechanisms of "Instance-optimality in differential privacy via approximate inverse sensitivity
mechanisms":

==================  ===========================  ===================================================
paper               name                         what it is
==================  ===========================  ===================================================
(M.1)               :func:`inverse_sensitivity`  any monotone statistic, in one draw
                                                 [locations.5], by len^ρ [level_sets.9]
(M.2), Algorithm 1  :func:`vector_statistic`     any vector, by its local sensitivities
Lemma 4.1           :func:`trimmed_mean`         (M.1) of a trimmed mean
Algorithm 2         :class:`LeadingDirection`    (M.2) of a principal component [radial.13]
(4)                 :func:`gradient`             an M-estimator, by the size of its gradient
                                                 [gradient.1]
(4), Algorithm 3    :func:`gradient_regression`  one of many linear fits, in the same way
                                                 [gradient.2], [gradient.3]
==================  ===========================  ===================================================

``modicum.vector_statistic``, whose law is :class:`RadialMechanism`, and ``modicum.trimmed_mean``
are the corrected forms and are named here only. docs/research/proofs/level_sets.md and locations.md
(M.1), radial.md (M.2), trimmed_mean.md and gradient.md have the proofs.

Differs from the text: neighbours are add-remove. Lengths count the records until the statistic
passes a value, not until it equals it, so their level sets are intervals. The shells of (M.2) go on
without end, where Algorithm 1 stops at n. A trimmed mean is not clipped to a range before its
length is computed. The gradient's bound L holds for all admissible records; a bound that is read
off the data gives no privacy. The draw is exact on a public lattice, where Algorithm 3 rejects in a
time that depends on the data, and divides by a matrix that may be singular.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from modicum.errors import InvalidArgument, as_given
from modicum.exact.lattice import Lattice
from modicum.mechanisms.exponential import Exponential
from modicum.mechanisms.norm_ball import MOST_DIMENSIONS
from modicum.mechanisms.norm_ball import RadialMechanism as RadialMechanism
from modicum.mechanisms.scores import TargetScore
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.array_release import ArrayEstimate, ArrayRelease, Axis
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.research.own_statistics.vector_statistic import Sensitivities
from modicum.research.own_statistics.vector_statistic import vector_statistic as vector_statistic
from modicum.research.papers.point import FitChoice, PointErrorModel
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics import spec, texts
from modicum.statistics.options import Options
from modicum.statistics.robust import score_lengths
from modicum.statistics.robust.inverse_sensitivity import (
    Candidates,
    ClipBounds,
    LengthPlan,
    LocationOption,
    Scene,
    asked,
    cell_edges,
    draw_near,
    draw_value,
)
from modicum.statistics.robust.monotone_statistic import (
    MonotoneStatistic,
    Score,
    is_number,
    true_location,
)
from modicum.statistics.robust.score_lengths import Reals
from modicum.statistics.robust.trimmed import trimmed_mean as trimmed_mean
from modicum.statistics.vectors import regression
from modicum.summaries import base, second_moments
from modicum.summaries.cells import Cells


def _signs(v: Reals) -> Reals:
    return np.sign(v)


_CASES = (LocationOption(Score("median", _signs, growth=0, width=1.0, homogeneous=True), None),)
CELL_BITS = 7  # 128 cells an octave of the distance from 0


@texts.documented
def inverse_sensitivity(
    column: str | None = None,
    *,
    statistic: MonotoneStatistic,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask by (M.1) for a monotone statistic: one draw, all lattice points being possible.

    It is Algorithm 5 of Dick, Kulesza, Sun and Suresh 2023, too. Prefer
    :func:`modicum.query.monotone_statistic`: where far records pull on a statistic it moves the
    ends in first, and a record at an end of a wide range counts less. Parameters, missing values
    and errors are as there, but for the level: there is no interval.

    {returns}
        With boundaries supplied by you it holds if they fulfil their contract.

    Notes
    -----
    P(t) ∝ exp(-ε len(t) / 2), where Dick et al. print exp(-len(t)), without ε; len counts the
    records until the statistic passes t, not until it equals t. It is the least one up to half a
    step from t, the smoother variant of (M.1), so that at any step some t has length 0. Lengths are
    those of records in cells, 128 an octave of the distance from 0; they are exact for a mean.

    Examples
    --------
    >>> import modicum
    >>> mean = modicum.Score("mean", lambda v: v, growth=1, homogeneous=True)
    >>> table = modicum.Curator([4.0] * 1000, budget=modicum.pure(1))
    >>> asked = inverse_sensitivity(statistic=mean, within=(0, 10), epsilon=1)
    >>> 3.9 < table.run(asked).value < 4.1
    True
    """
    cost = chosen_budget(epsilon, rho, budget)
    return asked(INVERSE_SENSITIVITY, column, statistic, cost, Lattice.within(within, step), None)


def on_the_range(
    column: str | None, lattice: Lattice, event: Event, statistic: MonotoneStatistic
) -> Steps[Scene]:
    """Read cells around 0 with all lattice points as candidates and nothing clipped."""
    centre = min(max(0, lattice.first), lattice.last)
    cells = yield from read(
        base.Read(column, lattice, Cells(centre, cell_edges(lattice, centre, CELL_BITS)))
    )
    ends = lattice.first, lattice.last
    candidates = Candidates.of(*ends, centre, flat=max(lattice.width, 1), spacing=1)
    bounds = ClipBounds(*ends, None)
    return Scene(BudgetSplit(event), lattice, statistic, cells, bounds, candidates)


def _inverse_sensitivity(
    column: str | None, lattice: Lattice | None, event: Event, options: LocationOption
) -> Steps[ScalarEstimate]:
    lattice, statistic = spec.ranged(lattice), options.statistic
    assert statistic is not None
    scene = yield from on_the_range(column, lattice, event, statistic)
    point, length = yield from draw_value(scene, scene.split.rest())
    words = (
        f"with a probability of 95 % the {statistic.name} passes the value when "
        f"{length:,.0f} records or fewer are added or removed"
    )
    error_model = PointErrorModel(lattice, point, words)
    return ScalarEstimate(error_model.value, error_model, OK)


INVERSE_SENSITIVITY: spec.Row[LocationOption, Release] = spec.Row(
    "monotone_statistic",
    "whole range",
    _CASES,
    "level_sets",
    "any monotone statistic in one draw (Asi and Duchi 2020, M.1; Dick et al. 2023, Algorithm 5)",
    _inverse_sensitivity,
)


class LeadingDirection(Sensitivities):
    """The leading direction of rows, for :func:`vector_statistic`: Algorithm 2.

    Rows are shortened to an L2 norm of 1. The answer is near a vector of norm 1, up to its sign;
    dividing it by its norm costs nothing more.

    Parameters
    ----------
    columns : int
        Number of columns, 2 to 20.

    Notes
    -----
    [radial.13] With G the gap of the first two eigenvalues of X'X, one row turns the direction by
    at most asin(1/G)/2 and moves G by at most 1. Differs from the text: its constant is that angle,
    not C / G with an unknown C; the k-th radius is for a gap of G - k + 1, where the text has the
    same one for all k; and G <= 1 has the largest radius, where the text's is negative.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(0, 1, (4000, 2)) * [0.5, 0.1]
    >>> import modicum
    >>> found = vector_statistic(statistic=LeadingDirection(2), within=(-8, 8), epsilon=1)
    >>> x, y = modicum.Curator(rows, budget=modicum.pure(1)).run(found).values
    >>> bool(abs(y / x) < 0.1)
    True
    """

    name, norm, signless = "leading direction", 2, True
    rounding, tolerance = 1e-9, 1e-6

    def __init__(self, columns: int) -> None:
        if columns not in range(2, MOST_DIMENSIONS[2] + 1):
            raise InvalidArgument(
                f"columns must be 2 to {MOST_DIMENSIONS[2]}, got {as_given(columns)}"
            )
        self.columns = columns  # type: ignore[misc]
        self.labels = tuple(str(k) for k in range(columns))

    def range(self, lo: float, hi: float) -> tuple[float, float]:
        """Return room for noise about vectors of norm 1."""
        return -1.5, 1.5

    def value(self, rows: Reals, lo: float, hi: float) -> Reals:
        return np.asarray(self._spectrum(rows)[1][:, -1])

    def sensitivities(self, rows: Reals, lo: float, hi: float, levels: int) -> Reals:
        """Return distances of unit vectors at the angles, and a little more for no jump at G = 1.

        1 / (2 (G - 1) + 1/sqrt(2)) is at least 2 sin(asin(1/G)/4), and sqrt(2) at G = 1.
        """
        values = self._spectrum(rows)[0]
        gaps = np.maximum(values[-1] - values[-2] - np.arange(levels), 1)
        return np.asarray(0.5 / (gaps - 1 + math.sqrt(1 / 8)))

    def _spectrum(self, rows: Reals) -> tuple[Reals, Reals]:
        short = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
        values, vectors = np.linalg.eigh(short.T @ short)
        return values, vectors


@texts.documented
def gradient(
    column: str | None = None,
    *,
    statistic: Score,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[Release]:
    """Ask by the gradient mechanism (4) for the t at which the sum of ψ(x - t) is 0.

    ψ is the gradient of a convex loss. For comparison: the sum over its largest term takes the
    place of the records that would have to change, which are never fewer. So
    :func:`inverse_sensitivity` is steeper: of a mean in the middle of the range twice as steep.

    Parameters
    ----------
    statistic : Score
        ψ, as for :func:`modicum.query.monotone_statistic`.
    column, within, epsilon, rho, budget, step
        As for :func:`modicum.query.monotone_statistic`. The noise is on the scale of the largest ψ
        between two values of the range.

    {returns}

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.query.monotone_statistic`; if the statistic is not a ``Score``.

    Notes
    -----
    P(t) ∝ exp(-ε abs(sum of ψ(x - t)) / (2 L)) on the lattice, L the largest abs(ψ) between two
    values of the range, and the sum the least one up to half a step from t. Missing values,
    infinities and cells are as for :func:`inverse_sensitivity`.

    Examples
    --------
    >>> import modicum
    >>> mean = modicum.Score("mean", lambda v: v, growth=1, homogeneous=True)
    >>> table = modicum.Curator([4.0] * 1000, budget=modicum.pure(1))
    >>> asked = gradient(statistic=mean, within=(0, 10), epsilon=1)
    >>> 3.8 < table.run(asked).value < 4.2
    True
    """
    if not isinstance(statistic, Score):
        raise InvalidArgument(f"statistic must be a modicum.Score, got {type(statistic).__name__}")
    cost = chosen_budget(epsilon, rho, budget)
    return asked(GRADIENT, column, statistic, cost, Lattice.within(within, step), None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GradientSizes:
    """[gradient.1] Sums of ψ(x - t) over the records, negated, in 1/unit of the largest ψ, capped.

    The masses are in parts of 1 / (64 unit) of a record (secret), the cap is in 1/unit, and the
    table's span is the width of the range.
    """

    masses: score_lengths.PointMasses
    table: score_lengths.ScoreTable
    cap: int

    @classmethod
    def of(cls, scene: Scene, score: Score, size: LengthPlan) -> GradientSizes:
        bounds = scene.bounds
        records = score_lengths.ClippedCells(scene.cells, bounds.lo, bounds.hi, scene.lattice.step)
        masses = score_lengths.PointMasses.of(records, score_lengths.ScoreLengths.parts(size.unit))
        table = score.table(2 * (bounds.hi - bounds.lo), scene.lattice.step / 2)
        return cls(masses.in_halves(), table, size.cap)

    def at(self, halves: base.Integers) -> base.Integers:
        """Return the sums at halves of lattice steps of the range; nondecreasing.

        One record more is ``ScoreLengths.parts(unit)`` of mass more, so it moves a sum by so many
        times L at most, which is ``unit`` times the divisor: a rounded quotient moves by ``unit``
        at most. The cut of a sum at 2^60 is beyond every cap.
        """
        ends = np.array([-self.table.span, self.table.span])
        largest = int(np.abs(self.table.at(ends)).max())  # L: no difference is beyond these
        places = self.masses.places
        rows = max(1, score_lengths.BLOCK // max(1, len(places)))
        sums = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(halves), rows):
            differences = places[None, :] - halves[start : start + rows, None]
            sums.append(score_lengths.exact_sums(self.table.at(differences), self.masses.parts))
        divisor = score_lengths.ScoreLengths.parts(1) * largest
        rounded = (divisor // 2 - np.concatenate(sums)) // divisor
        return np.clip(rounded, -self.cap, self.cap)


def _gradient(
    column: str | None, lattice: Lattice | None, event: Event, options: LocationOption
) -> Steps[ScalarEstimate]:
    """Spend all on one draw [gradient.1]."""
    lattice, score = spec.ranged(lattice), options.statistic
    assert isinstance(score, Score)
    scene = yield from on_the_range(column, lattice, event, score)
    share, log_count = scene.split.rest(), scene.candidates.log_count
    size = LengthPlan.of(share.range, log_count, whole=False)
    point = yield from draw_near(scene, GradientSizes.of(scene, score, size), size, share)
    words = (
        "with a probability of 95 % the sum of the gradients at the value is at most "
        f"{size.bound(log_count, 0.05):,.0f} times the largest one that a record can have"
    )
    error_model = PointErrorModel(lattice, point, words)
    return ScalarEstimate(error_model.value, error_model, OK)


GRADIENT: spec.Row[LocationOption, Release] = spec.Row(
    "monotone_statistic",
    "gradient",
    _CASES,
    "gradient",
    "an M-estimator by the size of its gradient (Asi and Duchi 2020, 4)",
    _gradient,
)

# ---- The gradient mechanism for linear regression

_FITS = 1 << 16  # at most
_BITS = 15  # of a row, and of a residual, behind the point
_FINE = 10  # of a slope
_STEEP = 1 << 20  # a slope in caps of the residual for each reach of the rows
_WIDTH = 64  # columns: residuals are then sums of 64 products below 2^45, and exact
_FAR = 2.0**500  # reaches; its square is a float
_TINY = 1 - 2.0**-40  # the roundings of a norm are below 2^-44
_GRAIN = 1 << 10  # parts of the largest gradient
_CHUNK = 1 << 21  # residuals at a time
_MOST_ROWS = 1 << 16  # of gradients that are added in floats: their sums are below 2^53


def gradient_regression(
    columns: Sequence[str] | None = None,
    *,
    target: str | None = None,
    fits: ArrayLike,
    reach: float,
    cap: float,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the one of many linear fits at which the gradient is nearly 0.

    For comparison: on the same list of fits :func:`modicum.query.linear_regression` chooses by
    squared residuals, which needs no factor 2 and no bound on rows (docs/research/comparison.md).

    Parameters
    ----------
    columns : list of str, optional
        Names of the explaining columns of a table. Leave it and ``target`` out for an array of
        shape (n, d): its last column is explained by the others.
    target : str, optional
        Name of the explained column.
    fits : array_like, shape (k, d)
        The fits to choose from, up to 65,536: an intercept, and a slope for each explaining column.
        They must not be made from the data.
    reach : float
        Rows of explaining columns with a larger L2 norm are shortened to it.
    cap : float
        Residuals are clipped to ±cap.
    within : (float, float)
        A public range certain to contain every value of every column.
    epsilon, rho, budget, step
        As for :func:`modicum.query.mean`.

    Returns
    -------
    Query
        Of the intercept and the slopes. Guarantee when answered: ε-DP (or ρ-zCDP) for add-remove
        neighbours, that is one privacy unit more or less.

    Raises
    ------
    InvalidArgument
        As for :func:`modicum.query.linear_regression`; fits of another shape or that are not
        finite; a reach or a cap that is not positive.

    Notes
    -----
    P(θ) ∝ exp(-ε abs(sum of g(θ; x, y)) / (2 L)) on the list, g = (residual clipped to ±cap) times
    (1, x / reach), and L = sqrt(2) cap. A row with a missing value (null, NaN) in any column is
    dropped; all rows are held in memory.

    Examples
    --------
    >>> import modicum
    >>> grid = [(a / 4, b / 4) for a in range(-8, 9) for b in range(-8, 9)]
    >>> x = np.linspace(-1, 1, 2000)
    >>> asked = dict(within=(-8, 8), reach=1, cap=1, epsilon=1)
    >>> table = modicum.Curator(np.column_stack([x, 1 - x]), budget=modicum.pure(1))
    >>> found = table.run(gradient_regression(fits=grid, **asked)).values
    >>> bool(abs(found - [1, -1]).max() < 0.6)
    True
    """
    cost = chosen_budget(epsilon, rho, budget)
    if (columns is None) != (target is None):
        raise InvalidArgument("columns and target go together; leave both out for an array")
    names = spec.column_names(None if columns is None else (*columns, target))
    options = FitsOption.of(fits, reach, cap)
    if names.names is not None and len(names.names) != options.width:
        raise InvalidArgument(
            f"each fit needs an intercept and {len(names.names) - 1} slopes, got "
            f"{options.width} numbers"
        )
    return GRADIENT_REGRESSION.query(names, Lattice.within(within, step), cost, options)


@dataclass(frozen=True, slots=True)
class FitsOption(Options):
    """A public list of fits, and where rows and residuals are clipped."""

    fits: tuple[tuple[float, ...], ...] = field(repr=False)
    reach: float
    cap: float

    @classmethod
    def of(cls, fits: ArrayLike, reach: object, cap: object) -> FitsOption:
        try:
            table = np.asarray(fits, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.ndim != 2 or not table.size or not np.isfinite(table).all():
            raise InvalidArgument(
                "fits must be an array of finite numbers, a row for each fit: an intercept, and "
                "a slope for each explaining column"
            )
        if len(table) > _FITS or table.shape[1] > _WIDTH:
            raise InvalidArgument(
                f"fits are at most {_FITS:,} of at most {_WIDTH} numbers, got {table.shape}"
            )
        for name, value in (("reach", reach), ("cap", cap)):
            if not (is_number(value) and value > 0):
                raise InvalidArgument(f"{name} must be a positive number, got {as_given(value)}")
        rows = tuple(tuple(row) for row in table.tolist())
        return cls(rows, float(reach), float(cap))  # type: ignore[arg-type]

    @property
    def width(self) -> int:
        """Number of columns, the explained one included."""
        return len(self.fits[0])

    @property
    def slopes(self) -> Reals:
        """Fits for rows in 2^-15 of the reach and residuals in 2^-15 of the cap, times 2^10."""
        table = np.array(self.fits)
        with np.errstate(over="ignore"):
            table[:, 1:] *= self.reach
            steep = np.clip(table / self.cap, -_STEEP, _STEEP)
        whole: Reals = np.rint(steep * (1 << _FINE))
        return whole


def gradient_losses(rows: base.Integers, step: float, options: FitsOption) -> tuple[int, ...]:
    """Sizes of the sums of gradients of all fits, in 1/1024 of the largest gradient of a row.

    Rows are lattice integers, with the explained column last. Everything that a row adds is an
    integer that follows from the row alone; all sums are below 2^53 and so exact in float64, in any
    order. See [gradient.2].
    """
    slopes = options.slopes
    totals = np.zeros(slopes.shape, dtype=np.int64)
    size = max(1, min(_MOST_ROWS, _CHUNK // len(slopes)))
    for start in range(0, len(rows), size):
        block = rows[start : start + size].astype(np.float64) * step
        explaining, goal = _clipped_rows(block[:, :-1], options.reach), block[:, -1]
        with np.errstate(over="ignore"):
            goal = np.clip(goal / options.cap, -_STEEP, _STEEP)
        goal = np.rint(goal * (1 << _BITS + _FINE))
        residuals = np.floor((goal[:, None] - explaining @ slopes.T) / (1 << _FINE))
        residuals = np.clip(residuals, -(1 << _BITS), 1 << _BITS)
        totals += (residuals.T @ explaining).astype(np.int64)
    squares = (totals.astype(object) ** 2).sum(axis=1).tolist()
    # [gradient.3] |residual| <= 2^15 and |(1, x)| <= sqrt(2) 2^15, so no gradient is longer than
    # this.
    largest = math.isqrt(1 << 4 * _BITS + 1) + 1
    return tuple(math.isqrt(_GRAIN**2 * square) // largest for square in squares)


def _clipped_rows(x: Reals, reach: float) -> Reals:
    """Integers of rows (1, x / reach) in units of 2^-15; x is no longer than 1 afterwards.

    Norms are added column by column: then each is a function of its row, wherever that stands.
    """
    with np.errstate(over="ignore"):
        near = np.clip(x / reach, -_FAR, _FAR)
    squares = np.zeros(len(x))
    for column in near.T:
        squares += column**2
    scale = _TINY / np.maximum(np.sqrt(squares), 1.0)
    whole = np.trunc(near * scale[:, None] * (1 << _BITS))
    return np.column_stack([np.full(len(x), float(1 << _BITS)), whole])


def _gradient_regression(
    columns: base.Columns, lattice: Lattice, event: Event, options: FitsOption
) -> Steps[ArrayEstimate]:
    split = BudgetSplit(event)
    table = yield from read(
        base.Read(None, lattice, second_moments.RowsInMemory(options.width), columns)
    )
    losses = gradient_losses(table.rows, lattice.step, options)
    epsilon, cost = split.rest().ranged
    # [gradient.3]
    mechanism = split.spend(Exponential(TargetScore(losses, 0), epsilon / _GRAIN, cost))

    def words(number: int) -> str:
        return ", ".join(f"{each:.6g}" for each in options.fits[number])

    number = yield from draw("fit", mechanism, words)
    listed, chosen = len(options.fits), options.fits[number]
    bound = 2 * math.log(20 * listed) / float(epsilon)
    names = columns.names or tuple(str(place) for place in range(options.width))
    axis = Axis.of(term=("intercept", *names[:-1]))
    error_model = FitChoice(lattice, chosen, listed, bound)
    return ArrayEstimate(tuple(map(Fraction, chosen)), (axis,), error_model, OK)


_LEVELS = tuple((x / 4,) for x in range(-36, 79)) + tuple((20 + x / 512,) for x in range(-99, 99))

GRADIENT_REGRESSION: spec.Row[FitsOption, ArrayRelease] = spec.Row(
    "linear_regression",
    "gradient",
    (FitsOption(_LEVELS, 1.0, 4.0),),
    "gradient",
    "one of many linear fits by the size of its gradient (Asi and Duchi 2020, 4)",
    lambda columns, lattice, event, options: _gradient_regression(
        columns, spec.ranged(lattice), event, options
    ),
    ArrayRelease,
    of_rows=True,
)


def _planned(name: str, noun: str) -> spec.Planned:
    score = ">>> from modicum import Score\n>>> score = Score('mean', lambda v: v, growth=1)\n"
    guess = "within=(-1000, 1000), step=1, sd=50, n=500, epsilon=1"
    example = score + spec.error_between(f"release({name}, statistic=score, {guess})", "0", "50")
    return spec.Planned(noun, example, truth=true_location, sampled=True)


STATISTICS = (
    spec.Declaration(
        inverse_sensitivity,
        (INVERSE_SENSITIVITY,),
        plan=_planned("inverse_sensitivity", "a monotone statistic on the whole range"),
    ),
    spec.Declaration(
        gradient,
        (GRADIENT,),
        plan=_planned("gradient", "an M-estimator by its gradient"),
    ),
    spec.Declaration(
        gradient_regression,
        (GRADIENT_REGRESSION,),
        plan=spec.Planned(
            "one of many linear fits by its gradient",
            """>>> fits = [(a / 4, b / 4) for a in range(-8, 9) for b in range(-8, 9)]
>>> guess = dict(within=(-8, 8), sd=[1], target_sd=1, r2=0.5, n=5000, epsilon=1)
>>> found = release(gradient_regression, fits=fits, reach=2.0, cap=4.0, **guess)
>>> 0 < found.error < 0.2
True""",
            error=regression.explained_loss,
            data="regression",
            meaning=regression.EXPLAINED_LOSS,
            without=("target",),
        ),
    ),
)
