"""Plans of covariances, components and regressions are what releases give."""

import json
import math

import numpy as np
import pytest

import modicum as mo
from modicum import plan
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy

WIDE = {"within": (-1e3, 1e3), "step": 2.0**-6}
PLANS = {
    "covariance": (plan.covariance, {}),
    "pca": (plan.pca, {"components": 1}),
    "linear_regression": (plan.linear_regression, {"r2": 0.5}),
}


def test_a_plan_predicts_the_error_of_a_regression() -> None:
    rng = np.random.default_rng(1)
    found = plan.linear_regression(**WIDE, sd=[3.0, 1.0], r2=0.5, n=1500, epsilon=1)
    lost = []
    for seed in range(24):
        x = rng.normal(size=(1500, 2)) * [3, 1]
        y = x @ [1 / 3, 1] / 2 + math.sqrt(0.5) * rng.normal(size=len(x))
        curator = mo.Curator(
            np.column_stack([x, y]), budget=mo.pure(1), entropy=SeededEntropy(f"{seed}")
        )
        values = curator.linear_regression(**WIDE, epsilon=1).values
        table = np.column_stack([np.ones(len(x)), x])
        best = np.linalg.lstsq(table, y, rcond=None)[0]
        lost.append((np.var(y - table @ values) - np.var(y - table @ best)) / np.var(y))
    # Means of losses with heavy tails: now and then noise hides some of a column.
    assert 0.2 < found.error / np.mean(lost) < 5


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.usefixtures("few_runs")
def test_a_plan_tells_its_kind_of_error(name) -> None:
    make, options = PLANS[name]
    asked = {**WIDE, **options, "sd": [2.0, 1.0], "rho": "0.1"}
    found = make(**asked, n=500)
    assert 0 <= found.error < 0.3
    words = " ".join(str(found).split())
    assert "2 normal columns with sd 1 to 2, correlation 0" in words
    record = json.loads(found.to_json())
    assert record["statistic"] == name
    assert record["error_is"] in words
    listed = name == "linear_regression"  # a few rows: one list of fits after another
    assert found.events[-1][0] == ("fit of list 5" if listed else "products")
    assert found.passes == (7 if listed else 4)
    assert found.method == ("listed fits" if listed else "moments")


def test_a_plan_is_the_same_for_the_same_arguments() -> None:
    asked = {**WIDE, "sd": [1.0], "n": 50, "epsilon": 1}
    assert plan.covariance(**asked) == plan.covariance(**asked)


def test_one_column_has_one_component() -> None:
    assert plan.pca(**WIDE, sd=[2.0], components=3, n=50, epsilon=1).error == pytest.approx(0)


def test_few_rows_have_intervals_without_a_bound() -> None:
    found = plan.linear_regression(**WIDE, sd=[1.0] * 3, r2=0.5, n=500, epsilon=1)
    assert found.interval_width == math.inf
    assert "without a bound" in str(found)
    assert json.loads(found.to_json())["interval_width"] is None


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANS)
def test_a_cost_and_a_size_are_found(name) -> None:
    make, options = PLANS[name]
    asked = {**WIDE, **options, "sd": [3.0, 1.0, 1.0], "correlation": 0.3, "error": 0.05}
    cost = make(**asked, n=3000)
    assert cost.error <= 0.05
    size = make(**asked, epsilon=1)
    assert size.error <= 0.05
    assert 10 < size.n < 100_000


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"sd": []},
        {"sd": "1"},
        {"sd": [0.0]},
        {"correlation": 1},
        {"correlation": None},
        {"mean": math.inf},
        {"n": 0},
        {"n": 2.5},
        {"n": 1 << 21},
        {"n": None},
        {"error": 0.1},
        {"n": None, "error": -1},
        {"epsilon": None},
    ],
    ids=str,
)
def test_what_cannot_be_planned(name, wrong) -> None:
    make, options = PLANS[name]
    with pytest.raises(InvalidArgument):
        make(**{**WIDE, **options, "sd": [1.0, 1.0], "n": 10, "epsilon": 1, **wrong})


def test_arguments_of_one_plan() -> None:
    good = {**WIDE, "sd": [1.0], "n": 10, "epsilon": 1}
    for r2 in (0, 1, None):
        with pytest.raises(InvalidArgument, match="r2"):
            plan.linear_regression(**good, r2=r2)
    with pytest.raises(InvalidArgument, match="target_sd"):
        plan.linear_regression(**good, r2=0.5, target_sd=0)
    with pytest.raises(InvalidArgument, match="components"):
        plan.pca(**good, components=0)


@pytest.mark.slow
def test_an_error_that_cannot_be_reached() -> None:
    with pytest.raises(InvalidArgument, match="cannot be reached by any n"):
        plan.covariance(**WIDE, sd=[1.0], epsilon="0.001", error=1e-9)
