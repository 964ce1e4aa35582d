"""Which keys of a column may be shown: optimal partition selection, drawn exactly.

A key with n rows is kept with a probability π(n) that is the largest possible for a given (ε, δ)
(Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1). π involves exp(ε), which is not a
rational number; it is enclosed between rationals, as closely as one uniform number needs it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.exact.bernoulli import KnownCoin
from modicum.exact.enclosure import exp_bounds, ln_above, ln_bounds
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import SECRET, Mechanism
from modicum.privacy.event import ApproxDP

_MOST = 64  # a larger ε is used as this one: whoever has (64, δ) has (ε, δ)
_DIGITS = 40


def natural_order(key: Any) -> tuple[bool, Any]:
    """Sort keys by this: numbers first, then the others by their kind; tuples part by part."""
    if isinstance(key, tuple):
        return False, tuple(map(natural_order, key))
    return not isinstance(key, Real | Decimal), key


@dataclass(frozen=True, slots=True)
class KeepCurve:
    """π(n), the chance that a key with n rows is kept, for the (ε, δ) of one row; 0 < δ < 1.

    π(0) = 0 and π(n + 1) = min(e^ε π(n) + δ, 1 - e^-ε (1 - π(n) - δ), 1): the largest numbers
    that are (ε, δ)-indistinguishable from one n to the next. The first rule holds up to the
    ``turn``, the second one beyond it, until π reaches 1 (docs/research/proofs/groups.md,
    [groups.7]). See [groups.6].

    Examples
    --------
    >>> curve = KeepCurve(Fraction(1), Fraction(1, 100))
    >>> [round(curve.probability(n), 4) for n in (0, 1, 2, 5, 9, 10)]
    [0.0, 0.01, 0.0372, 0.7506, 1.0, 1.0]
    """

    epsilon: Fraction
    delta: Fraction

    @property
    def turn(self) -> int:
        """Rows up to which π(n) = δ (e^(n ε) - 1) / (e^ε - 1)."""
        return _turn(self._rate, self.delta)

    @property
    def sure(self) -> int:
        """Rows from which π(n) is 1, perhaps a few too many.

        By [groups.9] it is where e^((n - turn) ε) >= 1 + (e^ε - 1) / δ, which is at most e^ε / δ.
        """
        return _sure(self._rate, self.delta)

    def bounds(self, n: int, digits: int) -> tuple[Fraction, Fraction]:
        """Enclose π(n), ever closer as ``digits`` grows."""
        if n == 0:
            return Fraction(0), Fraction(0)
        if n >= self.sure:
            return Fraction(1), Fraction(1)
        least, most = (bound - 1 for bound in exp_bounds(self._rate, digits))
        rising = min(n, self.turn)
        low, high = exp_bounds(rising * self._rate, digits)
        # [groups.8] δ (e^(n ε) - 1) / (e^ε - 1), its numerator and denominator enclosed.
        low, high = self.delta * (low - 1) / most, self.delta * (high - 1) / least
        if n > rising:
            # [groups.9] 1 + c - e^(-j ε) (1 + c - π(turn)), c = δ / (e^ε - 1), j = n - turn.
            shrunk, larger = exp_bounds(-(n - rising) * self._rate, digits)
            small, large = self.delta / most, self.delta / least
            low, high = (
                1 + small - larger * (1 + large - low),
                1 + large - shrunk * (1 + small - high),
            )
        return min(max(low, Fraction(0)), Fraction(1)), min(high, Fraction(1))

    def probability(self, n: int) -> float:
        """π(n) to float precision."""
        return float(self.bounds(n, _DIGITS)[0])

    def coin(self, n: int) -> KnownCoin:
        """Return the coin of exactly π(n) [groups.10]."""
        return KnownCoin(functools.partial(self.bounds, n))

    def toss_each(self, counts: NDArray[np.int64], entropy: Entropy) -> NDArray[np.bool_]:
        """Toss the coin of exactly π(n) for each of many counts n >= 0, independently [bulk.7]."""
        distinct, which = np.unique(np.minimum(counts, self.sure), return_inverse=True)
        return KnownCoin.toss_each([_coin(self, n) for n in distinct.tolist()], which, entropy)

    @property
    def _rate(self) -> Fraction:
        return min(self.epsilon, Fraction(_MOST))


@functools.lru_cache(maxsize=64)
def _turn(epsilon: Fraction, delta: Fraction) -> int:
    """1 + floor(ln((e^ε + 2δ - 1) / (δ (e^ε + 1))) / ε), with as much precision as that takes.

    The logarithm is not a multiple of ε: e^ε would be a root of a polynomial, see [groups.7].
    """
    digits = _DIGITS
    while True:
        below, above = exp_bounds(epsilon, digits)
        low = (below + 2 * delta - 1) / (delta * (above + 1))
        high = (above + 2 * delta - 1) / (delta * (below + 1))
        least = math.floor(ln_bounds(low, digits)[0] / epsilon)
        if least == math.floor(ln_bounds(high, digits)[1] / epsilon):
            return 1 + least
        digits += 20


@functools.lru_cache(maxsize=64)
def _sure(epsilon: Fraction, delta: Fraction) -> int:
    return _turn(epsilon, delta) + 1 + math.ceil(ln_above(1 / delta) / epsilon)


@functools.lru_cache(maxsize=1 << 16)
def _coin(curve: KeepCurve, n: int) -> KnownCoin:
    return curve.coin(n)


@dataclass(frozen=True, slots=True, eq=False)
class KeySelection(Mechanism[tuple[Any, ...]]):
    """Each key is kept with probability π(its number of rows), independently.

    Sensitivity contract: one row more or less changes one of the ``counts`` by 1. They are the rows
    of every key of the data, each at least 1, and secret, as are the keys. One row then changes the
    law of one key only, so the selection of all keys is (ε, δ)-DP for one row.

    An outcome is the tuple of kept keys in their natural order, which does not depend on the order
    of the rows.
    """

    counts: Mapping[Hashable, int] = field(repr=False, metadata=SECRET)
    epsilon: Fraction
    delta: Fraction

    @property
    def event(self) -> ApproxDP:
        return ApproxDP(self.epsilon, self.delta)

    @property
    def curve(self) -> KeepCurve:
        return KeepCurve(self.epsilon, self.delta)

    def sample(self, entropy: Entropy) -> tuple[Any, ...]:
        coin = functools.cache(self.curve.coin)
        kept: list[Any] = [key for key, n in self.counts.items() if coin(n).toss(entropy)]
        return tuple(sorted(kept, key=natural_order))

    def log_density(self, outcome: tuple[Any, ...]) -> float:
        """Sum of ln π(n) over the kept keys and of ln(1 - π(n)) over the others."""
        kept = set(outcome)
        if not kept <= self.counts.keys():
            return -math.inf
        curve = self.curve
        return sum(
            _log(low if key in kept else 1 - low)
            for key, n in self.counts.items()
            for low, _ in [curve.bounds(n, _DIGITS)]
        )

    def probes(self) -> Iterable[tuple[Any, ...]]:
        keys: list[Any] = sorted(self.counts, key=natural_order)
        for size in range(len(keys) + 1):
            yield from combinations(keys, size)


def _log(x: Fraction) -> float:
    return math.log(x) if x > 0 else -math.inf
