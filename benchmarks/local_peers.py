"""Other mean vectors without a curator, from the facts of their papers.

Their noise is simulated in floating point and their clients send nothing: for error only.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from modicum.protocols.local.mean_vector import hadamard

Array = NDArray[np.float64]
ROUNDS = 10  # of a bisection
BETA = 0.01


def shifted_clipped_mean(x: Array, radius: float, rho: float, rng: Generator) -> Array:
    """Huang, Liang and Yi (2021) with local noise: bisections, each of whose counts is noisy.

    A bisection asks all clients at each of its steps: 10 d + 10 + 1 rounds rather than three.
    """
    n, d = x.shape
    signs = rng.choice([-1.0, 1.0], size=d)
    scale = math.sqrt(d)
    turned = _turned(x * signs) / scale
    low, high = -2 * radius / scale, 2 * radius / scale
    centre = np.array([_bisected(y, n / 2, low, high, rho / (4 * d), rng) for y in turned.T])
    moved = turned - centre
    first, second = 3 * rho / 16, 9 * rho / 16
    norms = np.sqrt((moved**2).sum(axis=1))
    rank = n - math.sqrt(n * d / (2 * second))
    rank -= math.sqrt(n * ROUNDS * math.log(ROUNDS / BETA) / (2 * first))
    clip = _bisected(norms, rank, 0.0, 2 * radius, first, rng)
    moved *= np.minimum(1.0, clip / np.maximum(norms, 1e-12))[:, None]
    noisy = moved.mean(axis=0) + rng.normal(0, 2 * clip / math.sqrt(2 * second * n), d)
    return _turned((noisy + centre)[None])[0] / scale * signs


def known_variance(x: Array, radius: float, epsilon: float, rng: Generator) -> Array:
    """Gaboardi, Rogers and Sheffet (2019), KnownVar, a coordinate at a time; sigma = 1."""
    return _each(x, epsilon, lambda y, e: _known(y, radius, 1.0, e, rng))


def unknown_variance(x: Array, radius: float, epsilon: float, rng: Generator) -> Array:
    """Gaboardi, Rogers and Sheffet (2019), UnkVar, a coordinate at a time."""
    return _each(x, epsilon, lambda y, e: _unknown(y, radius, e, rng))


def _turned(rows: Array) -> Array:
    return rows @ hadamard(np.eye(rows.shape[1], dtype=np.int64)).astype(np.float64)


def _bisected(y: Array, rank: float, low: float, high: float, rho: float, rng: Generator) -> float:
    deviation = math.sqrt(len(y) * ROUNDS / (2 * rho))
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        if (y <= middle).sum() + rng.normal(0, deviation) <= rank:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _each(x: Array, epsilon: float, one: Callable[[Array, float], float]) -> Array:
    share = epsilon / math.sqrt(x.shape[1])
    return np.array([one(y, share) for y in x.T])


def _share(bits: NDArray[np.bool_], epsilon: float, rng: Generator) -> float:
    """Mean of bits by randomised response."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    ones, n = int(bits.sum()), len(bits)
    told = rng.binomial(ones, keep) + rng.binomial(n - ones, 1 - keep)
    return (told / n - (1 - keep)) / (2 * keep - 1)


def _known(y: Array, radius: float, sigma: float, epsilon: float, rng: Generator) -> float:
    half = len(y) // 2
    bins = math.floor(2 * radius / sigma + 1)
    place = np.clip(((y[:half] + radius) / sigma).astype(int), 0, bins - 1)
    # A one-hot vector changes two bits: each has half of ε.
    shares = [_share(place == b, epsilon / 2, rng) for b in range(bins)]
    centre = -radius + (int(np.argmax(shares)) + 0.5) * sigma
    reach = 2 * sigma + sigma * math.sqrt(2 * math.log(8 * len(y) / BETA))
    return _clipped(y[half:], centre, reach, 2 * reach / epsilon, rng)


def _unknown(y: Array, radius: float, epsilon: float, rng: Generator) -> float:
    least, most = 0.1, radius
    first = math.floor(math.log(8 * radius / least))
    second = math.floor(math.log((8 * radius + 4 * most) / least))
    groups = np.array_split(rng.permutation(y), first + second)
    share = epsilon / math.sqrt(3)

    def found(parts: list[Array], target: float, slack: float) -> float:
        # Their number of rounds fits [-4 radius, 4 radius], from where far stops are likelier.
        low, high = -radius, radius
        for part in parts:
            middle = (low + high) / 2
            below = _share(part <= middle, share, rng)
            if abs(below - target) <= slack:
                return middle
            low, high = (middle, high) if below < target else (low, middle)
        return (low + high) / 2

    centre = found(groups[:first], 0.5, 0.049)
    sigma = max(found(groups[first:], 0.8413, 0.026) - centre, 0.0)
    reach = sigma * (0.5 + 2 * math.sqrt(2 * math.log(8 * len(y) / BETA)))
    return _clipped(y, centre, reach, 2 * math.sqrt(3) * reach / epsilon, rng)


def _clipped(y: Array, centre: float, reach: float, deviation: float, rng: Generator) -> float:
    kept = np.clip(y, centre - reach, centre + reach)
    return float((kept + rng.normal(0, deviation, len(y))).mean())
