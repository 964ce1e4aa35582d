"""How many people hold a node: one symbol from each, by randomised response after a public hash."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from modicum.local.public import Words, digits
from modicum.mechanisms.window_response import Window

__all__ = ["Oracle", "oracle", "unary_variance"]

_MOST_SYMBOLS = 1021  # a prime; the largest alphabet that is considered
_BLOCK = 1 << 22  # pairs of an answer and a node that are compared at a time


@dataclass(frozen=True, slots=True)
class Oracle:
    """A frequency oracle for ``nodes`` nodes at pure ε.

    A node is written in base q, q prime, as a vector over the field of q elements. A client's
    public vector j maps it to the symbol <j, node> mod q, and the client answers by randomised
    response among q symbols. With ``hashed`` false there is no hash, and q is the number of nodes.

    Parameters
    ----------
    nodes : int
    symbols : int
        q.
    hashed : bool
    epsilon : Fraction

    Notes
    -----
    [O1] Two nodes have equal symbols with probability 1/q over a uniform j, since their difference
    is not zero. So a node that is not the client's is hit with probability 1/q, whatever the
    answer's law, and its own with p = e^ε/(e^ε + q - 1): (hit - r)/(p - r) is unbiased, r = 1/q.
    Without a hash r = 1/(e^ε + q - 1). It is local hashing (Wang, Blocki, Li and Jha 2017) with a
    linear family; for q = 2 it is Hadamard response.
    """

    nodes: int
    symbols: int
    hashed: bool
    epsilon: Fraction

    @property
    def window(self) -> Window:
        """The law of an answer."""
        return Window(self.symbols - 1, 1, self.epsilon)

    @property
    def hit(self) -> float:
        """Probability that an answer hits its own node."""
        return self.window.inside

    @property
    def stray(self) -> float:
        """Probability that an answer hits another node."""
        return 1 / self.symbols if self.hashed else (1 - self.hit) / (self.symbols - 1)

    @property
    def variance(self) -> float:
        """Variance of one client's estimate of a node that is not theirs."""
        return self.stray * (1 - self.stray) / (self.hit - self.stray) ** 2

    @property
    def held_variance(self) -> float:
        """Variance of one client's estimate of a node that is theirs."""
        return self.hit * (1 - self.hit) / (self.hit - self.stray) ** 2

    def spread(self, share: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Variance of one answer about a node that a share of all people holds.

        Who is asked is chance too: an answer hits with probability h = r + (p - r) share.
        """
        hit = self.stray + (self.hit - self.stray) * np.clip(share, 0.0, 1.0)
        return np.asarray(hit * (1 - hit) / (self.hit - self.stray) ** 2)

    @property
    def _length(self) -> int:
        count = 1
        while self.symbols**count < self.nodes:
            count += 1
        return count

    def encoded(self, nodes: NDArray[np.int64], found: Words) -> NDArray[np.int64]:
        """Return the symbols of nodes, one for each client, shape (n,)."""
        if not self.hashed:
            return nodes
        total = np.zeros(len(nodes), np.int64)
        rest = nodes.copy()
        for digit in digits(found, self.symbols, self._length).T:
            rest, lowest = np.divmod(rest, self.symbols)
            total += digit * lowest
        return total % self.symbols

    def estimated(
        self, answers: NDArray[np.int64], found: Words, nodes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Estimate the share of clients at each of ``nodes``; zeros if nobody answered.

        Parameters
        ----------
        answers : (n,) int array
        found : (n, 8) uint64 array
            The public words of those who answered.
        nodes : (k,) int array
        """
        if not len(answers):
            return np.zeros(len(nodes))
        hits = self._hits(answers, found, nodes) / len(answers)
        return (hits - self.stray) / (self.hit - self.stray)

    def _hits(
        self, answers: NDArray[np.int64], found: Words, nodes: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        if not self.hashed:
            return np.bincount(answers, minlength=self.nodes)[nodes].astype(np.float64)
        q, length = self.symbols, self._length
        # Products stay below length q² <= 2^27: exact in float64, whose matrix product is fast.
        keys = digits(found, q, length).astype(np.float64)
        own = (nodes[:, None] // q ** np.arange(length)) % q
        hits = np.zeros(len(nodes))
        # Which sums are which symbol, looked up instead of divided.
        symbol = (np.arange(length * (q - 1) ** 2 + 1) % q).astype(np.int16)
        rows = max(1, _BLOCK // max(1, len(nodes)))
        for start in range(0, len(answers), rows):
            sums = (keys[start : start + rows] @ own.T).astype(np.int32)
            hits += (symbol[sums] == answers[start : start + rows, None]).sum(axis=0)
        return hits


def unary_variance(epsilon: float) -> float:
    """Variance of one client's estimate under optimised unary encoding (Wang et al. 2017)."""
    return 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


@functools.lru_cache(maxsize=1024)
def oracle(nodes: int, epsilon: Fraction) -> Oracle:
    """Return the oracle of least variance: plain randomised response, or hashed to a prime.

    Examples
    --------
    >>> [oracle(k, Fraction(1)).symbols for k in (4, 16, 2**40)]
    [4, 3, 3]
    >>> round(oracle(2**40, Fraction(1)).variance / unary_variance(1.0), 3)
    1.024
    """
    choices = [Oracle(nodes, q, True, epsilon) for q in _primes()]
    if 2 <= nodes <= _MOST_SYMBOLS:
        choices.append(Oracle(nodes, nodes, False, epsilon))
    return min(choices, key=lambda choice: choice.variance)


@functools.cache
def _primes() -> tuple[int, ...]:
    return tuple(
        q for q in range(2, _MOST_SYMBOLS + 1) if all(q % d for d in range(2, math.isqrt(q) + 1))
    )
