"""The randomised answer: its law over all positions, its decoding, its sampler."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum import audit
from modicum.audit.goodness import power
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.window_response import Window, WindowResponse, honesty
from modicum.privacy.event import PureDP

WINDOWS = [Window(1, 1, Fraction(1)), Window(6, 1, Fraction(2)), Window(7, 4, Fraction(1, 2))]
every_window = pytest.mark.parametrize("window", WINDOWS, ids=str)


def mechanisms(window: Window) -> list[WindowResponse]:
    places = {Fraction(k, 3) for k in range(3 * window.reach + 1)}
    return [WindowResponse(place, window) for place in sorted(places)]


def mass(mechanism: WindowResponse) -> np.ndarray:
    return np.exp([mechanism.log_density(y) for y in mechanism.probes()])


@every_window
def test_any_two_positions_differ_by_epsilon_at_most_and_some_by_all_of_it(window) -> None:
    every = np.log([mass(mechanism) for mechanism in mechanisms(window)])
    worst = (every[:, None] - every[None]).max()
    assert worst == pytest.approx(float(window.epsilon), rel=1e-12)
    assert mechanisms(window)[0].event == PureDP(window.epsilon)


@every_window
def test_the_density_sums_to_one_and_is_zero_elsewhere(window) -> None:
    for mechanism in mechanisms(window):
        assert mass(mechanism).sum() == pytest.approx(1, abs=1e-12)
        assert mechanism.log_density(-1) == mechanism.log_density(window.outcomes) == -math.inf


@every_window
def test_decoding_is_unbiased_and_has_the_stated_variance(window) -> None:
    for mechanism in mechanisms(window):
        decoded = np.array([window.decoded(y) for y in mechanism.probes()])
        mean = mass(mechanism) @ decoded
        assert mean == pytest.approx(float(mechanism.position), abs=1e-9)
        if mechanism.position.denominator == 1:
            variance = mass(mechanism) @ (decoded - mean) ** 2
            assert window.variance(float(mechanism.position)) == pytest.approx(variance)


@every_window
def test_the_sampler_follows_the_law_and_a_wrong_scale_is_noticed(window) -> None:
    mechanism = mechanisms(window)[-2]
    assert audit.fit(mechanism, 2000, SeededEntropy(1)) > 1e-4
    wrong = WindowResponse(
        mechanism.position, Window(window.reach, window.width, window.epsilon * Fraction(10, 7))
    )
    rejected = power(mechanism, wrong, draws=20_000, entropy=SeededEntropy(2), level=1e-4, trials=1)
    assert rejected == 1


def test_an_undecided_coin_is_refined() -> None:
    """A word that equals the first 64 bits of the threshold draws more of them."""

    class Words(SeededEntropy):
        def __init__(self, first: int) -> None:
            super().__init__(0)
            self.first = first

        def words(self, count):
            first, self.first = self.first, None
            return super().words(count) if first is None else np.full(count, first, np.uint64)

    window = WINDOWS[0]
    lower, upper = window.enclosure(60)
    cut = math.floor(lower * 2**64)
    assert cut == math.floor(upper * 2**64)
    tossed = {
        word: honesty(window).toss_many(50, Words(word)).mean() for word in (cut - 3, cut, cut + 3)
    }
    assert tossed[cut - 3] == 1
    assert tossed[cut + 3] == 0
    assert 0 < tossed[cut] < 1


@pytest.mark.parametrize("wrong", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_no_window(wrong) -> None:
    with pytest.raises(InvalidArgument):
        Window(wrong[0], wrong[1], Fraction(wrong[2]))
