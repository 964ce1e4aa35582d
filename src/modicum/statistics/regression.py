"""Linear regression of the last of several columns on the others, from noisy moments.

The penalty follows from the noise, not from the data: it is a public fraction of the size that
noise alone gives to the largest eigenvalue (Wang 2018 has the idea, with other constants).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.array_release import ArrayAnswer, Axis, Floats, Intervals
from modicum.exact.lattice import Lattice
from modicum.privacy.event import Event
from modicum.runtime.steps import Steps
from modicum.statistics.least_squares import reach
from modicum.statistics.listed_fit import few_rows, is_little, listed_fit
from modicum.statistics.moment_bounds import CONDITION, covered
from modicum.statistics.moments import Moments, OfMoments, noisy_moments
from modicum.statistics.placed import PlacedColumns, placed_columns
from modicum.status import Status
from modicum.summaries.base import Columns

__all__ = ["Fit", "RegressionEvidence", "fitted", "noisy_regression"]

SEEN = 2.0  # a column enters if its spread exceeds its noise so many times
_PENALTY = 0.6

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


@dataclass(frozen=True, slots=True)
class Fit:
    """Slopes in half-widths.

    Attributes
    ----------
    slopes : float64 array of shape (d - 1,)
    kept : bool array
        The columns that are not left out; none if the explained one is lost.
    penalty : float
    """

    slopes: Floats
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
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
    placed = yield from placed_columns(columns, lattice, event, goal=True)
    axis = Axis.of(term=("intercept", *placed.labels[:-1]))
    if few_rows(placed):
        status = LITTLE if is_little(placed) else _status(placed, ~placed.held.lost)
        listed = yield from listed_fit(placed)
        return ArrayAnswer(_exact(listed.coefficients), (axis,), listed, status, "listed fits")
    moments = yield from noisy_moments(placed, goal=True)
    evidence = RegressionEvidence(moments)
    status = _status(placed, moments.seen(SEEN))
    return ArrayAnswer(_exact(evidence.coefficients), (axis,), evidence, status)


def _status(placed: PlacedColumns, used: NDArray[np.bool_]) -> Status:
    """Say what is left out; the last column is the explained one."""
    held = placed.held
    if held.scattered[-1]:
        return SCATTERED
    if not used[-1]:
        return GOAL
    status = held.status(placed.labels[:-1], used[:-1], "slope 0", NOTHING)
    return HEAVY if status.ok and held.unbounded[-1] else status


def _exact(coefficients: Floats) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(each)) for each in coefficients)


def fitted(moments: Moments) -> Fit:
    """Solve the penalised normal equations of the columns that are seen."""
    kept = moments.seen(SEEN)[:-1] & ~moments.held.lost[-1]
    scatter = moments.scatter
    inner, goal = scatter[:-1, :-1][np.ix_(kept, kept)], scatter[:-1, -1][kept]
    noise = moments.noise[1:-1, 1:-1][np.ix_(kept, kept)]
    slopes, size = np.zeros(len(kept)), len(inner)
    if not size:
        return Fit(slopes, kept, 0.0)
    # The noise matrix has all but equal entries off the diagonal; 2 sqrt(d) of them is about the
    # size of its largest eigenvalue.
    penalty = _PENALTY * 2 * math.sqrt(size) * float(noise[0, -1])
    eigenvalues, vectors = np.linalg.eigh(inner)
    inverse = (vectors / (np.maximum(eigenvalues, 0.0) + penalty)) @ vectors.T
    slopes[kept] = inverse @ goal
    return Fit(slopes, kept, penalty)


@dataclass(frozen=True, slots=True)
class RegressionEvidence(OfMoments):
    """Coefficients from released moments, and intervals for those without a penalty."""

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

    def intervals(self, level: float, tail: float | None) -> Intervals:
        """Intervals for the least-squares fit of all rows to the columns that were kept."""
        moments, center = self.moments, self.coefficients
        found = reach(moments, self.fit.kept, level, tail)
        units = moments.units[-1] / moments.units[:-1]
        slopes, widths = found.slopes * units, found.widths * units
        location = moments.location
        fitted_level = location[-1] - slopes @ location[:-1]
        # Where all slopes are within their widths, so is what they add to the intercept.
        counts = self.fit.kept & (location[:-1] != 0)
        moved = float((widths[counts] * np.abs(location[:-1][counts])).sum())
        middle = np.concatenate([[fitted_level], slopes])
        width = np.concatenate([[found.level * moments.units[-1] + moved], widths])
        low, high = middle - width, middle + width
        return Intervals(np.minimum(low, center), np.maximum(high, center))

    @property
    def condition(self) -> str:
        """What the default interval assumes."""
        return CONDITION

    def assumption(self, tail: float | None) -> str:
        """Say in words what the interval covers."""
        return (
            "interval() is for the coefficients of least squares, without a penalty, of the rows "
            "on the columns that were kept; and, if rows are independent, of the line they come "
            f"from. It {covered(tail)} A slope has no bound if its column was left out, or if "
            "noise could hide a direction of the columns."
        )

    def to_dict(self) -> dict[str, object]:
        """Numbers as JSON types."""
        moments = self.moments
        return {
            **moments.summary,
            "penalty": self.fit.penalty,
            "centres": moments.frame.middles(moments.lattice).tolist(),
            "kept": [
                name for name, kept in zip(moments.labels[:-1], self.fit.kept, strict=True) if kept
            ],
        }
