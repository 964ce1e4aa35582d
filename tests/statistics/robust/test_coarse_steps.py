"""A public step that is not fine, and scores that jump where records tie: exact laws.

On a coarse lattice no value need be within a record of the statistic, and where records tie all of
them change sides at one value. What is looked at is the probability of the answers next to the
statistic, from the law of the last draw and not from draws; those before it come from a seed.
"""

import bisect
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

import modicum as mo
from modicum import query
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.research.papers.asi2020 import gradient, inverse_sensitivity
from modicum.research.papers.dick2023 import subset_monotone, trim_plan
from modicum.runtime.steps import Draw
from modicum.statistics.robust.monotone_statistic import (
    Score,
    expectile_score,
    huber_score,
    power_score,
)
from tests.statistics.robust.test_location import OwnMedian

N = 20_000
RNG = np.random.default_rng(12)
SHAPES = {
    "ages": (np.clip(RNG.normal(38, 17, N), 0, 110).round(), 128),
    "ratings": (RNG.choice([1.0, 2, 3, 4, 5], N, p=[0.1, 0.15, 0.25, 0.35, 0.15]), 10),
    "zeros and ones": ((np.arange(N) % 5 == 0) * 1.0, 8),
    "lognormal": (np.minimum(RNG.lognormal(3, 0.8, N), 1000), 1024),
    "far apart": (np.where(np.arange(N) % 3 == 0, 900.0, 100) + RNG.normal(0, 5, N), 1024),
}
SCORES = {
    "mean": expectile_score(0.5),
    "expectile": expectile_score(0.8),
    "huber": huber_score(16.0),
    "lp": power_score(1.5),
}


def zero_of(score: Score, x: np.ndarray) -> float:
    lo, hi = float(x.min()), float(x.max())
    for _ in range(60):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if score.psi(x - middle).sum() > 0 else (lo, middle)
    return lo


ONE_DRAW = (inverse_sensitivity, gradient)
ASKED = (*ONE_DRAW, query.monotone_statistic)


@lru_cache(maxsize=1)
def reader_of(data: tuple[float, ...]) -> Remembered:
    return Remembered(data)


def near(asked, x: np.ndarray, low: float, high: float) -> float:
    """The probability of an answer between two values, from the law of its draw.

    The draws before it come from a seed.
    """
    entropy, reader = SeededEntropy("steps"), reader_of(tuple(x.tolist()))
    steps, reply = asked.begin(asked.event), None
    while not (isinstance(step := steps.send(reply), Draw) and step.label == "location"):
        if isinstance(step, Draw):
            reply = step.mechanism.sample(entropy)
        else:
            reply = tuple(reader.read(step.reads, entropy))
    runs = step.mechanism.runs()
    numbers = range(int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1]))

    def value(number: int) -> float:
        return float(step.words(number).replace(",", ""))

    begin = bisect.bisect_left(numbers, low, key=value)
    end = bisect.bisect_right(numbers, high, key=value)
    return float(np.exp(step.mechanism.log_densities(numbers[begin:end])).sum())


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_answer_is_within_a_step_and_the_noise(shape, name) -> None:
    """At every step: the noise of means is about 2 width / n, and that of others not far from it.

    Without the smoothed length all values had the same probability.
    """
    (x, width), score = SHAPES[shape], SCORES[name]
    place, noise = zero_of(score, x), 20 * width / N
    for ask, step in product(ASKED, (1, 1 / 4, 1 / 64)):
        asked = ask(statistic=score, within=(0, width), step=step, epsilon=1)
        assert near(asked, x, place - step - noise, place + step + noise) > 0.95, (ask, step)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("shape", ["ages", "ratings", "lognormal"])
def test_the_subset_answer_is_within_a_step_of_that_of_the_records_it_keeps(shape, name) -> None:
    (x, width), score = SHAPES[shape], SCORES[name]
    for step in (1, 1 / 4):
        trimmed = trim_plan(Lattice.within((0, width), step), Fraction(1)).trimmed
        kept = [np.sort(x)[each : N - each] for each in (trimmed, trimmed * 4 // 3)]
        places, room = [zero_of(score, each) for each in kept], step + 20 * width / N
        asked = subset_monotone(statistic=score, within=(0, width), step=step, epsilon=1)
        assert near(asked, x, min(places) - room, max(places) + room) > 0.95, step


def quantile_score(q: float) -> Score:
    return Score(f"quantile {q}", lambda v: np.where(v > 0, q, (q - 1) * (v < 0)), 0, 1.0)


def tied(counts: dict[float, int]) -> np.ndarray:
    return np.repeat(list(counts), list(counts.values()))


@pytest.mark.parametrize(
    ("score", "counts", "own"),
    [
        (Score("sign", np.sign, growth=0, width=1), {0: 180, 1: 120}, 0),
        (Score("sign", np.sign, growth=0, width=1), {0.25: 90, 0.5: 120, 1: 90}, 0.5),
        (quantile_score(0.25), {0: 30, 0.5: 150, 0.75: 120}, 0.5),
        (quantile_score(0.75), {0.125: 150, 0.5: 120, 1: 30}, 0.5),
        (Score("both", lambda v: np.sign(v) + np.clip(v, -1, 1), 0, 1.0), {0: 60, 0.5: 240}, 0.5),
        (OwnMedian(), {0.5: 190, 0.75: 110}, 0.5),
    ],
)
@pytest.mark.parametrize(("times", "epsilon"), [(1, 1), (10, "0.1")])
def test_records_that_tie_are_their_own_answer(score, counts, own, times, epsilon) -> None:
    """From 300/ε rows on, at any step: all of them change sides at one value."""
    x = tied({value: times * count for value, count in counts.items()})
    asks = ASKED if isinstance(score, Score) else (inverse_sensitivity, query.monotone_statistic)
    for ask, within, step in product(asks, ((0, 1), (0, 10), (-8, 8)), (1 / 8, 1 / 64)):
        asked = ask(statistic=score, within=within, step=step, epsilon=epsilon)
        assert near(asked, x, own, own) > 0.9, (ask, within, step)


@pytest.mark.parametrize("step", [1, 1 / 4, 1 / 64])
@pytest.mark.parametrize("n", [2000, 200_000])
def test_a_right_answer_of_many_records_is_ok_at_any_step(step, n) -> None:
    """Of an interval, too: the ends are next to the answer where the steps are wide."""
    x = np.clip(np.random.default_rng(n).normal(38, 17, n), 0, 110).round()
    questions = {
        huber_score(16.0): query.huber(width=16, within=(0, 128), step=step, epsilon=1),
        power_score(1.5): query.lp_center(p=1.5, within=(0, 128), step=step, epsilon=1),
        expectile_score(0.8): query.expectile(tau=0.8, within=(0, 128), step=step, epsilon=1),
    }
    for score, asked in questions.items():
        curator = mo.Curator(x, budget=asked.budget, entropy=SeededEntropy(f"{step} {n} 1"))
        release = curator.run(asked)
        assert release.code == "ok", (score.name, release.code)
        lower, upper = release.interval()
        assert lower <= zero_of(score, x) <= upper
        assert upper - lower < 8 * step + 20_000 / n


@pytest.mark.parametrize("step", [1, 1 / 4])
@pytest.mark.parametrize("values", [(0, 1), (3, 4), (1, 2, 3, 4, 5)])
def test_of_few_values_the_ends_are_next_to_the_answer(values, step) -> None:
    """Records are clipped a step beyond the last value, so that an end fits in between."""
    x = np.resize(np.array(values, dtype=float), N)
    for asked in (
        query.expectile(tau=0.9, within=(-16, 16), step=step, epsilon=1),
        query.lp_center(p=1.5, within=(-16, 16), step=step, epsilon=1),
        query.lp_center(p=3, within=(-16, 16), step=step, epsilon=1),
    ):
        curator = mo.Curator(x, budget=asked.budget, entropy=SeededEntropy(f"{values} {step}"))
        release = curator.run(asked)
        lower, upper = release.interval()
        assert release.code == "ok"
        assert upper - lower <= 6 * step


def test_far_clusters_are_seen_from_a_centre_in_the_other_one() -> None:
    """Candidates are as close there as the noise of so many records, at a coarse step too."""
    n = 4000
    x = np.where(np.arange(n) < 0.49 * n, 16.0, 50_000.0)
    asked = query.huber(width=1.0, within=(0, 2**17), step=1, epsilon=1)
    assert near(asked, x, 49_000, 51_000) > 0.95
