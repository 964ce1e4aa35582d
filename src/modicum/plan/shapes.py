"""Synthetic data: they stand in for data that no plan may touch.

A :class:`TableShape` is the guess of several columns, and makes rows of them. A :class:`Shape` is
that of one column; a :class:`Population` makes tables of it, of any number of rows. Of a table only
a few thousand distinct values are held, each with the number of rows that have it:
- the TAIL lowest and TAIL highest records are drawn at random, as order statistics of a sample:
  they decide where a release clips, and a typical maximum is not the maximum's mean;
- the records between stand at stratified quantiles. A stratum has at most 1/64 of the rank of
  its records, counted from the nearer end, and at most 1/4096 of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from sys import float_info
from types import MappingProxyType
from typing import Any, Literal, TypeGuard, get_args

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument, as_given
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.releases.publishing.text import amount
from modicum.summaries.synthetic import TAIL, SyntheticTable, uniform

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
ShapeName = Literal["normal", "lognormal", "uniform", "exponential", "pareto"]

PARETO_INDEX = 2.5  # heavy, with a finite variance
_OCTAVES = 24  # of the mean and sd, in which nearly all data are
_REACH = 6  # a symmetric shape is put this many sd from the ends of the range, if it can be
_BELOW = NormalDist().inv_cdf

_FINENESS = 64
_STRATA = 4096


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

    @property
    def lattice(self) -> Lattice:
        """One that holds nearly all of it: data are made on it if their range is to be found."""
        reach = math.ldexp(1.0, min(math.frexp(abs(self.mean) + self.sd)[1] + _OCTAVES, 1020))
        return Lattice.within((-reach, reach))

    def words(self, lattice: Lattice | None) -> str:
        """Describe it within a range, if one was given, after the number of rows."""
        place = f"mean {three_digits(self.mean)} and sd {three_digits(self.sd)}"
        ends = lattice and " to ".join(amount(end, 6) for end in (lattice.lo, lattice.hi))
        where = f"from {ends}" if lattice else "the range to be found"
        return f", {self.name} with {place}, {where}"

    def to_dict(self, lattice: Lattice | None) -> dict[str, object]:
        """It and the range as JSON types."""
        guess = {"shape": self.name, "mean": self.mean, "sd": self.sd}
        if lattice is None:
            return {**guess, "within": None, "step": None}
        return {**guess, "within": [lattice.lo, lattice.hi], "step": lattice.step}


def shape_of(
    lattice: Lattice, *, sd: float, shape: ShapeName = "lognormal", mean: float | None = None
) -> Shape:
    """Check a guess of a column, and put it at its usual place if no mean is given.

    Parameters
    ----------
    lattice : Lattice
    sd : float
        A guess of the standard deviation, from public knowledge, not from the data.
    shape : {"lognormal", "normal", "uniform", "exponential", "pareto"}
        What matters is how far the largest values reach; ``"pareto"`` (index 2.5) is cautious.
    mean : float, optional
        A guess. By default it is usual for the shape: 0 if that is symmetric, else about ``sd``.
        Another mean changes the skewness of a lognormal, and moves every other shape.

    Raises
    ------
    InvalidArgument
        For an unknown name, an sd that is not positive, or a mean outside of the range.
    """
    named: object = shape
    if not isinstance(named, str) or named not in get_args(ShapeName):
        known = ", ".join(map(repr, get_args(ShapeName)))
        raise InvalidArgument(f"shape must be one of {known}, got {as_given(shape)}")
    spread = _finite(sd, "sd")
    if spread <= 0:
        raise InvalidArgument(f"sd must be positive, got {as_given(sd)}")
    centre = _usual_mean(shape, spread, lattice) if mean is None else _finite(mean, "mean")
    if not lattice.lo <= centre <= lattice.hi:
        raise InvalidArgument(
            f"mean={centre:g} of the {shape} shape lies outside of within="
            f"({lattice.lo:g}, {lattice.hi:g}); give another mean= or a wider range"
        )
    if shape == "lognormal" and centre <= 0:
        raise InvalidArgument(f"mean must be positive for shape='lognormal', got {centre:g}")
    return Shape(shape, centre, spread)


def _usual_mean(name: str, sd: float, lattice: Lattice) -> float:
    natural = sd * _FAMILIES[name].natural_mean
    if name not in {"normal", "uniform"}:
        return natural
    lowest, highest = lattice.lo + _REACH * sd, lattice.hi - _REACH * sd
    if lowest > highest:
        return lattice.lo / 2 + lattice.hi / 2
    return min(max(natural, lowest), highest)


def _finite(x: object, name: str) -> float:
    if not is_number(x):
        raise InvalidArgument(f"{name} must be a finite number, got {as_given(x)}")
    return float(x)


def is_number(x: object) -> TypeGuard[float]:
    """Whether it is a finite number."""
    if isinstance(x, bool) or not isinstance(x, int | float):
        return False
    return abs(x) <= float_info.max


def three_digits(x: float) -> str:
    """Three significant digits, without an exponent where it reads better."""
    rounded = float(f"{x:.3g}")
    return f"{rounded:,.10g}" if 1e-4 <= abs(rounded) < 1e15 or rounded == 0 else f"{rounded:.3g}"


@dataclass(frozen=True, slots=True)
class TableShape:
    """Normal columns, each with a standard deviation and all with one mean.

    Any two have the same correlation. For a regression these are the explaining columns.
    """

    sd: tuple[float, ...]
    correlation: float
    mean: float

    def rows(self, n: int, entropy: SeededEntropy) -> Array:
        """Draw rows."""
        z = _normal_rows(n, len(self.sd) + 1, entropy)
        common, own = math.sqrt(self.correlation), math.sqrt(1 - self.correlation)
        found: Array = self.mean + np.array(self.sd) * (own * z[:, 1:] + common * z[:, :1])
        return found

    def words(self, _lattice: Lattice | None) -> str:
        """Describe it, after the number of rows."""
        low, high = min(self.sd), max(self.sd)
        spread = f"sd {low:g}" if low == high else f"sd {low:g} to {high:g}"
        return f" of {len(self.sd)} normal columns with {spread}, correlation {self.correlation:g}"

    def to_dict(self, lattice: Lattice | None) -> dict[str, object]:
        """It and the range as JSON types."""
        guess = {"sd": list(self.sd), "correlation": self.correlation, "mean": self.mean}
        return {**guess, "within": None if lattice is None else [lattice.lo, lattice.hi]}


@dataclass(frozen=True, slots=True)
class Regression(TableShape):
    """Columns that explain another one, all alike.

    ``r2`` is the share of its variance that they explain, and ``target_sd`` its standard deviation.
    """

    r2: float
    target_sd: float

    def rows(self, n: int, entropy: SeededEntropy) -> Array:
        """Draw rows, the explained column last."""
        x = super(Regression, self).rows(n, entropy)
        standard = ((x - self.mean) / np.array(self.sd)).sum(axis=1)
        size = math.sqrt(len(self.sd) * (1 + (len(self.sd) - 1) * self.correlation))
        noise = _normal_rows(n, 1, entropy)[:, 0]
        y = math.sqrt(self.r2) * standard / size + math.sqrt(1 - self.r2) * noise
        return np.column_stack([x, self.target_sd * y])


def _normal_rows(rows: int, width: int, entropy: SeededEntropy) -> Array:
    """Independent standard normal numbers, by Box and Muller."""
    half = (rows * width + 1) // 2
    u = uniform(2 * half, entropy)
    radius, angle = np.sqrt(-2 * np.log(u[:half])), 2 * np.pi * u[half:]
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[: rows * width].reshape(rows, width)


def columns_of(
    _lattice: Lattice, *, sd: Sequence[float], correlation: float = 0.0, mean: float = 0.0
) -> TableShape:
    """Check a guess of several columns.

    Parameters
    ----------
    sd : sequence of float
        A guess of each column's standard deviation, positive; its length is the number of columns.
    correlation : float
        A guess of the correlation of any two columns, in [0, 1).
    mean : float
        A guess of the columns' mean: far means cost accuracy.

    Raises
    ------
    InvalidArgument
        If an argument is not as stated.
    """
    spreads = _listed(sd)
    if not spreads or not all(is_number(each) and each > 0 for each in spreads):
        raise InvalidArgument(
            f"sd must be a list of positive numbers, one a column, got {as_given(sd)}"
        )
    if not (is_number(correlation) and 0 <= correlation < 1):
        raise InvalidArgument(f"correlation must lie in [0, 1), got {as_given(correlation)}")
    if not is_number(mean):
        raise InvalidArgument(f"mean must be a finite number, got {as_given(mean)}")
    return TableShape(tuple(float(each) for each in spreads), float(correlation), float(mean))


def _listed(x: object) -> tuple[Any, ...]:
    """Members of a list or an array; empty for anything else."""
    return tuple(x) if isinstance(x, Sequence | np.ndarray) and not isinstance(x, str) else ()


def regression_of(
    lattice: Lattice,
    *,
    sd: Sequence[float],
    r2: float,
    correlation: float = 0.0,
    mean: float = 0.0,
    target_sd: float = 1.0,
) -> Regression:
    """Check a guess of columns and of one that they explain; errors as :func:`columns_of`.

    Parameters
    ----------
    sd, correlation, mean
        As for :func:`modicum.plan.covariance`, of the explaining columns. The explained one depends
        on all of them alike.
    r2 : float
        A guess of the share of the explained column's variance that they explain, in (0, 1).
    target_sd : float
        A guess of the explained column's standard deviation.
    """
    made = columns_of(lattice, sd=sd, correlation=correlation, mean=mean)
    if not (is_number(r2) and 0 < r2 < 1):
        raise InvalidArgument(f"r2 must lie strictly between 0 and 1, got {as_given(r2)}")
    if not (is_number(target_sd) and target_sd > 0):
        raise InvalidArgument(f"target_sd must be a positive number, got {as_given(target_sd)}")
    return Regression(made.sd, made.correlation, made.mean, r2, target_sd)


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Tables of one shape and size; each has its own tails, and all have the same middle."""

    shape: Shape
    lattice: Lattice
    rows: int
    middle: Array
    weights: Integers

    @classmethod
    def of(cls, shape: Shape, lattice: Lattice, rows: int) -> Population:
        """Compute the middle."""
        if rows <= 2 * TAIL:
            return cls(shape, lattice, rows, np.empty(0), np.empty(0, dtype=np.int64))
        halves = [_strata(rows, rows // 2), _strata(rows, rows - rows // 2)]
        (low, low_weights), (high, high_weights) = halves
        return cls(
            shape,
            lattice,
            rows,
            np.concatenate([shape.below(low), shape.above(high)[::-1]]),
            np.concatenate([low_weights, high_weights[::-1]]),
        )

    def table(self, entropy: Entropy) -> SyntheticTable:
        """Draw a table."""
        if self.rows <= 2 * TAIL:
            x = self.shape.below(uniform(self.rows, entropy))
            weights = np.ones(self.rows, dtype=np.int64)
        else:
            ends = [
                self.shape.below(self._extremes(entropy)),
                self.shape.above(self._extremes(entropy)),
            ]
            x = np.concatenate([*ends, self.middle])
            weights = np.concatenate([np.ones(2 * TAIL, dtype=np.int64), self.weights])
        q = self.lattice.quantise(x)
        order = np.argsort(q, kind="stable")
        return SyntheticTable(q[order], weights[order])

    def _extremes(self, entropy: Entropy) -> Array:
        """Probabilities beyond the most extreme records of one side, the least first.

        The i-th of n sorted uniforms is the sum of i exponentials over that of n + 1, which is
        n but for a share of 1/sqrt(n); the two ends are independent to the same order.
        """
        upto = np.cumsum(-np.log(uniform(TAIL, entropy)))
        smallest: Array = np.minimum(upto / self.rows, 0.5)
        return smallest


def _strata(rows: int, half: int) -> tuple[Array, Integers]:
    """Probabilities in the middle of the strata of ranks [TAIL, half), and their rows."""
    largest = max(1, rows // _STRATA)
    starts = [TAIL]
    while starts[-1] < half:
        starts.append(min(half, starts[-1] + max(1, min(starts[-1] // _FINENESS, largest))))
    edges = np.array(starts, dtype=np.int64)
    return (edges[:-1] + edges[1:]) / (2.0 * rows), np.diff(edges)
