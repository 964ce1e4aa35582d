"""Arguments of protocols and plans: what cannot be used is refused, and errors say the range."""

import math

import numpy as np
import pytest

from modicum import local, shuffle
from modicum.errors import InvalidArgument

SUM = {"within": (0, 1), "epsilon": 1, "clients": 400}
VECTOR = {"dimension": 3, "radius": 9, "epsilon": 4, "delta": "1e-6", "clients": 3000}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"clients": 99}, "clients must be an integer from 100 to 16777216, got 99"),
        ({"clients": 2.5}, "clients must be an integer from 100 to 16777216, got 2.5"),
        ({"honest": True}, "honest must be an integer from 50 to 400, got True"),
        ({"honest": 401}, "honest must be an integer from 50 to 400, got 401"),
        ({"epsilon": 11}, "epsilon must lie between 0.001 and 10, got 11"),
        ({"security": 81}, "security must be an integer from 20 to 80, got 81"),
        ({"session": ""}, "session must be 32 hexadecimal digits, .* got ''"),
    ],
)
def test_sums(changes, said) -> None:
    with pytest.raises(InvalidArgument, match=said):
        shuffle.split_sum(**(SUM | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"clients": 1 << 25}, "clients must be an integer from 100 to 16777216, got 33554432"),
        ({"honest": 49}, "honest must be an integer from 50 to 3000, got 49"),
        ({"epsilon": "0.009"}, "epsilon must lie between 0.01 and 10, got '0.009'"),
        ({"delta": "1e-13"}, "delta must lie between 1e-12 and 1e-3, got '1e-13'"),
        ({"delta": 0.1}, "delta must lie between 1e-12 and 1e-3, got 0.1"),
        ({"session": 0}, "session must be 32 hexadecimal digits, .* got 0"),
    ],
)
def test_shuffled_vectors(changes, said) -> None:
    with pytest.raises(InvalidArgument, match=said):
        shuffle.mean_vector(**(VECTOR | changes))


def test_numpy_integers_are_integers() -> None:
    numbers = {"clients": np.int64(3000), "honest": np.uint16(2000)}
    made = shuffle.mean_vector(**(VECTOR | numbers), session="0" * 32)
    same = shuffle.mean_vector(**(VECTOR | {"clients": 3000, "honest": 2000}), session="0" * 32)
    assert made == same
    assert made.tag == same.tag


@pytest.mark.parametrize("clients", [0, -1, 2.5, True, None, "9", math.nan, math.inf])
def test_plans_need_people(clients) -> None:
    scalar, vector = local.mean(within=(0, 1), epsilon=1), local.mean_vector
    for plan in (
        lambda: local.histogram(within=(0, 1), epsilon=1).error(clients),
        lambda: scalar.error(clients, width=1),
        lambda: vector(dimension=2, radius=1, rho=1).error(clients, distance=1),
        lambda: local.Batch(scalar, clients),
        lambda: shuffle.SumBatch(shuffle.split_sum(**SUM), clients),
        lambda: shuffle.VectorBatch(shuffle.mean_vector(**VECTOR), clients),
    ):
        with pytest.raises(InvalidArgument, match="clients must be an integer of at least 1"):
            plan()


@pytest.mark.parametrize("size", [0, -1.0, math.nan, math.inf, True, "1", None])
def test_plans_need_a_width(size) -> None:
    for plan in (
        lambda: local.mean(within=(0, 1), epsilon=1).error(10, width=size),
        lambda: local.mean_vector(dimension=2, radius=1, rho=1).error(10, distance=size),
        lambda: shuffle.mean_vector(**VECTOR).error(distance=size),
    ):
        with pytest.raises(InvalidArgument, match="must be a positive finite number"):
            plan()
