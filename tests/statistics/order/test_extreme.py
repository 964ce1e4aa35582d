"""A maximum and a minimum: few records are beyond, and the interval covers."""

import math

import numpy as np
import pytest

from modicum import query
from tests.statistics.means.test_spread import SHAPES, WITHIN
from tests.statistics.order.test_quantile import answers


@pytest.mark.slow
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.5"}], ids=str)
@pytest.mark.parametrize("shape", ["normal", "income", "uniform", "exponential", "t of 4"])
def test_few_records_exceed_a_maximum(shape, cost) -> None:
    for statistic, sign in ((query.max, 1), (query.min, -1)):
        for i in range(3):
            data = SHAPES[shape](np.random.default_rng([32, i]), 10_000)
            for answer in answers(statistic(within=WITHIN, **cost), sign * data, 8, (shape, i)):
                value, middle = sign * float(answer.value), float(np.median(data))
                beyond = int((data > value).sum())
                assert beyond <= answer.error_model.exceeded_at_most(1e-4)
                assert beyond < 60
                assert value - middle < 6 * (data.max() - middle)
                lower, upper = answer.error_model.interval(0.999, None)
                assert lower <= sign * data.max() <= upper


@pytest.mark.slow
@pytest.mark.parametrize("tail", [None, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_of_a_maximum_covers(shape, tail) -> None:
    held, question = [], query.max(within=WITHIN, epsilon=1)
    for i in range(25):
        data = SHAPES[shape](np.random.default_rng([33, i]), 10_000)
        for answer in answers(question, data, 12, (shape, i)):
            lower, upper = answer.error_model.interval(0.95, tail)
            held.append(lower <= data.max() <= upper)
    assert np.mean(held) > 0.93


def test_an_extreme_of_a_tiny_budget_is_no_answer() -> None:
    (answer,) = answers(query.max(within=WITHIN, epsilon="1e-5"), [1.0], 1)
    assert answer.status.code == "wide_noise"


def test_an_extreme_of_nothing_says_so() -> None:
    for statistic in (query.max, query.min):
        (answer,) = answers(statistic(within=(5, 1e9), epsilon=1), [], 1)
        assert "too little data" in answer.status.words
        assert 5 <= answer.value <= 1e9
        assert math.isfinite(answer.error_model.exceeded_at_most(0.05))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("n", "q"), [(1000, "0.99"), (10_000, "0.999")])
@pytest.mark.parametrize("shape", ["income", "pareto 3.5", "normal"])
def test_a_quantile_with_ten_records_beyond_stays_near_them(shape, n, q) -> None:
    """By a uniform prior it would be anywhere in the range, most often."""
    question = query.quantile(q=q, within=WITHIN, epsilon=1)
    data = SHAPES[shape](np.random.default_rng(3), n)
    ranks = [(data > float(answer.value)).sum() for answer in answers(question, data, 40)]
    assert 3 < np.median(ranks) < 22
    assert max(float(answer.value) for answer in answers(question, data, 40)) < 1e8
