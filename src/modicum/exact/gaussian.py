"""The discrete Gaussian distribution with a rational variance parameter."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from modicum.errors import InvalidArgument
from modicum.exact import bernoulli, laplace
from modicum.exact.entropy import Entropy

# Float64 represents everything of [samplers.13] with room to spare between these.
_NARROWEST, _WIDEST = Fraction(1, 2**60), Fraction(2**112)


def discrete_gaussian(sigma2: Fraction, entropy: Entropy) -> int:
    """Draw an integer k with probability proportional to exp(-k²/(2 sigma2)), sigma2 > 0.

    The variance is at most sigma2, and very nearly sigma2 from 1 on. Canonne, Kamath and Steinke
    (2020), Algorithm 3: about 1.5 discrete Laplace draws.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> entropy = SeededEntropy(0)
    >>> [discrete_gaussian(Fraction(25), entropy) for _ in range(8)]
    [-2, 5, 1, 12, -5, -5, 3, 0]
    """
    _check(sigma2)
    n, d = sigma2.numerator, sigma2.denominator
    t = _laplace_scale(sigma2)
    # [samplers.12] exp(-|y|/t) exp(-(|y| - sigma2/t)²/(2 sigma2)) = exp(-y²/(2 sigma2))
    # exp(-sigma2/(2t²)).
    td, bottom = t * d, 2 * n * d * t * t
    scale = Fraction(t)
    while True:
        y = laplace.discrete_laplace(scale, entropy)
        if bernoulli.exp_coin((abs(y) * td - n) ** 2, bottom, entropy):
            return y


def discrete_gaussian_many(sigma2: Fraction, count: int, entropy: Entropy) -> laplace.Integers:
    """Draw ``count`` independent integers as :func:`discrete_gaussian` does.

    They are drawn as vectors for sigma2 between 2^-60 and 2^112, and are Python integers when one
    does not fit int64.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> discrete_gaussian_many(Fraction(25), 8, SeededEntropy(0))
    array([ 5,  8, -4,  5, -3,  4,  6,  3])
    """
    _check(sigma2)
    if not _NARROWEST <= sigma2 <= _WIDEST:
        return laplace.as_integers([discrete_gaussian(sigma2, entropy) for _ in range(count)])
    t = _laplace_scale(sigma2)
    centre = sigma2 / t
    kept: list[laplace.Integers] = []
    missing = count
    while missing:
        y = laplace.discrete_laplace_many(
            Fraction(t), min(3 * missing // 2 + 16, laplace.CHUNK), entropy
        )
        a = np.abs(y)
        # [samplers.13] off by at most 2^-48 (1 + x), although |y| and the centre cancel.
        x = (a.astype(np.float64) - float(centre)) ** 2 / float(2 * sigma2)

        def exact(i: int, a: laplace.Integers = a) -> Fraction:
            return (int(a[i]) - centre) ** 2 / (2 * sigma2)

        accepted = y[bernoulli.exp_coins(x, exact, entropy)][:missing]
        kept.append(accepted)
        missing -= len(accepted)
    return laplace.as_integers(np.concatenate(kept)) if kept else np.zeros(0, np.int64)


def _laplace_scale(sigma2: Fraction) -> int:
    return math.isqrt(math.floor(sigma2)) + 1


def _check(sigma2: Fraction) -> None:
    if sigma2 <= 0:
        raise InvalidArgument(f"sigma2 must be positive, got {sigma2}")
