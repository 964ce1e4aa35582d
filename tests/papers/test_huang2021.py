"""PrivQuant: its search, its error, and the forms that are not private."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import modicum as mo
from modicum import audit, query
from modicum.audit.pairs import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import gaussian
from modicum.papers.huang2021 import private_quantile, shifted_mean_vector
from modicum.privacy.event import Event
from modicum.release import ScalarEstimate
from modicum.runtime.replay import Run
from modicum.runtime.steps import draw, read
from modicum.status import OK
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum
from tests.papers.weaker import weaker

NARROW = {"within": (-8, 8), "step": 1}
WIDE = {"within": (-1000, 1000), "step": 1}


@pytest.mark.parametrize("q", ["0.5", "1/3", "0.99", "0.01"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("data", [(3,), (-8, -8, 8), (-3, 0, 0, 1, 7, 8), (1, 2, 3, 4, 5)])
def test_without_noise_the_answer_is_the_quantile(data, known, q) -> None:
    rows = len(data) if known else None
    asked = private_quantile(q=Fraction(q), rows=rows, **NARROW, rho=1)
    run = Run(asked, asked.event, Remembered(tuple(map(float, data))))
    questions = 0
    while run.waiting is not None:
        questions += 1
        run.give(run.waiting.values)
    assert questions == 5  # of 17 values
    wanted = next(x for x in sorted(data) if sum(y <= x for y in data) >= Fraction(q) * len(data))
    assert run.answer.value == wanted


@pytest.mark.parametrize("known", [False, True])
def test_the_rank_is_off_by_no_more_than_the_card_says(known) -> None:
    """Of noise whose scale is 1.4 times as large, the same bound is passed."""
    data, q = np.arange(-500.0, 500.0), Fraction(1, 4)

    def far(budget: Any, claimed: Any) -> list[float]:
        asked = private_quantile(q=q, rows=1000 if known else None, **WIDE, budget=budget)
        words = private_quantile(q=q, rows=1000 if known else None, **WIDE, budget=claimed)
        bound = float(_released(words, data, 0).error_model.known.split("n - ")[1].split(" ")[0])
        ranks = [_released(asked, data, seed).value + 500 for seed in range(60)]
        return [abs(rank - 250) / bound for rank in ranks]

    price = mo.zcdp("0.002")
    near = far(price, price)
    assert np.mean(np.array(near) <= 1) >= 0.9
    # The bound is for the worst of eleven questions; half of it is passed now and then.
    assert max(near) > 0.2
    assert max(far(mo.zcdp("0.00002"), price)) > 1


def _released(asked: Any, data: np.ndarray, seed: int) -> mo.Release:
    return mo.Curator(data, budget=asked.budget, entropy=SeededEntropy(f"rank {seed}")).run(asked)


def test_natural_logarithms_break_the_claim() -> None:
    """Noise ln(17) / (2 ρ), as printed, where five questions are asked."""
    asked = private_quantile(q="0.5", **NARROW, rho="0.5")
    few = Fraction(np.sqrt(5 / np.log(17)))
    report = audit.check(weaker(asked, few), audit.neighbours((-8, 1, 8), 2), widths=(1,))
    assert not report.passed
    assert report.used == pytest.approx(5 / np.log(17), rel=1e-6)


def test_a_number_of_rows_that_is_read_off_the_data_leaks() -> None:
    """The next question depends on it."""

    def literal(event: Event) -> Iterator[Any]:
        lattice, low, high = asked.lattice, -8, 8
        for level in range(5):
            middle = (low + high) // 2
            found = yield from read(Read(None, lattice, ClippedSum(middle, middle + 1)))
            upto = found.count - (found.total - middle * found.count)
            mechanism = gaussian((upto,), l2=1, rho=event.rho / 5)
            (noisy,) = yield from draw(f"records up to {level}", mechanism)
            if low < high:
                low, high = (low, middle) if 2 * noisy >= found.count else (middle + 1, high)
        return ScalarEstimate(Fraction(high), None, OK)

    asked = private_quantile(q="0.5", **NARROW, rho="0.5")
    pairs = audit.neighbours((-8, 1, 8), 3)
    assert audit.check(asked, pairs, widths=(3, 2, 1)).leak is None
    report = audit.check(replace(asked, begin=literal), pairs, widths=(3, 2, 1))
    assert report.leak is not None


def test_a_finished_search_asks_on() -> None:
    """Two values and one question; three values and two, whatever the first answer was."""
    for width, questions in ((1, 1), (2, 2), (3, 2), (4, 3)):
        asked = private_quantile(q="0.5", within=(0, width), step=1, epsilon=1)
        for answer in (-5, 5):
            run = Run(asked, asked.event, Remembered((0.0, 1.0)))
            given = 0
            while run.waiting is not None:
                run.give((answer,))
                given += 1
            assert given == questions
            assert run.answer.value in (0, width)


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "10"])
def test_rows_are_a_number_of_rows(rows) -> None:
    with pytest.raises(InvalidArgument, match="rows must be"):
        private_quantile(q="0.5", rows=rows, **NARROW, rho=1)


def test_the_shifted_mean_is_that_of_the_statistic() -> None:
    asked = {"within": (-10, 10), "rho": "0.5"}
    x = np.random.default_rng(1).normal(2, 1, (3000, 3))
    found = [
        mo.Curator(x, budget=mo.zcdp("0.5"), entropy=SeededEntropy("same")).run(question).values
        for question in (
            shifted_mean_vector(**asked),
            query.mean_vector(method="shifted", **asked),
        )
    ]
    assert (found[0] == found[1]).all()
