"""Published mean vectors under ρ-zCDP, in floats, with the constants of their released programs.

All of them know the number of rows n and count a changed row as the neighbour: noise for 2 C. They
are not safe in floating point, and they are given what they assume: COINPRESS the largest variance
of a component, all of them the radius of a ball that holds the mean.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS = 10  # of a noisy binary search


def _clipped(x: Floats, radius: float) -> Floats:
    norms = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    return x * np.minimum(1, radius / np.maximum(norms, 1e-300))


def coinpress(
    x: Floats, rho: float, radius: float, sd: float, steps: int, rng: Generator
) -> Floats:
    """COINPRESS (Biswas, Dong, Kamath and Ullman 2020) for covariances up to sd² I."""
    n, d = x.shape
    x, r = x / sd, radius / sd
    centre = np.zeros(d)
    log = math.log(100)
    g = math.sqrt(d + 2 * math.sqrt(d * log) + 2 * log)
    parts = [rho] if steps == 1 else [rho / 4 / (steps - 1)] * (steps - 1) + [3 * rho / 4]
    for part in parts:
        t = min(math.sqrt(r * r + 6 * r + g * g), r + g)
        noise = 2 * t / n / math.sqrt(2 * part)
        x = centre + _clipped(x - centre, t)
        centre = x.mean(axis=0) + rng.normal(0, noise, d)
        r = math.sqrt(1 / n + noise * noise) * g
    return centre * sd


def _search(
    x: Floats, rank: float, ends: tuple[float, float], rho: float, rng: Generator
) -> Floats:
    """Noisy binary search for a rank in each column."""
    lo, hi = (np.full(x.shape[1], end) for end in ends)
    for _ in range(STEPS):
        middle = (lo + hi) / 2
        noise = rng.normal(0, math.sqrt(STEPS / (2 * rho)), len(lo))
        up = (x <= middle).sum(axis=0) + noise <= rank
        lo, hi = np.where(up, middle, lo), np.where(up, hi, middle)
    return (lo + hi) / 2


def clipped_mean(x: Floats, rho: float, most: float, rng: Generator) -> Floats:
    """The clipped mean (Huang, Liang and Yi 2021); norms are at most ``most``."""
    n, d = x.shape
    one, two = rho / 4, 3 * rho / 4
    rank = n - 2 * math.sqrt(d / (2 * two)) - math.sqrt(STEPS / (2 * one))
    (radius,) = _search(np.linalg.norm(x, axis=1)[:, None], rank, (0.0, most), one, rng)
    noise = 2 * radius / n / math.sqrt(2 * two)
    return _clipped(x, radius).mean(axis=0) + rng.normal(0, noise, d)


def _hadamard(x: Floats) -> Floats:
    """Multiply rows by the Hadamard matrix, the Kronecker product of two smaller ones."""
    n, d = x.shape
    bits = d.bit_length() - 1
    first, second = (_matrix(k) for k in (bits // 2, bits - bits // 2))
    half = (x.reshape(-1, len(second)) @ second).reshape(n, len(first), len(second))
    found: Floats = (first @ half).reshape(n, d) / math.sqrt(d)
    return found


def _matrix(bits: int) -> Floats:
    matrix = np.ones((1, 1))
    for _ in range(bits):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def shifted(x: Floats, rho: float, most: float, rng: Generator) -> Floats:
    """The shifted clipped mean (Huang, Liang and Yi 2021)."""
    width = x.shape[1]
    d = 1 << (width - 1).bit_length()
    x = np.pad(x, ((0, 0), (0, d - width)))
    signs = [rng.choice([-1.0, 1.0], d) for _ in range(3)]
    for each in signs:
        x = _hadamard(x * each)
    end = most / math.sqrt(d)
    centre = _search(x, len(x) / 2, (-end, end), rho / 4 / d, rng)
    found = clipped_mean(x - centre, 3 * rho / 4, most, rng) + centre
    for each in reversed(signs):
        found = _hadamard(found[None])[0] * each
    return found[:width]


def _quantile(x: Floats, q: float, ends: tuple[float, float], rho: float, rng: Generator) -> Floats:
    """A quantile of each column by the exponential mechanism."""
    n, d = x.shape
    ordered = np.sort(np.clip(x, *ends), axis=0)
    points = np.concatenate([np.full((1, d), ends[0]), ordered, np.full((1, d), ends[1])])
    loss = np.abs(np.arange(n + 1) - q * n)[:, None]
    weights = np.log(np.maximum(np.diff(points, axis=0), 1e-300)) - math.sqrt(8 * rho) / 2 * loss
    gap = (weights + rng.gumbel(size=weights.shape)).argmax(axis=0)
    columns = np.arange(d)
    return rng.uniform(points[gap, columns], points[gap + 1, columns])


def plan(x: Floats, rho: float, most: float, rng: Generator) -> Floats:
    """PLAN (Aumüller, Lebeda, Nelson and Pagh 2024), with its own split of the budget.

    Every component lies within ``most``.
    """
    n, d = x.shape
    centre = _quantile(x, 0.5, (-most, most), rho / 16 / d, rng)
    pairs = rng.permutation(n)[: n // 2 * 2].reshape(2, -1)
    squares = (x[pairs[0]] - x[pairs[1]]) ** 2 / 2
    variance = _quantile(squares, 0.5, (0.0, 2 * most * most), 3 * rho / 16 / d, rng)
    sd = np.sqrt(variance / (1 - 2 / 9) ** 3)  # the median of a squared normal number
    scale = 1 / np.sqrt(2 * sd + (2 * sd).mean())
    z = (x - centre) * scale
    norms = np.linalg.norm(z, axis=1)[:, None]
    bound = 2 * most * math.sqrt(d) * float(scale.max())
    third = 3 * rho / 16
    steps = math.log(bound)
    off = (math.sqrt(n) + math.sqrt(steps / (2 * third) * math.log(steps / 0.1))) / n
    (radius,) = _quantile(norms, max(1 - off, 0.5), (0.0, bound), third, rng)
    noise = 2 * radius / n / math.sqrt(2 * 9 * rho / 16)
    return centre + (_clipped(z, radius).mean(axis=0) + rng.normal(0, noise, d)) / scale


Baseline = Callable[[Floats, float, float, float, Generator], Floats]
BASELINES: dict[str, Baseline] = {
    **{
        f"COINPRESS {t}": lambda x, rho, radius, sd, rng, t=t: coinpress(x, rho, radius, sd, t, rng)
        for t in (1, 2, 3, 4, 10)
    },
    "PLAN": lambda x, rho, radius, _sd, rng: plan(x, rho, radius / math.sqrt(x.shape[1]), rng),
    "Shifted-CM": lambda x, rho, radius, _sd, rng: shifted(x, rho, 2 * radius, rng),
}
"""Called with rows, ρ, the radius R of a ball for the mean, the largest sd, and randomness."""
