"""Two scores on one list of linear fits, in real numbers: for comparison, not for release."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FITS, SPREAD = 4096, 0.2


def by_squares(x: Floats, y: Floats, epsilon: float, cap: float, rng: Generator) -> Floats:
    """Draw a fit with density exp(-ε sum of min(r², c²) / c²), r the residuals; add-remove."""
    fits = _fits(x, rng)
    residuals = y[:, None] - _with_ones(x) @ fits.T
    return _drawn(fits, (np.minimum(residuals**2, cap**2) / cap**2).sum(axis=0), epsilon, rng)


def by_gradients(x: Floats, y: Floats, epsilon: float, cap: float, rng: Generator) -> Floats:
    """Draw a fit with density exp(-ε |sum of gradients| / (2 L)) (Asi and Duchi 2020); add-remove.

    Residuals are clipped to ±c, and rows to the 0.75 quantile of their norms, which no user has;
    L is the largest norm of a gradient then.
    """
    fits, rows = _fits(x, rng), _with_ones(x)
    norms = np.linalg.norm(rows, axis=1)
    bound = float(np.quantile(norms, 0.75))
    rows *= np.minimum(1, bound / norms)[:, None]
    residuals = np.clip(y[:, None] - rows @ fits.T, -cap, cap)
    sizes = np.linalg.norm(residuals.T @ rows, axis=1)
    return _drawn(fits, sizes / (2 * cap * bound), epsilon, rng)


def _fits(x: Floats, rng: Generator) -> Floats:
    """Normal fits of standardised columns, as one knows their scales only in hindsight."""
    return SPREAD * rng.normal(size=(FITS, x.shape[1] + 1))


def _with_ones(x: Floats) -> Floats:
    return np.column_stack([np.ones(len(x)), x])


def _drawn(fits: Floats, scores: Floats, epsilon: float, rng: Generator) -> Floats:
    return np.asarray(fits[np.argmax(rng.gumbel(size=len(fits)) - epsilon * scores)])
