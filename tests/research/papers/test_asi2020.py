"""(M.1) on the range and the gradient mechanism: their laws by brute force."""

import math
from fractions import Fraction

import numpy as np
import pytest

import modicum as mo
from modicum import query, theory
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers import asi2020
from modicum.research.papers.asi2020 import gradient, inverse_sensitivity
from modicum.runtime.replay import Run
from modicum.statistics.robust.monotone_statistic import expectile_score, huber_score
from tests.statistics.robust.test_location import OwnMedian

NARROW = {"within": (-8, 8), "step": 1}
DATA = [(), (3,), (-8, 0, 0, 5), (1, 1, 1, 1, 8), (-8, -8, -8, 8)]
SCORES = {
    "mean": (expectile_score(0.5), lambda v: v),
    "expectile": (expectile_score(0.9), lambda v: 0.9 * v if v > 0 else 0.1 * v),
    "huber": (huber_score(2.0), lambda v: min(max(v, -2.0), 2.0)),
}
UNIT = 2.0**-5  # nats that a rounded length may be off by


def smoothed(signed):
    """Return the least size within half a step of each of -8, ..., 8; none is beyond the ends.

    ``signed`` falls, so it is 0 in between if it changes sign there.
    """
    halves = [signed(Fraction(k, 2)) for k in range(-15, 16, 2)]
    return [
        max(0, -before, after) for before, after in zip((0, *halves), (*halves, 0), strict=True)
    ]


def law_of(asked, data):
    run = Run(asked, asked.event, Remembered(tuple(map(float, data))))
    return run.waiting


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("epsilon", [1, 6])
def test_the_law_of_the_gradient_mechanism(data, name, epsilon) -> None:
    """P(t) ∝ exp(-ε |sum of ψ(x - s)| / (2 L)), s the best within half a step of t."""
    score, psi = SCORES[name]
    mechanism = law_of(gradient(statistic=score, **NARROW, epsilon=epsilon), data)
    largest = max(abs(psi(16)), abs(psi(-16)))
    sums = [float(each) for each in smoothed(lambda s: sum(psi(x - s) for x in data))]
    logs = np.array([-epsilon / 2 * each / largest for each in sums])
    logs -= np.log(np.exp(logs).sum())
    found = [mechanism.log_density(t) for t in range(-8, 9)]
    assert np.abs(np.array(found) - logs).max() < UNIT
    # A scale that is wrong by 30 % is told apart.
    wrong = np.array([-epsilon / 1.4 * each / largest for each in sums])
    wrong -= np.log(np.exp(wrong).sum())
    if len(set(data)) > 1:
        assert np.abs(np.array(found) - wrong).max() > UNIT


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("epsilon", [1, 6])
def test_the_law_of_m1_for_a_mean(data, epsilon) -> None:
    """Its lengths are in parts of a record; the whole numbers above them are crossing lengths."""
    asked = inverse_sensitivity(statistic=SCORES["mean"][0], **NARROW, epsilon=epsilon)
    mechanism = law_of(asked, data)
    logs = np.array([mechanism.log_density(t) for t in range(-8, 9)])
    lengths = (logs.max() - logs) * 2 / epsilon
    if not data:
        assert lengths.max() == 0
        return
    assert lengths == pytest.approx(smoothed(lambda t: part(data, t)), abs=0.07)
    # The lengths at half steps themselves, in whole records: those of the theory.
    halves = [Fraction(k, 2) for k in range(-16, 17)]
    whole = theory.crossing_length([2 * x for x in data], "mean", range(-16, 17), within=(-16, 16))
    assert [math.ceil(abs(part(data, t))) for t in halves] == whole.tolist()


def part(data, t) -> Fraction:
    """Least mass to remove or to add before the mean is t; negative where it is below.

    The best records are taken first.
    """
    missing, moved = sum(x - t for x in data), Fraction(0)
    sign = 1 if missing > 0 else -1
    missing, adding = abs(missing), 8 + t if missing > 0 else 8 - t
    for gain in sorted((sign * (x - t) for x in data), reverse=True):
        if missing and gain > adding:
            used = min(Fraction(1), Fraction(missing, gain))
            moved, missing = moved + used, missing - used * gain
    return sign * (moved + (Fraction(missing, adding) if missing else 0))


def test_what_is_named_here_is_what_the_library_has() -> None:
    assert asi2020.vector_statistic is query.vector_statistic
    assert asi2020.trimmed_mean is query.trimmed_mean


@pytest.mark.parametrize("ask", [gradient, inverse_sensitivity])
def test_answers_are_near_the_statistic(ask) -> None:
    x = np.random.default_rng(7).normal(2, 1, 4000)
    asked = ask(statistic=huber_score(1.0), within=(-100, 100), step=2.0**-6, epsilon=1)
    release = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy("near")).run(asked)
    assert abs(release.value - 2) < 0.1
    assert release.within == (-100, 100)
    assert tuple(release.interval()) == (-100, 100)
    assert "95 %" in release.explain()


def test_a_gradient_needs_a_score() -> None:
    own = OwnMedian()
    assert inverse_sensitivity(statistic=own, **NARROW, epsilon=1).method == "whole range"
    with pytest.raises(InvalidArgument, match=r"modicum\.Score"):
        gradient(statistic=own, **NARROW, epsilon=1)


def test_a_gradient_counts_records_at_the_other_end_that_are_not_there() -> None:
    """Of data in the middle no record moves the sum by all of the range, only by half of it."""
    x, mean, errors = np.zeros(300), SCORES["mean"][0], {}
    for ask in (gradient, inverse_sensitivity):
        asked = ask(statistic=mean, within=(-1000, 1000), step=1, epsilon=1)
        errors[ask] = np.mean([abs(_value(asked, x, seed)) for seed in range(20)])
    assert errors[gradient] > 1.4 * errors[inverse_sensitivity]


def _value(asked, x, seed) -> float:
    entropy = SeededEntropy(f"corner {seed}")
    return mo.Curator(x, budget=asked.budget, entropy=entropy).run(asked).value
