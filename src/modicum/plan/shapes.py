"""Shapes that a column may have, by their quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice

__all__ = ["Shape", "ShapeName", "shape_of"]

Array = NDArray[np.float64]
ShapeName = Literal["normal", "lognormal", "uniform", "exponential", "pareto"]

PARETO_INDEX = 2.5  # heavy, with a finite variance
_REACH = 6  # a symmetric shape is put this many sd from the ends of the range, if it can be
_BELOW = NormalDist().inv_cdf


def _normal(p: Array) -> Array:
    """Standard normal quantiles (Wichura 1988, AS 241, in the standard library)."""
    return np.array([_BELOW(x) for x in p.tolist()])


def _pareto(survival: Array) -> Array:
    """Pareto quantile at an upper tail probability, moved and scaled to mean 0 and sd 1."""
    a = PARETO_INDEX
    spread = math.sqrt(a / (a - 2)) / (a - 1)
    return (survival ** (-1 / a) - a / (a - 1)) / spread


@dataclass(frozen=True, slots=True)
class _Family:
    """A family of mean 0 and sd 1, by the value below and the value above which lies mass p."""

    below: Callable[[Array], Array]
    above: Callable[[Array], Array]
    natural_mean: float  # in units of sd: where the family usually stands


_FAMILIES: Mapping[str, _Family] = MappingProxyType(
    {
        "normal": _Family(_normal, lambda p: -_normal(p), 0.0),
        # exp() of it, see Shape
        "lognormal": _Family(_normal, lambda p: -_normal(p), 1.0),
        "uniform": _Family(
            lambda p: math.sqrt(3) * (2 * p - 1), lambda p: math.sqrt(3) * (1 - 2 * p), 0.0
        ),
        "exponential": _Family(lambda p: -np.log1p(-p) - 1, lambda p: -np.log(p) - 1, 1.0),
        "pareto": _Family(
            lambda p: _pareto(1 - p),
            _pareto,
            math.sqrt(PARETO_INDEX * (PARETO_INDEX - 2)),  # starts at its scale, not at 0
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Shape:
    """A distribution with a name, a mean and a standard deviation.

    Examples
    --------
    >>> Shape("uniform", mean=0.5, sd=12**-0.5).above(np.array([0.25])).round(6)
    array([0.75])
    """

    name: ShapeName
    mean: float
    sd: float

    def below(self, p: Array) -> Array:
        """Value below which the probability is ``p``; accurate for tiny ``p``."""
        return self._placed(_FAMILIES[self.name].below(p))

    def above(self, p: Array) -> Array:
        """Value above which the probability is ``p``; accurate for tiny ``p``."""
        return self._placed(_FAMILIES[self.name].above(p))

    def _placed(self, standard: Array) -> Array:
        if self.name != "lognormal":
            return self.mean + self.sd * standard
        variance = math.log1p((self.sd / self.mean) ** 2)
        return self.mean * np.exp(math.sqrt(variance) * standard - variance / 2)


def shape_of(name: ShapeName, *, sd: float, mean: float | None, lattice: Lattice) -> Shape:
    """Check a shape, and put it at its usual place if no mean is given.

    Raises
    ------
    InvalidArgument
        For an unknown name, an sd that is not positive, or a mean outside of the range.
    """
    if name not in get_args(ShapeName):
        known = ", ".join(map(repr, get_args(ShapeName)))
        raise InvalidArgument(f"shape must be one of {known}, got {name!r}")
    spread = _finite(sd, "sd")
    if spread <= 0:
        raise InvalidArgument(f"sd must be positive, got {sd!r}")
    centre = _usual_mean(name, spread, lattice) if mean is None else _finite(mean, "mean")
    if not lattice.lo <= centre <= lattice.hi:
        raise InvalidArgument(
            f"mean={centre:g} of the {name} shape lies outside of within="
            f"({lattice.lo:g}, {lattice.hi:g}); give another mean= or a wider range"
        )
    if name == "lognormal" and centre <= 0:
        raise InvalidArgument(f"mean must be positive for shape='lognormal', got {centre:g}")
    return Shape(name, centre, spread)


def _usual_mean(name: str, sd: float, lattice: Lattice) -> float:
    natural = sd * _FAMILIES[name].natural_mean
    if name not in {"normal", "uniform"}:
        return natural
    lowest, highest = lattice.lo + _REACH * sd, lattice.hi - _REACH * sd
    if lowest > highest:
        return lattice.lo / 2 + lattice.hi / 2
    return min(max(natural, lowest), highest)


def _finite(x: object, name: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float) or not math.isfinite(x):
        raise InvalidArgument(f"{name} must be a finite number, got {x!r}")
    return float(x)
