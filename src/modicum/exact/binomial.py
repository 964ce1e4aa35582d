"""The binomial distribution with success probability 2^-k."""

from __future__ import annotations

import math

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import ratio_coin
from modicum.exact.entropy import Entropy


def binomial_pow2(n: int, k: int, entropy: Entropy) -> int:
    """Draw the number of successes in n independent trials of probability 2^-k; n, k >= 0.

    [samplers.14] Rejection from blocks around the mode m. If w is such that f(m + w) and f(m - w)
    are at most f(m)/2, log-concavity gives f(m ± b w) <= 2^-b f(m) for every b. So a side, a block
    b with probability 2^-(b+1) and a place in the block are proposed, and accepted with probability
    2^b f(j)/f(m), a ratio of integers. Fewer than five proposals on average; each multiplies about
    sqrt(n 2^-k) factors: a millisecond or two at a mean of 2^18, a second at a mean of 5 · 10^8.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> binomial_pow2(10, 0, SeededEntropy(0)), binomial_pow2(0, 5, SeededEntropy(0))
    (10, 0)
    >>> abs(binomial_pow2(10**12, 23, SeededEntropy(0)) - 10**12 // 2**23) < 3000
    True
    """
    if n < 0 or k < 0:
        raise InvalidArgument(f"n and k must be at least 0, got n={n}, k={k}")
    if k == 0:
        return n
    mode = (n + 1) >> k
    width = _block_width(n, k, mode)
    while True:
        upwards = bool(entropy.bits(1))
        block = 0
        while entropy.bits(1):
            block += 1
        distance = block * width + entropy.below(width)
        # The mode belongs to the upper side; the lower one begins next to it.
        shift = distance if upwards else -1 - distance
        top, bottom = _ratio(n, k, mode, shift)
        if ratio_coin(top << block, bottom, entropy):
            return mode + shift


def _block_width(n: int, k: int, mode: int) -> int:
    """Return a w at which f has fallen to half its maximum or less on both sides."""
    # For the normal curve it is 1.18 standard deviations; any w that passes the test will do.
    width = math.isqrt((3 * n >> k) // 2) + 1
    while any(2 * top > bottom for top, bottom in (_ratio(n, k, mode, d) for d in (width, -width))):
        width *= 2
    return width


def _ratio(n: int, k: int, mode: int, shift: int) -> tuple[int, int]:
    """Return f(mode + shift)/f(mode) as numerator and denominator.

    [samplers.15] f(j) = C(n, j) (2^k - 1)^(n - j) 2^(-k n), so with falling factorials (a)_d the
    ratio is (n - m)_d / ((m + d)_d (2^k - 1)^d) upwards and (m)_d (2^k - 1)^d / (n - m + d)_d
    downwards.
    """
    d = abs(shift)
    odds = ((1 << k) - 1) ** d
    if shift >= 0:
        return math.perm(n - mode, d), math.perm(mode + d, d) * odds
    return math.perm(mode, d) * odds, math.perm(n - mode + d, d)
