"""Means of data in a fixed interval: Kulesza, Suresh and Wang 2023, Algorithms 1, 2 and 3.

All three release two integers from which a count and a mean follow. Records are lattice integers
clipped to ``[lo, hi]``; ``w = hi - lo``. The sensitivity of each pair is exact, so the noise is
discrete Laplace with rational scales. Each builder states its contract and has a function that
turns its outcome into a mean.

The paper's remark that staircase noise "can be substituted" per coordinate is false: it costs
up to twice the stated ε. :mod:`modicum.mechanisms.staircase` has the l1-radial law that is right.
"""

from __future__ import annotations

from fractions import Fraction

from modicum.mechanisms.additive import Additive, laplace
from modicum.mechanisms.noise import LaplaceNoise
from modicum.privacy.event import Pure

__all__ = [
    "independent",
    "independent_mean",
    "shifted",
    "shifted_mean",
    "transformed",
    "transformed_mean",
]


def independent(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 1: sum and count, half of ε each; the sum has sensitivity max(|lo|, |hi|).

    Notes
    -----
    One record x in [lo, hi] moves (sum, count) by (x, 1). Coordinate by coordinate the cost is
    |x| / (2 max(|lo|, |hi|) / ε) + 1 / (2 / ε) <= ε.
    """
    half = epsilon / 2
    reach = max(abs(lo), abs(hi), 1)
    noise = (LaplaceNoise(reach / half), LaplaceNoise(1 / half))
    return Additive((total, count), noise, Pure(epsilon))


def shifted(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 2: twice the sum about the midpoint, and the count; half of ε each.

    Notes
    -----
    2x - lo - hi lies in [-w, w]; doubling keeps the midpoint on the integers.
    """
    half = epsilon / 2
    noise = (LaplaceNoise(max(hi - lo, 1) / half), LaplaceNoise(1 / half))
    return Additive((2 * total - count * (lo + hi), count), noise, Pure(epsilon))


def transformed(total: int, count: int, *, lo: int, hi: int, epsilon: Fraction) -> Additive:
    """Algorithm 3: (sum of x - lo, sum of hi - x), both at the full ε.

    Notes
    -----
    One record moves the pair by (x - lo, hi - x), whose L1 norm is exactly w (Theorem 1 of the
    paper; its proof's "Lap(w/ε)" is a leftover of the unscaled form, which this is).
    """
    pair = (total - count * lo, count * hi - total)
    return laplace(pair, l1=max(hi - lo, 1), epsilon=epsilon)


def independent_mean(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`independent`, clipped to [lo, hi]."""
    total, count = outcome
    return _clipped_ratio(total, count, lo, hi)


def shifted_mean(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`shifted`, clipped to [lo, hi]."""
    doubled, count = outcome
    half_width = Fraction(hi - lo, 2)
    middle = Fraction(lo + hi, 2)
    return middle + _clipped_ratio(doubled, 2 * count, -half_width, half_width)


def transformed_mean(outcome: tuple[int, ...], *, lo: int, hi: int) -> Fraction:
    """Mean from an outcome of :func:`transformed`, clipped to [lo, hi]."""
    left, right = outcome
    return lo + _clipped_ratio((hi - lo) * left, left + right, 0, hi - lo)


def _clipped_ratio(
    numerator: int, denominator: int, lo: int | Fraction, hi: int | Fraction
) -> Fraction:
    """Ratio clipped to the interval; the middle of the interval if the denominator is <= 0."""
    if denominator <= 0:
        return Fraction(lo + hi) / 2
    return Fraction(min(max(Fraction(numerator, denominator), lo), hi))
