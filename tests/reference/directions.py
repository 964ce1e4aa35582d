"""Directions of rows in the plane, and the lengths that Asi and Duchi (2020) give to them.

A row is a unit vector at the angle pi q / CIRCLE, q an integer. In the plane a sum of outer
products is, but for its trace, the sum of the unit vectors at twice the angles: its length is the
gap of the eigenvalues, and half its angle that of the leading eigenvector.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence

CIRCLE = 48  # even, so that it has right angles

Radii = Callable[[float, int], float]


def doubled(rows: Sequence[int]) -> complex:
    """Sum of unit vectors at twice the angles."""
    return sum((cmath.exp(2j * math.pi * q / CIRCLE) for q in rows), start=0j)


def gap(rows: Sequence[int]) -> float:
    """Difference of the eigenvalues of X'X."""
    return abs(doubled(rows))


def angle(rows: Sequence[int], t: int) -> float:
    """Angle between a direction and the leading one, in [0, pi/2]; 0 if none leads."""
    total = doubled(rows)
    if abs(total) < 1e-9:
        return 0.0
    return abs(cmath.phase(total * cmath.exp(-2j * math.pi * t / CIRCLE))) / 2


def sharp(g: float, i: int) -> float:
    """The i-th radius when rows are added and removed: the gap moves by one at most."""
    left = g - (i - 1)
    return math.asin(1 / left) / 2 if left >= 1 else math.pi / 2


def sharp_swap(g: float, i: int) -> float:
    """The i-th radius when rows are changed: the gap moves by two at most."""
    left = g - 2 * (i - 1)
    return math.asin(2 / left) / 2 if left >= 2 else math.pi / 2


def angular_length(rows: Sequence[int], t: int, radii: Radii) -> int:
    """Least k whose radii add up to the angle."""
    left, g, k = angle(rows, t), gap(rows), 0
    while left > 1e-12:
        k += 1
        left -= radii(g, k)
    return k


def far_length(rows: Sequence[int], distance: float, *, printed: bool) -> int:
    """Least k whose radii, as chords, add up to a distance in space from the leading direction.

    Algorithm 2 prints C / (n gap - 2 k), capped at sqrt(2), with k the number of components: 1 in
    every step. C = 2 sqrt(2) is the least constant that bounds the local sensitivity.
    """
    left, g, k = distance, gap(rows), 0
    constant = min(2 * math.sqrt(2) / (g - 2), math.sqrt(2)) if g > 2 else math.sqrt(2)
    while left > 1e-12:
        k += 1
        left -= constant if printed else 2 * math.sin(sharp_swap(g, k) / 2)
    return k


def variance(rows: Sequence[int], t: int) -> float:
    """Sum of squares along a direction."""
    return (len(rows) + (doubled(rows) * cmath.exp(-2j * math.pi * t / CIRCLE)).real) / 2
