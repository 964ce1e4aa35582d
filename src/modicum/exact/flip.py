"""Permute-and-flip: choose a candidate by its gap to the best, with exact coins only."""

from __future__ import annotations

from collections.abc import Sequence

from modicum.errors import InvalidArgument
from modicum.exact.bernoulli import exp_coin
from modicum.exact.entropy import Entropy

__all__ = ["permute_and_flip"]


def permute_and_flip(gaps: Sequence[int], denominator: int, entropy: Entropy) -> int:
    """Draw an index by permute-and-flip.

    Parameters
    ----------
    gaps
        (best score - score) * denominator for each candidate: integers >= 0, the least being 0,
        of any size.
    denominator
        The common denominator, >= 1.
    entropy
        Source of randomness.

    Returns
    -------
    int
        The first index, in uniformly random order, whose coin of probability
        exp(-gap/denominator) comes up; a candidate of gap 0 always does.

    Notes
    -----
    McKenna and Sheldon (2020), Algorithm 1. The order is drawn only as far as it is used; a
    candidate costs one or two microseconds.

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
        # [F1] Taking a uniform one of those left, again and again, is a uniform random order.
        at = entropy.below(len(waiting))
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        candidate = waiting.pop()
        if exp_coin(gaps[candidate], denominator, entropy):
            return candidate
