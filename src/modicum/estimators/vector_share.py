"""Shares of the last sum of vectors and of the counts beside it."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["OUTSIDE", "count_share"]

OUTSIDE = Fraction(1, 100)
"""Of the whole budget, what the number of rows outside the last radius gets."""


def count_share(width: int) -> Fraction:
    """Of what is left at the end, what the last noisy count gets.

    With S ± s in each of d components and a count n ± t, the mean square error is about
    (d s² + |S/n|² t²) / n²; for |S/n| up to the radius it is least at 1 / (1 + sqrt d).
    """
    return Fraction(1, 1 + math.isqrt(width))
