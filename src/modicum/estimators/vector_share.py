"""Shares of the last sum of vectors and of the counts beside it."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["NEAR", "OUTSIDE", "count_share"]

OUTSIDE = Fraction(1, 100)
"""Of the whole budget, what the number of rows outside the last radius gets."""


NEAR = 4
"""Radii are so many times the distance of a centre from the mean, about which they are found."""


def count_share(width: int, near: int = 1) -> Fraction:
    """Of what is left at the end, what the last noisy count gets.

    With S ± s in each of d components and a count n ± t, the mean square error is about
    (d s² + |S/n|² t²) / n². For |S/n| of a radius over ``near`` it is least if the count gets
    1 / (1 + near sqrt d).
    """
    return Fraction(1, 1 + near * math.isqrt(width))
