"""Covariances and principal components of several columns, from noisy moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayEstimate, ArrayRelease, Axis, Floats, Intervals
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.release import Tail, assumed_tail
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps
from modicum.statistics.moments import (
    CHANCE_COUNTED,
    CONDITION,
    Moments,
    OfMoments,
    covered,
    exact_values,
    moments_of,
    noise_size,
    noisy_moments,
    touched,
)
from modicum.statistics.spec import (
    Declaration,
    NoOption,
    Options,
    Planned,
    Row,
    chosen_squared_range,
    column_names,
    error_between,
    ranged,
    with_squares,
)
from modicum.statistics.standardised import noise_quantile, standardised_columns
from modicum.statistics.texts import documented
from modicum.status import OK, Status
from modicum.summaries.base import Columns

SEEN = 3.0  # a column counts if its spread exceeds its noise so many times
NOTHING = Status(
    "few_records",
    "too little data for this budget: the spread of every column is lost in the noise",
)
FAINT = Status(
    "few_records",
    "too little data for this budget: the noise alone has directions with as much variance as the "
    "last component",
)
EACH = Status("partial", "the spread of each column by itself is lost in the noise")


@documented
def covariance(
    columns: Sequence[str] | None = None,
    *,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the covariance matrix of several columns, with no bounds to guess.

    It divides by n, as ``numpy.cov(..., bias=True)`` does.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    {columns_within}
    {cost}
        With more than about 15 columns, ρ has the smaller noise; a cost of (ε, δ) is spent as the
        better one of ε and ρ, see :func:`modicum.query.mean_vector`.
    {step}

    {returns_rows}

    {raises}
        If names are not different or no text; if the range exceeds ±1e150, whose square is too
        large for a number.

    Notes
    -----
    {missing_rows}

    An interval is drawn for each column, in which most of it lies; a value further than twice its
    half-width from its middle counts as that far, and further than eight times as the middle. Rows
    that are large in these units are shrunk as a whole, constant included, so that linear relations
    survive. A column whose spread is lost in the noise has covariance 0 with all.

    Examples
    --------
    >>> covariance(["height", "weight"], within=(-1e6, 1e6), epsilon=1).statistic
    'covariance'
    """
    cost = chosen_budget(epsilon, rho, budget)
    lattice = chosen_squared_range(within, step, "a covariance")
    return moments_of(COVARIANCE, column_names(columns), lattice, cost, NoOption())


@documented
def pca(
    columns: Sequence[str] | None = None,
    *,
    components: int,
    within: tuple[float, float] | None = None,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
    step: float | None = None,
) -> Query[ArrayRelease]:
    """Ask for the leading principal components of several columns, with no bounds to guess.

    They are those of a released covariance matrix, see :func:`covariance`; charged in ρ, of one
    whose columns share one half-width if rows are too few for an interval in each.

    Parameters
    ----------
    columns : list of str, optional
        Names of numeric columns of a table, at most 500. Leave it out for an array of shape
        (n, d), or an Arrow array of lists of one size.
    components : int
        How many; no more than there are columns are returned.
    {columns_within}
    {cost}
        How it is spent is as for :func:`covariance`.
    {step}

    {returns_rows}
        The answer is unit vectors, shape (components, columns). Its release also has the variance
        along each, ``error_model.explained_variance``, and about the largest that noise alone would
        show, ``error_model.noise_size``.

    {raises}
        If components is no whole number of at least 1; if names are not different or no text, or
        the range exceeds ±1e150.

    Notes
    -----
    {missing_rows}

    Far values are as for :func:`covariance`.

    Examples
    --------
    >>> pca(["height", "weight"], components=1, within=(-1e6, 1e6), epsilon=1).statistic
    'pca'
    """
    cost = chosen_budget(epsilon, rho, budget)
    options = ComponentsOption.of(components)
    lattice = chosen_squared_range(within, step, "a covariance")
    return moments_of(PCA, column_names(columns), lattice, cost, options)


@dataclass(frozen=True, slots=True)
class ComponentsOption(Options):
    """How many principal components."""

    components: int

    @classmethod
    def of(cls, components: object) -> ComponentsOption:
        """Check that it is a whole number of at least 1."""
        whole = isinstance(components, int | np.integer) and not isinstance(components, bool)
        if not whole or components < 1:  # type: ignore[operator]
            raise InvalidArgument(
                f"components must be a whole number of at least 1, got {components!r}"
            )
        return cls(int(components))  # type: ignore[call-overload]


def noisy_covariance(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayEstimate]:
    """Release the covariance matrix of several columns."""
    scaled = yield from standardised_columns(columns, lattice, event, goal=False)
    error_model = CovarianceErrorModel((yield from noisy_moments(scaled)))
    axes = (Axis.of(column=scaled.labels), Axis.of(other=scaled.labels))
    values = exact_values(error_model.matrix)
    return ArrayEstimate(values, axes, error_model, error_model.columns_status())


def noisy_components(
    columns: Columns, lattice: Lattice, event: Event, *, components: int
) -> Steps[ArrayEstimate]:
    """Release leading principal components, no more than there are columns."""
    scaled = yield from standardised_columns(columns, lattice, event, goal=False, common=True)
    moments = yield from noisy_moments(scaled)
    error_model = ComponentsErrorModel(moments, min(components, len(moments.labels)))
    numbers = tuple(float(k + 1) for k in range(error_model.components))
    axes = (Axis.of(component=numbers), Axis.of(column=moments.labels))
    values = exact_values(error_model.directions)
    return ArrayEstimate(values, axes, error_model, error_model.status)


@dataclass(frozen=True, slots=True)
class _OfCovariance(OfMoments):
    moments: Moments

    @property
    def matrix(self) -> Floats:
        """The covariances in the units of the data; 0 for a column that does not enter."""
        kept = self._kept
        return np.where(np.outer(kept, kept), self._noisy, 0.0)

    def columns_status(self, what: str = "covariance 0 with all", none: Status = NOTHING) -> Status:
        """Say which columns are lost in the noise, and ``what`` they have; ``none``: all are."""
        moments = self.moments
        return moments.state.status(moments.labels, moments.seen(SEEN), what, none)

    @property
    def _kept(self) -> NDArray[np.bool_]:
        """Columns that enter: those that are seen, as any other may have a wrong scale; or all.

        With one half-width for all columns their noise is the same, and all of them together may
        show a direction that none shows by itself.
        """
        return ~self.moments.state.lost if self.moments.common else self.moments.seen(SEEN)

    @property
    def _squares(self) -> Floats:
        """Products of half-widths, in the units of the data."""
        found: Floats = np.outer(self.moments.units, self.moments.units)
        return found

    @property
    def _noisy(self) -> Floats:
        """Noisy covariances, in the units of the data."""
        return self.moments.scatter / self.moments.weight * self._squares


@dataclass(frozen=True, slots=True)
class CovarianceErrorModel(_OfCovariance):
    """Covariances from released moments."""

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Intervals for the covariances of all rows, all at once by the union bound."""
        center, noisy, width = self.matrix, self._noisy, self._widths(level, tail)
        # A column that is not seen has a released 0 in place of its noisy covariances.
        free = self.moments.state.unbounded if tail is not None else self.moments.state.lost
        width[free], width[:, free] = np.inf, np.inf
        low, high = np.minimum(noisy - width, center), np.maximum(noisy + width, center)
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        return Intervals(low.ravel(), high.ravel())

    def _widths(self, level: float, tail: float | None) -> Floats:
        """Bounds on the differences to the covariances of all rows, entry by entry."""
        moments, size, chance = self.moments, len(self.moments.labels), 1 - level
        each = (1 - CHANCE_COUNTED) * chance / (size * (size + 1) + 2)
        # A covariance is scatter over rows, which the noise of the rows moves too.
        noise = moments.scatter_noise(np.abs(moments.scatter) / moments.weight)
        noise = noise_quantile(moments.norm, each) * noise
        both = touched(moments, tail, CHANCE_COUNTED * chance)
        summed = (np.maximum(np.diag(moments.scatter), 0.0) + np.diag(noise)) / moments.weight
        # What is missing of the sums, and of the number of rows.
        missed = both.missing(summed, moments.means)
        width = missed + both.shrunk * np.sqrt(np.outer(summed, summed))
        found: Floats = (noise / moments.weight + width) * self._squares
        return found

    def assumption(self, tail: float | None) -> str:
        return f"interval() is for the covariances of the rows: {covered(tail)}"


@dataclass(frozen=True, slots=True)
class ComponentsErrorModel(_OfCovariance):
    """Principal components from released moments."""

    components: int

    @property
    def variances(self) -> Floats:
        """All eigenvalues of the noisy covariance, decreasing, those below zero as zero."""
        return self._decomposed()[0]

    @property
    def explained_variance(self) -> Floats:
        """Variances along the components."""
        return self.variances[: self.components]

    @property
    def directions(self) -> Floats:
        """Unit vectors, shape (components, columns); the largest entry of each is positive."""
        return self._decomposed()[1][: self.components]

    @property
    def location(self) -> Floats:
        """The means of the columns."""
        return self.moments.location

    @property
    def noise_size(self) -> float:
        """About the largest eigenvalue that noise alone has, in the units of the data.

        At most that of a matrix of independent normal entries with these deviations: twice the
        largest root of the sum of a row's variances.
        """
        moments = self.moments
        noise = moments.noise[1:, 1:] * self._squares / moments.weight
        noise = noise[np.ix_(*[self._kept] * 2)]
        found = 2 * float(np.hypot.reduce(noise, axis=1).max(initial=0.0))
        return found + self._moved(0.0, 1.0) if moments.common else found

    def _moved(self, along: float, rows: float) -> float:
        """What the noise of the means and of the number of rows adds in a common scaling.

        M/n - (m/n)(m/n)' changes by t (a a' - S) - a b' - b a' over n, S being itself, a = m/n, b
        the noise of m and t that of n: in size at most t (|a|² + |S|) + |a| |b| + |a'b|, but t S
        has S's own directions and is left out. About an interval's middle a is small; a common
        centre may be far from the mean. ``along`` and ``rows`` are deviations of b and of t.
        """
        moments = self.moments
        means, noise = float(np.linalg.norm(moments.means)), moments.noise[0]
        size = float(np.linalg.norm(noise[1:])) + 2 * along * float(noise[1:].max())
        unit = float(moments.units[0]) ** 2 / moments.weight
        return means * (size + rows * means * float(noise[0])) * unit

    @property
    def status(self) -> Status:
        """What is lost in the noise: columns, or the last component."""
        faint = OK if self.explained_variance[-1] > self.noise_size else FAINT
        if self.moments.common:
            mostly_noise = "entries that are 0 or mostly noise"
            return self.columns_status(mostly_noise, EACH) if faint.ok else faint
        columns = self.columns_status()
        return faint if columns.ok else columns

    def distance(self, level: float, tail: float | None) -> float:
        """Bound on the largest eigenvalue of the difference to the covariance of all rows."""
        moments = self.moments
        state = moments.state
        if (state.lost if tail is None else state.unbounded).any():
            return math.inf
        chance = 1 - level
        apart = self._noise_within((1 - CHANCE_COUNTED) * chance)
        hidden = float(np.abs(np.linalg.eigvalsh(self._noisy - self.matrix)).max())
        both = touched(moments, tail, CHANCE_COUNTED * chance)
        summed = np.maximum(np.diag(moments.scatter), 0.0) / moments.weight
        summed = summed + apart / moments.units / moments.units
        missed = both.missing_size(summed, moments.means, moments.units)
        return apart + hidden + missed + both.shrunk * (float(self.variances[0]) + apart + hidden)

    def _noise_within(self, chance: float) -> float:
        """Bound the largest eigenvalue of the noise, but for a chance."""
        moments = self.moments
        scales = np.outer(moments.units, moments.units / moments.weight)
        if moments.common:
            times = noise_quantile(moments.norm, chance / 6)  # of |b|, a'b and t
            size = noise_size(moments.noise[1:, 1:] * scales, moments.norm, chance / 2)
            rows = times * float(moments.noise[0, 0] / moments.weight * self.variances[0])
            return size + self._moved(times, times) + rows
        noise = moments.scatter_noise(np.abs(moments.scatter) / moments.weight)
        return noise_size(noise * scales, moments.norm, chance)

    def variance_intervals(self, level: float = 0.95, tail: Tail = "auto") -> Intervals:
        """Intervals for the variances along the true components, all at once.

        No eigenvalue moves by more than the largest of the difference does (Weyl).
        """
        assumed = assumed_tail(self, level, tail)
        apart, found = self.distance(level, assumed), self.explained_variance
        return Intervals(np.maximum(found - apart, 0.0), found + apart)

    def angles(self, level: float, tail: float | None) -> Floats:
        """Largest angles between the released and the true components; π/2 for no bound.

        sin angle <= distance / (gap - distance), the gap of a released eigenvalue to the next ones
        (Davis and Kahan 1970, with Weyl's bound for the true gap).
        """
        apart, values = self.distance(level, tail), self.variances
        gaps = np.full(len(values), np.inf)
        steps = -np.diff(values)
        gaps[1:] = steps
        gaps[:-1] = np.minimum(gaps[:-1], steps)
        sines = np.ones(len(values))
        clear = gaps > 2 * apart
        sines[clear] = apart / (gaps[clear] - apart)
        found: Floats = np.arcsin(np.minimum(sines, 1.0))[: self.components]
        return found

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Entries of the true components, each up to its sign; [-1, 1] where a gap is too small.

        A unit vector at an angle of a to this one has an entry cos(b), with b at most a away from
        the angle between this one and the axis.
        """
        angles = self.angles(level, tail)[:, None]
        axis = np.arccos(np.clip(self.directions, -1.0, 1.0))
        low = np.where(angles < math.pi / 2, np.cos(np.minimum(axis + angles, math.pi)), -1.0)
        high = np.where(angles < math.pi / 2, np.cos(np.maximum(axis - angles, 0.0)), 1.0)
        return Intervals(low.ravel(), high.ravel())

    @property
    def condition(self) -> str:
        return f"up to the sign of a component, {CONDITION}"

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() is for the components of the covariance of the rows, each up to its sign, "
            "by the angle that the gap of the variances allows; where it allows none, only "
            f"[-1, 1] is known. It {covered(tail)} "
            "error_model.variance_intervals() is the same for the variances."
        )

    def to_dict(self) -> dict[str, object]:
        return {
            **self.moments.summary,
            "explained_variance": self.explained_variance.tolist(),
            "total_variance": float(self.variances.sum()),
            "noise_size": self.noise_size,
        }

    def _decomposed(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self.matrix)
        directions = vectors.T[::-1]
        largest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(len(directions)), largest])
        return np.maximum(values[::-1], 0.0), directions * signs[:, None]


# The noise of d columns' products grows like d² in pure ε and like d^1.5 in ρ, as d^1.5 and d for
# their means (TURN in vector_schedule.py). Simulated errors cross at ε²/(4 ρ) columns.
_TURN = Fraction(1)

COVARIANCE: Row[NoOption, ArrayRelease] = Row(
    "covariance",
    "moments",
    (NoOption(),),
    "moments",
    "covariances of several columns, with noise on the scale of each column's own spread",
    lambda columns, lattice, event, _: noisy_covariance(columns, ranged(lattice), event),
    ArrayRelease,
    of_rows=True,
    turn=_TURN,
    lattice_of=with_squares,
)

PCA: Row[ComponentsOption, ArrayRelease] = Row(
    "pca",
    "moments",
    (ComponentsOption(1),),
    "moments",
    "principal components of several columns, and the variance along each",
    lambda columns, lattice, event, options: noisy_components(
        columns, ranged(lattice), event, components=options.components
    ),
    ArrayRelease,
    of_rows=True,
    turn=_TURN,
    lattice_of=with_squares,
)


def _mean_entry(run: Any) -> float:
    """Mean error of an entry of a covariance matrix, in standard deviations of its two columns."""
    apart = np.abs(run.values - np.cov(run.x.T, bias=True))
    return float((apart / np.outer(run.columns.sd, run.columns.sd)).mean())


def _variance_lack(run: Any) -> float:
    """Share of the variance along the best components that these lack."""
    matrix, directions = np.atleast_2d(np.cov(run.x.T)), run.values
    best = np.linalg.eigvalsh(matrix)[::-1][: len(directions)].sum()
    return float(1 - np.trace(directions @ matrix @ directions.T) / best)


STATISTICS = (
    Declaration(
        covariance,
        (COVARIANCE,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.covariance(x, within=(-1e6, 1e6), epsilon=1)
>>> found.shape, 5_000 < found[1, 1] < 12_000
((2, 2), True)""",
        command="people.csv age,height,weight --within=-1e6,1e6 --epsilon 1",
        tail=True,
        plan=Planned(
            "a covariance matrix",
            error_between(
                "covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)", "0", "0.1"
            ),
            command="--within=-1e6,1e6 --sd 12,9,15 --n 1e5 --epsilon 1",
            error=_mean_entry,
            data="moments",
            meaning="the mean error of an entry, in standard deviations of its two columns",
        ),
        error_model=(CovarianceErrorModel,),
    ),
    Declaration(
        pca,
        (PCA,),
        """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.pca(x, components=1, within=(-1e6, 1e6), epsilon=1)
>>> abs(found.values.round(1)).tolist()
[[0.0, 1.0]]""",
        command="people.csv age,height,weight --components 1 --within=-1e6,1e6 --epsilon 1",
        options={"components": "how many components"},
        tail=True,
        plan=Planned(
            "principal components",
            error_between(
                "pca(components=1, within=(-1e6, 1e6), sd=[9, 1, 1], n=5000, epsilon=1)", "0", "0.1"
            ),
            command="--components 1 --within=-1e6,1e6 --sd 12,9,3 --n 1e4 --epsilon 1",
            error=_variance_lack,
            data="moments",
            meaning="the share of the variance along the best components that these lack",
        ),
        error_model=(ComponentsErrorModel,),
    ),
)
