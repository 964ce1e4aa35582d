"""Scores of monotone M-estimators: θ is where the sum of ψ(x - t) over the records crosses zero.

A score is a nondecreasing function ψ with ψ(0) = 0. Its values enter a release through a table of
integers only (:class:`ScoreTable`), which is nondecreasing whatever ψ is, so the guarantee does
not hang on it: not on rounding, and not on a wrong ψ of a user.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.mechanisms.grid import FloatGrid
from modicum.summaries.base import Integers

__all__ = [
    "Score",
    "ScoreTable",
    "checked_power",
    "expectile_score",
    "huber_score",
    "power_score",
]

Reals = NDArray[np.float64]

_KNOTS = FloatGrid(10)  # ψ is interpolated between differences 2^-10 of their size apart
_LARGEST = 1 << 32  # integers of a table go up to this
_PLACES = 15  # binary places of a difference between two knots
_MOST_GROWTH = 15.0
_LARGEST_POWER = 8.0


@dataclass(frozen=True, slots=True)
class Score:
    """A monotone M-estimator: the θ at which the sum of ψ(x - t) over the records changes sign.

    Parameters
    ----------
    name : str
        For messages and cards.
    psi : callable
        From a float64 array of differences x - t, in the unit of the data, to an array of the
        same shape: nondecreasing, 0 at 0, finite. It has to be a pure function.
    growth : float
        ψ grows like this power of |v| for large |v|; 0 if it is bounded.
    width : float or None
        For a bounded ψ, a distance from which it hardly changes; the noise is on its scale.
    homogeneous : bool
        Whether ψ(c v) is a multiple of ψ(v) for every c > 0. Then it is only asked for |v| <= 1.

    Raises
    ------
    InvalidArgument
        If growth or width do not fit each other.

    Examples
    --------
    >>> tanh = Score("log cosh", np.tanh, growth=0, width=3)
    >>> tanh.bounded
    True
    """

    name: str
    psi: Callable[[Reals], Reals]
    growth: float
    width: float | None = None
    homogeneous: bool = False

    def __post_init__(self) -> None:
        """Check the numbers; :meth:`check` looks at ψ."""
        if not callable(self.psi):
            raise InvalidArgument(f"psi must be a function, got {type(self.psi).__name__}")
        if not (_is_number(self.growth) and 0 <= self.growth <= _MOST_GROWTH):
            raise InvalidArgument(
                f"growth must be a number from 0 (bounded) to {_MOST_GROWTH:g}, got {self.growth!r}"
            )
        if self.growth > 0 and self.width is not None:
            raise InvalidArgument("width is for a bounded psi: leave it out, or give growth=0")
        if self.growth == 0 and not (_is_number(self.width) and self.width > 0):  # type: ignore[operator]
            raise InvalidArgument(
                "a bounded psi (growth=0) needs width=, a positive distance from which it hardly "
                f"changes, got {self.width!r}"
            )

    @property
    def bounded(self) -> bool:
        """Whether far records count no more than near ones."""
        return self.growth == 0

    def excess(self, tail: float) -> float:
        """Mean excess of ψ beyond a clipping bound, in units of ψ there, for a tail index.

        For ψ(v) = v^g and P(X > r s) = s^-a it is E[(X / r)^g] - 1 = g / (a - g).
        """
        if self.growth == 0:
            return 0.0
        return self.growth / (tail - self.growth) if tail > self.growth else math.inf

    def check(self, span: float) -> None:
        """Try ψ at public points up to ``span`` on both sides.

        Raises
        ------
        InvalidArgument
            If ψ fails there, is not finite, not 0 at 0, decreases, or is 0 everywhere.
        """
        largest = 1.0 if self.homogeneous else span
        reach = np.geomspace(largest * 2.0**-60, largest, 481)
        if self.width is not None:
            reach = np.sort(np.append(reach, np.linspace(self.width / 64, 2 * self.width, 128)))
        points = np.concatenate([-reach[::-1], [0.0], reach])
        values = self._values(points)
        if values[len(reach)] != 0:
            raise InvalidArgument(f"psi(0) must be 0, got {values[len(reach)]!r}")
        falls = np.flatnonzero(np.diff(values) < -1e-9 * np.abs(values).max())
        if len(falls):
            a, b = points[falls[0]], points[falls[0] + 1]
            raise InvalidArgument(
                f"psi must not decrease, but psi({a:g}) = {values[falls[0]]:g} and "
                f"psi({b:g}) = {values[falls[0] + 1]:g}"
            )
        if not values[-1] > 0 > values[0]:
            raise InvalidArgument("psi must be negative far to the left and positive to the right")

    def _values(self, points: Reals) -> Reals:
        """ψ at public points.

        Raises
        ------
        InvalidArgument
            If it fails or returns something else than finite numbers.
        """
        try:
            values = np.asarray(self.psi(points), dtype=np.float64)
        except Exception as error:
            raise InvalidArgument(f"psi failed at public points: {error}") from error
        if values.shape != points.shape:
            raise InvalidArgument(
                f"psi must return one number a difference: shape {points.shape} in, "
                f"{values.shape} out"
            )
        if not np.isfinite(values).all():
            at = points[np.flatnonzero(~np.isfinite(values))[0]]
            raise InvalidArgument(f"psi({at:g}) is not finite: choose a narrower within=")
        return values

    def table(self, span: int, step: float) -> ScoreTable:
        """Tabulate ψ for differences of up to ``span`` lattice steps.

        Raises
        ------
        InvalidArgument
            If ψ fails, or is 0 at all of them.
        """
        last = _KNOTS.number(span) + 1
        knots = _points(np.arange(last + 1))
        scale = 1 / float(knots[-1]) if self.homogeneous else step
        values = self._values(np.concatenate([-knots[::-1], knots]) * scale)
        below, above = -values[last::-1], values[last + 1 :]
        largest = max(float(above.max()), float(below.max()))
        if not largest > 0:
            raise InvalidArgument(f"psi is 0 at all differences of up to {span * step:g}")

        def whole(side: Reals) -> Integers:
            # ψ(0) = 0 and the running maximum: nondecreasing, whatever ψ is.
            scaled = np.rint(np.clip(side / largest, 0, 1) * _LARGEST).astype(np.int64)
            scaled[0] = 0
            return np.maximum.accumulate(scaled)

        return ScoreTable(span, whole(below), whole(above))


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """A nondecreasing integer function of the integers in [-span, span], 0 at 0.

    Attributes
    ----------
    span : int
        At most 2^53.
    below, above : int64 arrays
        -ψ to the left of 0, and ψ to the right, at the knots: nondecreasing, from 0, at most
        2^32.
    """

    span: int
    below: Integers
    above: Integers

    def at(self, differences: Integers) -> Integers:
        """Return ψ at integer differences, beyond the span as at its ends.

        Between two knots it is linear in the difference, rounded down twice: that keeps the
        order. It is 0 at 0, and never on the other side of it.
        """
        size = np.minimum(np.abs(differences), self.span)
        numbers = _KNOTS.numbers(size)
        shift = np.maximum((numbers >> _KNOTS.bits) - 1, 0)
        parts = (size - _points(numbers)) << _PLACES >> shift
        left = differences < 0
        low = np.where(left, self.below[numbers], self.above[numbers])
        high = np.where(left, self.below[numbers + 1], self.above[numbers + 1])
        values = low + ((high - low) * parts >> _PLACES)
        return np.where(left, -values, values)


def _points(numbers: Integers) -> Integers:
    """Knots with these numbers, each at least 0."""
    shift = np.maximum((numbers >> _KNOTS.bits) - 1, 0)
    return (numbers - (shift << _KNOTS.bits)) << shift


def huber_score(width: float) -> Score:
    """ψ(v) = v clipped to ±width: a mean near the middle, a median far out."""
    return Score(f"huber({width:g})", lambda v: np.clip(v, -width, width), 0, width)


def expectile_score(tau: float) -> Score:
    """ψ(v) = τ v for v > 0 and (1 - τ) v for v < 0."""
    return Score(
        f"expectile({tau:g})", lambda v: np.where(v > 0, tau, 1 - tau) * v, 1, homogeneous=True
    )


def power_score(p: float) -> Score:
    """ψ(v) = sign(v) |v|^(p - 1): θ has the least sum of |x - θ|^p."""
    return Score(
        f"lp({p:g})", lambda v: np.sign(v) * np.abs(v) ** (p - 1), p - 1, homogeneous=True
    )


def checked_power(p: object) -> float:
    """Return p.

    Raises
    ------
    InvalidArgument
        Unless 1 <= p <= 8.
    """
    if not (_is_number(p) and 1 <= p <= _LARGEST_POWER):  # type: ignore[operator]
        raise InvalidArgument(f"p must be a number from 1 to {_LARGEST_POWER:g}, got {p!r}")
    return float(p)  # type: ignore[arg-type]


def _is_number(x: object) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
