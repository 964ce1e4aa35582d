"""Exponential mechanisms on directions, in real numbers: for comparison, not for release."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bingham(x: Floats, epsilon: float, components: int, rng: Generator) -> Floats:
    """Draw directions with density exp(ε v'X'Xv), one after another, each from what is left.

    For add-remove v'X'Xv rises by at most 1 with a row of norm 1: a bounded range of ε.
    """
    return _deflated(x, components, lambda gram: _bingham(gram * epsilon / components, rng))


def angular(x: Floats, epsilon: float, components: int, rng: Generator) -> Floats:
    """Draw directions with density exp(-(ε/2) len), len by the sharp angle radii, add-remove."""
    return _deflated(x, components, lambda gram: _angular(gram, epsilon / components, rng))


def _deflated(x: Floats, components: int, draw: Callable[[Floats], Floats]) -> Floats:
    basis, found = np.eye(x.shape[1]), []
    for _ in range(components):
        inner = x @ basis.T
        direction = draw(inner.T @ inner)
        found.append(direction @ basis)
        # An orthonormal basis of what is left.
        basis = np.linalg.qr(np.column_stack([direction, np.eye(len(direction))]))[0].T[1:] @ basis
    return np.array(found)


def _bingham(matrix: Floats, rng: Generator) -> Floats:
    """Kent, Ganeiber and Mardia (2013): reject from the angular central Gaussian law."""
    values, vectors = np.linalg.eigh(matrix)
    losses, d = values[-1] - values, len(values)
    low, high = 1e-9, float(d)
    for _ in range(200):  # b solves sum 1/(b + 2 loss) = 1
        b = (low + high) / 2
        low, high = (b, high) if (1 / (b + 2 * losses)).sum() > 1 else (low, b)
    shape = 1 + 2 * losses / b
    most = math.exp(-(d - b) / 2) * (d / b) ** (d / 2)
    while True:
        point = rng.normal(size=d) / np.sqrt(shape)
        point /= np.linalg.norm(point)
        chance = math.exp(-float(losses @ point**2)) * float(shape @ point**2) ** (d / 2)
        if rng.random() * most < chance:
            return vectors @ point


def _angular(gram: Floats, epsilon: float, rng: Generator) -> Floats:
    values, vectors = np.linalg.eigh(gram)
    d = len(values)
    if d == 1:
        return np.ones(1)
    gap, ends = values[-1] - values[-2], [0.0]
    while ends[-1] < math.pi / 2:
        left = gap - (len(ends) - 1)
        ends.append(ends[-1] + (math.asin(1 / left) / 2 if left >= 1 else math.pi / 2))
    ends[-1] = math.pi / 2
    # The angle has density sin^(d-2); a fine grid will do.
    grid = np.concatenate([np.linspace(a, b, 20, endpoint=False) for a, b in pairwise(ends)])
    shell, widths = np.arange(len(grid)) // 20, np.diff(grid, append=math.pi / 2)
    logs = (d - 2) * np.log(np.sin(grid + widths / 2)) + np.log(widths) - epsilon / 2 * (shell + 1)
    weights = np.exp(logs - logs.max())
    place = rng.choice(len(grid), p=weights / weights.sum())
    angle = grid[place] + widths[place] * rng.random()
    other = rng.normal(size=d - 1)
    other /= np.linalg.norm(other)
    return vectors[:, -1] * math.cos(angle) + vectors[:, :-1] @ other * math.sin(angle)
