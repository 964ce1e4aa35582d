"""AdaSSP (Wang 2018, Algorithm 2), with bounds of the data or on columns scaled in hindsight."""

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DELTA = 1e-6
QUANTILES = (0.3, 0.5, 0.7, 0.9, 1.0)


def adassp(x: Floats, y: Floats, factor: float, rng: Generator) -> Floats:
    """Fit with the largest norm and value, times a factor; the intercept first.

    The constant joins the columns, scaled to the size of the rest, so that there is an intercept.
    """
    rows = np.column_stack([np.full(len(y), np.linalg.norm(x, axis=1).mean()), x])
    far_x, far_y = factor * np.linalg.norm(rows, axis=1).max(), factor * np.abs(y).max()
    slopes = _fit(rows, y, far_x, far_y, rng)
    return np.concatenate([[slopes[0] * rows[0, 0]], slopes[1:]])


def scaled(x: Floats, y: Floats, quantile: float, rng: Generator) -> Floats:
    """Fit after centring and scaling every column by its own mean and deviation.

    Norms of rows, and sizes of y, are clipped at a quantile of theirs. No user knows any of it.
    """
    means, scales = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-12)
    z, goal = (x - means) / scales, (y - y.mean()) / y.std()
    norms = np.linalg.norm(z, axis=1)
    far_x, far_y = np.quantile(norms, quantile), np.quantile(np.abs(goal), quantile)
    z *= np.minimum(far_x / np.maximum(norms, 1e-12), 1)[:, None]
    slopes = _fit(z, np.clip(goal, -far_y, far_y), far_x, far_y, rng) * y.std() / scales
    return np.concatenate([[y.mean() - slopes @ means], slopes])


def _fit(rows: Floats, y: Floats, far_x: float, far_y: float, rng: Generator) -> Floats:
    """Noisy smallest eigenvalue, moments, and a penalty."""
    d, log, epsilon, chance = rows.shape[1], math.log(6 / DELTA), 1.0, 0.05
    sd = math.sqrt(log) / (epsilon / 3)
    gram = rows.T @ rows
    least = np.linalg.eigvalsh(gram)[0] + sd * far_x**2 * (rng.normal() - math.sqrt(log))
    penalty = math.sqrt(d * log * math.log(2 * d**2 / chance)) * far_x**2 / (epsilon / 3)
    penalty = max(0.0, penalty - max(least, 0.0))
    noise = np.triu(rng.normal(size=(d, d)))
    gram = gram + sd * far_x**2 * (noise + np.triu(noise, 1).T)
    products = rows.T @ y + sd * far_x * far_y * rng.normal(size=d)
    found: Floats = np.linalg.solve(gram + penalty * np.eye(d), products)
    return found
