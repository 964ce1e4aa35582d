"""Split and mix: integers as shares of which any but all are uniform, and how many hide a sum."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from modicum.exact.entropy import Entropy

__all__ = ["pooled", "share_count", "split"]


def share_count(honest: int, *, security: int, bits: int) -> int:
    """Shares of an integer modulo 2^bits: s + 2 of [S2] of the proof page.

    Examples
    --------
    >>> share_count(10_000, security=40, bits=23)
    11
    """
    return math.ceil((2 * security + bits) / (math.log2(honest) - math.log2(math.e))) + 2


def split(
    values: NDArray[np.int64], shares: int, bits: int, entropy: Entropy
) -> NDArray[np.uint64]:
    """Write each integer as a sum of shares modulo 2^bits, all but the last uniform.

    Parameters
    ----------
    values : (n,) int array
    shares, bits : int
        At least 2 shares; at most 64 bits.

    Returns
    -------
    (n, shares) uint64 array
    """
    mask = np.uint64((1 << bits) - 1)
    result = np.empty((len(values), shares), np.uint64)
    drawn = entropy.words(len(values) * (shares - 1))
    result[:, :-1] = drawn.reshape(len(values), shares - 1) & mask
    # Unsigned arithmetic wraps at 2^64, a multiple of the modulus.
    rest = values.astype(np.uint64) - result[:, :-1].sum(axis=1, dtype=np.uint64)
    result[:, -1] = rest & mask
    return result


def pooled(shares: NDArray[np.uint64], bits: int, *, middle: int = 0) -> int:
    """Add up shares: the representative of the sum modulo 2^bits that is closest to ``middle``.

    Examples
    --------
    >>> pooled(np.array([3, 12], np.uint64), 4), pooled(np.array([3, 12], np.uint64), 4, middle=9)
    (-1, 15)
    """
    modulus = 1 << bits
    # 64-bit sums wrap at a multiple of the modulus.
    total = int(shares.sum(dtype=np.uint64))
    low = middle - modulus // 2
    return low + (total - low) % modulus
