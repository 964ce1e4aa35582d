"""Positions of a secret Poisson subsample, without a coin per row where that is dear."""

from __future__ import annotations

import numpy as np

from modicum.exact.binomial import binomial_pow2
from modicum.exact.entropy import Entropy
from modicum.summaries.base import Integers

__all__ = ["FEW", "distinct_positions", "kept_level", "members"]

FEW = 14
"""2^14 to 2^15 records are kept on average, or all."""

_COINS = 6  # largest k for which a row may be given k coins
_SHORT = 1 << 20  # longest range of rows that may be given coins


def kept_level(records: int) -> int:
    """Level of the subsample kept of so many records: 2^14 to 2^15 of them on average, or all.

    Examples
    --------
    >>> [kept_level(n) for n in (0, 2**15 - 1, 2**15, 10**9)]
    [0, 0, 1, 15]
    """
    return max(0, records.bit_length() - FEW - 1)


def distinct_positions(size: int, count: int, entropy: Entropy) -> Integers:
    """Draw a set of ``count`` positions below ``size``, all such sets being equally likely.

    As many positions as are missing are drawn, until none is: relabelling the positions relabels
    the outcome, so no set is preferred. Of more than half, the ones left out are drawn.
    """
    if 2 * count > size:
        kept = np.ones(size, dtype=bool)
        kept[distinct_positions(size, size - count, entropy)] = False
        return kept.nonzero()[0]
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < count:
        drawn = entropy.below_many(size, count - len(chosen)).astype(np.int64)
        chosen = np.sort(np.concatenate([chosen, drawn]))
        chosen = chosen[np.diff(chosen, prepend=-1) > 0]
    return chosen


def members(size: int, k: int, entropy: Entropy) -> Integers:
    """Draw a Poisson subsample of the positions below ``size``, in increasing order.

    In short ranges at large rates, k fair coins a row (the low bits of a byte) are faster than
    drawing the size and a set of positions; the law is the same.
    """
    if k == 0:
        return np.arange(size)
    if k <= _COINS and size <= _SHORT:
        coins = entropy.words(-(-size // 8)).view(np.uint8)[:size]
        positions: Integers = ((coins & ((1 << k) - 1)) == 0).nonzero()[0]
        return positions
    return distinct_positions(size, binomial_pow2(size, k, entropy), entropy)
