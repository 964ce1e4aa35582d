"""Rounds: batches follow the laws of single clients; vectors are clipped and rotated exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.window_response import Window
from modicum.protocols.local.frequency import TreeRound
from modicum.protocols.local.mean import WindowRound, best_window
from modicum.protocols.local.mean_vector import NORM, GaussianRound, clipped, rotated, unrotated
from modicum.protocols.local.protocol import words
from modicum.protocols.local.tree import Tree

DRAWS = 20_000
FOUND = words(b"rounds", np.arange(12, dtype=np.uint64))
ROUNDS = [
    (TreeRound(Tree(4, 3), Fraction(1), 2), [13, 60]),
    (WindowRound(0, 1000, Fraction(1, 2)), [333]),
    (WindowRound(-7, 1000, Fraction(2)), [333]),
]


def p_value(answers: np.ndarray, mechanism) -> float:
    outcomes = list(mechanism.probes())
    expected = len(answers) * np.exp([mechanism.log_density(y) for y in outcomes])
    seen = np.bincount(answers, minlength=len(outcomes))
    return float(stats.chisquare(seen, expected).pvalue)


@pytest.mark.parametrize(("asked", "row"), ROUNDS, ids=lambda x: str(x)[:20])
def test_a_batch_follows_the_law_of_every_single_client(asked, row) -> None:
    rows = np.tile(row, (DRAWS, 1)).astype(np.int64)
    for found in FOUND:
        mechanism = asked.mechanism(rows[0], found)
        many = np.tile(found, (DRAWS, 1))
        answers = asked.draw(rows, many, SeededEntropy(repr(found)))
        assert asked.possible(answers, many).all()
        assert p_value(answers.astype(int), mechanism) > 1e-5


@pytest.mark.parametrize(("asked", "row"), ROUNDS, ids=lambda x: str(x)[:20])
def test_noise_of_a_wrong_scale_would_be_noticed(asked, row) -> None:
    mechanism = asked.mechanism(np.array(row), FOUND[0])
    window = mechanism.window
    louder = Window(window.reach, window.width, window.epsilon * Fraction(10, 7))
    place = np.full(DRAWS, int(mechanism.position), np.int64)
    assert p_value(louder.sample_many(place, SeededEntropy(1)), mechanism) < 1e-5


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)], ids=str)
@pytest.mark.parametrize(("value", "bound"), [(-(10**9), -7), (-8, -7), (13, 12), (10**9, 12)])
def test_a_value_beyond_the_bounds_is_answered_as_the_bound(epsilon, value, bound) -> None:
    asked = WindowRound(-7, 12, epsilon)
    far, near = (np.full((500, 1), x) for x in (value, bound))
    assert asked.mechanism(far[0], FOUND[0]) == asked.mechanism(near[0], FOUND[0])
    answers = [asked.draw(rows, FOUND[:1], SeededEntropy(4)) for rows in (far, near)]
    assert (answers[0] == answers[1]).all()


def test_a_batch_of_vectors_has_the_noise_of_single_ones() -> None:
    asked = GaussianRound(2, Fraction(1, 2))
    rows = np.tile([NORM // 2, -NORM // 3], (DRAWS, 1))
    answers = asked.draw(rows, FOUND[:1], SeededEntropy(3)) - rows
    deviation = math.sqrt(asked.mechanism(rows[0], FOUND[0]).noise[0].variance)
    assert stats.kstest(answers.ravel() / deviation, "norm").pvalue > 1e-5
    assert stats.kstest(answers.ravel() / (0.7 * deviation), "norm").pvalue < 1e-5
    assert asked.possible(answers, FOUND).all()
    for long in ([asked.longest + 1, 0], [asked.longest, asked.longest]):
        assert not asked.possible(np.array([long]), FOUND).any()


def test_clipped_vectors_never_exceed_the_norm() -> None:
    rng = np.random.default_rng(2)
    for d in (1, 8, 1024):
        for scale in (1, 1e3, 1e12):
            vectors = np.rint(rng.normal(0, scale, (200, d))).astype(np.int64)
            for radius in (1, 1000, 10**12):
                short = clipped(vectors, radius)
                assert int((short.astype(object) ** 2).sum(axis=1).max()) <= NORM**2
                assert (np.sign(short) * np.sign(vectors) >= 0).all()


def test_a_vector_that_breaks_the_promise_counts_as_zero() -> None:
    asked = GaussianRound(2, Fraction(1))
    for long in ([NORM, NORM], [1 << 62, 0], [-(1 << 62), 1], [-(1 << 63), 0]):
        assert asked.mechanism(np.array(long), FOUND[0]).values == (0, 0)
    assert asked.mechanism(np.array([NORM, 0]), FOUND[0]).values == (NORM, 0)


def test_rotation_is_exact_and_can_be_undone() -> None:
    rng = np.random.default_rng(3)
    for d in (1, 3, 8, 784):
        rows = rng.integers(-(1 << 24), 1 << 24, (3, d))
        turned = rotated(rows, b"seed")
        width = turned.shape[1]
        assert (
            (turned.astype(object) ** 2).sum(1) == width * (rows.astype(object) ** 2).sum(1)
        ).all()
        back = unrotated(turned[0].astype(float), b"seed", d)
        assert back == pytest.approx(rows[0], abs=1e-3)


def test_the_window_is_better_than_laplace_and_one_bit() -> None:
    chosen = [best_window(Fraction(text)) for text in ("1/2", "1", "4")]
    assert [(each.reach, each.width) for each in chosen] == [(1, 1), (256, 180), (256, 68)]
    for text in ("0.1", "0.5", "1", "2", "4"):
        window = best_window(Fraction(text))
        ends = [window.variance(v) / (window.reach / 2) ** 2 for v in (0, window.reach)]
        assert max(ends) < 8 / float(text) ** 2
        rounding = (window.reach == 1) / 4
        middle = (window.variance(window.reach // 2) + rounding) / (window.reach / 2) ** 2
        assert middle < 1 / math.tanh(float(text) / 2) ** 2 + 1e-9


def test_rounds_that_cannot_be() -> None:
    with pytest.raises(InvalidArgument):
        TreeRound(Tree(4, 2), Fraction(1), 0)
    with pytest.raises(InvalidArgument):
        GaussianRound(3, Fraction(1, 10**9))
