"""Does a sampler follow its density? A test with a level that holds at any sample size.

The events tried are chosen before anything is drawn, from the mechanism's probabilities: "the
outcome is at most t", in the order of the outcomes (coordinate by coordinate) and in the order
of their probabilities, at up to 32 thresholds each; and, for independent factors, which quarter
each of two factors falls into. If A has probability p and is seen in a share f of n draws, then
P(share >= f) <= exp(-n KL(f || p)) for f >= p, and likewise below (Chernoff 1952); the union
bound over both sides of all events gives the p-value. See [audit.8].
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modicum.errors import InvalidArgument
from modicum.exact.entropy import Entropy
from modicum.mechanisms.base import Floats, Mechanism

_THRESHOLDS = 32
_GROUPS = 4


def fit(mechanism: Mechanism[Any], draws: int, entropy: Entropy) -> float:
    """Test a mechanism's sampler against its own ``log_density``.

    Parameters
    ----------
    mechanism : Mechanism
        Its outcomes must be few enough to list, or be the integers of a piecewise density, or a
        vector's with wide noise.
    draws : int
        Draws to make, positive.
    entropy : Entropy
        A :class:`~modicum.exact.entropy.SeededEntropy` makes the result reproducible.

    Returns
    -------
    float
        A p-value: if the sampler is right it is below any a with probability at most a.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.exact.entropy import SeededEntropy
    >>> from modicum.mechanisms.additive import laplace
    >>> fit(laplace([3], l1=2, epsilon=Fraction(1)), 1000, SeededEntropy(1)) > 0.01
    True
    """
    return _p_value(mechanism, _sampled(mechanism, draws, entropy))


def power(
    mechanism: Mechanism[Any],
    wrong: Mechanism[Any],
    *,
    draws: int,
    entropy: Entropy,
    level: float = 1e-6,
    trials: int = 10,
) -> float:
    """Share of samples of ``wrong`` that the test of ``mechanism`` rejects.

    A test that passes says something only if it would have noticed an error of interest, for
    example noise that is 30 % too small.

    Parameters
    ----------
    mechanism, wrong : Mechanism
        They have the same outcomes.
    draws : int
        Size of each sample.
    entropy : Entropy
        A :class:`~modicum.exact.entropy.SeededEntropy` makes the result reproducible.
    level : float
        A p-value below it rejects.
    trials : int
        Number of samples.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from modicum.exact.entropy import SeededEntropy
    >>> from modicum.mechanisms.additive import laplace
    >>> right, wrong = (laplace([3], l1=l1, epsilon=Fraction(1)) for l1 in (10, 7))
    >>> power(right, wrong, draws=2000, entropy=SeededEntropy(1), trials=3)
    1.0
    """
    rejected = sum(
        _p_value(mechanism, _sampled(wrong, draws, entropy)) < level for _ in range(trials)
    )
    return rejected / trials


def _sampled(mechanism: Mechanism[Any], draws: int, entropy: Entropy) -> list[Any]:
    if draws < 1:
        raise InvalidArgument(f"draws must be positive, got {draws}")
    return [mechanism.sample(entropy) for _ in range(draws)]


def _p_value(mechanism: Mechanism[Any], sample: Sequence[Any]) -> float:
    parts = mechanism.factors()
    tables = [_Table.of(part) for part in parts] if parts else [_Table.of(mechanism)]
    cells = [
        table.cells([(outcome[k],) if parts else outcome for outcome in sample])
        for k, table in enumerate(tables)
    ]
    tried: list[tuple[Floats, Floats]] = []
    for table, seen in zip(tables, cells, strict=True):
        counts = np.bincount(seen, minlength=len(table.masses)).astype(np.float64)
        tried += [table.cumulated(counts, order) for order in table.orders()]
    for (one, a), (two, b) in combinations(zip(tables, cells, strict=True), 2):
        tried.append(_crossed(one, a, two, b))
    expected = np.concatenate([probabilities for probabilities, _ in tried])
    shares = np.concatenate([counts for _, counts in tried]) / len(sample)
    surprise = len(sample) * float(_divergence(shares, expected).max())
    return min(1.0, 2 * len(expected) * math.exp(-surprise))


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Cells of outcomes and their masses; the last cell holds all that is not listed."""

    starts: tuple[Any, ...]
    ends: tuple[Any, ...]  # last outcome of each cell
    masses: Floats
    densities: Floats

    @classmethod
    def of(cls, mechanism: Mechanism[Any]) -> _Table:
        listed, masses = mechanism.cells()
        ends = tuple(
            start if size == 1 else _after(start, int(size) - 1)
            for start, size in zip(listed.outcomes, listed.sizes, strict=True)
        )
        beyond = 1 - float(masses.sum())
        if abs(beyond) > 1e-9:
            raise InvalidArgument(
                f"the log_density of a {type(mechanism).__name__} sums to {1 - beyond:.12g}, not 1"
            )
        densities = mechanism.log_densities(listed.outcomes)
        return cls(listed.outcomes, ends, np.append(masses, max(beyond, 0.0)), densities)

    def cells(self, outcomes: Sequence[Any]) -> NDArray[np.int64]:
        """Return the cell of every outcome."""
        found = [bisect_right(self.starts, outcome) - 1 for outcome in outcomes]
        return np.array(
            [
                i if i >= 0 and self.starts[i] <= outcome <= self.ends[i] else len(self.starts)
                for i, outcome in zip(found, outcomes, strict=True)
            ],
            dtype=np.int64,
        )

    def orders(self) -> list[NDArray[np.int64]]:
        """Orders of the cells: by each coordinate of the outcomes, and by likelihood."""
        first, count = self.starts[0], len(self.starts)
        keys: list[Sequence[Any]] = [(-self.densities).tolist()]
        if isinstance(first, tuple) and len(first) > 1:
            keys += [[start[axis] for start in self.starts] for axis in range(len(first))]
        else:
            keys.append(range(count))
        return [np.array(sorted(range(count), key=key.__getitem__), dtype=np.int64) for key in keys]

    def cumulated(self, counts: Floats, order: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Probabilities and counts of "up to t" at well spread t, the last one being "listed"."""
        masses = np.cumsum(self.masses[order])
        at = np.unique(np.searchsorted(masses, np.linspace(0, 1, _THRESHOLDS + 1)[1:-1]))
        at = np.append(at[at < len(order) - 1], len(order) - 1)
        # All that is listed has a probability of 1 up to what was left out.
        probabilities = np.where(at == len(order) - 1, 1 - self.masses[-1], masses[at])
        return np.minimum(probabilities, 1.0), np.cumsum(counts[order])[at]

    def groups(self) -> NDArray[np.int64]:
        """Cut the cells, in order, into four groups of about equal probability."""
        before = np.cumsum(self.masses) - self.masses / 2
        return np.minimum((before * _GROUPS).astype(np.int64), _GROUPS - 1)


def _after(start: Any, steps: int) -> Any:
    """Return the outcome so many steps further on."""
    return (start[0] + steps,) if isinstance(start, tuple) else start + steps


def _crossed(
    one: _Table, a: NDArray[np.int64], two: _Table, b: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Probabilities and counts of the pairs of groups of two independent factors."""
    shares = [
        np.bincount(table.groups(), weights=table.masses, minlength=_GROUPS) for table in (one, two)
    ]
    pairs = one.groups()[a] * _GROUPS + two.groups()[b]
    counts = np.bincount(pairs, minlength=_GROUPS**2).astype(np.float64)
    return np.minimum(np.outer(*shares).ravel(), 1.0), counts


def _divergence(shares: Floats, expected: Floats) -> Floats:
    """KL(f || p) of two coins; infinite where an impossible event was seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = np.where(shares > 0, shares * np.log(shares / expected), 0.0)
        unseen = np.where(shares < 1, (1 - shares) * np.log((1 - shares) / (1 - expected)), 0.0)
    divergence: Floats = np.maximum(seen + unseen, 0.0)
    return divergence
