"""Other mechanisms for several quantiles, in floating point, written from their papers.

All take sorted data without ties, increasing q and public ends. AQ and JointExp are ε-DP, AppIndExp
is (ε, 1e-6)-DP, for add-remove neighbours. For swap neighbours AQ and AppIndExp take half of ε, and
JointExp a sensitivity of 2 (``swap=True``).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import binom

Array = NDArray[np.float64]


def _one(x: Array, q: float, low: float, high: float, epsilon: float, rng: Generator) -> float:
    """Exponential mechanism for one quantile (Smith 2011): ε |i - q n| / (2 max(q, 1 - q))."""
    edges = np.concatenate([[low], np.clip(x, low, high), [high]])
    gaps = np.diff(edges)
    scores = -epsilon / (2 * max(q, 1 - q)) * np.abs(np.arange(len(gaps)) - q * len(x))
    with np.errstate(divide="ignore"):
        keys = np.log(gaps) + scores + rng.gumbel(size=len(gaps))
    i = int(np.argmax(keys))
    return float(rng.uniform(edges[i], edges[i + 1]))


def aq(x: Array, qs: Array, low: float, high: float, epsilon: float, rng: Generator) -> Array:
    """AQ (Kaplan, Schnapp and Stemmer 2022): recursive, ε / levels for each level of the tree."""
    share = epsilon / (math.floor(math.log2(len(qs))) + 1)

    def split(x: Array, qs: Array, low: float, high: float) -> list[float]:
        if not len(qs):
            return []
        k = len(qs) // 2
        v = _one(x, float(qs[k]), low, high, share, rng)
        place = int(np.searchsorted(x, v))
        left = split(x[:place], qs[:k] / qs[k], low, v)
        right = split(x[place:], (qs[k + 1 :] - qs[k]) / (1 - qs[k]), v, high)
        return [*left, v, *right]

    return np.array(split(x, qs, low, high))


def app_ind_exp(
    x: Array, qs: Array, low: float, high: float, epsilon: float, rng: Generator
) -> Array:
    """AppIndExp: each quantile alone, at the ε_0 of optimal composition with δ = 1e-6.

    Composition of bounded ranges by Dong, Durfee and Rogers 2020, Theorem 3.
    """
    each = _composed(len(qs), epsilon, 1e-6)
    return np.sort([_one(x, float(q), low, high, each, rng) for q in qs])


@cache
def _composed(m: int, epsilon: float, delta: float) -> float:
    if m == 1:
        return epsilon
    best = epsilon / m
    for e in np.arange(best, 2 * epsilon + 0.01, 0.01):
        worst, i = 0.0, np.arange(m + 1)
        for t in np.clip((epsilon + (i + 1) * e) / (m + 1), 0, e):
            p = (math.exp(-t) - math.exp(-e)) / (1 - math.exp(-e))
            excess = np.maximum(np.exp(m * t - i * e) - math.exp(epsilon), 0)
            worst = max(worst, float((binom.pmf(i, m, 1 - p) * excess).sum()))
        if worst > delta:
            break
        best = float(e)
    return best


class joint_exp:  # noqa: N801 -- called like the other mechanisms
    """JointExp (Gillenwater, Joseph and Kulesza 2021): all gaps at once, by forward sums.

    ``joint_exp(...)`` prepares the sums for one data set; ``draw`` takes one outcome.
    """

    def __init__(
        self, x: Array, qs: Array, low: float, high: float, epsilon: float, *, swap: bool = False
    ) -> None:
        n, m = len(x), len(qs)
        shares = np.diff(np.concatenate([[0.0], qs, [1.0]]))
        sensitivity = 2.0 if swap else 2 * (1 - shares.min())
        rate = epsilon / (2 * sensitivity)
        self.edges = np.concatenate([[low], np.clip(x, low, high), [high]])
        gaps = np.diff(self.edges)
        self.phi = [np.exp(-rate * np.abs(np.arange(n + 1) - n * share)) for share in shares]
        # sums[j][i, k]: pick j is in gap i, as its (k + 1)-th; scaled by a constant for each j
        first = np.zeros((n + 1, m))
        first[:, 0] = gaps * self.phi[0]
        self.sums = [first / first.sum()]
        places = np.subtract.outer(np.arange(n + 1), np.arange(n + 1))
        for j in range(1, m):
            before = self.sums[-1]
            step = np.where(places > 0, self.phi[j][np.abs(places)], 0.0)
            here = np.zeros_like(before)
            here[:, 0] = gaps * (step @ before.sum(axis=1))
            here[:, 1:] = before[:, :-1] * (gaps * self.phi[j][0])[:, None] / np.arange(2, m + 1)
            self.sums.append(here / here.sum())

    def draw(self, rng: Generator) -> Array:
        """Sample backwards."""
        n, m = len(self.edges) - 2, len(self.sums)
        weights = self.sums[-1] * self.phi[m][n - np.arange(n + 1)][:, None]
        found: list[float] = []
        j = m - 1
        while True:
            flat = np.cumsum(weights.ravel())
            place = int(np.searchsorted(flat, rng.random() * flat[-1], side="right"))
            i, k = divmod(place, m)
            found += rng.uniform(self.edges[i], self.edges[i + 1], size=k + 1).tolist()
            j -= k + 1
            if j < 0:
                return np.sort(found)
            weights = np.zeros_like(self.sums[j])
            weights[:i] = self.sums[j][:i] * self.phi[j + 1][i - np.arange(i)][:, None]
