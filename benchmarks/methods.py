"""The methods side by side: each prepares itself for one data set and then answers many times."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.oracle import hindsight
from modicum import query
from modicum.exact.entropy import Entropy, SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive
from modicum.privacy.unit import Unit
from modicum.research.papers.kulesza2023 import transformed
from modicum.runtime.run import run
from modicum.sources.opening import open_source
from modicum.sources.reader import read
from modicum.statistics.ranges.bounded_mean import transformed_value
from modicum.summaries.base import Read
from modicum.summaries.subsample import Records

WITHIN = (-1e9, 1e9)  # the public range of every release

Prepared = Callable[[int], float]
"""Answers once, given the number of the release."""


class CachedReader:
    """Reads a data set once, so that hundreds of releases of it do not.

    A reduction of the same data is the same summary, so it is kept. A subsample is secret and
    belongs to one release: it is never kept.
    """

    def __init__(self, x: NDArray[np.float64]) -> None:
        self._source = open_source(x)
        self._kept: dict[Read[Any], Any] = {}

    def read(self, reads: Sequence[Read[Any]], entropy: Entropy) -> list[Any]:
        """Answer from what is kept, or read."""
        fresh = [ask for ask in reads if ask not in self._kept]
        answers = dict(zip(fresh, read(self._source, fresh, entropy), strict=True)) if fresh else {}
        self._kept |= {a: s for a, s in answers.items() if not isinstance(a.reduction, Records)}
        return [answers[ask] if ask in answers else self._kept[ask] for ask in reads]


def _ours(method: str) -> Callable[[NDArray[np.float64], Fraction, str], Prepared]:
    def prepare(x: NDArray[np.float64], epsilon: Fraction, seed: str) -> Prepared:
        reader = CachedReader(x)
        question = query.mean(within=WITHIN, epsilon=epsilon, method=method)

        def answer(i: int) -> float:
            walks = run(
                {"mean": question},
                reader,
                unit=Unit(),
                charge=lambda: None,
                entropy=SeededEntropy(f"{method} {seed} {i}"),
            )
            found = walks["mean"].answer
            assert found is not None
            return float(found.value)

        return answer

    return prepare


class _Sorted:
    """Sorted lattice integers with exact prefix sums, for clipped sums at any bounds."""

    def __init__(self, x: NDArray[np.float64], lattice: Lattice) -> None:
        self.q = lattice.quantise(x)
        # 31 low bits and the rest apart: neither sum of up to 2^31 records overflows.
        parts = (self.q >> 31, self.q & ((1 << 31) - 1))
        self._high, self._low = (np.concatenate(([0], np.cumsum(part))) for part in parts)

    def mechanism(self, lo: int, hi: int, epsilon: Fraction) -> Additive:
        """Algorithm 3 of Kulesza et al. for the data clipped to [lo, hi]."""
        i, j = (int(k) for k in np.searchsorted(self.q, [lo, hi]))
        middle = (int(self._high[j] - self._high[i]) << 31) + int(self._low[j] - self._low[i])
        n = len(self.q)
        return transformed(middle + lo * i + hi * (n - j), n, lo=lo, hi=hi, epsilon=epsilon)


def best_clip(x: NDArray[np.float64], epsilon: Fraction, seed: str) -> Prepared:
    """Clip at the oracle's bounds and use transformed noise with the whole ε. Not private."""
    lattice = Lattice.within(WITHIN)
    best = hindsight(x, float(epsilon))
    lo, hi = (int(q) for q in lattice.quantise(np.array([best.lo, best.hi])))
    mechanism = _Sorted(x, lattice).mechanism(lo, hi, epsilon)
    entropy = SeededEntropy(f"clip {seed}")
    return lambda i: lattice.value(transformed_value(mechanism.sample(entropy), lo=lo, hi=hi))


def durfee(x: NDArray[np.float64], epsilon: Fraction, seed: str) -> Prepared:
    """Durfee 2023: unbounded quantile estimation for both bounds, then clip.

    Each bound: counts of records below b^i - 1, i = 0, 1, 2, ..., from 0 outwards on its own side,
    b = 1.01; stop at the first whose count plus Exp(ε2) noise exceeds q n plus Exp(ε1) noise, with
    q n = n - 20/ε (n taken as public: a favour). A quarter of ε a bound, ε1 = ε2; the other half
    goes to the mean of the clipped data by transformed noise.
    """
    n, base, eps = len(x), 1.01, float(epsilon)
    grid = base ** np.arange(math.ceil(math.log(WITHIN[1] + 1, base)) + 1) - 1
    highs = np.searchsorted(x, grid, side="right")  # records <= grid, on the upper side
    lows = n - np.searchsorted(x, -grid, side="left")  # records >= -grid, on the lower side
    target, scale = max(n - 20 / eps, 0), 8 / eps
    lattice = Lattice.within(WITHIN)
    data = _Sorted(x, lattice)

    def answer(i: int) -> float:
        rng = default_rng([i, *seed.encode()])

        def bound(counts: NDArray[np.int64]) -> float:
            threshold = target + rng.exponential(scale)
            over = counts + rng.exponential(scale, len(counts)) > threshold
            return float(grid[int(over.argmax()) if over.any() else -1])

        ends = np.array([-bound(lows), bound(highs)])
        lo, hi = (int(q) for q in lattice.quantise(ends))
        if lo == hi:
            return lattice.value(lo)
        entropy = SeededEntropy(f"durfee {seed} {i}")
        mechanism = data.mechanism(lo, hi, epsilon / 2)
        return lattice.value(transformed_value(mechanism.sample(entropy), lo=lo, hi=hi))

    return answer


METHODS: dict[str, Callable[[NDArray[np.float64], Fraction, str], Prepared]] = {
    "modicum": _ours("adaptive"),
    "subset": _ours("subset"),
    "Durfee": durfee,
    "best clip": best_clip,
}
