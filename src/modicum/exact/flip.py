"""Permute-and-flip: choose a candidate by its gap to the best, with exact coins only."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import exp_coin, exp_coins
from modicum.exact.entropy import Entropy


def permute_and_flip(gaps: Sequence[int], denominator: int, entropy: Entropy) -> int:
    """Draw an index by permute-and-flip (McKenna and Sheldon 2020, Algorithm 1).

    ``gaps`` are (best score - score) * denominator: integers >= 0 of any size, the least being 0.
    The answer is the first index, in uniformly random order, whose coin of probability
    exp(-gap/denominator) comes up; a candidate of gap 0 always does.

    The order is drawn only as far as it is used; a candidate costs one or two microseconds.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> permute_and_flip([10**6, 0, 10**6], 1, SeededEntropy(0))
    1
    """
    if denominator < 1:
        raise InvalidArgument(f"the denominator must be at least 1, got {denominator}")
    if not len(gaps) or min(gaps) != 0:
        raise InvalidArgument("the gaps must be at least 0, and at least one of them 0")
    waiting = list(range(len(gaps)))
    while True:
        # [samplers.16] Taking a uniform one of those left, again and again, is a uniform random
        # order.
        at = entropy.below(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        candidate = waiting.pop()
        if exp_coin(gaps[candidate], denominator, entropy):
            return candidate


def flip_many(
    gaps: NDArray[np.int64], sizes: Sequence[int], denominators: Sequence[int], entropy: Entropy
) -> list[int]:
    """Draw one index of each of many lists by :func:`permute_and_flip`, independently, vectorised.

    ``gaps`` holds one list after the other, ``sizes`` the length of each, at least 1, and
    ``denominators`` one number a list, of any size.

    Examples
    --------
    >>> from modicum.exact.entropy import SeededEntropy
    >>> flip_many(np.array([10**6, 0, 0, 10**6, 10**6]), [2, 3], [1, 1], SeededEntropy(0))
    [1, 0]
    """
    ends = np.cumsum(sizes)
    lists = np.repeat(np.arange(len(sizes)), sizes)
    # Three roundings: x is off by at most 2^-51 of itself.
    x = gaps / np.array([float(each) for each in denominators])[lists]
    heads = np.flatnonzero(
        exp_coins(x, lambda i: Fraction(int(gaps[i]), denominators[lists[i]]), entropy)
    )
    # [samplers.17] The first head in a uniformly random order is a uniform one of the heads.
    until = heads.searchsorted(ends)
    begin = np.append(0, until[:-1]).tolist()
    places = [a + entropy.below(b - a) for a, b in zip(begin, until.tolist(), strict=True)]
    chosen: list[int] = (heads[places] - ends + np.array(sizes)).tolist()
    return chosen
