"""Linear regression of the last of several columns on the others, from noisy moments.

The penalty follows from the noise, not from the data: it is a public fraction of the size that
noise alone gives to the largest eigenvalue (Wang 2018 has the idea, with other constants).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from modicum.array_release import ArrayAnswer, Axis, Floats, Intervals
from modicum.estimators.moments import Moments, noisy_moments
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.steps import Steps
from modicum.summaries.columns import Columns

__all__ = ["Fit", "RegressionEvidence", "fitted", "noisy_regression"]

SEEN = 1.5  # a column enters if its spread exceeds its noise so many times
_PENALTY = 0.3

NOTHING = "too little data for this budget: no column rises above the noise, every slope is 0"
SOME = "columns whose spread is lost in the noise have slope 0: {names}"


@dataclass(frozen=True, slots=True)
class Fit:
    """Slopes in half-widths, and how the noise moves them.

    Attributes
    ----------
    slopes : float64 array of shape (d - 1,)
    kept : bool array
        The columns that are not left out.
    inverse : float64 array
        Inverse of the penalised scatter of these.
    penalty : float
    """

    slopes: Floats
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
    inverse: Floats
    penalty: float


def noisy_regression(columns: Columns, lattice: Lattice, event: Event) -> Steps[ArrayAnswer]:
    """Regress the last column on the others.

    Parameters
    ----------
    columns : Columns
    lattice : Lattice
    event : Event
        Total cost for one row; the draws add up to exactly this.
    """
    moments = yield from noisy_moments(columns, lattice, event, goal=True)
    fit = fitted(moments)
    evidence = RegressionEvidence(moments)
    values = tuple(Fraction(float(each)) for each in evidence.coefficients)
    axis = Axis.of(term=("intercept", *moments.labels[:-1]))
    return ArrayAnswer(values, (axis,), evidence, _status(moments, fit))


def fitted(moments: Moments) -> Fit:
    """Solve the penalised normal equations of the columns that are seen."""
    kept = moments.seen(SEEN)[:-1]
    scatter = moments.scatter
    inner, goal = scatter[:-1, :-1][np.ix_(kept, kept)], scatter[:-1, -1][kept]
    noise = moments.noise[1:-1, 1:-1][np.ix_(kept, kept)]
    slopes, size = np.zeros(len(kept)), len(inner)
    if not size:
        return Fit(slopes, kept, np.zeros((0, 0)), 0.0)
    # The noise matrix has all but equal entries off the diagonal; 2 sqrt(d) of them is about the
    # size of its largest eigenvalue.
    penalty = _PENALTY * 2 * math.sqrt(size) * float(noise[0, -1])
    eigenvalues, vectors = np.linalg.eigh(inner)
    inverse = (vectors / (np.maximum(eigenvalues, 0.0) + penalty)) @ vectors.T
    slopes[kept] = inverse @ goal
    return Fit(slopes, kept, inverse, penalty)


@dataclass(frozen=True, slots=True)
class RegressionEvidence:
    """Coefficients from released moments, and intervals by the delta method."""

    moments: Moments

    @property
    def fit(self) -> Fit:
        """The slopes."""
        return fitted(self.moments)

    @property
    def coefficients(self) -> Floats:
        """The intercept and the slopes, in the units of the data."""
        units, location = self.moments.units, self.moments.location
        slopes = self.fit.slopes * (units[-1] / units[:-1])
        intercept = location[-1] - slopes @ location[:-1]
        return np.concatenate([[intercept], slopes])

    @property
    def residual_variance(self) -> float:
        """Mean square of the residuals in half-widths of the goal, at least that of its noise."""
        moments, slopes = self.moments, np.append(self.fit.slopes, -1.0)
        rows = moments.weight
        least = float(moments.noise[-1, -1]) / rows
        return max(float(slopes @ moments.scatter @ slopes) / rows, least, 0.0)

    def deviations(self) -> Floats:
        """Standard deviations of the intercept and the slopes; infinite for those left out.

        To first order a change D of the products of (1, x, y) with each other moves the slopes by
        A r, r = D_xy - D_xx b less the same for the means, A the penalised inverse. So a noisy
        product of columns i and j moves them by A (e_i (y_j - b_j) + ...), and every product by
        itself. The spread of the rows adds A S A times the mean square of the residuals.
        """
        moments, fit = self.moments, self.fit
        kept = np.flatnonzero(fit.kept)
        units, found = moments.units, np.full(len(fit.kept) + 1, np.inf)
        # Residual y - b x is linear in the vector (1, x, y), with these coefficients; it is
        # orthogonal to 1.
        slopes = fit.slopes
        centre = moments.means[-1] - slopes @ moments.means[:-1]
        residual = np.concatenate([[-centre], -slopes, [1.0]])
        # The equation of column i is sum_j M[i, j] residual[j] - mean_i sum_j M[0, j] residual[j].
        rows = np.concatenate([-moments.means[kept][:, None], np.eye(len(fit.kept))[kept]], axis=1)
        left = fit.inverse @ np.concatenate([rows, np.zeros((len(kept), 1))], axis=1)
        noise = np.triu(moments.noise) ** 2
        variance = _moved(left, residual, noise)
        inner = moments.scatter[:-1, :-1][np.ix_(kept, kept)]
        spread = fit.inverse @ inner @ fit.inverse * self.residual_variance
        variance = variance + np.maximum(np.diag(spread), 0.0)
        found[1 + kept] = np.sqrt(variance) * units[-1] / units[:-1][kept]
        # The mean residual, at the means: (sum of M[0, j] residual[j]) / rows.
        first = np.zeros((1, len(residual)))
        first[0, 0] = 1 / moments.weight
        level = _moved(first, residual, noise)[0] + self.residual_variance / moments.weight
        location = moments.location[:-1][kept]
        own = (found[1 + kept] * location) ** 2
        found[0] = math.sqrt(level * units[-1] ** 2 + float(own.sum()))
        return found

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Normal intervals, each of level 1 - (1 - level) / number."""
        center, width = self.coefficients, self.deviations()
        factor = NormalDist().inv_cdf(1 - (1 - level) / (2 * len(center)))
        return Intervals(center - factor * width, center + factor * width)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "for the penalised coefficients of the rows as they were shrunk"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() is for the coefficients with the released penalty, of the rows as they "
            "were shrunk, if rows are independent: it covers the noise, to first order, and the "
            "spread of the rows, not what penalty and shrinking change. A slope of a column that "
            "was left out has no interval. tail= plays no part."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        moments = self.moments
        return {
            **moments.summary,
            "penalty": self.fit.penalty,
            "centres": [moments.lattice.value(each) for each in moments.frame.centres],
            "kept": [
                name for name, kept in zip(moments.labels[:-1], self.fit.kept, strict=True) if kept
            ],
        }


def _moved(left: Floats, right: Floats, variances: Floats) -> Floats:
    """Variance of left N right, N symmetric with independent entries on and above the diagonal."""
    both = left[:, :, None] * right + right[:, None] * left[:, None, :]
    # On the diagonal an entry appears once.
    size = len(right)
    both[:, np.arange(size), np.arange(size)] /= 2
    found: Floats = np.einsum("kij,ij->k", both**2, variances)
    return found


def _status(moments: Moments, fit: Fit) -> str:
    left_out = [name for name, kept in zip(moments.labels[:-1], fit.kept, strict=True) if not kept]
    if not left_out:
        return "ok"
    if not fit.kept.any():
        return NOTHING
    return SOME.format(names=", ".join(left_out))
