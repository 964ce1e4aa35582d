"""What a law may cost on a secret subsample, and that none states less than it costs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from modicum.mechanisms.subsampled import Subsampled, amplified
from modicum.privacy.event import PureDP, RangeDP
from tests.audit.cases import CountLaw, Members

TARGET = Fraction(1, 10)
UNIT = Fraction(1, 2**20)
NOBODY = Members(np.empty(0, dtype=np.int64))


def cost(inner: Fraction, level: int) -> float:
    """ln(1 + q (e^ε - 1)), q = 2^-level (Li, Qardaji and Su 2012)."""
    return math.log1p(math.expm1(float(inner)) / 2**level)


@pytest.mark.parametrize("level", [1, 3, 10, 20])
def test_a_small_sample_pays_for_a_larger_epsilon_and_for_no_more(level) -> None:
    inner = amplified(TARGET, level)
    assert cost(inner, level) <= float(TARGET) < cost(inner + 2 * UNIT, level)


@pytest.mark.parametrize("level", [1, 3, 10])
def test_a_law_that_states_less_than_its_cost_is_refused(level) -> None:
    inner = amplified(TARGET, level)
    assert Subsampled(NOBODY, CountLaw(inner), level, PureDP(TARGET)).event == PureDP(TARGET)
    for wrong in (CountLaw(inner + 3 * UNIT), CountLaw(2 * inner)):
        with pytest.raises(ValueError, match="smaller than the cost"):
            Subsampled(NOBODY, wrong, level, PureDP(TARGET))
    with pytest.raises(ValueError, match="smaller than the cost"):
        Subsampled(NOBODY, CountLaw(inner), level, RangeDP(TARGET))


def test_without_a_choice_the_cost_is_that_of_the_law() -> None:
    assert amplified(TARGET, 0) == TARGET
    assert Subsampled(NOBODY, CountLaw(TARGET), 0, PureDP(TARGET)).event == PureDP(TARGET)
    for wrong in (PureDP(TARGET / 2), RangeDP(TARGET)):
        with pytest.raises(ValueError, match="smaller than the cost"):
            Subsampled(NOBODY, CountLaw(TARGET), 0, wrong)
