"""What shuffling does to the ε of single messages: computed, not bounded by a formula."""

from __future__ import annotations

import functools
import math
import numbers
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.rational import as_fraction
from modicum.privacy.budget import Budget, Number

__all__ = ["amplified", "local_epsilon", "single_epsilon"]

_TAIL = 10.0  # standard deviations of a binomial that are summed, and 10 more integers
_LOST = 1e-15  # more than what lies beyond (below 1e-19) and the roundings of a sum near 1
_ROUNDED = 1 + 1e-9  # more than the relative error of masses
_STEPS = 40
_BLOCKS = 60


def amplified(epsilon: Number, *, clients: int, delta: Number) -> Budget:
    """(ε, δ) guarantee of shuffled messages, each of which is private at pure ε₀ by itself.

    Parameters
    ----------
    epsilon : number
        ε₀ of one message, for any two values of its sender.
    clients : int
        People who follow the protocol and whose messages are shuffled together, at least 2.
    delta : number
        In (0, 1). Below 1e-15 nothing is gained.

    Returns
    -------
    Budget
        A float that was rounded up by 1e-6 of itself: for plans and reports.

    Raises
    ------
    InvalidArgument
        For arguments out of range.

    Notes
    -----
    Feldman, McMillan and Talwar (2021), Theorem 3.2: the worst case is dominated by the pair
    (A + D, C - A + 1 - D) and (A + 1 - D, C - A + D) with C binomial (n - 1, e^-ε₀), A binomial
    (C, 1/2) and D a coin with odds e^ε₀. Its hockey-stick divergence is summed; the binomials'
    tails beyond 10 standard deviations count as lost.

    Examples
    --------
    >>> from modicum import shuffle
    >>> round(float(shuffle.amplified(2, clients=100_000, delta="1e-8").amount), 2)
    0.06
    """
    size, small = as_fraction(epsilon, "epsilon"), as_fraction(delta, "delta")
    whole = isinstance(clients, numbers.Integral) and clients >= 2
    if not 0 < size <= 20 or not 0 < small < 1 or not whole:
        raise InvalidArgument(
            "epsilon must lie in (0, 20], delta in (0, 1), and clients be an integer of at least "
            f"2, got {epsilon}, {delta} and {clients!r}"
        )
    pair = _Pair(float(size), clients)
    low, high = 0.0, float(size)
    if pair.delta(0.0) <= small:
        high = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if pair.delta(middle) <= small else (middle, high)
    return Budget("approx", min(Fraction(high) * Fraction(1_000_001, 1_000_000), size), small)


def local_epsilon(budget: Budget, *, clients: int) -> Fraction:
    """Return an ε₀ for single messages that shuffling brings down to a budget of (ε, δ).

    Raises
    ------
    InvalidArgument
        If the budget has no δ.

    Examples
    --------
    >>> import modicum as mo
    >>> from modicum import shuffle
    >>> float(shuffle.local_epsilon(mo.approx(1, "1e-8"), clients=100_000)) > 4
    True
    """
    if budget.kind != "approx":
        raise InvalidArgument(f"amplification needs a δ: give an (ε, δ) budget, not {budget}")
    low, high = min(budget.amount, Fraction(10)), Fraction(12)
    for _ in range(12):
        middle = (low + high) / 2
        found = amplified(middle, clients=clients, delta=budget.delta)
        low, high = (middle, high) if found.amount <= budget.amount else (low, middle)
    return low


@functools.lru_cache(maxsize=64)
def single_epsilon(budget: Budget, clients: int) -> Fraction:
    """Return :func:`local_epsilon` rounded down, so that it is the same on every machine."""
    unit = 1 << 12
    return Fraction(math.floor(local_epsilon(budget, clients=clients) * unit), unit)


class _Pair:
    """The dominating pair, given C in each of some blocks.

    More clones hide more: a coin added to either of the pair for C makes it the pair for C + 1, so
    the divergence falls as C grows. A block counts as its smallest C, which errs on the safe side.
    """

    __slots__ = ("_pairs", "_weights")

    def __init__(self, epsilon: float, clients: int, *, blocks: int = _BLOCKS) -> None:
        n, p = clients - 1, math.exp(-epsilon)
        heads = 1 / (1 + p)
        counts = _window(n, p)
        mass = _binomial(counts, n, p)
        starts = np.arange(0, len(counts), max(1, len(counts) // blocks))
        self._weights = np.add.reduceat(mass, starts)
        self._pairs = []
        for count in counts[starts].tolist():
            tossed = _binomial(_window(count, 0.5), count, 0.5)
            same, more = np.append(tossed, 0.0), np.append(0.0, tossed)  # A and A + 1
            self._pairs.append(
                (heads * more + (1 - heads) * same, (1 - heads) * more + heads * same)
            )

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of the hockey-stick divergence at ε."""
        grown = math.exp(epsilon)
        total = 0.0
        for weight, (one, other) in zip(self._weights.tolist(), self._pairs, strict=True):
            total += weight * float(np.maximum(one - grown * other, 0.0).sum())
        return total * _ROUNDED + _LOST


def _window(n: int, p: float) -> NDArray[np.int64]:
    centre, reach = n * p, _TAIL * math.sqrt(n * p * (1 - p)) + _TAIL
    return np.arange(max(0, math.floor(centre - reach)), min(n, math.ceil(centre + reach)) + 1)


def _binomial(k: NDArray[np.int64], n: int, p: float) -> NDArray[np.float64]:
    """Probabilities of consecutive k, given that it is one of them.

    Only ratios of one to the next are used: logarithms of factorials would lose digits as n grows.
    Without the tails all masses are larger, which errs on the safe side.
    """
    if p >= 1:
        return np.array(k == n, np.float64)
    ratios = (n - k[:-1]) / (k[:-1] + 1) * (p / (1 - p))
    logs = np.append(0.0, np.cumsum(np.log(ratios)))
    weights = np.exp(logs - logs.max())
    masses: NDArray[np.float64] = weights / weights.sum()
    return masses
