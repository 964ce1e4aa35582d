"""The plan of a mean vector is what releases give, and refuses what cannot be planned."""

import json

import numpy as np
import pytest

import modicum
from modicum import plan
from modicum.errors import InvalidArgument

WIDE = {"within": (-1e9, 1e9), "rho": "0.5"}


def test_a_plan_predicts_the_error_of_releases() -> None:
    sd = np.array([1.0, 10.0, 100.0])
    found = plan.mean_vector(**WIDE, sd=sd, n=2000, mean=20)
    x = np.random.default_rng(1).normal(20, sd, size=(2000, 3))
    errors = [
        np.linalg.norm(modicum.mean_vector(x, **WIDE).values - x.mean(axis=0)) for _ in range(6)
    ]
    assert 0.4 < found.error / np.mean(errors) < 2.5
    assert "3 normal columns with sd 1 to 100" in " ".join(str(found).split())
    assert json.loads(found.to_json())["sd"] == [1.0, 10.0, 100.0]
    assert 5 < found.passes < 40


def test_a_plan_in_pure_epsilon() -> None:
    found = plan.mean_vector(within=(-1e9, 1e9), epsilon=1, sd=[1.0] * 4, n=2000, mean=20)
    x = np.random.default_rng(1).normal(20, 1, size=(2000, 4))
    errors = [
        np.linalg.norm(
            modicum.mean_vector(x, within=(-1e9, 1e9), epsilon=1).values - x.mean(axis=0)
        )
        for _ in range(6)
    ]
    assert 0.4 < found.error / np.mean(errors) < 2.5
    assert "ε = 1" in str(found)


def test_too_many_columns_are_said_to_be() -> None:
    few = {"sd": [1.0] * 200, "n": 10}
    found = plan.mean_vector(**WIDE, **few)
    assert found.status != "ok"
    assert found == plan.mean_vector(**WIDE, **few)


def test_the_cost_of_an_error_is_found() -> None:
    asked = {"within": (-1e9, 1e9), "sd": [1.0] * 4, "n": 2000}
    found = plan.mean_vector(**asked, error=0.05)
    assert found.error <= 0.05
    assert plan.mean_vector(**asked, epsilon=found.budget.amount / 3).error > 0.05


def test_a_clipped_mean_is_for_rows_about_0() -> None:
    near, far = (
        plan.clipped_mean_vector(**WIDE, sd=[1.0] * 4, n=1000, mean=mean) for mean in (0, 50)
    )
    assert 5 * near.error < far.error
    assert near.passes < plan.mean_vector(**WIDE, sd=[1.0] * 4, n=1000).passes


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 1},
        {"sd": []},
        {"sd": [0.0]},
        {"sd": "1"},
        {"sd": 1.0},
        {"sd": [float("nan")]},
        {"n": 0},
        {"n": 1 << 25},
        {"n": 2.5},
        {"mean": None},
        {"error": 1.0},
        {"correlation": 1.0},
        {"rho": None},
        {"rho": -1},
    ],
    ids=str,
)
def test_what_cannot_be_planned(wrong) -> None:
    with pytest.raises(InvalidArgument):
        plan.mean_vector(**{**WIDE, "sd": [1.0], "n": 10, **wrong})
