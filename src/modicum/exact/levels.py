"""Draw one of many levels with probability exactly proportional to count * exp(-exponent)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import point_below, small_exp_bounds
from modicum.exact.decay import decay
from modicum.exact.entropy import Entropy

Whole: TypeAlias = Sequence[int] | NDArray[np.int64]

_CELL_BITS = (
    60  # the cells add up to about 2^60: int64 holds the total, and rounding up costs little
)
_SLACK = 39  # a cell longer than 1 is filled to 1 - 2^-39 at least, see [levels.3]
_LARGEST_BITS = 256
_UNIT_BITS = 900


def draw_level(counts: Whole, exponents: Whole, unit: Fraction, entropy: Entropy) -> int:
    """Draw an index i with probability exactly proportional to counts[i] exp(-exponents[i] unit).

    Counts and exponents are integers >= 0 below 2^256, and not all counts are zero. ``unit`` is
    what one unit of the exponents weighs, a rational number > 0. Nothing is rounded, and no
    probability underflows to zero.

    [levels.1] Level i owns a cell of integer length on a line; the cell is a float64 upper bound of
    its weight, scaled and rounded up, and a stretch at its beginning has exactly the length of the
    weight. A uniform point of the line is drawn, its integer part first. If it lies in the stretch
    of some cell, that level is the answer; if not, another point is drawn. All but about 2^-38 of
    the points are decided by their integer part; the others are refined, bit by bit, against one
    exponential of growing precision. The proof is on the page ``proofs/levels``.

    Roughly 30 ns a level with arrays of int64; lists are converted first.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> [draw_level([1, 5, 10**18], [0, 1, 40], Fraction(1), entropy) for _ in range(8)]
    [1, 1, 2, 1, 1, 2, 2, 2]
    """
    if not Fraction(1, 1 << _UNIT_BITS) <= unit <= 1 << _UNIT_BITS:
        raise InvalidArgument(f"unit must lie between 2^-900 and 2^900, got {unit}")
    sizes, steps = _integers(counts, "counts"), _integers(exponents, "exponents")
    if sizes.shape != steps.shape:
        raise InvalidArgument(
            f"counts and exponents must have one length, got {len(sizes)} and {len(steps)}"
        )
    present = sizes > 0
    if not present.any():
        raise InvalidArgument("at least one of the counts must be positive")
    least = steps[present].min()
    cells, scale = _cells(sizes, steps - least, unit)
    ends = np.cumsum(cells)
    total = int(ends[-1])
    while True:
        point = entropy.below(total)
        i = int(np.searchsorted(ends, point, side="right"))
        length = int(cells[i])
        position = point - int(ends[i]) + length
        # [levels.3] The stretch is longer than (length - 1)(1 - 2^-39).
        if position + 1 <= (length - 1) - ((length - 1) >> _SLACK) - 1:
            return i
        weight = functools.partial(
            _weight_bounds, int(sizes[i]) * scale, (int(steps[i]) - int(least)) * unit
        )
        if point_below(position, 0, weight, entropy):
            return i


def _cells(
    sizes: NDArray[Any], steps: NDArray[Any], unit: Fraction
) -> tuple[NDArray[np.int64], Fraction]:
    """Return upper bounds of scale * weight, integers that add up to about 2^60, and the scale."""
    x = steps.astype(np.float64)
    with np.errstate(over="ignore"):  # an infinite exponent is cut to 700 by decay
        x *= float(unit)
    # A level of count 0 may have an exponent below the least.
    weights = decay(np.maximum(x, 0.0, out=x))
    weights *= sizes.astype(np.float64)
    # [levels.2] The relative error of a weight is below 2^-41, for exponents beyond 700 upwards
    # only.
    power = _CELL_BITS - math.frexp(float(weights.sum()))[1]
    weights *= math.ldexp(1.0, power)
    weights *= 1 + 2.0**-40
    np.ceil(weights, out=weights)
    # A level that is there keeps a cell, however small its weight.
    cells = np.maximum(weights, sizes > 0, out=weights).astype(np.int64)
    return cells, Fraction(2) ** power


def _weight_bounds(factor: Fraction, x: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    lower, upper = small_exp_bounds(x, digits)
    return factor * lower, factor * upper


def _integers(values: Whole, name: str) -> NDArray[Any]:
    """Return the integers as an array that holds them and their differences exactly."""
    array: NDArray[Any] = np.asarray(values)
    if array.ndim != 1 or not len(array):
        raise InvalidArgument(f"{name} must be a sequence of one or more integers")
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        array = array.astype(np.int64, copy=False)
    else:  # NumPy turns some mixtures of large integers into floats, so begin with the integers
        array = np.array([_whole(v, name) for v in values], dtype=np.object_)
    if array.min() < 0:
        raise InvalidArgument(f"{name} must hold integers of at least 0")
    return array


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidArgument(f"{name} must hold integers only, got a {type(value).__name__}")
    if int(value).bit_length() > _LARGEST_BITS:
        raise InvalidArgument(f"{name} must hold integers below 2^{_LARGEST_BITS}")
    return int(value)
