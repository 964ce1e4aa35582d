"""The distance of two quantiles: near, covered, and refused where it is none."""

import numpy as np
import pytest

from modicum import query
from modicum.errors import InvalidArgument
from tests.statistics.means.test_spread import WITHIN, outcomes
from tests.statistics.order.test_quantile import answers


def middle(between):
    return lambda data: float(np.subtract(*np.quantile(data, between[::-1])))


@pytest.mark.parametrize("shape", ["normal", "income", "pareto 3.5"])
@pytest.mark.parametrize("between", [(0.25, 0.75), (0.1, 0.6)])
def test_the_distance_of_two_quantiles(shape, between) -> None:
    question = query.iqr(within=WITHIN, epsilon=1, between=between)
    errors, held = outcomes(question, middle(between), shape, 5000, sets=2, releases=10)
    assert np.median(abs(errors)) < 0.01
    assert held == 1


def test_too_few_rows_for_an_iqr_are_told() -> None:
    (answer,) = answers(query.iqr(within=WITHIN, epsilon=1), [1.0, 2.0, 3.0], 1)
    assert "too little data" in answer.status.words
    (point,) = answers(query.iqr(within=WITHIN, epsilon=1, level=None), np.arange(5000.0), 1)
    assert tuple(point.error_model.interval(0.95, 3)) == (0, 2e9)


@pytest.mark.parametrize(
    "wrong", [(0.75, 0.25), (0.5, 0.5), (0, 1), 0.5, ("a", 1), (0.1, 0.2, 0.3)]
)
def test_bad_pairs_are_refused(wrong) -> None:
    with pytest.raises(InvalidArgument):
        query.iqr(within=WITHIN, epsilon=1, between=wrong)
