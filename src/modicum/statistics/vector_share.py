"""Shares of the last sum of vectors and of the counts beside it."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["NEAR", "OUTSIDE", "count_share"]

OUTSIDE = {1: Fraction(1, 20), 2: Fraction(1, 100)}
"""Of the whole budget, what the number of rows outside the last radius gets, by the norm's power.

The intervals are as wide as its noise, which falls with the share in pure ε and with the root of
the share in zCDP.
"""


NEAR = 4
"""Radii are so many times the distance of a centre from the mean, about which they are found."""


def count_share(width: int, near: int = 1, power: int = 2) -> Fraction:
    """Of what is left at the end, what the last noisy count gets.

    With S ± s in each of d components and a count n ± t, the mean square error is about
    (d s² + |S/n|² t²) / n². For |S/n| of a radius over ``near`` it is least, in zCDP, if the count
    gets 1 / (1 + near sqrt d). In pure ε a radius is an L1 norm, some sqrt d times the L2 norm,
    and noise falls with the share and not its root: 1 / (1 + (near d)^(2/3)).
    """
    if power == 1:
        return Fraction(1, 1 + round((near * width) ** (2 / 3)))
    return Fraction(1, 1 + near * math.isqrt(width))
