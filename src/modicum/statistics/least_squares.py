"""How far the least-squares fit of all rows may be from what noisy moments say.

Everything is in half-widths, about the centres of the intervals; derivations are on
docs/proofs/moments.md, with the same labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.statistics.moment_bounds import COUNTED, Touched, touched
from modicum.statistics.moments import Moments
from modicum.statistics.noise_quantile import noise_quantile
from modicum.summaries.second_moments import CLIP

__all__ = ["Equations", "Reach", "moved", "reach"]

Floats = NDArray[np.float64]
_SINGULAR = 1e-9
_ROUNDS, _CLOSE = 200, 1e-3
_FAR = 1e9  # half-widths of y in one of x: no bound at all


@dataclass(frozen=True, slots=True)
class Reach:
    """The fit without a penalty, and bounds on its distance from that of all rows.

    Attributes
    ----------
    slopes : float64 array of shape (d - 1,)
        0 for columns that are left out.
    widths : float64 array
        Infinite for those, and for all if noise may hide a direction of the columns.
    level : float
        The same for the value of the line at the means.
    """

    slopes: Floats
    widths: Floats
    level: float


@dataclass(frozen=True, slots=True)
class Equations:
    """The noisy normal equations of some columns, without a penalty.

    Attributes
    ----------
    moments : Moments
    kept : int array
        Numbers of the columns.
    inverse : float64 array
        Inverse of their noisy scatter.
    """

    moments: Moments
    kept: NDArray[np.intp]
    inverse: Floats

    @classmethod
    def of(cls, moments: Moments, kept: NDArray[np.bool_]) -> Equations | None:
        """Return them, or None if their scatter has an eigenvalue that is not clearly positive."""
        places = np.flatnonzero(kept)
        inner = moments.scatter[np.ix_(places, places)]
        values, vectors = np.linalg.eigh(inner)
        if not len(places) or values[0] <= _SINGULAR * values[-1]:
            return None
        return cls(moments, places, (vectors / values) @ vectors.T)

    @property
    def slopes(self) -> Floats:
        """Their solution."""
        found: Floats = self.inverse @ self.moments.scatter[self.kept, -1]
        return found

    @property
    def residual(self) -> Floats:
        """Coefficients of (1, x, y) in the residual, which is orthogonal to 1."""
        means, found = self.moments.means, np.zeros(len(self.moments.labels) + 1)
        found[0] = self.slopes @ means[self.kept] - means[-1]
        found[1 + self.kept] = -self.slopes
        found[-1] = 1.0
        return found

    @property
    def left(self) -> Floats:
        """What turns (noise x residual) into a change of the slopes, one row for each of them."""
        moments = self.moments
        rows = np.zeros((len(self.kept), len(moments.labels) + 1))
        rows[:, 0] = -moments.means[self.kept]
        rows[np.arange(len(self.kept)), 1 + self.kept] = 1.0
        found: Floats = self.inverse @ rows
        return found

    def deviations(self) -> Floats:
        """Standard deviations of the slopes by noise alone, to first order."""
        return np.sqrt(moved(self.left, self.residual, self.moments.noise**2))

    def feedback(self) -> Callable[[Floats], Floats]:
        """Bound on the deviations that a fit at some distances adds to those of noise.

        Its residual has other coefficients c of x, by at most the distances, and of 1. Of one row
        a of :attr:`left`, (a_i c_j + a_j c_i)² is at most 2 a_i² c_j² + 2 a_j² c_i².
        """
        moments = self.moments
        variances = 2 * self.left**2 @ moments.noise**2
        means, other = np.abs(moments.means[self.kept]), np.zeros(len(moments.labels) + 1)

        def added(widths: Floats) -> Floats:
            other[0], other[1 + self.kept] = means @ widths, widths
            found: Floats = np.sqrt(variances @ other**2)
            return found

        return added

    def squares(self, times: float) -> tuple[float, float]:
        """Sum of squared residuals, and its upper end after so many deviations of its noise."""
        residual, moments = self.residual, self.moments
        found = max(float(residual @ moments.products @ residual), 0.0)
        noise = math.sqrt(float(moved(residual[None, :], residual, moments.noise**2)[0]))
        return max(found, noise), found + times * noise


def reach(moments: Moments, kept: NDArray[np.bool_], level: float, tail: float | None) -> Reach:
    """Bound the distance to the least-squares fit of all rows.

    Parameters
    ----------
    moments : Moments
    kept : bool array of shape (d - 1,)
    level : float
        Of all bounds at once.
    tail : float or None
        Index of the tail of values, or none for the rows as they were shrunk and cut off.
    """
    slopes, widths = np.zeros(len(kept)), np.full(len(kept), np.inf)
    equations, held = Equations.of(moments, kept), moments.held
    loose = tail is not None and (held.unbounded & np.append(kept, True)).any()
    if equations is None or loose:
        return Reach(slopes, widths, math.inf)
    slopes[equations.kept] = equations.slopes
    chance = 1 - level
    times = noise_quantile(moments.norm, (1 - COUNTED) * chance / (2 * len(equations.kept) + 4))
    squares, most = equations.squares(times)
    # Rows are a sample too.
    own = np.diag(equations.inverse)
    spread = own * squares / moments.weight
    first = times * np.sqrt(equations.deviations() ** 2 + spread)
    both = touched(moments, tail, COUNTED * chance)
    first = first + _touched(equations, both, most)
    widths[equations.kept] = _settled(equations, first, times)
    if not np.isfinite(widths[equations.kept]).all():
        return Reach(slopes, widths, math.inf)
    return Reach(slopes, widths, _level(equations, times, both, squares, most))


def _settled(equations: Equations, first: Floats, times: float) -> Floats:
    """Solve w = first + times x feedback(w), from below; infinite if there is no such w."""
    widths, feedback = first, equations.feedback()
    for _ in range(_ROUNDS):
        if not (widths < _FAR).all():
            break
        again = first + times * feedback(widths)
        if (again <= (1 + _CLOSE) * widths).all():
            return (1 + _CLOSE) * again
        widths = again
    return np.full_like(first, np.inf)


def _touched(equations: Equations, both: Touched, squares: float) -> Floats:
    """What rows that were shrunk or cut off may change of every slope.

    By what they would add to the equations, and by what rows cut off do add: a value cut off is at
    most two half-widths from its centre, and the squares of all residuals are known.
    """
    if math.isinf(both.unrelated):
        return np.full(len(equations.kept), np.inf)
    moments = equations.moments
    means = moments.means[equations.kept]
    summed = np.diag(moments.scatter)[equations.kept]
    held = np.minimum(both.cut * moments.weight * (CLIP + np.abs(means)) ** 2, summed)
    own = np.diag(equations.inverse)
    cut = np.minimum(np.abs(equations.inverse) @ np.sqrt(np.maximum(held, 0.0)), np.sqrt(own))
    found: Floats = (both.unrelated * np.sqrt(own) + cut) * math.sqrt(squares)
    return found


def _level(equations: Equations, times: float, both: Touched, squares: float, most: float) -> float:
    """Bound for the line at the means."""
    moments = equations.moments
    first = np.zeros((1, len(equations.residual)))
    first[0, 0] = 1 / moments.weight
    noise = float(moved(first, equations.residual, moments.noise**2)[0])
    missed = (both.unrelated + math.sqrt(both.cut)) * math.sqrt(most / moments.weight)
    return times * math.sqrt(noise + squares / moments.weight**2) + missed


def moved(left: Floats, right: Floats, variances: Floats) -> Floats:
    """Variance of left N right, N symmetric with independent entries on and above the diagonal.

    Of one row a and b = right: sum over i < j of V_ij (a_i b_j + a_j b_i)² + sum V_ii a_i² b_i².
    """
    both = left * right
    found: Floats = (
        left**2 @ variances @ right**2
        + ((both @ variances) * both).sum(axis=1)
        - both**2 @ np.diag(variances)
    )
    return np.maximum(found, 0.0)
