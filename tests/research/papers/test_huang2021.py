"""PrivQuant and means of exchanged rows: searches, errors, and the forms that are not private."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

import modicum as mo
from modicum import audit, query
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import VectorNoise, gaussian
from modicum.privacy.event import Event
from modicum.releases.release import ScalarEstimate
from modicum.releases.status import OK
from modicum.research.papers.huang2021 import (
    exchange_mean_vector,
    private_quantile,
    shifted_mean_vector,
)
from modicum.runtime.replay import Run
from modicum.runtime.steps import draw, read
from modicum.statistics.vectors import vector_rounds
from modicum.statistics.vectors.vector_rounds import VectorErrorModel
from modicum.summaries.base import Read
from modicum.summaries.sums import ClippedSum
from tests.research.papers.weaker import weaker

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


@pytest.mark.one_in(2)
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

    cost = mo.zcdp("0.002")
    near = far(cost, cost)
    assert np.mean(np.array(near) <= 1) >= 0.9
    # The bound is for the worst of eleven questions; half of it is passed now and then.
    assert max(near) > 0.2
    assert max(far(mo.zcdp("0.00002"), cost)) > 1


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


CORNERS = [(-2.0, 2.0), (0.0, 1.0), (2.0, -2.0)]
FEW = {"within": (-2, 2), "step": 1, "rho": "0.5"}


def exchanged(points: list[tuple[float, ...]], rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All data sets of so many rows that differ in one of them."""
    return [
        (np.array([*rest, a]), np.array([*rest, b]))
        for rest in combinations_with_replacement(points, rows - 1)
        for a in points
        for b in points
        if a < b
    ]


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("rows", [2, 50])
def test_means_of_exchanged_rows_keep_their_claim_and_less_noise_is_found(rows, shifted) -> None:
    """Whatever number was given: the true one is never read."""
    asked = exchange_mean_vector(rows=rows, shifted=shifted, **FEW)
    pairs = exchanged(CORNERS, 2)
    report = audit.check(asked, pairs, widths=(2, 1))
    assert report.passed, report
    assert report.drawn == report.claimed
    assert max(step.used for step in report.steps) > 0.99
    assert not audit.check(weaker(asked), pairs, widths=(1,)).passed


def test_exchanged_rows_with_noise_for_one_norm_break_the_claim(monkeypatch) -> None:
    class OneNorm(VectorNoise):
        @classmethod
        def of(cls, values, share, *, bound):
            return VectorNoise.of(values, share, bound=bound // 2)

    asked = exchange_mean_vector(rows=2, shifted=False, **FEW)
    monkeypatch.setattr(vector_rounds, "VectorNoise", OneNorm)
    assert not audit.check(asked, exchanged(CORNERS, 2), widths=(1,)).passed


def test_dividing_by_the_true_number_of_rows_leaks(monkeypatch) -> None:
    counted: list[int] = []

    def remembered(asked):
        summary = yield from read(asked)
        counted[:] = [summary.count]
        return summary

    def true_rows(**fields):
        return VectorErrorModel(**{**fields, "rows": counted[0]})

    asked = exchange_mean_vector(rows=300, shifted=False, **NARROW, rho="0.5")
    data = [np.ones((n, 2)) for n in (300, 301)]
    found = mo.Curator(data[0], budget=mo.zcdp(1), entropy=SeededEntropy("leak")).run(asked)
    outcomes = [entry.outcome for entry in found.transcript]
    monkeypatch.setattr(vector_rounds, "read", remembered)
    assert audit.leaks(asked, data, outcomes) is None
    monkeypatch.setattr(vector_rounds, "VectorErrorModel", true_rows)
    leak = audit.leaks(asked, data, outcomes)
    assert leak is not None
    assert leak.kind == "answer"


def test_means_of_a_private_number_of_rows_cost_more_for_exchanges() -> None:
    report = audit.check(query.clipped_mean_vector(**FEW), exchanged(CORNERS, 2), widths=(1,))
    assert max(step.used for step in report.steps) == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("shifted", [True, False])
def test_means_of_exchanged_rows_are_near_and_their_intervals_hold(shifted) -> None:
    covered, errors = [], []
    for seed in range(10):
        x = np.random.default_rng(seed).normal([3, -5, 0], 1, (4000, 3))
        asked = exchange_mean_vector(
            rows=len(x), shifted=shifted, within=(-64, 64), step=2**-6, rho="0.5"
        )
        entropy = SeededEntropy(f"exchanged {seed}")
        found = mo.Curator(x, budget=mo.zcdp("0.5"), entropy=entropy).run(asked)
        assert found.error_model.rows == 4000
        assert found.error_model.to_dict()["rows_noise_sd"] == 0
        interval, mean = found.interval(), x.mean(axis=0)
        covered.append(((interval.lower <= mean) & (mean <= interval.upper)).all())
        errors.append(np.linalg.norm(found.values - mean))
    assert np.mean(covered) >= 0.9
    # Two norms over the rows, beyond which some 20 of 4,000 lie, times sqrt(d / (2 · 9/16 ρ)).
    radius = 3.5 if shifted else 9.0
    assert 0.1 < np.mean(errors) / (2 * radius * np.sqrt(3 / (9 / 16)) / 4000) < 2


@pytest.mark.parametrize("bad", [{"rows": 0}, {"rows": None}, {"rows": 5, "shifted": 1}], ids=str)
def test_arguments_of_exchanged_rows_are_checked(bad) -> None:
    with pytest.raises(InvalidArgument, match=r"rows must be|shifted must be"):
        exchange_mean_vector(**bad, **FEW)
    with pytest.raises(InvalidArgument, match="takes budgets"):
        exchange_mean_vector(rows=5, within=(-2, 2), budget=mo.pure(1))
