"""Covariances and principal components of several columns, from noisy moments."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from modicum.array_release import ArrayAnswer, Axis, Floats, Intervals
from modicum.errors import InvalidArgument
from modicum.estimators.moments import Moments, noisy_moments
from modicum.estimators.options.base import Options
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.steps import Steps
from modicum.summaries.columns import Columns

__all__ = [
    "ComponentsEvidence",
    "ComponentsOption",
    "CovarianceEvidence",
    "noisy_components",
    "noisy_covariance",
]

SEEN = 3.0  # a column counts if its spread exceeds its noise so many times

LOST = "too little data for this budget: the spread of these columns is lost in the noise: {names}"
FAINT = (
    "too little data for this budget: the noise alone has directions with as much variance as the "
    "last component"
)


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
    moments = yield from noisy_moments(columns, lattice, event, goal=False)
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
    moments = yield from noisy_moments(columns, lattice, event, goal=False)
    evidence = ComponentsEvidence(moments, min(components, len(moments.labels)))
    values = tuple(Fraction(float(each)) for each in evidence.directions.ravel())
    axes = (
        Axis.of(component=tuple(float(k + 1) for k in range(evidence.components))),
        Axis.of(column=moments.labels),
    )
    status = _status(moments)
    return ArrayAnswer(values, axes, evidence, evidence.faint if status == "ok" else status)


@dataclass(frozen=True, slots=True)
class CovarianceEvidence:
    """Covariances from released moments."""

    moments: Moments

    @property
    def matrix(self) -> Floats:
        """The covariances in the units of the data; 0 for a column that is not seen."""
        moments = self.moments
        return _in_units(moments, moments.scatter / moments.weight)

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Normal intervals for the noise of each product, all at once by the union bound."""
        moments = self.moments
        size = len(moments.labels)
        factor = NormalDist().inv_cdf(1 - (1 - level) / (size * (size + 1) + 2))
        scales = np.outer(moments.units, moments.units)
        # A covariance is scatter over rows, which the noise of the rows moves too.
        noise = moments.scatter_noise(np.abs(moments.scatter) / moments.weight)
        width = (factor * noise / moments.weight * scales).ravel()
        center = self.matrix.ravel()
        return Intervals(center - width, center + width)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return "for the rows as they were shrunk"

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() covers the noise, to first order, for the rows as they were shrunk: not "
            "what shrinking and clipping took from them, and not the spread of samples. tail= "
            "plays no part."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return self.moments.summary


@dataclass(frozen=True, slots=True)
class ComponentsEvidence:
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
        seen = moments.seen(SEEN)
        scales = np.outer(moments.units, moments.units)[np.ix_(seen, seen)]
        noise = moments.noise[1:, 1:][np.ix_(seen, seen)] * scales / moments.weight
        return 2 * float(np.sqrt((noise**2).sum(axis=1)).max(initial=0.0))

    @property
    def faint(self) -> str:
        """A warning if the last component may be noise, or ``"ok"``."""
        return "ok" if self.explained_variance[-1] > self.noise_size else FAINT

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Entries of a unit vector: nothing more is claimed."""
        ones = np.ones(self.components * len(self.moments.labels))
        return Intervals(-ones, ones)

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return ""

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() knows only that components are unit vectors. evidence.explained_variance "
            "has the variance along each, and evidence.noise_size about the largest that noise "
            "alone would show."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        return {
            **self.moments.summary,
            "explained_variance": self.explained_variance.tolist(),
            "total_variance": float(self.variances.sum()),
            "noise_size": self.noise_size,
        }

    def _decomposed(self) -> tuple[Floats, Floats]:
        moments = self.moments
        matrix = _in_units(moments, moments.scatter / moments.weight)
        values, vectors = np.linalg.eigh(matrix)
        directions = vectors.T[::-1]
        largest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(len(directions)), largest])
        return np.maximum(values[::-1], 0.0), directions * signs[:, None]


def _in_units(moments: Moments, matrix: Floats) -> Floats:
    """Scale a matrix to the units of the data, without the columns that are not seen."""
    scales = np.where(moments.seen(SEEN), moments.units, 0.0)
    found: Floats = matrix * np.outer(scales, scales)
    return found


def _status(moments: Moments) -> str:
    lost = [name for name, seen in zip(moments.labels, moments.seen(SEEN), strict=True) if not seen]
    return LOST.format(names=", ".join(lost)) if lost else "ok"
