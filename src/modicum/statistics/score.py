"""Scores of monotone M-estimators: θ is where the sum of ψ(x - t) over the records crosses zero.

A score is a nondecreasing function ψ with ψ(0) = 0. Its values enter a release through a table of
integers only (:mod:`modicum.statistics.score_table`), which is nondecreasing whatever ψ is, so
the guarantee does not hang on it: not on rounding, and not on a wrong ψ of a user.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from modicum.errors import InvalidArgument
from modicum.statistics.crossing import Lengths, Masses
from modicum.statistics.score_table import Reals, ScoreTable
from modicum.statistics.statistic import MonotoneStatistic, is_number
from modicum.statistics.unheard import unheard
from modicum.summaries.cells import CellSummary

__all__ = [
    "Score",
    "checked_power",
    "checked_tau",
    "checked_width",
    "expectile_score",
    "huber_score",
    "power_score",
]

_LARGEST_POWER = 8.0


@dataclass(frozen=True, slots=True)
class Score(MonotoneStatistic):
    """A monotone M-estimator: the θ at which the sum of ψ(x - t) over the records changes sign.

    Parameters
    ----------
    name : str
        For messages and cards.
    psi : callable
        From a float64 array of differences x - t, in the unit of the data, to an array of the
        same shape: nondecreasing, 0 at 0, finite. It has to be a pure function.
    growth : float
        ψ grows like this power of ``|v|`` for large ``|v|``; 0 if it is bounded.
    width : float or None
        For a bounded ψ, a distance from which it hardly changes; the noise is on its scale.
    homogeneous : bool
        Whether ψ(c v) is a multiple of ψ(v) for every c > 0. Then it is only asked for
        ``|v| <= 1``.
    bends : tuple of (float, int), optional
        If ψ is linear but for some differences: these, in the unit of the data, and whether its
        slope grows (1) or falls (-1) there. Intervals of many records are narrower then. They
        may miss if it is not so; the guarantee does not hang on it.

    Raises
    ------
    InvalidArgument
        If growth or width do not fit each other, or ``bends`` are none.

    Examples
    --------
    >>> tanh = Score("log cosh", np.tanh, growth=0, width=3)
    >>> tanh.bounded
    True
    """

    name: str
    psi: Callable[[Reals], Reals] = field(repr=False)
    growth: float
    width: float | None = None
    homogeneous: bool = False
    bends: tuple[tuple[float, int], ...] | None = None

    def __post_init__(self) -> None:
        """Check the numbers; :meth:`check` looks at ψ."""
        if not callable(self.psi):
            raise InvalidArgument(f"psi must be a function, got {type(self.psi).__name__}")
        self.check_numbers()
        if self.bends is not None and not _are_bends(self.bends):
            raise InvalidArgument(
                "bends must be a tuple of differences, each with 1 or -1, such as "
                f"((-2.0, 1), (2.0, -1)), got {self.bends!r}"
            )

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

    def lengths(
        self,
        cells: CellSummary,
        ends: tuple[int, int],
        step: float,
        *,
        unit: int,
        cap: int,
        trimmed: int = 0,
        towards: int = 0,
    ) -> Lengths:
        """Crossing lengths on cells (see :mod:`modicum.statistics.crossing`)."""
        moved = towards != 0 and self.bends is None
        masses = Masses.of(cells, *ends, Lengths.parts(unit), trimmed, towards, moved=moved)
        span = ends[1] - ends[0]
        with unheard():
            table = ScoreTable.of(self._values, span, None if self.homogeneous else step)
        bends = None if self.bends is None else tuple(_whole(v / step, k) for v, k in self.bends)
        return Lengths(masses, table, cap, towards, bends)


def _are_bends(bends: object) -> bool:
    """Whether it is a tuple of pairs of a number and 1 or -1."""
    if not isinstance(bends, tuple):
        return False
    pairs = [each for each in bends if isinstance(each, tuple) and len(each) == 2]
    return len(pairs) == len(bends) and all(is_number(v) and k in (-1, 1) for v, k in pairs)


def _whole(difference: float, kind: int) -> tuple[int, int, int]:
    """Return a bend between two integers; beyond all that a table holds, at a bound of it."""
    inside = min(max(difference, -(2.0**60)), 2.0**60)
    return math.floor(inside), math.ceil(inside), kind


@dataclass(frozen=True, slots=True)
class _Clipped:
    width: float

    def __call__(self, v: Reals) -> Reals:
        return np.clip(v, -self.width, self.width)


@dataclass(frozen=True, slots=True)
class _Tilted:
    tau: float

    def __call__(self, v: Reals) -> Reals:
        return np.where(v > 0, self.tau, 1 - self.tau) * v


@dataclass(frozen=True, slots=True)
class _Power:
    exponent: float

    def __call__(self, v: Reals) -> Reals:
        signed: Reals = np.sign(v) * np.abs(v) ** self.exponent
        return signed


def huber_score(width: float) -> Score:
    """ψ(v) = v clipped to ±width: a mean near the middle, a median far out."""
    bends = ((-width, 1), (width, -1))
    return Score(f"huber({width:g})", _Clipped(width), 0, width, bends=bends)


def expectile_score(tau: float) -> Score:
    """ψ(v) = τ v for v > 0 and (1 - τ) v for v < 0."""
    bends = () if tau == 0.5 else ((0.0, 1 if tau > 0.5 else -1),)
    return Score(f"expectile({tau:g})", _Tilted(tau), 1, homogeneous=True, bends=bends)


def power_score(p: float) -> Score:
    """ψ(v) = sign(v) |v|^(p - 1): θ has the least sum of |x - θ|^p."""
    return Score(f"lp({p:g})", _Power(p - 1), p - 1, homogeneous=True)


def checked_power(p: object) -> float:
    """Return p.

    Raises
    ------
    InvalidArgument
        Unless 1 <= p <= 8.
    """
    if not (is_number(p) and 1 <= p <= _LARGEST_POWER):  # type: ignore[operator]
        raise InvalidArgument(f"p must be a number from 1 to {_LARGEST_POWER:g}, got {p!r}")
    return float(p)  # type: ignore[arg-type]


def checked_tau(tau: object) -> float:
    """Return τ.

    Raises
    ------
    InvalidArgument
        Unless 0.001 <= τ <= 0.999.
    """
    if not (is_number(tau) and 0.001 <= tau <= 0.999):  # type: ignore[operator]
        raise InvalidArgument(f"tau must be a number from 0.001 to 0.999, got {tau!r}")
    return float(tau)  # type: ignore[arg-type]


def checked_width(width: object) -> float:
    """Return a width.

    Raises
    ------
    InvalidArgument
        Unless it is a positive number.
    """
    if not (is_number(width) and width > 0):  # type: ignore[operator]
        raise InvalidArgument(f"width must be a positive number or None, got {width!r}")
    return float(width)  # type: ignore[arg-type]
