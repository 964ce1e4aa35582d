"""Algorithm 2, and that Algorithms 3 and 4 are those of the statistics."""

import math
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum import query
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers import dick2023, kulesza2023
from modicum.research.papers.dick2023 import subset_mean, subset_monotone, threshold
from modicum.runtime.replay import Run

NARROW = {"within": (-8, 8), "step": 1}


def law_of(asked, data):
    return Run(asked, asked.event, Remembered(tuple(map(float, data)))).waiting


@pytest.mark.parametrize("data", [(), (3,), (-8, 0, 0, 5), (1, 1, 1, 1, 8)])
@pytest.mark.parametrize("rank", [0, 1, 3, 9])
def test_the_law_of_a_threshold(data, rank) -> None:
    """P(z) ∝ exp(-ε max(0, #{x < z} - t, t - #{x <= z}) / 2)."""
    mechanism = law_of(threshold(rank=rank, **NARROW, epsilon=2), data)
    loss = [
        max(0, sum(x < z for x in data) - rank, rank - sum(x <= z for x in data))
        for z in range(-8, 9)
    ]
    weights = [math.exp(-each) for each in loss]
    for z, weight in zip(range(-8, 9), weights, strict=True):
        assert mechanism.log_density(z) == pytest.approx(math.log(weight / sum(weights)), abs=1e-9)


@pytest.mark.parametrize("data", [(), (3,), (-8, 0, 0, 5), (1, 1, 1, 1, 8)])
def test_a_threshold_from_above_is_one_of_the_negated_data(data) -> None:
    asked = {"rank": 2, "within": (-7, 8), "step": 1, "epsilon": 1}
    high = law_of(threshold(side="high", **asked), data)
    low = law_of(threshold(**asked | {"within": (-8, 7)}), [-x for x in data])
    for z in range(-8, 8):
        assert high.log_density(z) == low.log_density(z)
    run = Run(threshold(side="high", **asked), threshold(**asked).event, Remembered((1.0,)))
    run.give(-5)
    assert run.answer.value == 5


@pytest.mark.parametrize("side", ["low", "high"])
def test_the_rank_of_a_threshold(side) -> None:
    """Corollary 3.8: within (2/ε) ln(points / 0.05) of t; with a third of ε it is not."""
    data, t = np.arange(10_000.0), 2000

    def far(epsilon: float) -> list[float]:
        asked = threshold(rank=t, side=side, within=(-1e9, 1e9), epsilon=epsilon)
        found = []
        for seed in range(30):
            entropy = SeededEntropy(f"{side} {seed}")
            release = mo.Curator(data, budget=asked.budget, entropy=entropy).run(asked)
            place = release.value if side == "low" else 9999 - release.value
            found.append(abs(place - t))
        return found

    points = math.log(2e9 * 2**21)
    bound = 2 / 0.1 * (points + math.log(20))
    assert max(far(0.1)) <= bound
    assert max(far(0.001)) > bound


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"rank": -1}, "rank"),
        ({"rank": 1.0}, "rank"),
        ({"rank": True}, "rank"),
        ({"rank": 1, "side": "left"}, "side"),
    ],
)
def test_wrong_arguments(options, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        threshold(**options, **NARROW, epsilon=1)


def test_a_threshold_that_would_keep_too_much() -> None:
    asked = threshold(rank=1, within=(-1e9, 1e9), epsilon="0.00001")
    with pytest.raises(InvalidArgument, match="larger epsilon"):
        mo.Curator([1.0], budget=mo.pure(1)).run(asked)


def test_algorithms_3_and_4_are_those_of_the_statistics() -> None:
    mean = mo.Score("mean", lambda v: v, growth=1, homogeneous=True)
    asked = {"within": (-100, 100), "epsilon": 50}
    data = np.random.default_rng(2).normal(3, 1, 2000)
    for ours, theirs in (
        (subset_mean(**asked), query.mean(method="subset", **asked)),
        (
            subset_monotone(statistic=mean, **asked),
            query.monotone_statistic(statistic=mean, method="subset", level=None, **asked),
        ),
    ):
        one, other = (
            mo.Curator(data, budget=mo.pure(50), entropy=SeededEntropy("same")).run(question)
            for question in (ours, theirs)
        )
        assert one == other
        assert abs(one.value - data.mean()) < 0.2


def test_algorithm_1_is_a_mean_with_shifted_noise() -> None:
    """Its text does not clip: records do not lie beyond the range here."""
    assert dick2023.shifted_mean is kulesza2023.shifted_mean
    mechanism = law_of(kulesza2023.shifted_mean(**NARROW, epsilon=1), (100, 3))
    assert mechanism.values == (2 * (8 + 3), 2)
    assert [noise.scale for noise in mechanism.noise] == [Fraction(32), Fraction(2)]
