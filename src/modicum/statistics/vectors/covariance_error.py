"""What follows from released moments: covariances, components, and how far off they may be.

Labels are those of docs/research/proofs/moments.md. Of many rows, ``refined_covariance.py`` has
tighter bounds of the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from modicum.releases.array_release import Floats, Intervals
from modicum.releases.confidence import Tail, assumed_tail
from modicum.releases.status import OK, Status
from modicum.statistics.vectors.moments import (
    CHANCE_COUNTED,
    CONDITION,
    Moments,
    OfMoments,
    covered,
    noise_size,
    touched,
)
from modicum.statistics.vectors.standardised import Flags, noise_quantile
from modicum.stored.codec import storable

COVARIANCE_0 = "covariance 0 with all"
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


@dataclass(frozen=True, slots=True)
class OfCovariance(OfMoments):
    """Base of what follows from a noisy covariance matrix."""

    moments: Moments

    @property
    def seen(self) -> Flags:
        """Columns whose spread is no noise."""
        return self.moments.seen(SEEN)

    @property
    def matrix(self) -> Floats:
        """The covariances in the units of the data; 0 for a column that does not enter."""
        kept = self._kept
        return np.where(np.outer(kept, kept), self._noisy, 0.0)

    def columns_status(self, what: str = COVARIANCE_0, none: Status = NOTHING) -> Status:
        """Say which columns are lost in the noise, and ``what`` they have; ``none``: all are."""
        moments = self.moments
        return moments.state.status(moments.labels, self.seen, what, none)

    @property
    def _kept(self) -> Flags:
        """Columns that enter: those that are seen, as any other may have a wrong scale; or all.

        With one half-width for all columns their noise is the same, and all of them together may
        show a direction that none shows by itself.
        """
        return ~self.moments.state.lost if self.moments.common else self.seen

    @property
    def _squares(self) -> Floats:
        """Products of half-widths, in the units of the data."""
        found: Floats = np.outer(self.moments.units, self.moments.units)
        return found

    @property
    def _noisy(self) -> Floats:
        """Noisy covariances, in the units of the data."""
        return self.moments.scatter / self.moments.weight * self._squares


@storable
@dataclass(frozen=True, slots=True)
class CovarianceErrorModel(OfCovariance):
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
        return f"interval() is for the covariances of the rows. It {covered(tail)}"


@dataclass(frozen=True, slots=True)
class OfComponents(OfCovariance):
    """Base of principal components of a noisy covariance matrix."""

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
        """About the largest variance that noise alone shows, in the units of the data."""
        raise NotImplementedError

    @property
    def status(self) -> Status:
        """Whether the components can be used."""
        return self.visible

    @property
    def visible(self) -> Status:
        """What is lost in the noise: columns, or the last component."""
        faint = OK if self.explained_variance[-1] > self.noise_size else FAINT
        if self.moments.common:
            mostly_noise = "entries that are 0 or mostly noise"
            return self.columns_status(mostly_noise, EACH) if faint.ok else faint
        columns = self.columns_status()
        return faint if columns.ok else columns

    @property
    def condition(self) -> str:
        return f"up to the sign of a component, {CONDITION}"

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


@storable
@dataclass(frozen=True, slots=True)
class ComponentsErrorModel(OfComponents):
    """Principal components from released moments."""

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

    def assumption(self, tail: float | None) -> str:
        return (
            "interval() is for the components of the covariance of the rows, each up to its sign, "
            "by the angle that the gap of the variances allows; where it allows none, only "
            f"[-1, 1] is known. It {covered(tail)} "
            "error_model.variance_intervals() is the same for the variances."
        )
