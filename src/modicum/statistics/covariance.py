"""Covariances and principal components of several columns, from noisy moments."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer, Axis, Floats, Intervals
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps
from modicum.statistics.moment_bounds import (
    CONDITION,
    COUNTED,
    covered,
    noise_size,
    touched,
)
from modicum.statistics.moments import Moments, OfMoments, noisy_moments
from modicum.statistics.noise_quantile import noise_quantile
from modicum.statistics.placed import placed_columns
from modicum.statistics.spec import Options
from modicum.status import OK, Status
from modicum.summaries.base import Columns

__all__ = [
    "ComponentsEvidence",
    "ComponentsOption",
    "CovarianceEvidence",
    "noisy_components",
    "noisy_covariance",
]

SEEN = 3.0  # a column counts if its spread exceeds its noise so many times
MOSTLY_NOISE = "entries that are 0 or mostly noise"

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


@dataclass(frozen=True, slots=True)
class ComponentsOption(Options):
    """How many principal components."""

    components: int

    @classmethod
    def of(cls, components: object) -> ComponentsOption:
        """Check the number.

        Raises
        ------
        InvalidArgument
            Unless it is a whole number of at least 1.
        """
        whole = isinstance(components, int | np.integer) and not isinstance(components, bool)
        if not whole or components < 1:  # type: ignore[operator]
            raise InvalidArgument(
                f"components must be a whole number of at least 1, got {components!r}"
            )
        return cls(int(components))  # type: ignore[call-overload]


def noisy_covariance(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Release the covariance matrix of several columns.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    """
    placed = yield from placed_columns(columns, lattice, event, goal=False)
    moments = yield from noisy_moments(placed, goal=False)
    evidence = CovarianceEvidence(moments)
    values = tuple(Fraction(float(each)) for each in evidence.matrix.ravel())
    axes = (Axis.of(column=moments.labels), Axis.of(other=moments.labels))
    return ArrayAnswer(values, axes, evidence, _status(moments))


def noisy_components(
    columns: Columns, lattice: Lattice, event: Event, *, components: int
) -> Steps[ArrayAnswer]:
    """Release leading principal components; parameters as for :func:`noisy_covariance`.

    There are no more components than columns.
    """
    placed = yield from placed_columns(columns, lattice, event, goal=False, common=True)
    moments = yield from noisy_moments(placed, goal=False)
    evidence = ComponentsEvidence(moments, min(components, len(moments.labels)))
    values = tuple(Fraction(float(each)) for each in evidence.directions.ravel())
    axes = (
        Axis.of(component=tuple(float(k + 1) for k in range(evidence.components))),
        Axis.of(column=moments.labels),
    )
    return ArrayAnswer(values, axes, evidence, evidence.status)


@dataclass(frozen=True, slots=True)
class CovarianceEvidence(OfMoments):
    """Covariances from released moments."""

    moments: Moments

    @property
    def matrix(self) -> Floats:
        """The covariances in the units of the data; 0 for a column that is not seen."""
        return _entered(self.moments)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Intervals for the covariances of all rows, all at once by the union bound."""
        center = self.matrix
        width = _apart(self.moments, level, tail)
        # A column that is not seen has a released 0 in place of its noisy covariances.
        noisy = _noisy(self.moments)
        free = self.moments.held.unbounded if tail is not None else self.moments.held.lost
        width[free], width[:, free] = np.inf, np.inf
        low, high = np.minimum(noisy - width, center), np.maximum(noisy + width, center)
        np.fill_diagonal(low, np.maximum(np.diag(low), 0.0))
        return Intervals(low.ravel(), high.ravel())

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return CONDITION

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return f"interval() is for the covariances of the rows: {covered(tail)}"

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return self.moments.summary


@dataclass(frozen=True, slots=True)
class ComponentsEvidence(OfMoments):
    """Principal components from released moments.

    Attributes
    ----------
    moments : Moments
    components : int
    """

    moments: Moments
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
        kept = np.ix_(*[_kept(moments)] * 2)
        noise = (moments.noise[1:, 1:] * _squares(moments) / moments.weight)[kept]
        found = 2 * float(np.sqrt((noise**2).sum(axis=1)).max(initial=0.0))
        return found + self._moved(0.0, 1.0) if moments.common else found

    def _moved(self, along: float, rows: float) -> float:
        """What the noise of the means and of the number of rows adds in a common frame.

        M/n - (m/n)(m/n)' changes by t (a a' - S) - a b' - b a' over n, S being itself, a = m/n, b
        the noise of m and t that of n: in size at most t (|a|² + |S|) + |a| |b| + |a'b|, but for
        t S, which has S's own directions, here. About an interval's middle a is small; a common
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
        if not self.moments.common:
            status = _status(self.moments)
            return faint if status.ok else status
        seen, held = self.moments.seen(SEEN), self.moments.held
        return held.status(self.moments.labels, seen, MOSTLY_NOISE, EACH) if faint.ok else faint

    def distance(self, level: float, tail: float | None) -> float:
        """Bound on the largest eigenvalue of the difference to the covariance of all rows."""
        moments = self.moments
        held = moments.held
        if (held.lost if tail is None else held.unbounded).any():
            return math.inf
        chance = 1 - level
        apart = self._noise_within((1 - COUNTED) * chance)
        hidden = float(np.abs(np.linalg.eigvalsh(_noisy(moments) - self._matrix())).max())
        both = touched(moments, tail, COUNTED * chance)
        summed = np.maximum(np.diag(moments.scatter), 0.0) / moments.weight
        summed = summed + apart / moments.units**2
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

    def variance_intervals(self, level: float = 0.95, tail: float | None = 3) -> Intervals:
        """Intervals for the variances along the true components, all at once.

        No eigenvalue moves by more than the largest of the difference does (Weyl).
        """
        apart, found = self.distance(level, tail), self.explained_variance
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
        """What the default interval assumes."""
        return f"up to the sign of a component, {CONDITION}"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() is for the components of the covariance of the rows, each up to its sign, "
            "by the angle that the gap of the variances allows; where it allows none, only "
            f"[-1, 1] is known. It {covered(tail)} evidence.variance_intervals() is the same for "
            "the variances."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            **self.moments.summary,
            "explained_variance": self.explained_variance.tolist(),
            "total_variance": float(self.variances.sum()),
            "noise_size": self.noise_size,
        }

    def _matrix(self) -> Floats:
        return _entered(self.moments)

    def _decomposed(self) -> tuple[Floats, Floats]:
        values, vectors = np.linalg.eigh(self._matrix())
        directions = vectors.T[::-1]
        largest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(len(directions)), largest])
        return np.maximum(values[::-1], 0.0), directions * signs[:, None]


def _apart(moments: Moments, level: float, tail: float | None) -> Floats:
    """Bounds on the differences to the covariances of all rows, entry by entry."""
    size, chance = len(moments.labels), 1 - level
    factor = noise_quantile(moments.norm, (1 - COUNTED) * chance / (size * (size + 1) + 2))
    # A covariance is scatter over rows, which the noise of the rows moves too.
    noise = factor * moments.scatter_noise(np.abs(moments.scatter) / moments.weight)
    both = touched(moments, tail, COUNTED * chance)
    summed = (np.maximum(np.diag(moments.scatter), 0.0) + np.diag(noise)) / moments.weight
    # What is missing of the sums, and of the number of rows.
    missed = both.missing(summed, moments.means)
    width = missed + both.shrunk * np.sqrt(np.outer(summed, summed))
    found: Floats = (noise / moments.weight + width) * _squares(moments)
    return found


def _squares(moments: Moments) -> Floats:
    found: Floats = np.outer(moments.units, moments.units)
    return found


def _noisy(moments: Moments) -> Floats:
    """Noisy covariances, in the units of the data."""
    return moments.scatter / moments.weight * _squares(moments)


def _kept(moments: Moments) -> NDArray[np.bool_]:
    """Columns that enter: those that are seen, as any other may have a wrong scale; or all.

    With one half-width for all columns their noise is the same, and all of them together may show
    a direction that none shows by itself.
    """
    return ~moments.held.lost if moments.common else moments.seen(SEEN)


def _entered(moments: Moments) -> Floats:
    """The same, with 0 for the columns that do not enter."""
    kept = _kept(moments)
    return np.where(np.outer(kept, kept), _noisy(moments), 0.0)


def _status(moments: Moments) -> Status:
    seen = moments.seen(SEEN)
    return moments.held.status(moments.labels, seen, "covariance 0 with all", NOTHING)
