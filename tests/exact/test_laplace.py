"""Discrete Laplace: the law of both samplers, for scales of every size."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.laplace import as_integers, discrete_laplace, discrete_laplace_many
from tests.exact.goodness import ACCEPT, REJECT, normalised, p_value
from tests.exact.stub import Listed

DRAWS = 20_000
SCALES = [Fraction(1, 5), Fraction(1), Fraction(10, 7), Fraction(23), Fraction(2**70 + 1, 2**69)]


def mechanism(scale: float) -> dict[int, float]:
    reach = int(40 * scale) + 40
    return normalised({k: math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)})


@pytest.mark.parametrize("scale", SCALES)
def test_one_at_a_time(scale) -> None:
    entropy = SeededEntropy("laplace")
    draws = [discrete_laplace(scale, entropy) for _ in range(DRAWS)]
    assert p_value(draws, mechanism(float(scale))) > ACCEPT
    assert p_value(draws, mechanism(1.3 * float(scale))) < REJECT


@pytest.mark.parametrize("scale", SCALES)
def test_many_at_a_time(scale) -> None:
    draws = discrete_laplace_many(scale, DRAWS, SeededEntropy("laplaces"))
    assert draws.dtype == np.int64
    assert draws.shape == (DRAWS,)
    assert p_value(draws.tolist(), mechanism(float(scale))) > ACCEPT
    assert p_value(draws.tolist(), mechanism(0.7 * float(scale))) < REJECT


def quantile_cells(draws: list[int], scale: Fraction) -> tuple[list[int], dict[int, float]]:
    """Group the draws of a large scale in 20 cells of (nearly) equal probability a side."""
    edges = [-math.log1p(-i / 20) for i in range(20)]
    cells = [
        int(np.searchsorted(edges, float(abs(k) / scale), side="right")) * (1 if k >= 0 else -1)
        for k in draws
    ]
    return cells, dict.fromkeys([*range(-20, 0), *range(1, 21)], 1 / 40)


@pytest.mark.parametrize(
    "scale", [Fraction(2**32), Fraction(2**50 + 1, 3), Fraction(2**62 - 1), Fraction(7**40, 3)]
)
def test_large_scales(scale) -> None:
    one = SeededEntropy("large")
    many = discrete_laplace_many(scale, 2000, SeededEntropy("largest")).tolist()
    for draws in ([discrete_laplace(scale, one) for _ in range(2000)], many):
        assert p_value(*quantile_cells(draws, scale)) > ACCEPT
        assert p_value(*quantile_cells(draws, Fraction(2, 3) * scale)) < REJECT
        assert len(set(draws)) == 2000
        # Every low bit is in use: nothing was rounded.
        assert p_value([k & 7 for k in draws], dict.fromkeys(range(8), 1 / 8)) > ACCEPT


def test_tiny_scales_are_almost_always_zero() -> None:
    scale = Fraction(1, 1000)
    assert discrete_laplace(scale, SeededEntropy(0)) == 0
    assert not discrete_laplace_many(scale, 1000, SeededEntropy(0)).any()


def test_a_denominator_that_does_not_fit_is_no_matter() -> None:
    scale = Fraction(2**63 - 1, 2**70)
    assert set(discrete_laplace_many(scale, 500, SeededEntropy(3)).tolist()) == {0}


def test_draws_that_do_not_fit_are_python_integers() -> None:
    draws = discrete_laplace_many(Fraction(2**63), 500, SeededEntropy(3))
    assert draws.dtype == np.object_
    assert all(type(k) is int for k in draws)
    assert max(map(abs, draws)) >= 2**63
    narrow = as_integers([-(2**63), 2**63 - 1])
    assert narrow.dtype == np.int64
    assert as_integers([2**63]).tolist() == [2**63]
    assert as_integers(np.array([1, 2], np.object_)).dtype == np.int64


def test_both_samplers_take_the_same_decisions() -> None:
    # U = 5 of 8 is kept, V = 1, the sign is minus: -(5 + 8) // 3 = -4.
    u, v, minus = 5 << 61, 2**62, 2**63
    assert discrete_laplace(Fraction(8, 3), Listed(u, 2**64 - 1, v, minus)) == -4
    # ... and a minus before zero is refused, in favour of the next draw.
    assert (
        discrete_laplace(Fraction(8), Listed(0, 0, 2**63 + 2**62, minus, u, 2**64 - 1, v, 0)) == 13
    )


def test_nothing_to_draw() -> None:
    assert discrete_laplace_many(Fraction(3), 0, SeededEntropy(0)).tolist() == []


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1, 3)])
def test_refuses_scales_that_are_not_positive(scale) -> None:
    with pytest.raises(InvalidArgument, match="scale must be positive"):
        discrete_laplace(scale, SeededEntropy(0))
    with pytest.raises(InvalidArgument, match="scale must be positive"):
        discrete_laplace_many(scale, 5, SeededEntropy(0))
