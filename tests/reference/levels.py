"""Twins in 50-digit arithmetic: slow, and independent of the code they check."""

from collections.abc import Sequence
from fractions import Fraction

import mpmath


def level_weights(
    counts: Sequence[int], exponents: Sequence[int], unit: Fraction
) -> list[mpmath.mpf]:
    """counts[i] exp(-(exponents[i] - least) unit), the least among positive counts."""
    least = min(e for c, e in zip(counts, exponents, strict=True) if c > 0)
    with mpmath.workdps(50):
        rate = mpmath.mpf(unit.numerator) / unit.denominator
        return [c * mpmath.exp(-(e - least) * rate) for c, e in zip(counts, exponents, strict=True)]


def level_law(counts: Sequence[int], exponents: Sequence[int], unit: Fraction) -> dict[int, float]:
    with mpmath.workdps(50):
        weights = level_weights(counts, exponents, unit)
        total = mpmath.fsum(weights)
        return {i: float(w / total) for i, w in enumerate(weights)}


def fraction(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator
