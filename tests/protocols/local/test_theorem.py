"""Theorem 7 of Huang, Liang and Yi (2021): the error is that of the diameter, for any data."""

import math

import numpy as np
import pytest

from modicum import local
from modicum.exact.entropy import SeededEntropy

RHO = 2
MOST = 12.0  # what noise may hide of a tenth that is far, with a few thousand people


def shape(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Two coordinates, about a place that is far from the middle of the range."""
    if name == "normal":
        x = rng.normal(size=(n, 2))
    elif name == "skewed":
        x = rng.exponential(size=(n, 2)) ** 1.5
    else:  # a tenth of the people is somewhere else
        x = rng.normal(size=(n, 2))
        x[: n // 10] += 12
    return x + np.array([30.0, -20.0])


def in_units(name: str, n: int, seed: int) -> float:
    """The error over w(D) sqrt(d/(ρ n)), with at most the diameter for w(D)."""
    x = shape(name, n, np.random.default_rng((n, seed)))
    protocol = local.mean_vector(dimension=2, radius=100, rho=RHO, session=f"{seed:032x}")
    batch = local.Batch(protocol, n, entropy=SeededEntropy(f"{name} {n} {seed}"))
    server = local.Server(protocol)
    while server.estimate is None:
        server.aggregate([batch.respond(x, server.announcement)])
        server.close()
    error = float(np.linalg.norm(server.estimate.values - x.mean(axis=0)))
    far = x[np.linalg.norm(x - np.median(x, axis=0), axis=1).argmax()]
    width = float(np.linalg.norm(x - far, axis=1).max())
    return error / (width * math.sqrt(2 / (RHO * n)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["normal", "skewed", "elsewhere"])
def test_the_error_is_a_constant_in_the_theorems_unit(name) -> None:
    for n in (5_000, 20_000):
        assert np.median([in_units(name, n, seed) for seed in range(3)]) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", ["normal", "skewed", "elsewhere"])
def test_it_stays_one_for_many_people(name) -> None:
    """With a fixed quantile for a radius the bias would stay, and grow in this unit."""
    assert in_units(name, 640_000, 1) < 3
